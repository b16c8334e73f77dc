//! A generation and a topology that belong together, and the geometry that follows.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::chips::ChipSet;
use super::error::{ParseGenerationError, SpecError, SubSliceError};
use super::generation::Generation;
use super::grid::{Block, Coord, Grid};
use super::nearest::nearest;
use super::pod_type::{self, PodType};
use super::shape::Topology;
use super::table::WrapRule;

/// What a slice is: its generation, its topology, and which part of the grid one host owns.
///
/// # Examples
/// ```
/// use mobula_placement::topology::SliceSpec;
///
/// let spec = SliceSpec::parse("TPU-V6E", "4x4")?;
/// assert_eq!((spec.chips(), spec.hosts(), spec.chips_per_host()), (16, 4, 4));
///
/// let refused = SliceSpec::parse("v6e", "3x5").unwrap_err();
/// assert!(refused.to_string().contains("nearest: 4x4"));
/// # Ok::<(), mobula_placement::topology::SpecError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "SpecRecord", into = "SpecRecord")]
pub struct SliceSpec {
    generation: Generation,
    topology: Topology,
    host_block: Grid,
}

/// A [`SliceSpec`] as it travels; checked again where it arrives.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct SpecRecord {
    generation: Generation,
    topology: Topology,
    chips_per_host: u32,
}

impl From<SliceSpec> for SpecRecord {
    fn from(spec: SliceSpec) -> Self {
        Self { generation: spec.generation, topology: spec.topology, chips_per_host: spec.chips_per_host() }
    }
}

impl TryFrom<SpecRecord> for SliceSpec {
    type Error = SpecError;

    fn try_from(record: SpecRecord) -> Result<Self, Self::Error> {
        Self::reported(record.generation, record.topology, Some(record.chips_per_host))
    }
}

impl SliceSpec {
    /// A slice that can be asked for, with the hosts it usually comes with.
    ///
    /// # Errors
    /// [`SpecError::Dims`] or [`SpecError::Shape`] when the generation does not come in that shape.
    pub fn new(generation: Generation, topology: Topology) -> Result<Self, SpecError> {
        let facts = generation.facts();
        if topology.dims() != facts.dims {
            return Err(SpecError::Dims {
                generation,
                topology,
                expected: facts.dims,
                nearest: nearest(generation, topology),
            });
        }
        if !facts.shapes.allows(topology) {
            return Err(SpecError::Shape { generation, topology, nearest: nearest(generation, topology) });
        }
        Ok(Self { generation, topology, host_block: usual_block(generation, topology) })
    }

    /// Reads both parts from text. A pod type may stand for the generation; its count must then be that of the topology.
    ///
    /// # Errors
    /// Any [`SpecError`] but [`SpecError::ChipsPerHost`].
    pub fn parse(generation: &str, topology: &str) -> Result<Self, SpecError> {
        let known: Result<Generation, ParseGenerationError> = generation.parse();
        let spec = Self::new(known?, topology.parse()?)?;
        // The length was checked when the generation was read.
        if let Some((generation, count)) = pod_type::split(&generation.trim_ascii().to_ascii_lowercase()) {
            let chips = count / generation.facts().cores_per_chip;
            if chips != spec.chips() {
                return Err(SpecError::PodType {
                    pod_type: format!("{}-{count}", generation.facts().pod_prefix),
                    expected: chips,
                    topology: spec.topology,
                    got: spec.chips(),
                });
            }
        }
        Ok(spec)
    }

    /// The same slice with another number of chips a host: v6e 2x4 as two hosts of four.
    ///
    /// # Errors
    /// [`SpecError::ChipsPerHost`] with the numbers that are possible.
    pub fn with_chips_per_host(self, chips: u32) -> Result<Self, SpecError> {
        let blocks = blocks_of(self.generation, self.topology);
        match blocks.iter().find(|block| block.len() == chips) {
            Some(&host_block) => Ok(Self { host_block, ..self }),
            None => Err(SpecError::ChipsPerHost {
                generation: self.generation,
                topology: self.topology,
                got: chips,
                valid: blocks.iter().map(|block| block.len()).collect(),
            }),
        }
    }

