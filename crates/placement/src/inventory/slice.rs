//! One slice: its seats, who sits on them, and what it lacks.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::host::{Health, Host, HostIndex, Membership};
use super::name::{HostName, SliceName};
use super::time::{Age, Timestamp};
use crate::topology::SliceSpec;

/// A slice's number in one inventory; small, reused, and meaningless outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceIndex(pub(crate) u32);

/// A slice with at least one member.
#[derive(Clone, Debug)]
pub struct Slice {
    name: SliceName,
    spec: SliceSpec,
    /// Members in the order in which they were admitted.
    members: Vec<HostIndex>,
    /// Who claims each place of the host grid.
    seats: Vec<Vec<HostIndex>>,
    /// Who claims each worker id.
    ids: Vec<Vec<HostIndex>>,
    /// Members whose report contradicts the slice.
    misfits: Vec<HostIndex>,
    ready: Vec<Option<HostIndex>>,
    ready_count: u32,
    contradicted: bool,
}

impl Slice {
    pub(super) fn new(name: SliceName, spec: SliceSpec) -> Self {
        let hosts = spec.hosts() as usize;
        Self {
            name,
            spec,
            members: Vec::new(),
            seats: vec![Vec::new(); hosts],
            ids: vec![Vec::new(); hosts],
            misfits: Vec::new(),
            ready: vec![None; hosts],
            ready_count: 0,
            contradicted: false,
        }
    }

    /// Its name.
    pub const fn name(&self) -> &SliceName {
        &self.name
    }

    /// What it is, as its first member reported it.
    pub const fn spec(&self) -> SliceSpec {
        self.spec
    }

    /// Whether every seat is taken exactly once, by a host that is alive, and no member contradicts the others.
    pub fn is_whole(&self) -> bool {
        self.ready_count == self.spec.hosts() && !self.contradicted
    }

    /// Whether a member reports another shape, an impossible worker id, or chips that are no host of the slice.
    pub const fn is_contradicted(&self) -> bool {
        self.contradicted
    }

    /// The host on a seat, when it is the only one there and alive.
    pub fn ready_host(&self, place: u32) -> Option<HostIndex> {
        self.ready.get(place as usize).copied().flatten()
    }

    /// How many seats have their host, alone and alive.
    pub const fn ready_count(&self) -> u32 {
        self.ready_count
    }

    /// Every host that says it is part of the slice, in the order in which they came.
    pub fn members(&self) -> &[HostIndex] {
        &self.members
    }

    /// Everyone who claims the seat or the worker id of a membership.
    pub(super) fn occupants(&self, membership: &Membership) -> Vec<HostIndex> {
        let mut found = self.ids.get(membership.worker as usize).cloned().unwrap_or_default();
        let place = self.place_of(membership);
        found.extend(place.and_then(|place| self.seats.get(place as usize)).into_iter().flatten());
        found.sort_unstable();
        found.dedup();
        found
    }

    fn place_of(&self, membership: &Membership) -> Option<u32> {
        if membership.chips.is_empty() {
            return Some(membership.worker);
        }
        self.spec.place_of(&membership.chips).ok()
    }

    /// Takes in a member and says which seat it has; none when its report contradicts the slice.
    pub(super) fn admit(
        &mut self,
        host: HostIndex,
        name: &HostName,
        membership: &Membership,
        findings: &mut Vec<Finding>,
    ) -> Option<u32> {
        self.members.push(host);
        let place = self.check(name, membership, findings);
        match place {
            None => self.misfits.push(host),
            Some(place) => {
                self.seats[place as usize].push(host);
                self.ids[membership.worker as usize].push(host);
            }
        }
        place
    }

    fn check(&self, host: &HostName, membership: &Membership, findings: &mut Vec<Finding>) -> Option<u32> {
        let (slice, host) = (self.name.clone(), host.clone());
        if membership.spec != self.spec {
            let (expected, got) = (self.spec, membership.spec);
            findings.push(Finding::ShapeContradiction { slice, host, expected, got });
            return None;
        }
        let (worker, hosts) = (membership.worker, self.spec.hosts());
        if worker >= hosts {
            findings.push(Finding::WorkerOutOfRange { slice, host, worker, hosts });
            return None;
        }
        if membership.chips.is_empty() {
            return Some(worker);
        }
        match self.spec.place_of(&membership.chips) {
            Err(error) => {
                findings.push(Finding::ChipsContradiction { slice, host, error });
                None
            }
            Ok(place) => {
                if place != worker {
                    findings.push(Finding::Displaced { slice, host, worker, place });
                }
                Some(place)
            }
        }
    }

