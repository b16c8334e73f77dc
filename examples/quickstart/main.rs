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

mod digits;
mod faults;
mod processes;
mod screen;
mod training;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use mobula::BoxError;

/// Trains a classifier of handwritten digits on a virtual v6e 4x4 slice.
#[derive(Debug, Parser)]
struct Arguments {
    /// Run the gang as four processes: say hello, then kill one and see what the gang reports.
    #[arg(long, conflicts_with = "fault")]
    processes: bool,
    /// Ask for something that cannot be, and see the answer.
    #[arg(long = "break", value_name = "WHAT")]
    fault: Option<Fault>,
    /// Seed of weights and of the order of rows.
    #[arg(long, default_value_t = 0)]
    seed: u32,
    /// Passes over the training rows.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    epochs: u32,
    /// A PJRT plugin to use, instead of searching for one and fetching the CPU plugin by pip if there is none.
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
}

/// What to ask for that cannot be.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Fault {
    /// A topology that no slice has.
    Topology,
    /// A slice that lacks a host.
    Host,
    /// A shape that the generation does not come in.
    Shape,
}

fn main() -> ExitCode {
    // While there is one thread: XLA takes its log level from the environment, once.
    mobula::xla::plugin::quiet_logs();
    start()
}

#[mobula::main]
async fn start() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            screen::failed(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), BoxError> {
    match arguments.fault {
        Some(fault) => faults::show(fault).await,
        None if arguments.processes => processes::show().await,
        None => training::run(&arguments).await,
    }
}