    /// A slice as a real host reports it: the provider's own shape is believed as long as it divides into host blocks,
    /// even where no table has it.
    ///
    /// # Errors
    /// [`SpecError::Dims`] for another number of axes, [`SpecError::ChipsPerHost`] for hosts that the generation does not
    /// have or that do not tile the shape.
    pub fn reported(
        generation: Generation,
        topology: Topology,
        chips_per_host: Option<u32>,
    ) -> Result<Self, SpecError> {
        let facts = generation.facts();
        if topology.dims() != facts.dims {
            return Err(SpecError::Dims {
                generation,
                topology,
                expected: facts.dims,
                nearest: nearest(generation, topology),
            });
        }
        let known = facts.single_host_blocks.iter().chain([&facts.host_block]);
        let mut blocks: Vec<Grid> =
            known.copied().filter(|&block| topology.grid().is_tiled_by(block)).collect();
        blocks.sort_unstable_by_key(|block| block.len());
        blocks.dedup();
        let usual = usual_block(generation, topology);
        let wanted = chips_per_host.unwrap_or_else(|| usual.len());
        match blocks.iter().find(|block| block.len() == wanted) {
            Some(&host_block) => Ok(Self { generation, topology, host_block }),
            None => Err(SpecError::ChipsPerHost {
                generation,
                topology,
                got: wanted,
                valid: blocks.iter().map(|block| block.len()).collect(),
            }),
        }
    }

    /// The generation.
    pub const fn generation(self) -> Generation {
        self.generation
    }

    /// The shape of the whole slice.
    pub const fn topology(self) -> Topology {
        self.topology
    }

    /// How many chips the slice has.
    pub const fn chips(self) -> u32 {
        self.topology.chips()
    }

    /// How many hosts the slice has.
    pub fn hosts(self) -> u32 {
        self.host_grid().len()
    }

    /// How many chips each host has.
    pub const fn chips_per_host(self) -> u32 {
        self.host_block.len()
    }

    /// The shape of the part of the grid that one host owns.
    pub const fn host_block(self) -> Grid {
        self.host_block
    }

    /// The grid of chips.
    pub const fn chip_grid(self) -> Grid {
        self.topology.grid()
    }

    /// The grid of hosts: the chip grid divided by the host block.
    pub fn host_grid(self) -> Grid {
        self.chip_grid().divided_by(self.host_block)
    }

    /// The pod type the slice is sold under; other topologies may share it.
    pub const fn pod_type(self) -> PodType {
        PodType::new(self.generation, self.chips())
    }

    /// Memory of all chips together, in bytes.
    pub const fn hbm_bytes(self) -> u64 {
        self.chips() as u64 * self.generation.facts().hbm_bytes_per_chip
    }

    /// Where a worker lies in the host grid.
    pub fn host_at(self, worker: u32) -> Option<Coord> {
        self.host_grid().coord(worker)
    }

    /// The worker at a place of the host grid.
    pub fn worker_at(self, host: Coord) -> Option<u32> {
        self.host_grid().index(host)
    }

    /// The rectangle of chips that a worker owns.
    pub fn block_of(self, worker: u32) -> Option<Block> {
        Block::tile(self.chip_grid(), self.host_block, worker)
    }

    /// The coordinates of a worker's chips, in their order on the host.
    pub fn chips_of(self, worker: u32) -> Option<Vec<Coord>> {
        self.block_of(worker).map(|block| block.coords().collect())
    }

    /// The coordinate of one chip of a worker.
    pub fn chip_at(self, worker: u32, chip: u8) -> Option<Coord> {
        let block = self.block_of(worker)?;
        let inside = block.extents.coord(u32::from(chip))?;
        let (from, at) = (block.origin, inside);
        Some(Coord::new(from.x + at.x, from.y + at.y, from.z + at.z))
    }

