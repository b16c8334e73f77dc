//! PJRT events as futures.
//!
//! An event is turned into a [`Completion`] once, by registering a callback. The callback owns the event's
//! handle and a *payload*: the host memory that the plugin may touch until the event fires (`PJ-5`). The
//! future owns nothing but its end of a shared slot, so:
//!
//! | what happens | then |
//! |---|---|
//! | event fires, future alive | payload and outcome go into the slot, the waker is woken |
//! | future dropped before the event | the callback drops the payload when the event fires |
//! | event fires before the future is polled, also inside the registration | the first poll is ready |
//! | the plugin refuses the registration | the payload is leaked on purpose: nobody can say when it is free |
#![expect(unsafe_code, reason = "registers a callback with the plugin and destroys events")]

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::exit::Busy;
use super::gate::Permit;
use super::live::Counted;
use super::{Api, Context, Kind, PjrtError, abi};

/// An event of the plugin that nobody waits for yet.
pub(super) struct Event {
    api: Api,
    raw: abi::Handle,
    permit: Option<Arc<Permit>>,
    _counted: Counted,
    _busy: Busy,
}

// SAFETY: events may be used and destroyed from any thread.
unsafe impl Send for Event {}

impl Event {
    /// Takes ownership of `raw`, which must be an event of the context's plugin that nobody else destroys.
    pub(super) fn new(context: &Context, raw: abi::Handle) -> Event {
        let (counted, busy) = (context.live.count(Kind::Event), Busy::count());
        Event { api: context.api, raw, permit: None, _counted: counted, _busy: busy }
    }

    /// Holds the place of a launch until the event fires.
    pub(super) fn with_permit(mut self, permit: &Arc<Permit>) -> Event {
        self.permit = Some(Arc::clone(permit));
        self
    }

    /// The future of this event; `payload` is kept until the event fires and is then the future's output.
    pub(super) fn complete<T: Send + 'static>(self, call: &'static str, payload: T) -> Completion<T> {
        let slot = Arc::new(Mutex::new(Slot::Pending(None)));
        let (api, raw) = (self.api, self.raw);
        let registration = Registration { event: self, call, payload, slot: Arc::clone(&slot) };
        let registration = Box::into_raw(Box::new(registration));
        let mut args = abi::EventOnReady {
            event: raw,
            callback: Some(fired::<T>),
            user_arg: registration.cast(),
            ..Default::default()
        };
        // SAFETY: the event is alive (the registration owns it and only the callback drops that), and
        // `fired::<T>` is the callback for this type of registration. The callback may run before the call
        // returns; `raw` is not used after.
        if let Err(error) = unsafe { api.call(&mut args) } {
            // The plugin did not take the callback, so the registration is still ours. Leaking it leaks the
            // payload, which the plugin may be using.
            *lock(&slot) = Slot::Done(Err(error));
        }
        Completion { slot }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let mut args = abi::EventDestroy { event: self.raw, ..Default::default() };
        // SAFETY: the handle is alive and this is its only owner.
        if let Err(error) = unsafe { self.api.call(&mut args) } {
            tracing::warn!(%error, "an event was not destroyed");
        }
    }
}

/// What the callback owns.
struct Registration<T> {
    event: Event,
    call: &'static str,
    payload: T,
    slot: Arc<Mutex<Slot<T>>>,
}

/// Where the callback leaves the outcome for the future.
enum Slot<T> {
    Pending(Option<Waker>),
    Done(Result<T, PjrtError>),
    Taken,
}

/// Locks a slot; no code of ours panics while holding it, so poison says nothing.
fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The callback: runs once, on a thread of the plugin or inside the registration.
unsafe extern "C" fn fired<T: Send + 'static>(error: abi::Handle, user_arg: abi::Handle) {
    // SAFETY: `user_arg` is the box that `complete::<T>` gave away, and the plugin calls back once.
    let registration = unsafe { Box::from_raw(user_arg.cast::<Registration<T>>()) };
    let Registration { event, call, payload, slot } = *registration;
    // SAFETY: the callback owns the error it is given.
    let error = unsafe { event.api.take_error(error, call) };
    drop(event);
    let outcome = match error {
        None => Ok(payload),
        Some(error) => {
            drop(payload);
            Err(error)
        }
    };
    let previous = std::mem::replace(&mut *lock(&slot), Slot::Done(outcome));
    if let Slot::Pending(Some(waker)) = previous {
        // A waker runs code of the executor: a panic there must not cross into C (`PJ-6`).
        if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
            tracing::error!("a waker panicked; the task it belongs to is not woken");
        }
    }
}

/// A future that is ready when the plugin says so, with the payload of the transfer.
///
/// # Cancel safety
/// Dropping it loses the outcome and nothing else; the work of the plugin goes on.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Completion<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> Future for Completion<T> {
    type Output = Result<T, PjrtError>;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let mut slot = lock(&self.slot);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Done(outcome) => Poll::Ready(outcome),
            Slot::Pending(waker) => {
                let waker = match waker {
                    Some(waker) if waker.will_wake(cx.waker()) => waker,
                    _ => cx.waker().clone(),
                };
                *slot = Slot::Pending(Some(waker));
                Poll::Pending
            }
            Slot::Taken => panic!("a completion was polled after it was ready"),
        }
    }
}
