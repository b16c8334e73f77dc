//! What a scheduler wants done. The list is closed; each item says when it may run.

use std::sync::Arc;
use std::time::Duration;

use super::assignment::Assignment;
use super::reason::{Infeasible, PendingReason};
use super::request::{Demand, DemandError};
use crate::inventory::{Finding, HostName, InventoryError, SliceName, Timestamp};
use crate::ledger::{RequestId, ReserveError};

/// An effect. Commands of one event are carried out in their order; none of them may be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Tell the requester that it holds this from now on. The chips are its own until it releases them.
    Grant {
        /// What it holds.
        assignment: Arc<Assignment>,
    },
    /// Tell the requester that it waits, and for what. Sent once; [`super::Scheduler::outcome`] has the present reason.
    Wait {
        /// The request.
        request: RequestId,
        /// What is missing, and what holds it.
        reason: Box<PendingReason>,
    },
    /// Tell the requester that it can never be served. Final: the request is forgotten.
    Refuse {
        /// The request.
        request: RequestId,
        /// Why, and what could be asked for instead.
        reason: Box<Infeasible>,
    },
    /// Tell the requester that its deadline passed. Final.
    Expire {
        /// The request.
        request: RequestId,
        /// How long it waited.
        waited: Duration,
        /// What it still waited for.
        reason: Box<PendingReason>,
    },
    /// Tell the requester that its request was withdrawn. Final.
    Withdrawn {
        /// The request.
        request: RequestId,
    },
    /// Tell the holder that it holds nothing any more. Final.
    Released {
        /// The reservation.
        request: RequestId,
    },
    /// Tell the holder of something on a host what happened to that host. Unless the host is merely draining, what runs
    /// there is gone or worthless; the holder keeps everything until it releases it.
    Trouble {
        /// Who holds something on the host.
        holder: RequestId,
        /// The host.
        host: HostName,
        /// The slice of the host and its worker id there.
        seat: Option<(SliceName, u32)>,
        /// What happened.
        kind: Trouble,
        /// What was observed.
        cause: String,
    },
    /// Ask a holder to save its work and let go, because a request of higher priority needs the chips. It keeps them until
    /// it releases them.
    Preempt {
        /// Who is asked.
        victim: RequestId,
        /// For whom.
        by: RequestId,
        /// When it will be revoked.
        until: Timestamp,
    },
    /// End what the holder runs, then release for it: its time to let go is over.
    Revoke {
        /// Whose time is over.
        victim: RequestId,
        /// For whom.
        by: RequestId,
    },
    /// Tell a holder that was asked to let go that it may stay.
    Reprieve {
        /// Who may stay.
        victim: RequestId,
    },
    /// Ask the provisioner for what a request lacks.
    Provision {
        /// The request that waits for it.
        request: RequestId,
        /// The whole demand; what is there already is in the reason.
        demand: Demand,
        /// Why the inventory cannot hold it.
        shortfall: Box<Infeasible>,
    },
    /// Tell the operator about reports that do not fit together.
    Report(Finding),
    /// Tell whoever caused the event that it was not accepted; nothing changed.
    Reject(EventError),
}

/// What happened to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// Not heard of any more.
    Lost,
    /// Left for good, or another host has its seat.
    Left,
    /// Up, but not with all its chips.
    Sick,
    /// Came back as another process: what ran before is gone.
    Restarted,
    /// Will go; still up.
    Draining,
}

/// Why an event was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The id is waiting or held already.
    #[error("submit {request}: a request of that id exists")]
    Duplicate {
        /// The id.
        request: RequestId,
    },
    /// Too many requests wait. Worth a retry later.
    #[error("submit {request}: {waiting} requests wait, which is the most that may")]
    QueueFull {
        /// The id.
        request: RequestId,
        /// How many wait.
        waiting: usize,
    },
    /// Numbers that make no request.
    #[error("submit {request}: failed to {error}")]
    Demand {
        /// The id.
        request: RequestId,
        /// What is wrong.
        error: DemandError,
    },
    /// Nobody of that id waits.
    #[error("cancel {request}: it does not wait")]
    NotWaiting {
        /// The id.
        request: RequestId,
    },
    /// Nobody of that id holds anything.
    #[error("release {request}: it holds nothing")]
    NotHeld {
        /// The id.
        request: RequestId,
    },
    /// A hold could not be taken over.
    #[error("adopt {request}: failed to {cause}")]
    Adopt {
        /// The id.
        request: RequestId,
        /// Why.
        cause: Box<AdoptError>,
    },
    /// The inventory did not take it.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
}

impl EventError {
    /// Whether the same event can be accepted later.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::QueueFull { .. } => true,
            Self::Adopt { cause, .. } => matches!(**cause, AdoptError::UnknownHost { .. }),
            _ => false,
        }
    }
}

/// Why a hold could not be taken over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptError {
    /// The id waits or holds something already, or is not that of the assignment.
    #[error("take it under its id: that is in use, or not the assignment's")]
    Duplicate,
    /// A host of it has not joined yet. Worth a retry once it has.
    #[error("find host {host}: it has not joined")]
    UnknownHost {
        /// The host.
        host: HostName,
    },
    /// Something of it is held by another.
    #[error(transparent)]
    Reserve(#[from] ReserveError),
}
