//! The folder that fetched plugins are kept in, and its locks.
//!
//! ```text
//! <cache>/pjrt/<sha256 of the wheel>/<library>     complete, or not there: it comes by one rename
//! <cache>/pjrt/<sha256 of the wheel>.lock          held while one process fetches that wheel
//! <cache>/pjrt/.fetch-<sha256>-*                    work in progress of the holder of the lock; stale
//! without one
//! ```
//! The lock is the operating system's, on an open file: a process that dies releases it, so a lock is never
//! stale.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::error::FetchError;
use super::pinned::Pinned;

/// How often a lock that is held is tried again.
const LOCK_RETRY: Duration = Duration::from_millis(50);

/// The library of the first package that is complete in the cache at `dir`.
pub(super) fn find(dir: &Path, pinned: &[Pinned]) -> Option<PathBuf> {
    pinned.iter().find_map(|pinned| Place::new(dir, pinned).library_if_complete())
}

/// The places of one package in the cache.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The folder with all packages.
    pub(super) root: PathBuf,
    /// The folder of this package, once it is complete.
    pub(super) folder: PathBuf,
    lock: PathBuf,
    library: PathBuf,
    library_bytes: u64,
    work_prefix: String,
}

impl Place {
    /// The places of `pinned` in the cache at `dir`.
    pub(super) fn new(dir: &Path, pinned: &Pinned) -> Place {
        let root = dir.join("pjrt");
        let folder = root.join(pinned.wheel_sha256);
        let name = Path::new(pinned.library).file_name().unwrap_or_default();
        Place {
            lock: root.join(format!("{}.lock", pinned.wheel_sha256)),
            library: folder.join(name),
            library_bytes: pinned.library_bytes,
            work_prefix: format!(".fetch-{}-", pinned.wheel_sha256),
            root,
            folder,
        }
    }

    /// The library, when it is there with its full size.
    pub(super) fn library_if_complete(&self) -> Option<PathBuf> {
        let metadata = self.library.metadata().ok()?;
        (metadata.is_file() && metadata.len() == self.library_bytes).then(|| self.library.clone())
    }

    /// Makes the folder, for this user only, and checks that nobody else may put libraries there.
    pub(super) fn prepare(&self) -> Result<(), FetchError> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.root);
        made.map_err(|source| io_error("make the folder", &self.root, source, self.library_bytes))?;
        let metadata = self.root.metadata();
        let metadata =
            metadata.map_err(|source| io_error("look at", &self.root, source, self.library_bytes))?;
        let own = std::process::id();
        let me = std::fs::metadata(format!("/proc/{own}")).map(|process| process.uid()).ok();
        let path = self.root.clone();
        if me.is_some_and(|me| metadata.uid() != me && metadata.uid() != 0) {
            return Err(FetchError::UntrustedCache { path, reason: "it belongs to another user" });
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(FetchError::UntrustedCache { path, reason: "other users may write to it" });
        }
        Ok(())
    }

    /// Takes the lock, calling `on_wait` once if somebody else holds it.
    ///
    /// # Cancel safety
    /// Dropping the future takes no lock.
    pub(super) async fn lock(
        &self,
        deadline: Instant,
        limit: Duration,
        on_wait: impl Fn(),
    ) -> Result<Lock, FetchError> {
        let wrong = |source| io_error("open the lock", &self.lock, source, self.library_bytes);
        let file =
            File::options().create(true).truncate(false).write(true).open(&self.lock).map_err(wrong)?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::Error(source)) => return Err(wrong(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if !std::mem::replace(&mut told, true) {
                on_wait();
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(FetchError::LockDeadline { path: self.lock.clone(), limit });
            }
            tokio::time::sleep_until(deadline.min(now + LOCK_RETRY)).await;
        }
    }

    /// A folder to work in, on the same file system as the cache; what dead processes left is removed. Needs
    /// the lock.
    pub(super) fn work_dir(&self, _lock: &Lock) -> Result<tempfile::TempDir, FetchError> {
        if let Ok(entries) = std::fs::read_dir(&self.root) {
            let stale = entries
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().starts_with(&self.work_prefix));
            for entry in stale {
                if let Err(error) = std::fs::remove_dir_all(entry.path()) {
                    tracing::debug!(%error, path = %entry.path().display(), "stale work was not removed");
                }
            }
        }
        tempfile::Builder::new()
            .prefix(&self.work_prefix)
            .tempdir_in(&self.root)
            .map_err(|source| io_error("make a folder in", &self.root, source, self.library_bytes))
    }

    /// Puts a complete folder in its place by one rename. Needs the lock.
    pub(super) fn publish(&self, complete: &Path, _lock: &Lock) -> Result<PathBuf, FetchError> {
        if self.folder.exists() {
            // It is there and was not complete: damaged by somebody else.
            std::fs::remove_dir_all(&self.folder)
                .map_err(|source| io_error("remove the damaged", &self.folder, source, self.library_bytes))?;
        }
        std::fs::rename(complete, &self.folder)
            .map_err(|source| io_error("put in place", &self.folder, source, self.library_bytes))?;
        Ok(self.library.clone())
    }
}

/// The lock of a package, released on drop.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Tells a full disk from other reasons.
pub(super) fn io_error(
    action: &'static str,
    path: &Path,
    source: io::Error,
    library_bytes: u64,
) -> FetchError {
    let path = path.to_owned();
    match source.kind() {
        // The wheel is about a third of the library, and both lie there for a moment.
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            FetchError::NoSpace { action, path, needed_bytes: library_bytes + library_bytes / 2 }
        }
        _ => FetchError::Io { action, path, source },
    }
}
