//! Slices of shardings, by hand; compare `jax.sharding.NamedSharding.devices_indices_map`.

use super::*;

fn mesh() -> MeshShape {
    MeshShape::new([("data", 2), ("model", 2)]).unwrap()
}

#[test]
fn slices_of_the_table_in_the_docs() {
    let at = |sharding: Sharding| sharding.slices(&mesh(), &[8, 6]).unwrap()[2].clone();
    assert_eq!(at(Sharding::replicated()), [0..8, 0..6]);
    assert_eq!(at(Sharding::over([["data"]])), [4..8, 0..6]);
    assert_eq!(at(Sharding::over([vec![], vec!["model"]])), [0..8, 0..3]);
    assert_eq!(at(Sharding::over([["data", "model"]])), [4..6, 0..6]);
    assert_eq!(at(Sharding::over([["model", "data"]])), [2..4, 0..6]);
}

#[test]
fn trailing_dims_do_not_matter() {
    assert_eq!(Sharding::over([vec!["x"], vec![]]), Sharding::over([vec!["x"]]));
    assert_eq!(Sharding::over::<Vec<&str>, &str>([vec![], vec![]]), Sharding::replicated());
    assert_eq!(Sharding::over([vec![], vec!["x", "y"]]).to_string(), "{-, x+y}");
}

#[test]
fn equivalence_is_about_slices() {
    let one = MeshShape::new([("data", 4), ("model", 1)]).unwrap();
    let same = |left: &Sharding, right: &Sharding| left.is_equivalent(&one, right, &one, &[8]).unwrap();
    assert!(same(&Sharding::over([["data"]]), &Sharding::over([["data", "model"]])));
    assert!(same(&Sharding::over([["model"]]), &Sharding::replicated()));
    assert!(!same(&Sharding::over([["data"]]), &Sharding::replicated()));
    let flat = MeshShape::new([("x", 4)]).unwrap();
    let rows = Sharding::over([["data", "model"]]);
    assert!(rows.is_equivalent(&mesh(), &Sharding::over([["x"]]), &flat, &[8]).unwrap());
}

#[test]
fn what_does_not_fit_is_named() {
    let of = |sharding: Sharding, shape: &[usize]| sharding.shard_shape(&mesh(), shape).unwrap_err();
    assert!(matches!(
        of(Sharding::over([["pipe"]]), &[8]),
        ShardingError::UnknownAxis { axis, .. } if axis == "pipe"
    ));
    assert!(matches!(
        of(Sharding::over([["data"], ["data"]]), &[8, 8]),
        ShardingError::AxisTwice { axis, .. } if axis == "data"
    ));
    assert!(matches!(of(Sharding::over([["data"]]), &[]), ShardingError::Rank { got: 1, .. }));
    assert!(matches!(
        of(Sharding::over([["data", "model"]]), &[6]),
        ShardingError::NotDivisible { dim: 0, extent: 6, parts: 4, .. }
    ));
}

#[test]
fn empty_dims_split_into_empty_parts() {
    let slices = Sharding::over([["data"]]).slices(&mesh(), &[0, 3]).unwrap();
    assert!(slices.iter().all(|slice| *slice == [0..0, 0..3]));
}

#[test]
fn blocks_are_full_rectangles() {
    let slices = Sharding::over([["data"], ["model"]]).slices(&mesh(), &[4, 4]).unwrap();
    assert_eq!(bounding_block(&slices), Some(vec![0..4, 0..4]));
    assert_eq!(bounding_block(&slices[..2]), Some(vec![0..2, 0..4]));
    assert_eq!(bounding_block(&[slices[1].clone(), slices[3].clone()]), Some(vec![0..4, 2..4]));
    assert_eq!(bounding_block(&[slices[0].clone(), slices[3].clone()]), None);
    assert_eq!(bounding_block(&[]), None);
    let scalar = Sharding::replicated().slices(&mesh(), &[]).unwrap();
    assert_eq!(bounding_block(&scalar), Some(vec![]));
}
