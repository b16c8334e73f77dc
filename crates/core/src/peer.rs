//! One other node, and the connection to it.
//!
//! A [`Peer`] exists as soon as something refers to its node; its connection is made by the first call that needs it, or
//! by the other side. States:
//!
//! ```text
//! Idle --call--> Dialing --handshake--> Up --loss--> Lost
//!   ^              | failed               \
//!   +--------------+                       (also from Idle and Dialing, when the node is declared lost)
//! ```
//!
//! Invariants:
//! - `PE-1` A peer has at most one connection in its life; `Lost` is final.
//! - `PE-2` When a peer is lost, every call under way on it ends, and every later one fails at once (`NL-1`).
//! - `PE-3` Nobody waits for `Dialing` beyond the connect deadline.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::{Instant, timeout_at};

use crate::codec::EncodeError;
use crate::handshake::Pair;
use crate::host::LossCause;
use crate::id::NodeId;
use crate::limits;
use crate::node::Node;
use crate::transport::Connection;
use crate::wire::{self, Failure, FrameEncodeError, Header};

mod calls;
pub(crate) mod pump;

use calls::{CallKind, Calls, Outcome};

/// Calls that may be under way from one side of a connection; the next one waits.
const CALLS_MAX: usize = 16 << 10;

/// Why a call gave no value.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The other node answered with a failure.
    Failed(Failure),
    /// The node is gone, or cannot be reached.
    Lost { cause: LossCause, sent: bool },
    /// No answer by the deadline.
    Deadline { sent: bool },
    /// The message does not fit a frame.
    Frame(FrameEncodeError),
}

/// A live connection: frames out, answers in.
pub(crate) struct Link {
    connection: Box<dyn Connection>,
    outbox: mpsc::Sender<Vec<u8>>,
    calls: Mutex<Calls>,
    permits: Semaphore,
    ended: watch::Sender<bool>,
}

impl Link {
    pub(crate) fn new(connection: Box<dyn Connection>) -> (Arc<Self>, mpsc::Receiver<Vec<u8>>) {
        let (outbox, frames) = mpsc::channel(limits::OUTBOX_FRAMES_MAX);
        let link = Self {
            connection,
            outbox,
            calls: Mutex::default(),
            permits: Semaphore::new(CALLS_MAX),
            ended: watch::Sender::new(false),
        };
        (Arc::new(link), frames)
    }

    /// Queues a frame; a frame for a link that ended is dropped, since nobody is there to read it.
    pub(crate) async fn send(&self, frame: Vec<u8>) {
        let _ = self.outbox.send(frame).await;
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer arrived. Gives the actor to kill, where it is the late answer to a spawn that nobody waits for.
    pub(crate) fn finish(&self, call: u64, outcome: Outcome) -> Option<u64> {
        self.calls().finish(call, outcome)
    }

    /// Ends every call under way (`PE-2`).
    pub(crate) fn end(&self, cause: &LossCause) {
        self.calls().close(cause);
        self.permits.close();
        self.ended.send_replace(true);
        self.connection.close(&cause.to_string());
    }

    /// Waits until the link has ended.
    pub(crate) async fn ended(&self) {
        // The sender lives in `self`.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// Waits for the connection to break by itself.
    pub(crate) async fn broken(&self) -> LossCause {
        self.connection.closed().await
    }

    async fn call(
        &self,
        deadline: Instant,
        header: impl FnOnce(u64) -> Header,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
    ) -> Result<Bytes, CallError> {
        let lost = |sent| CallError::Lost { cause: self.calls().cause(), sent };
        let _permit = match timeout_at(deadline, self.permits.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return Err(lost(false)),
            Err(_) => return Err(CallError::Deadline { sent: false }),
        };
        let Some((call, answer)) = self.calls().begin() else { return Err(lost(false)) };
        let mut guard = CallGuard { link: self, call, kind: CallKind::Plain, armed: true };
        let header = header(call);
        let spawn = matches!(header, Header::Spawn { .. });
        let frame = wire::frame(&header, payload).map_err(CallError::Frame)?;
        match timeout_at(deadline, self.outbox.send(frame)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(lost(false)),
            Err(_) => return Err(CallError::Deadline { sent: false }),
        }
        if spawn {
            guard.kind = CallKind::Spawn;
        }
        match timeout_at(deadline, answer).await {
            Ok(Ok(Outcome::Done(value))) => {
                guard.armed = false;
                Ok(value)
            }
            Ok(Ok(Outcome::Failed(failure))) => {
                guard.armed = false;
                Err(CallError::Failed(failure))
            }
            Ok(Err(_)) => {
                guard.armed = false;
                Err(lost(true))
            }
            Err(_) => Err(CallError::Deadline { sent: true }),
        }
    }
}

/// Forgets a call whose caller has gone.
struct CallGuard<'a> {
    link: &'a Link,
    call: u64,
    kind: CallKind,
    armed: bool,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.link.calls().abandon(self.call, self.kind);
        }
    }
}

