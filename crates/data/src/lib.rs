//! Datasets and device batches: from columnar files to sharded arrays on a mesh.
//!
//! **This crate holds its documented face only.** The types below say how batches will be asked for; no source is read
//! and no batch is made here yet.
//!
//! What is to be here: a lazy `Dataset` over Parquet, CSV, JSON lines and Arrow IPC, local and in object stores; relational
//! operators; `map_batches` with a pool of actors; execution that streams under a memory budget; `iter_device_batches` onto
//! a mesh of [`mobula_xla`]; disjoint, resumable shards for the members of a gang.
//!
//! What this crate must never know: trainers and deployments.

use std::num::NonZeroUsize;

/// What to do with a last batch that has fewer rows than the others.
///
/// There is no default: on an accelerator each choice is wrong for somebody, so the caller makes it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Ragged {
    /// Leave it out.
    Drop,
    /// Fill it up with this value, and say in a mask which rows are real.
    Pad(f64),
    /// End with an error that says how many rows are left over.
    Raise,
}

/// How batches are put onto devices.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DeviceBatchOptions {
    /// Rows of a batch over all devices; divides by the devices on the batch axis.
    pub batch_size: NonZeroUsize,
    /// What happens at the end.
    pub ragged: Ragged,
    /// Batches that are made ready ahead of the one that is consumed.
    pub prefetch: usize,
}

impl DeviceBatchOptions {
    /// Batches of so many rows, two of them ahead.
    pub fn new(batch_size: NonZeroUsize, ragged: Ragged) -> Self {
        Self { batch_size, ragged, prefetch: 2 }
    }
}
