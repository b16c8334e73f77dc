//! Why slices were not reserved.

use std::time::Duration;

use mobula_core::NodeId;

use crate::inventory::NameError;
use crate::ledger::RequestId;
use crate::scheduler::{EventError, Infeasible, PendingReason};
use crate::topology::SpecError;

/// Failed to reserve slices. Nothing is held.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReserveError {
    /// No such generation, or a shape that it does not come in; names the nearest that it does.
    #[error("reserve slices: failed to {0}")]
    Spec(#[from] SpecError),
    /// The name is none.
    #[error("reserve slices: failed to {0}")]
    Name(#[from] NameError),
    /// The slices that there are can never hold it.
    #[error("reserve slices: {0}")]
    Infeasible(Box<Infeasible>),
    /// It was not granted by the deadline. Worth a retry when what it waited for is there.
    #[error("reserve slices within {waited:?}: {reason}")]
    Timeout {
        /// How long it waited.
        waited: Duration,
        /// What it still waited for.
        reason: Box<PendingReason>,
    },
    /// The request was not accepted.
    #[error("reserve slices: failed to {0}")]
    Rejected(EventError),
    /// The runtime ended while it waited.
    #[error("reserve slices for {request}: the runtime has ended")]
    Ended {
        /// The request.
        request: RequestId,
    },
    /// Slices are reserved by the process that the application started.
    #[error("reserve slices on node {node}: reservations are made by the driver's process")]
    NotTheDriver {
        /// This node.
        node: NodeId,
    },
}

impl ReserveError {
    /// Whether the same request may be granted later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Timeout { .. } => true,
            Self::Rejected(error) => error.is_retryable(),
            _ => false,
        }
    }
}
