//! What can go wrong on a virtual slice.

use std::fmt;
use std::time::Duration;

use super::rendezvous::{Cause, ProgramLabel, Verdict};
use crate::array::Array;
use crate::client::ClientError;
use crate::executable::RunFailure;

/// Why there is no slice or no member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SliceError {
    /// The number of hosts or chips is out of range.
    #[error(
        "make a virtual slice of {host_count} hosts x {devices_per_host} devices: expected 1 to {limit} \
         hosts with devices"
    )]
    Hosts {
        /// The number of hosts.
        host_count: usize,
        /// The number of devices of each.
        devices_per_host: usize,
        /// The most hosts.
        limit: usize,
    },
    /// The devices do not divide among the hosts.
    #[error("make a virtual slice: {device_count} devices do not divide among {host_count} hosts")]
    Uneven {
        /// The number of hosts.
        host_count: usize,
        /// The number of devices.
        device_count: usize,
    },
    /// No client.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// There is no such host.
    #[error("take the member of host {host}: the slice has {host_count} hosts")]
    NoHost {
        /// The host that was asked for.
        host: usize,
        /// How many there are.
        host_count: usize,
    },
    /// Somebody else is this host.
    #[error("take the member of host {host}: it is taken")]
    MemberTaken {
        /// The host.
        host: usize,
    },
}

/// A host that others waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingHost {
    /// The host.
    pub host: usize,
    /// Why what it brought was refused, when it did come and was told to come again.
    pub refusal: Option<String>,
}

/// Why a member's program was not launched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The executable does not run on exactly the devices of the slice.
    #[error("launch on a slice with devices {expected:?}: the executable is compiled for {got:?}")]
    Devices {
        /// The slice's devices, by id.
        expected: Vec<i32>,
        /// The executable's.
        got: Vec<i32>,
    },
    /// What this member brought does not fit the program. It may come again; the others are not told unless
    /// it does not.
    #[error(transparent)]
    Refused(RunFailure),
    /// Hosts did not come by the deadline of one that waited.
    #[error("launch number {launch}: {}", self.reason())]
    Missing {
        /// The number of the launch that was given up.
        launch: u64,
        /// Who did not come.
        missing: Vec<MissingHost>,
        /// How long this member waited.
        waited: Duration,
    },
    /// Hosts came with different programs for one launch.
    #[error("launch number {launch}: {}", self.reason())]
    Programs {
        /// The number of the launch that was given up.
        launch: u64,
        /// Who came with what.
        programs: Vec<(usize, ProgramLabel)>,
    },
    /// The member of a host was dropped.
    #[error("launch number {launch}: {}", self.reason())]
    MemberLost {
        /// The number of the launch that was given up.
        launch: u64,
        /// The host.
        host: usize,
    },
    /// The launch that this member came for was given up before it came. Its next arrival is for the next
    /// launch.
    #[error("launch number {launch}: it was given up {}", self.reason())]
    Late {
        /// The number of the launch.
        launch: u64,
        /// How long ago; `None` when it is too long ago to be remembered.
        ago: Option<Duration>,
        /// What those who waited were told; `None` when it is too long ago to be remembered.
        cause: Option<Box<LaunchError>>,
    },
    /// All had come, and the launch failed.
    #[error("launch number {launch}: {failure}")]
    Failed {
        /// The number of the launch.
        launch: u64,
        /// Why.
        failure: RunFailure,
    },
    /// The client's thread panicked during the launch: an error of this crate.
    #[error("launch: the client's thread panicked")]
    Ended,
}

impl LaunchError {
    /// What a host is told.
    pub(super) fn from_verdict(verdict: Verdict) -> LaunchError {
        match verdict {
            Verdict::GivenUp { launch, waited, cause } => LaunchError::given_up(launch, waited, cause),
            Verdict::Late { launch, ago, cause } => {
                let cause = cause.map(|cause| {
                    let waited = match &cause {
                        Cause::Missing { waited, .. } => *waited,
                        _ => Duration::ZERO,
                    };
                    Box::new(LaunchError::given_up(launch, waited, cause))
                });
                LaunchError::Late { launch, ago, cause }
            }
        }
    }

    fn given_up(launch: u64, waited: Duration, cause: Cause) -> LaunchError {
        match cause {
            Cause::Missing { missing, .. } => LaunchError::Missing { launch, missing, waited },
            Cause::Programs { programs } => LaunchError::Programs { launch, programs },
            Cause::Lost { host } => LaunchError::MemberLost { launch, host },
        }
    }

    /// The part of the text behind the number of the launch.
    fn reason(&self) -> String {
        match self {
            LaunchError::Missing { missing, waited, .. } => {
                format!("after {waited:?}, {} did not come", hosts(missing))
            }
            LaunchError::Programs { programs, .. } => {
                format!("the hosts came with different programs: {}", by_program(programs))
            }
            LaunchError::MemberLost { host, .. } => format!("the member of host {host} is gone"),
            LaunchError::Late { ago: Some(ago), cause: Some(cause), .. } => {
                format!("{ago:?} ago: {}", cause.reason())
            }
            LaunchError::Late { .. } => "too long ago to know why".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether the next launch of the same members may well succeed: nobody is gone and no arguments were
    /// wrong.
    pub fn is_retryable(&self) -> bool {
        matches!(self, LaunchError::Missing { .. } | LaunchError::Late { .. })
    }
}

/// `host 3`, or `hosts 2, 3 (refused: ..)`.
fn hosts(missing: &[MissingHost]) -> String {
    let one = |missing: &MissingHost| match &missing.refusal {
        None => missing.host.to_string(),
        Some(refusal) => format!("{} (what it brought was refused: failed to {refusal})", missing.host),
    };
    let list = missing.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("host{} {list}", if missing.len() == 1 { "" } else { "s" })
}

/// `hosts 0, 1: step (a1b2c3d4); host 2: eval (9f8e7d6c)`.
fn by_program(programs: &[(usize, ProgramLabel)]) -> String {
    let mut groups: Vec<(&ProgramLabel, Vec<String>)> = Vec::new();
    for (host, program) in programs {
        match groups.iter_mut().find(|(known, _)| *known == program) {
            Some((_, hosts)) => hosts.push(host.to_string()),
            None => groups.push((program, vec![host.to_string()])),
        }
    }
    let one = |(program, hosts): &(&ProgramLabel, Vec<String>)| {
        format!("host{} {}: {program}", if hosts.len() == 1 { "" } else { "s" }, hosts.join(", "))
    };
    groups.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Why a member's program was not launched, with its arrays.
#[derive(Debug)]
pub struct MemberError {
    error: Box<LaunchError>,
    arguments: Vec<Array>,
}

impl MemberError {
    pub(super) fn new(error: LaunchError, arguments: Vec<Array>) -> MemberError {
        MemberError { error: Box::new(error), arguments }
    }

    /// What went wrong.
    pub fn error(&self) -> &LaunchError {
        &self.error
    }

    /// The arrays, given back.
    pub fn into_arguments(self) -> Vec<Array> {
        self.arguments
    }

    /// Both.
    pub fn into_parts(self) -> (LaunchError, Vec<Array>) {
        (*self.error, self.arguments)
    }
}

impl fmt::Display for MemberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for MemberError {}
