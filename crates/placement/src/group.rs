//! Asking for slices, and holding them.
//!
//! ```text
//! SliceRequest --submit--> Reserved(PlacementGroup) | Pending(PendingGroup) | Infeasible
//!              --reserve-> PlacementGroup, waiting until the deadline
//! PendingGroup --wait----> PlacementGroup
//! PlacementGroup --spawn-> ActorMesh, which gives the group back when it is stopped
//! ```
//! A [`PlacementGroup`] is a guard: dropping it gives the slices back, as dropping a [`PendingGroup`] withdraws the request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::inventory::{HostName, SliceName};
use crate::ledger::RequestId;
use crate::place::{Answer, Placement, Submitted};
use crate::scheduler::{
    Assignment, Infeasible, Outcome, PendingReason, Request, SliceAsk, SlicePart, Trouble,
};
use crate::topology::SliceSpec;

mod error;

pub use error::ReserveError;

/// How long [`SliceRequest::reserve`] waits where nothing else is said.
pub const RESERVE_DEADLINE: Duration = Duration::from_secs(60);

/// A request for whole slices, being declared.
#[derive(Debug, Clone)]
#[must_use = "a request does nothing until `submit` or `reserve`"]
pub struct SliceRequest {
    placement: Placement,
    generation: String,
    topology: String,
    slices: u32,
    chips_per_host: Option<u32>,
    name: Option<String>,
    priority: i32,
    deadline: Duration,
}

impl SliceRequest {
    pub(crate) fn new(placement: Placement, generation: &str, topology: &str) -> Self {
        Self {
            placement,
            generation: generation.to_owned(),
            topology: topology.to_owned(),
            slices: 1,
            chips_per_host: None,
            name: None,
            priority: 0,
            deadline: RESERVE_DEADLINE,
        }
    }

    /// Asks for so many slices; all of them are granted at once, or none.
    pub fn slices(mut self, count: u32) -> Self {
        self.slices = count;
        self
    }

    /// Asks for slices with so many chips on each host; otherwise slices of any make are taken.
    pub fn chips_per_host(mut self, chips: u32) -> Self {
        self.chips_per_host = Some(chips);
        self
    }

    /// Holds under this name, which others read in the reason for which they wait. Unique among those that wait or hold.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Goes before requests of a lower priority; 0 if not set.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Stops waiting after this time; one minute if not set.
    pub fn deadline(mut self, within: Duration) -> Self {
        self.deadline = within;
        self
    }

    /// Makes the request and says at once what became of it.
    ///
    /// # Errors
    /// [`ReserveError::Spec`] for what is no generation or shape, [`ReserveError::Name`] and [`ReserveError::Rejected`]
    /// for a name or number that cannot be.
    pub fn submit(self) -> Result<Reservation, ReserveError> {
        let handle = self.placement.handle();
        if !handle.is_driver() {
            return Err(ReserveError::NotTheDriver { node: handle.node_id() });
        }
        let spec = SliceSpec::parse(&self.generation, &self.topology)?;
        let mut ask = SliceAsk::new(spec.generation(), spec.topology()).with_count(self.slices);
        if let Some(chips) = self.chips_per_host {
            ask = ask.with_chips_per_host(spec.with_chips_per_host(chips)?.chips_per_host());
        }
        let id = match &self.name {
            Some(name) => RequestId::new(name)?,
            None => self.placement.fresh_id(),
        };
        let deadline = self.placement.now() + self.deadline;
        let request = Request::slices(id.clone(), ask).with_priority(self.priority).with_deadline(deadline);
        let placement = self.placement;
        Ok(match placement.submit(request) {
            Submitted::Answered(answer) => match settle(&placement, answer) {
                Ok(group) => Reservation::Reserved(group),
                Err(ReserveError::Infeasible(reason)) => Reservation::Infeasible(reason),
                Err(error) => return Err(error),
            },
            Submitted::Waits(reason, answered) => {
                Reservation::Pending(PendingGroup { placement, id, first: *reason, answered: Some(answered) })
            }
        })
    }

    /// Makes the request and waits until it is granted, at most until the deadline.
    ///
    /// # Errors
    /// [`ReserveError`]; [`Infeasible`](ReserveError::Infeasible) at once, [`Timeout`](ReserveError::Timeout) with what
    /// was still missing.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request, or gives back what was granted.
    pub async fn reserve(self) -> Result<PlacementGroup, ReserveError> {
        match self.submit()? {
            Reservation::Reserved(group) => Ok(group),
            Reservation::Pending(pending) => pending.wait().await,
            Reservation::Infeasible(reason) => Err(ReserveError::Infeasible(reason)),
        }
    }
}

fn settle(placement: &Placement, answer: Answer) -> Result<PlacementGroup, ReserveError> {
    match answer {
        Answer::Granted(assignment, losses) => {
            Ok(PlacementGroup { hold: placement.hold(assignment, losses) })
        }
        Answer::Refused(reason) => Err(ReserveError::Infeasible(reason)),
        Answer::Expired(reason) => Err(ReserveError::Timeout { waited: reason.waited, reason }),
        Answer::Rejected(error) => Err(ReserveError::Rejected(error)),
    }
}

