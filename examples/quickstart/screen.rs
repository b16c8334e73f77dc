//! What the example prints.

use std::error::Error;
use std::fmt::Display;

use indicatif::{ProgressBar, ProgressStyle};
use mobula::placement::PlacementGroup;

/// One line.
pub fn say(line: impl Display) {
    println!("{line}");
}

/// The error with its sources, on the standard error.
pub fn failed(error: &dyn Error) {
    eprintln!("quickstart failed to {error}");
    let mut source = error.source();
    while let Some(error) = source {
        eprintln!("  because: {error}");
        source = error.source();
    }
}

/// The slices of a group, drawn: hosts as boxes, chips with their coordinates.
pub fn draw(group: &PlacementGroup) {
    for slice in group.slices() {
        println!("slice {}, held by {}", slice.slice, group.id());
        print!("{}", slice.spec.picture());
    }
}

/// A bar of so many steps, on a terminal; nothing on a pipe.
pub fn bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} epochs {msg} {elapsed}");
    // The template is a constant, and right.
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Something that takes a while and has no measure.
pub fn spinner(what: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}
