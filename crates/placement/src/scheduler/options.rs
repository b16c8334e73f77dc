//! What a scheduler can be told about policy.

use std::time::Duration;

/// Policy of a scheduler. Everything has a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How much waiting one level of priority is worth: a request of priority 1 goes before those of priority 0 that came
    /// less than this before it. `None`: priority alone, and age only among equals.
    pub ageing: Option<Duration>,
    /// How long a request may be overtaken by smaller ones. Afterwards what it waits for is kept for it.
    pub patience: Duration,
    /// For how many requests of one generation something is kept at the same time.
    pub keeps_max: usize,
    /// Whether a request may push out others.
    pub preemption: Preemption,
    /// How many requests may wait.
    pub queue_len_max: usize,
    /// How many slices a reason lists one by one.
    pub notes_max: usize,
}

/// Whether a request may push out others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preemption {
    /// Who holds, holds.
    #[default]
    Never,
    /// A request for slices or sub-slices that finds no room pushes out holders of lower priority who allow it, as few
    /// chips as possible, the least urgent first.
    LowerPriority {
        /// How long they have to save their work and let go.
        grace: Duration,
    },
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ageing: Some(Duration::from_secs(3_600)),
            patience: Duration::from_secs(600),
            keeps_max: 4,
            preemption: Preemption::Never,
            queue_len_max: 100_000,
            notes_max: 8,
        }
    }
}
