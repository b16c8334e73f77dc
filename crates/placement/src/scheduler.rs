//! Decides who gets which slices: events and the time go in, commands come out.
//!
//! # States of a request
//! ```text
//!            Submit                       room, on one view
//!   (none) ───────────▶ waiting ─────────────────────────────▶ held ───Release───▶ (none)
//!      │                   │                                    │ ▲
//!      │ never possible    │ Cancel, deadline,                  │ │ a host of it in trouble:
//!      ▼                   ▼ or no longer possible              └─┘ Trouble, it stays held
//!   Reject, Refuse      Withdrawn, Expire, Refuse
//! ```
//! A submitted request is granted at once or waits with a reason; whatever frees something ([`Event::Release`], a host that
//! joins or comes back, a keep that ends) looks at the waiting requests again, in their order.
//!
//! # Order
//! Requests are served by priority, then age; with [`Options::ageing`], a level of priority is worth a fixed time of
//! waiting, so no stream of urgent requests starves the others. A request that cannot be served does not hold up those
//! behind it, until it has waited for [`Options::patience`]: from then on what it needs is kept for it (the blocks nearest
//! to being free; after four times that, every slice that could serve it), and those it stands before are told for whom.
//!
//! # Invariants
//! - **S1** A grant has exactly as many slices, or parts of slices, as were asked for, each of the generation and topology
//!   asked for; nothing is matched on a pod type or a count of chips.
//! - **S2** A request holds everything it asked for or nothing.
//! - **S3** A whole slice is granted only when every host of it is alive, alone on its seat, and free.
//! - **S4** A sub-slice is an aligned rectangle of chips of one slice, on hosts that are alive.
//! - **S5** A hold ends only by [`Event::Release`]: chips are never given on while someone may still run on them. When a
//!   host is lost the holder is told, and the other hosts are free once it has let go.
//! - **S6** A request that waits has a reason at every moment ([`Scheduler::outcome`]), and none waits for what the
//!   inventory can never hold, unless a provisioner is attached.
//! - **S7** While holders let go and broken slices are repaired, every waiting request is granted some day.
//! - **S8** Equal events at equal times give equal commands, in the same order.
//! - **S9** A decision about whole slices costs a look-up for each slice taken and each host of it; it does not depend on
//!   the size of the inventory beyond its logarithm.
//!
//! There is no clock, no randomness and no I/O in here.

mod assignment;
mod bundle;
mod command;
mod event;
mod explain;
mod feasible;
mod floor;
mod grant;
mod hosts;
mod keeping;
mod keeps;
mod options;
mod picker;
mod preempt;
mod queue;
mod reason;
mod request;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use assignment::{Assignment, Epoch, HostPart, SlicePart};
pub use bundle::{BUNDLES_MAX, Bundle, BundleAsk, Strategy};
pub use command::{AdoptError, Command, EventError, Trouble};
pub use event::{Event, Provisioner};
pub use options::{Options, Preemption};
pub use reason::{
    Holder, HostNote, Infeasible, InfeasibleCause, Keeper, Obstacle, PendingReason, SliceNote, Stock,
};
pub use request::{COUNT_MAX, Demand, DemandError, Request, SliceAsk};

use explain::Explainer;
use floor::Floor;
use keeps::Keeps;
use preempt::Preemptions;
use queue::{Alarm, Lane, Queue, Rank, Waiting};

use crate::inventory::{Inventory, Timestamp};
use crate::ledger::{Ledger, RequestId};
use crate::topology::Generation;

/// Where a request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds this.
    Reserved(Arc<Assignment>),
    /// It waits.
    Pending(Box<PendingReason>),
}

/// A request that was granted.
#[derive(Clone, Debug)]
struct Held {
    request: Request,
    assignment: Arc<Assignment>,
}

/// The scheduler: a view of all hosts, who holds what, and who waits.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    options: Options,
    floor: Floor,
    queue: Queue,
    keeps: Keeps,
    held: BTreeMap<RequestId, Held>,
    preemptions: Preemptions,
    /// Demands that the present inventory is known to be able to hold.
    feasible: BTreeSet<Arc<Demand>>,
    provisioner: Provisioner,
    epoch: Epoch,
    sequence: u64,
}

