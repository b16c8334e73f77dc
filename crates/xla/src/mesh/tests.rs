//! Coordinates of meshes, by hand.

use super::*;

#[test]
fn positions_are_row_major() {
    let shape = MeshShape::new([("data", 2), ("model", 3)]).unwrap();
    assert_eq!(shape.device_count(), 6);
    let all: Vec<Vec<usize>> = (0..6).map(|position| shape.coordinates(position)).collect();
    assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    for (position, coordinates) in all.iter().enumerate() {
        assert_eq!(shape.position(coordinates), Some(position));
    }
    assert_eq!(shape.position(&[0, 3]), None);
    assert_eq!(shape.position(&[2, 0]), None);
    assert_eq!(shape.position(&[0]), None);
    assert_eq!(shape.extent("model"), Some(3));
    assert_eq!(shape.extent("x"), None);
    assert_eq!(shape.to_string(), "(data=2, model=3)");
}

#[test]
fn a_mesh_without_axes_is_one_device() {
    let shape = MeshShape::default();
    assert_eq!(shape.device_count(), 1);
    assert_eq!(shape.coordinates(0), Vec::<usize>::new());
    assert_eq!(shape.position(&[]), Some(0));
}

#[test]
fn bad_axes_are_named() {
    let new = |axes: &[(&str, usize)]| MeshShape::new(axes.iter().copied()).unwrap_err();
    assert_eq!(new(&[("x", 0)]), MeshError::EmptyAxis { axis: "x".into() });
    assert_eq!(new(&[("x", 2), ("x", 2)]), MeshError::AxisTwice { axis: "x".into() });
    assert_eq!(new(&[("x", usize::MAX), ("y", 2)]), MeshError::TooLarge);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let many: Vec<(&str, usize)> = names.iter().map(|name| (*name, 1)).collect();
    assert_eq!(new(&many), MeshError::TooManyAxes { got: 9, limit: 8 });
}
