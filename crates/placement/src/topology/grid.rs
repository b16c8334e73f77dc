//! Integer grids of up to three axes: positions, linear order, rectangles.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A position in a grid of chips or of hosts; an axis that the grid does not have is 0.
///
/// Positions are ordered as they are numbered: x fastest, then y, then z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Coord {
    /// Position along the first axis.
    pub x: u16,
    /// Position along the second axis.
    pub y: u16,
    /// Position along the third axis; 0 in two dimensions.
    pub z: u16,
}

impl Coord {
    /// The position `(x, y, z)`.
    pub const fn new(x: u16, y: u16, z: u16) -> Self {
        Self { x, y, z }
    }

    /// The three components in the order x, y, z.
    pub const fn to_array(self) -> [u16; 3] {
        [self.x, self.y, self.z]
    }

    /// The position with these components, in the order x, y, z.
    pub const fn from_array([x, y, z]: [u16; 3]) -> Self {
        Self { x, y, z }
    }
}

impl Ord for Coord {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.z, self.y, self.x).cmp(&(other.z, other.y, other.x))
    }
}

impl PartialOrd for Coord {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Coord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{},{})", self.x, self.y, self.z)
    }
}

/// The extents of a grid along x, y and z; an absent axis has extent 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Grid(pub [u16; 3]);

impl Grid {
    /// How many positions the grid has.
    pub const fn len(self) -> u32 {
        self.0[0] as u32 * self.0[1] as u32 * self.0[2] as u32
    }

    /// Whether the grid has no position at all.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether the position lies inside.
    pub fn holds(self, at: Coord) -> bool {
        at.to_array().iter().zip(self.0).all(|(&position, extent)| position < extent)
    }

    /// The number of a position, x fastest; `None` outside.
    pub fn index(self, at: Coord) -> Option<u32> {
        let [width, height, _] = self.0.map(u32::from);
        self.holds(at).then(|| (u32::from(at.z) * height + u32::from(at.y)) * width + u32::from(at.x))
    }

    /// The position with this number; `None` past the end.
    pub fn coord(self, index: u32) -> Option<Coord> {
        if index >= self.len() {
            return None;
        }
        let [width, height, _] = self.0.map(u32::from);
        let (row, x) = (index / width, index % width);
        // Each component is below an extent, and extents are `u16`.
        Some(Coord::new(x as u16, (row % height) as u16, (row / height) as u16))
    }

    /// Every position in numbering order.
    pub fn coords(self) -> impl Iterator<Item = Coord> {
        Block { origin: Coord::default(), extents: self }.coords()
    }

    /// Whether copies of `tile` cover the grid exactly, laid edge to edge from the origin.
    pub fn is_tiled_by(self, tile: Grid) -> bool {
        self.0.iter().zip(tile.0).all(|(&extent, part)| part > 0 && extent % part == 0)
    }

    /// How many copies of `tile` lie along each axis, rounded down.
    pub fn divided_by(self, tile: Grid) -> Grid {
        let [x, y, z] = self.0;
        let [tile_x, tile_y, tile_z] = tile.0;
        Grid([x / tile_x.max(1), y / tile_y.max(1), z / tile_z.max(1)])
    }
}

/// A rectangle (in three dimensions a box) of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Block {
    /// The position with the smallest components.
    pub origin: Coord,
    /// How far the block reaches along each axis.
    pub extents: Grid,
}

impl Block {
    /// The aligned block number `index` when the grid is tiled by `tile`; `None` past the end.
    pub fn tile(grid: Grid, tile: Grid, index: u32) -> Option<Self> {
        let at = grid.divided_by(tile).coord(index)?;
        let [tile_x, tile_y, tile_z] = tile.0;
        let origin = Coord::new(at.x * tile_x, at.y * tile_y, at.z * tile_z);
        Some(Self { origin, extents: tile })
    }

    /// How many positions the block has.
    pub const fn len(self) -> u32 {
        self.extents.len()
    }

    /// Whether the block has no position at all.
    pub const fn is_empty(self) -> bool {
        self.extents.is_empty()
    }

    /// Whether the position lies inside.
    pub fn holds(self, at: Coord) -> bool {
        let axes = at.to_array().into_iter().zip(self.origin.to_array()).zip(self.extents.0);
        axes.into_iter().all(|((at, from), extent)| at >= from && at - from < extent)
    }

    /// Whether the two blocks share a position.
    pub fn overlaps(self, other: Block) -> bool {
        let (mine, theirs) = (self.origin.to_array(), other.origin.to_array());
        (0..3).all(|axis| {
            let end = u32::from(mine[axis]) + u32::from(self.extents.0[axis]);
            let other_end = u32::from(theirs[axis]) + u32::from(other.extents.0[axis]);
            u32::from(mine[axis]) < other_end && u32::from(theirs[axis]) < end
        })
    }

    /// Every position of the block, x fastest.
    pub fn coords(self) -> impl Iterator<Item = Coord> {
        let [x, y, z] = self.origin.to_array();
        let [width, height, depth] = self.extents.0;
        (z..z + depth).flat_map(move |z| {
            (y..y + height).flat_map(move |y| (x..x + width).map(move |x| Coord::new(x, y, z)))
        })
    }
}
