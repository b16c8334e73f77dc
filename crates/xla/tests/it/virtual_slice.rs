//! Four hosts with four chips each, one launch.

use std::time::Duration;

use mobula_xla::array::Array;
use mobula_xla::client::Device;
use mobula_xla::dtype::{DType, TensorType};
use mobula_xla::executable::{ArgumentError, Executable, RunFailure};
use mobula_xla::mesh::Mesh;
use mobula_xla::program::Program;
use mobula_xla::sharding::Sharding;
use mobula_xla::virtual_slice::{LaunchError, Member, MissingHost, SliceError, VirtualSlice};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::{floats, plugin, program};

const DEADLINE: Duration = Duration::from_secs(60);

/// Adds up a vector over all devices; every device gets the sum.
const SUM: &str = r#"module @sum attributes {mhlo.num_partitions = 16 : i32} {
  sdy.mesh @mesh = <["x"=16]>
  func.func public @main(%x: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    return %sum : tensor<f32>
  }
}"#;

async fn slice() -> VirtualSlice {
    VirtualSlice::create(&plugin().await, 4, 4).await.unwrap()
}

fn members(slice: &VirtualSlice) -> Vec<Member> {
    (0..slice.host_count()).map(|host| slice.member(host).unwrap()).collect()
}

fn line(slice: &VirtualSlice) -> Mesh {
    slice.mesh([("x", 16)]).unwrap()
}

async fn sum(slice: &VirtualSlice) -> Executable {
    slice.compile(&Program::from_text(SUM).unwrap(), &line(slice)).await.unwrap()
}

/// The shards of a host: eight elements, each `host + 1`.
async fn ones(member: &Member, mesh: &Mesh) -> Array {
    let block = ndarray::Array1::from_elem(8, (member.host() + 1) as f32);
    Array::from_block(mesh, &Sharding::over([["x"]]), &[32], member.devices(), block).await.unwrap()
}

async fn scalar(array: &Array) -> f32 {
    array.to_ndarray::<f32>().await.unwrap().into_iter().next().unwrap()
}

/// Lets every member sum up once, and checks what each gets.
async fn sum_once(members: &mut [Member], executable: &Executable) {
    let mut runs = Vec::new();
    for member in members.iter_mut() {
        let arguments = vec![ones(member, executable.mesh()).await];
        runs.push(member.run(executable, arguments, DEADLINE));
    }
    let [a, b, c, d] = runs.try_into().unwrap_or_else(|_| panic!("four hosts"));
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    for outputs in [a, b, c, d] {
        let outputs = outputs.unwrap();
        assert_eq!(outputs[0].shard_count(), 4);
        assert_eq!(scalar(&outputs[0]).await, 8.0 * (1.0 + 2.0 + 3.0 + 4.0));
    }
}

#[tokio::test]
async fn four_hosts_launch_once_and_get_their_shards() {
    let slice = slice().await;
    let program = program("collectives_16.mlir").await;
    let expected = floats("collectives_16.bin");
    let mut hosts = JoinSet::new();
    for mut member in members(&slice) {
        let program = program.clone();
        hosts.spawn(async move {
            let mesh = member.mesh([("x", 16)]).unwrap();
            let executable = member.compile(&program, &mesh).await.unwrap();
            let first = member.host() as f32 * 8.0;
            let block = ndarray::Array1::from_shape_fn(16, |index| first + index as f32 * 0.5);
            let split = Sharding::over([["x"]]);
            let x = Array::from_block(&mesh, &split, &[64], member.devices(), block);
            let outputs = member.run(&executable, vec![x.await.unwrap()], DEADLINE).await.unwrap();
            (member, outputs)
        });
    }
    let done = hosts.join_all().await;
    assert_eq!(done.len(), 4);
    for (member, outputs) in done {
        // psum and all_gather are the same everywhere; of the others each host has its quarter.
        assert_eq!(outputs[0].to_ndarray::<f32>().await.unwrap().into_raw_vec_and_offset().0, expected[..4]);
        assert_eq!(
            outputs[1].to_ndarray::<f32>().await.unwrap().into_raw_vec_and_offset().0,
            expected[4..68]
        );
        for (output, whole) in outputs[2..].iter().zip([&expected[68..132], &expected[132..]]) {
            assert!(!output.is_complete());
            let quarter = member.host() * 16..(member.host() + 1) * 16;
            assert_eq!(output.local_block().unwrap(), std::slice::from_ref(&quarter));
            let got = output.to_local_ndarray::<f32>().await.unwrap();
            assert_eq!(got.into_raw_vec_and_offset().0, whole[quarter]);
        }
    }
}

