//! What two nodes say to each other, as bytes.
//!
//! A *frame* is `u32` little-endian length of what follows, one byte protocol version, a [`Header`] in the codec of
//! [`codec`], and a payload that fills the rest:
//!
//! ```text
//! | length u32 | version u8 | header | payload ... |
//!              |<----------- length ------------->|
//! ```
//!
//! The payload is the user's value and is decoded by whoever knows its type; the header is enough to route it.
//! Invariants:
//! - `WI-1` No length that a peer claims takes memory before the bytes are there: buffers grow by at most
//!   [`limits::FRAME_RESERVE_BYTES`] at a time.
//! - `WI-2` A frame longer than the limit in force, of another version, or with a header that does not decode ends the connection.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::actor::Death;
use crate::codec::{self, EncodeError};
use crate::host::{HostInfo, LossCause};
use crate::id::NodeId;
use crate::limits;

mod decoder;

pub use decoder::{FrameDecoder, FrameError};

/// The version byte of this build. Raised with every change of [`Header`] or of the codec.
pub const VERSION: u8 = 1;

/// Length prefix, in bytes.
pub const PREFIX_BYTES: usize = 4;

/// What a frame is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Header {
    /// A message that wants a reply; the payload is the message.
    Ask {
        /// Chosen by the sender, unique on its side of the connection; named in the answer.
        call: u64,
        /// The receiver's index on its node.
        actor: u64,
        /// Hash of the registered name.
        message: u64,
    },
    /// A message that wants to know only that it reached the mailbox; the payload is the message.
    Tell {
        /// As in `Ask`.
        call: u64,
        /// As in `Ask`.
        actor: u64,
        /// As in `Ask`.
        message: u64,
    },
    /// Build an actor; the payload is its `Init`. Answered with `Done` and the new actor's index as payload.
    Spawn {
        /// As in `Ask`.
        call: u64,
        /// Hash of the registered name.
        actor_type: u64,
        /// How to build it.
        request: SpawnHeader,
    },
    /// End an actor. Answered with `Done` once it is gone.
    End {
        /// As in `Ask`.
        call: u64,
        /// Its index.
        actor: u64,
        /// At once, rather than after the messages in its mailbox.
        kill: bool,
    },
    /// The call succeeded; the payload is its value.
    Done {
        /// The call that is answered.
        call: u64,
    },
    /// The call failed.
    Failed {
        /// The call that is answered.
        call: u64,
        /// Why.
        failure: Failure,
    },
    /// The driver says which hosts there are (in parts, where they are many).
    Hosts {
        /// New or changed hosts.
        hosts: Vec<HostInfo>,
        /// Where to reach their nodes: text of a socket address.
        addresses: Vec<(NodeId, String)>,
    },
    /// The driver says that a node is gone.
    NodeLost {
        /// The node.
        node: NodeId,
        /// Why.
        cause: LossCause,
    },
    /// The sender shuts down in good order and will say nothing more.
    Goodbye,
}

/// The part of a spawn that does not depend on the actor's type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SpawnHeader {
    /// The host on which it is to live.
    pub host: String,
    /// Values for [`SpawnContext`](crate::SpawnContext), by name.
    pub context: Vec<(String, Vec<u8>)>,
    /// Capacity of its mailbox; 0 means the node's default.
    pub mailbox_capacity: u32,
    /// Time left for it to start, in milliseconds.
    pub deadline_ms: u64,
}

/// Why a call failed on the other node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Failure {
    /// The handler returned an error: its encoding.
    Handler(Vec<u8>),
    /// The actor is dead, or died before it replied.
    Died {
        /// How.
        death: Death,
        /// Whether the message was certainly not handled.
        unhandled: bool,
    },
    /// Mailbox and backlog are full.
    MailboxFull {
        /// Messages that already wait.
        waiting: u64,
    },
    /// The receiver's build has no such message or actor type, in spite of the handshake.
    NotRegistered,
    /// The actor is of another type than the reference says.
    WrongType,
    /// The payload did not decode.
    Decode(String),
    /// The reply did not encode, or was too large for a frame.
    Reply(String),
    /// The actor could not be built or failed to start.
    Start(String),
    /// It had not started by the deadline.
    StartDeadline,
    /// No such host on that node.
    NoSuchHost(String),
    /// The node is shutting down.
    ShuttingDown,
}

/// Writes a whole frame: `header`, then what `payload` appends.
///
/// # Errors
/// The payload did not encode, or the frame is longer than [`limits::FRAME_BYTES_MAX`].
pub(crate) fn frame(
    header: &Header,
    payload: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, FrameEncodeError> {
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(&[0; PREFIX_BYTES]);
    out.push(VERSION);
    codec::encode_into(header, &mut out)?;
    payload(&mut out)?;
    let len = out.len() - PREFIX_BYTES;
    if len > limits::FRAME_BYTES_MAX {
        return Err(FrameEncodeError::TooLarge { len, max: limits::FRAME_BYTES_MAX });
    }
    // The limit is far below 2^32.
    out[..PREFIX_BYTES].copy_from_slice(&(len as u32).to_le_bytes());
    Ok(out)
}

/// A frame without payload.
///
/// # Errors
/// As [`frame`].
pub(crate) fn bare(header: &Header) -> Result<Vec<u8>, FrameEncodeError> {
    frame(header, |_| Ok(()))
}

/// Failed to write a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameEncodeError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("send {len} bytes in one message: at most {max} fit")]
    TooLarge { len: usize, max: usize },
}

/// A frame that has arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// What it is about.
    pub header: Header,
    /// The rest, not yet decoded.
    pub payload: Bytes,
}

/// Cuts a text that goes into an error to [`limits::TEXT_BYTES_MAX`].
pub(crate) fn cut_text(mut text: String) -> String {
    if text.len() > limits::TEXT_BYTES_MAX {
        let end = (0..limits::TEXT_BYTES_MAX).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests;
