//! The core: actors here and in other processes.

mod embedded;
mod processes;

use std::time::Duration;

use mobula::{HostSpec, Runtime, RuntimeBuilder};

/// A runtime of child processes that run the tests' worker.
fn processes(hosts: &[&str]) -> RuntimeBuilder {
    let builder = Runtime::builder()
        .processes()
        .worker_executable(env!("CARGO_BIN_EXE_worker"))
        .shutdown_deadline(Duration::from_secs(5));
    hosts.iter().fold(builder, |builder, host| builder.host(HostSpec::new(*host)))
}
