//! How many launches of a client may be under way.
//!
//! XLA's CPU client allows 32 unfinished launches per device; the next one waits for an earlier one *on a
//! thread of the pool that runs the programs*. When all other threads of the pool sit in a collective of an
//! earlier launch, the device that they wait for finds no thread any more, and the process is aborted after a
//! minute. So no client is ever asked for that many: a launch that would be one too many waits on the
//! client's own thread, where nobody needs it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The most launches that are under way at once. Well below 32, because XLA frees a place a little after it
/// signals the end.
const LAUNCHES_MAX: usize = 16;

/// Counts the launches that are under way.
#[derive(Debug, Default)]
pub(super) struct Gate {
    inside: Mutex<usize>,
    left: Condvar,
}

/// One launch that is under way, until all of its devices have ended.
#[derive(Debug)]
pub(super) struct Permit {
    gate: Arc<Gate>,
}

impl Gate {
    fn inside(&self) -> MutexGuard<'_, usize> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until there is room for one more launch.
    pub(super) fn enter(self: &Arc<Gate>) -> Arc<Permit> {
        let mut inside = self.inside();
        while *inside >= LAUNCHES_MAX {
            inside = self.left.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        *inside += 1;
        Arc::new(Permit { gate: Arc::clone(self) })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.gate.inside() -= 1;
        self.gate.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_full_until_a_launch_has_ended_on_all_devices() {
        let gate = Arc::new(Gate::default());
        let mut permits: Vec<Arc<Permit>> = (0..LAUNCHES_MAX).map(|_| gate.enter()).collect();
        let (sender, entered) = std::sync::mpsc::channel();
        let (waiting, last) = (Arc::clone(&gate), permits.pop());
        let thread = std::thread::spawn(move || drop(sender.send(waiting.enter())));
        let second_device = last.clone();
        drop(last);
        // One of its devices has not ended.
        assert_eq!((*gate.inside(), entered.try_recv().is_ok()), (LAUNCHES_MAX, false));
        drop(second_device);
        let permit = entered.recv().unwrap();
        thread.join().unwrap();
        assert_eq!(*gate.inside(), LAUNCHES_MAX);
        drop((permits, permit));
        assert_eq!(*gate.inside(), 0);
    }
}
