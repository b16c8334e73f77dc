//! Why a request waits, worked out when somebody asks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::bundle::{Bundle, BundleAsk};
use super::feasible;
use super::floor::{Class, Floor};
use super::keeps::Keeps;
use super::picker::whole_block;
use super::queue::{Queue, Waiting};
use super::reason::{Holder, HostNote, Keeper, Obstacle, PendingReason, SliceNote, Stock};
use super::request::{Demand, SliceAsk};
use crate::inventory::{Host, HostIndex, Shortage, SliceIndex, Timestamp};
use crate::ledger::{Account, RequestId};
use crate::topology::SliceSpec;

/// What an explanation is drawn from.
pub(super) struct Explainer<'a> {
    pub(super) floor: &'a Floor,
    pub(super) keeps: &'a Keeps,
    pub(super) queue: &'a Queue,
    pub(super) notes_max: usize,
    pub(super) now: Timestamp,
}

impl Explainer<'_> {
    /// Why a request waits.
    pub(super) fn reason(&self, waiting: &Waiting) -> PendingReason {
        let demand = waiting.request.demand.clone();
        let obstacle = match feasible::check(self.floor, &demand) {
            Err(infeasible) => Obstacle::Provisioning(infeasible),
            Ok(()) => self.obstacle(waiting),
        };
        let generation = match &demand {
            Demand::Slices(ask) | Demand::Parts(ask) => Some(ask.generation),
            Demand::Bundles(_) => None,
        };
        let idle = |(spec, class): (SliceSpec, &Class)| {
            let count = class.idle().len() as u32;
            (count > 0).then_some(Stock { spec, count })
        };
        let kinds = generation.map(|generation| self.floor.kinds_of(generation));
        let free_now = kinds.into_iter().flatten().filter_map(idle).collect();
        let waited = self.now.since(waiting.since);
        PendingReason { demand, at: self.now, waited, obstacle, free_now }
    }

    fn obstacle(&self, waiting: &Waiting) -> Obstacle {
        let (ask, kinds): (_, Vec<_>) = match &*waiting.demand {
            Demand::Bundles(ask) => return self.hosts(waiting, ask),
            Demand::Slices(ask) => (ask, self.floor.kinds_like(ask.generation, ask.topology).collect()),
            Demand::Parts(ask) => {
                let kinds = self.floor.kinds_of(ask.generation);
                (ask, kinds.filter(|(spec, _)| spec.tiling(ask.topology).is_ok()).collect())
            }
        };
        let made = |spec: SliceSpec| ask.chips_per_host.is_none_or(|chips| chips == spec.chips_per_host());
        let kinds: Vec<_> = kinds.into_iter().filter(|(spec, _)| made(*spec)).collect();
        let exist = kinds.iter().map(|(_, class)| class.len()).sum();
        let slices = kinds.iter().flat_map(|(spec, class)| class.slices().map(|(slice, _)| (slice, *spec)));
        let (mut notes, mut seen) = (Vec::new(), 0);
        for (slice, spec) in slices {
            if notes.len() == self.notes_max {
                break;
            }
            seen += 1;
            notes.extend(self.note(waiting, ask, slice, spec));
        }
        Obstacle::Slices { exist, notes, more: exist - seen }
    }

    /// What stands against one slice; `None` when it is free for the asking.
    fn note(
        &self,
        waiting: &Waiting,
        ask: &SliceAsk,
        index: SliceIndex,
        spec: SliceSpec,
    ) -> Option<SliceNote> {
        let slice = self.floor.inventory.slice(index)?;
        let kept = self.keeps.keeper(waiting.rank, index, spec, whole_block(spec));
        let keeper = kept.and_then(|(_, id)| self.keeper(id));
        let members = slice.members();
        let labelled = |host: &Host| ask.labels.accepts(host.labels());
        let hosts = || members.iter().filter_map(|&host| self.floor.inventory.host(host));
        let note = SliceNote {
            slice: slice.name().clone(),
            spec,
            holders: self.holders(index),
            lacks: self.floor.inventory.lacks(index),
            keeper,
            mislabelled: !ask.labels.is_any() && !hosts().all(labelled),
            shortage: self.shortage(ask, index),
        };
        let free = note.holders.is_empty() && note.lacks.is_empty() && note.keeper.is_none();
        (!free || note.mislabelled || note.shortage.is_some()).then_some(note)
    }

    /// What stands against the bundle that is hardest to place, host by host.
    fn hosts(&self, waiting: &Waiting, ask: &BundleAsk) -> Obstacle {
        let bundle = ask.hardest().cloned().unwrap_or_default();
        let hosts = self.floor.inventory.hosts();
        let able = hosts.filter(|(_, host)| feasible::can_hold(ask.generation, &bundle, host));
        let (mut notes, mut exist, mut seen) = (Vec::new(), 0, 0);
        for (index, host) in able {
            exist += 1;
            if notes.len() < self.notes_max {
                seen += 1;
                notes.extend(self.host_note(waiting, &bundle, index, host));
            }
        }
        Obstacle::Hosts { bundle: Box::new(bundle), exist, notes, more: exist - seen }
    }

    /// `None` when the host has room.
    fn host_note(
        &self,
        waiting: &Waiting,
        bundle: &Bundle,
        index: HostIndex,
        host: &Host,
    ) -> Option<HostNote> {
        let account = self.floor.ledger.account(index)?;
        let keeper = self.keeps.host_keeper(waiting.rank, index).and_then(|id| self.keeper(id));
        let note = HostNote {
            host: host.name().clone(),
            unfit: Some(host.health().clone()).filter(|health| !health.is_alive()),
            holders: self.as_holders(account.holders().collect()),
            keeper,
            chips_free: account.free_chips().len(),
            shortage: account.free().covers(&bundle.resources).err(),
        };
        let room = note.unfit.is_none() && note.keeper.is_none() && note.shortage.is_none();
        (!room || note.chips_free < bundle.chips).then_some(note)
    }

    fn keeper(&self, id: &RequestId) -> Option<Keeper> {
        let keeper = self.queue.find(id)?;
        Some(Keeper { request: id.clone(), waited: self.now.since(keeper.since) })
    }

    fn as_holders(&self, ids: BTreeSet<&RequestId>) -> Vec<Holder> {
        let reservations = ids.into_iter().filter_map(|id| self.floor.ledger.reservation(id));
        let mut holders: Vec<_> = reservations
            .map(|reservation| Holder {
                request: reservation.id().clone(),
                held: self.now.since(reservation.since()),
            })
            .collect();
        holders.sort_by_key(|holder| Reverse(holder.held));
        holders
    }

    fn holders(&self, index: SliceIndex) -> Vec<Holder> {
        let members = self.floor.inventory.slice(index).map(crate::inventory::Slice::members);
        let accounts = members.into_iter().flatten().filter_map(|&host| self.floor.ledger.account(host));
        let chips_held = accounts.filter(|account| !account.held_chips().is_empty());
        self.as_holders(chips_held.flat_map(Account::holders).collect())
    }

    fn shortage(&self, ask: &SliceAsk, index: SliceIndex) -> Option<Shortage> {
        if ask.resources_per_host.is_none() {
            return None;
        }
        let slice = self.floor.inventory.slice(index)?;
        let accounts = slice.members().iter().filter_map(|&host| self.floor.ledger.account(host));
        accounts.map(|account| account.free().covers(&ask.resources_per_host)).find_map(Result::err)
    }
}
