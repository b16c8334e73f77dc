//! Names of nodes and actors.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One incarnation of one process of a runtime.
///
/// Drawn at random when the process starts, so a process that was lost never comes back under the same id (`NL-2`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeId(u64);

impl NodeId {
    /// A fresh id.
    pub(crate) fn random() -> Self {
        Self(rand::random())
    }

    /// The number behind the id.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The DNS-shaped name that this node's certificate is issued for.
    pub(crate) fn dns_name(self) -> String {
        format!("n{:016x}.mobula.internal", self.0)
    }

    #[cfg(test)]
    pub(crate) const fn new(id: u64) -> Self {
        Self(id)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{:016x}", self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What was wrong with a text that should name a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parse {0:?} as a node id: expected `n` and 16 hexadecimal digits")]
pub struct ParseNodeIdError(String);

impl FromStr for NodeId {
    type Err = ParseNodeIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || ParseNodeIdError(text.chars().take(32).collect());
        let digits = text.strip_prefix('n').filter(|digits| digits.len() == 16).ok_or_else(refuse)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(refuse());
        }
        u64::from_str_radix(digits, 16).map(Self).map_err(|_| refuse())
    }
}

/// One actor, named across the whole runtime.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ActorId {
    /// The node on which it lives.
    pub node: NodeId,
    /// Its number on that node; never used twice.
    pub index: u64,
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.node, self.index)
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
