//! What is asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bundle::BundleAsk;
use crate::inventory::{LabelSelector, Resources, Timestamp};
use crate::ledger::RequestId;
use crate::topology::{Generation, Topology};

/// The most slices or parts that one request may ask for.
pub const COUNT_MAX: u32 = 4096;

/// A request for a place to run; it is granted as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its id, and from the grant on that of the reservation.
    pub id: RequestId,
    /// What is asked for.
    pub demand: Demand,
    /// Higher goes first; how much waiting a level is worth is [`super::Options::ageing`].
    pub priority: i32,
    /// When to stop waiting.
    pub deadline: Option<Timestamp>,
    /// Whether what it holds may be asked back for a request of higher priority.
    pub preemptible: bool,
}

/// The kinds of places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Demand {
    /// Whole slices.
    Slices(SliceAsk),
    /// Sub-slices: aligned, ICI-connected blocks, each inside one slice.
    Parts(SliceAsk),
    /// Bundles on hosts, without a mesh between them.
    Bundles(BundleAsk),
}

/// Some number of slices, or of parts of slices, of one generation and topology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SliceAsk {
    /// The generation.
    pub generation: Generation,
    /// The shape of each; matched as a shape, never as a count of chips.
    pub topology: Topology,
    /// How many.
    pub count: u32,
    /// Chips on each host, where it matters; otherwise slices of any make are taken.
    pub chips_per_host: Option<u32>,
    /// What the labels of every host must be.
    pub labels: LabelSelector,
    /// What is taken of each host besides its chips.
    pub resources_per_host: Resources,
}

impl SliceAsk {
    /// One of that generation and topology, on hosts of any kind.
    pub const fn new(generation: Generation, topology: Topology) -> Self {
        Self {
            generation,
            topology,
            count: 1,
            chips_per_host: None,
            labels: LabelSelector::any(),
            resources_per_host: Resources::none(),
        }
    }

    /// The same, this many times.
    #[must_use]
    pub fn with_count(self, count: u32) -> Self {
        Self { count, ..self }
    }

    /// The same on hosts with this many chips.
    #[must_use]
    pub fn with_chips_per_host(self, chips: u32) -> Self {
        Self { chips_per_host: Some(chips), ..self }
    }

    /// The same on hosts with such labels.
    #[must_use]
    pub fn with_labels(self, labels: LabelSelector) -> Self {
        Self { labels, ..self }
    }

    /// The same with something of each host besides chips.
    #[must_use]
    pub fn with_resources_per_host(self, resources: Resources) -> Self {
        Self { resources_per_host: resources, ..self }
    }
}

impl Request {
    const fn new(id: RequestId, demand: Demand) -> Self {
        Self { id, demand, priority: 0, deadline: None, preemptible: true }
    }

    /// A request for whole slices, of priority 0 and without a deadline.
    pub const fn slices(id: RequestId, ask: SliceAsk) -> Self {
        Self::new(id, Demand::Slices(ask))
    }

    /// A request for sub-slices, of priority 0 and without a deadline.
    pub const fn parts(id: RequestId, ask: SliceAsk) -> Self {
        Self::new(id, Demand::Parts(ask))
    }

    /// A request for bundles, of priority 0 and without a deadline.
    pub const fn bundles(id: RequestId, ask: BundleAsk) -> Self {
        Self::new(id, Demand::Bundles(ask))
    }

    /// The same with a priority.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// The same with a time at which it stops waiting.
    #[must_use]
    pub fn with_deadline(self, deadline: Timestamp) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The same, never to be pushed out.
    #[must_use]
    pub fn not_preemptible(self) -> Self {
        Self { preemptible: false, ..self }
    }
}

/// Whether whole slices or parts of them are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Part,
}

impl Demand {
    /// Checks the numbers that need no inventory.
    pub(super) fn check(&self) -> Result<(), DemandError> {
        match self {
            Self::Slices(ask) | Self::Parts(ask) => match ask.count {
                1..=COUNT_MAX => Ok(()),
                got => Err(DemandError::Count { got, max: COUNT_MAX }),
            },
            Self::Bundles(ask) => ask.check(),
        }
    }
}

/// Why a demand is none, whatever the inventory. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DemandError {
    /// None at all, or more than any machine room has.
    #[error("ask for {got} slices: between 1 and {max} can be asked for")]
    Count {
        /// How many were asked for.
        got: u32,
        /// How many can be asked for.
        max: u32,
    },
    /// No bundle at all, or more than are placed together.
    #[error("ask for {got} bundles: between 1 and {max} can be asked for")]
    Bundles {
        /// How many were asked for.
        got: usize,
        /// How many can be asked for.
        max: usize,
    },
    /// A number of chips that no process can be given.
    #[error("ask for a bundle of {got} chips: a process takes none, 1, 2, 4 or 8")]
    Chips {
        /// Chips that were asked for.
        got: u32,
    },
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ask, what) = match self {
            Self::Slices(ask) => (ask, "slice"),
            Self::Parts(ask) => (ask, "sub-slice"),
            Self::Bundles(ask) => return write!(f, "{ask}"),
        };
        let s = if ask.count == 1 { "" } else { "s" };
        write!(f, "{} {} {} {what}{s}", ask.count, ask.generation, ask.topology)?;
        if let Some(chips) = ask.chips_per_host {
            write!(f, " with {chips} chips a host")?;
        }
        if !ask.labels.is_any() {
            write!(f, " labelled {}", ask.labels)?;
        }
        if !ask.resources_per_host.is_none() {
            write!(f, " with {} a host", ask.resources_per_host)?;
        }
        Ok(())
    }
}