    /// The worker that owns a chip, and the chip's number on that host.
    pub fn owner_of(self, chip: Coord) -> Option<(u32, u8)> {
        if !self.chip_grid().holds(chip) {
            return None;
        }
        let [width, height, depth] = self.host_block.0;
        let host = Coord::new(chip.x / width, chip.y / height, chip.z / depth);
        let inside = Coord::new(chip.x % width, chip.y % height, chip.z % depth);
        let number = self.host_block.index(inside)?;
        // A host has at most eight chips.
        Some((self.worker_at(host)?, number as u8))
    }

    /// Which place of the host grid a host with these chips takes, as a worker number.
    ///
    /// The provider may number workers by creation, not by place: where coordinates are reported, they decide.
    ///
    /// # Errors
    /// [`SubSliceError::OutOfBounds`] for a chip outside the slice, [`SubSliceError::NotAHostBlock`] when the chips are not
    /// exactly one aligned host block.
    pub fn place_of(self, chips: &[Coord]) -> Result<u32, SubSliceError> {
        if let Some(&chip) = chips.iter().find(|&&chip| !self.chip_grid().holds(chip)) {
            return Err(SubSliceError::OutOfBounds { chip, topology: self.topology });
        }
        let first = chips.iter().copied().min().unwrap_or_default();
        let mut seen = ChipSet::EMPTY;
        let place = self.owner_of(first).map(|(worker, _)| worker);
        for &chip in chips {
            match self.owner_of(chip) {
                Some((worker, number)) if Some(worker) == place => seen = seen.with(number),
                _ => break,
            }
        }
        match place {
            Some(worker) if chips.len() == seen.len() as usize && seen.len() == self.chips_per_host() => {
                Ok(worker)
            }
            _ => Err(SubSliceError::NotAHostBlock {
                topology: self.topology,
                block: self.topology.with_extents(self.host_block),
                first,
                got: chips.len(),
            }),
        }
    }

    /// Which axes close into rings (x, y, z).
    pub fn wraps(self) -> [bool; 3] {
        let extents = self.chip_grid().0;
        match self.generation.facts().wrap {
            WrapRule::FullPod(pod) => [self.topology == pod, self.topology == pod, false],
            WrapRule::EveryMultipleOf(step) => [extents.iter().all(|extent| extent % step == 0); 3],
            WrapRule::Extent(ring) => [extents[0] == ring, extents[1] == ring, false],
        }
    }

    /// The chips that a chip has a link to, each once, in numbering order; none for a chip outside.
    pub fn neighbours(self, chip: Coord) -> Vec<Coord> {
        let mut found = Vec::with_capacity(6);
        if !self.chip_grid().holds(chip) {
            return found;
        }
        let (extents, wraps) = (self.chip_grid().0, self.wraps());
        for axis in 0..3 {
            let (at, extent) = (chip.to_array()[axis], extents[axis]);
            let before = if at > 0 { Some(at - 1) } else { wraps[axis].then_some(extent - 1) };
            let after = if at + 1 < extent { Some(at + 1) } else { wraps[axis].then_some(0) };
            for position in [before, after].into_iter().flatten() {
                let mut neighbour = chip.to_array();
                neighbour[axis] = position;
                found.push(Coord::from_array(neighbour));
            }
        }
        found.retain(|&neighbour| neighbour != chip);
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl fmt::Display for SliceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.generation, self.topology)?;
        if self.host_block != usual_block(self.generation, self.topology) {
            write!(f, " ({} chips a host)", self.chips_per_host())?;
        }
        Ok(())
    }
}

/// The part of the grid that a host usually owns in a slice of this shape.
fn usual_block(generation: Generation, topology: Topology) -> Grid {
    let facts = generation.facts();
    let whole = |block: &&Grid| **block == topology.grid();
    facts.single_host_blocks.iter().find(whole).copied().unwrap_or(facts.host_block)
}

/// Every host block that a slice of this shape comes with, the usual one first.
fn blocks_of(generation: Generation, topology: Topology) -> Vec<Grid> {
    let usual = usual_block(generation, topology);
    let common = generation.facts().host_block;
    let mut blocks = vec![usual];
    if usual != common && topology.grid().is_tiled_by(common) {
        blocks.push(common);
    }
    blocks
}
