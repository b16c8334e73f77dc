//! [`ActorRef`]: how to speak to an actor, wherever it is.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use kameo::error::SendError;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::time::{Instant, timeout};

use crate::actor::error::{AskError, EndError, TellError, Undeliverable};
use crate::actor::{Death, ErrorOf, RemoteActor, RemoteMessage, ReplyOf};
use crate::codec;
use crate::id::{ActorId, NodeId};
use crate::limits;
use crate::node::Node;
use crate::peer::{CallError, Peer};
use crate::registry::{self, Wire};
use crate::wire::{Failure, FrameEncodeError, Header};

/// A reference to an actor of type `A`, in this process or another.
///
/// Cheap to clone, and serializable: a reference that travels inside a message works where it arrives. Dropping it does
/// not end the actor (`LD-1`).
pub struct ActorRef<A: RemoteActor> {
    id: ActorId,
    /// Default deadline of `ask` and `tell`.
    within: Duration,
    route: Route<A>,
}

enum Route<A: RemoteActor> {
    Local {
        actor: kameo::actor::ActorRef<A>,
        node: Node,
    },
    Remote {
        peer: Arc<Peer>,
        node: Node,
    },
    /// Its node is this one, and it was dead, or of another type, when the reference was bound.
    Gone {
        node: Node,
    },
    /// Deserialized outside a runtime.
    Unbound,
}

impl<A: RemoteActor> ActorRef<A> {
    pub(crate) fn local(id: ActorId, actor: kameo::actor::ActorRef<A>, node: Node) -> Self {
        Self { id, within: node.options().ask_deadline, route: Route::Local { actor, node } }
    }

    /// A reference to whatever lives under `id`, as `node` can reach it.
    pub(crate) fn bound(id: ActorId, node: &Node) -> Self {
        let within = node.options().ask_deadline;
        if id.node != node.id() {
            let route = Route::Remote { peer: node.peer(id.node), node: node.clone() };
            return Self { id, within, route };
        }
        match node.actors().local::<A>(id.index) {
            Some(actor) => Self::local(id, actor, node.clone()),
            None => Self { id, within, route: Route::Gone { node: node.clone() } },
        }
    }

    /// The actor's id.
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// The node on which the actor lives.
    pub fn node(&self) -> NodeId {
        self.id.node
    }

    /// kameo's own reference, where the actor lives in this process: for messages that cannot travel, links and streams.
    pub fn as_local(&self) -> Option<&kameo::actor::ActorRef<A>> {
        match &self.route {
            Route::Local { actor, .. } => Some(actor),
            Route::Remote { .. } | Route::Gone { .. } | Route::Unbound => None,
        }
    }

    /// Sends a message and waits for the reply, within the runtime's default deadline.
    ///
    /// # Errors
    /// [`AskError`]: the handler's own error, or why there is no reply. Retry where
    /// [`is_retryable`](AskError::is_retryable) says so.
    ///
    /// # Cancel safety
    /// Dropping the future drops the reply. The message may or may not be handled.
    pub async fn ask<M: Wire>(&self, message: M) -> Result<ReplyOf<A, M>, AskError<M, ErrorOf<A, M>>>
    where
        A: RemoteMessage<M>,
    {
        self.ask_within(self.within, message).await
    }

    /// [`ask`](Self::ask) with a deadline of its own.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    ///
    /// # Cancel safety
    /// As [`ask`](Self::ask).
    pub async fn ask_within<M: Wire>(
        &self,
        within: Duration,
        message: M,
    ) -> Result<ReplyOf<A, M>, AskError<M, ErrorOf<A, M>>>
    where
        A: RemoteMessage<M>,
    {
        match &self.route {
            Route::Local { actor, node } => match timeout(within, actor.ask(message).send()).await {
                Ok(Ok(reply)) => Ok(reply),
                Ok(Err(error)) => Err(self.local_ask_error(node, error).await),
                Err(_) => Err(AskError::Timeout { actor: self.id, within, message: None }),
            },
            Route::Remote { peer, node } => self.ask_remote(peer, node, within, message).await,
            Route::Gone { node } => {
                let failure = self.gone(node).await;
                Err(self.remote_ask_error::<M>(node, failure, message))
            }
            Route::Unbound => Err(Undeliverable::Unbound(self.id).into()),
        }
    }

