//! What a ledger refuses.

use super::RequestId;
use crate::inventory::{HostIndex, Shortage};
use crate::topology::ChipSet;

/// Why something was not reserved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReserveError {
    /// The id holds something already.
    #[error("reserve for {id}: it holds a reservation already")]
    Duplicate {
        /// The id.
        id: RequestId,
    },
    /// The id holds nothing that could be extended.
    #[error("extend the reservation of {id}: it holds none")]
    Unknown {
        /// The id.
        id: RequestId,
    },
    /// Nothing was asked for.
    #[error("reserve for {id}: nothing was asked for")]
    Nothing {
        /// The id.
        id: RequestId,
    },
    /// A host without an account.
    #[error("reserve for {id}: a host has no account")]
    UnknownHost {
        /// The id.
        id: RequestId,
    },
    /// Chips that somebody holds, or that the host does not have.
    #[error("reserve for {id}: chips {asked} of a host were asked for, {free} are free")]
    Chips {
        /// The id.
        id: RequestId,
        /// The host.
        host: HostIndex,
        /// The chips asked for.
        asked: ChipSet,
        /// The chips that are free.
        free: ChipSet,
    },
    /// More of a resource than is free.
    #[error("reserve for {id}: {shortage}")]
    Resources {
        /// The id.
        id: RequestId,
        /// The host.
        host: HostIndex,
        /// What is short.
        shortage: Shortage,
    },
}

impl ReserveError {
    /// Whether the same call can succeed after others released what they hold.
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Chips { .. } | Self::Resources { .. })
    }
}

/// Why nothing was released. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The id holds nothing.
    #[error("release what {id} holds: it holds nothing")]
    Unknown {
        /// The id.
        id: RequestId,
    },
}

/// A broken invariant of the ledger, found by [`super::Ledger::check`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// **L1**: chips in two reservations.
    #[error("audit {host:?}: {id} holds chips {chips} that another holds too")]
    Twice {
        /// The host.
        host: HostIndex,
        /// The chips.
        chips: ChipSet,
        /// The later of the two holders.
        id: RequestId,
    },
    /// **L2**: an account that is not the sum of its reservations.
    #[error("audit {host:?}: its reservations hold chips {chips}, its account says {got}")]
    Account {
        /// The host.
        host: HostIndex,
        /// Chips by the reservations.
        chips: ChipSet,
        /// Chips by the account.
        got: ChipSet,
    },
}
