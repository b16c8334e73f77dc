//! What can go wrong at the start and at the end.

use std::io;
use std::time::Duration;

use crate::handshake::Refusal;
use crate::host::LossCause;
use crate::limits;
use crate::registry::RegistryError;

/// Failed to start a runtime. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A declaration is wrong.
    #[error("start the runtime: {0}")]
    Declaration(Box<dyn std::error::Error + Send + Sync>),
    /// Two hosts have one name.
    #[error("start the runtime: two hosts are named {name:?}")]
    DuplicateHost {
        /// The name.
        name: String,
    },
    /// Too many hosts.
    #[error("start the runtime: {hosts} hosts are declared, at most {max} can be", max = limits::HOSTS_MAX)]
    TooManyHosts {
        /// How many were declared.
        hosts: usize,
    },
    /// A registration is wrong.
    #[error("start the runtime: {0}")]
    Registry(#[from] RegistryError),
    /// The registry does not fit a handshake.
    #[error("start the runtime: the registry takes {bytes} bytes, at most {max} fit a handshake")]
    RegistryTooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// No executor.
    #[error("start the runtime: it must be started within a tokio runtime, with I/O and time enabled")]
    NoExecutor,
    /// Certificates or the socket could not be set up.
    #[error("start the runtime: {0}")]
    Network(String),
    /// A child process could not be started.
    #[error("start the runtime: run {executable} for host {host}: {source}")]
    Spawn {
        /// The host.
        host: String,
        /// The program.
        executable: String,
        /// Why.
        source: io::Error,
    },
    /// A child process ended before it joined.
    #[error(
        "start the runtime: host {host} did not join: {cause}; does the program's main carry #[mobula::main], \
         and does it come to it before it reads its arguments?"
    )]
    ChildEnded {
        /// The host.
        host: String,
        /// How.
        cause: LossCause,
    },
    /// A child process runs a build that does not fit this one.
    #[error("start the runtime: host {host} was refused: {refusal}")]
    Refused {
        /// The host.
        host: String,
        /// Why.
        refusal: Refusal,
    },
    /// Some hosts had not joined by the deadline.
    #[error("start the runtime: {} of {of} hosts had not joined within {within:?}: {}", missing.len(), missing.join(", "))]
    Timeout {
        /// The hosts that are missing.
        missing: Vec<String>,
        /// How many were declared.
        of: usize,
        /// The time that was given.
        within: Duration,
    },
}

/// A shutdown that had to kill. Everything has ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "drain within {within:?}: {actors_killed} actors of this process and the processes of {} hosts were killed ({})",
    hosts_killed.len(), hosts_killed.join(", ")
)]
pub struct ShutdownError {
    /// The time that was given.
    pub within: Duration,
    /// Actors of this process that had to be killed.
    pub actors_killed: usize,
    /// Hosts whose process had to be killed.
    pub hosts_killed: Vec<String>,
}

/// Failed to kill a host on purpose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KillHostError {
    /// No such host.
    #[error("kill host {0:?}: no host has that name")]
    NoSuchHost(String),
    /// It runs in a process that is not this one's child.
    #[error("kill host {0:?}: its process is not a child of this one")]
    NotMine(String),
}
