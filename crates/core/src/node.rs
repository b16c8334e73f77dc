//! This process as a member of its runtime: what it has, whom it knows, and what it does when that changes.
//!
//! Tasks of a node, each ended by [`Node::close`]: one that accepts connections; two for each connection (read, write).
//! Short ones answer single calls. One collects dead actors, and ends with the last of them once the node has closed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::actor::Death;
use crate::actor::table::ActorTable;
use crate::codec::{self, DecodeError};
use crate::extensions::Extensions;
use crate::handshake::RuntimeId;
use crate::host::{HostEvent, HostInfo, HostState, LossCause};
use crate::id::NodeId;
use crate::membership::Membership;
use crate::peer::{Dialed, Peer};
use crate::registry::Registry;
use crate::runtime::options::NodeOptions;
use crate::wire::{self, Failure, Header};

pub(crate) mod net;

use net::Net;

/// The host name of the process that the application started, where it is no declared host.
pub(crate) const DRIVER_HOST: &str = "driver";

/// A handle to this process's node. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Node(Arc<Inner>);

struct Inner {
    id: NodeId,
    runtime: RuntimeId,
    /// The driver's id; its own on the driver.
    driver: NodeId,
    options: NodeOptions,
    registry: Registry,
    actors: ActorTable,
    extensions: Extensions,
    members: Mutex<Members>,
    peers: RwLock<BTreeMap<NodeId, Arc<Peer>>>,
    net: OnceLock<Net>,
    reaper: mpsc::UnboundedSender<(u64, BoxFuture<'static, Death>)>,
    tasks: Mutex<Tasks>,
}

#[derive(Default)]
struct Members {
    membership: Membership,
    /// At most two events a host are ever sent, so these are bounded by the number of hosts.
    subscribers: Vec<mpsc::UnboundedSender<HostEvent>>,
}

#[derive(Default)]
struct Tasks {
    set: JoinSet<()>,
    closed: bool,
}

thread_local! {
    /// The node for which something is being decoded on this thread, so that references find their way.
    static DECODING: RefCell<Option<Weak<Inner>>> = const { RefCell::new(None) };
}

impl Node {
    /// A node without network. `driver` is the driver's id, or `None` on the driver.
    pub(crate) fn new(
        id: NodeId,
        runtime: RuntimeId,
        driver: Option<NodeId>,
        options: NodeOptions,
        registry: Registry,
    ) -> Self {
        let (reaper, dying) = mpsc::unbounded_channel();
        let node = Self(Arc::new(Inner {
            id,
            runtime,
            driver: driver.unwrap_or(id),
            options,
            registry,
            actors: ActorTable::default(),
            extensions: Extensions::default(),
            members: Mutex::default(),
            peers: RwLock::default(),
            net: OnceLock::new(),
            reaper,
            tasks: Mutex::default(),
        }));
        // No task of the node's: it must outlive `close`, to see the last actors end.
        tokio::spawn(collect_dead(Arc::downgrade(&node.0), dying));
        node
    }

    pub(crate) fn id(&self) -> NodeId {
        self.0.id
    }

    pub(crate) fn runtime(&self) -> RuntimeId {
        self.0.runtime
    }

    pub(crate) fn is_driver(&self) -> bool {
        self.0.driver == self.0.id
    }

    pub(crate) fn driver(&self) -> NodeId {
        self.0.driver
    }

    pub(crate) fn options(&self) -> &NodeOptions {
        &self.0.options
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.registry
    }

    pub(crate) fn actors(&self) -> &ActorTable {
        &self.0.actors
    }

