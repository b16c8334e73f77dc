//! Groups of bundles. Each strategy is a file; all of them place bundle after bundle on a [`Tray`], which takes everything
//! at once and gives everything back when one bundle finds no place.

mod pack;
mod spread;
mod strict_pack;
mod strict_spread;

use std::collections::BTreeSet;

use super::{Asker, Avoided, part, unkept};
use crate::inventory::{HostIndex, Resources, Timestamp};
use crate::ledger::{RequestId, Take};
use crate::scheduler::bundle::{Bundle, BundleAsk, Strategy};
use crate::scheduler::floor::{Floor, PROCESSORS};
use crate::scheduler::keeps::Keeps;
use crate::scheduler::queue::Rank;
use crate::scheduler::request::SliceAsk;
use crate::topology::{CHIPS_PER_PROCESS, ChipSet, Generation, Topology, process_block};

/// Where one bundle goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) struct Placed {
    pub(in crate::scheduler) bundle: usize,
    pub(in crate::scheduler) host: HostIndex,
    pub(in crate::scheduler) chips: ChipSet,
}

/// Takes places for all bundles, in the order of the bundles; or takes nothing.
pub(in crate::scheduler) fn take(
    floor: &mut Floor,
    ask: &BundleAsk,
    id: &RequestId,
    rank: Rank,
    keeps: &Keeps,
    now: Timestamp,
) -> Option<Vec<Placed>> {
    let mut tray = Tray { floor, ask, id, rank, keeps, now, placed: Vec::new(), used: BTreeSet::new() };
    for order in ask.orders() {
        let done = match ask.strategy {
            Strategy::Pack => pack::place(&mut tray, order),
            Strategy::Spread => spread::place(&mut tray, &order),
            Strategy::StrictPack => strict_pack::place(&mut tray, &order),
            Strategy::StrictSpread => strict_spread::place(&mut tray, &order),
        };
        if done.is_some() {
            tray.placed.sort_unstable_by_key(|placed| placed.bundle);
            return Some(tray.placed);
        }
        tray.clear();
    }
    None
}

/// The bundles of one group that have a place so far.
struct Tray<'a> {
    floor: &'a mut Floor,
    ask: &'a BundleAsk,
    id: &'a RequestId,
    rank: Rank,
    keeps: &'a Keeps,
    now: Timestamp,
    placed: Vec<Placed>,
    used: BTreeSet<HostIndex>,
}

