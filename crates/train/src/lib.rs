//! Training on slices: declare a topology, write the loop.
//!
//! **This crate holds its documented face only.** The types below say how a run will be declared; nothing is trained here
//! yet. Until then a gang of [`mobula_placement`] with programs of [`mobula_xla`] does it by hand, as the example
//! `quickstart` shows.
//!
//! What is to be here: a trainer that reserves slices, spawns one worker a host, hands out shards of a dataset, runs the loop,
//! collects reports, commits sharded checkpoints, and rebuilds the gang from the last one when a host or slice is lost.
//!
//! What this crate must never know: deployments.

use std::time::Duration;

/// What a run is placed on. Chips are never counted by the user: a topology is a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scaling {
    /// Generation of the accelerator, in any spelling.
    pub generation: String,
    /// Topology of each slice, such as `4x4`.
    pub topology: String,
    /// Fewest slices to run on, and most to grow to.
    pub slices: (u32, u32),
}

impl Scaling {
    /// One slice of that generation and topology.
    pub fn tpu(generation: impl Into<String>, topology: impl Into<String>) -> Self {
        Self { generation: generation.into(), topology: topology.into(), slices: (1, 1) }
    }

    /// From `fewest` to `most` slices.
    #[must_use]
    pub fn slices(mut self, fewest: u32, most: u32) -> Self {
        self.slices = (fewest, most);
        self
    }
}

/// When a run gives up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailurePolicy {
    /// Losses of a gang after which the run fails; `None` for no limit.
    pub failures_max: Option<u32>,
    /// Pause before a gang is built again.
    pub back_off: Duration,
}

impl Default for FailurePolicy {
    fn default() -> Self {
        Self { failures_max: Some(3), back_off: Duration::from_secs(1) }
    }
}
