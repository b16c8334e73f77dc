//! Whole slices: the first that are idle, all of one kind. Cost: a look-up for each slice taken, whatever the inventory;
//! labels, amounts and keeps are checked slice by slice.

use super::{Asker, Pick, whole_block};
use crate::inventory::SliceIndex;
use crate::scheduler::floor::{Class, Floor};
use crate::topology::SliceSpec;

/// As many idle slices as are asked for, or nothing.
pub(in crate::scheduler) fn pick(floor: &Floor, asker: Asker<'_>) -> Option<Vec<Pick>> {
    let kinds = floor.kinds_like(asker.ask.generation, asker.ask.topology);
    let mut kinds = kinds.filter(|(spec, _)| asker.takes_kind(*spec));
    kinds.find_map(|(spec, class)| pick_of_kind(floor, asker, spec, class))
}

fn pick_of_kind(floor: &Floor, asker: Asker<'_>, spec: SliceSpec, class: &Class) -> Option<Vec<Pick>> {
    let count = asker.ask.count as usize;
    if class.idle().len() < count {
        return None;
    }
    let any = asker.takes_any();
    let fits = |slice: &SliceIndex| any || asker.takes_block(floor, *slice, spec, whole_block(spec));
    let chosen = class.idle().iter().copied().filter(fits).take(count);
    let picks: Vec<_> = chosen.map(|slice| Pick { slice, spec, part: None }).collect();
    (picks.len() == count).then_some(picks)
}
