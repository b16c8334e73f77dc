//! What is committed speaks of the project alone.

/// Text that belongs to one machine, or to nobody.
const MACHINE: &[&str] = &["/home/", "/root/", "/work/", "/Users/"];

#[test]
fn no_path_of_one_machine() {
    let mut complaints = Vec::new();
    for path in crate::files(&[".rs", ".md", ".toml", ".py", ".txt", "run", ".mlir"]) {
        if path.ends_with("tidy/text.rs") {
            continue;
        }
        for (number, line) in crate::read(&path).lines().enumerate() {
            let found = MACHINE.iter().find(|part| line.contains(**part));
            complaints.extend(found.map(|part| format!("{}:{}: {part}", path.display(), number + 1)));
        }
    }
    crate::none("paths of one machine", &complaints);
}

#[test]
fn lines_end_without_blanks() {
    let mut complaints = Vec::new();
    for path in crate::files(&[".rs", ".md", ".toml", ".py"]) {
        let text = crate::read(&path);
        let bad = text.lines().enumerate().filter(|(_, line)| line.ends_with([' ', '\t']));
        complaints.extend(bad.map(|(number, _)| format!("{}:{}", path.display(), number + 1)));
        if !text.ends_with('\n') {
            complaints.push(format!("{}: no newline at its end", path.display()));
        }
    }
    crate::none("blanks at the end of lines", &complaints);
}
