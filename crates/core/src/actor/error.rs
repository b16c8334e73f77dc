//! What can go wrong between a sender and an actor. One enum for each operation.

use std::fmt;
use std::time::Duration;

use crate::actor::Death;
use crate::codec::{DecodeError, EncodeError};
use crate::host::LossCause;
use crate::id::{ActorId, NodeId};

/// An `ask` that did not end with a reply.
///
/// `M` is the message, given back where it was certainly not handled (`DE-4`); `E` is the handler's own error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AskError<M, E> {
    /// The handler ran and returned an error.
    #[error("ask: the handler failed: {0:?}")]
    Handler(E),
    /// The actor is dead, or died before it replied.
    #[error("ask {actor}: {death}")]
    ActorDied {
        /// The receiver.
        actor: ActorId,
        /// How it died.
        death: Death,
        /// The message, where it was certainly not handled.
        message: Option<M>,
    },
    /// The actor's node is gone.
    #[error("ask {actor}: node {node}{} was lost: {cause}", OnHost(host))]
    NodeLost {
        /// The receiver.
        actor: ActorId,
        /// The node.
        node: NodeId,
        /// The host for which that node acted, where it is known.
        host: Option<String>,
        /// Why.
        cause: LossCause,
        /// Whether the message may have been handled before the loss.
        maybe_handled: bool,
        /// The message.
        message: Option<M>,
    },
    /// No reply by the deadline. The handler may have run, or may still run.
    #[error("ask {actor}: no reply within {within:?}")]
    Timeout {
        /// The receiver.
        actor: ActorId,
        /// The time that was given.
        within: Duration,
        /// The message, where it was certainly not handled.
        message: Option<M>,
    },
    /// No room in the mailbox.
    #[error("ask {actor}: its mailbox is full, and {waiting} more messages wait")]
    MailboxFull {
        /// The receiver.
        actor: ActorId,
        /// Messages that wait beside the mailbox.
        waiting: u64,
        /// The message.
        message: M,
    },
    /// The message or its reply cannot travel.
    #[error(transparent)]
    Undeliverable(#[from] Undeliverable),
}

/// A `tell` whose message did not reach the mailbox.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TellError<M> {
    /// The actor is dead.
    #[error("tell {actor}: {death}")]
    ActorDied {
        /// The receiver.
        actor: ActorId,
        /// How it died.
        death: Death,
        /// The message.
        message: M,
    },
    /// The actor's node is gone.
    #[error("tell {actor}: node {node}{} was lost: {cause}", OnHost(host))]
    NodeLost {
        /// The receiver.
        actor: ActorId,
        /// The node.
        node: NodeId,
        /// The host for which that node acted, where it is known.
        host: Option<String>,
        /// Why.
        cause: LossCause,
        /// Whether the message may have been handled before the loss.
        maybe_handled: bool,
        /// The message.
        message: M,
    },
    /// It did not reach the mailbox by the deadline, as far as the sender knows.
    #[error("tell {actor}: not in its mailbox within {within:?}")]
    Timeout {
        /// The receiver.
        actor: ActorId,
        /// The time that was given.
        within: Duration,
        /// The message.
        message: M,
    },
    /// No room in the mailbox.
    #[error("tell {actor}: its mailbox is full, and {waiting} more messages wait")]
    MailboxFull {
        /// The receiver.
        actor: ActorId,
        /// Messages that wait beside the mailbox.
        waiting: u64,
        /// The message.
        message: M,
    },
    /// The message cannot travel.
    #[error(transparent)]
    Undeliverable(#[from] Undeliverable),
}

/// A message or reply that cannot travel between nodes. A retry will fail too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Undeliverable {
    /// It does not serialize.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// It is too large for one frame.
    #[error("send {len} bytes in one message: at most {max} fit")]
    TooLarge {
        /// Its encoded length.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// The reply arrived and did not decode.
    #[error("the reply: {0}")]
    Reply(#[from] DecodeError),
    /// The receiver could not use the message, or could not send its reply.
    #[error("the receiver: {0}")]
    Receiver(String),
    /// The reference was deserialized outside a runtime and belongs to none.
    #[error(
        "the reference to {0} belongs to no runtime: it was deserialized outside of a message; bind it with Handle::bind"
    )]
    Unbound(ActorId),
    /// The message or actor type is not registered here.
    #[error(
        "{name} is not registered in this process: put #[remote] on its impl, or register it on the RuntimeBuilder; a crate \
         that only registers and is never named is left out by the linker (add `use that_crate as _;`)"
    )]
    NotRegistered {
        /// The name that was looked up.
        name: String,
    },
}

