//! The house rules, as tests. What is over a size today is listed in `over.txt`, and the list may only shrink.

mod directions;
mod readme;
mod sources;
mod text;

use std::path::{Path, PathBuf};

/// The workspace's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this package is a folder of the workspace")
        .to_owned()
}

/// Files that git knows or would add, with one of these endings, relative to the root and sorted.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("paths are text");
    let wanted =
        |path: &&str| endings.iter().any(|ending| path.ends_with(ending)) && root().join(path).is_file();
    let mut files: Vec<PathBuf> = listed.lines().filter(wanted).map(PathBuf::from).collect();
    files.sort();
    assert!(!files.is_empty(), "no file ends with {endings:?}");
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Fails with every complaint at once.
fn none(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}:\n  {}", complaints.join("\n  "));
}
