//! Plugins: finding, fetching and loading one.
//!
//! A plugin is a shared library with the PJRT C API. [`PluginSearch`] looks for one, in this order:
//!
//! 1. the path given in code ([`PluginSearch::path`]);
//! 2. the path in `MOBULA_PJRT_PLUGIN`;
//! 3. `PJRT_NAMES_AND_LIBRARY_PATHS`, JAX's own variable: `name:path`, separated by commas;
//! 4. packages with a known plugin in the active Python environment; nothing of Python is imported;
//! 5. the cache: `MOBULA_CACHE_DIR`, else `XDG_CACHE_HOME/mobula`, else `HOME/.cache/mobula`;
//! 6. only where [`PluginSearch::fetch`] allows it: the package registry that the user's own pip is
//!    configured for, into the cache.
//!
//! A path from 1 or 2 that does not work is an error, not a reason to look further. For 3 to 6 the platform
//! matters ([`PluginSearch::platform`]); without a choice an accelerator's plugin is taken only when its
//! hardware is visible, because libtpu without hardware asks a metadata server for minutes.
//!
//! # Logs of XLA
//! XLA writes its own log to the standard error stream. How much is decided by `TF_CPP_MIN_LOG_LEVEL` in the
//! environment when the plugin is loaded. Setting a variable while other threads may read it is unsound, so
//! [`quiet_logs`] does it only while the process has a single thread: call it first in `main`. Otherwise set
//! the variable in the shell, or in the environment of a child process.

mod cache;
mod environment;
mod error;
mod fetch;
mod pinned;
mod python;
mod search;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use environment::Environment;
pub use error::{FetchError, LoadError, PluginError};
pub use search::{Origin, Platform, PluginSearch, Progress};

pub use crate::pjrt::quiet_logs;
use crate::pjrt::{Api, LibraryError};

/// Plugins that were loaded, by their canonical path. They are never unloaded, so this never shrinks.
static LOADED: Mutex<Option<HashMap<PathBuf, Plugin>>> = Mutex::new(None);

/// A loaded plugin. Cheap to clone; it stays loaded until the process ends.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

struct Inner {
    api: Api,
    path: PathBuf,
}

impl Plugin {
    /// Loads the plugin at `path`, or gives the one that was loaded from there before. Blocks for some ten
    /// milliseconds.
    ///
    /// # Errors
    /// [`LoadError::Missing`], [`LoadError::NotAFile`], [`LoadError::Read`]; [`LoadError::Library`] when the
    /// file is no library, has no `GetPjrtApi`, or speaks a version of the C API that is not supported.
    pub fn load(path: impl AsRef<Path>) -> Result<Plugin, LoadError> {
        let given = path.as_ref();
        let path = given.canonicalize().map_err(|source| LoadError::from_io(given, source))?;
        let metadata = path.metadata().map_err(|source| LoadError::from_io(given, source))?;
        if !metadata.is_file() {
            return Err(LoadError::NotAFile { path: given.to_owned() });
        }
        // Held while loading: a plugin is initialised once, by one thread.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get_or_insert_default();
        if let Some(plugin) = loaded.get(&path) {
            return Ok(plugin.clone());
        }
        quiet_logs();
        let library = |source: LibraryError| LoadError::Library { path: given.to_owned(), source };
        let api = Api::open(&path).map_err(library)?;
        let plugin = Plugin(Arc::new(Inner { api, path: path.clone() }));
        tracing::debug!(path = %path.display(), version = ?api.version(), "loaded a plugin");
        loaded.insert(path, plugin.clone());
        Ok(plugin)
    }

    /// The file, with links resolved.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Major and minor version of the C API that the plugin speaks.
    pub fn api_version(&self) -> (i32, i32) {
        self.0.api.version()
    }

    /// The function table.
    pub(crate) fn api(&self) -> Api {
        self.0.api
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.api_version();
        write!(f, "Plugin({}, C API {major}.{minor})", self.0.path.display())
    }
}
