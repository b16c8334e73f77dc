//! Fetching a pinned wheel with the user's own pip, and unpacking its one library into the cache.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::cache::{Lock, Place, io_error};
use super::environment::Environment;
use super::error::FetchError;
use super::pinned::Pinned;
use super::python::{PYTHON, command};
use super::search::{OnProgress, Progress};

/// The largest wheel that is taken, in bytes.
const WHEEL_BYTES_MAX: u64 = 256 << 20;
/// How much of pip's error stream an error carries, in bytes.
const STDERR_TAIL_BYTES: usize = 2048;
/// How much is copied at once, in bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// What fetches of one search share.
pub(super) struct Fetch<'a> {
    environment: &'a Environment,
    cache_dir: PathBuf,
    limit: Duration,
    deadline: Instant,
    on_progress: &'a OnProgress,
}

impl<'a> Fetch<'a> {
    /// Fetches must end within `limit` from now.
    pub(super) fn new(
        environment: &'a Environment,
        limit: Duration,
        on_progress: &'a OnProgress,
    ) -> Result<Fetch<'a>, FetchError> {
        let cache_dir = environment.cache_dir().ok_or(FetchError::NoCacheDir)?;
        Ok(Fetch { environment, cache_dir, limit, deadline: Instant::now() + limit, on_progress })
    }

    /// Fetches one package, unless somebody else just did; gives the path of its library.
    ///
    /// # Cancel safety
    /// Dropping the future ends pip, removes what it left and releases the lock; unpacking, once begun, is
    /// finished.
    pub(super) async fn run(&self, pinned: &'static Pinned) -> Result<PathBuf, FetchError> {
        let place = Place::new(&self.cache_dir, pinned);
        place.prepare()?;
        let on_wait = || self.tell(Progress::Waiting);
        let lock = place.lock(self.deadline, self.limit, on_wait).await?;
        if let Some(library) = place.library_if_complete() {
            return Ok(library);
        }
        let work = place.work_dir(&lock)?;
        self.tell(Progress::Downloading { requirement: pinned.requirement });
        let wheel = self.download(pinned, work.path()).await?;
        self.tell(Progress::Unpacking { bytes: pinned.library_bytes });
        // Lock and folder go along, so that they stay until the work is done even if nobody waits for it.
        let unpacked = tokio::task::spawn_blocking(move || {
            let library = unpack(pinned, &wheel, work.path(), &place, &lock);
            drop(work);
            library
        });
        let library = unpacked.await.map_err(|_| FetchError::Ended)??;
        tracing::info!(path = %library.display(), "fetched a plugin");
        Ok(library)
    }

    fn tell(&self, progress: Progress) {
        tracing::info!(?progress, "fetching a plugin");
        (self.on_progress)(progress);
    }

    /// Lets pip put the wheel into `work`.
    async fn download(&self, pinned: &Pinned, work: &Path) -> Result<PathBuf, FetchError> {
        let program = PYTHON.to_owned();
        let python = self.environment.find_program(PYTHON).ok_or(FetchError::NoPython { program })?;
        let requirements = work.join("requirements.txt");
        let line = format!("{} --hash=sha256:{}\n", pinned.requirement, pinned.wheel_sha256);
        let wrong = |source| io_error("write", &requirements, source, pinned.library_bytes);
        std::fs::write(&requirements, line).map_err(wrong)?;
        let target = work.join("wheel");
        let mut pip = command(&python, self.environment);
        pip.args(["-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r"])
            .arg(&requirements)
            .arg("-d")
            .arg(&target)
            .current_dir(work)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let requirement = pinned.requirement.to_owned();
        let output = match tokio::time::timeout_at(self.deadline, pip.output()).await {
            Ok(output) => output.map_err(|source| io_error("run", &python, source, pinned.library_bytes))?,
            Err(_) => return Err(FetchError::PipDeadline { requirement, limit: self.limit }),
        };
        if !output.status.success() {
            let stderr_tail = tail(&output.stderr);
            return Err(FetchError::Pip { requirement, status: output.status.to_string(), stderr_tail });
        }
        let entries = std::fs::read_dir(&target).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut wheels: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "whl")).collect();
        match (wheels.pop(), wheels.len()) {
            (Some(wheel), 0) => Ok(wheel),
            (last, rest) => {
                Err(FetchError::WheelCount { requirement, got: rest + usize::from(last.is_some()) })
            }
        }
    }
}

/// The end of what pip wrote.
fn tail(stderr: &[u8]) -> String {
    let start = stderr.len().saturating_sub(STDERR_TAIL_BYTES);
    String::from_utf8_lossy(&stderr[start..]).trim().to_owned()
}

/// Checks the wheel, unpacks the library, checks it, and puts it in place.
fn unpack(
    pinned: &Pinned,
    wheel: &Path,
    work: &Path,
    place: &Place,
    lock: &Lock,
) -> Result<PathBuf, FetchError> {
    let wrong = |action, path: &Path| {
        let path = path.to_owned();
        move |source| io_error(action, &path, source, pinned.library_bytes)
    };
    let mut file = File::open(wheel).map_err(wrong("open", wheel))?;
    let what = format!("the wheel of {}", pinned.requirement);
    copy(&mut file, &mut io::sink(), &what, WHEEL_BYTES_MAX, pinned.wheel_sha256)
        .map_err(|error| error.into_fetch(wheel, pinned))?;
    let member = || pinned.library.to_owned();
    let archive =
        |error: zip::result::ZipError| FetchError::Archive { member: member(), reason: error.to_string() };
    let mut archive_file = zip::ZipArchive::new(file).map_err(archive)?;
    let mut library = archive_file.by_name(pinned.library).map_err(archive)?;
    let complete = work.join("complete");
    std::fs::create_dir(&complete).map_err(wrong("make the folder", &complete))?;
    let name = Path::new(pinned.library).file_name().unwrap_or_default();
    let target = complete.join(name);
    let mut out = File::create(&target).map_err(wrong("write", &target))?;
    let what = format!("{} of {}", pinned.library, pinned.requirement);
    copy(&mut library, &mut out, &what, pinned.library_bytes, pinned.library_sha256)
        .map_err(|error| error.into_fetch(&target, pinned))?;
    out.sync_all().map_err(wrong("write", &target))?;
    place.publish(&complete, lock)
}

/// What can go wrong with a copy.
enum CopyError {
    Fetch(FetchError),
    Io(io::Error),
}

impl CopyError {
    fn into_fetch(self, path: &Path, pinned: &Pinned) -> FetchError {
        match self {
            CopyError::Fetch(error) => error,
            CopyError::Io(source) => io_error("copy to", path, source, pinned.library_bytes),
        }
    }
}

/// Copies at most `limit` bytes and checks their digest.
fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    what: &str,
    limit: u64,
    expected: &str,
) -> Result<(), CopyError> {
    let (mut digest, mut got) = (Sha256::new(), 0_u64);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = from.read(&mut chunk).map_err(CopyError::Io)?;
        if count == 0 {
            break;
        }
        got += count as u64;
        if got > limit {
            let what = what.to_owned();
            return Err(CopyError::Fetch(FetchError::TooLarge { what, limit, got }));
        }
        digest.update(&chunk[..count]);
        to.write_all(&chunk[..count]).map_err(CopyError::Io)?;
    }
    let got: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if got != expected {
        let (what, expected) = (what.to_owned(), expected.to_owned());
        return Err(CopyError::Fetch(FetchError::Hash { what, expected, got }));
    }
    Ok(())
}
