//! Who may know whom (DESIGN: `train`, `serve` -> `data` -> `placement` -> `core`; `xla` knows none of ours).

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{CargoOpt, DependencyKind, MetadataCommand};

/// For each library, the libraries of ours that it may depend on.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("mobula-macros", &[]),
    ("mobula-xla", &[]),
    ("mobula-core", &["mobula-macros"]),
    ("mobula-placement", &["mobula-core", "mobula-macros"]),
    ("mobula-data", &["mobula-core", "mobula-macros", "mobula-placement", "mobula-xla"]),
    ("mobula-train", &["mobula-core", "mobula-data", "mobula-macros", "mobula-placement", "mobula-xla"]),
    ("mobula-serve", &["mobula-core", "mobula-data", "mobula-macros", "mobula-placement", "mobula-xla"]),
];

/// Packages that may see everything; none of them is a library of a layer.
const SEE_ALL: &[&str] = &["mobula", "mobula-examples", "mobula-benches", "mobula-tests"];

/// Libraries that only one crate may name.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("bincode", &["mobula-core"]),
    ("quinn", &["mobula-core", "mobula-benches"]),
    ("libloading", &["mobula-xla"]),
    ("linkme", &["mobula-core"]),
];

/// Normal and build dependencies by package; tests may know more.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new()
        .current_dir(super::root())
        .features(CargoOpt::AllFeatures)
        .no_deps()
        .exec()
        .expect("cargo metadata runs");
    let of = |package: &cargo_metadata::Package| {
        let normal =
            package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
        normal.map(|dependency| dependency.name.clone()).collect()
    };
    metadata.packages.iter().map(|package| (package.name.to_string(), of(package))).collect()
}

#[test]
fn knowledge_flows_one_way() {
    let dependencies = dependencies();
    let mut complaints = Vec::new();
    for (package, known) in &dependencies {
        if SEE_ALL.contains(&package.as_str()) {
            continue;
        }
        let Some((_, may_know)) = MAY_KNOW.iter().find(|(name, _)| name == package) else {
            complaints.push(format!("{package} is in no list: say what it may know"));
            continue;
        };
        let ours = known.iter().filter(|name| name.starts_with("mobula"));
        let forbidden = ours.filter(|name| !may_know.contains(&name.as_str()));
        complaints.extend(forbidden.map(|name| format!("{package} must never know {name}")));
    }
    super::none("dependency directions", &complaints);
}

#[test]
fn some_libraries_are_named_in_one_place() {
    let dependencies = dependencies();
    let mut complaints = Vec::new();
    for (library, places) in ONLY_IN {
        let users =
            dependencies.iter().filter(|(_, known)| known.contains(*library)).map(|(package, _)| package);
        let others = users.filter(|package| !places.contains(&package.as_str()));
        complaints
            .extend(others.map(|package| format!("{package} names {library}, which is for {places:?}")));
    }
    super::none("libraries behind one module", &complaints);
}

#[test]
fn bincode_is_named_in_one_module() {
    let sources = super::files(&[".rs"]);
    let users =
        sources.iter().filter(|path| path.starts_with("crates") && super::read(path).contains("bincode::"));
    let others: Vec<_> = users
        .filter(|path| !path.ends_with("core/src/codec.rs"))
        .map(|path| path.display().to_string())
        .collect();
    super::none("bincode stays behind core::codec", &others);
}
