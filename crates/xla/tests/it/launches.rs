//! Launches: checks, order, donation, and that nothing blocks a thread of the executor.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mobula_xla::array::{Array, TransferError};
use mobula_xla::dtype::{DType, TensorType};
use mobula_xla::executable::{ArgumentError, Executable, RunFailure};
use mobula_xla::mesh::Mesh;
use mobula_xla::program::Program;
use mobula_xla::sharding::Sharding;
use ndarray::{Array1, Array2, arr0};
use tokio::task::JoinSet;

use crate::support::{mesh, program};

/// Adds one to its donated argument.
const INCREMENT: &str = r#"module @increment attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>,
                                              tf.aliasing_output = 0 : i32})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %one = stablehlo.constant dense<1.0> : tensor<8xf32>
    %y = stablehlo.add %x, %one : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}"#;

/// Multiplies a matrix by itself many times: long enough to be seen running.
const SLOW: &str = r#"module @slow { func.func public @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %count = stablehlo.constant dense<40> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%k = %zero, %x = %a) : tensor<i32>, tensor<512x512xf32>
    cond {
      %t = stablehlo.compare LT, %k, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %y = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
          : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %next, %y : tensor<i32>, tensor<512x512xf32>
    }
  return %r#1 : tensor<512x512xf32> } }"#;

async fn compile(text: &str, mesh: &Mesh) -> Executable {
    Executable::compile(&Program::from_text(text).unwrap(), mesh).await.unwrap()
}

async fn spread(mesh: &Mesh, values: impl Into<Vec<f32>>) -> Array {
    Array::from_ndarray(mesh, &Sharding::over([["x"]]), Array1::from_vec(values.into())).await.unwrap()
}

#[tokio::test]
async fn arguments_are_checked_before_the_launch() {
    let mesh = mesh(&[("x", 4)]).await;
    let executable = compile(INCREMENT, &mesh).await;
    let failure = async |arguments: Vec<Array>| {
        let count = arguments.len();
        let error = executable.run(arguments).await.unwrap_err();
        let (failure, arguments) = error.into_parts();
        assert_eq!(arguments.len(), count);
        failure
    };
    let argument = |source| RunFailure::Argument { index: 0, source };
    let good = spread(&mesh, [0.0; 8]).await;
    let split = Sharding::over([["x"]]);
    assert_eq!(failure(vec![]).await, RunFailure::ArgumentCount { expected: 1, got: 0 });
    let two = vec![good.clone(), good.clone()];
    assert_eq!(failure(two).await, RunFailure::ArgumentCount { expected: 1, got: 2 });
    let expected = TensorType::new(DType::F32, [8]);
    let longer = spread(&mesh, [0.0; 16]).await;
    let got = TensorType::new(DType::F32, [16]);
    assert_eq!(
        failure(vec![longer]).await,
        argument(ArgumentError::Type { expected: expected.clone(), got })
    );
    let integers = Array::from_ndarray(&mesh, &split, Array1::<i32>::zeros(8)).await.unwrap();
    let got = TensorType::new(DType::I32, [8]);
    assert_eq!(failure(vec![integers]).await, argument(ArgumentError::Type { expected, got }));
    let copies = Array::from_ndarray(&mesh, &Sharding::replicated(), Array1::<f32>::zeros(8)).await.unwrap();
    let (expected, got) = ("{x} over (x=4)".to_owned(), "{} over (x=4)".to_owned());
    assert_eq!(failure(vec![copies]).await, argument(ArgumentError::Sharding { expected, got }));
    let part = good.restricted_to(&mesh.devices()[1..3]).unwrap();
    let shards = ArgumentError::Shards { expected: vec![0, 1, 2, 3], got: vec![1, 2] };
    assert_eq!(failure(vec![part]).await, argument(shards));
    let mut reversed = mesh.devices().to_vec();
    reversed.reverse();
    let reversed = Mesh::new(reversed, [("x", 4)]).unwrap();
    let elsewhere = spread(&reversed, [0.0; 8]).await;
    let devices = ArgumentError::Devices { expected: vec![0, 1, 2, 3], got: vec![3, 2, 1, 0] };
    assert_eq!(failure(vec![elsewhere]).await, argument(devices));
    // A mesh with other axes that puts the same parts on the same devices is as good.
    let grid = Mesh::new(mesh.devices().to_vec(), [("a", 2), ("b", 2)]).unwrap();
    let same = Array1::<f32>::zeros(8);
    let same = Array::from_ndarray(&grid, &Sharding::over([["a", "b"]]), same).await.unwrap();
    let outputs = executable.run(vec![same]).await.unwrap();
    assert_eq!(outputs[0].to_ndarray::<f32>().await.unwrap(), Array1::<f32>::ones(8).into_dyn());
}