    /// Puts a message into the actor's mailbox, within the runtime's default deadline. The reply is not waited for.
    ///
    /// # Errors
    /// [`TellError`], with the message.
    ///
    /// # Cancel safety
    /// Dropping the future may or may not keep the message from the mailbox.
    pub async fn tell<M: Wire>(&self, message: M) -> Result<(), TellError<M>>
    where
        A: RemoteMessage<M>,
    {
        self.tell_within(self.within, message).await
    }

    /// [`tell`](Self::tell) with a deadline of its own.
    ///
    /// # Errors
    /// As [`tell`](Self::tell).
    ///
    /// # Cancel safety
    /// As [`tell`](Self::tell).
    pub async fn tell_within<M: Wire>(&self, within: Duration, message: M) -> Result<(), TellError<M>>
    where
        A: RemoteMessage<M>,
    {
        match &self.route {
            Route::Local { actor, node } => match actor.tell(message).mailbox_timeout(within).send().await {
                Ok(()) => Ok(()),
                Err(error) => Err(self.local_tell_error(node, within, error).await),
            },
            Route::Remote { peer, node } => self.tell_remote(peer, node, within, message).await,
            Route::Gone { node } => Err(self.remote_tell_error(self.gone(node).await, message)),
            Route::Unbound => Err(Undeliverable::Unbound(self.id).into()),
        }
    }

    /// Lets the actor handle what is in its mailbox, then ends it; returns when it is gone.
    ///
    /// # Errors
    /// [`EndError::Timeout`] when it is still running at the runtime's default deadline: it will still stop, or can be
    /// killed. An actor that is gone already, or whose node is, is no error.
    ///
    /// # Cancel safety
    /// The actor stops all the same.
    pub async fn stop(&self) -> Result<(), EndError> {
        self.end(false).await
    }

    /// Ends the actor at its next await point; returns when it is gone.
    ///
    /// # Errors
    /// [`EndError::Timeout`] when a handler that never awaits keeps it running.
    ///
    /// # Cancel safety
    /// The actor ends all the same, once the future was polled.
    pub async fn kill(&self) -> Result<(), EndError> {
        self.end(true).await
    }

    async fn end(&self, kill: bool) -> Result<(), EndError> {
        let ended = match &self.route {
            Route::Local { node, .. } => {
                timeout(self.within, node.actors().end(self.id.index, kill)).await.is_ok()
            }
            Route::Remote { peer, node } => {
                let header = |call| Header::End { call, actor: self.id.index, kill };
                let called = peer.call(node, Instant::now() + self.within, header, |_| Ok(())).await;
                !matches!(called, Err(CallError::Deadline { .. }))
            }
            // Dead, or of another type, and then not for this reference to end.
            Route::Gone { .. } => true,
            Route::Unbound => return Err(EndError::Unbound(self.id)),
        };
        if ended { Ok(()) } else { Err(EndError::Timeout { actor: self.id, within: self.within }) }
    }

    async fn local_ask_error<M: Wire>(
        &self,
        node: &Node,
        error: SendError<M, ErrorOf<A, M>>,
    ) -> AskError<M, ErrorOf<A, M>>
    where
        A: RemoteMessage<M>,
    {
        let actor = self.id;
        match error {
            SendError::HandlerError(error) => AskError::Handler(error),
            SendError::MailboxFull(message) => AskError::MailboxFull { actor, waiting: 0, message },
            SendError::Timeout(message) => AskError::Timeout { actor, within: self.within, message },
            SendError::ActorStopped => self.died(node, None).await,
            SendError::ActorNotRunning(message) | SendError::ActorRestarting(message) => {
                self.died(node, Some(message)).await
            }
        }
    }

