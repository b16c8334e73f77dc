//! What the shell must do: the closed list of effects.

use std::time::Duration;

use super::{MissingHost, ProgramLabel};

/// One effect. The shell performs them in order, before the next event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::virtual_slice) enum Command {
    /// All hosts wait with one program: put their shards together, launch once, answer all of them.
    Launch {
        /// The number of the launch.
        launch: u64,
    },
    /// Answer the wait of a host with an error, and give it its arrays back.
    Answer {
        /// The host.
        host: usize,
        /// The error.
        verdict: Verdict,
    },
}

/// Why a wait ends without a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::virtual_slice) enum Verdict {
    /// The launch that the host waited for was given up.
    GivenUp {
        /// Its number.
        launch: u64,
        /// How long this host waited.
        waited: Duration,
        /// Why.
        cause: Cause,
    },
    /// The launch that the host came for was given up before it came.
    Late {
        /// Its number.
        launch: u64,
        /// How long before; `None` when it is too long ago to be remembered.
        ago: Option<Duration>,
        /// Why; `None` when it is too long ago to be remembered.
        cause: Option<Cause>,
    },
}

/// Why a launch was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::virtual_slice) enum Cause {
    /// Hosts did not come by the deadline of one that waited.
    Missing {
        /// Who did not come.
        missing: Vec<MissingHost>,
        /// How long the first of the others waited.
        waited: Duration,
    },
    /// Hosts came with different programs.
    Programs {
        /// Who came with what.
        programs: Vec<(usize, ProgramLabel)>,
    },
    /// The member of a host was dropped.
    Lost {
        /// The host.
        host: usize,
    },
}
