//! Who waits, in which order, and when to look again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::request::{Demand, Request};
use crate::inventory::Timestamp;
use crate::ledger::RequestId;
use crate::topology::Generation;

/// A place in the order of service; lower goes first. It never changes while a request waits: with ageing, a level of
/// priority is worth a fixed time of waiting, so the order of two requests is the same at every moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Rank {
    key: i128,
    sequence: u64,
}

impl Rank {
    pub(super) fn new(priority: i32, now: Timestamp, ageing: Option<Duration>, sequence: u64) -> Self {
        let submitted = now.0.as_nanos() as i128;
        let key = match ageing {
            Some(level) => submitted - i128::from(priority) * level.as_nanos() as i128,
            None => -i128::from(priority),
        };
        Self { key, sequence }
    }
}

/// What requests compete for: those in different lanes never do, except that bundles take part in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// Slices of a generation and parts of them.
    Generation(Generation),
    /// Bundles.
    Hosts,
}

impl Lane {
    pub(super) const fn of(demand: &Demand) -> Self {
        match demand {
            Demand::Slices(ask) | Demand::Parts(ask) => Self::Generation(ask.generation),
            Demand::Bundles(_) => Self::Hosts,
        }
    }
}

/// A request that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) request: Request,
    pub(super) demand: Arc<Demand>,
    pub(super) rank: Rank,
    pub(super) since: Timestamp,
}

/// Why a request is to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alarm {
    /// Its patience ends.
    Patience,
    /// Its deadline passes.
    Deadline,
}

/// Those who want the same, in their order.
type Line = BTreeSet<(Rank, RequestId)>;

/// Requests that wait. Equal demands stand in one line, so that a pass asks once for each kind of demand.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: BTreeMap<RequestId, Waiting>,
    lines: BTreeMap<Lane, BTreeMap<Arc<Demand>, Line>>,
    alarms: BTreeSet<(Timestamp, Alarm, RequestId)>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<&Waiting> {
        self.waiting.get(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.values()
    }

    pub(super) fn push(&mut self, waiting: Waiting, patience: Duration) {
        let id = waiting.request.id.clone();
        let line = self.lines.entry(Lane::of(&waiting.demand)).or_default();
        line.entry(Arc::clone(&waiting.demand)).or_default().insert((waiting.rank, id.clone()));
        self.alarms.insert((waiting.since + patience, Alarm::Patience, id.clone()));
        if let Some(deadline) = waiting.request.deadline {
            self.alarms.insert((deadline, Alarm::Deadline, id.clone()));
        }
        self.waiting.insert(id, waiting);
    }

    pub(super) fn remove(&mut self, id: &RequestId) -> Option<Waiting> {
        let waiting = self.waiting.remove(id)?;
        if let Some(lines) = self.lines.get_mut(&Lane::of(&waiting.demand))
            && let Some(line) = lines.get_mut(&waiting.demand)
        {
            line.remove(&(waiting.rank, id.clone()));
            if line.is_empty() {
                lines.remove(&waiting.demand);
            }
        }
        if let Some(deadline) = waiting.request.deadline {
            self.alarms.remove(&(deadline, Alarm::Deadline, id.clone()));
        }
        Some(waiting)
    }

    /// The first of every line of a lane.
    pub(super) fn heads(&self, lane: Lane) -> Vec<(Rank, RequestId)> {
        self.lines.get(&lane).into_iter().flatten().filter_map(|(_, line)| line.first().cloned()).collect()
    }

    /// The first of the line of one demand.
    pub(super) fn head(&self, demand: &Arc<Demand>) -> Option<(Rank, RequestId)> {
        self.lines.get(&Lane::of(demand))?.get(demand)?.first().cloned()
    }

    /// The different demands of a lane, each with those who have it.
    pub(super) fn demands(&self, lane: Lane) -> Vec<(Arc<Demand>, Vec<RequestId>)> {
        let lines = self.lines.get(&lane).into_iter().flatten();
        let ids = |line: &Line| line.iter().map(|(_, id)| id.clone()).collect();
        lines.map(|(demand, line)| (Arc::clone(demand), ids(line))).collect()
    }

    /// Sets an alarm in addition to those set at the start.
    pub(super) fn alarm(&mut self, at: Timestamp, alarm: Alarm, id: RequestId) {
        self.alarms.insert((at, alarm, id));
    }

    /// Takes the next alarm that is due.
    pub(super) fn due(&mut self, now: Timestamp) -> Option<(Alarm, RequestId)> {
        loop {
            if self.alarms.first()?.0 > now {
                return None;
            }
            let (_, alarm, id) = self.alarms.pop_first()?;
            if self.waiting.contains_key(&id) {
                return Some((alarm, id));
            }
        }
    }

    /// When the next alarm goes off.
    pub(super) fn next_alarm(&self) -> Option<Timestamp> {
        self.alarms.first().map(|(at, ..)| *at)
    }
}
