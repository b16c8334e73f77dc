//! Sizes, docs, `unwrap` and `unsafe`, from the syntax tree of every source file.

use std::collections::BTreeMap;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::Visit;

/// Lines of a file; tests and their data have more room, for their cases lie side by side.
const FILE_LINES_MAX: usize = 500;
/// Lines of a function, from its signature to its brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Files with `unsafe`, and why.
const UNSAFE_FILES: &[(&str, &str)] =
    &[("crates/xla/src/pjrt/", "the PJRT C API"), ("crates/xla/src/pjrt.rs", "the PJRT C API")];
/// What is over a size today, as `path[::function] lines`.
const OVER: &str = include_str!("over.txt");

/// What one source file has that a rule is about.
#[derive(Default)]
struct Facts {
    functions: Vec<(String, usize)>,
    unwraps: Vec<usize>,
    unsafes: Vec<usize>,
    /// How deep the visitor is in code that is only for tests.
    in_tests: usize,
}

impl Facts {
    fn of(path: &Path) -> Self {
        let text = crate::read(path);
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut facts = Self { in_tests: usize::from(is_test_file(path)), ..Self::default() };
        facts.visit_file(&file);
        facts
    }

    fn function(&mut self, name: &syn::Ident, whole: proc_macro2::Span) {
        let lines = whole.end().line - whole.start().line + 1;
        self.functions.push((name.to_string(), lines));
    }
}

fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    let is = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string().contains("test"),
        meta => meta.path().segments.last().is_some_and(|last| last.ident == "test"),
    };
    attributes.iter().any(is)
}

impl<'ast> Visit<'ast> for Facts {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let test = usize::from(is_test_only(&item.attrs));
        self.in_tests += test;
        syn::visit::visit_item_mod(self, item);
        self.in_tests -= test;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let test = usize::from(is_test_only(&item.attrs));
        self.in_tests += test;
        // Without the docs above it.
        self.function(
            &item.sig.ident,
            item.sig.span().join(item.block.span()).unwrap_or_else(|| item.block.span()),
        );
        syn::visit::visit_item_fn(self, item);
        self.in_tests -= test;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(
            &item.sig.ident,
            item.sig.span().join(item.block.span()).unwrap_or_else(|| item.block.span()),
        );
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.in_tests == 0 && call.method == "unwrap" {
            self.unwraps.push(call.method.span().start().line);
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.unsafes.push(block.unsafe_token.span.start().line);
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.unsafes.extend(item.unsafety.map(|token| token.span.start().line));
        syn::visit::visit_item_impl(self, item);
    }
}

#[test]
fn sizes_are_kept_and_the_list_of_debts_only_shrinks() {
    let mut over = BTreeMap::new();
    for path in crate::files(&[".rs"]) {
        let lines = crate::read(&path).lines().count();
        if lines > FILE_LINES_MAX {
            over.insert(path.display().to_string(), lines);
        }
        let long = Facts::of(&path).functions.into_iter().filter(|(_, lines)| *lines > FUNCTION_LINES_MAX);
        over.extend(long.map(|(name, lines)| (format!("{}::{name}", path.display()), lines)));
    }
    let debts: BTreeMap<_, usize> = OVER
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap_or_else(|| panic!("over.txt: {line:?}")))
        .map(|(what, lines)| (what.to_owned(), lines.parse().expect("over.txt: a number of lines")))
        .collect();
    let mut complaints = Vec::new();
    for (what, lines) in &over {
        match debts.get(what) {
            None => complaints.push(format!("{what} has {lines} lines: make it two")),
            Some(allowed) if lines > allowed => {
                complaints.push(format!("{what} grew from {allowed} to {lines} lines"))
            }
            Some(allowed) if lines < allowed => {
                complaints.push(format!("{what} shrank to {lines}: say so in over.txt"))
            }
            Some(_) => {}
        }
    }
    let paid = debts.keys().filter(|what| !over.contains_key(*what));
    complaints.extend(paid.map(|what| format!("{what} is within its size: take it off over.txt")));
    crate::none("files of 500 lines, functions of 70", &complaints);
}

#[test]
fn every_file_opens_with_what_it_is() {
    let undocumented = |path: &&std::path::PathBuf| !crate::read(path).trim_start().starts_with("//!");
    let sources = crate::files(&[".rs"]);
    let complaints: Vec<_> =
        sources.iter().filter(undocumented).map(|path| path.display().to_string()).collect();
    crate::none("`//!` in every file", &complaints);
}

#[test]
fn unwrap_is_for_tests() {
    let mut complaints = Vec::new();
    for path in crate::files(&[".rs"]) {
        complaints.extend(Facts::of(&path).unwraps.iter().map(|line| format!("{}:{line}", path.display())));
    }
    crate::none("no `unwrap` outside tests: `?`, or `expect` with why it cannot be", &complaints);
}

#[test]
fn unsafe_is_in_the_named_files_only() {
    let mut complaints = Vec::new();
    for path in crate::files(&[".rs"]) {
        let named = UNSAFE_FILES.iter().any(|(file, _)| path.to_string_lossy().starts_with(file));
        if !named {
            complaints
                .extend(Facts::of(&path).unsafes.iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    crate::none("`unsafe` outside the named files", &complaints);
}

/// The one place of the libraries that prints, and why.
const PRINTS: &str = "crates/core/src/worker.rs";

#[test]
fn libraries_do_not_print() {
    let mut complaints = Vec::new();
    for path in
        crate::files(&[".rs"]).into_iter().filter(|path| path.starts_with("crates") && !is_test_file(path))
    {
        // A worker that cannot join has no other way to say so.
        if path.ends_with(PRINTS) {
            continue;
        }
        for (number, line) in crate::read(&path).lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//")
                && ["println!", "eprintln!", "print!(", "dbg!"].iter().any(|p| code.contains(p))
            {
                complaints.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    crate::none("libraries use tracing, and print nothing", &complaints);
}

#[test]
fn no_module_is_called_mod() {
    let complaints: Vec<_> = crate::files(&[".rs"])
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "mod.rs"))
        .map(|path| path.display().to_string())
        .collect();
    crate::none("`foo.rs` beside `foo/`, never `foo/mod.rs`", &complaints);
}

#[test]
fn no_test_is_ignored_and_nothing_is_left_open() {
    let marks = [
        concat!("#[", "ignore"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[should", "_panic"),
    ];
    let mut complaints = Vec::new();
    for path in crate::files(&[".rs"]) {
        for (number, line) in crate::read(&path).lines().enumerate() {
            let found = marks.iter().find(|mark| line.contains(**mark));
            complaints.extend(found.map(|mark| format!("{}:{}: {mark}", path.display(), number + 1)));
        }
    }
    crate::none("nothing ignored, nothing left open", &complaints);
}
