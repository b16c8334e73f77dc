//! The account of one host: what it has, what is held of it, and by whom.

use std::collections::BTreeMap;

use super::error::ReserveError;
use super::{RequestId, Take};
use crate::inventory::Resources;
use crate::topology::ChipSet;

/// What one host has and what of it is held.
#[derive(Clone, Debug, Default)]
pub struct Account {
    chips: ChipSet,
    held_chips: ChipSet,
    resources: Resources,
    held: Resources,
    /// How many takes of each holder lie here.
    holders: BTreeMap<RequestId, u32>,
}

impl Account {
    pub(super) fn set_capacity(&mut self, chips: ChipSet, resources: Resources) {
        self.chips = chips;
        self.resources = resources;
    }

    /// All chips of the host.
    pub const fn chips(&self) -> ChipSet {
        self.chips
    }

    /// Chips that nobody holds.
    pub const fn free_chips(&self) -> ChipSet {
        self.chips.minus(self.held_chips)
    }

    /// Chips that somebody holds.
    pub const fn held_chips(&self) -> ChipSet {
        self.held_chips
    }

    /// Everything besides chips.
    pub const fn resources(&self) -> &Resources {
        &self.resources
    }

    /// What is held besides chips.
    pub const fn held(&self) -> &Resources {
        &self.held
    }

    /// What is free besides chips.
    pub fn free(&self) -> Resources {
        self.resources.minus(&self.held)
    }

    /// Whether these amounts are free.
    pub fn covers(&self, asked: &Resources) -> bool {
        asked.iter().all(|(resource, amount)| {
            let (there, held) = (self.resources.amount(resource), self.held.amount(resource));
            amount.as_milli() <= there.as_milli().saturating_sub(held.as_milli())
        })
    }

    /// Who holds something here, by id.
    pub fn holders(&self) -> impl Iterator<Item = &RequestId> {
        self.holders.keys()
    }

    pub(super) fn take(&mut self, id: &RequestId, take: &Take) -> Result<(), ReserveError> {
        let free = self.free_chips();
        if !free.includes(take.chips) {
            return Err(ReserveError::Chips { id: id.clone(), host: take.host, asked: take.chips, free });
        }
        if !take.resources.is_none() {
            self.free().covers(&take.resources).map_err(|shortage| ReserveError::Resources {
                id: id.clone(),
                host: take.host,
                shortage,
            })?;
            self.held.add(&take.resources);
        }
        self.held_chips = self.held_chips.union(take.chips);
        *self.holders.entry(id.clone()).or_default() += 1;
        Ok(())
    }

    /// The reverse of a take that succeeded.
    pub(super) fn give(&mut self, id: &RequestId, take: &Take) {
        self.held_chips = self.held_chips.minus(take.chips);
        self.held.subtract(&take.resources);
        if let Some(count) = self.holders.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                self.holders.remove(id);
            }
        }
    }
}
