//! What is answered when it cannot be: at once, and with what to do.

use std::time::{Duration, Instant};

use mobula::BoxError;
use mobula::placement::{Reservation, VirtualSlice};
use mobula::prelude::*;

use crate::arguments::Fault;
use crate::screen;

pub async fn show(fault: Fault) -> Result<(), BoxError> {
    let started = Instant::now();
    match fault {
        Fault::Topology => topology().await?,
        Fault::Host => host().await?,
        Fault::Shape => shape().await?,
    }
    screen::say(format_args!("answered after {} ms", started.elapsed().as_millis()));
    Ok(())
}

/// A topology that exists, but that no slice here has.
async fn topology() -> Result<(), BoxError> {
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").virtual_slice("v6e", "2x4").start().await?;
    screen::say("asked for v5p 4x4x4, where there are one v6e 4x4 and one v6e 2x4:");
    match runtime.slice_placement_group("v5p", "4x4x4").submit()? {
        Reservation::Infeasible(reason) => screen::say(format_args!("infeasible: {reason}")),
        other => return Err(format!("expected a refusal, got {other:?}").into()),
    }
    runtime.shutdown().await.map_err(Into::into)
}

/// A slice that lacks a host: never granted, and never silently waited for.
async fn host() -> Result<(), BoxError> {
    let broken = VirtualSlice::new("v6e", "4x4").without_worker(3);
    let runtime = Runtime::builder().virtual_slice_with(broken).start().await?;
    screen::say("asked for v6e 4x4, where the only such slice lacks a host:");
    let request =
        runtime.slice_placement_group("v6e", "4x4").named("quickstart").deadline(Duration::from_millis(500));
    match request.submit()? {
        Reservation::Pending(pending) => {
            screen::say(format_args!("pending: {}", pending.reason()));
            match pending.wait().await {
                Err(error) => screen::say(format_args!("after its deadline: failed to {error}")),
                Ok(group) => return Err(format!("a broken slice was granted: {group:?}").into()),
            }
        }
        other => return Err(format!("expected to wait, got {other:?}").into()),
    }
    runtime.shutdown().await.map_err(Into::into)
}

/// A shape that the generation does not come in.
async fn shape() -> Result<(), BoxError> {
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").start().await?;
    for (generation, topology) in [("v6e", "3x5"), ("v6e", "4x"), ("v6e", "4x4x4"), ("h100", "4x4")] {
        match runtime.slice_placement_group(generation, topology).submit() {
            Err(error) => screen::say(format_args!("asked for {generation} {topology}: failed to {error}")),
            Ok(other) => return Err(format!("{generation} {topology} was accepted: {other:?}").into()),
        }
    }
    runtime.shutdown().await.map_err(Into::into)
}
