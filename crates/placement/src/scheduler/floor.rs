//! The one view that every decision is made on: the inventory, the ledger, and indexes over both.
//!
//! Whatever changes a host's health or its account calls [`Floor::sync_host`] or [`Floor::sync_slice`] afterwards; the
//! indexes are then what a recount would give (checked by tests through [`Floor::check`]).

mod area;
mod class;
mod plan;
mod shelf;

use std::collections::BTreeMap;

pub(super) use area::Damage;
pub(super) use class::Class;
pub(super) use shelf::{Free, PROCESSORS, Shelf};

use crate::inventory::{HostIndex, Inventory, SliceIndex};
use crate::ledger::Ledger;
use crate::topology::{ChipSet, Generation, SliceSpec, Topology};

/// Inventory, ledger and indexes.
#[derive(Clone, Debug, Default)]
pub(super) struct Floor {
    pub(super) inventory: Inventory,
    pub(super) ledger: Ledger,
    pub(super) shelf: Shelf,
    classes: BTreeMap<SliceSpec, Class>,
    class_of: BTreeMap<SliceIndex, SliceSpec>,
}

impl Floor {
    pub(super) fn class(&self, spec: SliceSpec) -> Option<&Class> {
        self.classes.get(&spec)
    }

    pub(super) fn class_mut(&mut self, spec: SliceSpec) -> Option<&mut Class> {
        self.classes.get_mut(&spec)
    }

    pub(super) fn class_of(&self, slice: SliceIndex) -> Option<&Class> {
        self.classes.get(self.class_of.get(&slice)?)
    }

    /// Every kind of slice that exists.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (SliceSpec, &Class)> {
        self.classes.iter().map(|(&spec, class)| (spec, class))
    }

    /// The kinds of a generation.
    pub(super) fn kinds_of(&self, generation: Generation) -> impl Iterator<Item = (SliceSpec, &Class)> {
        self.kinds().filter(move |(spec, _)| spec.generation() == generation)
    }

    /// The kinds of one generation and topology: one, or one for each number of chips a host.
    pub(super) fn kinds_like(
        &self,
        generation: Generation,
        topology: Topology,
    ) -> impl Iterator<Item = (SliceSpec, &Class)> {
        self.kinds_of(generation).filter(move |(spec, _)| spec.topology() == topology)
    }

    /// The generation of the slice that a host is part of.
    pub(super) fn generation_of(&self, host: HostIndex) -> Option<Generation> {
        let membership = self.inventory.host(host)?.membership()?;
        Some(membership.spec.generation())
    }

    /// Brings the indexes up to date with everything about a slice; says whether a kind of slice came or went.
    pub(super) fn sync_slice(&mut self, index: SliceIndex) -> bool {
        let spec = self.inventory.slice(index).map(crate::inventory::Slice::spec);
        let old = self.class_of.get(&index).copied();
        if old != spec
            && let Some(old) = old
        {
            self.class_of.remove(&index);
            if let Some(class) = self.classes.get_mut(&old) {
                class.remove(index);
                if class.is_empty() {
                    self.classes.remove(&old);
                }
            }
        }
        if let Some(spec) = spec {
            self.class_of.insert(index, spec);
            self.classes.entry(spec).or_insert_with(|| Class::new(spec)).insert(index);
            for place in 0..spec.hosts() {
                self.sync_place(index, place);
            }
        }
        old != spec
    }

    /// Brings the indexes up to date with what is held on a host.
    pub(super) fn sync_host(&mut self, host: HostIndex) {
        if let Some((slice, place)) = self.inventory.host(host).and_then(crate::inventory::Host::seat) {
            self.sync_place(slice, place);
        }
        self.shelf.set(host, self.free_of(host));
    }

    fn free_of(&self, host: HostIndex) -> Option<Free> {
        let record = self.inventory.host(host)?;
        let account = self.ledger.account(host)?;
        let processors = account.free_amount(PROCESSORS).as_milli();
        let (chips, all) = (account.free_chips(), account.chips());
        let all_chips = !all.is_empty() && chips == all;
        let up = record.health().is_alive() && !record.has_departed();
        up.then_some(Free { all_chips, chips: chips.len(), processors })
    }

    fn sync_place(&mut self, slice: SliceIndex, place: u32) {
        let ready = self.ready(slice, place);
        if let Some(spec) = self.class_of.get(&slice)
            && let Some(class) = self.classes.get_mut(spec)
        {
            class.set(slice, place, ready);
        }
    }

    /// The host on a seat and its free chips; none when the seat is not ready or the slice is in doubt.
    fn ready(&self, slice: SliceIndex, place: u32) -> Option<(HostIndex, ChipSet)> {
        let slice = self.inventory.slice(slice).filter(|slice| !slice.is_contradicted())?;
        let host = slice.ready_host(place)?;
        Some((host, self.ledger.account(host)?.free_chips()))
    }

    /// Whether the indexes are what a recount gives.
    #[cfg(test)]
    pub(super) fn check(&self) -> bool {
        self.ledger.check().is_ok()
            && self.inventory.slices().all(|(index, slice)| {
                let Some(area) = self.class_of(index).and_then(|class| class.area(index)) else {
                    return false;
                };
                let all = ChipSet::first(slice.spec().chips_per_host());
                (0..slice.spec().hosts()).all(|place| {
                    let open = self.ready(index, place).is_some_and(|(_, free)| free == all);
                    area.is_open(place) == open
                })
            })
    }
}