    async fn died<M, E>(&self, node: &Node, message: Option<M>) -> AskError<M, E> {
        match node.actors().death(self.id.index).await {
            Death::HostLost { host, cause } => AskError::NodeLost {
                actor: self.id,
                node: self.id.node,
                host: Some(host),
                cause,
                maybe_handled: message.is_none(),
                message,
            },
            death => AskError::ActorDied { actor: self.id, death, message },
        }
    }

    async fn local_tell_error<M: Wire>(
        &self,
        node: &Node,
        within: Duration,
        error: SendError<M>,
    ) -> TellError<M>
    where
        A: RemoteMessage<M>,
    {
        let actor = self.id;
        let message = match error {
            SendError::MailboxFull(message) => return TellError::MailboxFull { actor, waiting: 0, message },
            SendError::Timeout(Some(message)) => return TellError::Timeout { actor, within, message },
            SendError::ActorNotRunning(message) | SendError::ActorRestarting(message) => message,
            SendError::HandlerError(_) | SendError::ActorStopped | SendError::Timeout(None) => {
                return Undeliverable::Receiver("a tell ended as only an ask can".into()).into();
            }
        };
        match node.actors().death(self.id.index).await {
            Death::HostLost { host, cause } => {
                let node = self.id.node;
                TellError::NodeLost { actor, node, host: Some(host), cause, maybe_handled: false, message }
            }
            death => TellError::ActorDied { actor, death, message },
        }
    }

    async fn ask_remote<M: Wire>(
        &self,
        peer: &Arc<Peer>,
        node: &Node,
        within: Duration,
        message: M,
    ) -> Result<ReplyOf<A, M>, AskError<M, ErrorOf<A, M>>>
    where
        A: RemoteMessage<M>,
    {
        let header =
            |call| Header::Ask { call, actor: self.id.index, message: registry::message_id::<A, M>() };
        let append = |out: &mut Vec<u8>| codec::encode_into(&message, out);
        let deadline = Instant::now() + within;
        let actor = self.id;
        match peer.call(node, deadline, header, append).await {
            Ok(reply) => Ok(node.decode::<ReplyOf<A, M>>(&reply).map_err(Undeliverable::from)?),
            Err(CallError::Deadline { sent }) => {
                Err(AskError::Timeout { actor, within, message: (!sent).then_some(message) })
            }
            Err(CallError::Lost { cause, sent }) => Err(AskError::NodeLost {
                actor,
                node: actor.node,
                host: node.host_of(actor.node),
                cause,
                maybe_handled: sent,
                message: Some(message),
            }),
            Err(CallError::Frame(error)) => Err(undeliverable(error).into()),
            Err(CallError::Failed(failure)) => Err(self.remote_ask_error::<M>(node, failure, message)),
        }
    }

    fn remote_ask_error<M: Wire>(
        &self,
        node: &Node,
        failure: Failure,
        message: M,
    ) -> AskError<M, ErrorOf<A, M>>
    where
        A: RemoteMessage<M>,
    {
        let actor = self.id;
        match failure {
            Failure::Handler(error) => match node.decode::<ErrorOf<A, M>>(&error) {
                Ok(error) => AskError::Handler(error),
                Err(error) => Undeliverable::Reply(error).into(),
            },
            Failure::Died { death: Death::HostLost { host, cause }, unhandled } => {
                let (node, message) = (actor.node, Some(message));
                AskError::NodeLost {
                    actor,
                    node,
                    host: Some(host),
                    cause,
                    maybe_handled: !unhandled,
                    message,
                }
            }
            Failure::Died { death, unhandled } => {
                AskError::ActorDied { actor, death, message: unhandled.then_some(message) }
            }
            Failure::MailboxFull { waiting } => AskError::MailboxFull { actor, waiting, message },
            other => refusal::<A>(<A as RemoteMessage<M>>::MESSAGE, other).into(),
        }
    }

