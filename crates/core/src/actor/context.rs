//! Where an actor is being built, and what its spawner attached.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{self, DecodeError, EncodeError};
use crate::id::ActorId;
use crate::runtime::Handle;

/// Where an actor is being built, and what its spawner attached. Given to [`RemoteActor::build`](crate::RemoteActor::build).
#[derive(Debug)]
pub struct SpawnContext {
    pub(crate) handle: Handle,
    pub(crate) id: ActorId,
    pub(crate) host: String,
    pub(crate) entries: BTreeMap<String, Vec<u8>>,
}

impl SpawnContext {
    /// The runtime as this node sees it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The id that the new actor will have.
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// The host on which it will live.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// A value that the spawner attached with [`SpawnOptions::context`].
    ///
    /// # Errors
    /// [`ContextEntryError`], which names what is missing or why it does not decode.
    pub fn entry<T: DeserializeOwned>(&self, name: &str) -> Result<T, ContextEntryError> {
        let Some(bytes) = self.entries.get(name) else {
            return Err(ContextEntryError::Missing { name: name.to_owned() });
        };
        self.handle
            .node()
            .decode(bytes)
            .map_err(|cause| ContextEntryError::Malformed { name: name.to_owned(), cause })
    }
}

/// Failed to read an attached value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextEntryError {
    /// The spawner attached nothing of that name.
    #[error("read {name:?} of the spawn context: the spawner attached nothing of that name")]
    Missing {
        /// The name.
        name: String,
    },
    /// The value is not of that type.
    #[error("read {name:?} of the spawn context: {cause}")]
    Malformed {
        /// The name.
        name: String,
        /// Why.
        cause: DecodeError,
    },
}

/// Where and how to spawn an actor.
#[derive(Debug, Clone, Default)]
pub struct SpawnOptions {
    pub(crate) host: Option<String>,
    pub(crate) entries: BTreeMap<String, Vec<u8>>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) mailbox_capacity: Option<u32>,
}

impl SpawnOptions {
    /// On this node, with the runtime's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// On the host of that name.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Within this time, instead of the runtime's default.
    #[must_use]
    pub fn deadline(mut self, within: Duration) -> Self {
        self.deadline = Some(within);
        self
    }

    /// With a mailbox for so many messages (at least 1), instead of the runtime's default.
    #[must_use]
    pub fn mailbox_capacity(mut self, messages: u32) -> Self {
        self.mailbox_capacity = Some(messages.max(1));
        self
    }

    /// Attaches a value that the actor's `build` finds under `name`; layers use their package's name as a prefix.
    ///
    /// # Errors
    /// The value does not serialize.
    pub fn context<T: Serialize>(mut self, name: impl Into<String>, value: &T) -> Result<Self, EncodeError> {
        self.entries.insert(name.into(), codec::encode(value)?);
        Ok(self)
    }
}
