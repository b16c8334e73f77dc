//! Whether two nodes may speak to each other. The decision is pure; [`exchange`] carries it over a stream.
//!
//! The dialer sends a [`Hello`], the acceptor answers [`Answer::Welcome`] or [`Answer::Refused`]. Both are framed as
//! `u32` little-endian length, the four bytes `MBLA`, the version byte of [`wire`](crate::wire), and the value in the
//! codec. The version stands before the value so that builds which share nothing else can still name it.
//!
//! States: `Dialed -> HelloSent -> Up | Refused` on one side, `Accepted -> Up | Refused` on the other. Checks of the
//! acceptor, in order, each with its own [`Refusal`]: version, runtime, certificate for exactly the claimed node,
//! registry, one connection for a pair (`HS-1`: of two nodes that dial each other at once, the dial of the lower id stays).

use serde::{Deserialize, Serialize};

use crate::host::HostSpec;
use crate::id::NodeId;
use crate::registry::{RegistryDifference, RegistryRow};

pub(crate) mod exchange;

/// One runtime, told apart from every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuntimeId(u64, u64);

impl RuntimeId {
    pub(crate) fn random() -> Self {
        Self(rand::random(), rand::random())
    }
}

/// What the dialer says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) runtime: RuntimeId,
    pub(crate) node: NodeId,
    /// The node it means to reach.
    pub(crate) to: NodeId,
    /// Where it can be dialed: text of a socket address.
    pub(crate) listens_on: String,
    pub(crate) pid: u32,
    /// The hosts it acts for.
    pub(crate) hosts: Vec<HostSpec>,
    pub(crate) registry: Vec<RegistryRow>,
}

/// What the acceptor answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Welcome,
    Refused(Refusal),
}

/// Why two nodes may not speak to each other. Texts are from the view of the node that refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The builds speak different versions of the protocol.
    #[error(
        "it speaks protocol version {got}, this build speaks {expected}: build both from the same version of mobula"
    )]
    Version {
        /// The version of the node that refused.
        expected: u8,
        /// The version of the other.
        got: u8,
    },
    /// It belongs to another runtime.
    #[error("it belongs to another runtime")]
    OtherRuntime,
    /// It meant to reach another node at this address.
    #[error("it wants to reach node {wanted}, this is {here}")]
    OtherNode {
        /// Whom the dialer wanted.
        wanted: NodeId,
        /// Who answered.
        here: NodeId,
    },
    /// Its certificate is not for the node that it says it is.
    #[error("it says that it is node {claimed}, and its certificate is not for that node")]
    Identity {
        /// Who it says it is.
        claimed: NodeId,
    },
    /// The two builds register different actors or messages.
    #[error("the two builds register different actors or messages: {0}")]
    Registry(RegistryDifference),
    /// There is a connection between the two already, or one is being made from this side.
    #[error("the two nodes are connected already")]
    Duplicate,
    /// It was declared lost, and a lost node stays lost.
    #[error("it was declared lost")]
    DeclaredLost,
    /// This node is shutting down.
    #[error("this node is shutting down")]
    ShuttingDown,
    /// What it said is no hello.
    #[error("its hello does not decode: {0}")]
    Malformed(String),
}

impl Refusal {
    /// The same refusal as the refused side should read it.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Version { expected, got } => Self::Version { expected: got, got: expected },
            Self::Registry(difference) => Self::Registry(difference.flipped()),
            other => other,
        }
    }
}

/// What the acceptor knows when a hello arrives.
pub(crate) struct Acceptor<'a> {
    pub(crate) runtime: RuntimeId,
    pub(crate) node: NodeId,
    pub(crate) registry: &'a [RegistryRow],
    pub(crate) shutting_down: bool,
}

/// The state of the pair, as the acceptor sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pair {
    /// No connection.
    Apart,
    /// This side is dialing the other.
    Dialing,
    /// Connected.
    Connected,
    /// The other was declared lost.
    Lost,
}

impl Acceptor<'_> {
    /// Judges everything but the pair. `certified` is whether the dialer's certificate is for `hello.node`.
    pub(crate) fn judge(&self, hello: &Hello, certified: bool) -> Result<(), Refusal> {
        if self.shutting_down {
            return Err(Refusal::ShuttingDown);
        }
        if hello.runtime != self.runtime {
            return Err(Refusal::OtherRuntime);
        }
        if hello.to != self.node {
            return Err(Refusal::OtherNode { wanted: hello.to, here: self.node });
        }
        if !certified || hello.node == self.node {
            return Err(Refusal::Identity { claimed: hello.node });
        }
        match RegistryDifference::between(self.registry, &hello.registry) {
            Some(difference) => Err(Refusal::Registry(difference)),
            None => Ok(()),
        }
    }
}

/// Whether an incoming connection becomes the one connection of the pair (`HS-1`).
pub(crate) fn judge_pair(here: NodeId, dialer: NodeId, pair: Pair) -> Result<(), Refusal> {
    match pair {
        Pair::Apart => Ok(()),
        Pair::Dialing if dialer < here => Ok(()),
        Pair::Dialing | Pair::Connected => Err(Refusal::Duplicate),
        Pair::Lost => Err(Refusal::DeclaredLost),
    }
}

#[cfg(test)]
mod tests;
