//! Building an actor on this node.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use kameo::actor::PreparedActor;
use kameo::error::HookError;
use kameo::mailbox;
use tokio::time::{Instant, timeout_at};

use crate::actor::{Death, RemoteActor, SpawnContext};
use crate::id::ActorId;
use crate::node::Node;
use crate::runtime::Handle;
use crate::wire::{self, Failure, SpawnHeader};

/// A spawn as it arrives: everything but the type.
pub(crate) struct SpawnRequest {
    pub(crate) header: SpawnHeader,
    pub(crate) init: Bytes,
}

/// Decodes an `A::Init` and builds the actor; its index on this node.
pub(crate) fn from_wire<A: RemoteActor>(
    node: Node,
    request: SpawnRequest,
) -> BoxFuture<'static, Result<u64, Failure>> {
    Box::pin(async move {
        let init =
            node.decode::<A::Init>(&request.init).map_err(|error| Failure::Decode(error.to_string()))?;
        let (index, _) = local::<A>(&node, init, request.header).await?;
        Ok(index)
    })
}

/// Builds an actor on this node and waits until it has started.
///
/// # Cancel safety
/// Dropping the future before it ends leaves no actor behind.
pub(crate) async fn local<A: RemoteActor>(
    node: &Node,
    init: A::Init,
    header: SpawnHeader,
) -> Result<(u64, kameo::actor::ActorRef<A>), Failure> {
    node.accepts_spawn(&header.host)?;
    let deadline = Instant::now() + Duration::from_millis(header.deadline_ms);
    let capacity = match header.mailbox_capacity {
        0 => node.options().mailbox_capacity,
        given => given as usize,
    };
    let index = node.actors().next_index();
    let context = SpawnContext {
        handle: Handle::of(node.clone()),
        id: ActorId { node: node.id(), index },
        host: header.host,
        entries: header.context.into_iter().collect(),
    };
    let built = timeout_at(deadline, AssertUnwindSafe(A::build(init, &context)).catch_unwind()).await;
    let args = match built {
        Ok(Ok(Ok(args))) => args,
        Ok(Ok(Err(error))) => return Err(Failure::Start(wire::cut_text(chain(&*error)))),
        Ok(Err(panic)) => {
            return Err(Failure::Start(wire::cut_text(format!("build panicked: {}", text_of(&*panic)))));
        }
        Err(_) => return Err(Failure::StartDeadline),
    };

    let prepared = PreparedActor::<A>::new(mailbox::bounded(capacity));
    let actor = prepared.actor_ref().clone();
    node.actors().insert(index, actor.clone(), Arc::from(context.host.as_str()));
    let task = prepared.spawn(args);
    node.reap(index, async move {
        match task.await {
            Ok(Ok((_, reason))) => Death::of_reason(&reason),
            Ok(Err(panic)) => Death::of_panic(&panic),
            Err(error) => Death::Panicked(wire::cut_text(error.to_string())),
        }
    });
    // From here on the actor must not be left behind.
    let guard = KillOnDrop(Some(actor.clone()));
    // `on_start` may never return, and kameo does not abort it: the deadline is ours.
    match timeout_at(deadline, actor.wait_for_startup_with_result(start_failure)).await {
        Ok(None) => {
            // The host may have been lost meanwhile, after the table was swept.
            node.accepts_spawn(&context.host)?;
            guard.keep();
            Ok((index, actor))
        }
        Ok(Some(reason)) => Err(Failure::Start(wire::cut_text(reason))),
        Err(_) => Err(Failure::StartDeadline),
    }
}

/// What `on_start` failed with.
fn start_failure<E: std::fmt::Debug>(result: Result<(), HookError<&E>>) -> Option<String> {
    match result {
        Ok(()) => None,
        Err(HookError::Error(error)) => Some(format!("on_start failed: {error:?}")),
        Err(HookError::Panicked(panic)) => Some(
            panic
                .with_str(|text| format!("on_start panicked: {text}"))
                .unwrap_or_else(|| "on_start panicked".into()),
        ),
    }
}

struct KillOnDrop<A: RemoteActor>(Option<kameo::actor::ActorRef<A>>);

impl<A: RemoteActor> KillOnDrop<A> {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl<A: RemoteActor> Drop for KillOnDrop<A> {
    fn drop(&mut self) {
        if let Some(actor) = self.0.take() {
            actor.kill();
        }
    }
}

/// An error with its sources, as one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let its = error.to_string();
        if !text.contains(&its) {
            text.push_str(": ");
            text.push_str(&its);
        }
        source = error.source();
    }
    text
}

/// The text of a panic.
fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".into())
}
