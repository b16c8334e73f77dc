//! All slices of one kind, indexed by what can be had of them.

use std::collections::{BTreeMap, BTreeSet};

use super::area::{Area, Damage};
use super::plan::Plan;
use crate::inventory::{HostIndex, SliceIndex};
use crate::topology::{ChipSet, SliceSpec};

/// How much taking a part of a host spoils: the size of the largest free part that it breaks up. Less is better.
type Spoil = u8;

/// A host that is partly free, and for each size of part the least spoil at which it gives one.
type BrokenHost = (HostIndex, Vec<Option<Spoil>>);

/// Slices of one kind.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct Class {
    plan: Plan,
    areas: BTreeMap<SliceIndex, Area>,
    /// Slices whose every host is open.
    idle: BTreeSet<SliceIndex>,
    /// For each shape: slices by the least damage at which they give such a block. Brought up to date when asked.
    best: Vec<BTreeSet<(Damage, SliceIndex)>>,
    filed: BTreeMap<SliceIndex, Vec<Option<Damage>>>,
    stale: Vec<BTreeSet<SliceIndex>>,
    /// For each size of part: hosts that are ready and partly free, by the least spoil at which they give one.
    broken_hosts: Vec<BTreeSet<(Spoil, SliceIndex, u32, HostIndex)>>,
    broken_filed: BTreeMap<(SliceIndex, u32), BrokenHost>,
}

impl Class {
    pub(in crate::scheduler) fn new(spec: SliceSpec) -> Self {
        let plan = Plan::new(spec);
        Self {
            areas: BTreeMap::new(),
            idle: BTreeSet::new(),
            best: vec![BTreeSet::new(); plan.shapes.len()],
            filed: BTreeMap::new(),
            stale: vec![BTreeSet::new(); plan.shapes.len()],
            broken_hosts: vec![BTreeSet::new(); plan.host_parts.len()],
            broken_filed: BTreeMap::new(),
            plan,
        }
    }

    pub(in crate::scheduler) const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(in crate::scheduler) fn len(&self) -> u32 {
        self.areas.len() as u32
    }

    pub(in crate::scheduler) fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    pub(in crate::scheduler) fn slices(&self) -> impl Iterator<Item = (SliceIndex, &Area)> {
        self.areas.iter().map(|(&slice, area)| (slice, area))
    }

    pub(in crate::scheduler) fn area(&self, slice: SliceIndex) -> Option<&Area> {
        self.areas.get(&slice)
    }

    /// Slices whose every host is open, in index order.
    pub(in crate::scheduler) const fn idle(&self) -> &BTreeSet<SliceIndex> {
        &self.idle
    }

    pub(in crate::scheduler) fn insert(&mut self, slice: SliceIndex) {
        let Self { areas, plan, filed, .. } = self;
        areas.entry(slice).or_insert_with(|| Area::new(plan));
        filed.entry(slice).or_insert_with(|| vec![None; plan.shapes.len()]);
    }

    pub(in crate::scheduler) fn remove(&mut self, slice: SliceIndex) {
        self.areas.remove(&slice);
        self.idle.remove(&slice);
        for (shape, damage) in self.filed.remove(&slice).unwrap_or_default().into_iter().enumerate() {
            if let Some(damage) = damage {
                self.best[shape].remove(&(damage, slice));
            }
        }
        for stale in &mut self.stale {
            stale.remove(&slice);
        }
        let places: Vec<_> =
            self.broken_filed.range((slice, 0)..=(slice, u32::MAX)).map(|(&key, _)| key).collect();
        for (slice, place) in places {
            self.file_broken(slice, place, None);
        }
    }

