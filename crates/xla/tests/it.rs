//! Tests through the public API, with a real plugin. Expected numbers come from JAX (`fixtures/make.py`) or
//! are worked out by hand.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "it/collectives.rs"]
mod collectives;
#[path = "it/support.rs"]
mod support;
#[path = "it/training.rs"]
mod training;
#[path = "it/virtual_slice.rs"]
mod virtual_slice;
