//! Actors that may be anywhere: nodes, messages and transport.
//!
//! An application owns a [`Runtime`]. A runtime has *hosts* (machines, real or virtual) and *nodes* (processes); actors
//! live on a node and are spoken to through an [`ActorRef`], which is the same type whether the actor is in this process
//! or in another. The actors themselves, their mailboxes and their supervision are kameo's; this crate adds location.
//!
//! What this crate must never know: slices, chips, ranks, datasets, training, serving. Hosts carry *labels* and
//! *resources*, and layers above put their meaning there.
//!
//! # Ways to run
//! | mode | a host is | chosen by |
//! |---|---|---|
//! | embedded | a name in this process; no network, no files | [`RuntimeBuilder::embedded`], the default |
//! | processes | a child process of the same binary, over QUIC with mutual TLS | [`RuntimeBuilder::processes`] |
//!
//! # Semantics
//! The labels are cited in code and in tests.
//!
//! **Ordering**
//! - `OR-1` Messages from one sender to one actor are handled in the order in which their sends were *started and
//!   completed one after the other*; two sends that are awaited concurrently have no order between them.
//! - `OR-2` Nothing is promised between different senders, or between different receivers of one sender.
//! - `OR-3` An actor handles one message at a time.
//!
//! **Delivery**
//! - `DE-1` At most once. Nothing is retried behind the caller's back.
//! - `DE-2` An `ask` always ends, with the reply or with one [`AskError`]: the handler's own error, the actor's death with
//!   its cause, the loss of its node with its cause, a full mailbox, or the deadline.
//! - `DE-3` `tell` returns when the message is in the receiver's mailbox, also on another node. What happens after that
//!   is not reported to the teller.
//! - `DE-4` A send that failed gives the message back where the receiver certainly did not handle it, and says so where it
//!   may have.
//! - `DE-5` Every `ask` and `tell` has a deadline: the runtime's default ([`RuntimeBuilder::ask_deadline`]) or the one given with the call.
//!   Reaching it ends the wait, not the handler.
//!
//! **Mailboxes**
//! - `MB-1` Mailboxes are bounded ([`RuntimeBuilder::mailbox_capacity`]). A local sender waits for room until its deadline.
//! - `MB-2` A remote sender waits too: what arrives for a full mailbox waits in a bounded backlog at the receiver's node, in
//!   order and without stopping the messages of other actors on the same connection. Past that bound the answer is
//!   `MailboxFull` with the message given back.
//!
//! **Life and death**
//! - `LD-1` An actor lives until it stops itself, is stopped or killed through a reference, panics, or its runtime ends.
//!   Dropping references does not end it: whoever holds one elsewhere may still speak to it.
//! - `LD-2` *Stop* lets the messages already in the mailbox be handled first. *Kill* ends the actor at its next await point;
//!   what was in the mailbox is not handled, and those who wait for replies get `ActorDied`.
//! - `LD-3` A panic in a handler ends that actor and nothing else; waiters and later senders get `ActorDied` with the panic's
//!   text. An error returned to a `tell` counts as a panic (nobody else would see it).
//! - `LD-4` How an actor died is remembered by its node for the last [`limits::DEATHS_REMEMBERED`] deaths; older ones
//!   are answered with [`Death::Unknown`].
//!
//! **Nodes and hosts**
//! - `NL-1` When a process is lost, every `ask` and `tell` under way to its actors ends with `NodeLost` and the cause, and every
//!   later one fails at once. The loss of a child process is known through its exit, not through a time-out.
//! - `NL-2` A node that was declared lost never comes back under the same [`NodeId`].
//! - `NL-3` Nodes speak to each other only after a handshake in which each has shown a certificate of this runtime for
//!   exactly the node it says it is, the same protocol version, and the same registry of remote actors and messages.
//! - `NL-4` When the driver ends, however it ends, its child processes end too.
//!
//! # Registration
//! A remote actor type implements [`RemoteActor`]; `#[remote]` on that `impl`, and on each `impl Message<M>`, registers it
//! under a stable name. A crate that only registers and is never named by the binary is left out by the linker, its
//! registrations with it: name it (`use that_crate as _;`) or register by hand with [`RuntimeBuilder::register_actor`].

// The derive and attribute macros name this crate as the user's code sees it.
extern crate self as mobula_core;

pub mod actor;
pub mod codec;
pub mod extensions;
pub mod host;
pub mod id;
pub mod limits;
pub mod registry;
pub mod runtime;
pub mod wire;

mod handshake;
mod membership;
mod node;
mod peer;
mod transport;
mod worker;

pub use actor::{ActorRef, AskError, Death, RemoteActor, RemoteMessage, SpawnContext, SpawnError, TellError};
pub use extensions::Extensions;
pub use host::{HostEvent, HostInfo, HostSpec, HostState, LossCause};
pub use id::{ActorId, NodeId};
pub use kameo;
pub use registry::{Registry, Wire};
pub use runtime::{Handle, Runtime, RuntimeBuilder, ShutdownError, StartError};

#[doc(hidden)]
pub mod __private {
    //! What macro expansions name. Not for people.
    pub use kameo;
    pub use linkme;
    pub use tokio;

    pub use crate::registry::{ACTORS, ActorEntry, MESSAGES, MessageEntry};
    pub use crate::worker::{block_on, enter};
}