impl<M, E> AskError<M, E> {
    /// The message, where it was certainly not handled.
    pub fn into_message(self) -> Option<M> {
        match self {
            Self::ActorDied { message, .. } | Self::Timeout { message, .. } => message,
            Self::NodeLost { message, maybe_handled, .. } => message.filter(|_| !maybe_handled),
            Self::MailboxFull { message, .. } => Some(message),
            Self::Handler(_) | Self::Undeliverable(_) => None,
        }
    }

    /// Whether the same `ask` may succeed later, and was certainly not handled now.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::MailboxFull { .. } | Self::Timeout { message: Some(_), .. })
    }

    /// The same error without the message, so that it can be kept or sent on.
    pub fn without_message(self) -> AskError<(), E> {
        match self {
            Self::Handler(error) => AskError::Handler(error),
            Self::ActorDied { actor, death, message } => {
                AskError::ActorDied { actor, death, message: message.map(drop) }
            }
            Self::NodeLost { actor, node, host, cause, maybe_handled, message } => {
                AskError::NodeLost { actor, node, host, cause, maybe_handled, message: message.map(drop) }
            }
            Self::Timeout { actor, within, message } => {
                AskError::Timeout { actor, within, message: message.map(drop) }
            }
            Self::MailboxFull { actor, waiting, .. } => AskError::MailboxFull { actor, waiting, message: () },
            Self::Undeliverable(error) => AskError::Undeliverable(error),
        }
    }
}

impl<M> TellError<M> {
    /// The message. Check [`NodeLost`](Self::NodeLost) and [`Timeout`](Self::Timeout) before sending it again.
    pub fn into_message(self) -> Option<M> {
        match self {
            Self::ActorDied { message, .. }
            | Self::NodeLost { message, .. }
            | Self::Timeout { message, .. }
            | Self::MailboxFull { message, .. } => Some(message),
            Self::Undeliverable(_) => None,
        }
    }

    /// Whether the same `tell` may succeed later, and did not succeed now.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::MailboxFull { .. })
    }
}

/// Failed to start an actor. Nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No host of that name.
    #[error("spawn {actor}: no host is named {host:?}; there are {known}")]
    NoSuchHost {
        /// The actor type.
        actor: &'static str,
        /// The host that was asked for.
        host: String,
        /// The hosts there are.
        known: String,
    },
    /// The host, or its node, is gone.
    #[error("spawn {actor}: host {host} was lost: {cause}")]
    HostLost {
        /// The actor type.
        actor: &'static str,
        /// The host.
        host: String,
        /// Why.
        cause: LossCause,
    },
    /// `build` returned an error or panicked, or `on_start` did.
    #[error("spawn {actor} on {host}: {reason}")]
    Start {
        /// The actor type.
        actor: &'static str,
        /// The host.
        host: String,
        /// The error's or panic's text.
        reason: String,
    },
    /// It had not started by the deadline.
    #[error("spawn {actor} on {host}: not started within {within:?}")]
    Timeout {
        /// The actor type.
        actor: &'static str,
        /// The host.
        host: String,
        /// The time that was given.
        within: Duration,
    },
    /// The arguments cannot travel, or the type is not registered.
    #[error("spawn {actor}: {cause}")]
    Undeliverable {
        /// The actor type.
        actor: &'static str,
        /// Why.
        cause: Undeliverable,
    },
    /// The runtime, or the receiving node, is shutting down.
    #[error("spawn {actor}: the runtime is shutting down")]
    ShuttingDown {
        /// The actor type.
        actor: &'static str,
    },
}

impl SpawnError {
    /// Whether the same spawn may succeed on another host.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::HostLost { .. } | Self::Timeout { .. })
    }
}

/// Failed to end an actor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndError {
    /// It had not ended by the deadline.
    #[error("end {actor}: still running after {within:?}")]
    Timeout {
        /// The actor.
        actor: ActorId,
        /// The time that was given.
        within: Duration,
    },
    /// The reference belongs to no runtime.
    #[error("end {0}: the reference belongs to no runtime")]
    Unbound(ActorId),
}

/// " (host x)", where the host is known.
struct OnHost<'a>(&'a Option<String>);

impl fmt::Display for OnHost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(host) => write!(f, " (host {host})"),
            None => Ok(()),
        }
    }
}

// By hand: messages need no `Debug`.
impl<M, E: fmt::Debug> fmt::Debug for AskError<M, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AskError({self})")
    }
}

impl<M> fmt::Debug for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TellError({self})")
    }
}
