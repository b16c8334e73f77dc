//! Sets of chips of one host.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Chips of one host by their number in it (x fastest); a host has at most [`ChipSet::CHIPS_MAX`].
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChipSet(u8);

impl ChipSet {
    /// No chip.
    pub const EMPTY: Self = Self(0);
    /// The most chips that a host has.
    pub const CHIPS_MAX: u32 = u8::BITS;

    /// The chips `0..count`, at most [`Self::CHIPS_MAX`] of them.
    pub const fn first(count: u32) -> Self {
        if count >= Self::CHIPS_MAX { Self(u8::MAX) } else { Self((1 << count) - 1) }
    }

    /// How many chips are in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no chip is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the chip is in the set.
    pub const fn holds(self, chip: u8) -> bool {
        chip < 8 && self.0 & (1 << chip) != 0
    }

    /// Whether every chip of `other` is in the set.
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set with the chip added; a number past the last chip adds nothing.
    pub const fn with(self, chip: u8) -> Self {
        if chip < 8 { Self(self.0 | (1 << chip)) } else { self }
    }

    /// The chips in either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The chips in both sets.
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The chips of this set that are not in the other.
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The chips, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..8).filter(move |&chip| self.holds(chip))
    }
}

impl FromIterator<u8> for ChipSet {
    fn from_iter<I: IntoIterator<Item = u8>>(chips: I) -> Self {
        chips.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Display for ChipSet {
    /// The chips as a comma-separated list, as `TPU_VISIBLE_CHIPS` has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chips: Vec<_> = self.iter().map(|chip| chip.to_string()).collect();
        f.pad(&chips.join(","))
    }
}

impl fmt::Debug for ChipSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}
