//! Arrays to devices and back: element types, shardings, blocks of hosts, and what does not fit.

use mobula_xla::array::{Array, ArrayError, TransferError};
use mobula_xla::dtype::{DType, Element};
use mobula_xla::mesh::{Mesh, MeshError};
use mobula_xla::sharding::{Sharding, ShardingError};
use ndarray::{Array1, Array2, Array3, ArrayD, IxDyn, s};

use crate::support::{client, mesh};

async fn grid() -> Mesh {
    mesh(&[("data", 2), ("model", 4)]).await
}

/// Every way to spread eight by eight elements over the grid.
fn shardings() -> Vec<Sharding> {
    vec![
        Sharding::replicated(),
        Sharding::over([["data"]]),
        Sharding::over([["model"]]),
        Sharding::over([vec![], vec!["data"]]),
        Sharding::over([["data"], ["model"]]),
        Sharding::over([["model"], ["data"]]),
        Sharding::over([vec!["data", "model"]]),
        Sharding::over([vec![], vec!["model", "data"]]),
    ]
}

async fn there_and_back<T: Element>(mesh: &Mesh, value: impl Fn(usize) -> T) {
    let host = Array2::from_shape_fn((8, 8), |(row, column)| value(row * 8 + column));
    for sharding in shardings() {
        let array = Array::from_ndarray(mesh, &sharding, host.clone()).await.unwrap();
        assert_eq!((array.shape(), array.dtype()), (&[8, 8][..], T::DTYPE));
        assert!(array.is_complete());
        array.ready().await.unwrap();
        assert_eq!(array.to_ndarray::<T>().await.unwrap(), host.clone().into_dyn(), "{sharding}");
        for shard in array.shards() {
            let slice = shard.slice();
            let expected = host.slice(s![slice[0].clone(), slice[1].clone()]).to_owned().into_dyn();
            assert_eq!(shard.to_host::<T>().await.unwrap(), expected, "{sharding} at {}", shard.position());
        }
    }
}

#[tokio::test]
async fn every_element_type_in_every_sharding() {
    let mesh = grid().await;
    there_and_back(&mesh, |index| index % 3 == 0).await;
    there_and_back(&mesh, |index| index as i8 - 60).await;
    there_and_back(&mesh, |index| index as i16 * -500).await;
    there_and_back(&mesh, |index| index as i32 * -30_000_000).await;
    there_and_back(&mesh, |index| index as i64 * -50_000_000_000_000_000).await;
    there_and_back(&mesh, |index| index as u8 + 190).await;
    there_and_back(&mesh, |index| index as u16 * 1000).await;
    there_and_back(&mesh, |index| index as u32 * 60_000_000).await;
    there_and_back(&mesh, |index| u64::MAX - index as u64).await;
    there_and_back(&mesh, |index| half::f16::from_f32(index as f32 * 0.125)).await;
    there_and_back(&mesh, |index| half::bf16::from_f32(index as f32 * -2.0)).await;
    there_and_back(&mesh, |index| index as f32 * 0.1).await;
    there_and_back(&mesh, |index| index as f64 * 0.1).await;
}

#[tokio::test]
async fn host_arrays_of_any_layout() {
    let mesh = grid().await;
    let host = Array3::from_shape_fn((4, 8, 2), |(i, j, k)| (i * 100 + j * 10 + k) as i32);
    let sharding = Sharding::over([["data"], ["model"]]);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let transposed = host.clone().permuted_axes(order);
        let fits = transposed.shape()[0] % 2 == 0 && transposed.shape()[1] % 4 == 0;
        let sharding = if fits { sharding.clone() } else { Sharding::replicated() };
        let array = Array::from_ndarray(&mesh, &sharding, transposed.clone()).await.unwrap();
        assert_eq!(array.to_ndarray::<i32>().await.unwrap(), transposed.into_dyn());
    }
    // A part of a larger allocation, in reverse.
    let part = host.slice_move(s![1..3, ..;-2, 1..]);
    let array = Array::from_ndarray(&mesh, &sharding, part.clone()).await.unwrap();
    assert_eq!(array.to_ndarray::<i32>().await.unwrap(), part.into_dyn());
}

#[tokio::test]
async fn scalars_and_empty_arrays() {
    let mesh = grid().await;
    let scalar = ArrayD::from_elem(IxDyn(&[]), 7.5_f32);
    let array = Array::from_ndarray(&mesh, &Sharding::replicated(), scalar.clone()).await.unwrap();
    assert_eq!(array.to_ndarray::<f32>().await.unwrap(), scalar);
    assert_eq!(array.shard(3).unwrap().to_host::<f32>().await.unwrap(), scalar);
    let truth = ndarray::arr0(true);
    let array = Array::from_ndarray(&mesh, &Sharding::replicated(), truth).await.unwrap();
    assert!(array.to_ndarray::<bool>().await.unwrap().into_iter().next().unwrap());
    for (shape, sharding) in [
        (vec![0], Sharding::replicated()),
        (vec![3, 0], Sharding::replicated()),
        (vec![0, 8], Sharding::over([["data"], ["model"]])),
        (vec![8, 0], Sharding::over([["data"]])),
    ] {
        let empty = ArrayD::<i64>::zeros(shape);
        let array = Array::from_ndarray(&mesh, &sharding, empty.clone()).await.unwrap();
        assert!(array.is_complete());
        array.ready().await.unwrap();
        assert_eq!(array.to_ndarray::<i64>().await.unwrap(), empty);
    }
}

