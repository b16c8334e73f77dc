//! A runtime without the duty to end it.

use std::fmt;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::KillHostError;
use super::processes::ChildProcesses;
use crate::actor::{ActorRef, Death, RemoteActor, SpawnError, SpawnOptions, Undeliverable, spawn};
use crate::codec;
use crate::extensions::Extensions;
use crate::host::{HostEvent, HostInfo, HostState, LossCause};
use crate::id::{ActorId, NodeId};
use crate::node::{DRIVER_HOST, Node};
use crate::peer::CallError;
use crate::registry::{self, Registry};
use crate::wire::{Failure, FrameEncodeError, Header, SpawnHeader};

/// A runtime as one of its nodes sees it. Cheap to clone; does not keep the runtime alive.
#[derive(Clone)]
pub struct Handle {
    node: Node,
}

impl Handle {
    pub(crate) fn of(node: Node) -> Self {
        Self { node }
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// This process's node.
    pub fn node_id(&self) -> NodeId {
        self.node.id()
    }

    /// Whether this is the process that the application started.
    pub fn is_driver(&self) -> bool {
        self.node.is_driver()
    }

    /// Every host that has joined, by name, also those that were lost since.
    pub fn hosts(&self) -> Vec<HostInfo> {
        self.node.hosts()
    }

    /// The host of that name.
    pub fn host(&self, name: &str) -> Option<HostInfo> {
        self.node.host(name)
    }

    /// What happened to the set of hosts so far, and what happens from now on.
    pub fn host_events(&self) -> HostEvents {
        HostEvents { events: self.node.subscribe() }
    }

    /// Values that layers keep with this node.
    pub fn extensions(&self) -> &Extensions {
        self.node.extensions()
    }

    /// The actors and messages that this build knows.
    pub fn registry(&self) -> &Registry {
        self.node.registry()
    }

    /// How many actors live on this node.
    pub fn actor_count(&self) -> usize {
        self.node.actors().len()
    }

    /// A reference to an actor by its id, as this node reaches it. Whether it lives shows when it is used.
    pub fn bind<A: RemoteActor>(&self, id: ActorId) -> ActorRef<A> {
        ActorRef::bound(id, &self.node)
    }

    /// Starts an actor in this process.
    ///
    /// # Errors
    /// [`SpawnError`]; nothing of the actor is left then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves no actor behind.
    pub async fn spawn<A: RemoteActor>(&self, init: A::Init) -> Result<ActorRef<A>, SpawnError> {
        self.spawn_with(init, SpawnOptions::new()).await
    }

    /// Starts an actor on the host of that name.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Cancel safety
    /// As [`spawn`](Self::spawn).
    pub async fn spawn_on<A: RemoteActor>(
        &self,
        host: &str,
        init: A::Init,
    ) -> Result<ActorRef<A>, SpawnError> {
        self.spawn_with(init, SpawnOptions::new().host(host)).await
    }

    /// Starts an actor where and how `options` say.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Cancel safety
    /// As [`spawn`](Self::spawn).
    pub async fn spawn_with<A: RemoteActor>(
        &self,
        init: A::Init,
        options: SpawnOptions,
    ) -> Result<ActorRef<A>, SpawnError> {
        let actor = A::NAME;
        let within = options.deadline.unwrap_or(self.node.options().spawn_deadline);
        let (host, at) = self.target(actor, options.host)?;
        let header = SpawnHeader {
            host: host.clone(),
            context: options.entries.into_iter().collect(),
            mailbox_capacity: options.mailbox_capacity.unwrap_or(0),
            deadline_ms: u64::try_from(within.as_millis()).unwrap_or(u64::MAX).min(MILLIS_MAX),
        };
        if at == self.node.id() {
            return match spawn::local::<A>(&self.node, init, header).await {
                Ok((index, actor)) => {
                    Ok(ActorRef::local(ActorId { node: at, index }, actor, self.node.clone()))
                }
                Err(failure) => Err(failed(actor, host, within, failure)),
            };
        }
        self.spawn_remote(init, header, at, within).await
    }

    async fn spawn_remote<A: RemoteActor>(
        &self,
        init: A::Init,
        request: SpawnHeader,
        at: NodeId,
        within: Duration,
    ) -> Result<ActorRef<A>, SpawnError> {
        let (actor, host) = (A::NAME, request.host.clone());
        if !self.node.registry().has_actor::<A>() {
            let cause = Undeliverable::NotRegistered { name: actor.to_owned() };
            return Err(SpawnError::Undeliverable { actor, cause });
        }
        let header = |call| Header::Spawn { call, actor_type: registry::actor_id::<A>(), request };
        let append = |out: &mut Vec<u8>| codec::encode_into(&init, out);
        let deadline = Instant::now() + within.min(Duration::from_millis(MILLIS_MAX));
        let index = match self.node.peer(at).call(&self.node, deadline, header, append).await {
            Ok(index) => codec::decode::<u64>(&index),
            Err(CallError::Failed(failure)) => return Err(failed(actor, host, within, failure)),
            Err(CallError::Lost { cause, .. }) => return Err(SpawnError::HostLost { actor, host, cause }),
            Err(CallError::Deadline { .. }) => return Err(SpawnError::Timeout { actor, host, within }),
            Err(CallError::Frame(FrameEncodeError::Encode(error))) => {
                return Err(SpawnError::Undeliverable { actor, cause: error.into() });
            }
            Err(CallError::Frame(FrameEncodeError::TooLarge { len, max })) => {
                return Err(SpawnError::Undeliverable { actor, cause: Undeliverable::TooLarge { len, max } });
            }
        };
        match index {
            Ok(index) => Ok(self.bind(ActorId { node: at, index })),
            Err(error) => Err(SpawnError::Undeliverable { actor, cause: error.into() }),
        }
    }

    /// Where an actor is to live: the host's name and node.
    fn target(&self, actor: &'static str, host: Option<String>) -> Result<(String, NodeId), SpawnError> {
        let here = self.node.id();
        let Some(name) = host else {
            // The driver of child processes acts for no declared host.
            let own =
                self.hosts().into_iter().find(|host| host.node == here && host.state == HostState::Alive);
            return Ok((own.map_or_else(|| DRIVER_HOST.to_owned(), |host| host.spec.name), here));
        };
        if name == DRIVER_HOST {
            return Ok((name, self.node.driver()));
        }
        match self.host(&name) {
            Some(HostInfo { state: HostState::Lost(cause), .. }) => {
                Err(SpawnError::HostLost { actor, host: name, cause })
            }
            Some(info) => Ok((name, info.node)),
            None => {
                let mut known: Vec<_> = self.hosts().into_iter().map(|host| host.spec.name).collect();
                known.truncate(16);
                Err(SpawnError::NoSuchHost { actor, host: name, known: format!("{known:?}") })
            }
        }
    }

    /// Ends a host as a crash would, for tests and drills: the process of a child host gets SIGKILL, the actors of
    /// a virtual host die with [`LossCause::KilledOnPurpose`].
    ///
    /// # Errors
    /// [`KillHostError`] when there is no such host, or its process is not a child of this one.
    pub fn kill_host(&self, name: &str) -> Result<(), KillHostError> {
        let host = self.host(name).ok_or_else(|| KillHostError::NoSuchHost(name.to_owned()))?;
        if host.node == self.node.id() {
            self.node.lose_virtual_host(name, LossCause::KilledOnPurpose);
            return Ok(());
        }
        let children = self.extensions().find::<ChildProcesses>();
        match children.is_some_and(|children| children.kill(host.node)) {
            true => Ok(()),
            false => Err(KillHostError::NotMine(name.to_owned())),
        }
    }
}

/// About 30 years: longer deadlines do not fit the clock's arithmetic and mean the same.
const MILLIS_MAX: u64 = 1_000_000_000_000;

fn failed(actor: &'static str, host: String, within: Duration, failure: Failure) -> SpawnError {
    let undeliverable = |cause| SpawnError::Undeliverable { actor, cause };
    match failure {
        Failure::Start(reason) => SpawnError::Start { actor, host, reason },
        Failure::StartDeadline => SpawnError::Timeout { actor, host, within },
        Failure::ShuttingDown => SpawnError::ShuttingDown { actor },
        Failure::NoSuchHost(_) => SpawnError::NoSuchHost { actor, host, known: "others on its node".into() },
        Failure::NotRegistered => undeliverable(Undeliverable::NotRegistered { name: actor.to_owned() }),
        Failure::Decode(reason) => undeliverable(Undeliverable::Receiver(reason)),
        Failure::Died { death: Death::HostLost { host, cause }, .. } => {
            SpawnError::HostLost { actor, host, cause }
        }
        other => undeliverable(Undeliverable::Receiver(format!("{other:?}"))),
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("node", &self.node.id()).finish_non_exhaustive()
    }
}

/// Changes of the set of hosts, from the beginning and without a gap.
#[derive(Debug)]
pub struct HostEvents {
    events: mpsc::UnboundedReceiver<HostEvent>,
}

impl HostEvents {
    /// The next change; `None` when the runtime has ended.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<HostEvent> {
        self.events.recv().await
    }

    /// The next change, if it has happened already.
    pub fn try_next(&mut self) -> Option<HostEvent> {
        self.events.try_recv().ok()
    }
}
