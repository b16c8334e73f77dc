//! Counting the handles that are alive, so that a test can show that nothing leaks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// The client itself.
    Client,
    /// Device memory.
    Buffer,
    /// A compiled program.
    Executable,
    /// A PJRT event, with the host memory that waits for it.
    Event,
}

/// How many objects of the plugin a client has alive; zero everywhere once it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LiveHandles {
    /// One until the client is destroyed.
    pub clients: usize,
    /// Shards on devices.
    pub buffers: usize,
    /// Compiled programs.
    pub executables: usize,
    /// Transfers and launches that have not ended.
    pub events: usize,
}

/// The counters of one client; they outlive it.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    counts: [AtomicUsize; 4],
    quiet: Mutex<()>,
    became_quiet: Condvar,
}

impl Counters {
    /// Counts one more of `kind`, until the guard is dropped.
    pub(super) fn count(self: &Arc<Self>, kind: Kind) -> Counted {
        self.counts[kind as usize].fetch_add(1, Ordering::AcqRel);
        Counted { counters: Arc::clone(self), kind }
    }

    /// Blocks until no event is alive: all transfers and launches have ended.
    pub(super) fn wait_for_events(&self) {
        let mut quiet = self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
        while self.counts[Kind::Event as usize].load(Ordering::Acquire) > 0 {
            quiet = self.became_quiet.wait(quiet).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What is alive now.
    pub(crate) fn snapshot(&self) -> LiveHandles {
        let at = |kind: Kind| self.counts[kind as usize].load(Ordering::Acquire);
        LiveHandles {
            clients: at(Kind::Client),
            buffers: at(Kind::Buffer),
            executables: at(Kind::Executable),
            events: at(Kind::Event),
        }
    }
}

/// One object that is alive.
#[derive(Debug)]
pub(super) struct Counted {
    counters: Arc<Counters>,
    kind: Kind,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.counters.counts[self.kind as usize].fetch_sub(1, Ordering::AcqRel);
        if before == 1 && matches!(self.kind, Kind::Event) {
            // Under the lock, so that it cannot fall between a look at the count and the wait.
            let _quiet = self.counters.quiet.lock().unwrap_or_else(PoisonError::into_inner);
            self.counters.became_quiet.notify_all();
        }
    }
}
