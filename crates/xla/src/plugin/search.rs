//! The order in which places are searched for a plugin.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::environment::Environment;
use super::error::{FetchError, PluginError};
use super::fetch::Fetch;
use super::pinned::{KNOWN, PINNED, Pinned, RECOMMENDED};
use super::{Plugin, cache, python};

/// How long a fetch may take in all, unless told otherwise.
const FETCH_DEADLINE: Duration = Duration::from_secs(15 * 60);

/// The kind of devices that a plugin is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Platform {
    /// The processors of this machine, as any number of devices.
    Cpu,
    /// NVIDIA's devices.
    Cuda,
    /// Google's chips.
    Tpu,
}

impl Platform {
    fn name(self) -> &'static str {
        match self {
            Platform::Cpu => "CPUs",
            Platform::Cuda => "CUDA devices",
            Platform::Tpu => "TPUs",
        }
    }

    /// The platform that a name in JAX's variable means.
    fn from_name(name: &str) -> Option<Platform> {
        let name = name.to_ascii_lowercase();
        let has = |part: &str| name.contains(part);
        match () {
            () if has("tpu") => Some(Platform::Tpu),
            () if has("cuda") || has("gpu") => Some(Platform::Cuda),
            () if has("cpu") => Some(Platform::Cpu),
            () => None,
        }
    }
}

/// Where a plugin was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The path was given in code.
    Code,
    /// `MOBULA_PJRT_PLUGIN`.
    Variable,
    /// `PJRT_NAMES_AND_LIBRARY_PATHS`.
    JaxVariable,
    /// A package of the active Python environment.
    Python,
    /// The cache.
    Cache,
    /// The package registry, just now.
    Fetched,
}

impl Origin {
    fn found_by(self) -> &'static str {
        match self {
            Origin::Code => "given in code",
            Origin::Variable => "named by MOBULA_PJRT_PLUGIN",
            Origin::JaxVariable => "named by PJRT_NAMES_AND_LIBRARY_PATHS",
            Origin::Python => "of the active Python environment",
            Origin::Cache => "in the cache",
            Origin::Fetched => "that was fetched",
        }
    }
}

/// The slow steps of a fetch, for a line on the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Another process or task is fetching the same package.
    Waiting,
    /// pip downloads this package.
    Downloading {
        /// Name and version.
        requirement: &'static str,
    },
    /// The library is unpacked.
    Unpacking {
        /// Its size in bytes.
        bytes: u64,
    },
}

/// Called with each slow step.
pub(super) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// Looks for a plugin; see the [module](crate::plugin) for the order.
///
/// # Examples
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use mobula_xla::plugin::{Platform, PluginSearch};
///
/// let plugin = PluginSearch::new().platform(Platform::Cpu).fetch(true).load().await?;
/// println!("{plugin:?}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PluginSearch {
    path: Option<PathBuf>,
    platform: Option<Platform>,
    may_fetch: bool,
    deadline: Duration,
    environment: Option<Environment>,
    on_progress: OnProgress,
    pinned: &'static [Pinned],
}

impl Default for PluginSearch {
    fn default() -> PluginSearch {
        PluginSearch::new()
    }
}

impl PluginSearch {
    /// A search in the environment of this process that fetches nothing.
    pub fn new() -> PluginSearch {
        PluginSearch {
            path: None,
            platform: None,
            may_fetch: false,
            deadline: FETCH_DEADLINE,
            environment: None,
            on_progress: Arc::new(|_| {}),
            pinned: PINNED,
        }
    }