#[tokio::test]
async fn arrays_of_another_client_are_refused() {
    let (own, other) = (mesh(&[("x", 4)]).await, mesh(&[("x", 4)]).await);
    let executable = compile(INCREMENT, &own).await;
    let error = executable.run(vec![spread(&other, [0.0; 8]).await]).await.unwrap_err();
    assert!(matches!(
        error.failure(),
        RunFailure::Argument { index: 0, source: ArgumentError::Devices { .. } }
    ));
}

#[tokio::test]
async fn donated_memory_is_gone_for_everyone_who_shares_it() {
    let mesh = mesh(&[("x", 4)]).await;
    let executable = compile(INCREMENT, &mesh).await;
    let array = spread(&mesh, [1.0; 8]).await;
    let (copy, part) = (array.clone(), array.restricted_to(&mesh.devices()[..1]).unwrap());
    let shard = array.shard(2).unwrap();
    // A copy to the host that is under way when the launch consumes the memory still gets its values.
    let reading = array.clone();
    let (read, outputs) = tokio::join!(biased; reading.to_ndarray::<f32>(), executable.run(vec![array]));
    assert_eq!(read.unwrap(), Array1::<f32>::ones(8).into_dyn());
    let outputs = outputs.unwrap();
    assert!(copy.is_donated() && part.is_donated());
    assert_eq!(copy.to_ndarray::<f32>().await.unwrap_err(), TransferError::Donated);
    assert_eq!(copy.ready().await.unwrap_err(), TransferError::Donated);
    assert_eq!(shard.to_host::<f32>().await.unwrap_err(), TransferError::Donated);
    let error = executable.run(vec![copy]).await.unwrap_err();
    assert!(error.to_string().contains("argument 0: it was donated to an earlier launch"), "{error}");
    assert_eq!(outputs[0].to_ndarray::<f32>().await.unwrap(), Array1::from_elem(8, 2.0_f32).into_dyn());
}

#[tokio::test]
async fn of_many_who_donate_one_array_one_succeeds() {
    let mesh = mesh(&[("x", 4)]).await;
    let executable = compile(INCREMENT, &mesh).await;
    for _ in 0..20 {
        let array = spread(&mesh, [1.0; 8]).await;
        let mut runs = JoinSet::new();
        for _ in 0..8 {
            let (executable, array) = (executable.clone(), array.clone());
            runs.spawn(async move { executable.run(vec![array]).await });
        }
        let outcomes = runs.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for outcome in outcomes {
            if let Err(error) = outcome {
                let donated = RunFailure::Argument { index: 0, source: ArgumentError::Donated };
                assert_eq!(*error.failure(), donated);
            }
        }
    }
}

#[tokio::test]
async fn one_array_cannot_be_consumed_and_read_by_one_launch() {
    let text = r#"module @m { func.func public @main(
        %x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>) -> tensor<4xf32> {
      %z = stablehlo.add %x, %y : tensor<4xf32> return %z : tensor<4xf32> } }"#;
    let mesh = mesh(&[("x", 1)]).await;
    let executable = compile(text, &mesh).await;
    let array = spread(&mesh, [1.0; 4]).await;
    let error = executable.run(vec![array.clone(), array.clone()]).await.unwrap_err();
    let shared = RunFailure::Argument { index: 1, source: ArgumentError::SharedDonation };
    assert_eq!(*error.failure(), shared);
    assert!(!array.is_donated());
    let other = spread(&mesh, [2.0; 4]).await;
    let outputs = executable.run(vec![array, other.clone()]).await.unwrap();
    assert_eq!(outputs[0].to_ndarray::<f32>().await.unwrap(), Array1::from_elem(4, 3.0_f32).into_dyn());
    assert!(!other.is_donated());
}

