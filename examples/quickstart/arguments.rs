//! What the program can be asked for.

use std::path::PathBuf;

use lexopt::prelude::*;

/// The answer to `--help`.
pub const HELP: &str = "\
Trains a classifier of handwritten digits on a virtual v6e 4x4 slice.

Usage: quickstart [OPTIONS]

  --processes        run the gang as four processes: say hello, then kill one and see what the gang reports
  --break WHAT       ask for something that cannot be, and see the answer; WHAT is
                       topology  a topology that no slice has
                       host      a slice that lacks a host
                       shape     a shape that the generation does not come in
  --seed N           seed of weights and of the order of rows (0)
  --epochs N         passes over the training rows (40)
  --plugin FILE      a PJRT plugin, instead of searching for one and fetching the CPU plugin by pip
  --help             this";

/// Passes over the training rows that one run may take.
const EPOCHS_MAX: u32 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    pub job: Job,
    pub seed: u32,
    pub epochs: u32,
    pub plugin: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    Train,
    Processes,
    Break(Fault),
    Help,
}

/// What to ask for that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Topology,
    Host,
    Shape,
}

impl Arguments {
    /// Of what follows the program's name.
    pub fn parse(
        arguments: impl IntoIterator<Item = impl Into<std::ffi::OsString>>,
    ) -> Result<Self, lexopt::Error> {
        let mut parsed = Self { job: Job::Train, seed: 0, epochs: 40, plugin: None };
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("processes") => parsed.job = Job::Processes,
                Long("break") => parsed.job = Job::Break(fault(&parser.value()?.string()?)?),
                Long("seed") => parsed.seed = parser.value()?.parse()?,
                Long("epochs") => parsed.epochs = epochs(parser.value()?.parse()?)?,
                Long("plugin") => parsed.plugin = Some(parser.value()?.into()),
                Long("help") | Short('h') => parsed.job = Job::Help,
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(parsed)
    }
}

fn fault(text: &str) -> Result<Fault, lexopt::Error> {
    match text {
        "topology" => Ok(Fault::Topology),
        "host" => Ok(Fault::Host),
        "shape" => Ok(Fault::Shape),
        other => Err(format!("--break {other}: expected topology, host or shape").into()),
    }
}

fn epochs(count: u32) -> Result<u32, lexopt::Error> {
    match count {
        1..=EPOCHS_MAX => Ok(count),
        other => Err(format!("--epochs {other}: expected 1 to {EPOCHS_MAX}").into()),
    }
}
