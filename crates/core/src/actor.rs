//! Actors that may be built, and spoken to, from anywhere in the runtime.
//!
//! An actor is a kameo actor: implement `kameo::Actor` (or derive it) and `Message<M>` for each message. To be
//! reachable from other nodes it also implements [`RemoteActor`], which says how to build it from serializable values;
//! `#[remote]` on that `impl` and on each `impl Message<M>` registers them.
//!
//! ```
//! use mobula_core::{RemoteActor, SpawnContext};
//! use mobula_macros::{Actor, remote};
//! use mobula_core::actor::{Context, Message};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Actor)]
//! struct Counter(u64);
//!
//! #[remote]
//! impl RemoteActor for Counter {
//!     type Init = u64;
//!     async fn build(start: u64, _: &SpawnContext) -> Result<Self, mobula_core::actor::BoxError> {
//!         Ok(Counter(start))
//!     }
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Add(u64);
//!
//! #[remote]
//! impl Message<Add> for Counter {
//!     type Reply = u64;
//!     async fn handle(&mut self, Add(n): Add, _: &mut Context<Self, u64>) -> u64 {
//!         self.0 += n;
//!         self.0
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = mobula_core::Runtime::builder().start().await?;
//! let counter = runtime.spawn::<Counter>(40).await?;
//! assert_eq!(counter.ask(Add(2)).await?, 42);
//! runtime.shutdown().await?;
//! # Ok(()) }
//! ```

use std::fmt;
use std::future::Future;

use kameo::error::{ActorStopReason, PanicError};
use kameo::reply::Reply;
use serde::{Deserialize, Serialize};

use crate::host::LossCause;
use crate::registry::Wire;

mod context;
pub(crate) mod deliver;
mod error;
mod reference;
pub(crate) mod spawn;
pub(crate) mod table;

pub use kameo::message::{Context, Message};

pub use context::{ContextEntryError, SpawnContext, SpawnOptions};
pub use error::{AskError, EndError, SpawnError, TellError, Undeliverable};
pub use reference::ActorRef;

/// Any error, as `build` may return it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// An actor type that any node can build.
///
/// Usually implemented under `#[remote]`, which supplies [`NAME`](Self::NAME) (`package::Type`, or the one given as
/// `#[remote(name = "...")]`) and registers the type. Generic types cannot be found at link time: give each its
/// `NAME` and register it with [`RuntimeBuilder::register_actor`](crate::RuntimeBuilder::register_actor).
pub trait RemoteActor: kameo::Actor {
    /// The stable name, unique in the runtime.
    const NAME: &'static str;

    /// What an actor is built from. It may travel; what cannot travel comes from the context.
    type Init: Wire;

    /// Makes kameo's start arguments from what travelled and from where the actor is to live.
    ///
    /// Runs on the node of the new actor, before kameo's `on_start`. With `#[derive(Actor)]` the arguments are the
    /// actor itself.
    ///
    /// # Errors
    /// Any error: the spawn fails with its text.
    fn build(
        init: Self::Init,
        context: &SpawnContext,
    ) -> impl Future<Output = Result<Self::Args, BoxError>> + Send;
}

/// A message of a remote actor that any node can send.
///
/// Implemented by `#[remote]` on `impl Message<M> for A`. By hand: give the name, and register with
/// [`RuntimeBuilder::register_message`](crate::RuntimeBuilder::register_message).
pub trait RemoteMessage<M: Wire>: RemoteActor + Message<M, Reply: Reply<Ok: Wire, Error: Wire>> {
    /// The stable name, unique in the actor type.
    const MESSAGE: &'static str;
}

/// The value of a successful reply.
pub type ReplyOf<A, M> = <<A as Message<M>>::Reply as Reply>::Ok;

/// The error of a reply.
pub type ErrorOf<A, M> = <<A as Message<M>>::Reply as Reply>::Error;

/// How an actor died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Death {
    /// It stopped itself or was stopped.
    Stopped,
    /// It was killed.
    Killed,
    /// A handler or a hook panicked, or returned an error that nobody was waiting for: its text.
    Panicked(String),
    /// An actor that it was linked to died.
    Linked(String),
    /// Its virtual host was lost.
    HostLost {
        /// The host.
        host: String,
        /// Why.
        cause: LossCause,
    },
    /// It died longer ago than the node remembers, or never lived (`LD-4`).
    Unknown,
}

impl Death {
    pub(crate) fn of_reason(reason: &ActorStopReason) -> Self {
        match reason {
            ActorStopReason::Normal | ActorStopReason::SupervisorRestart => Self::Stopped,
            ActorStopReason::Killed => Self::Killed,
            ActorStopReason::Panicked(error) => Self::of_panic(error),
            ActorStopReason::LinkDied { id, reason } => {
                Self::Linked(crate::wire::cut_text(format!("actor {id}: {}", Self::of_reason(reason))))
            }
        }
    }

    pub(crate) fn of_panic(error: &PanicError) -> Self {
        Self::Panicked(crate::wire::cut_text(panic_text(error)))
    }
}

/// The text of a panic, or of the error that took its place.
fn panic_text(error: &PanicError) -> String {
    error.with_str(str::to_owned).unwrap_or_else(|| error.with(|error| format!("{error:?}")))
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("it was stopped"),
            Self::Killed => f.write_str("it was killed"),
            Self::Panicked(text) => write!(f, "it panicked: {text}"),
            Self::Linked(text) => write!(f, "an actor that it was linked to died: {text}"),
            Self::HostLost { host, cause } => write!(f, "its host {host} was lost: {cause}"),
            Self::Unknown => f.write_str("its node does not know it, or no longer"),
        }
    }
}
