//! The account of one host: what it has, what is held of it, and by whom.

use std::collections::BTreeMap;

use super::error::ReserveError;
use super::{RequestId, Take};
use crate::inventory::{Quantity, Resources};
use crate::topology::ChipSet;

/// What one host has and what of it is held.
#[derive(Clone, Debug, Default)]
pub struct Account {
    chips: ChipSet,
    held_chips: ChipSet,
    resources: Resources,
    held: Resources,
    holders: BTreeMap<RequestId, Share>,
}

/// What one holder has here.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    takes: u32,
    chips: ChipSet,
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

    /// What is free of one resource.
    pub fn free_amount(&self, resource: &str) -> Quantity {
        let (there, held) = (self.resources.amount(resource), self.held.amount(resource));
        Quantity::milli(there.as_milli().saturating_sub(held.as_milli()))
    }

    /// Whether these amounts are free.
    pub fn covers(&self, asked: &Resources) -> bool {
        asked.iter().all(|(resource, amount)| amount <= self.free_amount(resource))
    }

    /// Who holds something here, by id.
    pub fn holders(&self) -> impl Iterator<Item = &RequestId> {
        self.holders.keys()
    }

    /// Who holds one of these chips, by id.
    pub fn holders_of(&self, chips: ChipSet) -> impl Iterator<Item = &RequestId> {
        let shares = self.holders.iter().filter(move |(_, share)| !share.chips.common(chips).is_empty());
        shares.map(|(id, _)| id)
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
        let share = self.holders.entry(id.clone()).or_default();
        share.takes += 1;
        share.chips = share.chips.union(take.chips);
        Ok(())
    }

    /// The reverse of a take that succeeded.
    pub(super) fn give(&mut self, id: &RequestId, take: &Take) {
        self.held_chips = self.held_chips.minus(take.chips);
        self.held.subtract(&take.resources);
        if let Some(share) = self.holders.get_mut(id) {
            share.takes -= 1;
            share.chips = share.chips.minus(take.chips);
            if share.takes == 0 {
                self.holders.remove(id);
            }
        }
    }
}
