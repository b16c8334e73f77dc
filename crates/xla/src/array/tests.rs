//! Cutting and pasting host arrays, by hand.

use ndarray::{Array2, ArrayD, IxDyn};

use super::host::{copied_bytes, cut, paste};
use crate::sharding::Slice;

/// The numbers 0 to 11 as three rows of four.
fn rows() -> Vec<i32> {
    (0..12).collect()
}

fn cut_all(block: &Slice, slices: &[Slice]) -> Vec<Vec<i32>> {
    let size = block.iter().map(ExactSizeIterator::len).product::<usize>() as i32;
    let parts = cut((0..size).collect::<Vec<i32>>(), block, slices);
    parts.into_iter().map(|part| part.owner[part.range].to_vec()).collect()
}

#[test]
fn parts_have_the_right_elements() {
    let parts = cut_all(&vec![0..3, 0..4], &[vec![1..2, 0..4], vec![0..3, 1..3], vec![2..3, 3..4]]);
    assert_eq!(parts, [vec![4, 5, 6, 7], vec![1, 2, 5, 6, 9, 10], vec![11]]);
}

#[test]
fn a_block_is_cut_relative_to_its_place() {
    let parts = cut_all(&vec![10..13, 20..24], &[vec![12..13, 20..24], vec![10..12, 22..24]]);
    assert_eq!(parts, [vec![8, 9, 10, 11], vec![2, 3, 6, 7]]);
}

#[test]
fn runs_and_equal_parts_are_not_copied() {
    let block: Slice = vec![0..3, 0..4];
    let slices: Vec<Slice> =
        vec![vec![0..3, 0..4], vec![1..3, 0..4], vec![1..2, 1..3], vec![0..3, 0..2], vec![0..3, 0..2]];
    let parts = cut(rows(), &block, &slices);
    assert!(std::sync::Arc::ptr_eq(&parts[0].owner, &parts[1].owner));
    assert!(std::sync::Arc::ptr_eq(&parts[0].owner, &parts[2].owner));
    assert!(!std::sync::Arc::ptr_eq(&parts[0].owner, &parts[3].owner));
    assert!(std::sync::Arc::ptr_eq(&parts[3].owner, &parts[4].owner));
    assert_eq!(copied_bytes(&block, &slices[..3], 4), 0);
    assert_eq!(copied_bytes(&block, &slices[3..4], 4), 24);
}

#[test]
fn scalars_and_empty_arrays_are_cut_too() {
    assert_eq!(cut_all(&vec![], &[vec![], vec![]]), [[0], [0]]);
    assert_eq!(cut_all(&vec![0..3, 0..0], &[vec![1..2, 0..0]]), [Vec::<i32>::new()]);
    assert_eq!(cut_all(&vec![0..2, 0..3], &[vec![0..2, 1..1]]), [Vec::<i32>::new()]);
}

#[test]
fn pasting_undoes_cutting() {
    let block: Slice = vec![4..7, 0..4];
    let slices = [vec![4..6, 0..2], vec![4..6, 2..4], vec![6..7, 0..4]];
    let mut whole = ArrayD::zeros(IxDyn(&[3, 4]));
    for (slice, part) in slices.iter().zip(cut(rows(), &block, &slices)) {
        let shape: Vec<usize> = slice.iter().map(ExactSizeIterator::len).collect();
        let part = ArrayD::from_shape_vec(shape, part.owner[part.range].to_vec()).unwrap();
        paste(&mut whole, &block, slice, &part);
    }
    assert_eq!(whole, Array2::from_shape_vec((3, 4), rows()).unwrap().into_dyn());
}