    /// Others who claim the same seat or the same worker id.
    pub(super) fn rivals_of(&self, host: HostIndex, place: Option<u32>, worker: u32) -> Vec<HostIndex> {
        let Some(place) = place else { return Vec::new() };
        let mut rivals = self.seats[place as usize].clone();
        rivals.extend(self.ids.get(worker as usize).into_iter().flatten());
        rivals.sort_unstable();
        rivals.dedup();
        rivals.retain(|&rival| rival != host);
        rivals
    }

    pub(super) fn remove(&mut self, host: HostIndex) {
        self.members.retain(|&member| member != host);
        self.misfits.retain(|&member| member != host);
        for claims in self.seats.iter_mut().chain(&mut self.ids) {
            claims.retain(|&member| member != host);
        }
    }

    /// Works out anew which seats are ready.
    pub(super) fn recount(&mut self, hosts: &[Option<Host>]) {
        let record = |host: HostIndex| hosts.get(host.0 as usize).and_then(Option::as_ref);
        for (seat, ready) in self.seats.iter().zip(&mut self.ready) {
            *ready = match seat[..] {
                [host] => record(host)
                    .filter(|record| record.health.is_alive())
                    .and_then(|record| record.membership.as_ref())
                    .filter(|membership| self.ids[membership.worker as usize].len() == 1)
                    .map(|_| host),
                _ => None,
            };
        }
        self.ready_count = self.ready.iter().flatten().count() as u32;
        let up = |&host: &HostIndex| record(host).is_some_and(|record| !record.health.is_lost());
        self.contradicted = self.misfits.iter().any(up);
    }

    /// What it lacks to be whole, seat by seat, then the members that contradict it.
    pub(super) fn lacks(&self, hosts: &[Option<Host>]) -> Vec<Lack> {
        let record = |host: HostIndex| hosts.get(host.0 as usize).and_then(Option::as_ref);
        let mut lacks = Vec::new();
        for (place, seat) in (0..).zip(&self.seats) {
            if self.ready[place as usize].is_some() {
                continue;
            }
            let occupants: Vec<&Host> = seat.iter().filter_map(|&host| record(host)).collect();
            let worker = match occupants[..] {
                [host] => host.membership.as_ref().map_or(place, |membership| membership.worker),
                _ => place,
            };
            lacks.push(Lack { worker, cause: LackCause::of(&occupants) });
        }
        let up = |record: &&Host| !record.health.is_lost();
        for misfit in self.misfits.iter().filter_map(|&host| record(host)).filter(up) {
            let worker = misfit.membership.as_ref().map_or(0, |membership| membership.worker);
            let host = misfit.name.clone();
            lacks.push(Lack { worker, cause: LackCause::Contradicts { host } });
        }
        lacks
    }
}

/// One thing that a slice lacks to be whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// The worker that is missing or doubtful.
    pub worker: u32,
    /// Why.
    pub cause: LackCause,
}

/// Why a seat of a slice is not ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LackCause {
    /// Nobody has taken the seat yet.
    NeverJoined,
    /// Its host is there but not fit: lost, sick or draining.
    Unfit {
        /// The host.
        host: HostName,
        /// Where it was reached.
        address: String,
        /// How it is.
        health: Health,
    },
    /// Several hosts claim the seat or the worker id.
    Contested {
        /// The hosts.
        hosts: Vec<HostName>,
    },
    /// A member whose report contradicts the slice.
    Contradicts {
        /// The host.
        host: HostName,
    },
}

impl LackCause {
    fn of(occupants: &[&Host]) -> Self {
        match occupants {
            [] => Self::NeverJoined,
            [host] if !host.health.is_alive() => Self::Unfit {
                host: host.name.clone(),
                address: host.address.clone(),
                health: host.health.clone(),
            },
            hosts => Self::Contested { hosts: hosts.iter().map(|host| host.name.clone()).collect() },
        }
    }
}

impl Lack {
    /// Says it to a person, with ages as of `now`: `worker 3 (10.0.0.9, lost 12 s ago: no heartbeat)`.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, now: Timestamp) -> fmt::Result {
        write!(f, "worker {}", self.worker)?;
        match &self.cause {
            LackCause::NeverJoined => write!(f, " (never joined)"),
            LackCause::Unfit { address, health, .. } => match health {
                Health::Alive => write!(f, " ({address})"),
                Health::Draining { since, cause } => {
                    write!(f, " ({address}, draining for {}: {cause})", Age(now.since(*since)))
                }
                Health::Sick { since, cause } => {
                    write!(f, " ({address}, sick for {}: {cause})", Age(now.since(*since)))
                }
                Health::Lost { since, cause } => {
                    write!(f, " ({address}, lost {} ago: {cause})", Age(now.since(*since)))
                }
            },
            LackCause::Contested { hosts } => {
                let hosts: Vec<_> = hosts.iter().map(ToString::to_string).collect();
                write!(f, " (claimed by {})", hosts.join(" and "))
            }
            LackCause::Contradicts { host } => write!(f, " ({host} contradicts the slice)"),
        }
    }
}
