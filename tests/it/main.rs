//! Integration tests: the public faces of the crates, together.

mod core;
