//! Why there is no plugin.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::pjrt::LibraryError;

/// Why a file was not loaded as a plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no such file.
    #[error("load the plugin {}: there is no such file", path.display())]
    Missing {
        /// The path that was given.
        path: PathBuf,
    },
    /// The path is a folder or a device.
    #[error("load the plugin {}: expected a file, got something else", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
    },
    /// The file cannot be looked at.
    #[error("load the plugin {}: {source}", path.display())]
    Read {
        /// The path that was given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no usable plugin.
    #[error("load the plugin {}: failed to {source}", path.display())]
    Library {
        /// The path that was given.
        path: PathBuf,
        /// Why.
        source: LibraryError,
    },
}

impl LoadError {
    /// Tells a missing file from other reasons.
    pub(super) fn from_io(path: &Path, source: io::Error) -> LoadError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => LoadError::Missing { path },
            _ => LoadError::Read { path, source },
        }
    }
}

/// Why the search for a plugin ended without one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// A plugin was found, and does not load.
    #[error("use the plugin {found_by}: {source}")]
    Load {
        /// Where the path came from, such as `named by MOBULA_PJRT_PLUGIN`.
        found_by: &'static str,
        /// Why.
        source: LoadError,
    },
    /// A variable of the environment is not understood.
    #[error("read {variable}: expected `name:path` separated by commas, got \"{got}\"")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// The part that is wrong.
        got: String,
    },
    /// Nothing was found, and fetching was not allowed.
    #[error(
        "find a PJRT plugin for {platform}: give its path in code or in MOBULA_PJRT_PLUGIN, install one into \
         the active Python environment (for CPUs: pip install {package}), or allow this program to fetch it \
         (PluginSearch::fetch)"
    )]
    NotFound {
        /// The platform that was looked for.
        platform: &'static str,
        /// A package with a plugin.
        package: &'static str,
    },
    /// A TPU's plugin was asked for on a machine without one: without hardware libtpu asks a metadata server
    /// for minutes.
    #[error(
        "find a PJRT plugin for TPUs: this machine shows no TPU (/dev/accel*, /dev/vfio); set \
         TPU_SKIP_MDS_QUERY=1 to try anyway"
    )]
    NoTpuHardware,
    /// Nothing was found, and fetching failed.
    #[error(
        "fetch a PJRT plugin: {source}; or give the path of one in MOBULA_PJRT_PLUGIN, or install one with \
         pip"
    )]
    Fetch {
        /// Why.
        #[from]
        source: FetchError,
    },
    /// A thread of this crate panicked while it loaded the plugin.
    #[error("load a plugin: the thread that loads it ended early")]
    Ended,
}

/// Why a plugin was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No package is known for this kind of machine.
    #[error("no plugin for {platform} is pinned for {target}")]
    NothingPinned {
        /// The platform that was looked for.
        platform: &'static str,
        /// Processor and system.
        target: String,
    },
    /// The environment names no place for a cache.
    #[error("there is no place for the cache: set MOBULA_CACHE_DIR, XDG_CACHE_HOME or HOME")]
    NoCacheDir,
    /// There is no Python.
    #[error("`{program}` was not found; it is needed to run pip")]
    NoPython {
        /// The program that was looked for.
        program: String,
    },
    /// pip ended with an error.
    #[error("pip failed ({status}) to download {requirement}; its last words: {stderr_tail}")]
    Pip {
        /// What was asked for.
        requirement: String,
        /// How pip ended.
        status: String,
        /// The end of what it wrote to its error stream.
        stderr_tail: String,
    },
    /// pip took too long and was killed.
    #[error("pip took longer than {limit:?} to download {requirement}")]
    PipDeadline {
        /// What was asked for.
        requirement: String,
        /// How long it was given.
        limit: Duration,
    },
    /// pip ended well and left no wheel, or several.
    #[error("pip left {got} wheels for {requirement}, expected 1")]
    WheelCount {
        /// What was asked for.
        requirement: String,
        /// How many it left.
        got: usize,
    },
    /// A file is not the one that is pinned.
    #[error("check {what}: expected sha256 {expected}, got {got}")]
    Hash {
        /// What was checked.
        what: String,
        /// The pinned digest.
        expected: String,
        /// The digest of what came.
        got: String,
    },
    /// A file is larger than allowed.
    #[error("take {what}: expected at most {limit} bytes, got {got}")]
    TooLarge {
        /// What it is.
        what: String,
        /// The limit.
        limit: u64,
        /// Its size, or how much of it was read.
        got: u64,
    },
    /// The wheel is no archive, or lacks the library.
    #[error("unpack {member} from the wheel: {reason}")]
    Archive {
        /// The file inside the wheel.
        member: String,
        /// Why.
        reason: String,
    },
    /// Another process holds the cache's lock for too long.
    #[error("wait for the lock {}: another process held it longer than {limit:?}", path.display())]
    LockDeadline {
        /// The lock's file.
        path: PathBuf,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The disk is full.
    #[error("{action} {}: no space is left; about {needed_bytes} bytes are needed", path.display())]
    NoSpace {
        /// What was done.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// How much room the fetch needs in all.
        needed_bytes: u64,
    },
    /// The system refused.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was done.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The cache belongs to another user, or others may write to it.
    #[error("trust the cache {}: {reason}", path.display())]
    UntrustedCache {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A thread of this crate panicked.
    #[error("unpack the wheel: the thread that does it ended early")]
    Ended,
}

impl FetchError {
    /// Whether another package may work where this one did not.
    pub(super) fn is_about_one_package(&self) -> bool {
        matches!(
            self,
            FetchError::Pip { .. }
                | FetchError::WheelCount { .. }
                | FetchError::Hash { .. }
                | FetchError::Archive { .. }
                | FetchError::TooLarge { .. }
        )
    }
}
