//! The PJRT C API, called by hand: the only place of this crate with `unsafe`.
//!
//! Everything that leaves this module is safe to use: handles are owned and destroy what they own, text and
//! lists are copied out, and asynchronous work becomes a future. The rules that make it so:
//!
//! - `PJ-1` A plugin is never unloaded: XLA keeps threads and static state. An [`Api`] is therefore valid for
//!   the rest of the process and `Copy`.
//! - `PJ-2` A client outlives its buffers, executables and events' work: each of them holds it through an
//!   `Arc`.
//! - `PJ-3` A client is created and destroyed by its own thread ([`client`]). It is never destroyed by a
//!   thread of XLA (which would wait for itself) nor by a thread of an executor (which would block).
//! - `PJ-4` Launches of a client happen on that thread, one after the other: all devices see them in one
//!   order, and what an argument's state was when it was checked is what it is at the launch.
//! - `PJ-5` Host memory that the plugin reads or writes is owned by the callback of the event that ends the
//!   transfer, so dropping a future, an array or a client at any moment leaves nothing dangling ([`event`]).
//! - `PJ-6` No panic crosses into C.
//! - `PJ-7` A client is destroyed only when nothing that it was asked for is under way, and the process ends
//!   only then, within limits ([`exit`]): plugins do not survive the one or the other.
//! - `PJ-8` No more launches of a client are under way than the plugin can take without waiting ([`gate`]).
#![expect(unsafe_code, reason = "calls through the function table of a PJRT plugin")]

mod abi;
mod buffer;
mod client;
mod error;
mod event;
mod executable;
mod exit;
mod gate;
mod library;
mod live;
mod logs;
#[cfg(test)]
mod tests;

use std::ffi::{c_char, c_int};
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) use buffer::{Buffer, HostBytes, Plain};
pub(crate) use client::Client;
pub use client::ClientError;
pub(crate) use client::{DeviceHandle, DeviceInfo};
pub use error::{Code, PjrtError};
pub(crate) use event::Completion;
pub(crate) use executable::{Launched, LoadedExecutable};
pub use library::LibraryError;
pub(crate) use live::Kind;
pub use live::LiveHandles;
pub use logs::quiet_logs;

/// How much of an error's message is kept, in bytes.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// The function table of a loaded plugin (`PJ-1`).
#[derive(Clone, Copy)]
pub(crate) struct Api {
    table: NonNull<abi::Table>,
    slot_count: usize,
}

// SAFETY: the table is immutable after the plugin was initialised and stays mapped until the process ends
// (`PJ-1`); the C API may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// What every owned handle carries: whom to call, and where to count itself.
#[derive(Clone)]
struct Context {
    api: Api,
    live: Arc<live::Counters>,
}

impl Api {
    /// The major and minor version that the plugin was built with.
    pub(crate) fn version(self) -> (i32, i32) {
        // SAFETY: `library::open` checked that the table reaches this far, and it is never freed.
        let version = unsafe { (*self.table.as_ptr()).version };
        (version.major, version.minor)
    }

    /// Whether the plugin has the function in `slot`.
    fn has(self, slot: usize) -> bool {
        slot < self.slot_count && !self.slot(slot).is_null()
    }

    /// The function pointer in `slot`, which must lie inside the table.
    fn slot(self, slot: usize) -> *const () {
        assert!(slot < self.slot_count, "slot {slot} lies beyond the table's {} slots", self.slot_count);
        // SAFETY: the slots follow the head of the table, and `slot_count` comes from the table's own size.
        unsafe { *self.table.as_ptr().add(1).cast::<*const ()>().add(slot) }
    }

    /// Calls the function of `A`.
    ///
    /// # Errors
    /// The plugin's error, or [`Code::Unimplemented`] where its table does not reach this function.
    ///
    /// # Safety
    /// Every handle and pointer in `args` is valid for what the function does with it.
    unsafe fn call<A: abi::Call>(self, args: &mut A) -> Result<(), PjrtError> {
        if !self.has(A::SLOT) {
            return Err(PjrtError::missing(A::NAME, self.version()));
        }
        // SAFETY: `Call` promises that slot and struct belong together and that the function returns an error
        // pointer.
        let error = unsafe {
            let function: unsafe extern "C" fn(*mut A) -> abi::Handle =
                std::mem::transmute(self.slot(A::SLOT));
            function(args)
        };
        // SAFETY: a non-null return is an error that is now ours.
        match unsafe { self.take_error(error, A::NAME) } {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// Copies an error out and destroys it; null is no error.
    ///
    /// # Safety
    /// `error` is null or a `PJRT_Error*` of this plugin that nobody else destroys.
    unsafe fn take_error(self, error: abi::Handle, call: &'static str) -> Option<PjrtError> {
        if error.is_null() {
            return None;
        }
        let mut message = abi::ErrorMessage { error, ..Default::default() };
        let mut code = abi::ErrorGetCode { error, ..Default::default() };
        // SAFETY: `library::open` checked that these slots are there; `error` is alive until the last of
        // these calls, and the message is copied before that. `Error_Message` and `Error_Destroy` return
        // nothing.
        let mut text = unsafe {
            let read: unsafe extern "C" fn(*mut abi::ErrorMessage) = std::mem::transmute(self.slot(1));
            read(&mut message);
            let text = copy_text(message.message, message.message_size);
            let classify: unsafe extern "C" fn(*mut abi::ErrorGetCode) -> abi::Handle =
                std::mem::transmute(self.slot(2));
            let nested = classify(&mut code);
            debug_assert!(nested.is_null(), "reading the code of an error failed");
            let destroy: unsafe extern "C" fn(*mut abi::ErrorDestroy) = std::mem::transmute(self.slot(0));
            destroy(&mut abi::ErrorDestroy { error, ..Default::default() });
            text
        };
        if text.len() > MESSAGE_BYTES_MAX {
            let end = (0..=MESSAGE_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        Some(PjrtError { call, code: Code::from_raw(code.code), message: text })
    }

    /// The extension of `kind`, where the plugin has it.
    fn extension(self, kind: c_int) -> Option<NonNull<abi::ExtensionBase>> {
        // SAFETY: the list is immutable, null-terminated and lives as long as the plugin.
        unsafe {
            let mut next = (*self.table.as_ptr()).extensions;
            while !next.is_null() {
                if (*next).kind == kind {
                    return NonNull::new(next.cast_mut());
                }
                next = (*next).next;
            }
        }
        None
    }
}

/// Copies text that the plugin owns.
///
/// # Safety
/// `text` is null or points to `size` readable bytes.
unsafe fn copy_text(text: *const c_char, size: usize) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Copies a list that the plugin owns.
///
/// # Safety
/// `list` is null or points to `count` readable elements.
unsafe fn copy_list<T: Copy>(list: *const T, count: usize) -> Vec<T> {
    if list.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, count) }.to_vec()
}
