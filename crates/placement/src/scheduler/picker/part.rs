//! One sub-slice, chosen so that large blocks stay whole: of all blocks that would do, the one whose taking breaks up the
//! smallest open block around it. Parts smaller than a host go to hosts that are broken up already, and there beside the
//! smallest free part.

use super::{Asker, Pick, unkept};
use crate::inventory::SliceIndex;
use crate::scheduler::floor::{Class, Damage, Floor};
use crate::topology::{Block, ChipSet, SliceSpec, SubSlice};

/// What a choice costs the others; a host that is broken up already is always cheaper than one that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scheduler) enum Cost {
    /// A part of a broken host: the size of the largest free part that it breaks up.
    Broken(u8),
    /// A block of open hosts.
    Open(Damage),
}

/// A part of the shape asked for; the count of the ask is the caller's business.
pub(in crate::scheduler) fn pick(floor: &mut Floor, asker: Asker<'_>) -> Option<Pick> {
    let kinds = floor.kinds_of(asker.ask.generation).map(|(spec, _)| spec);
    let kinds: Vec<_> = kinds.filter(|spec| asker.takes_kind(*spec)).collect();
    cheapest(floor, asker, &kinds).map(|(_, pick)| pick)
}

/// As [`pick`], inside one host.
pub(in crate::scheduler) fn pick_in_host(floor: &mut Floor, asker: Asker<'_>) -> Option<(Cost, Pick)> {
    let shape = asker.ask.topology;
    let inside =
        |spec: &SliceSpec| shape.grid() == spec.host_block() || shape.chips() < spec.chips_per_host();
    let kinds = floor.kinds_of(asker.ask.generation).map(|(spec, _)| spec);
    let kinds: Vec<_> = kinds.filter(|spec| asker.takes_kind(*spec) && inside(spec)).collect();
    cheapest(floor, asker, &kinds)
}

fn cheapest(floor: &mut Floor, asker: Asker<'_>, kinds: &[SliceSpec]) -> Option<(Cost, Pick)> {
    let broken = kinds.iter().filter_map(|&spec| of_broken_host(floor, asker, spec));
    if let Some((spoil, pick)) = broken.min_by_key(|(spoil, _)| *spoil) {
        return Some((Cost::Broken(spoil), pick));
    }
    let mut best: Option<(Damage, Pick)> = None;
    for &spec in kinds {
        if let Some((damage, pick)) = of_blocks(floor, asker, spec)
            && best.is_none_or(|(least, _)| damage < least)
        {
            best = Some((damage, pick));
        }
    }
    best.map(|(damage, pick)| (Cost::Open(damage), pick))
}

/// A part inside a host that is broken up already.
fn of_broken_host(floor: &Floor, asker: Asker<'_>, spec: SliceSpec) -> Option<(u8, Pick)> {
    let class = floor.class(spec)?;
    let size = class.plan().host_part_index(asker.ask.topology)?;
    class.broken_hosts(size).find_map(|(slice, place, host)| {
        let free = floor.ledger.account(host)?.free_chips();
        let free = unkept(asker.keeps, asker.rank, (slice, place), spec, free);
        let (spoil, chips) = class.best_of_host(size, free)?;
        let part = part_at(spec, asker, place, chips)?;
        let fits = asker.takes_any() || asker.takes_block(floor, slice, spec, part.chips());
        fits.then_some((spoil, Pick { slice, spec, part: Some(part) }))
    })
}

/// The part of the shape asked for that has these chips of the host at a place.
fn part_at(spec: SliceSpec, asker: Asker<'_>, place: u32, chips: ChipSet) -> Option<SubSlice> {
    let tiling = spec.tiling(asker.ask.topology).ok()?;
    let first = spec.chip_at(place, chips.iter().next()?)?;
    tiling.part(tiling.part_of(first)?)
}

/// A block of whole hosts, or the first part of a whole host.
fn of_blocks(floor: &mut Floor, asker: Asker<'_>, spec: SliceSpec) -> Option<(Damage, Pick)> {
    let topology = asker.ask.topology;
    let class = floor.class_mut(spec)?;
    let inside_host = class.plan().host_part_index(topology).is_some();
    let shape = if inside_host { 0 } else { class.plan().shape_index(topology)? };
    class.refresh(shape);
    let (floor, class) = (&*floor, floor.class(spec)?);
    class.best(shape).find_map(|(_, slice)| {
        let (damage, block) = best_of_slice(floor, asker, class, slice, shape)?;
        let tiling = spec.tiling(topology).ok()?;
        let origin = block_of(class, shape, block)?.origin;
        let part = tiling.part(tiling.part_of(origin)?)?;
        Some((damage, Pick { slice, spec, part: Some(part) }))
    })
}

fn best_of_slice(
    floor: &Floor,
    asker: Asker<'_>,
    class: &Class,
    slice: SliceIndex,
    shape: usize,
) -> Option<(Damage, u32)> {
    let (plan, any) = (class.plan(), asker.takes_any());
    let fits = |block: u32| {
        let takes = |block| asker.takes_block(floor, slice, plan.spec, block);
        any || block_of(class, shape, block).is_some_and(takes)
    };
    class.area(slice)?.best(plan, shape, fits)
}

/// The chips of a block.
fn block_of(class: &Class, shape: usize, block: u32) -> Option<Block> {
    class.plan().shapes[shape].tiling.part(block).map(|part| part.chips())
}