impl Tray<'_> {
    /// Places bundles on one host, all or none of them.
    fn on_host(&mut self, bundles: &[usize], host: HostIndex) -> Option<()> {
        let chips = self.fits(bundles, host)?;
        bundles.iter().zip(chips).try_for_each(|(&bundle, chips)| self.put(bundle, host, chips))
    }

    /// Places a bundle on the host where it spoils least, of those that the group does not use yet.
    fn elsewhere(&mut self, bundle: usize) -> Option<()> {
        let wanted = &self.ask.bundles[bundle];
        if wanted.chips > 0 {
            let used = std::mem::take(&mut self.used);
            let found = self.with_chips(wanted, Avoided(Some(&used)));
            self.used = used;
            let (host, chips) = found?;
            return self.put(bundle, host, chips);
        }
        let processors = wanted.resources.amount(PROCESSORS).as_milli();
        let fits = |host: &HostIndex| !self.used.contains(host) && self.fits(&[bundle], *host).is_some();
        let host = self.floor.shelf.tightest(0, processors).find(fits)?;
        self.put(bundle, host, ChipSet::EMPTY)
    }

    /// What some bundles take together; their labels are left out.
    fn sum(&self, bundles: &[usize]) -> Bundle {
        let mut sum = Bundle::default();
        for bundle in bundles.iter().map(|&bundle| &self.ask.bundles[bundle]) {
            sum.chips += bundle.chips;
            sum.resources.add(&bundle.resources);
        }
        sum
    }

    /// The host with the most room, of those that a bundle fits on; chips count first, up to what `left` can use.
    fn roomiest(&mut self, bundle: usize, left: &[usize]) -> Option<HostIndex> {
        let wanted = &self.ask.bundles[bundle];
        if wanted.chips == 0 {
            let processors = wanted.resources.amount(PROCESSORS).as_milli();
            return self.floor.shelf.roomiest(processors, |host| self.fits(&[bundle], host).is_some());
        }
        let most = self.sum(left).chips;
        let sizes = CHIPS_PER_PROCESS.into_iter().rev();
        for chips in sizes.filter(|&chips| chips <= most && chips >= wanted.chips) {
            let larger = Bundle { chips, ..wanted.clone() };
            if let Some((host, _)) = self.with_chips(&larger, Avoided::NONE) {
                return Some(host);
            }
        }
        None
    }

    /// The free chips of a host that each bundle would get; `None` when they do not all fit there.
    fn fits(&self, bundles: &[usize], host: HostIndex) -> Option<Vec<ChipSet>> {
        let record = self.floor.inventory.host(host)?;
        let account = self.floor.ledger.account(host)?;
        let kept = self.keeps.host_keeper(self.rank, host).is_some();
        if kept || !record.health().is_alive() || record.has_departed() {
            return None;
        }
        let (mut chips_wanted, mut resources) = (0, Resources::none());
        for bundle in bundles.iter().map(|&bundle| &self.ask.bundles[bundle]) {
            if !bundle.labels.accepts(record.labels()) {
                return None;
            }
            chips_wanted += bundle.chips;
            resources.add(&bundle.resources);
        }
        if !account.covers(&resources) || chips_wanted > account.free_chips().len() {
            return None;
        }
        let Some((slice, place)) = record.seat() else {
            return (chips_wanted == 0).then(|| vec![ChipSet::EMPTY; bundles.len()]);
        };
        let class = self.floor.class_of(slice)?;
        let spec = class.plan().spec;
        if chips_wanted == 0 {
            // Whoever keeps chips of the host keeps what goes with them.
            let kept = self.keeps.keeper(self.rank, slice, spec, spec.block_of(place)?).is_some();
            return (!kept).then(|| vec![ChipSet::EMPTY; bundles.len()]);
        }
        let mut free = unkept(self.keeps, self.rank, (slice, place), spec, account.free_chips());
        let slice = self.floor.inventory.slice(slice)?;
        if self.ask.generation.is_some_and(|generation| generation != spec.generation())
            || slice.ready_host(place) != Some(host)
            || slice.is_contradicted()
        {
            return None;
        }
        let mut chips_of = |&bundle: &usize| {
            let chips = class.chips_of_host(self.ask.bundles[bundle].chips, free)?;
            free = free.minus(chips);
            Some(chips)
        };
        bundles.iter().map(&mut chips_of).collect()
    }

    /// Of all generations allowed, the host and chips whose taking spoils least.
    fn with_chips(&mut self, bundle: &Bundle, avoided: Avoided<'_>) -> Option<(HostIndex, ChipSet)> {
        let generations = match self.ask.generation {
            Some(generation) => vec![generation],
            None => Generation::ALL.to_vec(),
        };
        let mut best: Option<(part::Cost, HostIndex, ChipSet)> = None;
        for generation in generations {
            let flat = generation.facts().dims == 2;
            let any = if flat { Topology::flat(1, 1) } else { Topology::cube(1, 1, 1) };
            let mut ask = SliceAsk::new(generation, shape_of(any, bundle.chips)?);
            ask.labels = bundle.labels.clone();
            ask.resources_per_host = bundle.resources.clone();
            let asker = Asker { ask: &ask, rank: self.rank, keeps: self.keeps, avoided };
            let Some((cost, pick)) = part::pick_in_host(self.floor, asker) else { continue };
            let Some(&(place, chips)) = pick.places().first() else { continue };
            let slice = self.floor.inventory.slice(pick.slice);
            let Some(host) = slice.and_then(|slice| slice.ready_host(place)) else { continue };
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, host, chips));
            }
        }
        best.map(|(_, host, chips)| (host, chips))
    }

    fn put(&mut self, bundle: usize, host: HostIndex, chips: ChipSet) -> Option<()> {
        let resources: Resources = self.ask.bundles[bundle].resources.clone();
        let takes = vec![Take { host, chips, resources }];
        if self.placed.is_empty() {
            self.floor.reserve(self.id, self.now, takes)?;
        } else {
            self.floor.extend(self.id, takes)?;
        }
        self.placed.push(Placed { bundle, host, chips });
        self.used.insert(host);
        Some(())
    }

    fn clear(&mut self) {
        if !self.placed.is_empty() {
            self.floor.undo(self.id);
        }
        self.placed.clear();
        self.used.clear();
    }
}

/// The shape of so many chips of one host, in as many dimensions as `like` has.
pub(in crate::scheduler) fn shape_of(like: Topology, chips: u32) -> Option<Topology> {
    process_block(chips).map(|block| like.with_extents(block))
}