#[tokio::test]
async fn large_arrays_with_copied_parts() {
    let mesh = grid().await;
    let host = Array2::from_shape_fn((1024, 2048), |(row, column)| (row * 2048 + column) as f32);
    let sharding = Sharding::over([vec!["data"], vec!["model"]]);
    let array = Array::from_ndarray(&mesh, &sharding, host.clone()).await.unwrap();
    assert_eq!(array.to_ndarray::<f32>().await.unwrap(), host.into_dyn());
}

#[tokio::test]
async fn hosts_bring_their_blocks() {
    let mesh = grid().await;
    let host = Array2::from_shape_fn((8, 8), |(row, column)| (row * 8 + column) as u16);
    let devices = mesh.devices();
    // Hosts of rows of the mesh, of columns, and of single devices.
    let columns = |first: usize| vec![devices[first].clone(), devices[first + 4].clone()];
    let ways = [
        vec![devices[..4].to_vec(), devices[4..].to_vec()],
        (0..4).map(columns).collect(),
        devices.iter().map(|device| vec![device.clone()]).collect(),
    ];
    for hosts in ways {
        for sharding in
            [Sharding::over([["data"], ["model"]]), Sharding::over([["data"]]), Sharding::replicated()]
        {
            let mut parts = Vec::new();
            for devices in &hosts {
                let place = Array::block_of(&mesh, &sharding, &[8, 8], devices).unwrap();
                let block = host.slice(s![place[0].clone(), place[1].clone()]).to_owned();
                let part =
                    Array::from_block(&mesh, &sharding, &[8, 8], devices, block.clone()).await.unwrap();
                assert_eq!(part.shard_count(), devices.len());
                assert_eq!(part.local_block().unwrap(), place);
                assert_eq!(part.to_local_ndarray::<u16>().await.unwrap(), block.into_dyn());
                parts.push(part);
            }
            let whole = Array::join(&parts).unwrap();
            assert!(whole.is_complete());
            assert_eq!(whole.to_ndarray::<u16>().await.unwrap(), host.clone().into_dyn());
            for (part, devices) in parts.iter().zip(&hosts) {
                let again = whole.restricted_to(devices).unwrap();
                assert_eq!(again.local_block().unwrap(), part.local_block().unwrap());
            }
        }
    }
}

#[tokio::test]
async fn shards_are_given_one_by_one() {
    let mesh = grid().await;
    let sharding = Sharding::over([["data"]]);
    let shard = |device: usize, value: i32| (mesh.devices()[device].clone(), Array1::from_elem(2, value));
    let shards = vec![shard(5, 1), shard(0, 0), shard(4, 1)];
    let array = Array::from_shards(&mesh, &sharding, &[4], shards).await.unwrap();
    let positions: Vec<usize> = array.shards().map(|shard| shard.position()).collect();
    assert_eq!(positions, [0, 4, 5]);
    assert!(!array.is_complete());
    // The shards cover the tensor, though not all devices.
    let whole = array.to_ndarray::<i32>().await.unwrap();
    assert_eq!(whole, ndarray::arr1(&[0, 0, 1, 1]).into_dyn());
    let half = array.restricted_to(&mesh.devices()[4..6]).unwrap();
    assert!(matches!(half.to_ndarray::<i32>().await, Err(TransferError::Incomplete { held: 2, all: 8 })));
    assert!(matches!(half.restricted_to(&mesh.devices()[..1]), Err(ArrayError::NotHeld { device: 0 })));
    let twice = Array::from_shards(&mesh, &sharding, &[4], vec![shard(0, 0), shard(0, 0)]).await.unwrap_err();
    assert_eq!(twice, TransferError::Array(ArrayError::HeldTwice { device: 0 }));
    let none = Array::from_shards::<i32, ndarray::Ix1>(&mesh, &sharding, &[4], vec![]).await.unwrap_err();
    assert_eq!(none, TransferError::Array(ArrayError::NoShards));
    let wrong = vec![(mesh.devices()[1].clone(), Array1::from_elem(3, 0))];
    let wrong = Array::from_shards(&mesh, &sharding, &[4], wrong).await.unwrap_err();
    let what = "the shard of device 1".to_owned();
    assert_eq!(wrong, TransferError::Shape { what, expected: vec![2], got: vec![3] });
    let other = client(1).await.devices();
    let other = vec![(other[0].clone(), Array1::from_elem(2, 0))];
    let other = Array::from_shards(&mesh, &sharding, &[4], other).await.unwrap_err();
    assert_eq!(other, TransferError::NotInMesh { device: 0 });
}