    async fn tell_remote<M: Wire>(
        &self,
        peer: &Arc<Peer>,
        node: &Node,
        within: Duration,
        message: M,
    ) -> Result<(), TellError<M>>
    where
        A: RemoteMessage<M>,
    {
        let header =
            |call| Header::Tell { call, actor: self.id.index, message: registry::message_id::<A, M>() };
        let append = |out: &mut Vec<u8>| codec::encode_into(&message, out);
        let actor = self.id;
        let failure = match peer.call(node, Instant::now() + within, header, append).await {
            Ok(_) => return Ok(()),
            Err(CallError::Deadline { .. }) => return Err(TellError::Timeout { actor, within, message }),
            Err(CallError::Lost { cause, sent }) => {
                let host = node.host_of(actor.node);
                let node = actor.node;
                return Err(TellError::NodeLost { actor, node, host, cause, maybe_handled: sent, message });
            }
            Err(CallError::Frame(error)) => return Err(undeliverable(error).into()),
            Err(CallError::Failed(failure)) => failure,
        };
        Err(self.remote_tell_error(failure, message))
    }

    fn remote_tell_error<M: Wire>(&self, failure: Failure, message: M) -> TellError<M>
    where
        A: RemoteMessage<M>,
    {
        let actor = self.id;
        match failure {
            Failure::Died { death: Death::HostLost { host, cause }, .. } => {
                let node = actor.node;
                TellError::NodeLost { actor, node, host: Some(host), cause, maybe_handled: false, message }
            }
            Failure::Died { death, .. } => TellError::ActorDied { actor, death, message },
            Failure::MailboxFull { waiting } => TellError::MailboxFull { actor, waiting, message },
            other => refusal::<A>(<A as RemoteMessage<M>>::MESSAGE, other).into(),
        }
    }

    /// Why an actor of this node cannot be spoken to.
    async fn gone(&self, node: &Node) -> Failure {
        match node.actors().slot(self.id.index) {
            Some(_) => Failure::WrongType,
            None => Failure::Died { death: node.actors().death(self.id.index).await, unhandled: true },
        }
    }
}

fn undeliverable(error: FrameEncodeError) -> Undeliverable {
    match error {
        FrameEncodeError::Encode(error) => Undeliverable::Encode(error),
        FrameEncodeError::TooLarge { len, max } => Undeliverable::TooLarge { len, max },
    }
}

fn refusal<A: RemoteActor>(message: &str, failure: Failure) -> Undeliverable {
    match failure {
        Failure::NotRegistered => Undeliverable::NotRegistered { name: format!("{}/{message}", A::NAME) },
        Failure::WrongType => Undeliverable::Receiver(format!("the actor there is no {}", A::NAME)),
        Failure::Decode(reason) | Failure::Reply(reason) => Undeliverable::Receiver(reason),
        other => Undeliverable::Receiver(format!("{other:?}")),
    }
}

impl<A: RemoteActor> Clone for ActorRef<A> {
    fn clone(&self) -> Self {
        let route = match &self.route {
            Route::Local { actor, node } => Route::Local { actor: actor.clone(), node: node.clone() },
            Route::Remote { peer, node } => Route::Remote { peer: Arc::clone(peer), node: node.clone() },
            Route::Gone { node } => Route::Gone { node: node.clone() },
            Route::Unbound => Route::Unbound,
        };
        Self { id: self.id, within: self.within, route }
    }
}

impl<A: RemoteActor> fmt::Debug for ActorRef<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", A::NAME, self.id)
    }
}

impl<A: RemoteActor> PartialEq for ActorRef<A> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<A: RemoteActor> Eq for ActorRef<A> {}

/// What travels of a reference.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ActorRef")]
struct Travelling<A> {
    id: ActorId,
    #[serde(skip)]
    _actor: PhantomData<fn() -> A>,
}

impl<A: RemoteActor> Serialize for ActorRef<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Travelling::<A> { id: self.id, _actor: PhantomData }.serialize(serializer)
    }
}

impl<'de, A: RemoteActor> Deserialize<'de> for ActorRef<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Travelling { id, .. } = Travelling::<A>::deserialize(deserializer)?;
        Ok(Node::with_decoding(|node| match node {
            Some(node) => Self::bound(id, node),
            None => Self { id, within: limits::ASK_DEADLINE, route: Route::Unbound },
        }))
    }
}