impl Scheduler {
    /// A scheduler that knows no host.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Takes in what happened at `now` and says what is to be done. Times never go backwards.
    pub fn on_event(&mut self, event: Event, now: Timestamp) -> Vec<Command> {
        let mut commands = Vec::new();
        let (impatient, lanes) = self.on_deadlines(now, &mut commands);
        match event {
            Event::HostJoined(report) => self.on_joined(report, now, &mut commands),
            Event::HostLost { host, cause } => {
                self.on_trouble(Trouble::Lost, &host, cause, now, &mut commands);
            }
            Event::HostSick { host, cause } => {
                self.on_trouble(Trouble::Sick, &host, cause, now, &mut commands);
            }
            Event::HostDraining { host, cause } => {
                self.on_trouble(Trouble::Draining, &host, cause, now, &mut commands);
            }
            Event::HostLeft { host, cause } => {
                self.on_trouble(Trouble::Left, &host, cause, now, &mut commands);
            }
            Event::Adopt { request, assignment } => self.on_adopt(request, assignment, &mut commands),
            Event::Submit(requests) => self.on_submit(requests, now, &mut commands),
            Event::Cancel(request) => self.on_cancel(request, now, &mut commands),
            Event::Release(request) => self.on_release(request, now, &mut commands),
            Event::Provisioner(provisioner) => self.on_provisioner(provisioner, now, &mut commands),
            Event::Tick => {}
        }
        for request in impatient {
            self.preempt_for(&request, now, &mut commands);
            self.keep_for(&request, now);
        }
        self.settle(lanes, now, &mut commands);
        // What was kept for one may be what another waits for, of whatever kind. Every round but the last ends a keep.
        while self.keeps.take_given_up() {
            self.settle(Self::every_lane(), now, &mut commands);
        }
        commands
    }

