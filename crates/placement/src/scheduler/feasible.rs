//! Whether the present inventory can ever hold a demand: with every host alive and everything free.

mod bundles;

pub(super) use bundles::can_hold;

use super::floor::{Class, Floor};
use super::picker::places_of;
use super::reason::{Infeasible, InfeasibleCause, Stock};
use super::request::{Demand, SliceAsk};
use crate::inventory::{HostIndex, Slice, SliceIndex};
use crate::topology::{SliceSpec, distance};

/// How many kinds of slices an answer names.
const NEAREST_MAX: usize = 4;

/// Whether it can.
pub(super) fn check(floor: &Floor, demand: &Demand) -> Result<(), Box<Infeasible>> {
    let refused = match demand {
        Demand::Slices(ask) => slices(floor, ask).map(|cause| (cause, nearest(floor, ask))),
        Demand::Parts(ask) => parts(floor, ask).map(|cause| (cause, nearest(floor, ask))),
        Demand::Bundles(ask) => bundles::check(floor, ask).map(|cause| (cause, bundles::nearest(floor, ask))),
    };
    match refused {
        None => Ok(()),
        Some((cause, nearest)) => Err(Box::new(Infeasible { demand: demand.clone(), cause, nearest })),
    }
}

fn slices(floor: &Floor, ask: &SliceAsk) -> Option<InfeasibleCause> {
    let kinds: Vec<_> = floor.kinds_like(ask.generation, ask.topology).collect();
    if kinds.is_empty() {
        let spec = SliceSpec::new(ask.generation, ask.topology);
        let spec = spec.and_then(|spec| match ask.chips_per_host {
            Some(chips) => spec.with_chips_per_host(chips),
            None => Ok(spec),
        });
        return Some(spec.err().map_or(InfeasibleCause::NoSuchSlice, InfeasibleCause::Shape));
    }
    let made = kinds.iter().filter(|(spec, _)| takes_kind(ask, *spec));
    let Some((_, class)) = made.max_by_key(|(_, class)| class.len()) else {
        let exist = kinds.iter().map(|(spec, _)| spec.chips_per_host()).collect();
        return Some(InfeasibleCause::ChipsPerHost { exist });
    };
    if class.len() < ask.count {
        return Some(InfeasibleCause::TooFew { exist: class.len() });
    }
    narrowed(ask, |fits| {
        let fit = |(slice, _): &(SliceIndex, _)| {
            let members = floor.inventory.slice(*slice).map(Slice::members).unwrap_or_default();
            members.iter().all(|&host| fits(floor, host))
        };
        class.slices().filter(fit).count() as u32
    })
}

fn parts(floor: &Floor, ask: &SliceAsk) -> Option<InfeasibleCause> {
    let kinds: Vec<_> = floor.kinds_of(ask.generation).collect();
    let made = kinds.iter().filter(|(spec, _)| takes_kind(ask, *spec));
    let mut error = None;
    let mut tilings = Vec::new();
    for (spec, class) in made {
        match spec.tiling(ask.topology) {
            Ok(tiling) => tilings.push((tiling, *class)),
            Err(refused) => error = Some(refused),
        }
    }
    if tilings.is_empty() {
        return Some(InfeasibleCause::NoSuchPart(error));
    }
    let exist: u32 = tilings.iter().map(|(tiling, class)| tiling.len().saturating_mul(class.len())).sum();
    if exist < ask.count {
        return Some(InfeasibleCause::TooFewParts { exist });
    }
    narrowed(ask, |fits| {
        let in_slice = |(slice, class): (SliceIndex, &Class)| {
            let spec = class.plan().spec;
            let Ok(tiling) = spec.tiling(ask.topology) else { return 0 };
            let blocks = (0..tiling.len()).filter_map(|index| tiling.part(index));
            let fit =
                |place: u32| match floor.inventory.slice(slice).and_then(|slice| slice.ready_host(place)) {
                    Some(host) => fits(floor, host),
                    None => true,
                };
            blocks.filter(|part| places_of(spec, part.chips()).into_iter().all(fit)).count() as u32
        };
        let slices =
            tilings.iter().flat_map(|(_, class)| class.slices().map(move |(slice, _)| (slice, *class)));
        slices.map(in_slice).sum()
    })
}

/// Counts again under the labels, then under the amounts asked for, where there are any.
fn narrowed(
    ask: &SliceAsk,
    count: impl Fn(&dyn Fn(&Floor, HostIndex) -> bool) -> u32,
) -> Option<InfeasibleCause> {
    let labelled = |floor: &Floor, host: HostIndex| {
        floor.inventory.host(host).is_none_or(|host| ask.labels.accepts(host.labels()))
    };
    let provided = |floor: &Floor, host: HostIndex| {
        let covers = |host: &crate::inventory::Host| host.resources().covers(&ask.resources_per_host).is_ok();
        labelled(floor, host) && floor.inventory.host(host).is_none_or(covers)
    };
    if !ask.labels.is_any() {
        let exist = count(&labelled);
        if exist < ask.count {
            return Some(InfeasibleCause::Labels { exist });
        }
    }
    if !ask.resources_per_host.is_none() {
        let exist = count(&provided);
        if exist < ask.count {
            return Some(InfeasibleCause::Resources { exist });
        }
    }
    None
}

fn takes_kind(ask: &SliceAsk, spec: SliceSpec) -> bool {
    ask.chips_per_host.is_none_or(|chips| chips == spec.chips_per_host())
}

/// What exists, the same generation and the nearest shapes first.
fn nearest(floor: &Floor, ask: &SliceAsk) -> Vec<Stock> {
    let mut stock: Vec<_> = floor.kinds().map(|(spec, class)| Stock { spec, count: class.len() }).collect();
    stock.sort_by_key(|stock| {
        let foreign = stock.spec.generation() != ask.generation;
        (foreign, distance(ask.topology, stock.spec.topology()), stock.spec)
    });
    stock.truncate(NEAREST_MAX);
    stock
}