#[derive(Debug)]
enum State {
    Idle,
    Dialing,
    Up,
    Lost(LossCause),
}

/// One other node, connected or not.
pub(crate) struct Peer {
    id: NodeId,
    state: Mutex<State>,
    /// Set once, on `Up`.
    link: OnceLock<Arc<Link>>,
    changed: Notify,
}

impl Peer {
    pub(crate) fn new(id: NodeId) -> Self {
        Self { id, state: Mutex::new(State::Idle), link: OnceLock::new(), changed: Notify::new() }
    }

    pub(crate) fn id(&self) -> NodeId {
        self.id
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How an incoming connection finds the pair.
    pub(crate) fn pair(&self) -> Pair {
        match *self.state() {
            State::Idle => Pair::Apart,
            State::Dialing => Pair::Dialing,
            State::Up => Pair::Connected,
            State::Lost(_) => Pair::Lost,
        }
    }

    /// The connection is made (`PE-1`); `false` when there is one already or the node was declared lost.
    pub(crate) fn attach(&self, link: &Arc<Link>) -> bool {
        let mut state = self.state();
        if !matches!(*state, State::Idle | State::Dialing) || self.link.set(Arc::clone(link)).is_err() {
            return false;
        }
        *state = State::Up;
        drop(state);
        self.changed.notify_waiters();
        true
    }

    /// Dialing failed; the next call may try again.
    fn dial_failed(&self) {
        let mut state = self.state();
        if matches!(*state, State::Dialing) {
            *state = State::Idle;
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The node is gone for good. Gives whether that is news.
    pub(crate) fn lose(&self, cause: &LossCause) -> bool {
        let mut state = self.state();
        if matches!(*state, State::Lost(_)) {
            return false;
        }
        *state = State::Lost(cause.clone());
        drop(state);
        if let Some(link) = self.link.get() {
            link.end(cause);
        }
        self.changed.notify_waiters();
        true
    }

    /// The connection, if there is one now.
    pub(crate) fn up(&self) -> Option<&Arc<Link>> {
        self.link.get().filter(|_| matches!(*self.state(), State::Up))
    }

    /// The connection, made if need be.
    pub(crate) async fn link(
        self: &Arc<Self>,
        node: &Node,
        deadline: Instant,
    ) -> Result<&Arc<Link>, CallError> {
        if let Some(link) = self.link.get() {
            return Ok(link);
        }
        let deadline = deadline.min(Instant::now() + limits::CONNECT_DEADLINE);
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the state is read, so that no change is missed.
            changed.as_mut().enable();
            let dial = {
                let mut state = self.state();
                match &*state {
                    State::Up => false,
                    State::Lost(cause) => return Err(CallError::Lost { cause: cause.clone(), sent: false }),
                    State::Dialing => false,
                    State::Idle => {
                        *state = State::Dialing;
                        true
                    }
                }
            };
            if let Some(link) = self.link.get() {
                return Ok(link);
            }
            if dial {
                // In a task of its own, so that a caller who goes away does not leave others waiting.
                let failed = node.dial(Arc::clone(self));
                match timeout_at(deadline, failed).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(cause)) => return Err(CallError::Lost { cause, sent: false }),
                    Err(_) => return Err(CallError::Deadline { sent: false }),
                }
            }
            if timeout_at(deadline, changed).await.is_err() {
                return Err(CallError::Deadline { sent: false });
            }
        }
    }

    /// Sends a frame that asks for an answer, and waits for it.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the call; an actor that it was to spawn is killed when its answer comes.
    pub(crate) async fn call(
        self: &Arc<Self>,
        node: &Node,
        deadline: Instant,
        header: impl FnOnce(u64) -> Header,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
    ) -> Result<Bytes, CallError> {
        let link = self.link(node, deadline).await?;
        link.call(deadline, header, payload).await
    }
}

/// What became of a dial, for the peer.
pub(crate) enum Dialed {
    /// Connected, or the other side's dial will connect the two.
    Settled,
    /// Not this time.
    Failed(LossCause),
}

impl Peer {
    /// Ends a dial: callers go on, or fail with the cause.
    pub(crate) fn dialed(&self, dialed: &Dialed) {
        if let Dialed::Failed(_) = dialed {
            self.dial_failed();
        }
    }
}

#[cfg(test)]
mod tests;
