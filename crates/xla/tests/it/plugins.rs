//! What is no plugin is refused with what was expected and what came; a real one tells about itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use mobula_xla::LibraryError;
use mobula_xla::client::{CPU_DEVICES_MAX, Client, ClientError, Device};
use mobula_xla::plugin::{Environment, LoadError, Plugin, PluginError, PluginSearch};

use crate::support::plugin;

/// Builds a shared library from C.
fn stub(folder: &Path, name: &str, source: &str) -> PathBuf {
    let (file, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&file, source).unwrap();
    let status =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).status().unwrap();
    assert!(status.success());
    library
}

/// A table with this size and version; `slots` pointers follow its head.
fn table(size: usize, major: i32, minor: i32, slots: usize) -> String {
    format!(
        "#include <stddef.h>\n\
         static struct {{ size_t size; void *ext; size_t vsize; void *vext; int major, minor;\n\
                          void *slots[{slots} + 1]; }}\n\
         table = {{ {size}, 0, 24, 0, {major}, {minor}, {{ 0 }} }};\n\
         void *GetPjrtApi(void) {{ return &table; }}\n"
    )
}

fn refusal(path: &Path) -> LibraryError {
    match Plugin::load(path).unwrap_err() {
        LoadError::Library { path: named, source } => {
            assert_eq!(named, path);
            source
        }
        other => panic!("{other}"),
    }
}

#[test]
fn what_is_no_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "this is no library").unwrap();
    assert!(matches!(refusal(&text), LibraryError::NotALibrary { reason } if reason.contains("text.so")));
    let empty = folder.path().join("empty.so");
    std::fs::write(&empty, "").unwrap();
    assert!(matches!(refusal(&empty), LibraryError::NotALibrary { .. }));
    // Cut in the middle of its first page.
    let cut = folder.path().join("cut.so");
    let whole = std::fs::read(stub(folder.path(), "whole", "int x;")).unwrap();
    std::fs::write(&cut, &whole[..100]).unwrap();
    assert!(matches!(refusal(&cut), LibraryError::NotALibrary { .. }));
    assert!(
        matches!(Plugin::load(folder.path()), Err(LoadError::NotAFile { path }) if path == folder.path())
    );
    let missing = folder.path().join("missing.so");
    let error = Plugin::load(&missing).unwrap_err();
    assert!(matches!(&error, LoadError::Missing { path } if *path == missing), "{error}");
    assert!(matches!(Plugin::load(""), Err(LoadError::Missing { .. })));
}

#[test]
fn libraries_that_are_no_plugin_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = stub(folder.path(), "other", "int answer(void) { return 42; }");
    assert!(
        matches!(refusal(&other), LibraryError::NoEntryPoint { reason } if reason.contains("GetPjrtApi"))
    );
    let null = stub(folder.path(), "null", "void *GetPjrtApi(void) { return 0; }");
    assert!(matches!(refusal(&null), LibraryError::NullTable));
    let full = 40 + 138 * 8;
    let major = stub(folder.path(), "major", &table(full, 1, 3, 138));
    let error = refusal(&major);
    assert!(matches!(error, LibraryError::Major { expected: 0, got_major: 1, got_minor: 3 }), "{error}");
    assert!(error.to_string().contains("expected major version 0, got 1.3"), "{error}");
    let old = stub(folder.path(), "old", &table(full, 0, 54, 138));
    assert!(matches!(refusal(&old), LibraryError::TooOld { expected_min: 81, got: 54 }));
    let short = stub(folder.path(), "short", &table(40 + 10 * 8, 0, 115, 10));
    assert!(matches!(refusal(&short), LibraryError::ShortTable { expected: 776, got: 120 }));
    let headless = stub(folder.path(), "headless", &table(8, 0, 115, 0));
    assert!(matches!(refusal(&headless), LibraryError::ShortTable { expected: 40, got: 8 }));
    // A table of null pointers: the first call is refused, not made.
    let hollow = stub(folder.path(), "hollow", &table(full, 0, 115, 138));
    let error = refusal(&hollow);
    assert!(matches!(&error, LibraryError::Initialize(_)), "{error}");
}

#[tokio::test]
async fn a_search_says_where_a_bad_path_came_from() {
    let environment = Environment::empty().with("MOBULA_PJRT_PLUGIN", "/no/such/plugin.so");
    let error = PluginSearch::new().environment(environment).load().await.unwrap_err();
    assert!(matches!(&error, PluginError::Load { source: LoadError::Missing { .. }, .. }));
    let text = error.to_string();
    assert!(text.contains("named by MOBULA_PJRT_PLUGIN") && text.contains("/no/such/plugin.so"), "{text}");
    let error = PluginSearch::new().path("/no/such/plugin.so").load().await.unwrap_err();
    assert!(error.to_string().contains("given in code"), "{error}");
}

#[tokio::test]
async fn a_plugin_is_loaded_once() {
    let plugin = plugin().await;
    let (major, minor) = plugin.api_version();
    assert!(major == 0 && minor >= 81, "{plugin:?}");
    let again = Plugin::load(plugin.path()).unwrap();
    assert_eq!(again.path(), plugin.path());
    let client = Client::cpu(&again, 3).await.unwrap();
    assert_eq!((client.platform_name(), client.devices().len()), ("cpu", 3));
    assert!(!client.platform_version().is_empty());
    let ids: Vec<i32> = client.devices().iter().map(Device::id).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert!(client.devices().iter().all(|device| device.process_index() == 0 && !device.kind().is_empty()));
    // Without a choice the plugin makes its own number of devices.
    assert!(!Client::new(&plugin).await.unwrap().devices().is_empty());
}

#[tokio::test]
async fn the_number_of_devices_is_checked() {
    let plugin = plugin().await;
    for got in [0, CPU_DEVICES_MAX + 1, usize::MAX] {
        let error = Client::cpu(&plugin, got).await.unwrap_err();
        assert!(
            matches!(error, ClientError::DeviceCount { got: named, limit: CPU_DEVICES_MAX } if named == got)
        );
    }
}