/// What became of a request when it was made.
#[derive(Debug)]
#[must_use = "dropping it gives the slices back, or withdraws the request"]
pub enum Reservation {
    /// The slices are held.
    Reserved(PlacementGroup),
    /// It waits, for this reason.
    Pending(PendingGroup),
    /// The slices that there are can never hold it.
    Infeasible(Box<Infeasible>),
}

/// A request that waits. Dropping it withdraws the request.
#[derive(Debug)]
pub struct PendingGroup {
    placement: Placement,
    id: RequestId,
    first: PendingReason,
    /// `None` once the answer was taken.
    answered: Option<oneshot::Receiver<Answer>>,
}

impl PendingGroup {
    /// The request's id.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// What the request waits for now.
    pub fn reason(&self) -> PendingReason {
        match self.placement.outcome(&self.id) {
            Some(Outcome::Pending(reason)) => *reason,
            // Granted or ended a moment ago: `wait` will say so.
            Some(Outcome::Reserved(_)) | None => self.first.clone(),
        }
    }

    /// Waits until the request is granted, at most until its deadline.
    ///
    /// # Errors
    /// As [`SliceRequest::reserve`].
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request, or gives back what was granted.
    pub async fn wait(mut self) -> Result<PlacementGroup, ReserveError> {
        let ended = || ReserveError::Ended { request: self.id.clone() };
        // Borrowed, so that a dropped future leaves the receiver to the destructor.
        let Some(answered) = self.answered.as_mut() else { return Err(ended()) };
        let Ok(answer) = answered.await else { return Err(ReserveError::Ended { request: self.id.clone() }) };
        self.answered = None;
        settle(&self.placement, answer)
    }
}

impl Drop for PendingGroup {
    fn drop(&mut self) {
        if let Some(answered) = &mut self.answered {
            self.placement.cancel(&self.id, answered);
        }
    }
}

/// What happened to a host of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The host.
    pub host: HostName,
    /// Its slice.
    pub slice: Option<SliceName>,
    /// Its worker id there.
    pub worker: Option<u32>,
    /// What kind of trouble it is.
    pub kind: Trouble,
    /// What was observed.
    pub cause: String,
}

impl Loss {
    pub(crate) fn new(host: HostName, seat: Option<(SliceName, u32)>, kind: Trouble, cause: String) -> Self {
        let (slice, worker) = seat.unzip();
        Self { host, slice, worker, kind, cause }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {}", self.host)?;
        if let (Some(slice), Some(worker)) = (&self.slice, self.worker) {
            write!(f, " (worker {worker} of slice {slice})")?;
        }
        let what = match self.kind {
            Trouble::Lost => "was lost",
            Trouble::Left => "left",
            Trouble::Sick => "is sick",
            Trouble::Restarted => "came back as another process",
            Trouble::Draining => "is about to go",
        };
        write!(f, " {what}: {}", self.cause)
    }
}

/// Slices that are held. Dropping it gives them back.
#[derive(Debug)]
pub struct PlacementGroup {
    pub(crate) hold: Hold,
}

impl PlacementGroup {
    /// The reservation's id.
    pub fn id(&self) -> &RequestId {
        &self.hold.assignment.request
    }

    /// Everything that is held: slices, hosts in rank order, chips with coordinates.
    pub fn assignment(&self) -> &Assignment {
        &self.hold.assignment
    }

    /// The slices, in order.
    pub fn slices(&self) -> &[SlicePart] {
        &self.hold.assignment.slices
    }

    /// What happened to hosts of the group since it was granted.
    pub fn losses(&self) -> Vec<Loss> {
        self.hold.losses.borrow().clone()
    }

    /// Waits until something happens to a host of the group; at once when something has.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn lost(&self) -> Loss {
        self.hold.lost().await
    }
}

/// The guard of a reservation.
pub(crate) struct Hold {
    pub(crate) placement: Placement,
    pub(crate) assignment: Arc<Assignment>,
    pub(crate) losses: watch::Receiver<Vec<Loss>>,
}

impl Hold {
    pub(crate) fn new(
        placement: Placement,
        assignment: Arc<Assignment>,
        losses: watch::Receiver<Vec<Loss>>,
    ) -> Self {
        Self { placement, assignment, losses }
    }

    pub(crate) async fn lost(&self) -> Loss {
        let mut losses = self.losses.clone();
        loop {
            if let Some(loss) = losses.borrow_and_update().first() {
                return loss.clone();
            }
            if losses.changed().await.is_err() {
                // The runtime has ended, and nothing will happen to the group any more.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.placement.release(&self.assignment.request);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("assignment", &self.assignment).finish_non_exhaustive()
    }
}
