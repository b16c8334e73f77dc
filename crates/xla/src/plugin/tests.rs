//! The search for a plugin in made-up environments, and fetches with a `python3` that plays pip.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::task::JoinSet;

use super::cache::Place;
use super::pinned::Pinned;
use super::*;

/// The library in the wheels of these tests.
const LIBRARY: &[u8] = b"not a library, but of the right size and digest";

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// A machine of its own: a folder with a home, a `PATH` and a wheel that the registry has.
struct Machine {
    root: tempfile::TempDir,
    wheel_sha256: String,
}

impl Machine {
    fn new() -> Machine {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "bin", "registry"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let wheel = wheel(&[("demo/lib.so", LIBRARY)]);
        fs::write(root.path().join("registry/demo-1.0-py3-none-any.whl"), &wheel).unwrap();
        Machine { root, wheel_sha256: hex(&wheel) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Puts a `python3` in the `PATH` that runs this shell script; `$target` is pip's target folder. It
    /// counts its runs.
    fn python(&self, script: &str) {
        let runs = self.path("runs");
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = -c ]; then exit 0; fi\n\
             echo run >> {runs}\nfor target; do :; done\n{script}\n",
            runs = runs.display()
        );
        let file = self.path("bin/python3");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A pip that works.
    fn working_pip(&self) {
        let registry = self.path("registry");
        self.python(&format!("mkdir -p \"$target\" && cp {}/*.whl \"$target\"", registry.display()));
    }

    /// How often pip ran.
    fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs")).map_or(0, |text| text.lines().count())
    }

    fn environment(&self) -> Environment {
        // The script needs the programs of a shell.
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        Environment::empty().with("HOME", self.path("home")).with("PATH", path)
    }

    fn pinned(&self) -> &'static [Pinned] {
        Box::leak(Box::new([Pinned {
            requirement: "demo==1.0",
            wheel_sha256: leak(self.wheel_sha256.clone()),
            library: "demo/lib.so",
            library_sha256: leak(hex(LIBRARY)),
            library_bytes: LIBRARY.len() as u64,
        }]))
    }

    fn search(&self) -> PluginSearch {
        PluginSearch::new().environment(self.environment()).pinned(self.pinned()).fetch(true)
    }

    async fn fetch_error(&self) -> FetchError {
        match self.search().find().await.unwrap_err() {
            PluginError::Fetch { source } => source,
            other => panic!("{other}"),
        }
    }

    fn cached(&self) -> PathBuf {
        self.path("home/.cache/mobula/pjrt").join(&self.wheel_sha256).join("lib.so")
    }
}

fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn touch(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, b"").unwrap();
}

#[tokio::test]
async fn places_are_searched_in_order() {
    let machine = Machine::new();
    let site = machine.path("venv/lib/python3.12/site-packages");
    let installed = site.join("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");
    let fetched = machine.cached();
    touch(&installed);
    touch(&fetched);
    fs::write(&fetched, LIBRARY).unwrap();
    let full = machine
        .environment()
        .with("MOBULA_PJRT_PLUGIN", "/variable.so")
        .with("PJRT_NAMES_AND_LIBRARY_PATHS", "tpu:/tpu.so, cpu:/jax.so")
        .with("VIRTUAL_ENV", machine.path("venv"));
    let find = |environment: &Environment| machine.search().fetch(false).environment(environment.clone());
    let code = find(&full).path("/code.so").find().await.unwrap();
    assert_eq!(code, (Origin::Code, "/code.so".into()));
    assert_eq!(find(&full).find().await.unwrap(), (Origin::Variable, "/variable.so".into()));
    let full = full.without("MOBULA_PJRT_PLUGIN");
    assert_eq!(find(&full).find().await.unwrap(), (Origin::JaxVariable, "/jax.so".into()));
    let full = full.without("PJRT_NAMES_AND_LIBRARY_PATHS");
    assert_eq!(find(&full).find().await.unwrap(), (Origin::Python, installed));
    let full = full.without("VIRTUAL_ENV");
    assert_eq!(find(&full).find().await.unwrap(), (Origin::Cache, fetched.clone()));
    fs::remove_file(fetched).unwrap();
    let error = find(&full).find().await.unwrap_err();
    assert!(matches!(error, PluginError::NotFound { .. }));
    for way in ["MOBULA_PJRT_PLUGIN", "pip install lammps-jax-pjrt-cpu", "fetch", "path in code"] {
        assert!(error.to_string().contains(way), "{error}");
    }
}

