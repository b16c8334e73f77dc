//! The quickstart as a test: three runs in a row with the losses that JAX computed, and every fault within its time.
//!
//! Not under the test harness, since the run with processes starts this program again as its workers.
#![expect(unreachable_pub, reason = "the modules of a program have no outside")]

#[expect(dead_code, reason = "the program's help")]
mod arguments;
mod digits;
mod faults;
mod processes;
#[expect(dead_code, reason = "the program's errors")]
mod screen;
mod training;
mod worker;

use std::time::{Duration, Instant};

use arguments::{Arguments, Fault, Job};
use mobula::BoxError;

/// What `programs/digits.py` wrote.
#[derive(serde::Deserialize)]
struct Expected {
    seed: u32,
    epochs: u32,
    first_losses: Vec<f32>,
    last_loss: f32,
    right: f32,
}

/// Sums of 64 to 256 terms in f32, in another order than JAX's compiler chose.
const TOLERANCE: f32 = 2e-4;

fn main() -> Result<(), BoxError> {
    // The harness's questions: there is one test, and it always runs.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    mobula::xla::plugin::quiet_logs();
    check()
}

#[mobula::main]
async fn check() -> Result<(), BoxError> {
    let expected: Expected = serde_json::from_str(include_str!("programs/losses.json"))?;
    let (seed, epochs) = (expected.seed.to_string(), expected.epochs.to_string());
    let arguments = Arguments::parse(["--seed", &seed, "--epochs", &epochs])?;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(training::run(&arguments).await?);
    }
    for run in &runs {
        screen::say(run);
        assert_eq!(run.losses, runs[0].losses, "the same seed gave other losses");
        assert!(run.accuracy() >= 0.95, "accuracy {}", run.accuracy());
        assert_eq!((run.held_out, run.devices), (359, 16));
        assert_eq!(run.right, expected.right, "JAX has so many right");
        for (step, (loss, jax)) in run.losses.iter().zip(&expected.first_losses).enumerate() {
            assert!((loss - jax).abs() < TOLERANCE, "step {step}: loss {loss}, JAX has {jax}");
        }
        let last = run.losses.last().copied().unwrap_or(f32::NAN);
        assert!(
            (last - expected.last_loss).abs() < TOLERANCE,
            "last loss {last}, JAX has {}",
            expected.last_loss
        );
    }
    let other = Arguments::parse(["--seed", "1", "--epochs", "1"])?;
    assert_ne!(
        training::run(&other).await?.losses[0],
        runs[0].losses[0],
        "another seed gave the same losses"
    );

    for (name, fault) in [("topology", Fault::Topology), ("host", Fault::Host), ("shape", Fault::Shape)] {
        assert_eq!(Arguments::parse(["--break", name])?.job, Job::Break(fault));
        let started = Instant::now();
        faults::show(fault).await?;
        assert!(started.elapsed() < Duration::from_secs(2), "{fault:?} took {:?}", started.elapsed());
    }
    for wrong in [["--break", "nothing"], ["--epochs", "0"], ["--seed", "-1"], ["--what", "?"]] {
        assert!(Arguments::parse(wrong).is_err(), "{wrong:?} was accepted");
    }
    processes::show().await
}
