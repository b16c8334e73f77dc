//! Generations, shapes and geometry: what a slice is made of, as one table of data and pure functions.
//!
//! # Words
//! - *Topology*: the shape of a grid of chips, written `4x4` or `2x2x4`, always in the order x, y, z.
//! - *Host block*: the part of the grid that one host owns (2x2, 2x2x1, or 2x4 for a host of eight).
//! - *Host grid*: the chip grid divided by the host block, in the same order.
//! - *Worker id*: the number of a host in its slice: **x fastest, then y, then z**. Chips inside a host are numbered the
//!   same way inside its block.
//! - *Pod type*: `v6e-16`; the number counts tensor cores. Several topologies share one, so nothing is ever matched on it.
//!
//! # Invariants
//! - **T1** Every [`SliceSpec`] divides into whole host blocks, so `hosts * chips_per_host == chips`.
//! - **T2** Worker id to host coordinates and back is the identity, and so is (worker, chip) to chip coordinates and back.
//! - **T3** Text is measured before it is read: no input makes this module allocate more than a few hundred bytes.
//! - **T4** A sub-slice is a rectangle of chips aligned to its own shape; its hosts follow from geometry, from no table.
//!
//! Facts come from the provider's public documentation; [`Generation::facts`] is the only place that holds them.

mod bundle;
mod chips;
mod error;
mod generation;
mod grid;
mod nearest;
mod picture;
mod pod_type;
mod shape;
mod spec;
mod sub_slice;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use bundle::process_block;
pub use bundle::{BundleError, BundleLayout, CHIPS_PER_PROCESS};
pub use chips::ChipSet;
pub use error::{
    Excerpt, ParseGenerationError, ParsePodTypeError, ParseTopologyError, SpecError, SubSliceError,
};
pub use generation::Generation;
pub use grid::{Block, Coord, Grid};
pub(crate) use nearest::distance;
pub use picture::Picture;
pub use pod_type::PodType;
pub use shape::{EXTENT_MAX, TEXT_LEN_MAX, Topology};
pub use spec::SliceSpec;
pub use sub_slice::{SubSlice, SubSliceHost, Tiling};
pub use table::{Facts, ShapeRule, WrapRule};
