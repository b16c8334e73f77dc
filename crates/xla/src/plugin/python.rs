//! The active Python environment: where its packages lie, without importing any.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::environment::Environment;

/// The interpreter that is looked for in `PATH`.
pub(super) const PYTHON: &str = "python3";

/// How long Python may take to say where its packages are.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

/// The most that is read of its answer, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 16;

/// Prints the folders that packages are installed into, one a line.
const QUESTION: &str = "import sysconfig, site\n\
    paths = [sysconfig.get_path('purelib'), sysconfig.get_path('platlib')]\n\
    paths += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []\n\
    print('\\n'.join(dict.fromkeys(paths)))";

/// The folders that packages are installed into: those of `VIRTUAL_ENV`, else what `python3` says. Empty when
/// there is no Python or it does not answer: then there is nothing to find.
pub(super) async fn site_packages(environment: &Environment) -> Vec<PathBuf> {
    if let Some(root) = environment.variable("VIRTUAL_ENV") {
        return of_virtual_environment(Path::new(root));
    }
    let Some(python) = environment.find_program(PYTHON) else { return Vec::new() };
    let mut command = command(&python, environment);
    // Python looks for modules in the current folder too, and nobody's files shall be run.
    command.args(["-c", QUESTION]).current_dir("/").stderr(Stdio::null());
    let Ok(Ok(output)) = tokio::time::timeout(ANSWER_DEADLINE, command.output()).await else {
        tracing::debug!(python = %python.display(), "Python did not say where its packages are");
        return Vec::new();
    };
    let answer = &output.stdout[..output.stdout.len().min(ANSWER_BYTES_MAX)];
    String::from_utf8_lossy(answer).lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
}

/// A command with the environment of the search that ends when its handle is dropped.
pub(super) fn command(program: &Path, environment: &Environment) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(environment.variables()).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// `lib/python3.N/site-packages` under the root of a virtual environment.
fn of_virtual_environment(root: &Path) -> Vec<PathBuf> {
    let versions =
        ["lib", "lib64"].into_iter().flat_map(|lib| std::fs::read_dir(root.join(lib)).into_iter().flatten());
    let folders =
        versions.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path().join("site-packages")).collect();
    folders.sort();
    folders
}
