//! What a search may know of its surroundings, as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables of the environment and the accelerators that are visible, so that a search can be tested without
/// changing the process.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    tpu: bool,
    cuda: bool,
}

impl Environment {
    /// What this process sees.
    pub fn of_process() -> Environment {
        let any_accel = std::fs::read_dir("/dev").is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("accel"))
        });
        Environment {
            variables: std::env::vars_os().collect(),
            tpu: any_accel || Path::new("/dev/vfio").exists(),
            cuda: Path::new("/dev/nvidiactl").exists() || Path::new("/dev/dxg").exists(),
        }
    }

    /// No variables and no accelerators.
    pub fn empty() -> Environment {
        Environment::default()
    }

    /// The same with one more variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Environment {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The same without a variable.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Environment {
        self.variables.remove(name.as_ref());
        self
    }

    /// The same on a machine with TPU chips.
    #[must_use]
    pub fn with_tpu_hardware(mut self) -> Environment {
        self.tpu = true;
        self
    }

    /// The same on a machine with CUDA devices.
    #[must_use]
    pub fn with_cuda_hardware(mut self) -> Environment {
        self.cuda = true;
        self
    }

    /// A variable; one that is set to nothing counts as not set.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// All variables, for a child process.
    pub(super) fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// Whether libtpu may be tried: without hardware it asks a metadata server for minutes, unless it is told
    /// not to.
    pub(super) fn may_probe_tpu(&self) -> bool {
        self.tpu || self.variable("TPU_SKIP_MDS_QUERY").is_some()
    }

    /// Whether TPU chips are visible.
    pub(super) fn has_tpu(&self) -> bool {
        self.tpu
    }

    /// Whether CUDA devices are visible.
    pub(super) fn has_cuda(&self) -> bool {
        self.cuda
    }

    /// Where the cache is: the folder need not exist.
    pub(super) fn cache_dir(&self) -> Option<PathBuf> {
        let own = self.variable("MOBULA_CACHE_DIR").map(PathBuf::from);
        let xdg = || self.variable("XDG_CACHE_HOME").map(|dir| Path::new(dir).join("mobula"));
        let home = || self.variable("HOME").map(|dir| Path::new(dir).join(".cache/mobula"));
        own.or_else(xdg).or_else(home)
    }

    /// The first file named `program` in the folders of `PATH`.
    pub(super) fn find_program(&self, program: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| is_executable(file))
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
