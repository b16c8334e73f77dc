//! Which actors may be built, and which messages may arrive, from another process.
//!
//! Every row has a stable *name* and nothing else identifies it on the wire but the 64-bit FNV-1a hash of that name: no
//! type ids, no addresses, no order of linking. Rows come from `#[remote]`, which puts them into a distributed slice at
//! link time, or by hand through [`RuntimeBuilder::register_actor`](crate::RuntimeBuilder::register_actor) and
//! [`register_message`](crate::RuntimeBuilder::register_message) (generic types need it).
//!
//! Each row also has a *schema*, a short text of the shape of its types, derived from their `Deserialize`. Two builds that
//! meet compare names and schemas in the handshake, so that a field that was added on one side only is named there and
//! not discovered later as garbage.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::actor::deliver::{self, Delivery};
use crate::actor::spawn::{self, SpawnRequest};
use crate::actor::{RemoteActor, RemoteMessage};
use crate::limits;
use crate::node::Node;
use crate::wire::Failure;

mod difference;
mod schema;

pub use difference::{RegistryDifference, RegistryRow};

/// What can travel between nodes: owned, serializable data.
pub trait Wire: Serialize + DeserializeOwned + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Send + 'static> Wire for T {}

/// One remote actor type.
#[derive(Clone, Copy)]
pub struct ActorEntry {
    name: &'static str,
    schema: fn() -> String,
    spawn: fn(Node, SpawnRequest) -> BoxFuture<'static, Result<u64, Failure>>,
}

impl ActorEntry {
    /// The row of `A`.
    pub const fn of<A: RemoteActor>() -> Self {
        Self { name: A::NAME, schema: schema::of::<A::Init>, spawn: spawn::from_wire::<A> }
    }
}

/// One message of one remote actor type.
#[derive(Clone, Copy)]
pub struct MessageEntry {
    actor: &'static str,
    name: &'static str,
    schema: fn() -> String,
    deliver: Deliver,
}

/// Decodes a message and puts it into the mailbox of the actor behind the first argument.
pub(crate) type Deliver = fn(&(dyn Any + Send + Sync), &Bytes, deliver::Answer) -> Delivery;

impl MessageEntry {
    /// The row of `M` at `A`.
    pub const fn of<A: RemoteMessage<M>, M: Wire>() -> Self {
        Self {
            actor: A::NAME,
            name: A::MESSAGE,
            schema: message_schema::<A, M>,
            deliver: deliver::from_wire::<A, M>,
        }
    }
}

fn message_schema<A: RemoteMessage<M>, M: Wire>() -> String {
    use kameo::reply::Reply;
    let reply = schema::of::<<A::Reply as Reply>::Ok>();
    let error = schema::of::<<A::Reply as Reply>::Error>();
    format!("{} -> {reply} or {error}", schema::of::<M>())
}

/// Actor types registered by `#[remote]` in every crate that was linked.
#[linkme::distributed_slice]
pub static ACTORS: [ActorEntry];

/// Messages registered by `#[remote]` in every crate that was linked.
#[linkme::distributed_slice]
pub static MESSAGES: [MessageEntry];

/// Failed to build a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two rows have one name.
    #[error("register {name}: the name is taken; give one of the two `#[remote(name = \"...\")]`")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Two names have one hash.
    #[error("register {second}: its hash is that of {first}; rename one of them")]
    Collision {
        /// The name that was there.
        first: String,
        /// The name that came.
        second: String,
    },
    /// A name is empty or too long.
    #[error("register {name:?}: a name has 1 to {max} bytes", max = limits::NAME_BYTES_MAX)]
    BadName {
        /// The name, cut.
        name: String,
    },
    /// More rows than a handshake carries.
    #[error("register {rows} actors and messages: at most {max} fit", max = limits::REGISTRY_ENTRIES_MAX)]
    TooMany {
        /// How many there are.
        rows: usize,
    },
}

/// Names that are taken, by hash, with their schemas.
type Names = BTreeMap<u64, (String, fn() -> String)>;

/// The actors and messages that this build knows by name.
#[derive(Default)]
pub struct Registry {
    actors: BTreeMap<u64, ActorEntry>,
    messages: BTreeMap<u64, MessageEntry>,
    rows: Vec<RegistryRow>,
}

impl Registry {
    /// The linked rows and `extra` ones.
    pub(crate) fn build(actors: &[ActorEntry], messages: &[MessageEntry]) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        let mut names = Names::new();
        for entry in ACTORS.iter().chain(actors) {
            let name = entry.name.to_owned();
            if let Some(id) = registry.claim(&mut names, name, entry.schema)? {
                registry.actors.insert(id, *entry);
            }
        }
        for entry in MESSAGES.iter().chain(messages) {
            let name = message_name(entry.actor, entry.name);
            if let Some(id) = registry.claim(&mut names, name, entry.schema)? {
                registry.messages.insert(id, *entry);
            }
        }
        if registry.rows.len() > limits::REGISTRY_ENTRIES_MAX {
            return Err(RegistryError::TooMany { rows: registry.rows.len() });
        }
        registry.rows.sort();
        Ok(registry)
    }

    /// The id of a name, or `None` where the very same row was registered twice (by `#[remote]` and by hand).
    fn claim(
        &mut self,
        names: &mut Names,
        name: String,
        schema: fn() -> String,
    ) -> Result<Option<u64>, RegistryError> {
        if name.len() > limits::NAME_BYTES_MAX
            || name.split(['/', ':']).any(|part| part.trim() != part)
            || name.is_empty()
        {
            return Err(RegistryError::BadName { name: name.chars().take(64).collect() });
        }
        let id = hash(&name);
        match names.get(&id) {
            Some((taken, its)) if *taken == name && its() == schema() => return Ok(None),
            Some((taken, _)) if *taken == name => return Err(RegistryError::Duplicate { name }),
            Some((taken, _)) => return Err(RegistryError::Collision { first: taken.clone(), second: name }),
            None => {}
        }
        self.rows.push(RegistryRow { name: name.clone(), schema: schema() });
        names.insert(id, (name, schema));
        Ok(Some(id))
    }

    /// Every row, by name.
    pub fn rows(&self) -> &[RegistryRow] {
        &self.rows
    }

    pub(crate) fn has_actor<A: RemoteActor>(&self) -> bool {
        self.actors.contains_key(&hash(A::NAME))
    }

    pub(crate) fn deliver(&self, message: u64) -> Option<Deliver> {
        self.messages.get(&message).map(|entry| entry.deliver)
    }

    pub(crate) fn spawn(
        &self,
        actor: u64,
        node: Node,
        request: SpawnRequest,
    ) -> Option<BoxFuture<'static, Result<u64, Failure>>> {
        self.actors.get(&actor).map(|entry| (entry.spawn)(node, request))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("rows", &self.rows).finish()
    }
}

/// The wire id of an actor type.
pub(crate) const fn actor_id<A: RemoteActor>() -> u64 {
    hash(A::NAME)
}

/// The wire id of a message: the hash of `actor/message`.
pub(crate) const fn message_id<A: RemoteMessage<M>, M: Wire>() -> u64 {
    let prefix = fold(FNV_OFFSET, A::NAME.as_bytes());
    fold(fold(prefix, b"/"), A::MESSAGE.as_bytes())
}

fn message_name(actor: &str, message: &str) -> String {
    format!("{actor}/{message}")
}

// FNV-1a, 64 bits: offset basis and prime from draft-eastlake-fnv.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

const fn hash(name: &str) -> u64 {
    fold(FNV_OFFSET, name.as_bytes())
}

const fn fold(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(FNV_PRIME);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests;
