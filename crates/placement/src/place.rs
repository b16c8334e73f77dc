//! The shell around the scheduler: one for each runtime, in the process of the driver.
//!
//! Events come from the runtime (hosts that join or are lost), from callers (requests, releases) and from the clock; each
//! goes through [`Scheduler::on_event`] under one lock, and what its commands tell others is told after the lock was
//! left: a holder that has gone gives back what it is told it holds, which is an event again.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use mobula_core::runtime::HostEvents;
use mobula_core::{Handle, HostEvent};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use crate::group::{Hold, Loss, SliceRequest};
use crate::inventory::{HostName, Timestamp};
use crate::ledger::RequestId;
use crate::scheduler::{
    Assignment, Command, Event, EventError, Infeasible, Options, Outcome, PendingReason, Request, Scheduler,
};
use crate::virtual_slice;

/// Placement on a [`Handle`] (and so on a `Runtime`).
pub trait Place {
    /// The placement of this runtime, made at the first call.
    fn placement(&self) -> Placement;

    /// A request for whole slices of a generation and topology, in any spelling.
    fn slice_placement_group(&self, generation: &str, topology: &str) -> SliceRequest;
}

impl Place for Handle {
    fn placement(&self) -> Placement {
        let shell = self.extensions().find_or_init(Shell::new);
        shell.seeded.call_once(|| shell.watch_hosts(self));
        Placement { shell, handle: self.clone() }
    }

    fn slice_placement_group(&self, generation: &str, topology: &str) -> SliceRequest {
        SliceRequest::new(self.placement(), generation, topology)
    }
}

/// Placement of one runtime. Cheap to clone.
#[derive(Clone)]
pub struct Placement {
    shell: Arc<Shell>,
    handle: Handle,
}

/// The end of a wait.
#[derive(Debug)]
pub(crate) enum Answer {
    Granted(Arc<Assignment>, watch::Receiver<Vec<Loss>>),
    Refused(Box<Infeasible>),
    Expired(Box<PendingReason>),
    Rejected(EventError),
}

/// What became of a request when it was made.
#[derive(Debug)]
pub(crate) enum Submitted {
    Answered(Answer),
    Waits(Box<PendingReason>, oneshot::Receiver<Answer>),
}

impl Placement {
    /// Where a request stands now: what it holds, or what it waits for. `None` when it does neither.
    pub fn outcome(&self, request: &RequestId) -> Option<Outcome> {
        let now = self.shell.now();
        self.shell.state().scheduler.outcome(request, now)
    }

    /// Reads the scheduler's view: hosts, slices, holds and waiting requests.
    pub fn with_view<T>(&self, read: impl FnOnce(&Scheduler) -> T) -> T {
        read(&self.shell.state().scheduler)
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shell.now()
    }

    /// An id that is not in use.
    pub(crate) fn fresh_id(&self) -> RequestId {
        self.shell.state().fresh_id()
    }

    /// Makes a request. Whoever gets a grant must hold it (`Hold`) or release it.
    pub(crate) fn submit(&self, request: Request) -> Submitted {
        let id = request.id.clone();
        let (waiting, mut answered) = oneshot::channel();
        {
            let mut state = self.shell.state();
            if state.waiting.contains_key(&id) || state.holding.contains_key(&id) {
                return Submitted::Answered(Answer::Rejected(EventError::Duplicate { request: id }));
            }
            state.waiting.insert(id.clone(), waiting);
        }
        self.shell.apply(Event::Submit(vec![request]));
        if let Ok(answer) = answered.try_recv() {
            return Submitted::Answered(answer);
        }
        match self.outcome(&id) {
            Some(Outcome::Pending(reason)) => Submitted::Waits(reason, answered),
            // Granted, or withdrawn, between the two looks.
            Some(Outcome::Reserved(_)) | None => match answered.try_recv() {
                Ok(answer) => Submitted::Answered(answer),
                Err(_) => Submitted::Answered(Answer::Rejected(EventError::NotWaiting { request: id })),
            },
        }
    }

    /// Stops waiting; gives back what was granted meanwhile.
    pub(crate) fn cancel(&self, request: &RequestId, answered: &mut oneshot::Receiver<Answer>) {
        self.shell.state().waiting.remove(request);
        match answered.try_recv() {
            Ok(Answer::Granted(..)) => self.release(request),
            Ok(_) => {}
            Err(_) => self.shell.apply(Event::Cancel(request.clone())),
        }
    }

    /// Gives back what is held.
    pub(crate) fn release(&self, request: &RequestId) {
        self.shell.apply(Event::Release(request.clone()));
    }
}

struct Shell {
    started: Instant,
    seeded: Once,
    state: Mutex<State>,
    /// Told when the next wake-up may have moved.
    rescheduled: Notify,
}

struct State {
    scheduler: Scheduler,
    waiting: BTreeMap<RequestId, oneshot::Sender<Answer>>,
    holding: BTreeMap<RequestId, watch::Sender<Vec<Loss>>>,
    next_id: u64,
}

