//! Hosts: the machines of a runtime, real or virtual, as this crate sees them.
//!
//! A host has a name, labels (text) and resources (counts), and a state. What a label means is for the layers above.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::NodeId;
use crate::limits;

/// A host as it is declared to a [`RuntimeBuilder`](crate::RuntimeBuilder).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// Unique in its runtime.
    pub name: String,
    /// Free text by key, for layers above.
    pub labels: BTreeMap<String, String>,
    /// Counts by name (`cpu`, `tpu`, ...), for layers above.
    pub resources: BTreeMap<String, u64>,
}

impl HostSpec {
    /// A host without labels or resources.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), labels: BTreeMap::new(), resources: BTreeMap::new() }
    }

    /// Adds a label, replacing one of the same key.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Sets how much of a resource the host has.
    #[must_use]
    pub fn resource(mut self, name: impl Into<String>, count: u64) -> Self {
        self.resources.insert(name.into(), count);
        self
    }

    /// What is wrong with the declaration, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let fine = |name: &str| !name.is_empty() && name.len() <= limits::NAME_BYTES_MAX;
        if !fine(&self.name) {
            let shown: String = self.name.chars().take(32).collect();
            return Some(format!("host name {shown:?} is not 1 to {} bytes long", limits::NAME_BYTES_MAX));
        }
        let key = self.labels.keys().chain(self.resources.keys()).find(|key| !fine(key))?;
        let shown: String = key.chars().take(32).collect();
        Some(format!("host {}: key {shown:?} is not 1 to {} bytes long", self.name, limits::NAME_BYTES_MAX))
    }
}

/// A host as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// What was declared.
    pub spec: HostSpec,
    /// The node that acts for it. Virtual hosts of one process share a node.
    pub node: NodeId,
    /// The operating system's id of that process.
    pub pid: u32,
    /// Alive, or lost and why.
    pub state: HostState,
}

/// Whether a host can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostState {
    /// It has joined and was not lost.
    Alive,
    /// It is gone for good, for this reason.
    Lost(LossCause),
}

/// Why a host or node is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum LossCause {
    /// Its process ended by itself.
    #[error("process {pid} exited with status {status}")]
    Exited {
        /// The process.
        pid: u32,
        /// Its exit status.
        status: i32,
    },
    /// Its process was ended by a signal.
    #[error("process {pid} was killed by signal {signal}")]
    Killed {
        /// The process.
        pid: u32,
        /// The signal's number.
        signal: i32,
    },
    /// The connection to it broke and was not restored.
    #[error("its connection broke: {0}")]
    Disconnected(String),
    /// It said nothing for longer than the limit.
    #[error("no word from it for {0:?}")]
    Silent(Duration),
    /// It broke the protocol and was cut off.
    #[error("it broke the protocol: {0}")]
    Protocol(String),
    /// It could not be reached in the first place.
    #[error("it could not be reached: {0}")]
    Unreachable(String),
    /// It left in good order.
    #[error("it left")]
    Left,
    /// This side is shutting down.
    #[error("the runtime is shutting down")]
    ShuttingDown,
    /// A test, or the application, ended it as a crash would.
    #[error("it was killed on purpose")]
    KilledOnPurpose,
    /// No node of that id is known here.
    #[error("no such node is known here")]
    Unknown,
}

/// A change in the set of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostEvent {
    /// A host has joined.
    Joined(HostInfo),
    /// A host is gone.
    Lost {
        /// The host's name.
        host: String,
        /// The node that acted for it.
        node: NodeId,
        /// Why.
        cause: LossCause,
    },
}

impl fmt::Display for HostInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, pid {})", self.spec.name, self.node, self.pid)
    }
}
