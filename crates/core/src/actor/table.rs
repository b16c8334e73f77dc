//! The actors of one node: who lives, who waits for room, who died and how.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::actor::deliver::{Answer, Delivery};
use crate::actor::{Death, RemoteActor};
use crate::limits;
use crate::registry::Deliver;
use crate::wire::Failure;

/// An actor of this node, whatever its type.
trait Local: Any + Send + Sync {
    fn as_any(&self) -> &(dyn Any + Send + Sync);
    fn kill(&self);
    fn stop(&self) -> BoxFuture<'static, ()>;
}

impl<A: RemoteActor> Local for kameo::actor::ActorRef<A> {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn kill(&self) {
        kameo::actor::ActorRef::kill(self);
    }

    fn stop(&self) -> BoxFuture<'static, ()> {
        let actor = self.clone();
        Box::pin(async move {
            // An error says that it is not running, which is what is wanted.
            let _ = actor.stop_gracefully().await;
        })
    }
}

pub(crate) struct Slot {
    actor: Box<dyn Local>,
    host: Arc<str>,
    backlog: Mutex<Backlog>,
    /// Set when the actor is gone.
    death: watch::Sender<Option<Death>>,
    /// Set before the kill, so that the death says so.
    condemned: Mutex<Option<Death>>,
}

/// Messages that arrived while the mailbox was full, in order (`MB-2`).
#[derive(Default)]
struct Backlog {
    waiting: VecDeque<(Deliver, Bytes, Answer)>,
    bytes: usize,
    /// A task is putting them into the mailbox; everything that comes now must queue behind.
    draining: bool,
}

impl Slot {
    fn new(actor: Box<dyn Local>, host: Arc<str>) -> Self {
        let death = watch::Sender::new(None);
        Self { actor, host, backlog: Mutex::default(), death, condemned: Mutex::default() }
    }

    /// Puts a message into the mailbox, or behind those that wait for room. Never waits.
    pub(crate) fn offer(self: &Arc<Self>, deliver: Deliver, payload: Bytes, answer: Answer) {
        let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        if !backlog.draining {
            let Delivery::Waiting(first) = deliver(self.actor.as_any(), &payload, answer) else { return };
            backlog.draining = true;
            tokio::spawn(Arc::clone(self).drain(first));
            return;
        }
        let waiting = backlog.waiting.len();
        if waiting >= limits::BACKLOG_MESSAGES_MAX
            || backlog.bytes + payload.len() > limits::BACKLOG_BYTES_MAX
        {
            answer.failure_later(Failure::MailboxFull { waiting: waiting as u64 });
            return;
        }
        backlog.bytes += payload.len();
        backlog.waiting.push_back((deliver, payload, answer));
    }

    async fn drain(self: Arc<Self>, first: BoxFuture<'static, ()>) {
        first.await;
        loop {
            let delivery = {
                let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
                let Some((deliver, payload, answer)) = backlog.waiting.pop_front() else {
                    backlog.draining = false;
                    return;
                };
                backlog.bytes -= payload.len();
                deliver(self.actor.as_any(), &payload, answer)
            };
            if let Delivery::Waiting(turn) = delivery {
                turn.await;
            }
        }
    }

    fn condemn(&self, death: Death) {
        self.condemned.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(death);
        self.actor.kill();
    }
}

/// The last deaths, oldest first.
#[derive(Default)]
struct Deaths {
    by_index: HashMap<u64, Death>,
    order: VecDeque<u64>,
}

impl Deaths {
    fn record(&mut self, index: u64, death: Death) {
        self.by_index.insert(index, death);
        self.order.push_back(index);
        if self.order.len() > limits::DEATHS_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_index.remove(&oldest);
        }
    }
}

/// The actors of one node.
#[derive(Default)]
pub(crate) struct ActorTable {
    slots: RwLock<HashMap<u64, Arc<Slot>>>,
    deaths: Mutex<Deaths>,
    next: AtomicU64,
}

impl ActorTable {
    /// A number that no other actor of this node has or had.
    pub(crate) fn next_index(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn insert<A: RemoteActor>(
        &self,
        index: u64,
        actor: kameo::actor::ActorRef<A>,
        host: Arc<str>,
    ) {
        let slot = Arc::new(Slot::new(Box::new(actor), host));
        self.slots.write().unwrap_or_else(PoisonError::into_inner).insert(index, slot);
    }

    pub(crate) fn slot(&self, index: u64) -> Option<Arc<Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).get(&index).cloned()
    }

    /// kameo's reference, if the actor lives and is an `A`.
    pub(crate) fn local<A: RemoteActor>(&self, index: u64) -> Option<kameo::actor::ActorRef<A>> {
        self.slot(index)?.actor.as_any().downcast_ref().cloned()
    }

    /// Takes a dead actor out and remembers how it died.
    pub(crate) fn record_death(&self, index: u64, death: Death) {
        let slot = self.slots.write().unwrap_or_else(PoisonError::into_inner).remove(&index);
        let condemned =
            slot.as_ref().and_then(|s| s.condemned.lock().unwrap_or_else(PoisonError::into_inner).take());
        let death = condemned.unwrap_or(death);
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner).record(index, death.clone());
        if let Some(slot) = slot {
            slot.death.send_replace(Some(death));
        }
    }

    /// How an actor died. Waits where it is dying; its mailbox was seen closed, so that is not long.
    pub(crate) async fn death(&self, index: u64) -> Death {
        if let Some(slot) = self.slot(index) {
            let mut death = slot.death.subscribe();
            // The sender lives in the slot that is held here.
            if let Ok(death) = death.wait_for(Option::is_some).await
                && let Some(death) = &*death
            {
                return death.clone();
            }
        }
        self.deaths
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .by_index
            .get(&index)
            .cloned()
            .unwrap_or(Death::Unknown)
    }

    /// Ends an actor and waits until it is gone; at once if there is none.
    pub(crate) async fn end(&self, index: u64, kill: bool) {
        let Some(slot) = self.slot(index) else { return };
        if kill {
            slot.condemn(Death::Killed);
        } else {
            slot.actor.stop().await;
        }
        self.death(index).await;
    }

    /// Kills every actor of a host that is gone.
    pub(crate) fn condemn_host(&self, host: &str, death: &Death) {
        for slot in self.all().into_iter().filter(|slot| &*slot.host == host) {
            slot.condemn(death.clone());
        }
    }

    /// Asks every actor to stop, and waits until all are gone.
    pub(crate) async fn stop_all(&self) {
        let slots = self.all();
        futures::future::join_all(slots.iter().map(|slot| slot.actor.stop())).await;
        self.gone(&slots).await;
    }

    /// Kills every actor, and waits until all are gone.
    pub(crate) async fn kill_all(&self) {
        let slots = self.all();
        slots.iter().for_each(|slot| slot.condemn(Death::Killed));
        self.gone(&slots).await;
    }

    /// Kills every actor without waiting.
    pub(crate) fn condemn_all(&self) {
        self.all().iter().for_each(|slot| slot.condemn(Death::Killed));
    }

    async fn gone(&self, slots: &[Arc<Slot>]) {
        for slot in slots {
            let mut death = slot.death.subscribe();
            // The sender lives in the slot that is held here.
            let _ = death.wait_for(Option::is_some).await;
        }
    }

    fn all(&self) -> Vec<Arc<Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// How many actors live.
    pub(crate) fn len(&self) -> usize {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