impl State {
    fn fresh_id(&mut self) -> RequestId {
        loop {
            let id = format!("request-{}", self.next_id);
            self.next_id += 1;
            if let Ok(id) = RequestId::new(&id)
                && !self.waiting.contains_key(&id)
                && !self.holding.contains_key(&id)
            {
                return id;
            }
        }
    }

    /// Carries out one command; gives what is to be said once the lock is left.
    fn carry_out(&mut self, command: Command) -> Option<(oneshot::Sender<Answer>, Answer)> {
        let (request, answer) = match command {
            Command::Grant { assignment } => {
                let losses = watch::Sender::new(Vec::new());
                let watched = losses.subscribe();
                let request = assignment.request.clone();
                self.holding.insert(request.clone(), losses);
                (request, Answer::Granted(assignment, watched))
            }
            Command::Refuse { request, reason } => (request, Answer::Refused(reason)),
            Command::Expire { request, reason, .. } => (request, Answer::Expired(reason)),
            Command::Reject(error) => {
                let Some(request) = requester(&error).cloned() else {
                    tracing::debug!(%error, "an event was not accepted");
                    return None;
                };
                (request, Answer::Rejected(error))
            }
            Command::Trouble { holder, host, seat, kind, cause } => {
                if let Some(losses) = self.holding.get(&holder) {
                    losses.send_modify(|losses| losses.push(Loss::new(host, seat, kind, cause)));
                }
                return None;
            }
            Command::Released { request } => {
                self.holding.remove(&request);
                return None;
            }
            Command::Report(finding) => {
                tracing::warn!(%finding, "reports of hosts do not fit together");
                return None;
            }
            // Who waits asks for the present reason; who withdraws knows it; a provisioner is not attached here.
            Command::Wait { .. } | Command::Withdrawn { .. } | Command::Provision { .. } => return None,
            // The options of this shell never let one request push out another.
            Command::Preempt { .. } | Command::Revoke { .. } | Command::Reprieve { .. } => return None,
        };
        self.waiting.remove(&request).map(|waiting| (waiting, answer))
    }
}

/// Whose request was not accepted.
fn requester(error: &EventError) -> Option<&RequestId> {
    match error {
        EventError::Duplicate { request }
        | EventError::QueueFull { request, .. }
        | EventError::Demand { request, .. } => Some(request),
        EventError::NotWaiting { .. }
        | EventError::NotHeld { .. }
        | EventError::Adopt { .. }
        | EventError::Inventory(_) => None,
    }
}

impl Shell {
    fn new() -> Self {
        let state = State {
            scheduler: Scheduler::new(Options::default()),
            waiting: BTreeMap::new(),
            holding: BTreeMap::new(),
            next_id: 0,
        };
        Self {
            started: Instant::now(),
            seeded: Once::new(),
            state: Mutex::new(state),
            rescheduled: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.started.elapsed())
    }

    fn apply(&self, event: Event) {
        let told: Vec<_> = {
            let mut state = self.state();
            // Read under the lock, so that times never go backwards.
            let commands = {
                let now = self.now();
                state.scheduler.on_event(event, now)
            };
            commands.into_iter().filter_map(|command| state.carry_out(command)).collect()
        };
        for (waiting, answer) in told {
            if let Err(Answer::Granted(assignment, _)) = waiting.send(answer) {
                // Whoever waited has gone.
                self.apply(Event::Release(assignment.request.clone()));
            }
        }
        self.rescheduled.notify_one();
    }

    /// Takes in the hosts there are, and follows them from then on.
    fn watch_hosts(self: &Arc<Self>, handle: &Handle) {
        let mut events = handle.host_events();
        while let Some(event) = events.try_next() {
            self.on_host_event(event);
        }
        tokio::spawn(Arc::clone(self).run(events));
    }

    /// Follows hosts and the clock until the runtime ends.
    async fn run(self: Arc<Self>, mut events: HostEvents) {
        loop {
            let wakeup = self.state().scheduler.next_wakeup();
            let alarm = async {
                match wakeup {
                    Some(Timestamp(after)) => tokio::time::sleep_until(self.started + after).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.on_host_event(event),
                    None => return,
                },
                () = alarm => self.apply(Event::Tick),
                () = self.rescheduled.notified() => {}
            }
        }
    }

    fn on_host_event(&self, event: HostEvent) {
        match event {
            HostEvent::Joined(info) => match virtual_slice::report(&info) {
                Ok(report) => self.apply(Event::HostJoined(report)),
                Err(error) => tracing::warn!(host = info.spec.name, %error, "a host is not placed on"),
            },
            HostEvent::Lost { host, cause, .. } => {
                if let Ok(host) = HostName::new(&host) {
                    self.apply(Event::HostLost { host, cause: cause.to_string() });
                }
            }
            other => tracing::debug!(?other, "an event of hosts that placement does not know"),
        }
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placement").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Placement {
    /// Makes a guard of a grant.
    pub(crate) fn hold(&self, assignment: Arc<Assignment>, losses: watch::Receiver<Vec<Loss>>) -> Hold {
        Hold::new(self.clone(), assignment, losses)
    }
}
