//! The generations of chips and every way their names are written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::{Excerpt, ParseGenerationError};
use super::pod_type;
use super::shape::TEXT_LEN_MAX;
use super::table::{self, Facts};

/// A generation of chips.
///
/// Reading accepts every spelling in use, without regard to case: the plain name (`v6e`), the accelerator type (`TPU-V6E`),
/// the pod type (`v6e-16`), the product name (`Trillium`), the node label (`tpu-v6e-slice`) and the device kind
/// (`TPU v6 lite`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Generation {
    /// v2: two dimensions, two cores a chip.
    V2,
    /// v3: two dimensions, two cores a chip.
    V3,
    /// v4: three dimensions, two cores a chip.
    V4,
    /// v5e, also called v5litepod: two dimensions, one core a chip.
    V5e,
    /// v5p: three dimensions, two cores a chip.
    V5p,
    /// v6e, also called Trillium: two dimensions, one core a chip.
    V6e,
    /// v7x, also called tpu7x and Ironwood: three dimensions, two cores a chip.
    V7x,
}

impl Generation {
    /// Every generation, oldest first.
    pub const ALL: [Self; 7] = [Self::V2, Self::V3, Self::V4, Self::V5e, Self::V5p, Self::V6e, Self::V7x];

    /// What is known about the generation.
    pub const fn facts(self) -> &'static Facts {
        table::facts(self)
    }

    /// The plain name, in lower case.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The name as an accelerator type is written in deployments: `TPU-V6E`.
    pub fn accelerator_type(self) -> String {
        format!("TPU-{}", self.name().to_ascii_uppercase())
    }

    /// Finds a name that carries no count; `text` is in lower case.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let bare = text.strip_prefix("tpu").unwrap_or(text);
        let bare = bare.trim_start_matches(['-', ' ', '_']);
        let same = |name: &str| name == bare || name.strip_prefix('v') == Some(bare);
        Self::ALL.into_iter().find(|generation| {
            let facts = generation.facts();
            // `7x` stands alone only behind `tpu`: a bare `2` is no generation.
            let plain = if bare.len() < text.len() { same(facts.name) } else { facts.name == bare };
            plain || facts.aliases.contains(&bare)
        })
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Generation {
    type Err = ParseGenerationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > TEXT_LEN_MAX {
            return Err(ParseGenerationError::TooLong {
                input: Excerpt::of(text),
                len: text.len(),
                len_max: TEXT_LEN_MAX,
            });
        }
        let lower = text.trim_ascii().to_ascii_lowercase();
        Self::find(&lower)
            .or_else(|| pod_type::split(&lower).map(|(generation, _)| generation))
            .ok_or_else(|| ParseGenerationError::Unknown { input: Excerpt::of(text) })
    }
}

impl TryFrom<String> for Generation {
    type Error = ParseGenerationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Generation> for String {
    fn from(generation: Generation) -> Self {
        generation.name().to_owned()
    }
}
