//! From a choice to a hold, and back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Scheduler;
use super::assignment::{Assignment, Epoch, HostPart, SlicePart};
use super::command::Command;
use super::floor::Floor;
use super::picker::{self, Asker, Pick};
use super::queue::Lane;
use super::request::{Demand, SliceAsk};
use crate::inventory::{HostIndex, Timestamp};
use crate::ledger::{RequestId, Take};

impl Scheduler {
    /// Serves a waiting request if that is possible now (**S2**).
    pub(super) fn try_grant(&mut self, id: &RequestId, now: Timestamp) -> Option<Command> {
        let waiting = self.queue.find(id)?;
        let (rank, demand) = (waiting.rank, Arc::clone(&waiting.demand));
        let keeps = &self.keeps;
        let (ask, picks) = match &*demand {
            Demand::Slices(ask) => {
                let picks = picker::whole(&self.floor, Asker { ask, rank, keeps })?;
                let takes = picks.iter().map(|pick| pick.takes(&self.floor, ask));
                let takes = takes.collect::<Option<Vec<_>>>()?.concat();
                self.floor.reserve(id, now, takes)?;
                (ask, picks)
            }
            Demand::Parts(ask) => (ask, take_parts(&mut self.floor, id, Asker { ask, rank, keeps }, now)?),
        };
        self.epoch = Epoch(self.epoch.0 + 1);
        let slices = picks.iter().filter_map(|pick| slice_part(&self.floor, ask, pick)).collect();
        let assignment = Assignment { request: id.clone(), epoch: self.epoch, since: now, slices };
        let assignment = Arc::new(assignment);
        self.dequeue(id);
        self.held.insert(id.clone(), Arc::clone(&assignment));
        Some(Command::Grant { assignment })
    }

    /// Ends a hold; says who may now be served. `None` when nothing is held.
    pub(super) fn free(&mut self, id: &RequestId) -> Option<BTreeSet<Lane>> {
        let reservation = self.floor.ledger.release(id).ok()?;
        self.held.remove(id);
        let hosts: BTreeSet<HostIndex> = reservation.takes().iter().map(|take| take.host).collect();
        let mut lanes = BTreeSet::new();
        for host in hosts {
            lanes.extend(self.floor.generation_of(host).map(Lane::Generation));
            self.floor.sync_host(host);
            self.floor.forget_if_done(host);
        }
        Some(lanes)
    }
}

/// Takes as many parts as are asked for, one after the other, or none.
fn take_parts(floor: &mut Floor, id: &RequestId, asker: Asker<'_>, now: Timestamp) -> Option<Vec<Pick>> {
    let mut picks = Vec::new();
    for _ in 0..asker.ask.count {
        let taken = picker::part(floor, asker).and_then(|pick| {
            let takes = pick.takes(floor, asker.ask)?;
            let taken =
                if picks.is_empty() { floor.reserve(id, now, takes) } else { floor.extend(id, takes) };
            taken.map(|()| pick)
        });
        match taken {
            Some(pick) => picks.push(pick),
            None => {
                floor.undo(id);
                return None;
            }
        }
    }
    // In slice order, as whole slices are; parts of one slice in the order of their place.
    picks.sort_by_key(|pick| (pick.slice, pick.part.map(|part| part.index())));
    Some(picks)
}

fn slice_part(floor: &Floor, ask: &SliceAsk, pick: &Pick) -> Option<SlicePart> {
    let slice = floor.inventory.slice(pick.slice)?;
    let host_part = |(place, chips): (u32, crate::topology::ChipSet)| {
        let host = floor.inventory.host(slice.ready_host(place)?)?;
        Some(HostPart {
            host: host.name().clone(),
            address: host.address().to_owned(),
            worker: host.membership().map_or(place, |membership| membership.worker),
            place,
            chips,
            coords: chips.iter().filter_map(|chip| pick.spec.chip_at(place, chip)).collect(),
            resources: ask.resources_per_host.clone(),
        })
    };
    let hosts = pick.places().into_iter().filter_map(host_part).collect();
    Some(SlicePart { slice: slice.name().clone(), spec: pick.spec, part: pick.part, hosts })
}

impl Floor {
    fn reserve(&mut self, id: &RequestId, now: Timestamp, takes: Vec<Take>) -> Option<()> {
        let hosts: Vec<_> = takes.iter().map(|take| take.host).collect();
        self.ledger.reserve(id.clone(), now, takes).ok()?;
        hosts.into_iter().for_each(|host| self.sync_host(host));
        Some(())
    }

    fn extend(&mut self, id: &RequestId, takes: Vec<Take>) -> Option<()> {
        let hosts: Vec<_> = takes.iter().map(|take| take.host).collect();
        self.ledger.extend(id, takes).ok()?;
        hosts.into_iter().for_each(|host| self.sync_host(host));
        Some(())
    }

    fn undo(&mut self, id: &RequestId) {
        let Ok(reservation) = self.ledger.release(id) else { return };
        reservation.takes().iter().for_each(|take| self.sync_host(take.host));
    }
}
