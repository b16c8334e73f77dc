//! Tests through the public API, with a real plugin. Expected numbers come from JAX (`fixtures/make.py`) or
//! are worked out by hand.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "it/collectives.rs"]
mod collectives;
#[path = "it/launches.rs"]
mod launches;
#[path = "it/leaks.rs"]
mod leaks;
#[path = "it/plugins.rs"]
mod plugins;
#[path = "it/programs.rs"]
mod programs;
#[path = "it/support.rs"]
mod support;
#[path = "it/training.rs"]
mod training;
#[path = "it/transfers.rs"]
mod transfers;
#[path = "it/virtual_slice.rs"]
mod virtual_slice;
