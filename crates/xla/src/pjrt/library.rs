//! Opening a plugin: what is checked before its first real call.
#![expect(unsafe_code, reason = "loads a library and reads its function table")]

use std::path::Path;
use std::ptr::NonNull;

use libloading::os::unix::Library;

use super::{Api, PjrtError, abi};

/// The major version of the C API that this crate speaks.
pub(super) const MAJOR: i32 = 0;
/// The oldest minor version that is accepted; the oldest that was tested.
pub(super) const MINOR_MIN: i32 = 81;
/// The highest slot that must be there: `Executable_OutputDimensions`.
const SLOT_MAX: usize = 91;

/// Why a library is not a usable plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// The system's loader refuses the file.
    #[error("load it as a library: {reason}")]
    NotALibrary {
        /// The loader's own words.
        reason: String,
    },
    /// It is a library, and no plugin.
    #[error("find the function GetPjrtApi in it: {reason}")]
    NoEntryPoint {
        /// The loader's own words.
        reason: String,
    },
    /// `GetPjrtApi` returned null.
    #[error("get its function table: GetPjrtApi returned null")]
    NullTable,
    /// The function table ends before the functions that are needed.
    #[error("use its function table: expected at least {expected} bytes, got {got}")]
    ShortTable {
        /// The size that reaches all functions in use, in bytes.
        expected: usize,
        /// The size that the table states, in bytes.
        got: usize,
    },
    /// The plugin speaks another major version of the C API.
    #[error("speak its C API: expected major version {expected}, got {got_major}.{got_minor}")]
    Major {
        /// The major version of this crate.
        expected: i32,
        /// The plugin's major version.
        got_major: i32,
        /// The plugin's minor version.
        got_minor: i32,
    },
    /// The plugin is older than this crate supports.
    #[error("speak its C API: expected version 0.{expected_min} or newer, got 0.{got}")]
    TooOld {
        /// The oldest supported minor version.
        expected_min: i32,
        /// The plugin's minor version.
        got: i32,
    },
    /// The plugin's own initialisation failed.
    #[error("initialise it: {0}")]
    Initialize(#[source] PjrtError),
}

impl Api {
    /// Loads the library at `path`, checks its table and initialises the plugin.
    ///
    /// The library is never unloaded (`PJ-1`). Callers serialise: a plugin is initialised by one thread at a
    /// time.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub(crate) fn open(path: &Path) -> Result<Api, LibraryError> {
        type Entry = unsafe extern "C" fn() -> *mut abi::Table;
        let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
        // SAFETY: running a library's initialisers is what loading a plugin means; the caller chose the file.
        let library = unsafe { Library::open(Some(path), flags) };
        let library = library.map_err(|error| LibraryError::NotALibrary { reason: reason(&error) })?;
        // SAFETY: the symbol has this type in every plugin; the C API has no other entry point.
        let entry = unsafe { library.get::<Entry>(b"GetPjrtApi\0") };
        let entry = match entry {
            Ok(entry) => *entry,
            Err(error) => return Err(LibraryError::NoEntryPoint { reason: reason(&error) }),
        };
        // SAFETY: `GetPjrtApi` takes nothing.
        let table = NonNull::new(unsafe { entry() }).ok_or(LibraryError::NullTable)?;
        std::mem::forget(library);
        let api = check(table)?;
        // SAFETY: the call has no inputs.
        unsafe { api.call(&mut abi::PluginInitialize::default()) }.map_err(LibraryError::Initialize)?;
        Ok(api)
    }
}

/// Checks size and version of a function table.
fn check(table: NonNull<abi::Table>) -> Result<Api, LibraryError> {
    let head = size_of::<abi::Table>();
    // SAFETY: the first word of the table is its size in every version.
    let size = unsafe { (*table.as_ptr()).struct_size };
    if size < head {
        return Err(LibraryError::ShortTable { expected: head, got: size });
    }
    // SAFETY: the table is at least as long as its head, checked above.
    let version = unsafe { (*table.as_ptr()).version };
    if version.major != MAJOR {
        let (got_major, got_minor) = (version.major, version.minor);
        return Err(LibraryError::Major { expected: MAJOR, got_major, got_minor });
    }
    if version.minor < MINOR_MIN {
        return Err(LibraryError::TooOld { expected_min: MINOR_MIN, got: version.minor });
    }
    let expected = head + (SLOT_MAX + 1) * size_of::<*const ()>();
    if size < expected {
        return Err(LibraryError::ShortTable { expected, got: size });
    }
    Ok(Api { table, slot_count: (size - head) / size_of::<*const ()>() })
}

/// The loader's words behind libloading's general sentence.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