#[tokio::test]
async fn a_missing_host_is_named_and_the_arrays_come_back() {
    let slice = slice().await;
    let executable = sum(&slice).await;
    let mesh = line(&slice);
    let mut members = members(&slice);
    let mut arguments = Vec::new();
    for member in &members {
        arguments.push(vec![ones(member, &mesh).await]);
    }
    let late_arguments = arguments.pop().unwrap();
    let mut late = members.pop().unwrap();
    tokio::time::pause();
    let begun = Instant::now();
    let mut runs = JoinSet::new();
    for (mut member, arguments) in members.into_iter().zip(arguments) {
        let executable = executable.clone();
        runs.spawn(async move {
            let error = member.run(&executable, arguments, Duration::from_secs(5)).await.unwrap_err();
            (member, error)
        });
    }
    let answers = runs.join_all().await;
    assert_eq!(begun.elapsed().as_secs(), 5);
    let mut waiting = Vec::new();
    for (member, error) in answers {
        let missing = vec![MissingHost { host: 3, refusal: None }];
        match error.error() {
            LaunchError::Missing { launch: 0, missing: got, waited } => {
                assert_eq!(*got, missing);
                assert_eq!(waited.as_secs(), 5);
            }
            other => panic!("{other}"),
        }
        waiting.push((member, error.into_arguments()));
    }
    // The late host learns at once which launch it missed, when and why.
    let (begun, _) = (Instant::now(), tokio::time::advance(Duration::from_secs(2)).await);
    let error = late.run(&executable, late_arguments, DEADLINE).await.unwrap_err();
    assert_eq!(begun.elapsed().as_secs(), 2);
    let text = error.to_string();
    assert!(text.contains("launch number 0") && text.contains("host 3 did not come"), "{text}");
    let LaunchError::Late { launch: 0, ago: Some(ago), cause: Some(_) } = error.error() else {
        panic!("{error}")
    };
    assert_eq!(ago.as_secs(), 2);
    // The next launch works, with the same arrays.
    waiting.push((late, error.into_arguments()));
    let mut runs = JoinSet::new();
    for (mut member, arguments) in waiting {
        let executable = executable.clone();
        runs.spawn(async move {
            let outputs = member.run(&executable, arguments, DEADLINE).await.unwrap();
            assert_eq!(scalar(&outputs[0]).await, 80.0);
        });
    }
    runs.join_all().await;
}

