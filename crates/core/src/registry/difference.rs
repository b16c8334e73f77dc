//! How two registries differ, in words.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How many names of a kind an error spells out.
const NAMES_SHOWN: usize = 8;

/// One registered name with the shape of what it takes and gives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RegistryRow {
    /// `package::Actor` or `package::Actor/Message`.
    pub name: String,
    /// The shape of its types.
    pub schema: String,
}

/// What one of two registries has and the other has not, or has differently.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RegistryDifference {
    /// Names that only this side has.
    pub only_here: Vec<String>,
    /// Names that only the other side has.
    pub only_there: Vec<String>,
    /// Names of both sides, with this side's shape and the other's.
    pub shapes: Vec<(String, String, String)>,
    /// Differences beyond the ones listed.
    pub more: usize,
}

impl RegistryDifference {
    /// Compares two lists of rows, each sorted by name; `None` when they are equal.
    pub(crate) fn between(here: &[RegistryRow], there: &[RegistryRow]) -> Option<Self> {
        let mut difference = Self::default();
        let (mut here, mut there) = (here.iter().peekable(), there.iter().peekable());
        loop {
            let order = match (here.peek(), there.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.name.cmp(&b.name),
            };
            let ours = if order.is_le() { here.next() } else { None };
            let theirs = if order.is_ge() { there.next() } else { None };
            difference.note(ours, theirs);
        }
        (difference != Self::default()).then_some(difference)
    }

    fn note(&mut self, ours: Option<&RegistryRow>, theirs: Option<&RegistryRow>) {
        let listed = match (ours, theirs) {
            (Some(a), Some(b)) if a.schema == b.schema => return,
            (Some(a), Some(b)) => {
                let fits = self.shapes.len() < NAMES_SHOWN;
                fits.then(|| self.shapes.push((a.name.clone(), a.schema.clone(), b.schema.clone())))
            }
            (Some(a), None) => {
                (self.only_here.len() < NAMES_SHOWN).then(|| self.only_here.push(a.name.clone()))
            }
            (None, Some(b)) => {
                (self.only_there.len() < NAMES_SHOWN).then(|| self.only_there.push(b.name.clone()))
            }
            (None, None) => return,
        };
        self.more += usize::from(listed.is_none());
    }

    /// The same difference as the other side sees it.
    #[must_use]
    pub(crate) fn flipped(self) -> Self {
        Self {
            only_here: self.only_there,
            only_there: self.only_here,
            shapes: self.shapes.into_iter().map(|(name, here, there)| (name, there, here)).collect(),
            more: self.more,
        }
    }
}

impl fmt::Display for RegistryDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.only_here.is_empty() {
            parts.push(format!("only this side registers {}", self.only_here.join(", ")));
        }
        if !self.only_there.is_empty() {
            parts.push(format!("only the other side registers {}", self.only_there.join(", ")));
        }
        for (name, here, there) in &self.shapes {
            parts.push(format!("{name} is `{here}` on this side and `{there}` on the other"));
        }
        if self.more > 0 {
            parts.push(format!("and {} more differences", self.more));
        }
        f.write_str(&parts.join("; "))?;
        if self.only_here.is_empty() && self.only_there.is_empty() {
            return Ok(());
        }
        f.write_str(
            " (a crate that only registers and is never named is left out by the linker: \
             add `use that_crate as _;` to the binary that lacks it)",
        )
    }
}

#[cfg(test)]
mod tests;
