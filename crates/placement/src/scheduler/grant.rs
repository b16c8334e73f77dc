//! From a choice to a hold, and back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::assignment::{Assignment, Epoch, HostPart, SlicePart};
use super::command::{AdoptError, Command, EventError};
use super::floor::Floor;
use super::picker::bundles::Placed;
use super::picker::{self, Asker, Avoided, Pick};
use super::queue::Lane;
use super::request::{Demand, Request, SliceAsk};
use super::{Held, Scheduler};
use crate::inventory::{HostIndex, Resources, Timestamp};
use crate::ledger::{RequestId, Take};
use crate::topology::ChipSet;

impl Scheduler {
    /// Serves a waiting request if that is possible now (**S2**).
    pub(super) fn try_grant(&mut self, id: &RequestId, now: Timestamp, commands: &mut Vec<Command>) -> bool {
        let Some(assignment) = self.assign(id, now) else { return false };
        commands.push(Command::Grant { assignment: Arc::clone(&assignment) });
        if let Some(waiting) = self.dequeue(id, commands) {
            self.held.insert(id.clone(), Held { request: waiting.request, assignment });
        }
        true
    }

    /// Takes what a waiting request asks for.
    fn assign(&mut self, id: &RequestId, now: Timestamp) -> Option<Arc<Assignment>> {
        let waiting = self.queue.find(id)?;
        let (rank, demand) = (waiting.rank, Arc::clone(&waiting.demand));
        let (keeps, avoided) = (&self.keeps, Avoided::NONE);
        let (mut slices, mut bundles) = (Vec::new(), Vec::new());
        match &*demand {
            Demand::Slices(ask) => {
                let picks = picker::whole(&self.floor, Asker { ask, rank, keeps, avoided })?;
                let takes = picks.iter().map(|pick| pick.takes(&self.floor, ask));
                let takes = takes.collect::<Option<Vec<_>>>()?.concat();
                self.floor.reserve(id, now, takes)?;
                slices.extend(picks.iter().filter_map(|pick| slice_part(&self.floor, ask, pick)));
            }
            Demand::Parts(ask) => {
                let picks = take_parts(&mut self.floor, id, Asker { ask, rank, keeps, avoided }, now)?;
                slices.extend(picks.iter().filter_map(|pick| slice_part(&self.floor, ask, pick)));
            }
            Demand::Bundles(ask) => {
                let placed = picker::bundles::take(&mut self.floor, ask, id, rank, keeps, now)?;
                let part = |placed: &Placed| {
                    let resources = ask.bundles[placed.bundle].resources.clone();
                    host_part(&self.floor, placed.host, placed.chips, resources)
                };
                bundles.extend(placed.iter().filter_map(part));
            }
        }
        self.epoch = Epoch(self.epoch.0 + 1);
        let assignment = Assignment { request: id.clone(), epoch: self.epoch, since: now, slices, bundles };
        Some(Arc::new(assignment))
    }

    /// Takes over a hold that another scheduler granted.
    pub(super) fn on_adopt(
        &mut self,
        request: Request,
        assignment: Arc<Assignment>,
        commands: &mut Vec<Command>,
    ) {
        let id = request.id.clone();
        let adopted = self.adopt(request, assignment);
        commands.extend(
            adopted
                .err()
                .map(|cause| Command::Reject(EventError::Adopt { request: id, cause: Box::new(cause) })),
        );
    }

    fn adopt(&mut self, request: Request, assignment: Arc<Assignment>) -> Result<(), AdoptError> {
        let id = request.id.clone();
        if assignment.request != id || self.queue.find(&id).is_some() || self.held.contains_key(&id) {
            return Err(AdoptError::Duplicate);
        }
        let mut takes = Vec::new();
        for part in assignment.hosts() {
            let host = self.floor.inventory.find_host(&part.host);
            let host = host.ok_or_else(|| AdoptError::UnknownHost { host: part.host.clone() })?;
            takes.push(Take { host, chips: part.chips, resources: part.resources.clone() });
        }
        let hosts: Vec<_> = takes.iter().map(|take| take.host).collect();
        self.floor.ledger.reserve(id.clone(), assignment.since, takes)?;
        hosts.into_iter().for_each(|host| self.floor.sync_host(host));
        self.epoch = self.epoch.max(assignment.epoch);
        self.held.insert(id, Held { request, assignment });
        Ok(())
    }

    /// Ends a hold; says who may now be served. `None` when nothing is held.
    pub(super) fn free(&mut self, id: &RequestId) -> Option<BTreeSet<Lane>> {
        let reservation = self.floor.ledger.release(id).ok()?;
        self.held.remove(id);
        self.preemptions.let_go(id);
        let hosts: BTreeSet<HostIndex> = reservation.takes().iter().map(|take| take.host).collect();
        let mut lanes = BTreeSet::from([Lane::Hosts]);
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
    let host_part = |(place, chips): (u32, ChipSet)| {
        host_part(floor, slice.ready_host(place)?, chips, ask.resources_per_host.clone())
    };
    let hosts = pick.places().into_iter().filter_map(host_part).collect();
    Some(SlicePart { slice: slice.name().clone(), spec: pick.spec, part: pick.part, hosts })
}

fn host_part(floor: &Floor, index: HostIndex, chips: ChipSet, resources: Resources) -> Option<HostPart> {
    let host = floor.inventory.host(index)?;
    let (membership, place) = (host.membership(), host.seat().map_or(0, |(_, place)| place));
    let coord = |chip| membership.and_then(|membership| membership.spec.chip_at(place, chip));
    Some(HostPart {
        host: host.name().clone(),
        address: host.address().to_owned(),
        slice: membership.map(|membership| membership.slice.clone()),
        worker: membership.map_or(0, |membership| membership.worker),
        place,
        chips,
        coords: chips.iter().filter_map(coord).collect(),
        resources,
    })
}

impl Floor {
    pub(super) fn reserve(&mut self, id: &RequestId, now: Timestamp, takes: Vec<Take>) -> Option<()> {
        let hosts: Vec<_> = takes.iter().map(|take| take.host).collect();
        self.ledger.reserve(id.clone(), now, takes).ok()?;
        hosts.into_iter().for_each(|host| self.sync_host(host));
        Some(())
    }

    pub(super) fn extend(&mut self, id: &RequestId, takes: Vec<Take>) -> Option<()> {
        let hosts: Vec<_> = takes.iter().map(|take| take.host).collect();
        self.ledger.extend(id, takes).ok()?;
        hosts.into_iter().for_each(|host| self.sync_host(host));
        Some(())
    }

    pub(super) fn undo(&mut self, id: &RequestId) {
        let Ok(reservation) = self.ledger.release(id) else { return };
        reservation.takes().iter().for_each(|take| self.sync_host(take.host));
    }
}