#[tokio::test]
async fn a_buffer_donor_is_consumed_too() {
    let text = r#"module @m { func.func public @main(
        %x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
      %z = stablehlo.add %x, %x : tensor<4xf32> return %z : tensor<4xf32> } }"#;
    let mesh = mesh(&[("x", 1)]).await;
    let executable = compile(text, &mesh).await;
    let array = spread(&mesh, [1.0; 4]).await;
    let outputs = executable.run(vec![array.clone()]).await.unwrap();
    assert!(array.is_donated());
    assert_eq!(outputs[0].to_ndarray::<f32>().await.unwrap(), Array1::from_elem(4, 2.0_f32).into_dyn());
}

#[tokio::test]
async fn programs_of_odd_shapes() {
    let mesh = mesh(&[("x", 1)]).await;
    let nothing = compile("module @m { func.func public @main() { return } }", &mesh).await;
    assert!(nothing.run(vec![]).await.unwrap().is_empty());
    let constant = "module @m { func.func public @main() -> tensor<ui8> {
        %c = stablehlo.constant dense<200> : tensor<ui8> return %c : tensor<ui8> } }";
    let outputs = compile(constant, &mesh).await.run(vec![]).await.unwrap();
    assert_eq!(outputs[0].to_ndarray::<u8>().await.unwrap(), arr0(200).into_dyn());
    let empty = "module @m { func.func public @main(
        %x: tensor<3x0xi8>, %p: tensor<i1>) -> (tensor<3x0xi8>, tensor<i1>) {
        %y = stablehlo.add %x, %x : tensor<3x0xi8> %q = stablehlo.not %p : tensor<i1>
        return %y, %q : tensor<3x0xi8>, tensor<i1> } }";
    let executable = compile(empty, &mesh).await;
    let replicated = Sharding::replicated();
    let x = Array::from_ndarray(&mesh, &replicated, Array2::<i8>::zeros((3, 0))).await.unwrap();
    let p = Array::from_ndarray(&mesh, &replicated, arr0(true)).await.unwrap();
    let outputs = executable.run(vec![x, p]).await.unwrap();
    assert_eq!(outputs[0].to_ndarray::<i8>().await.unwrap(), Array2::<i8>::zeros((3, 0)).into_dyn());
    assert_eq!(outputs[1].to_ndarray::<bool>().await.unwrap(), arr0(false).into_dyn());
}

#[tokio::test]
async fn a_program_runs_on_the_devices_of_its_mesh() {
    let mesh = mesh(&[("x", 6)]).await;
    let text = "module @m { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %y = stablehlo.add %x, %x : tensor<4xf32> return %y : tensor<4xf32> } }";
    for device in mesh.devices() {
        let one = Mesh::new(vec![device.clone()], [("x", 1)]).unwrap();
        let executable = compile(text, &one).await;
        let outputs = executable.run(vec![spread(&one, [device.id() as f32; 4]).await]).await.unwrap();
        assert_eq!(outputs[0].shard(0).unwrap().device(), device);
        let got = outputs[0].to_ndarray::<f32>().await.unwrap();
        assert_eq!(got, Array1::from_elem(4, 2.0 * device.id() as f32).into_dyn());
    }
    // Four of the devices in an order of their own.
    let some: Vec<_> = [4, 1, 5, 0].iter().map(|index| mesh.devices()[*index].clone()).collect();
    let some = Mesh::new(some, [("x", 4)]).unwrap();
    let executable = compile(INCREMENT, &some).await;
    let outputs = executable.run(vec![spread(&some, [0., 1., 2., 3., 4., 5., 6., 7.]).await]);
    let output = outputs.await.unwrap().remove(0);
    let ids: Vec<i32> = output.shards().map(|shard| shard.device().id()).collect();
    assert_eq!(ids, [4, 1, 5, 0]);
    let expected = Array1::from_vec(vec![1_f32, 2., 3., 4., 5., 6., 7., 8.]).into_dyn();
    assert_eq!(output.to_ndarray::<f32>().await.unwrap(), expected);
}

