//! `v6e-16`: the name the provider sells slices under.

use std::fmt;
use std::str::FromStr;

use super::error::{Excerpt, ParsePodTypeError};
use super::generation::Generation;
use super::shape::{TEXT_LEN_MAX, Topology};

/// A pod type: a generation and how many tensor cores the slice has.
///
/// Several topologies share one pod type (v6e 2x8 and 4x4 are both `v6e-16`): it says how much, never which.
///
/// # Examples
/// ```
/// use mobula_placement::topology::PodType;
///
/// let pod_type: PodType = "v4-32".parse()?;
/// assert_eq!(pod_type.chips(), 16);
/// # Ok::<(), mobula_placement::topology::ParsePodTypeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodType {
    generation: Generation,
    chips: u32,
}

impl PodType {
    /// The pod type of a slice with this many chips.
    pub const fn new(generation: Generation, chips: u32) -> Self {
        Self { generation, chips }
    }

    /// The generation.
    pub const fn generation(self) -> Generation {
        self.generation
    }

    /// How many chips a slice of the pod type has.
    pub const fn chips(self) -> u32 {
        self.chips
    }

    /// How many tensor cores a slice of the pod type has: the number in the name.
    pub const fn cores(self) -> u32 {
        self.chips * self.generation.facts().cores_per_chip
    }

    /// Every valid topology that is sold under the pod type.
    pub fn topologies(self) -> Vec<Topology> {
        let mut shapes = self.generation.facts().shapes.all();
        shapes.retain(|shape| shape.chips() == self.chips);
        shapes
    }
}

impl fmt::Display for PodType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-{}", self.generation.facts().pod_prefix, self.cores()))
    }
}

/// Splits `v6e-16` into its parts; `text` is in lower case.
pub(super) fn split(text: &str) -> Option<(Generation, u32)> {
    let (name, count) = text.rsplit_once('-')?;
    if count.is_empty() || !count.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((Generation::find(name)?, count.parse().unwrap_or(u32::MAX)))
}

impl FromStr for PodType {
    type Err = ParsePodTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let input = Excerpt::of(text);
        if text.len() > TEXT_LEN_MAX {
            return Err(ParsePodTypeError::Format { input });
        }
        let Some((generation, count)) = split(&text.trim_ascii().to_ascii_lowercase()) else {
            return Err(ParsePodTypeError::Format { input });
        };
        let cores_per_chip = generation.facts().cores_per_chip;
        if count == 0 || count == u32::MAX || count % cores_per_chip != 0 {
            return Err(ParsePodTypeError::Count { input, generation, cores_per_chip, count });
        }
        Ok(Self { generation, chips: count / cores_per_chip })
    }
}
