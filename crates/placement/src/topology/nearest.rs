//! Which valid shapes lie nearest to one that was asked for.

use super::generation::Generation;
use super::shape::Topology;

const NEAREST_MAX: usize = 3;

/// The valid shapes nearest to `asked`, nearest first.
///
/// The same extents in another order are nearest of all. Otherwise distance is the sum over the axes of larger over
/// smaller extent; between different numbers of axes only the chips can be compared. Integer arithmetic, so that every machine gives the same order; of two as near, the one with more chips
/// comes first, because what was meant for fewer fits in it.
pub(super) fn nearest(generation: Generation, asked: Topology) -> Vec<Topology> {
    let mut shapes = generation.facts().shapes.all();
    shapes.sort_by_key(|&shape| (distance(asked, shape), std::cmp::Reverse(shape.chips()), shape));
    shapes.truncate(NEAREST_MAX);
    shapes
}

/// How far a shape is from the one asked for; 0 when only the order of the axes differs.
pub(crate) fn distance(asked: Topology, shape: Topology) -> u64 {
    if asked.dims() != shape.dims() {
        return ratio(u64::from(asked.chips()), u64::from(shape.chips()));
    }
    if sorted(asked) == sorted(shape) {
        return 0;
    }
    let axes = asked.extents().iter().zip(shape.extents());
    axes.map(|(&asked, &extent)| ratio(u64::from(asked), u64::from(extent))).sum()
}

fn sorted(shape: Topology) -> [u16; 3] {
    let mut extents = shape.grid().0;
    extents.sort_unstable();
    extents
}

/// Larger over smaller, in thousandths.
fn ratio(a: u64, b: u64) -> u64 {
    1000 * a.max(b) / a.min(b).max(1)
}