    /// Uses the plugin at this path and looks nowhere else.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>) -> PluginSearch {
        self.path = Some(path.into());
        self
    }

    /// Looks only for plugins of one kind. Without it: TPU where its hardware is visible, else CUDA where its
    /// is, else CPU.
    #[must_use]
    pub fn platform(mut self, platform: Platform) -> PluginSearch {
        self.platform = Some(platform);
        self
    }

    /// Whether a plugin for CPUs may be fetched with the user's pip when none is found: about 60 MB, once for
    /// each user.
    #[must_use]
    pub fn fetch(mut self, allowed: bool) -> PluginSearch {
        self.may_fetch = allowed;
        self
    }

    /// How long a fetch may take in all, waiting for another process included.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> PluginSearch {
        self.deadline = deadline;
        self
    }

    /// Searches in `environment` instead of this process's.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> PluginSearch {
        self.environment = Some(environment);
        self
    }

    /// Calls `on_progress` with each slow step; each is a `tracing` event as well.
    #[must_use]
    pub fn on_progress(mut self, on_progress: impl Fn(Progress) + Send + Sync + 'static) -> PluginSearch {
        self.on_progress = Arc::new(on_progress);
        self
    }

    /// Fetches one of these instead of the packages that are built in.
    #[cfg(test)]
    pub(super) fn pinned(mut self, pinned: &'static [Pinned]) -> PluginSearch {
        self.pinned = pinned;
        self
    }

    /// Finds and loads a plugin.
    ///
    /// # Errors
    /// [`PluginError::NotFound`] names the ways to provide one; see [`PluginError`].
    ///
    /// # Cancel safety
    /// Dropping the future ends pip and releases the cache's lock; a later search starts anew. A library that
    /// is being unpacked or loaded is finished in the background.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn load(&self) -> Result<Plugin, PluginError> {
        let (origin, path) = self.find().await?;
        tracing::debug!(?origin, path = %path.display(), "found a plugin");
        let loaded = tokio::task::spawn_blocking(move || Plugin::load(path)).await;
        let loaded = loaded.map_err(|_| PluginError::Ended)?;
        loaded.map_err(|source| PluginError::Load { found_by: origin.found_by(), source })
    }

    /// Finds a plugin without loading it.
    ///
    /// # Errors
    /// As [`PluginSearch::load`], without [`PluginError::Load`].
    ///
    /// # Cancel safety
    /// As [`PluginSearch::load`].
    pub async fn find(&self) -> Result<(Origin, PathBuf), PluginError> {
        if let Some(path) = &self.path {
            return Ok((Origin::Code, path.clone()));
        }
        let environment = self.environment.clone().unwrap_or_else(Environment::of_process);
        if let Some(path) = environment.variable("MOBULA_PJRT_PLUGIN") {
            return Ok((Origin::Variable, path.into()));
        }
        let wanted = self.wanted(&environment);
        if let Some(path) = from_jax_variable(&environment, &wanted)? {
            return Ok((Origin::JaxVariable, path));
        }
        let installed = python::site_packages(&environment).await;
        for platform in &wanted {
            if let Some(path) = from_packages(&installed, *platform) {
                return Ok((Origin::Python, path));
            }
        }
        if wanted.contains(&Platform::Cpu) {
            let cached = environment.cache_dir().and_then(|dir| cache::find(&dir, self.pinned));
            if let Some(path) = cached {
                return Ok((Origin::Cache, path));
            }
        }
        self.fetch_or_explain(&environment, &wanted).await
    }

    /// The platforms to look for, best first.
    fn wanted(&self, environment: &Environment) -> Vec<Platform> {
        match self.platform {
            // Asked for by name, but probing it without hardware would wait for minutes.
            Some(Platform::Tpu) if !environment.may_probe_tpu() => Vec::new(),
            Some(platform) => vec![platform],
            None => [
                (Platform::Tpu, environment.has_tpu()),
                (Platform::Cuda, environment.has_cuda()),
                (Platform::Cpu, true),
            ]
            .into_iter()
            .filter_map(|(platform, visible)| visible.then_some(platform))
            .collect(),
        }
    }

    async fn fetch_or_explain(
        &self,
        environment: &Environment,
        wanted: &[Platform],
    ) -> Result<(Origin, PathBuf), PluginError> {
        if self.platform == Some(Platform::Tpu) && wanted.is_empty() {
            return Err(PluginError::NoTpuHardware);
        }
        let platform = self.platform.unwrap_or(Platform::Cpu);
        if !self.may_fetch {
            return Err(PluginError::NotFound { platform: platform.name(), package: RECOMMENDED });
        }
        if !wanted.contains(&Platform::Cpu) || self.pinned.is_empty() {
            let target = format!("{} {}", std::env::consts::ARCH, std::env::consts::OS);
            return Err(FetchError::NothingPinned { platform: platform.name(), target }.into());
        }
        let fetch = Fetch::new(environment, self.deadline, &self.on_progress)?;
        let mut first_error = None;
        for pinned in self.pinned {
            match fetch.run(pinned).await {
                Ok(path) => return Ok((Origin::Fetched, path)),
                Err(error) if error.is_about_one_package() => {
                    let package = pinned.requirement;
                    tracing::warn!(%error, package, "a plugin was not fetched; trying the next");
                    first_error = first_error.or(Some(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        // The list is not empty, so there is a first error.
        Err(first_error.map_or(PluginError::Ended, PluginError::from))
    }
}

impl fmt::Debug for PluginSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginSearch")
            .field("path", &self.path)
            .field("platform", &self.platform)
            .field("may_fetch", &self.may_fetch)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// The path that JAX's variable names for the best of the platforms.
fn from_jax_variable(environment: &Environment, wanted: &[Platform]) -> Result<Option<PathBuf>, PluginError> {
    const VARIABLE: &str = "PJRT_NAMES_AND_LIBRARY_PATHS";
    let Some(value) = environment.variable(VARIABLE) else { return Ok(None) };
    let value = value.to_string_lossy();
    let mut named = Vec::new();
    for part in value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let wrong = || PluginError::Variable { variable: VARIABLE, got: part.to_owned() };
        let (name, path) = part
            .split_once(':')
            .filter(|(name, path)| !name.is_empty() && !path.is_empty())
            .ok_or_else(wrong)?;
        named.push((Platform::from_name(name), path));
    }
    let best = wanted.iter().find_map(|platform| named.iter().find(|(named, _)| *named == Some(*platform)));
    Ok(best.map(|(_, path)| PathBuf::from(path)))
}

/// The library of a known package in one of the folders.
fn from_packages(folders: &[PathBuf], platform: Platform) -> Option<PathBuf> {
    let of_platform = KNOWN.iter().filter(|known| known.platform == platform);
    let candidates =
        of_platform.flat_map(|known| folders.iter().map(|folder: &PathBuf| folder.join(known.library)));
    candidates.into_iter().find(|path: &PathBuf| Path::is_file(path))
}
