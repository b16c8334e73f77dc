//! Host arrays into parts and back: pure copying, no devices.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn};

use crate::sharding::Slice;

/// A contiguous run of elements inside shared memory.
pub(super) struct Part<T> {
    /// The memory.
    pub(super) owner: Arc<Vec<T>>,
    /// The elements in it.
    pub(super) range: Range<usize>,
}

/// Cuts `data`, which holds `block` of a tensor in row-major order, into `slices` of that tensor.
///
/// Parts that lie in one run are not copied; equal slices share one part.
pub(super) fn cut<T: Copy>(data: Vec<T>, block: &Slice, slices: &[Slice]) -> Vec<Part<T>> {
    let owner = Arc::new(data);
    let shape: Vec<usize> = block.iter().map(ExactSizeIterator::len).collect();
    let whole =
        ArrayViewD::from_shape(IxDyn(&shape), &owner).expect("the caller checked the number of elements");
    let mut known: HashMap<&Slice, (Arc<Vec<T>>, Range<usize>)> = HashMap::new();
    let mut parts = Vec::with_capacity(slices.len());
    for slice in slices {
        let (owner, range) = known.entry(slice).or_insert_with(|| cut_one(&owner, &whole, block, slice));
        parts.push(Part { owner: Arc::clone(owner), range: range.clone() });
    }
    parts
}

fn cut_one<T: Copy>(
    owner: &Arc<Vec<T>>,
    whole: &ArrayViewD<'_, T>,
    block: &Slice,
    slice: &Slice,
) -> (Arc<Vec<T>>, Range<usize>) {
    let relative = |dim: usize| slice[dim].start - block[dim].start..slice[dim].end - block[dim].start;
    let part = whole.slice_each_axis(|axis| relative(axis.axis.index()).into());
    if part.is_empty() {
        return (Arc::clone(owner), 0..0);
    }
    if part.is_standard_layout() {
        let start: usize = whole
            .strides()
            .iter()
            .enumerate()
            .map(|(dim, stride)| relative(dim).start * stride.unsigned_abs())
            .sum();
        return (Arc::clone(owner), start..start + part.len());
    }
    let copied: Vec<T> = part.iter().copied().collect();
    let range = 0..copied.len();
    (Arc::new(copied), range)
}

/// How many bytes [`cut`] will copy.
pub(super) fn copied_bytes(block: &Slice, slices: &[Slice], element_bytes: usize) -> usize {
    let contiguous = |slice: &Slice| {
        let mut dims = slice.iter().zip(block).skip_while(|(part, _)| part.len() == 1);
        dims.next();
        dims.all(|(part, whole)| part == whole)
    };
    let volume = |slice: &Slice| slice.iter().map(ExactSizeIterator::len).product::<usize>();
    slices.iter().filter(|slice| !contiguous(slice)).map(volume).sum::<usize>() * element_bytes
}

/// A host array of what a device wrote in row-major order.
pub(super) fn unpack<T>(shape: &[usize], elements: Vec<T>) -> ArrayD<T> {
    ArrayD::from_shape_vec(IxDyn(shape), elements).expect("the transfer has as many elements as the shape")
}

/// Puts `part` where `slice` says into `whole`, which holds `block` of the tensor.
pub(super) fn paste<T: Copy>(whole: &mut ArrayD<T>, block: &Slice, slice: &Slice, part: &ArrayD<T>) {
    let relative = |axis: Axis| {
        let (slice, block) = (&slice[axis.index()], &block[axis.index()]);
        slice.start - block.start..slice.end - block.start
    };
    whole.slice_each_axis_mut(|axis| relative(axis.axis).into()).assign(part);
}