#[tokio::test]
async fn the_platform_decides() {
    let machine = Machine::new();
    let site = machine.path("venv/lib/python3.12/site-packages");
    let [cpu, cuda, tpu] = [
        "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
        "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        "libtpu/libtpu.so",
    ]
    .map(|library| site.join(library));
    for library in [&cpu, &cuda, &tpu] {
        touch(library);
    }
    let environment = machine.environment().with("VIRTUAL_ENV", machine.path("venv"));
    let search = |environment: &Environment| PluginSearch::new().environment(environment.clone());
    let found = async |search: PluginSearch| search.find().await.unwrap().1;
    assert_eq!(found(search(&environment)).await, cpu);
    let with_cuda = environment.clone().with_cuda_hardware();
    assert_eq!(found(search(&with_cuda)).await, cuda);
    let with_tpu = with_cuda.with_tpu_hardware();
    assert_eq!(found(search(&with_tpu)).await, tpu);
    assert_eq!(found(search(&with_tpu).platform(Platform::Cpu)).await, cpu);
    // Without hardware libtpu would wait for minutes, unless it is told not to.
    let error = search(&environment).platform(Platform::Tpu).find().await.unwrap_err();
    assert!(matches!(error, PluginError::NoTpuHardware));
    let skip = environment.clone().with("TPU_SKIP_MDS_QUERY", "1");
    assert_eq!(found(search(&skip).platform(Platform::Tpu)).await, tpu);
    assert_eq!(found(search(&skip)).await, cpu);
    let fetch = search(&environment.without("VIRTUAL_ENV")).platform(Platform::Cuda).fetch(true);
    assert!(matches!(
        fetch.find().await.unwrap_err(),
        PluginError::Fetch { source: FetchError::NothingPinned { .. } }
    ));
}

#[tokio::test]
async fn a_variable_that_is_not_understood_is_named() {
    let environment = Environment::empty().with("PJRT_NAMES_AND_LIBRARY_PATHS", "cpu=/x.so");
    let error = PluginSearch::new().environment(environment).find().await.unwrap_err();
    assert!(matches!(error, PluginError::Variable { got, .. } if got == "cpu=/x.so"));
    // A variable that is set to nothing is not set.
    let empty = Environment::empty().with("MOBULA_PJRT_PLUGIN", "").with("PJRT_NAMES_AND_LIBRARY_PATHS", "");
    let error = PluginSearch::new().environment(empty).find().await.unwrap_err();
    assert!(matches!(error, PluginError::NotFound { .. }));
}

#[test]
fn the_cache_lies_where_the_variables_say() {
    let home = Environment::empty().with("HOME", "/own");
    assert_eq!(home.cache_dir(), Some("/own/.cache/mobula".into()));
    let xdg = home.with("XDG_CACHE_HOME", "/xdg");
    assert_eq!(xdg.cache_dir(), Some("/xdg/mobula".into()));
    assert_eq!(xdg.with("MOBULA_CACHE_DIR", "/own").cache_dir(), Some("/own".into()));
    assert_eq!(Environment::empty().cache_dir(), None);
}

#[tokio::test]
async fn a_fetch_fills_the_cache_and_tells_its_steps() {
    let machine = Machine::new();
    machine.working_pip();
    let steps = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&steps);
    let search = machine.search().on_progress(move |step| told.lock().unwrap().push(step));
    assert_eq!(search.find().await.unwrap(), (Origin::Fetched, machine.cached()));
    assert_eq!(fs::read(machine.cached()).unwrap(), LIBRARY);
    let unpacking = Progress::Unpacking { bytes: LIBRARY.len() as u64 };
    assert_eq!(*steps.lock().unwrap(), [Progress::Downloading { requirement: "demo==1.0" }, unpacking]);
    assert_eq!(search.find().await.unwrap(), (Origin::Cache, machine.cached()));
    assert_eq!(machine.runs(), 1);
    // Only the library, its folder and the lock are left.
    let left = fs::read_dir(machine.path("home/.cache/mobula/pjrt")).unwrap().count();
    assert_eq!(left, 2);
    // What loads it says that it is no library.
    let error = search.load().await.unwrap_err();
    assert!(matches!(error, PluginError::Load { found_by: "in the cache", .. }), "{error}");
}

#[tokio::test]
async fn many_who_ask_at_once_fetch_once() {
    let machine = Machine::new();
    machine.working_pip();
    let waiting = Arc::new(AtomicUsize::new(0));
    let mut searches = JoinSet::new();
    for _ in 0..16 {
        let waiting = Arc::clone(&waiting);
        let search = machine.search().on_progress(move |step| {
            waiting.fetch_add(usize::from(step == Progress::Waiting), Ordering::Relaxed);
        });
        searches.spawn(async move { search.find().await.unwrap().1 });
    }
    for path in searches.join_all().await {
        assert_eq!(path, machine.cached());
    }
    assert_eq!(machine.runs(), 1);
    assert_eq!(waiting.load(Ordering::Relaxed), 15);
}

