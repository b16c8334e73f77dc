//! The end of the process, while the plugin still works.
//!
//! When `main` returns, the system runs the destructors of the plugin's static objects, whether or not the
//! plugin's threads are in the middle of a program that uses them: a process that only dropped its last array
//! too early would end with a segmentation fault. So everything that is under way in plugins is counted
//! ([`Busy`]), and the end of the process waits for it, at most [`WAIT_MAX`].
//!
//! Where it waits matters. A handler given to `atexit` runs before the destructors that were registered
//! earlier only, and the plugin registers some in the middle of its first program. But the destructors of
//! *thread-local* objects of the thread that ends the process run before all of these (C++ standard,
//! \[basic.start.term\]; glibc's `exit` does so for every language). Hence a thread-local guard on the main
//! thread, put there before `main`. A process that is ended by another thread has only the handler, which is
//! too late for nothing but the first program of its kind.
#![expect(
    unsafe_code,
    reason = "registers a handler with the C library, and a function that runs before main"
)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of the process is put off.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How long it is put off more when something was under way: plugins signal the end of a program a little
/// before their threads have let go of it.
const GRACE: Duration = Duration::from_millis(10);

/// How many things are under way in plugins.
static BUSY: AtomicUsize = AtomicUsize::new(0);
/// Whether the process ends.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Signalled when the last thing under way has ended while the process ends.
static IDLE: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

/// Something that is under way in a plugin.
#[derive(Debug)]
pub(super) struct Busy(());

impl Busy {
    /// Work that a thread of ours begins. While the process ends nothing new begins: the thread stays here.
    pub(super) fn begin() -> Busy {
        let busy = Busy::count();
        if ENDING.load(Ordering::SeqCst) {
            drop(busy);
            loop {
                std::thread::park();
            }
        }
        busy
    }

    /// Work that the plugin has taken on already.
    pub(super) fn count() -> Busy {
        BUSY.fetch_add(1, Ordering::SeqCst);
        Busy(())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if BUSY.fetch_sub(1, Ordering::SeqCst) == 1 && ENDING.load(Ordering::SeqCst) {
            let _idle = IDLE.0.lock().unwrap_or_else(PoisonError::into_inner);
            IDLE.1.notify_all();
        }
    }
}

/// Lets nothing new begin and waits for what is under way. Later calls find nothing to wait for.
extern "C" fn wait() {
    ENDING.store(true, Ordering::SeqCst);
    let end = Instant::now() + WAIT_MAX;
    let mut idle = IDLE.0.lock().unwrap_or_else(PoisonError::into_inner);
    let was_busy = BUSY.load(Ordering::SeqCst) > 0;
    while BUSY.load(Ordering::SeqCst) > 0 {
        let Some(left) = end.checked_duration_since(Instant::now()) else { return };
        idle = IDLE.1.wait_timeout(idle, left).unwrap_or_else(PoisonError::into_inner).0;
    }
    drop(idle);
    if was_busy {
        std::thread::park_timeout(GRACE);
    }
}

/// Lets the end of the process wait for what is under way, before the destructors that are registered by now.
pub(super) fn wait_at_exit() {
    // SAFETY: the handler takes nothing, returns nothing and does not panic.
    let refused = unsafe { libc::atexit(wait) };
    if refused != 0 {
        tracing::debug!("the C library takes no more handlers for the end of the process");
    }
}

/// Waits when the main thread ends, and with it the process.
struct MainThread;

impl Drop for MainThread {
    fn drop(&mut self) {
        // SAFETY: both calls take nothing and cannot fail. The main thread is the one with the id of its
        // process.
        let is_main = unsafe { libc::gettid() == libc::getpid() };
        if is_main {
            wait();
        }
    }
}

thread_local! {
    static MAIN_THREAD: MainThread = const { MainThread };
}

/// Runs before `main`, on the main thread.
// SAFETY: the functions of this section are called with the arguments of `main`, which a C function may
// ignore, once, before any other thread exists. This one only registers the destructor of a thread-local
// object, which needs nothing of Rust's runtime.
#[used]
#[unsafe(link_section = ".init_array")]
static GUARD_MAIN_THREAD: extern "C" fn() = {
    extern "C" fn guard() {
        MAIN_THREAD.with(|_| {});
    }
    guard
};
