//! `4x4`: the shape of a grid of chips, read and written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::{Excerpt, ParseTopologyError};
use super::grid::Grid;

/// The longest text that is read as a topology, a generation or a pod type, in bytes.
pub const TEXT_LEN_MAX: usize = 32;

/// The largest extent of one axis; keeps every chip count below 2^31.
pub const EXTENT_MAX: u16 = 1024;

/// The shape of a grid of chips in two or three dimensions; a shape, not a count.
///
/// `4x4` and `4x4x1` are different topologies: one is for generations wired in two dimensions, the other in three.
///
/// # Examples
/// ```
/// use mobula_placement::topology::Topology;
///
/// let topology: Topology = "2x2x4".parse()?;
/// assert_eq!(topology.chips(), 16);
/// assert_eq!(topology.to_string(), "2x2x4");
/// # Ok::<(), mobula_placement::topology::ParseTopologyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Topology {
    dims: u8,
    extents: Grid,
}

impl Topology {
    /// A shape of two axes.
    ///
    /// # Panics
    /// When an extent is 0 or over [`EXTENT_MAX`]: text from outside goes through [`str::parse`].
    pub const fn flat(x: u16, y: u16) -> Self {
        let topology = Self { dims: 2, extents: Grid([x, y, 1]) };
        topology.checked()
    }

    /// A shape of three axes.
    ///
    /// # Panics
    /// When an extent is 0 or over [`EXTENT_MAX`]: text from outside goes through [`str::parse`].
    pub const fn cube(x: u16, y: u16, z: u16) -> Self {
        let topology = Self { dims: 3, extents: Grid([x, y, z]) };
        topology.checked()
    }

    const fn checked(self) -> Self {
        let mut axis = 0;
        while axis < 3 {
            let extent = self.extents.0[axis];
            assert!(extent >= 1 && extent <= EXTENT_MAX, "an extent lies between 1 and EXTENT_MAX");
            axis += 1;
        }
        self
    }

    /// The shape of a grid seen in as many dimensions as this one has.
    pub(crate) const fn with_extents(self, extents: Grid) -> Self {
        let topology = Self { dims: self.dims, extents };
        topology.checked()
    }

    /// How many axes the shape has: 2 or 3.
    pub const fn dims(self) -> u8 {
        self.dims
    }

    /// The grid of chips.
    pub const fn grid(self) -> Grid {
        self.extents
    }

    /// The extent of each axis, x first.
    pub fn extents(&self) -> &[u16] {
        &self.extents.0[..usize::from(self.dims)]
    }

    /// How many chips the shape has.
    pub const fn chips(self) -> u32 {
        self.extents.len()
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.extents.0;
        let text = if self.dims == 2 { format!("{x}x{y}") } else { format!("{x}x{y}x{z}") };
        f.pad(&text)
    }
}

impl FromStr for Topology {
    type Err = ParseTopologyError;

    /// Reads `4x4` or `2X2X4`; blanks around the text are ignored, nothing else is.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > TEXT_LEN_MAX {
            return Err(ParseTopologyError::TooLong {
                input: Excerpt::of(text),
                len: text.len(),
                len_max: TEXT_LEN_MAX,
            });
        }
        let input = || Excerpt::of(text);
        let mut extents = [1; 3];
        let mut dims = 0;
        for part in text.trim_ascii().split(['x', 'X']) {
            let Some(slot) = extents.get_mut(dims) else {
                return Err(ParseTopologyError::Axes { input: input(), got: dims + 1 });
            };
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(ParseTopologyError::NotANumber { input: input(), part: Excerpt::of(part) });
            }
            // Digits alone can fail only by being too many.
            let extent: u32 = part.parse().unwrap_or(u32::MAX);
            *slot = match u16::try_from(extent) {
                Ok(extent) if (1..=EXTENT_MAX).contains(&extent) => extent,
                _ => {
                    return Err(ParseTopologyError::Extent {
                        input: input(),
                        part: Excerpt::of(part),
                        max: EXTENT_MAX,
                    });
                }
            };
            dims += 1;
        }
        match dims {
            2 => Ok(Self { dims: 2, extents: Grid(extents) }),
            3 => Ok(Self { dims: 3, extents: Grid(extents) }),
            got => Err(ParseTopologyError::Axes { input: input(), got }),
        }
    }
}

impl TryFrom<String> for Topology {
    type Error = ParseTopologyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Topology> for String {
    fn from(topology: Topology) -> Self {
        topology.to_string()
    }
}
