//! What the program can be asked for.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Trains a classifier of handwritten digits on a virtual v6e 4x4 slice.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// Run the gang as four processes: say hello, then kill one and see what the gang reports.
    #[arg(long, conflicts_with = "fault")]
    pub processes: bool,
    /// Ask for something that cannot be, and see the answer.
    #[arg(long = "break", value_name = "WHAT")]
    pub fault: Option<Fault>,
    /// Seed of weights and of the order of rows.
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// Passes over the training rows.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub epochs: u32,
    /// A PJRT plugin to use, instead of searching for one and fetching the CPU plugin by pip if there is none.
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
}

/// What to ask for that cannot be.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Fault {
    /// A topology that no slice has.
    Topology,
    /// A slice that lacks a host.
    Host,
    /// A shape that the generation does not come in.
    Shape,
}