#[tokio::test]
async fn wrong_shards_are_refused_before_they_count() {
    let slice = slice().await;
    let executable = sum(&slice).await;
    let mesh = line(&slice);
    let split = Sharding::over([["x"]]);
    let mut members = members(&slice);
    let mut last = members.pop().unwrap();
    let devices = last.devices().to_vec();

    let half = ndarray::Array1::<f32>::zeros(4);
    let shape = Array::from_block(&mesh, &split, &[16], &devices, half).await.unwrap();
    let integers = ndarray::Array1::<i32>::zeros(8);
    let dtype = Array::from_block(&mesh, &split, &[32], &devices, integers).await.unwrap();
    let copies = ndarray::Array1::<f32>::zeros(32);
    let sharding = Array::from_block(&mesh, &Sharding::replicated(), &[32], &devices, copies).await.unwrap();
    let everything = ndarray::Array1::<f32>::zeros(32);
    let everything = Array::from_ndarray(&mesh, &split, everything).await.unwrap();
    let part = everything.restricted_to(&devices[..2]).unwrap();

    let wanted = TensorType::new(DType::F32, [32]);
    let type_error = |got| ArgumentError::Type { expected: wanted.clone(), got };
    let ids = |range: std::ops::Range<i32>| range.collect::<Vec<i32>>();
    let expected = [
        (shape, type_error(TensorType::new(DType::F32, [16]))),
        (dtype, type_error(TensorType::new(DType::I32, [32]))),
        (
            sharding,
            ArgumentError::Sharding { expected: "{x} over (x=16)".into(), got: "{} over (x=16)".into() },
        ),
        (everything, ArgumentError::Shards { expected: ids(12..16), got: ids(0..16) }),
        (part, ArgumentError::Shards { expected: ids(12..16), got: ids(12..14) }),
    ];
    for (array, source) in expected {
        let error = last.run(&executable, vec![array], DEADLINE).await.unwrap_err();
        assert_eq!(*error.error(), LaunchError::Refused(RunFailure::Argument { index: 0, source }));
        assert_eq!(error.into_arguments().len(), 1);
    }
    let error = last.run(&executable, vec![], DEADLINE).await.unwrap_err();
    assert_eq!(*error.error(), LaunchError::Refused(RunFailure::ArgumentCount { expected: 1, got: 0 }));

    // The others are told of the last refusal when the host does not come again.
    let first = ones(&members[0], &mesh).await;
    tokio::time::pause();
    let error = members[0].run(&executable, vec![first], DEADLINE).await.unwrap_err();
    match error.error() {
        LaunchError::Missing { missing, .. } => {
            let refusal = missing[2].refusal.as_ref().unwrap();
            assert_eq!(missing[2].host, 3);
            assert!(refusal.contains("expected 1, got 0"), "{refusal}");
        }
        other => panic!("{other}"),
    }
    tokio::time::resume();
    // The three that were missing hear of it; then all launch.
    members.push(last);
    for member in &mut members[1..] {
        let own = ones(member, &mesh).await;
        let error = member.run(&executable, vec![own], DEADLINE).await.unwrap_err();
        assert!(matches!(error.error(), LaunchError::Late { launch: 0, .. }));
    }
    sum_once(&mut members, &executable).await;
}

#[tokio::test]
async fn different_programs_are_named() {
    let slice = slice().await;
    let mesh = line(&slice);
    let executable = sum(&slice).await;
    let product = SUM.replace("stablehlo.add", "stablehlo.multiply").replace("@sum", "@product");
    let product = slice.compile(&Program::from_text(product).unwrap(), &mesh).await.unwrap();
    let mut members = members(&slice);
    let (mut zero, mut one) = (members.remove(0), members.remove(0));
    let (a, b) = (ones(&zero, &mesh).await, ones(&one, &mesh).await);
    let (a, b) = tokio::join!(zero.run(&executable, vec![a], DEADLINE), one.run(&product, vec![b], DEADLINE));
    for error in [a.unwrap_err(), b.unwrap_err()] {
        let LaunchError::Programs { launch: 0, programs } = error.error() else { panic!("{error}") };
        let names: Vec<(usize, &str)> =
            programs.iter().map(|(host, program)| (*host, program.name.as_str())).collect();
        assert_eq!(names, [(0, "sum"), (1, "product")]);
        assert!(
            error.to_string().contains("host 0: sum (") && error.to_string().contains("host 1: product (")
        );
    }
    // Two compilations of one program are one program.
    let again = Executable::compile(&Program::from_text(SUM).unwrap(), &mesh).await.unwrap();
    for member in &mut members {
        let own = ones(member, &mesh).await;
        member.run(&again, vec![own], DEADLINE).await.unwrap_err();
    }
    let mut all = vec![zero, one];
    all.append(&mut members);
    let mut runs = JoinSet::new();
    for mut member in all {
        let executable = if member.host() % 2 == 0 { executable.clone() } else { again.clone() };
        let own = ones(&member, &mesh).await;
        runs.spawn(async move {
            let outputs = member.run(&executable, vec![own], DEADLINE).await.unwrap();
            assert_eq!(scalar(&outputs[0]).await, 80.0);
        });
    }
    runs.join_all().await;
}

