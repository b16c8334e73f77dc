//! Whatever is dropped, and whenever, nothing of the plugin stays alive.

use std::time::Duration;

use mobula_xla::LiveHandles;
use mobula_xla::array::Array;
use mobula_xla::executable::Executable;
use mobula_xla::mesh::Mesh;
use mobula_xla::program::Program;
use mobula_xla::sharding::Sharding;
use mobula_xla::virtual_slice::VirtualSlice;
use ndarray::Array1;

use crate::support::{client, plugin, program};

/// Waits until `probe` sees `expected`: what the plugin's threads hold, they let go of on their own.
async fn settles(probe: impl Fn() -> LiveHandles, expected: LiveHandles) {
    let settled = async {
        while probe() != expected {
            tokio::task::yield_now().await;
        }
    };
    let limit = Duration::from_secs(60);
    assert!(tokio::time::timeout(limit, settled).await.is_ok(), "expected {expected:?}, got {:?}", probe());
}

const ONLY_CLIENT: LiveHandles = LiveHandles { clients: 1, buffers: 0, executables: 0, events: 0 };
const NOTHING: LiveHandles = LiveHandles { clients: 0, buffers: 0, executables: 0, events: 0 };

const SPLIT: &str = r#"module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<65536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>,
                                                  tf.aliasing_output = 0 : i32})
      -> (tensor<65536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<65536xf32>, tensor<f32>) -> tensor<f32>
    %y = stablehlo.add %x, %x : tensor<65536xf32>
    return %y, %sum : tensor<65536xf32>, tensor<f32>
  }
}"#;

async fn array(mesh: &Mesh) -> Array {
    Array::from_ndarray(mesh, &Sharding::over([["x"]]), Array1::from_elem(65536, 1.0_f32)).await.unwrap()
}

#[tokio::test]
async fn everything_is_given_back() {
    let client = client(4).await;
    let probe = client.live_probe();
    assert_eq!(probe(), ONLY_CLIENT);
    let mesh = Mesh::new(client.devices(), [("x", 4)]).unwrap();
    let executable = Executable::compile(&Program::from_text(SPLIT).unwrap(), &mesh).await.unwrap();
    assert_eq!(probe(), LiveHandles { executables: 1, ..ONLY_CLIENT });
    let mut state = array(&mesh).await;
    for _ in 0..10 {
        let mut outputs = executable.run(vec![state]).await.unwrap();
        outputs.pop().unwrap().to_ndarray::<f32>().await.unwrap();
        state = outputs.pop().unwrap();
    }
    settles(&probe, LiveHandles { buffers: 4, executables: 1, ..ONLY_CLIENT }).await;
    drop(state);
    settles(&probe, LiveHandles { executables: 1, ..ONLY_CLIENT }).await;
    drop(executable);
    assert_eq!(probe(), ONLY_CLIENT);
    drop(client);
    // The mesh holds it still.
    assert_eq!(probe(), ONLY_CLIENT);
    drop(mesh);
    settles(&probe, NOTHING).await;
}

#[tokio::test]
async fn errors_leave_nothing() {
    let client = client(4).await;
    let probe = client.live_probe();
    let mesh = Mesh::new(client.devices(), [("x", 4)]).unwrap();
    let broken = SPLIT.replace("stablehlo.add %x", "stablehlo.nothing %x");
    Executable::compile(&Program::from_text(broken).unwrap(), &mesh).await.unwrap_err();
    let executable = Executable::compile(&Program::from_text(SPLIT).unwrap(), &mesh).await.unwrap();
    let good = array(&mesh).await;
    let part = good.restricted_to(&mesh.devices()[..2]).unwrap();
    drop(executable.run(vec![part]).await.unwrap_err());
    drop(executable.run(vec![good.clone(), good]).await.unwrap_err());
    drop(executable);
    settles(&probe, ONLY_CLIENT).await;
}

#[tokio::test]
async fn futures_are_dropped_at_every_point() {
    let client = client(4).await;
    let probe = client.live_probe();
    let mesh = Mesh::new(client.devices(), [("x", 4)]).unwrap();
    let executable = Executable::compile(&Program::from_text(SPLIT).unwrap(), &mesh).await.unwrap();
    for polls in 0..40 {
        let state = array(&mesh).await;
        let work = async {
            let mut outputs = executable.run(vec![state]).await.unwrap();
            outputs.pop().unwrap().to_ndarray::<f32>().await.unwrap();
            outputs.pop().unwrap().to_ndarray::<f32>().await.unwrap();
        };
        let mut work = Box::pin(work);
        let mut left = polls;
        std::future::poll_fn(|cx| {
            if left == 0 || work.as_mut().poll(cx).is_ready() {
                return std::task::Poll::Ready(());
            }
            left -= 1;
            cx.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
        drop(work);
    }
    drop(executable);
    settles(&probe, ONLY_CLIENT).await;
}

#[tokio::test]
async fn a_client_is_dropped_while_it_works() {
    for _ in 0..10 {
        let client = client(4).await;
        let probe = client.live_probe();
        let mesh = Mesh::new(client.devices(), [("x", 4)]).unwrap();
        let executable = Executable::compile(&Program::from_text(SPLIT).unwrap(), &mesh).await.unwrap();
        let outputs = executable.run(vec![array(&mesh).await]).await.unwrap();
        let reading = outputs[0].clone();
        let task = tokio::spawn(async move { reading.to_ndarray::<f32>().await });
        tokio::task::yield_now().await;
        task.abort();
        drop((client, mesh, executable, outputs));
        settles(&probe, NOTHING).await;
        drop(task.await);
    }
}

#[tokio::test]
async fn a_virtual_slice_leaves_nothing() {
    let slice = VirtualSlice::create(&plugin().await, 4, 4).await.unwrap();
    let probe = slice.client().live_probe();
    let mesh = slice.mesh([("x", 16)]).unwrap();
    let executable = slice.compile(&program("collectives_16.mlir").await, &mesh).await.unwrap();
    let again = slice.compile(&program("collectives_16.mlir").await, &mesh).await.unwrap();
    assert_eq!(probe().executables, 1, "one program is compiled once");
    let mut runs = tokio::task::JoinSet::new();
    for host in 0..4 {
        let mut member = slice.member(host).unwrap();
        let (mesh, executable) = (mesh.clone(), again.clone());
        runs.spawn(async move {
            let split = Sharding::over([["x"]]);
            let block = Array1::<f32>::zeros(16);
            let own = Array::from_block(&mesh, &split, &[64], member.devices(), block).await.unwrap();
            member.run(&executable, vec![own], Duration::from_secs(60)).await.unwrap()
        });
    }
    let outputs = runs.join_all().await;
    assert_eq!(probe().buffers, 4 * 16);
    drop((outputs, executable, again));
    settles(&probe, ONLY_CLIENT).await;
    drop((mesh, slice));
    settles(&probe, NOTHING).await;
}