#[tokio::test]
async fn a_lock_that_is_held_too_long_is_an_error() {
    let machine = Machine::new();
    machine.working_pip();
    let place = Place::new(&machine.path("home/.cache/mobula"), &machine.pinned()[0]);
    place.prepare().unwrap();
    let limit = Duration::from_secs(5);
    let held = place.lock(tokio::time::Instant::now(), limit, || {}).await.unwrap();
    tokio::time::pause();
    let error = machine.search().deadline(limit).find().await.unwrap_err();
    let PluginError::Fetch { source: FetchError::LockDeadline { limit: got, .. } } = error else {
        panic!("{error}")
    };
    assert_eq!(got, limit);
    tokio::time::resume();
    // The file alone, which a dead process leaves, is no lock.
    drop(held);
    assert_eq!(machine.search().find().await.unwrap().0, Origin::Fetched);
}

#[tokio::test]
async fn what_dead_processes_left_is_removed() {
    let machine = Machine::new();
    machine.working_pip();
    let root = machine.path("home/.cache/mobula/pjrt");
    let stale = root.join(format!(".fetch-{}-dead", machine.wheel_sha256));
    let other = root.join(".fetch-0000-alive");
    fs::create_dir_all(&stale).unwrap();
    fs::create_dir_all(&other).unwrap();
    // A library of the wrong size is no library.
    touch(&machine.cached());
    fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(machine.search().find().await.unwrap(), (Origin::Fetched, machine.cached()));
    assert_eq!(fs::read(machine.cached()).unwrap(), LIBRARY);
    assert!(!stale.exists() && other.exists());
}

#[tokio::test]
async fn a_cache_that_others_can_write_to_is_not_trusted() {
    let machine = Machine::new();
    machine.working_pip();
    let root = machine.path("home/.cache/mobula/pjrt");
    fs::create_dir_all(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(machine.fetch_error().await, FetchError::UntrustedCache { .. }));
    assert_eq!(machine.runs(), 0);
}

#[tokio::test]
async fn a_machine_without_python_or_home() {
    let machine = Machine::new();
    let environment = machine.environment().with("PATH", machine.path("bin"));
    let error = machine.search().environment(environment).find().await.unwrap_err();
    assert!(matches!(error, PluginError::Fetch { source: FetchError::NoPython { .. } }), "{error}");
    let error = machine.search().environment(machine.environment().without("HOME")).find().await.unwrap_err();
    assert!(matches!(error, PluginError::Fetch { source: FetchError::NoCacheDir }), "{error}");
}

#[tokio::test]
async fn pip_that_fails_is_quoted() {
    let machine = Machine::new();
    machine.python("echo 'ERROR: no matching distribution' >&2; exit 7");
    let FetchError::Pip { requirement, status, stderr_tail } = machine.fetch_error().await else { panic!() };
    assert_eq!(
        (requirement.as_str(), stderr_tail.as_str()),
        ("demo==1.0", "ERROR: no matching distribution")
    );
    assert!(status.contains('7'), "{status}");
    // Of much only the end.
    machine.python("yes 0123456789 | head -c 1000000 >&2; exit 1");
    let FetchError::Pip { stderr_tail, .. } = machine.fetch_error().await else { panic!() };
    assert!(stderr_tail.len() <= 2048 && stderr_tail.len() > 1000);
    assert!(!machine.cached().exists());
}

/// Waits until `done`, at most a minute.
async fn until(done: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never happened");
        tokio::task::yield_now().await;
    }
}

/// Whether the process whose id is in the file has ended, reaped or not.
fn has_ended(pid: &Path) -> bool {
    let pid = fs::read_to_string(pid).unwrap();
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).map_or(true, |stat| stat.contains(") Z "))
}

#[tokio::test]
async fn pip_that_hangs_is_ended() {
    let machine = Machine::new();
    let pid = machine.path("pid");
    machine.python(&format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid.display()));
    let limit = Duration::from_secs(900);
    let search = machine.search().deadline(limit);
    let task = tokio::spawn(async move { search.find().await });
    until(|| pid.exists()).await;
    tokio::time::pause();
    tokio::time::advance(limit).await;
    let error = task.await.unwrap().unwrap_err();
    tokio::time::resume();
    let PluginError::Fetch { source: FetchError::PipDeadline { limit: got, .. } } = error else {
        panic!("{error}")
    };
    assert_eq!(got, limit);
    until(|| has_ended(&pid)).await;
    // Nothing is left of the try, and the next one works.
    machine.working_pip();
    assert_eq!(machine.search().find().await.unwrap().0, Origin::Fetched);
}

