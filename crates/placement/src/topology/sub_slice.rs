//! Parts of a slice: rectangles of chips, aligned to their own shape, wired inside.

use serde::{Deserialize, Serialize};

use super::bundle::process_block;
use super::chips::ChipSet;
use super::error::SubSliceError;
use super::grid::{Block, Coord, Grid};
use super::shape::Topology;
use super::spec::SliceSpec;

/// A slice cut edge to edge into parts of one shape.
///
/// A part is made of whole hosts, or lies inside one host (1, 2 or 4 chips: what a process can be given).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    spec: SliceSpec,
    shape: Topology,
}

/// One part of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "SubSliceRecord", into = "SubSliceRecord")]
pub struct SubSlice {
    spec: SliceSpec,
    shape: Topology,
    index: u32,
    chips: Block,
}

/// A [`SubSlice`] as it travels; worked out again where it arrives.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct SubSliceRecord {
    spec: SliceSpec,
    shape: Topology,
    index: u32,
}

impl From<SubSlice> for SubSliceRecord {
    fn from(part: SubSlice) -> Self {
        Self { spec: part.spec, shape: part.shape, index: part.index }
    }
}

impl TryFrom<SubSliceRecord> for SubSlice {
    type Error = SubSliceError;

    fn try_from(record: SubSliceRecord) -> Result<Self, Self::Error> {
        let tiling = record.spec.tiling(record.shape)?;
        tiling.part(record.index).ok_or(SubSliceError::NoSuchPart {
            slice: record.spec.topology(),
            shape: record.shape,
            index: record.index,
            len: tiling.len(),
        })
    }
}

/// What a part of a slice takes of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubSliceHost {
    /// The worker, numbered in the whole slice.
    pub worker: u32,
    /// The chips of that host.
    pub chips: ChipSet,
}

impl SliceSpec {
    /// The shapes of parts that the slice can be cut into, smallest first; the slice itself is not one of them.
    pub fn sub_shapes(self) -> Vec<Topology> {
        let mut shapes = self.generation().facts().shapes.all();
        let parts_of_host = [1, 2, 4].into_iter().filter_map(process_block);
        shapes.extend(parts_of_host.map(|part| self.topology().with_extents(part)));
        shapes.retain(|&shape| shape != self.topology() && self.tiles(shape));
        shapes.sort_unstable_by_key(|shape| (shape.chips(), *shape));
        shapes.dedup();
        shapes
    }

    /// Cuts the slice into parts of one shape; the shape of the whole slice gives one part.
    ///
    /// # Errors
    /// [`SubSliceError::DoesNotFit`] with the shapes that do.
    pub fn tiling(self, shape: Topology) -> Result<Tiling, SubSliceError> {
        if self.topology() == shape || (self.is_shape(shape) && self.tiles(shape)) {
            return Ok(Tiling { spec: self, shape });
        }
        Err(SubSliceError::DoesNotFit {
            generation: self.generation(),
            slice: self.topology(),
            asked: shape,
            fitting: self.sub_shapes(),
        })
    }

    fn is_shape(self, shape: Topology) -> bool {
        let of_host = process_block(shape.chips()).is_some_and(|part| part == shape.grid());
        self.generation().facts().shapes.allows(shape) || (of_host && self.topology().dims() == shape.dims())
    }

    fn tiles(self, shape: Topology) -> bool {
        let (part, host) = (shape.grid(), self.host_block());
        let inside_host = host.is_tiled_by(part) && process_block(part.len()) == Some(part);
        shape.dims() == self.topology().dims()
            && self.chip_grid().is_tiled_by(part)
            && (part.is_tiled_by(host) || inside_host)
    }
}

impl Tiling {
    /// The slice that is cut.
    pub const fn spec(&self) -> SliceSpec {
        self.spec
    }

    /// The shape of each part.
    pub const fn shape(&self) -> Topology {
        self.shape
    }

    /// How many parts there are.
    pub fn len(&self) -> u32 {
        self.grid().len()
    }

    /// Whether there is no part; a tiling always has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the parts lie beside each other.
    pub fn grid(&self) -> Grid {
        self.spec.chip_grid().divided_by(self.shape.grid())
    }

    /// A part by its number, x fastest; `None` past the last.
    pub fn part(&self, index: u32) -> Option<SubSlice> {
        let chips = Block::tile(self.spec.chip_grid(), self.shape.grid(), index)?;
        Some(SubSlice { spec: self.spec, shape: self.shape, index, chips })
    }

    /// The number of the part that a chip lies in; `None` outside the slice.
    pub fn part_of(&self, chip: Coord) -> Option<u32> {
        if !self.spec.chip_grid().holds(chip) {
            return None;
        }
        let [width, height, depth] = self.shape.grid().0;
        self.grid().index(Coord::new(chip.x / width, chip.y / height, chip.z / depth))
    }

    /// The parts that a worker's chips lie in, ascending: one, or several when parts are smaller than a host.
    pub fn parts_of_worker(&self, worker: u32) -> Vec<u32> {
        let chips = self.spec.chips_of(worker).unwrap_or_default();
        let mut parts: Vec<u32> = chips.into_iter().filter_map(|chip| self.part_of(chip)).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }
}

impl SubSlice {
    /// The slice that it is a part of.
    pub const fn spec(&self) -> SliceSpec {
        self.spec
    }

    /// Its own shape.
    pub const fn shape(&self) -> Topology {
        self.shape
    }

    /// Its number among the parts of the same shape, x fastest.
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Its chips, in the coordinates of the whole slice.
    pub const fn chips(&self) -> Block {
        self.chips
    }

    /// How its hosts lie beside each other: the grid of processes.
    pub fn host_grid(&self) -> Grid {
        let [x, y, z] = self.shape.grid().0;
        let [width, height, depth] = self.spec.host_block().0;
        Grid([x.div_ceil(width), y.div_ceil(height), z.div_ceil(depth)])
    }

    /// The chips of one of its hosts as a grid: all of them, or the part of the one host.
    pub fn chips_per_host(&self) -> Grid {
        let [x, y, z] = self.shape.grid().0;
        let [width, height, depth] = self.spec.host_block().0;
        Grid([x.min(width), y.min(height), z.min(depth)])
    }

    /// Its hosts with the chips it takes of each, in rank order.
    pub fn hosts(&self) -> Vec<SubSliceHost> {
        let mut hosts: Vec<SubSliceHost> = Vec::new();
        let (tile, grid) = (self.chips_per_host(), self.host_grid());
        for part in 0..grid.len() {
            let Some(at) = Block::tile(self.shape.grid(), tile, part) else { continue };
            let (from, step) = (self.chips.origin, at.origin);
            let origin = Coord::new(from.x + step.x, from.y + step.y, from.z + step.z);
            let owned = Block { origin, extents: tile }.coords();
            let owners: Vec<(u32, u8)> = owned.filter_map(|chip| self.spec.owner_of(chip)).collect();
            if let Some(&(worker, _)) = owners.first() {
                let chips = owners.iter().map(|&(_, chip)| chip).collect();
                hosts.push(SubSliceHost { worker, chips });
            }
        }
        hosts
    }
}
