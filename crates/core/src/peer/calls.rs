//! Calls that wait for their answer. Pure.
//!
//! Invariants:
//! - `CA-1` A call ends once: with its answer, by being abandoned, or when the table is closed.
//! - `CA-2` A spawn that was abandoned after it was sent keeps its row, so that the actor in a late answer can be ended.

use std::collections::HashMap;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::codec;
use crate::host::LossCause;
use crate::wire::Failure;

/// What an answer says.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done(Bytes),
    Failed(Failure),
}

/// What a call leaves behind when nobody waits for it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Nothing.
    Plain,
    /// Perhaps an actor.
    Spawn,
}

#[derive(Debug)]
enum Row {
    Waiting(oneshot::Sender<Outcome>),
    /// `CA-2`.
    OrphanSpawn,
}

/// The calls of one connection.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    next: u64,
    rows: HashMap<u64, Row>,
    closed: Option<LossCause>,
}

impl Calls {
    /// A new call and where its answer will come; `None` when the table is closed.
    pub(crate) fn begin(&mut self) -> Option<(u64, oneshot::Receiver<Outcome>)> {
        if self.closed.is_some() {
            return None;
        }
        let call = self.next;
        self.next += 1;
        let (sender, receiver) = oneshot::channel();
        self.rows.insert(call, Row::Waiting(sender));
        Some((call, receiver))
    }

    /// The answer to a call. Gives the index of an actor that nobody wants (`CA-2`).
    pub(crate) fn finish(&mut self, call: u64, outcome: Outcome) -> Option<u64> {
        match self.rows.remove(&call)? {
            Row::Waiting(sender) => {
                // A receiver that has gone has abandoned the call, or is about to.
                let _ = sender.send(outcome);
                None
            }
            Row::OrphanSpawn => match outcome {
                Outcome::Done(index) => codec::decode(&index).ok(),
                Outcome::Failed(_) => None,
            },
        }
    }

    /// Nobody waits for this call any more.
    pub(crate) fn abandon(&mut self, call: u64, kind: CallKind) {
        match kind {
            CallKind::Plain => drop(self.rows.remove(&call)),
            CallKind::Spawn => {
                if let Some(row) = self.rows.get_mut(&call) {
                    *row = Row::OrphanSpawn;
                }
            }
        }
    }

    /// The connection is gone: every call ends, and none begins.
    pub(crate) fn close(&mut self, cause: &LossCause) {
        self.closed.get_or_insert_with(|| cause.clone());
        self.rows.clear();
    }

    /// Why the table is closed.
    pub(crate) fn cause(&self) -> LossCause {
        self.closed.clone().unwrap_or(LossCause::ShuttingDown)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}