#[tokio::test]
async fn a_launch_returns_before_its_program_ends() {
    // One thread for everything: were it blocked, nothing else could run meanwhile.
    let mesh = mesh(&[("x", 1)]).await;
    let executable = compile(SLOW, &mesh).await;
    let start = Array2::from_elem((512, 512), 1.0_f32 / 512.0);
    let start = Array::from_ndarray(&mesh, &Sharding::replicated(), start).await.unwrap();
    let ticks = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ticks);
    let ticking = tokio::spawn(async move {
        loop {
            counter.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    // Two launches, the second on the output of the first that is not there yet.
    let first = executable.run(vec![start]).await.unwrap().remove(0);
    let second = executable.run(vec![first]).await.unwrap().remove(0);
    let launched = ticks.load(Ordering::Relaxed);
    let result = second.to_ndarray::<f32>().await.unwrap();
    assert!(ticks.load(Ordering::Relaxed) > launched + 100, "the executor's thread was blocked");
    ticking.abort();
    // A matrix of all 1/n times itself is itself.
    assert!(result.iter().all(|value| (value * 512.0 - 1.0).abs() < 1e-3));
}

#[tokio::test]
async fn work_is_left_under_way() {
    let mesh = mesh(&[("x", 1)]).await;
    let executable = compile(SLOW, &mesh).await;
    let start =
        Array::from_ndarray(&mesh, &Sharding::replicated(), Array2::<f32>::zeros((512, 512))).await.unwrap();
    let outputs = executable.run(vec![start]).await.unwrap();
    assert_eq!(outputs[0].shape(), [512, 512]);
}

#[test]
fn a_process_ends_in_order_while_a_program_runs() {
    let test = ["--exact", "launches::work_is_left_under_way"];
    for _ in 0..5 {
        let child = std::process::Command::new(std::env::current_exe().unwrap()).args(test).output().unwrap();
        assert!(child.status.success(), "{}: {}", child.status, String::from_utf8_lossy(&child.stderr));
        assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_use_one_client() {
    let mesh = mesh(&[("x", 4)]).await;
    let executable = compile(INCREMENT, &mesh).await;
    let mut tasks = JoinSet::new();
    for task in 0..32 {
        let (mesh, executable) = (mesh.clone(), executable.clone());
        tasks.spawn(async move {
            let mut array = spread(&mesh, [task as f32; 8]).await;
            for _ in 0..20 {
                array = executable.run(vec![array]).await.unwrap().remove(0);
            }
            (task, array.to_ndarray::<f32>().await.unwrap())
        });
    }
    let mut seen = BTreeSet::new();
    for (task, result) in tasks.join_all().await {
        assert_eq!(result, Array1::from_elem(8, task as f32 + 20.0).into_dyn());
        seen.insert(task);
    }
    assert_eq!(seen.len(), 32);
}

#[tokio::test]
async fn collectives_of_many_launches_do_not_starve_each_other() {
    // More launches ahead than the plugin takes, with copies to the host in between: without a limit of ours
    // the plugin runs out of threads and aborts the process.
    let mesh = mesh(&[("x", 16)]).await;
    let executable = Executable::compile(&program("collectives_16.mlir").await, &mesh).await.unwrap();
    let ones = spread(&mesh, [1.0; 64]).await;
    let mut ahead = Vec::new();
    for _ in 0..100 {
        ahead.push(executable.run(vec![ones.clone()]).await.unwrap());
    }
    let mut tasks = JoinSet::new();
    for _ in 0..64 {
        let (executable, ones) = (executable.clone(), ones.clone());
        tasks.spawn(async move {
            for _ in 0..5 {
                let outputs = executable.run(vec![ones.clone()]).await.unwrap();
                let sum = outputs[0].to_ndarray::<f32>().await.unwrap();
                assert_eq!(sum, Array1::from_elem(4, 16.0_f32).into_dyn());
            }
        });
    }
    tasks.join_all().await;
    for outputs in ahead {
        outputs[2].ready().await.unwrap();
    }
}

#[test]
fn futures_need_no_particular_executor() {
    // Made on a runtime that is gone, awaited with a bare waker on this thread.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mesh, executable) = runtime.block_on(async {
        let mesh = mesh(&[("x", 4)]).await;
        let executable = compile(INCREMENT, &mesh).await;
        (mesh, executable)
    });
    drop(runtime);
    let result = block_on(async {
        let array = spread(&mesh, [4.0; 8]).await;
        let outputs = executable.run(vec![array]).await.unwrap();
        outputs[0].to_ndarray::<f32>().await.unwrap()
    });
    assert_eq!(result, Array1::from_elem(8, 5.0_f32).into_dyn());
}

/// Runs a future on this thread, parking it in between.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }
}
