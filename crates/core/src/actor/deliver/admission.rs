//! When an `ask` has entered the mailbox, seen from outside of it.
//!
//! kameo's `ask` is one future from the wait for room to the reply, and its variants that split the two (`enqueue`,
//! `forward`) panic on a mailbox that is full or closed (kameo 0.22.2, `From<TrySendError>` downcasts to the wrong
//! type). Order across a backlog needs the moment in between, so it is taken from how the future is woken:
//!
//! - the first poll of `try_send` either fails, with the message, or is pending because the message is in the mailbox;
//! - a `send` that waits for room is next woken when it has got room, and the poll after that puts the message in.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;
use tokio::task::coop::unconstrained;

/// What a future did when it was polled once.
pub(super) enum FirstPoll<T> {
    Ready(T),
    Pending(BoxFuture<'static, T>),
}

/// Polls a future once, without a task. Whoever polls it next registers its own waker.
pub(super) fn first_poll<T>(future: impl Future<Output = T> + Send + 'static) -> FirstPoll<T> {
    let mut future: BoxFuture<'static, T> = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => FirstPoll::Ready(value),
        Poll::Pending => FirstPoll::Pending(future),
    }
}

/// Wakes the task and remembers that it did.
struct Noted {
    woken: AtomicBool,
    task: Waker,
}

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

/// Waits until `send`, an `ask` on a full mailbox, has put its message in, or has failed to; gives the rest of it.
///
/// Where room appeared just before, the wait is for the reply instead, which only delays those behind.
pub(super) async fn admitted<T: Send + 'static>(
    send: impl Future<Output = T> + Send + 'static,
) -> BoxFuture<'static, T> {
    // The cooperative budget would wake it for reasons of its own.
    let mut send: BoxFuture<'static, T> = Box::pin(unconstrained(send));
    let task = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
    let noted = Arc::new(Noted { woken: AtomicBool::new(false), task });
    let waker = Waker::from(Arc::clone(&noted));
    if let Poll::Ready(value) = send.as_mut().poll(&mut Context::from_waker(&waker)) {
        return Box::pin(std::future::ready(value));
    }
    // This future is polled by one task, whose waker does not change (`Slot::drain` is spawned as it is).
    poll_fn(|_| if noted.woken.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }).await;
    match send.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(value) => Box::pin(std::future::ready(value)),
        Poll::Pending => send,
    }
}

#[cfg(test)]
mod tests {
    //! The two moments, with a tokio channel in the place of a mailbox.

    use tokio::sync::{mpsc, oneshot};

    use super::*;

    #[tokio::test]
    async fn a_waiting_send_is_admitted_when_there_is_room_and_not_before() {
        let (sender, mut receiver) = mpsc::channel::<(u32, oneshot::Sender<u32>)>(1);
        let ask = |n| {
            let sender = sender.clone();
            async move {
                let (reply, answer) = oneshot::channel();
                sender.send((n, reply)).await.unwrap();
                answer.await.unwrap()
            }
        };
        let FirstPoll::Pending(first) = first_poll(ask(1)) else { panic!("answered by nobody") };
        let mut waiting = tokio::spawn(admitted(ask(2)));
        for _ in 0..10 {
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished(), "admitted into a full channel");
        }
        let (n, reply) = receiver.recv().await.unwrap();
        reply.send(n * 10).unwrap();
        let second = (&mut waiting).await.unwrap();
        let (n, reply) = receiver.try_recv().expect("the second is in the channel once it is admitted");
        reply.send(n * 10).unwrap();
        assert_eq!((first.await, second.await), (10, 20));
    }
}
