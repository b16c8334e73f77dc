//! From a frame's payload into a mailbox, and from a handler's reply back into a frame.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use kameo::error::SendError;
use serde::Serialize;

use crate::actor::{Death, ErrorOf, RemoteMessage, ReplyOf};
use crate::codec;
use crate::node::Node;
use crate::peer::Link;
use crate::registry::Wire;
use crate::wire::{self, Failure, FrameEncodeError, Header};

mod admission;

use admission::FirstPoll;

/// Whether a message is in the mailbox, or must wait for room.
pub(crate) enum Delivery {
    /// It is in the mailbox, or was answered with a failure.
    Done,
    /// The mailbox is full: it will be in it when the future ends.
    Waiting(BoxFuture<'static, ()>),
}

/// Where the answer to one call goes.
pub(crate) struct Answer {
    pub(crate) node: Node,
    pub(crate) link: Arc<Link>,
    pub(crate) call: u64,
    /// The index of the actor that was spoken to.
    pub(crate) actor: u64,
    /// A reply is wanted, not only word that the message arrived.
    pub(crate) wants_reply: bool,
}

impl Answer {
    /// Says that the call succeeded with `value`, which is encoded before this returns.
    pub(crate) fn value<T: Serialize>(self, value: &T) -> impl Future<Output = ()> + Send + use<T> {
        let header = Header::Done { call: self.call };
        let frame = wire::frame(&header, |out| codec::encode_into(value, out));
        async move {
            match frame {
                Ok(frame) => self.link.send(frame).await,
                Err(error) => self.failure(Failure::Reply(error.to_string())).await,
            }
        }
    }

    /// Says that the call succeeded, without a value.
    pub(crate) async fn done(self) {
        self.value(&()).await;
    }

    /// Says why the call failed.
    pub(crate) async fn failure(self, failure: Failure) {
        let header = |failure| Header::Failed { call: self.call, failure };
        let frame = match wire::bare(&header(failure)) {
            Ok(frame) => Ok(frame),
            Err(FrameEncodeError::TooLarge { len, max }) => {
                wire::bare(&header(Failure::Reply(format!("the error is of {len} bytes: at most {max} fit"))))
            }
            Err(FrameEncodeError::Encode(error)) => wire::bare(&header(Failure::Reply(error.to_string()))),
        };
        match frame {
            Ok(frame) => self.link.send(frame).await,
            // A header of numbers and short texts always encodes.
            Err(error) => tracing::error!(%error, "an answer could not be written"),
        }
    }

    /// Answers from a task of its own, for callers that must not wait.
    pub(crate) fn failure_later(self, failure: Failure) {
        tokio::spawn(self.failure(failure));
    }
}

/// Decodes an `M` and puts it into the mailbox of `actor`, a kameo reference to an `A`.
pub(crate) fn from_wire<A: RemoteMessage<M>, M: Wire>(
    actor: &(dyn Any + Send + Sync),
    payload: &Bytes,
    answer: Answer,
) -> Delivery {
    let Some(actor) = actor.downcast_ref::<kameo::actor::ActorRef<A>>() else {
        answer.failure_later(Failure::WrongType);
        return Delivery::Done;
    };
    let message = match answer.node.decode::<M>(payload) {
        Ok(message) => message,
        Err(error) => {
            answer.failure_later(Failure::Decode(wire::cut_text(error.to_string())));
            return Delivery::Done;
        }
    };
    if answer.wants_reply {
        deliver_ask(actor, message, answer)
    } else {
        deliver_tell(actor, message, answer)
    }
}

fn deliver_ask<A: RemoteMessage<M>, M: Wire>(
    actor: &kameo::actor::ActorRef<A>,
    message: M,
    answer: Answer,
) -> Delivery {
    let attempt = {
        let actor = actor.clone();
        async move { actor.ask(message).try_send().await }
    };
    match admission::first_poll(attempt) {
        // It is in the mailbox.
        FirstPoll::Pending(reply) => {
            tokio::spawn(answer_reply::<A, M>(reply, answer));
            Delivery::Done
        }
        FirstPoll::Ready(Err(SendError::MailboxFull(message))) => {
            let actor = actor.clone();
            Delivery::Waiting(Box::pin(async move {
                let reply = admission::admitted(async move { actor.ask(message).send().await }).await;
                tokio::spawn(answer_reply::<A, M>(reply, answer));
            }))
        }
        FirstPoll::Ready(result) => {
            tokio::spawn(answer_reply::<A, M>(Box::pin(std::future::ready(result)), answer));
            Delivery::Done
        }
    }
}

fn deliver_tell<A: RemoteMessage<M>, M: Wire>(
    actor: &kameo::actor::ActorRef<A>,
    message: M,
    answer: Answer,
) -> Delivery {
    match actor.tell(message).try_send() {
        Ok(()) => {
            tokio::spawn(answer.done());
            Delivery::Done
        }
        Err(SendError::MailboxFull(message)) => {
            let actor = actor.clone();
            Delivery::Waiting(Box::pin(async move {
                match actor.tell(message).send().await {
                    Ok(()) => answer.done().await,
                    Err(_) => answer_death(answer, true).await,
                }
            }))
        }
        Err(_) => {
            tokio::spawn(answer_death(answer, true));
            Delivery::Done
        }
    }
}

type ReplyFuture<A, M> = BoxFuture<'static, Result<ReplyOf<A, M>, SendError<M, ErrorOf<A, M>>>>;

async fn answer_reply<A: RemoteMessage<M>, M: Wire>(reply: ReplyFuture<A, M>, answer: Answer) {
    match reply.await {
        Ok(value) => answer.value(&value).await,
        Err(SendError::HandlerError(error)) => {
            // Encoded before the next await: an error may be sent, and need not be shared.
            let encoded = codec::encode(&error);
            drop(error);
            match encoded {
                Ok(error) => answer.failure(Failure::Handler(error)).await,
                Err(error) => answer.failure(Failure::Reply(error.to_string())).await,
            }
        }
        // Dropped with the mailbox, or while it was being handled: only the first is certain.
        Err(SendError::ActorNotRunning(_) | SendError::ActorRestarting(_)) => {
            answer_death(answer, true).await
        }
        Err(_) => answer_death(answer, false).await,
    }
}

async fn answer_death(answer: Answer, unhandled: bool) {
    let death: Death = answer.node.actors().death(answer.actor).await;
    answer.failure(Failure::Died { death, unhandled }).await;
}