#[tokio::test]
async fn a_dropped_member_is_named_at_once() {
    let slice = slice().await;
    let executable = sum(&slice).await;
    let mesh = line(&slice);
    let mut members = members(&slice);
    let first = ones(&members[0], &mesh).await;
    tokio::time::pause();
    let begun = Instant::now();
    let dropped = members.remove(2);
    let mut zero = members.remove(0);
    let (answer, ()) = tokio::join!(zero.run(&executable, vec![first], DEADLINE), async { drop(dropped) });
    let error = answer.unwrap_err();
    assert_eq!(*error.error(), LaunchError::MemberLost { launch: 0, host: 2 });
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let error = zero.run(&executable, error.into_arguments(), DEADLINE).await.unwrap_err();
    assert_eq!(*error.error(), LaunchError::MemberLost { launch: 1, host: 2 });
    // Its place can be taken again; who missed launches hears of them; then all launch.
    members.push(slice.member(2).unwrap());
    for launch in 0..2 {
        for member in &mut members[..2] {
            let own = ones(member, &mesh).await;
            let error = member.run(&executable, vec![own], DEADLINE).await.unwrap_err();
            assert!(matches!(error.error(), LaunchError::Late { launch: got, .. } if *got == launch));
        }
    }
    members.push(zero);
    tokio::time::resume();
    sum_once(&mut members, &executable).await;
}

#[tokio::test]
async fn a_dropped_run_withdraws_the_arrival() {
    let slice = slice().await;
    let executable = sum(&slice).await;
    let mesh = line(&slice);
    let mut members = members(&slice);
    for _ in 0..3 {
        let own = ones(&members[1], &mesh).await;
        let run = members[1].run(&executable, vec![own], DEADLINE);
        // Polled once, so that it has arrived, then dropped.
        assert!(poll_once(run).await.is_none());
    }
    assert_eq!(slice.client().live_handles().buffers, 0);
    sum_once(&mut members, &executable).await;
}

/// Polls a future once and drops it.
async fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn many_launches_of_many_tasks_keep_their_order() {
    let slice = slice().await;
    let executable = sum(&slice).await;
    let mesh = line(&slice);
    let mut hosts = JoinSet::new();
    for mut member in members(&slice) {
        let (executable, mesh) = (executable.clone(), mesh.clone());
        hosts.spawn(async move {
            for step in 0..50 {
                let block = ndarray::Array1::from_elem(8, (step * (member.host() + 1)) as f32);
                let split = Sharding::over([["x"]]);
                let own = Array::from_block(&mesh, &split, &[32], member.devices(), block).await.unwrap();
                let outputs = member.run(&executable, vec![own], DEADLINE).await.unwrap();
                assert_eq!(scalar(&outputs[0]).await, 80.0 * step as f32);
            }
        });
    }
    hosts.join_all().await;
}

#[tokio::test]
async fn what_makes_no_slice_is_named() {
    let plugin = plugin().await;
    assert!(matches!(
        VirtualSlice::create(&plugin, 0, 4).await,
        Err(SliceError::Hosts { host_count: 0, .. })
    ));
    assert!(matches!(VirtualSlice::create(&plugin, 4, 0).await, Err(SliceError::Hosts { .. })));
    assert!(matches!(VirtualSlice::create(&plugin, usize::MAX, 2).await, Err(SliceError::Hosts { .. })));
    let slice = VirtualSlice::create(&plugin, 2, 3).await.unwrap();
    assert!(matches!(
        VirtualSlice::over(slice.client().clone(), 4),
        Err(SliceError::Uneven { host_count: 4, device_count: 6 })
    ));
    assert!(matches!(slice.member(2), Err(SliceError::NoHost { host: 2, host_count: 2 })));
    let member = slice.member(1).unwrap();
    assert_eq!(member.devices().iter().map(Device::id).collect::<Vec<_>>(), [3, 4, 5]);
    assert!(matches!(slice.member(1), Err(SliceError::MemberTaken { host: 1 })));
    drop(member);
    slice.member(1).unwrap();
}

#[tokio::test]
async fn an_executable_of_a_part_of_the_slice_is_refused() {
    let slice = slice().await;
    let mut member = slice.member(0).unwrap();
    let mesh = Mesh::new(slice.devices()[..8].to_vec(), [("x", 8)]).unwrap();
    let executable = slice.compile(&program("collectives_8.mlir").await, &mesh).await.unwrap();
    let error = member.run(&executable, vec![], DEADLINE).await.unwrap_err();
    assert_eq!(*error.error(), LaunchError::Devices { expected: (0..16).collect(), got: (0..8).collect() });
}
