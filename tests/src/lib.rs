//! Fixtures that the tests of several crates share: actors that are registered in the test binaries and in the workers
//! that they start.

pub mod actors;