#[tokio::test]
async fn what_does_not_fit_is_named_before_the_plugin_is_asked() {
    let mesh = grid().await;
    let buffers = || mesh.client().live_handles().buffers;
    let odd = Array1::<f32>::zeros(6);
    let error = Array::from_ndarray(&mesh, &Sharding::over([["model"]]), odd.clone()).await.unwrap_err();
    assert!(matches!(
        error,
        TransferError::Sharding(ShardingError::NotDivisible { dim: 0, extent: 6, parts: 4, .. })
    ));
    let error = Array::from_ndarray(&mesh, &Sharding::over([["pipe"]]), odd.clone()).await.unwrap_err();
    assert!(error.to_string().contains("\"pipe\"") && error.to_string().contains("(data=2, model=4)"));
    let error =
        Array::from_ndarray(&mesh, &Sharding::over([["data"], ["model"]]), odd.clone()).await.unwrap_err();
    assert!(matches!(error, TransferError::Sharding(ShardingError::Rank { got: 2, .. })));
    let own = &mesh.devices()[..4];
    let error =
        Array::from_block(&mesh, &Sharding::over([["data"]]), &[6], own, odd.clone()).await.unwrap_err();
    let what = "the block of a host".to_owned();
    assert_eq!(error, TransferError::Shape { what, expected: vec![3], got: vec![6] });
    let diagonal = [mesh.devices()[0].clone(), mesh.devices()[5].clone()];
    let both = Sharding::over([["data"], ["model"]]);
    let square = Array2::<f32>::zeros((8, 8));
    let error = Array::from_block(&mesh, &both, &[8, 8], &diagonal, square).await.unwrap_err();
    assert_eq!(error, TransferError::NotRectangular { devices: vec![0, 5] });
    let huge = [usize::MAX / 2, 8];
    let error = Array::from_block(&mesh, &Sharding::replicated(), &huge, own, odd.clone()).await.unwrap_err();
    assert!(matches!(error, TransferError::TooLarge { .. }));
    assert_eq!(buffers(), 0);

    let array = Array::from_ndarray(&mesh, &Sharding::replicated(), odd).await.unwrap();
    let error = array.to_ndarray::<f64>().await.unwrap_err();
    assert_eq!(error, TransferError::Dtype { expected: DType::F32, got: DType::F64 });
    let error = array.shard(0).unwrap().to_host::<i32>().await.unwrap_err();
    assert_eq!(error.to_string(), "transfer an array: expected elements of type f32, got i32");
    assert!(array.shard(8).is_none());
}

#[tokio::test]
async fn parts_of_different_arrays_do_not_join() {
    let mesh = grid().await;
    let split = Sharding::over([["data"]]);
    let whole = Array::from_ndarray(&mesh, &split, Array1::<f32>::zeros(8)).await.unwrap();
    let other = Array::from_ndarray(&mesh, &Sharding::replicated(), Array1::<f32>::zeros(8)).await.unwrap();
    let (left, right) = (&mesh.devices()[..4], &mesh.devices()[4..]);
    let parts = [whole.restricted_to(left).unwrap(), other.restricted_to(right).unwrap()];
    let error = Array::join(&parts).unwrap_err();
    assert!(
        error.to_string().contains("expected f32[8] as {data}")
            && error.to_string().contains("got f32[8] as {}")
    );
    let parts = [whole.restricted_to(left).unwrap(), whole.clone()];
    assert_eq!(Array::join(&parts).unwrap_err(), ArrayError::HeldTwice { device: 0 });
    assert_eq!(Array::join(&[]).unwrap_err(), ArrayError::NoShards);
    assert_eq!(whole.restricted_to(&[]).unwrap_err(), ArrayError::NoShards);
}

#[tokio::test]
async fn meshes_are_checked() {
    let (one, other) = (client(4).await, client(1).await);
    let devices = one.devices();
    let error = Mesh::new(devices.clone(), [("x", 3)]).unwrap_err();
    assert!(matches!(error, MeshError::DeviceCount { expected: 3, got: 4, .. }));
    let twice = vec![devices[0].clone(), devices[0].clone()];
    assert_eq!(Mesh::new(twice, [("x", 2)]).unwrap_err(), MeshError::DeviceTwice { device: 0 });
    let mixed = vec![devices[0].clone(), other.devices()[0].clone()];
    assert_eq!(Mesh::new(mixed, [("x", 2)]).unwrap_err(), MeshError::OtherClient { device: 0 });
    let mesh = Mesh::new(devices.clone(), [("x", 2), ("y", 2)]).unwrap();
    assert_eq!(mesh.device_at(&[1, 0]), Some(&devices[2]));
    assert_eq!(mesh.device_at(&[2, 0]), None);
    assert_eq!(mesh.position_of(&devices[3]), Some(3));
    assert_eq!(mesh.position_of(&other.devices()[0]), None);
}