    /// When to send [`Event::Tick`] if nothing else happens before.
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        self.queue.next_alarm().into_iter().chain(self.preemptions.next_grace()).min()
    }

    /// Where a request stands; `None` when it neither waits nor holds anything.
    pub fn outcome(&self, request: &RequestId, now: Timestamp) -> Option<Outcome> {
        if let Some(held) = self.held.get(request) {
            return Some(Outcome::Reserved(Arc::clone(&held.assignment)));
        }
        let waiting = self.queue.find(request)?;
        Some(Outcome::Pending(Box::new(self.explainer(now).reason(waiting))))
    }

    /// Every request that waits, by id.
    pub fn waiting(&self) -> impl Iterator<Item = &Request> {
        self.queue.iter().map(|waiting| &waiting.request)
    }

    /// Everything that is held, by id.
    pub fn held(&self) -> impl Iterator<Item = &Arc<Assignment>> {
        self.held.values().map(|held| &held.assignment)
    }

    /// The hosts and slices.
    pub const fn inventory(&self) -> &Inventory {
        &self.floor.inventory
    }

    /// Who holds what of which host.
    pub const fn ledger(&self) -> &Ledger {
        &self.floor.ledger
    }

    fn explainer(&self, now: Timestamp) -> Explainer<'_> {
        Explainer {
            floor: &self.floor,
            keeps: &self.keeps,
            queue: &self.queue,
            notes_max: self.options.notes_max,
            now,
        }
    }

    fn every_lane() -> BTreeSet<Lane> {
        Generation::ALL.into_iter().map(Lane::Generation).chain([Lane::Hosts]).collect()
    }

    fn on_submit(&mut self, requests: Vec<Request>, now: Timestamp, commands: &mut Vec<Command>) {
        let mut arrived: BTreeSet<(Rank, RequestId)> = BTreeSet::new();
        for request in requests {
            match self.enqueue(request, now) {
                Ok(entry) => {
                    arrived.insert(entry);
                }
                Err(error) => commands.push(Command::Reject(error)),
            }
        }
        // Nothing became free, so nobody but the newcomers can be served now that could not before.
        let mut waiting = Vec::new();
        for (_, id) in arrived {
            if !self.try_grant(&id, now, commands) {
                waiting.push(id);
            }
        }
        for request in waiting {
            if self.refuse_or_provision(&request, commands) {
                continue;
            }
            self.preempt_for(&request, now, commands);
            if let Some(waiting) = self.queue.find(&request) {
                let reason = Box::new(self.explainer(now).reason(waiting));
                commands.push(Command::Wait { request, reason });
            }
        }
    }

    /// Checks a request and lets it wait.
    fn enqueue(&mut self, request: Request, now: Timestamp) -> Result<(Rank, RequestId), EventError> {
        let id = request.id.clone();
        if self.queue.find(&id).is_some() || self.held.contains_key(&id) {
            return Err(EventError::Duplicate { request: id });
        }
        if self.queue.len() >= self.options.queue_len_max {
            return Err(EventError::QueueFull { request: id, waiting: self.queue.len() });
        }
        request.demand.check().map_err(|error| EventError::Demand { request: id.clone(), error })?;
        self.sequence += 1;
        let rank = Rank::new(request.priority, now, self.options.ageing, self.sequence);
        let demand = Arc::new(request.demand.clone());
        self.queue.push(Waiting { request, demand, rank, since: now }, self.options.patience);
        Ok((rank, id))
    }

    /// Refuses a waiting request that the inventory can never hold, or asks the provisioner for it (**S6**); says whether
    /// it was refused.
    fn refuse_or_provision(&mut self, id: &RequestId, commands: &mut Vec<Command>) -> bool {
        let Some(demand) = self.queue.find(id).map(|waiting| Arc::clone(&waiting.demand)) else {
            return false;
        };
        if self.feasible.contains(&demand) {
            return false;
        }
        let request = id.clone();
        match feasible::check(&self.floor, &demand) {
            Ok(()) => {
                if self.feasible.len() >= self.options.queue_len_max {
                    self.feasible.clear();
                }
                self.feasible.insert(demand);
                false
            }
            Err(reason) if self.provisioner == Provisioner::Absent || reason.is_final() => {
                self.dequeue(id, commands);
                commands.push(Command::Refuse { request, reason });
                true
            }
            Err(shortfall) => {
                if let Some(waiting) = self.queue.find(id) {
                    self.keeps.remove(waiting.rank);
                }
                commands.push(Command::Provision { request, demand: (*demand).clone(), shortfall });
                false
            }
        }
    }

    fn on_cancel(&mut self, request: RequestId, now: Timestamp, commands: &mut Vec<Command>) {
        if self.queue.find(&request).is_none() {
            commands.push(Command::Reject(EventError::NotWaiting { request }));
            return;
        }
        commands.push(Command::Withdrawn { request: request.clone() });
        let Some(waiting) = self.dequeue(&request, commands) else { return };
        self.settle([Lane::of(&waiting.demand)].into(), now, commands);
    }

    fn on_release(&mut self, request: RequestId, now: Timestamp, commands: &mut Vec<Command>) {
        let Some(lanes) = self.free(&request) else {
            commands.push(Command::Reject(EventError::NotHeld { request }));
            return;
        };
        commands.push(Command::Released { request });
        self.settle(lanes, now, commands);
    }

    fn on_provisioner(&mut self, provisioner: Provisioner, now: Timestamp, commands: &mut Vec<Command>) {
        self.provisioner = provisioner;
        self.recheck(Self::every_lane(), now, commands);
    }

    /// Ends what is over: waits past their deadline, and the time of those who were asked to let go. Gives those who lost
    /// patience and the lanes in which something may have come free; both are for after the event, so that nothing is
    /// granted on a view that the event makes obsolete.
    fn on_deadlines(
        &mut self,
        now: Timestamp,
        commands: &mut Vec<Command>,
    ) -> (Vec<RequestId>, BTreeSet<Lane>) {
        while let Some((victim, by)) = self.preemptions.due(now) {
            commands.push(Command::Revoke { victim, by });
        }
        let (mut impatient, mut lanes) = (Vec::new(), BTreeSet::new());
        while let Some((alarm, id)) = self.queue.due(now) {
            let Some(waiting) = self.queue.find(&id) else { continue };
            lanes.insert(Lane::of(&waiting.demand));
            match alarm {
                Alarm::Patience => impatient.push(id),
                Alarm::Deadline => {
                    let reason = Box::new(self.explainer(now).reason(waiting));
                    let waited = reason.waited;
                    commands.push(Command::Expire { request: id.clone(), waited, reason });
                    self.dequeue(&id, commands);
                }
            }
        }
        (impatient, lanes)
    }

    /// Takes a request out of the queue, with what was kept for it; who was being pushed out for it may stay.
    fn dequeue(&mut self, id: &RequestId, commands: &mut Vec<Command>) -> Option<Waiting> {
        let waiting = self.queue.remove(id)?;
        self.keeps.remove(waiting.rank);
        let victims = self.preemptions.call_off(id);
        commands.extend(victims.into_iter().map(|victim| Command::Reprieve { victim }));
        Some(waiting)
    }

    /// Serves those in some lanes who can be served now, in their order. Of equal demands the first that fails speaks for
    /// those behind it: during a pass, what can be had only shrinks.
    fn settle(&mut self, lanes: BTreeSet<Lane>, now: Timestamp, commands: &mut Vec<Command>) {
        let mut heads: BTreeSet<(Rank, RequestId)> =
            lanes.into_iter().flat_map(|lane| self.queue.heads(lane)).collect();
        while let Some((_, id)) = heads.pop_first() {
            let Some(demand) = self.queue.find(&id).map(|waiting| Arc::clone(&waiting.demand)) else {
                continue;
            };
            if self.try_grant(&id, now, commands) {
                heads.extend(self.queue.head(&demand));
            }
        }
    }

    /// Looks again at what can ever be served, after slices, hosts or the provisioner came or went.
    fn recheck(&mut self, lanes: BTreeSet<Lane>, now: Timestamp, commands: &mut Vec<Command>) {
        self.feasible.clear();
        for &lane in &lanes {
            for (_, requests) in self.queue.demands(lane) {
                for request in requests {
                    self.refuse_or_provision(&request, commands);
                }
            }
        }
        self.settle(lanes, now, commands);
    }
}
