//! What the tests share: the plugin, clients, meshes and fixtures.

use std::path::PathBuf;

use mobula_xla::client::Client;
use mobula_xla::mesh::Mesh;
use mobula_xla::plugin::{Platform, Plugin, PluginSearch};
use mobula_xla::program::Program;
use tokio::sync::OnceCell;

/// The plugin for this machine's processors; fetched when there is none.
pub(crate) async fn plugin() -> Plugin {
    static PLUGIN: OnceCell<Plugin> = OnceCell::const_new();
    let search = PluginSearch::new().platform(Platform::Cpu).fetch(true);
    PLUGIN.get_or_init(|| async { search.load().await.expect("a plugin for the tests") }).await.clone()
}

/// A client of its own with `count` devices.
pub(crate) async fn client(count: usize) -> Client {
    Client::cpu(&plugin().await, count).await.expect("a client")
}

/// A mesh over a client of its own.
pub(crate) async fn mesh(axes: &[(&str, usize)]) -> Mesh {
    let count = axes.iter().map(|(_, extent)| extent).product();
    let client = client(count).await;
    Mesh::new(client.devices(), axes.iter().copied()).expect("a mesh")
}

/// The path of a fixture.
pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The program in a fixture.
pub(crate) async fn program(name: &str) -> Program {
    Program::from_file(fixture(name)).await.expect("a program")
}

/// The bytes of a fixture.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).expect("a fixture")
}

/// The `f32` numbers of a fixture.
pub(crate) fn floats(name: &str) -> Vec<f32> {
    bytes(name).chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

/// The numbers of a fixture with one a line.
pub(crate) fn lines(name: &str) -> Vec<f32> {
    String::from_utf8(bytes(name)).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

/// Fails unless both lists are equal up to `tolerance`.
#[track_caller]
pub(crate) fn assert_close(got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "number {index}: got {got}, expected {expected}");
    }
}