#[tokio::test]
async fn a_dropped_search_ends_pip_and_releases_the_lock() {
    let machine = Machine::new();
    let pid = machine.path("pid");
    machine.python(&format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid.display()));
    let search = machine.search();
    let task = tokio::spawn(async move { search.find().await });
    until(|| pid.exists()).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    until(|| has_ended(&pid)).await;
    machine.working_pip();
    assert_eq!(machine.search().find().await.unwrap().0, Origin::Fetched);
    let left = fs::read_dir(machine.path("home/.cache/mobula/pjrt")).unwrap().count();
    assert_eq!(left, 2);
}

#[tokio::test]
async fn what_pip_brings_is_checked() {
    // Another wheel than the pinned one.
    let machine = Machine::new();
    machine.python("mkdir -p \"$target\" && echo other > \"$target/demo-1.0.whl\"");
    assert!(matches!(machine.fetch_error().await, FetchError::Hash { what, .. } if what.contains("wheel")));
    // None, or two.
    machine.python("mkdir -p \"$target\"");
    assert!(matches!(machine.fetch_error().await, FetchError::WheelCount { got: 0, .. }));
    machine.python("mkdir -p \"$target\" && touch \"$target/a.whl\" \"$target/b.whl\"");
    assert!(matches!(machine.fetch_error().await, FetchError::WheelCount { got: 2, .. }));
}

#[tokio::test]
async fn what_is_in_the_wheel_is_checked() {
    type Members<'a> = &'a [(&'a str, &'a [u8])];
    let cases: [(Members<'_>, &str); 4] = [
        (&[("demo/other.so", LIBRARY)], "unpack demo/lib.so"),
        (&[("demo/lib.so", b"short")], "sha256"),
        (&[("demo/lib.so", &[b'x'; 4096])], "at most 47 bytes"),
        (&[], "unpack demo/lib.so"),
    ];
    for (members, words) in cases {
        let mut machine = Machine::new();
        let wheel = wheel(members);
        fs::write(machine.path("registry/demo-1.0-py3-none-any.whl"), &wheel).unwrap();
        machine.wheel_sha256 = hex(&wheel);
        machine.working_pip();
        let error = machine.fetch_error().await.to_string();
        assert!(error.contains(words), "{error}");
        assert!(!machine.cached().exists());
    }
    let mut machine = Machine::new();
    fs::write(machine.path("registry/demo-1.0-py3-none-any.whl"), b"no archive").unwrap();
    machine.wheel_sha256 = hex(b"no archive");
    machine.working_pip();
    assert!(matches!(machine.fetch_error().await, FetchError::Archive { .. }));
}

#[tokio::test]
async fn the_next_package_is_tried() {
    let machine = Machine::new();
    let registry = machine.path("registry");
    machine.python(&format!(
        "if grep -q gone requirements.txt; then exit 1; fi\nmkdir -p \"$target\" && cp {}/*.whl \"$target\"",
        registry.display()
    ));
    let good = machine.pinned()[0];
    let gone = Pinned { requirement: "gone==1.0", wheel_sha256: "00", ..good };
    let search = machine.search().pinned(Box::leak(Box::new([gone, good])));
    assert_eq!(search.find().await.unwrap(), (Origin::Fetched, machine.cached()));
    assert_eq!(machine.runs(), 2);
}

#[test]
fn full_disks_are_told_apart() {
    let error = |kind: std::io::ErrorKind| cache::io_error("write", Path::new("/x"), kind.into(), 1000);
    assert!(matches!(error(std::io::ErrorKind::StorageFull), FetchError::NoSpace { needed_bytes: 1500, .. }));
    assert!(matches!(error(std::io::ErrorKind::PermissionDenied), FetchError::Io { .. }));
}

#[tokio::test]
async fn python_is_asked_without_importing_packages() {
    let machine = Machine::new();
    let site = machine.path("site");
    touch(&site.join("fastatomstruct_xla_cpu/libpjrt_cpu.so"));
    machine.python("exit 1");
    let script = format!("#!/bin/sh\n[ \"$1\" = -c ] && echo {}\n", site.display());
    fs::write(machine.path("bin/python3"), script).unwrap();
    let found = machine.search().fetch(false).find().await.unwrap();
    assert_eq!(found, (Origin::Python, site.join("fastatomstruct_xla_cpu/libpjrt_cpu.so")));
    // A Python that fails has no packages.
    machine.python("exit 1");
    assert!(matches!(machine.search().fetch(false).find().await, Err(PluginError::NotFound { .. })));
}

#[test]
fn logs_are_quieted_only_by_a_lone_thread() {
    // Tests run on threads of their own, so nothing may be set here unless the user did.
    let chosen = std::env::var_os("TF_CPP_MIN_LOG_LEVEL").is_some();
    assert_eq!(quiet_logs(), chosen);
    assert_eq!(std::env::var_os("TF_CPP_MIN_LOG_LEVEL").is_some(), chosen);
}