    /// Notes what of a host can be had: all of it, some chips, or nothing.
    pub(in crate::scheduler) fn set(
        &mut self,
        slice: SliceIndex,
        place: u32,
        host: Option<(HostIndex, ChipSet)>,
    ) {
        let all = ChipSet::first(self.plan.spec.chips_per_host());
        let open = host.is_some_and(|(_, free)| free == all);
        let partly = host.filter(|&(_, free)| !open && !free.is_empty());
        self.file_broken(slice, place, partly);
        let Some(area) = self.areas.get_mut(&slice) else { return };
        if !area.set(&self.plan, place, open) {
            return;
        }
        if area.is_idle() {
            self.idle.insert(slice);
        } else {
            self.idle.remove(&slice);
        }
        for stale in &mut self.stale {
            stale.insert(slice);
        }
    }

    fn file_broken(&mut self, slice: SliceIndex, place: u32, host: Option<(HostIndex, ChipSet)>) {
        if let Some((host, spoils)) = self.broken_filed.remove(&(slice, place)) {
            for (size, spoil) in spoils.into_iter().enumerate() {
                if let Some(spoil) = spoil {
                    self.broken_hosts[size].remove(&(spoil, slice, place, host));
                }
            }
        }
        let Some((host, free)) = host else { return };
        let sizes = 0..self.plan.host_parts.len();
        let spoils: Vec<_> =
            sizes.map(|size| self.best_of_host(size, free).map(|(spoil, _)| spoil)).collect();
        for (size, &spoil) in spoils.iter().enumerate() {
            if let Some(spoil) = spoil {
                self.broken_hosts[size].insert((spoil, slice, place, host));
            }
        }
        self.broken_filed.insert((slice, place), (host, spoils));
    }

    /// Of the free parts of a host of one size, the one whose taking breaks up the smallest free part.
    pub(in crate::scheduler) fn best_of_host(&self, size: usize, free: ChipSet) -> Option<(Spoil, ChipSet)> {
        let spoil = |part: ChipSet| {
            let larger = self.plan.host_parts[size..].iter().flat_map(|shape| &shape.parts);
            let broken = larger.filter(|other| free.includes(**other) && !other.common(part).is_empty());
            broken.map(|other| other.len() as Spoil).max()
        };
        let parts = self.plan.host_parts[size].parts.iter().filter(|part| free.includes(**part));
        parts.filter_map(|&part| Some((spoil(part)?, part))).min()
    }

    /// The free chips of a host that a process with so many gets; `None` when it cannot be given them there.
    pub(in crate::scheduler) fn chips_of_host(&self, chips: u32, free: ChipSet) -> Option<ChipSet> {
        if chips == 0 {
            return Some(ChipSet::EMPTY);
        }
        let all = ChipSet::first(self.plan.spec.chips_per_host());
        if chips == all.len() {
            return free.includes(all).then_some(all);
        }
        let size = self.plan.host_parts.iter().position(|shape| shape.topology.chips() == chips)?;
        self.best_of_host(size, free).map(|(_, chips)| chips)
    }

    /// Hosts that are partly free and have a free part of one size, least spoil first.
    pub(in crate::scheduler) fn broken_hosts(
        &self,
        size: usize,
    ) -> impl Iterator<Item = (SliceIndex, u32, HostIndex)> {
        self.broken_hosts[size].iter().map(|&(_, slice, place, host)| (slice, place, host))
    }

    /// Brings the order of [`Self::best`] up to date for one shape.
    pub(in crate::scheduler) fn refresh(&mut self, shape: usize) {
        for slice in std::mem::take(&mut self.stale[shape]) {
            let found = self.areas.get(&slice).and_then(|area| area.best(&self.plan, shape, |_| true));
            let damage = found.map(|(damage, _)| damage);
            let Some(filed) = self.filed.get_mut(&slice) else { continue };
            if let Some(old) = std::mem::replace(&mut filed[shape], damage) {
                self.best[shape].remove(&(old, slice));
            }
            if let Some(damage) = damage {
                self.best[shape].insert((damage, slice));
            }
        }
    }

    /// Slices that have an open block of a shape, least damage first, as of the last [`Self::refresh`].
    pub(in crate::scheduler) fn best(&self, shape: usize) -> impl Iterator<Item = (Damage, SliceIndex)> {
        self.best[shape].iter().copied()
    }
}
