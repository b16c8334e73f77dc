//! What can happen to a scheduler.

use std::sync::Arc;

use super::assignment::Assignment;
use super::request::Request;
use crate::inventory::{HostName, HostReport};
use crate::ledger::RequestId;

/// Something that happened; the time of it is the argument beside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A host joined, came back, or reports anew.
    HostJoined(HostReport),
    /// A host is not heard of any more.
    HostLost {
        /// The host.
        host: HostName,
        /// What was observed.
        cause: String,
    },
    /// A host is up, but not all of its chips are.
    HostSick {
        /// The host.
        host: HostName,
        /// What was observed.
        cause: String,
    },
    /// A host will go: nothing new is placed on it.
    HostDraining {
        /// The host.
        host: HostName,
        /// What the provider said.
        cause: String,
    },
    /// A host left for good.
    HostLeft {
        /// The host.
        host: HostName,
        /// Why.
        cause: String,
    },
    /// Requests that arrive together: they are ranked among each other before the first is decided.
    Submit(Vec<Request>),
    /// Someone holds this already: what the scheduler before this one granted. Send these after the hosts have joined and
    /// before anything is submitted.
    Adopt {
        /// The request that was granted.
        request: Request,
        /// What it was granted.
        assignment: Arc<Assignment>,
    },
    /// A request does not want to wait any longer.
    Cancel(RequestId),
    /// A holder gives back what it holds.
    Release(RequestId),
    /// Someone who can make slices is there, or is not any more.
    Provisioner(Provisioner),
    /// Only time has passed.
    Tick,
}

/// Whether missing slices can be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provisioner {
    /// Nobody makes slices: what the inventory can never hold is infeasible.
    #[default]
    Absent,
    /// What the inventory cannot hold is asked of a provisioner, and pends on it.
    Attached,
}
