//! Equal bundles of chips laid over the hosts of slices.

use super::chips::ChipSet;
use super::error::list;
use super::grid::{Block, Grid};
use super::spec::SliceSpec;

/// How many chips one process can be given.
pub const CHIPS_PER_PROCESS: [u32; 4] = [1, 2, 4, 8];

/// The rectangle of chips that a process with this many gets; `None` when it cannot be given that many.
pub(crate) const fn process_block(chips: u32) -> Option<Grid> {
    match chips {
        1 => Some(Grid([1, 1, 1])),
        2 => Some(Grid([1, 2, 1])),
        4 => Some(Grid([2, 2, 1])),
        8 => Some(Grid([2, 4, 1])),
        _ => None,
    }
}

/// Why chips cannot be dealt out that way. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A number of chips that no process can be given.
    #[error("give a bundle {got} chips: a process takes one of {}", list(&CHIPS_PER_PROCESS))]
    Chips {
        /// Chips a bundle that were asked for.
        got: u32,
    },
    /// More than a host has, or a number that leaves a rest on each host.
    #[error("give a bundle {got} chips of {spec}: a host has {chips_per_host}, which does not divide")]
    Uneven {
        /// The slice.
        spec: SliceSpec,
        /// Chips a bundle that were asked for.
        got: u32,
        /// Chips a host of the slice.
        chips_per_host: u32,
    },
    /// No slice at all, or no bundle at all.
    #[error("lay bundles over {slices} slices: at least one of each is needed")]
    Nothing {
        /// How many slices were asked for.
        slices: u32,
    },
    /// Workers that leave a slice partly used.
    #[error("lay {got} workers over slices of {spec}: the number must be a multiple of {per_slice}")]
    NotAMultiple {
        /// The slice.
        spec: SliceSpec,
        /// How many workers were asked for.
        got: u32,
        /// How many fit on one slice.
        per_slice: u32,
    },
}

/// Equal bundles over one or more slices, in rank order: slice by slice, worker by worker, chip by chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleLayout {
    spec: SliceSpec,
    slices: u32,
    tile: Grid,
}

impl SliceSpec {
    /// Lays bundles over `slices` slices; without a number of chips, one bundle a host.
    ///
    /// # Errors
    /// [`BundleError::Chips`], [`BundleError::Uneven`] or [`BundleError::Nothing`].
    pub fn bundles(self, slices: u32, chips_per_bundle: Option<u32>) -> Result<BundleLayout, BundleError> {
        if slices == 0 {
            return Err(BundleError::Nothing { slices });
        }
        let got = chips_per_bundle.unwrap_or(self.chips_per_host());
        let tile = process_block(got).ok_or(BundleError::Chips { got })?;
        if !self.host_block().is_tiled_by(tile) {
            return Err(BundleError::Uneven { spec: self, got, chips_per_host: self.chips_per_host() });
        }
        Ok(BundleLayout { spec: self, slices, tile })
    }

    /// How many slices a number of workers fills exactly.
    ///
    /// # Errors
    /// As [`SliceSpec::bundles`], and [`BundleError::NotAMultiple`]: a wrong number is never rounded.
    pub fn slices_for(self, workers: u32, chips_per_worker: Option<u32>) -> Result<u32, BundleError> {
        let per_slice = self.bundles(1, chips_per_worker)?.per_slice();
        if workers == 0 || !workers.is_multiple_of(per_slice) {
            return Err(BundleError::NotAMultiple { spec: self, got: workers, per_slice });
        }
        Ok(workers / per_slice)
    }
}

impl BundleLayout {
    /// Chips of one bundle.
    pub const fn chips_per_bundle(&self) -> u32 {
        self.tile.len()
    }

    /// Bundles on one host.
    pub const fn per_host(&self) -> u32 {
        self.spec.chips_per_host() / self.tile.len()
    }

    /// Bundles on one slice.
    pub fn per_slice(&self) -> u32 {
        self.spec.hosts() * self.per_host()
    }

    /// Bundles on all slices.
    pub fn total(&self) -> u32 {
        self.slices * self.per_slice()
    }

    /// Where a bundle lies: slice, worker in it, and chips of that host; `None` past the last.
    pub fn place(&self, bundle: u32) -> Option<(u32, u32, ChipSet)> {
        if bundle >= self.total() {
            return None;
        }
        let (slice, in_slice) = (bundle / self.per_slice(), bundle % self.per_slice());
        let (worker, in_host) = (in_slice / self.per_host(), in_slice % self.per_host());
        let block = self.spec.host_block();
        let part = Block::tile(block, self.tile, in_host)?;
        let chips = part.coords().filter_map(|chip| block.index(chip)).map(|chip| chip as u8).collect();
        Some((slice, worker, chips))
    }
}
