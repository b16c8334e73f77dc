//! The front door is true: its commands are what CI runs, and its lists are complete.

use std::collections::BTreeSet;
use std::path::Path;

fn readme() -> String {
    crate::read(Path::new("README.md"))
}

/// The two commands that a newcomer types.
const COMMANDS: [&str; 2] = ["cargo run --example quickstart", "cargo test --workspace"];

#[test]
fn the_two_commands_are_there_and_ci_runs_them() {
    let (readme, ci) = (readme(), crate::read(Path::new(".ci/run")));
    for command in COMMANDS {
        assert!(readme.contains(command), "README.md lacks `{command}`");
        assert!(ci.contains(command), ".ci/run lacks `{command}`");
    }
}

#[test]
fn every_crate_is_on_the_map() {
    let readme = readme();
    let crates = std::fs::read_dir(crate::root().join("crates")).expect("the crates are there");
    let names = crates.map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned());
    let missing: Vec<_> = names.filter(|name| !readme.contains(&format!("`{name}`"))).collect();
    crate::none("crates that are not on README's map", &missing);
}

#[test]
fn every_example_is_listed_and_every_listed_one_is_there() {
    let manifest = crate::read(Path::new("examples/Cargo.toml"));
    let names = |text: &str, before: &str| -> BTreeSet<String> {
        let starts = text.match_indices(before).map(|(at, _)| at + before.len());
        starts
            .map(|at| text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            .collect()
    };
    let declared: BTreeSet<_> = manifest
        .split("[[example]]")
        .skip(1)
        .map(|section| names(section, "name = \"").into_iter().next().expect("an example has a name"))
        .collect();
    let listed = names(&readme(), "--example ");
    assert_eq!(declared, listed, "examples in examples/Cargo.toml, and examples in README.md");
}

#[test]
fn the_program_in_the_readme_is_the_example() {
    let readme = readme();
    let start = readme.find("```rust\n").expect("README.md has a program") + "```rust\n".len();
    let end = start + readme[start..].find("```").expect("the program ends");
    let example = crate::read(Path::new("examples/hello.rs"));
    let code = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.map(str::to_owned).filter(|line| !line.trim().is_empty()).collect()
    };
    assert_eq!(code(&readme[start..end]), code(&example), "the README's program and examples/hello.rs");
    let says_something =
        |line: &&String| line.trim() != "Ok(())" && !line.trim().chars().all(|c| "});".contains(c));
    let lines = code(&example).iter().filter(says_something).count();
    assert!(lines <= 20, "the README's program has {lines} lines that say something; 20 are promised");
}