    pub(crate) fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// Decodes a value that came to this node; references in it are bound to it.
    pub(crate) fn decode<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        struct Restore(Option<Weak<Inner>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                DECODING.set(self.0.take());
            }
        }
        let _restore = Restore(DECODING.replace(Some(Arc::downgrade(&self.0))));
        codec::decode(bytes)
    }

    /// Runs `f` with the node for which this thread decodes, if it does.
    pub(crate) fn with_decoding<T>(f: impl FnOnce(Option<&Self>) -> T) -> T {
        let node = DECODING.with_borrow(|node| node.as_ref().and_then(Weak::upgrade)).map(Self);
        f(node.as_ref())
    }

    /// Runs a task until it ends or the node closes. Gives `false` when the node has closed already.
    pub(crate) fn task(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.closed {
            return false;
        }
        // Those that have ended are collected here, so that the set holds only the living.
        while tasks.set.try_join_next().is_some() {}
        tasks.set.spawn(task);
        true
    }

    /// Collects an actor's death when its task ends.
    pub(crate) fn reap(&self, index: u64, ended: impl Future<Output = Death> + Send + 'static) {
        // The receiver ends with the node's tasks, when no actor is left.
        let _ = self.0.reaper.send((index, Box::pin(ended)));
    }

    /// Whether an actor may be built on a host of this node now.
    pub(crate) fn accepts_spawn(&self, host: &str) -> Result<(), Failure> {
        if self.is_closed() {
            return Err(Failure::ShuttingDown);
        }
        if host == DRIVER_HOST && self.is_driver() {
            return Ok(());
        }
        let members = self.members();
        match members.membership.host(host) {
            Some(info) if info.node == self.id() => match &info.state {
                HostState::Alive => Ok(()),
                HostState::Lost(cause) => Err(Failure::Died {
                    death: Death::HostLost { host: host.to_owned(), cause: cause.clone() },
                    unhandled: true,
                }),
            },
            _ => Err(Failure::NoSuchHost(host.to_owned())),
        }
    }

    fn members(&self) -> std::sync::MutexGuard<'_, Members> {
        self.0.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hosts(&self) -> Vec<HostInfo> {
        self.members().membership.hosts().cloned().collect()
    }

    pub(crate) fn host(&self, name: &str) -> Option<HostInfo> {
        self.members().membership.host(name).cloned()
    }

    /// The name of a host of `node`, for error texts.
    pub(crate) fn host_of(&self, node: NodeId) -> Option<String> {
        self.members().membership.host_of(node).map(|host| host.spec.name.clone())
    }

    /// Past and future changes of the set of hosts, without a gap.
    pub(crate) fn subscribe(&self) -> mpsc::UnboundedReceiver<HostEvent> {
        let (sender, events) = mpsc::unbounded_channel();
        let mut members = self.members();
        for event in members.membership.story() {
            // The receiver is right here.
            let _ = sender.send(event);
        }
        members.subscribers.push(sender);
        events
    }

    fn change(&self, change: impl FnOnce(&mut Membership) -> Vec<HostEvent>) -> Vec<HostEvent> {
        let mut members = self.members();
        let events = change(&mut members.membership);
        for event in &events {
            members.subscribers.retain(|subscriber| subscriber.send(event.clone()).is_ok());
        }
        events
    }

    /// Hosts that joined. The driver tells everybody.
    pub(crate) fn merge_hosts(&self, hosts: Vec<HostInfo>, addresses: Vec<(NodeId, String)>) {
        let news = Header::Hosts { hosts: hosts.clone(), addresses: addresses.clone() };
        self.change(|members| members.merge(hosts, addresses));
        if self.is_driver() {
            self.broadcast(&news);
        }
    }

    /// Everything this node knows of the others, for one that has just joined.
    pub(crate) fn whole_story(&self) -> Header {
        let members = self.members();
        let addresses = members.membership.addresses().map(|(node, address)| (node, address.to_owned()));
        Header::Hosts { hosts: members.membership.hosts().cloned().collect(), addresses: addresses.collect() }
    }

    /// A node is gone: its hosts are lost, calls to it end, and the driver tells everybody.
    pub(crate) fn lose_node(&self, node: NodeId, cause: &LossCause) {
        if node == self.id() {
            return;
        }
        let known = self.members().membership.lost(node).is_some();
        let first = self.peer(node).lose(cause);
        let events = self.change(|members| members.lose_node(node, cause));
        if known || !first && events.is_empty() {
            return;
        }
        tracing::info!(%node, %cause, hosts = events.len(), "node lost");
        if self.is_driver() {
            self.broadcast(&Header::NodeLost { node, cause: cause.clone() });
        }
    }

    /// A virtual host of this process is gone: its actors die.
    pub(crate) fn lose_virtual_host(&self, host: &str, cause: LossCause) {
        self.change(|members| members.lose_host(host, cause.clone()).into_iter().collect());
        self.actors().condemn_host(host, &Death::HostLost { host: host.to_owned(), cause });
    }

    /// The connection to a node broke.
    pub(crate) fn link_lost(&self, node: NodeId, cause: &LossCause) {
        if self.is_closed() {
            return;
        }
        if self.is_driver() {
            // The exit of a child process tells more than its broken connection, and comes at about the same time.
            if let Some(net) = self.0.net.get() {
                net.suspect(node, cause.clone());
            }
            self.peer(node).lose(cause);
        } else {
            self.lose_node(node, cause);
        }
    }

    /// Only the driver may say who is a member.
    pub(crate) fn check_authority(&self, peer: NodeId) -> Result<(), LossCause> {
        if peer == self.driver() {
            return Ok(());
        }
        Err(LossCause::Protocol("it spoke of membership, and is not the driver".into()))
    }

    fn broadcast(&self, header: &Header) {
        let frame = match wire::bare(header) {
            Ok(frame) => frame,
            Err(error) => return tracing::error!(%error, "news of the membership could not be written"),
        };
        let peers: Vec<_> =
            self.0.peers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for link in peers.iter().filter_map(|peer| peer.up().cloned()) {
            let frame = frame.clone();
            tokio::spawn(async move { link.send(frame).await });
        }
    }

    /// The peer of that id, known or new.
    pub(crate) fn peer(&self, id: NodeId) -> Arc<Peer> {
        if let Some(peer) = self.0.peers.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Arc::clone(peer);
        }
        let mut peers = self.0.peers.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(peers.entry(id).or_insert_with(|| Arc::new(Peer::new(id))))
    }

    /// Dials a peer in a task of its own; the result says whether waiting for the peer makes sense.
    pub(crate) fn dial(&self, peer: Arc<Peer>) -> impl Future<Output = Result<(), LossCause>> + use<> {
        let (sender, receiver) = oneshot::channel();
        let node = self.clone();
        let id = peer.id();
        let started = self.task(async move {
            let dialed = net::dial(&node, &peer).await;
            peer.dialed(&dialed);
            // The caller may have gone.
            let _ = sender.send(match dialed {
                Dialed::Settled => Ok(()),
                Dialed::Failed(cause) => Err(cause),
            });
        });
        if !started {
            self.peer(id).dialed(&Dialed::Failed(LossCause::ShuttingDown));
        }
        async { receiver.await.unwrap_or(Err(LossCause::ShuttingDown)) }
    }

    pub(crate) fn net(&self) -> Option<&Net> {
        self.0.net.get()
    }

    pub(crate) fn set_net(&self, net: Net) {
        // Called once, where the node is made.
        let _ = self.0.net.set(net);
    }

    pub(crate) fn address_of(&self, node: NodeId) -> Option<String> {
        self.members().membership.address(node).map(str::to_owned)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    /// From now on nothing new begins.
    pub(crate) fn refuse_new(&self) {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    }

    /// Ends every connection and task. Actors are ended by whoever calls this.
    pub(crate) fn close(&self, cause: &LossCause) {
        self.refuse_new();
        let peers: Vec<_> =
            self.0.peers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for peer in peers {
            peer.lose(cause);
        }
        if let Some(net) = self.net() {
            net.close(&cause.to_string());
        }
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).set.abort_all();
        self.0.members.lock().unwrap_or_else(PoisonError::into_inner).subscribers.clear();
        self.extensions().clear();
    }

    /// Waits until every task has ended, after [`close`](Self::close).
    pub(crate) async fn closed(&self) {
        let mut set = std::mem::take(&mut self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).set);
        while set.join_next().await.is_some() {}
        if let Some(net) = self.net() {
            net.wait_idle().await;
        }
    }
}

/// Waits for actors to end and records how they did, until the node has closed and the last one is gone.
async fn collect_dead(
    node: Weak<Inner>,
    mut dying: mpsc::UnboundedReceiver<(u64, BoxFuture<'static, Death>)>,
) {
    let mut ending = FuturesUnordered::new();
    loop {
        tokio::select! {
            next = dying.recv() => {
                let Some((index, death)) = next else { return };
                ending.push(async move { (index, death.await) });
            }
            Some((index, death)) = ending.next() => {
                let Some(node) = node.upgrade() else { return };
                node.actors.record_death(index, death);
                if ending.is_empty() && dying.is_empty() && Node(node).is_closed() {
                    return;
                }
            }
        }
    }
}
