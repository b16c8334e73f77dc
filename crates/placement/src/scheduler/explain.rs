//! Why a request waits, worked out when somebody asks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::feasible;
use super::floor::{Class, Floor};
use super::keeps::Keeps;
use super::picker::whole_block;
use super::queue::{Queue, Waiting};
use super::reason::{Holder, Keeper, Obstacle, PendingReason, SliceNote, Stock};
use super::request::{Demand, SliceAsk};
use crate::inventory::{Shortage, SliceIndex, Timestamp};
use crate::ledger::Account;
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
            Demand::Slices(ask) | Demand::Parts(ask) => ask.generation,
        };
        let idle = |(spec, class): (SliceSpec, &Class)| {
            let count = class.idle().len() as u32;
            (count > 0).then_some(Stock { spec, count })
        };
        let free_now = self.floor.kinds_of(generation).filter_map(idle).collect();
        let waited = self.now.since(waiting.since);
        PendingReason { demand, at: self.now, waited, obstacle, free_now }
    }

    fn obstacle(&self, waiting: &Waiting) -> Obstacle {
        let (ask, kinds): (_, Vec<_>) = match &*waiting.demand {
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
        let keeper = kept.and_then(|(_, id)| self.queue.find(id)).map(|keeper| Keeper {
            request: keeper.request.id.clone(),
            waited: self.now.since(keeper.since),
        });
        let members = slice.members();
        let labelled = |host: &crate::inventory::Host| ask.labels.accepts(host.labels());
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

    fn holders(&self, index: SliceIndex) -> Vec<Holder> {
        let members = self.floor.inventory.slice(index).map(crate::inventory::Slice::members);
        let accounts = members.into_iter().flatten().filter_map(|&host| self.floor.ledger.account(host));
        let chips_held = accounts.filter(|account| !account.held_chips().is_empty());
        let ids: BTreeSet<_> = chips_held.flat_map(Account::holders).collect();
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

    fn shortage(&self, ask: &SliceAsk, index: SliceIndex) -> Option<Shortage> {
        if ask.resources_per_host.is_none() {
            return None;
        }
        let slice = self.floor.inventory.slice(index)?;
        let accounts = slice.members().iter().filter_map(|&host| self.floor.ledger.account(host));
        accounts.map(|account| account.free().covers(&ask.resources_per_host)).find_map(Result::err)
    }
}
