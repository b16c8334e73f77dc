//! The node's side of the network: listening, dialing, and attaching connections.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

use crate::handshake::exchange::{self, HandshakeError};
use crate::handshake::{Acceptor, Answer, Hello, Refusal, judge_pair};
use crate::host::{HostInfo, HostSpec, HostState, LossCause};
use crate::id::NodeId;
use crate::limits;
use crate::node::Node;
use crate::peer::{Dialed, Link, Peer, pump};
use crate::transport::identity;
use crate::transport::quic::{Endpoint, QuicConnection};
use crate::transport::{Connection, Stream};

/// What the network told the starter of child processes.
#[derive(Debug)]
pub(crate) enum NetEvent {
    /// A node has shaken hands and its hosts have joined.
    Joined(NodeId),
    /// A node was refused.
    Refused(NodeId, Refusal),
    /// The connection to a node broke.
    Broken(NodeId, LossCause),
}

/// The network of one node.
pub(crate) struct Net {
    endpoint: Endpoint,
    address: SocketAddr,
    /// The hosts that this node acts for, as it says when it dials.
    hosts: Vec<HostSpec>,
    events: Mutex<Option<mpsc::UnboundedSender<NetEvent>>>,
}

impl Net {
    pub(crate) fn new(endpoint: Endpoint, hosts: Vec<HostSpec>) -> io::Result<Self> {
        let address = endpoint.address()?;
        Ok(Self { endpoint, address, hosts, events: Mutex::new(None) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where joins, refusals and broken connections are reported from now on.
    pub(crate) fn events(&self) -> mpsc::UnboundedReceiver<NetEvent> {
        let (sender, events) = mpsc::unbounded_channel();
        *self.events.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        events
    }

    fn report(&self, event: NetEvent) {
        if let Some(events) = &*self.events.lock().unwrap_or_else(PoisonError::into_inner) {
            // Whoever listened may have ended.
            let _ = events.send(event);
        }
    }

    /// The connection to a node broke; its exit may explain it.
    pub(crate) fn suspect(&self, node: NodeId, cause: LossCause) {
        self.report(NetEvent::Broken(node, cause));
    }

    pub(crate) fn close(&self, reason: &str) {
        self.endpoint.close(reason);
    }

    pub(crate) async fn wait_idle(&self) {
        // Bounded: a peer that does not acknowledge the close is gone.
        let _ = timeout(std::time::Duration::from_millis(200), self.endpoint.wait_idle()).await;
    }
}

/// Accepts connections until the endpoint closes.
pub(crate) async fn accept(node: Node) {
    let handshakes = Arc::new(Semaphore::new(limits::HANDSHAKES_MAX));
    let Some(net) = node.net() else { return };
    while let Some(incoming) = net.endpoint.accept().await {
        let Ok(permit) = Arc::clone(&handshakes).try_acquire_owned() else {
            incoming.refuse();
            continue;
        };
        let accepting = node.clone();
        node.task(async move {
            let from = incoming.remote_address();
            let welcomed = timeout(limits::CONNECT_DEADLINE, welcome(&accepting, incoming)).await;
            drop(permit);
            match welcomed {
                Ok(Ok(attached)) => attached.run(accepting).await,
                Ok(Err(error)) => tracing::warn!(%from, %error, "refused a connection"),
                Err(_) => tracing::warn!(%from, "a connection did not shake hands in time"),
            }
        });
    }
}

/// A connection that has become the one of its pair, with its reader still to be run.
struct Attached {
    peer: Arc<Peer>,
    link: Arc<Link>,
    reader: Box<dyn tokio::io::AsyncRead + Send + Unpin>,
}

impl Attached {
    /// Reads until the connection ends, and tells the node.
    async fn run(self, node: Node) {
        let id = self.peer.id();
        let cause = pump::read(node.clone(), self.peer, Arc::clone(&self.link), self.reader).await;
        self.link.end(&cause);
        node.link_lost(id, &cause);
    }
}

fn attach(node: &Node, peer: Arc<Peer>, connection: Box<dyn Connection>, stream: Stream) -> Option<Attached> {
    let (link, frames) = Link::new(connection);
    if !peer.attach(&link) {
        link.end(&LossCause::Disconnected("the pair is connected already".into()));
        return None;
    }
    node.task(async move {
        // A failed write shows as a broken connection to the reader, which says why.
        let _ = pump::write(frames, stream.writer).await;
    });
    Some(Attached { peer, link, reader: stream.reader })
}

async fn welcome(node: &Node, incoming: quinn::Incoming) -> Result<Attached, HandshakeError> {
    let broken = |cause: LossCause| HandshakeError::Io(io::Error::other(cause.to_string()));
    let connection = QuicConnection::accept(incoming).await.map_err(broken)?;
    let Stream { mut reader, mut writer } = connection.accept().await?;
    let hello = match exchange::hear(&mut reader).await {
        Ok(hello) => hello,
        Err(HandshakeError::RefusedHere(refusal)) => {
            exchange::answer(&mut writer, &Answer::Refused(refusal.clone())).await?;
            connection.closed().await;
            return Err(HandshakeError::RefusedHere(refusal));
        }
        Err(error) => return Err(error),
    };
    let certified =
        connection.peer_certificate().is_some_and(|certificate| identity::is_for(&certificate, hello.node));
    let acceptor = Acceptor {
        runtime: node.runtime(),
        node: node.id(),
        registry: node.registry().rows(),
        shutting_down: node.is_closed(),
    };
    let peer = node.peer(hello.node);
    let judged =
        acceptor.judge(&hello, certified).and_then(|()| judge_pair(node.id(), hello.node, peer.pair()));
    if let Err(refusal) = judged {
        if certified && let Some(net) = node.net() {
            net.report(NetEvent::Refused(hello.node, refusal.clone()));
        }
        exchange::answer(&mut writer, &Answer::Refused(refusal.clone())).await?;
        // The dialer closes once it has read the answer; closing here could overtake it.
        connection.closed().await;
        return Err(HandshakeError::RefusedHere(refusal));
    }
    exchange::answer(&mut writer, &Answer::Welcome).await?;
    let Some(attached) = attach(node, peer, Box::new(connection), Stream { reader, writer }) else {
        return Err(HandshakeError::RefusedHere(Refusal::Duplicate));
    };
    if node.is_driver() {
        joined(node, hello, &attached.link).await;
    }
    Ok(attached)
}

/// A node has joined the driver: it learns of everybody, and everybody of it.
async fn joined(node: &Node, hello: Hello, link: &Arc<Link>) {
    let id = hello.node;
    let info = |spec| HostInfo { spec, node: id, pid: hello.pid, state: HostState::Alive };
    let hosts = hello.hosts.into_iter().map(info).collect();
    node.merge_hosts(hosts, vec![(id, hello.listens_on)]);
    match crate::wire::bare(&node.whole_story()) {
        Ok(story) => link.send(story).await,
        Err(error) => tracing::error!(%error, "the list of hosts could not be written"),
    }
    if let Some(net) = node.net() {
        net.report(NetEvent::Joined(id));
    }
}

/// Dials a peer, shakes hands and attaches the connection.
pub(crate) async fn dial(node: &Node, peer: &Arc<Peer>) -> Dialed {
    let deadline = Instant::now() + limits::CONNECT_DEADLINE;
    let late = || {
        Dialed::Failed(LossCause::Unreachable(format!("no handshake within {:?}", limits::CONNECT_DEADLINE)))
    };
    match timeout_at(deadline, try_dial(node, peer)).await {
        Ok(Ok(Some(attached))) => {
            let reading = node.clone();
            node.task(async move { attached.run(reading).await });
            Dialed::Settled
        }
        // The other side's dial, or an earlier connection, is the one that stays.
        Ok(Ok(None)) => Dialed::Settled,
        Ok(Err(DialError::Handshake(HandshakeError::RefusedByPeer(Refusal::Duplicate)))) => Dialed::Settled,
        Ok(Err(DialError::Lost(cause))) => Dialed::Failed(cause),
        Ok(Err(DialError::Handshake(error))) => Dialed::Failed(LossCause::Unreachable(error.to_string())),
        Err(_) => late(),
    }
}

/// Why a dial failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    #[error(transparent)]
    Lost(#[from] LossCause),
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
}

async fn try_dial(node: &Node, peer: &Arc<Peer>) -> Result<Option<Attached>, DialError> {
    let Some(net) = node.net() else { return Err(LossCause::Unknown.into()) };
    let Some(address) = node.address_of(peer.id()) else { return Err(LossCause::Unknown.into()) };
    let address =
        address.parse().map_err(|_| LossCause::Unreachable(format!("{address:?} is no address")))?;
    let connection = net.endpoint.dial(address, peer.id()).await?;
    let Stream { mut reader, mut writer } = connection.open().await.map_err(HandshakeError::Io)?;
    let hello = Hello {
        runtime: node.runtime(),
        node: node.id(),
        to: peer.id(),
        listens_on: net.address.to_string(),
        pid: std::process::id(),
        hosts: net.hosts.clone(),
        registry: node.registry().rows().to_vec(),
    };
    if let Err(error) = exchange::dial(&mut reader, &mut writer, &hello).await {
        connection.close("the handshake failed");
        return Err(error.into());
    }
    Ok(attach(node, Arc::clone(peer), Box::new(connection), Stream { reader, writer }))
}
