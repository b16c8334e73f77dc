//! Which slices, and which parts of them, a demand gets. One way of choosing a file.

pub(super) mod bundles;
mod part;
mod whole;

pub(super) use part::pick as part;
pub(super) use whole::pick as whole;

use std::collections::BTreeSet;

use super::floor::Floor;
use super::keeps::Keeps;
use super::queue::Rank;
use super::request::SliceAsk;
use crate::inventory::{HostIndex, SliceIndex};
use crate::ledger::Take;
use crate::topology::{Block, ChipSet, Grid, SliceSpec, SubSlice};

/// A slice or a part of one, chosen but not yet taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) slice: SliceIndex,
    pub(super) spec: SliceSpec,
    pub(super) part: Option<SubSlice>,
}

/// What an ask wants of every host, and who is asking.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    pub(super) ask: &'a SliceAsk,
    pub(super) rank: Rank,
    pub(super) keeps: &'a Keeps,
    pub(super) avoided: Avoided<'a>,
}

/// Hosts that are left out of a choice.
#[derive(Clone, Copy)]
pub(super) struct Avoided<'a>(pub(super) Option<&'a BTreeSet<HostIndex>>);

impl Avoided<'_> {
    /// None are.
    pub(super) const NONE: Self = Self(None);

    pub(super) fn holds(&self, host: HostIndex) -> bool {
        self.0.is_some_and(|hosts| hosts.contains(&host))
    }
}

impl Asker<'_> {
    /// Whether slices of a kind are made as asked.
    fn takes_kind(&self, spec: SliceSpec) -> bool {
        self.ask.chips_per_host.is_none_or(|chips| chips == spec.chips_per_host())
    }

    /// Whether every open host and every block is as good as any other.
    fn takes_any(&self) -> bool {
        self.keeps.is_empty() && self.takes_any_host()
    }

    fn takes_any_host(&self) -> bool {
        let asks_nothing = self.ask.labels.is_any() && self.ask.resources_per_host.is_none();
        asks_nothing && self.avoided.0.is_none_or(BTreeSet::is_empty) && !self.keeps.hosts_are_kept()
    }

    /// Whether a host is labelled as asked and has enough beside its chips.
    fn takes_host(&self, floor: &Floor, host: HostIndex) -> bool {
        let labelled = || {
            let host = floor.inventory.host(host);
            host.is_some_and(|host| self.ask.labels.accepts(host.labels()))
        };
        let provided = || {
            let account = floor.ledger.account(host);
            account.is_some_and(|account| account.covers(&self.ask.resources_per_host))
        };
        !self.avoided.holds(host)
            && self.keeps.host_keeper(self.rank, host).is_none()
            && (self.ask.labels.is_any() || labelled())
            && (self.ask.resources_per_host.is_none() || provided())
    }

    /// Whether a block may be had: kept for nobody who goes first, and every host of it as asked.
    fn takes_block(&self, floor: &Floor, slice: SliceIndex, spec: SliceSpec, block: Block) -> bool {
        if self.keeps.keeper(self.rank, slice, spec, block).is_some() {
            return false;
        }
        if self.takes_any_host() {
            return true;
        }
        let Some(record) = floor.inventory.slice(slice) else { return false };
        let places = places_of(spec, block);
        places
            .into_iter()
            .all(|place| record.ready_host(place).is_some_and(|host| self.takes_host(floor, host)))
    }
}

/// The chips of a host that are kept for nobody who goes before `rank`.
fn unkept(
    keeps: &Keeps,
    rank: Rank,
    (slice, place): (SliceIndex, u32),
    spec: SliceSpec,
    chips: ChipSet,
) -> ChipSet {
    if keeps.is_empty() {
        return chips;
    }
    let one = Grid([1, 1, 1]);
    let kept = |&chip: &u8| {
        let origin = spec.chip_at(place, chip).unwrap_or_default();
        keeps.keeper(rank, slice, spec, Block { origin, extents: one }).is_some()
    };
    chips.iter().filter(|chip| !kept(chip)).collect()
}

/// The places of the hosts that have a chip in a block.
pub(super) fn places_of(spec: SliceSpec, block: Block) -> Vec<u32> {
    let mut places: Vec<u32> =
        block.coords().filter_map(|chip| spec.owner_of(chip)).map(|(place, _)| place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The whole of a slice as a block.
pub(super) fn whole_block(spec: SliceSpec) -> Block {
    Block { origin: crate::topology::Coord::default(), extents: spec.chip_grid() }
}

impl Pick {
    /// The chips of each place that the pick covers, in rank order.
    pub(super) fn places(&self) -> Vec<(u32, ChipSet)> {
        match self.part {
            Some(part) => part.hosts().iter().map(|host| (host.worker, host.chips)).collect(),
            None => {
                let chips = ChipSet::first(self.spec.chips_per_host());
                (0..self.spec.hosts()).map(|place| (place, chips)).collect()
            }
        }
    }

    /// What taking the pick takes of each host; `None` when a seat is not ready.
    pub(super) fn takes(&self, floor: &Floor, ask: &SliceAsk) -> Option<Vec<Take>> {
        let slice = floor.inventory.slice(self.slice)?;
        let take = |(place, chips)| {
            let host = slice.ready_host(place)?;
            Some(Take { host, chips, resources: ask.resources_per_host.clone() })
        };
        self.places().into_iter().map(take).collect()
    }
}
