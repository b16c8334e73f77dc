//! Deployments on slices: one line of topology puts a model that spans hosts on one slice.
//!
//! **This crate holds its documented face only.** The types below say how a deployment will be declared; nothing is served
//! here yet.
//!
//! What is to be here: deployments in Rust and YAML whose replica is one actor or one gang on one slice; a controller whose
//! every state has a reason; routing, HTTP, batching and back-pressure; language models behind the usual endpoints.
//!
//! What this crate must never know: trainers.

use std::time::Duration;

/// What a replica runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accelerator {
    /// No device.
    None,
    /// One whole slice of that generation and topology.
    Slice {
        /// Generation, in any spelling.
        generation: String,
        /// Topology: a shape, never a number of chips.
        topology: String,
    },
}

/// Where a deployment stands. Every state that is not final says why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Replicas are being started.
    Deploying {
        /// What it waits for.
        reason: String,
        /// For how long it has.
        since: Duration,
    },
    /// Every replica answers.
    Running,
    /// A replica does not answer.
    Unhealthy {
        /// Which, and how it shows.
        reason: String,
    },
    /// It was given up.
    DeployFailed {
        /// The last cause.
        reason: String,
    },
}
