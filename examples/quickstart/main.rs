//! Trains a classifier of handwritten digits on a virtual v6e 4x4 slice: 4 hosts, 16 chips, one SPMD program.
//!
//! Placement reserves the slice and spawns one actor a host; each reads its shard of `examples/data/digits.parquet` and
//! brings its rows to every step, which is one launch of a program exported by JAX (`programs/digits.py`) over the 16 devices.
//!
//! ```text
//! cargo run --example quickstart                      # train, and report the accuracy on the held-out fifth
//! cargo run --example quickstart -- --processes       # four processes; one is killed, and the gang says which and why
//! cargo run --example quickstart -- --break topology  # or host, or shape: what is answered when it cannot be
//! ```

#![expect(unreachable_pub, reason = "the modules of a program have no outside")]

mod arguments;
mod digits;
mod faults;
mod processes;
mod screen;
mod training;
mod worker;

use std::process::ExitCode;

use arguments::{Arguments, Job};
use mobula::BoxError;

fn main() -> ExitCode {
    // While there is one thread: XLA takes its log level from the environment, once.
    mobula::xla::plugin::quiet_logs();
    start()
}

#[mobula::main]
async fn start() -> ExitCode {
    let level = std::env::var("RUST_LOG").ok().and_then(|level| level.parse().ok());
    let level = level.unwrap_or(tracing_subscriber::filter::LevelFilter::WARN);
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            screen::failed(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), BoxError> {
    let arguments = Arguments::parse(std::env::args_os().skip(1))
        .map_err(|error| format!("read its arguments: {error} (--help lists them)"))?;
    match arguments.job {
        Job::Train => training::run(&arguments).await.map(screen::say),
        Job::Processes => processes::show().await,
        Job::Break(fault) => faults::show(fault).await,
        Job::Help => {
            screen::say(arguments::HELP);
            Ok(())
        }
    }
}
