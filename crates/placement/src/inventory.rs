//! Which hosts and slices exist, and in what state: what was reported, never a guess.
//!
//! # Words
//! - *Host*: a machine that joined, with its address, labels, resources and health. A host without chips is one too.
//! - *Seat*: a place in the host grid of a slice. A host takes the seat that the coordinates of its chips say, or, when it
//!   reports none, that of its worker id.
//! - *Whole*: a slice whose every seat is taken exactly once, by a host that is alive, with every worker id once, and with
//!   no host claiming membership under another shape.
//! - *Finding*: what does not fit (a duplicate, a contradiction, a stranger), as data; the slice stays broken until hosts
//!   leave or report anew.
//!
//! # Invariants
//! - **I1** A slice is whole exactly when [`Inventory::lacks`] finds nothing.
//! - **I2** A host sits on at most one seat of one slice.
//! - **I3** A lost host keeps its seat, with when and why, until it comes back, leaves, or another takes the seat.
//! - **I4** The index of a host is not given to another while anything is still reserved on it ([`Inventory::forget`]); a
//!   host that left and comes back before has its old index, and what is reserved on it.
//!
//! Time enters only as [`Timestamp`] arguments.

mod finding;
mod host;
mod labels;
mod name;
mod resources;
mod slice;
#[cfg(test)]
mod tests;
mod time;

use std::collections::{BTreeMap, BTreeSet};

pub use finding::Finding;
pub use host::{Health, Host, HostIndex, HostReport, Membership};
pub use labels::{LabelRule, LabelSelector, Labels};
pub use name::{HostName, NAME_LEN_MAX, NameError, SliceName};
pub(crate) use name::{check as check_name, name_type};
pub use resources::{Quantity, QuantityError, Resources, Shortage};
pub use slice::{Lack, LackCause, Slice, SliceIndex};
pub(crate) use time::Age;
pub use time::Timestamp;

/// Why something could not be noted about a host. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryError {
    /// Nobody of that name has joined.
    #[error("note a change of host {host}: it has not joined")]
    UnknownHost {
        /// The name.
        host: HostName,
    },
}

/// What one report changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The host that the report was about.
    pub host: Option<HostIndex>,
    /// Hosts that are no longer part of the inventory; their indices stay taken until [`Inventory::forget`].
    pub departed: Vec<HostIndex>,
    /// Slices whose seats or health changed, each once.
    pub slices: BTreeSet<SliceIndex>,
    /// Slices that no longer have a member.
    pub dissolved: BTreeSet<SliceIndex>,
    /// Whether a host that was known came back as another process: what ran on it is gone.
    pub restarted: bool,
    /// Whether the host is new, or has other labels, resources or another seat than before.
    pub reported: bool,
    /// What does not fit.
    pub findings: Vec<Finding>,
}

/// Every host and every slice that is known.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    hosts: Vec<Option<Host>>,
    hosts_by_name: BTreeMap<HostName, HostIndex>,
    departed_by_name: BTreeMap<HostName, HostIndex>,
    host_indices_free: BTreeSet<HostIndex>,
    slices: Vec<Option<Slice>>,
    slices_by_name: BTreeMap<SliceName, SliceIndex>,
    slice_indices_free: BTreeSet<SliceIndex>,
}

impl Inventory {
    /// An inventory that knows nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// A host by index, also one that departed but is not forgotten.
    pub fn host(&self, index: HostIndex) -> Option<&Host> {
        self.hosts.get(index.0 as usize)?.as_ref()
    }

    /// A slice by index.
    pub fn slice(&self, index: SliceIndex) -> Option<&Slice> {
        self.slices.get(index.0 as usize)?.as_ref()
    }

    /// The index of a host that has joined and not left.
    pub fn find_host(&self, name: &HostName) -> Option<HostIndex> {
        self.hosts_by_name.get(name).copied()
    }

    /// The index of a slice with at least one member.
    pub fn find_slice(&self, name: &SliceName) -> Option<SliceIndex> {
        self.slices_by_name.get(name).copied()
    }

    /// Every host that has joined and not left, by name.
    pub fn hosts(&self) -> impl Iterator<Item = (HostIndex, &Host)> {
        self.hosts_by_name.values().filter_map(|&index| Some((index, self.host(index)?)))
    }

    /// Every slice with at least one member, by name.
    pub fn slices(&self) -> impl Iterator<Item = (SliceIndex, &Slice)> {
        self.slices_by_name.values().filter_map(|&index| Some((index, self.slice(index)?)))
    }

    /// How many hosts have joined and not left.
    pub fn host_count(&self) -> usize {
        self.hosts_by_name.len()
    }

    /// What a slice lacks to be whole; empty when it is whole or unknown.
    pub fn lacks(&self, index: SliceIndex) -> Vec<Lack> {
        self.slice(index).map(|slice| slice.lacks(&self.hosts)).unwrap_or_default()
    }

    /// Notes that a host joined, came back, or reports anew.
    pub fn join(&mut self, report: HostReport) -> Change {
        let mut change = Change { reported: true, ..Change::default() };
        let index = match self.find_host(&report.name) {
            Some(index) => {
                self.rejoin(index, report, &mut change);
                index
            }
            None => {
                let known = self.departed_by_name.remove(&report.name);
                change.restarted = known.is_some();
                let index = known.or_else(|| self.host_indices_free.pop_first()).unwrap_or_else(|| {
                    self.hosts.push(None);
                    HostIndex(self.hosts.len() as u32 - 1)
                });
                self.hosts_by_name.insert(report.name.clone(), index);
                self.hosts[index.0 as usize] = Some(Host::new(report));
                self.seat(index, &mut change);
                index
            }
        };
        change.host = Some(index);
        self.recount(&change);
        change
    }

    /// Notes a host's state of health.
    ///
    /// # Errors
    /// [`InventoryError::UnknownHost`].
    pub fn set_health(&mut self, name: &HostName, health: Health) -> Result<Change, InventoryError> {
        let index = self.find_host(name).ok_or_else(|| InventoryError::UnknownHost { host: name.clone() })?;
        let mut change = Change { host: Some(index), ..Change::default() };
        if let Some(host) = &mut self.hosts[index.0 as usize] {
            host.health = health;
            change.slices.extend(host.slice);
        }
        self.yield_seat(index, &mut change);
        self.recount(&change);
        Ok(change)
    }

    /// Notes that a host left for good: its seat is empty from now on.
    ///
    /// # Errors
    /// [`InventoryError::UnknownHost`].
    pub fn leave(&mut self, name: &HostName) -> Result<Change, InventoryError> {
        let index = self.find_host(name).ok_or_else(|| InventoryError::UnknownHost { host: name.clone() })?;
        let mut change = Change { host: Some(index), ..Change::default() };
        self.depart(index, &mut change);
        self.recount(&change);
        Ok(change)
    }

    /// Gives up the record of a departed host, so that its index can be used again. Call it once nothing is reserved on
    /// the host; a host that has not departed stays.
    pub fn forget(&mut self, index: HostIndex) {
        if let Some(host) = self.host(index).filter(|host| host.departed) {
            let name = host.name.clone();
            self.departed_by_name.remove(&name);
            self.hosts[index.0 as usize] = None;
            self.host_indices_free.insert(index);
        }
    }

    fn rejoin(&mut self, index: HostIndex, report: HostReport, change: &mut Change) {
        let Some(host) = &mut self.hosts[index.0 as usize] else { return };
        change.restarted = host.incarnation != report.incarnation;
        change.reported = host.labels != report.labels || host.resources != report.resources;
        if host.membership == report.membership {
            change.slices.extend(host.slice);
            host.update(report);
            return;
        }
        let from = host.membership.as_ref().map(|membership| membership.slice.clone());
        let to = report.membership.as_ref().map(|membership| membership.slice.clone());
        change.findings.push(Finding::Moved { host: host.name.clone(), from, to });
        (change.restarted, change.reported) = (true, true);
        self.unseat(index, change);
        if let Some(host) = &mut self.hosts[index.0 as usize] {
            host.update(report);
        }
        self.seat(index, change);
    }

    /// A lost host does not keep a seat that another, who is there, claims as well.
    fn yield_seat(&mut self, index: HostIndex, change: &mut Change) {
        let Some(host) = self.host(index).filter(|host| host.health.is_lost()) else { return };
        let (Some((slice_index, place)), Some(membership)) = (host.seat(), host.membership()) else { return };
        let Some(slice) = self.slice(slice_index) else { return };
        let present = |&rival: &HostIndex| self.host(rival).is_some_and(|host| !host.health.is_lost());
        let rivals = slice.rivals_of(index, Some(place), membership.worker);
        let Some(rival) = rivals.into_iter().find(present) else { return };
        change.findings.push(Finding::Replaced {
            slice: slice.name().clone(),
            worker: membership.worker,
            old: host.name.clone(),
            new: self.host_name(rival),
        });
        self.depart(index, change);
    }

    /// Takes a host out of its slice and out of the inventory; the record stays for what is reserved on it.
    fn depart(&mut self, index: HostIndex, change: &mut Change) {
        self.unseat(index, change);
        if let Some(host) = &mut self.hosts[index.0 as usize] {
            host.departed = true;
            self.hosts_by_name.remove(&host.name);
            self.departed_by_name.insert(host.name.clone(), index);
            change.departed.push(index);
        }
    }

    /// Gives a host its place in the slice that it names.
    fn seat(&mut self, index: HostIndex, change: &mut Change) {
        let Some(Some(host)) = self.hosts.get(index.0 as usize) else { return };
        let Some(membership) = host.membership.clone() else { return };
        let slice_index = self.slice_for(&membership, change);
        for lost in self.replaced_by(slice_index, &membership) {
            change.findings.push(Finding::Replaced {
                slice: membership.slice.clone(),
                worker: membership.worker,
                old: self.host_name(lost),
                new: self.host_name(index),
            });
            self.depart_from(slice_index, lost, change);
        }
        let name = self.host_name(index);
        let (Some(Some(slice)), Some(Some(host))) =
            (self.slices.get_mut(slice_index.0 as usize), self.hosts.get_mut(index.0 as usize))
        else {
            return;
        };
        host.slice = Some(slice_index);
        host.place = slice.admit(index, &name, &membership, &mut change.findings);
        let rivals = slice.rivals_of(index, host.place, membership.worker);
        change.slices.insert(slice_index);
        for rival in rivals {
            change.findings.push(Finding::DuplicateWorker {
                slice: membership.slice.clone(),
                worker: membership.worker,
                first: self.host_name(rival),
                second: name.clone(),
            });
        }
    }

    /// The slice that a membership names: the one known, a new one, or the known one anew when all it had was lost.
    fn slice_for(&mut self, membership: &Membership, change: &mut Change) -> SliceIndex {
        if let Some(index) = self.find_slice(&membership.slice) {
            let stale = self.slice(index).is_some_and(|slice| {
                let lost = |&host: &HostIndex| self.host(host).is_none_or(|host| host.health.is_lost());
                slice.spec() != membership.spec && slice.members().iter().all(lost)
            });
            if stale {
                let members = self.slice(index).map(|slice| slice.members().to_vec()).unwrap_or_default();
                for member in members {
                    self.depart_from(index, member, change);
                }
                self.slices[index.0 as usize] = Some(Slice::new(membership.slice.clone(), membership.spec));
            }
            return index;
        }
        let index = self.slice_indices_free.pop_first().unwrap_or_else(|| {
            self.slices.push(None);
            SliceIndex(self.slices.len() as u32 - 1)
        });
        self.slices[index.0 as usize] = Some(Slice::new(membership.slice.clone(), membership.spec));
        self.slices_by_name.insert(membership.slice.clone(), index);
        index
    }

    /// Lost hosts whose seat or worker id a newcomer takes.
    fn replaced_by(&self, slice: SliceIndex, membership: &Membership) -> Vec<HostIndex> {
        let same = |slice: &&Slice| slice.spec() == membership.spec;
        let Some(slice) = self.slice(slice).filter(same) else { return Vec::new() };
        let occupants = slice.occupants(membership);
        let lost = |&host: &HostIndex| self.host(host).is_some_and(|host| host.health.is_lost());
        occupants.into_iter().filter(lost).collect()
    }

    /// As [`Self::depart`], but the slice stays even when that was its last member.
    fn depart_from(&mut self, slice: SliceIndex, host: HostIndex, change: &mut Change) {
        if let Some(Some(slice)) = self.slices.get_mut(slice.0 as usize) {
            slice.remove(host);
        }
        if let Some(record) = &mut self.hosts[host.0 as usize] {
            (record.slice, record.place) = (None, None);
        }
        change.slices.insert(slice);
        self.depart(host, change);
    }

    /// Takes a host out of its slice; a slice without members is dissolved, one that lost its founder is seated anew.
    fn unseat(&mut self, index: HostIndex, change: &mut Change) {
        let Some(Some(host)) = self.hosts.get_mut(index.0 as usize) else { return };
        let Some(slice_index) = host.slice.take() else { return };
        host.place = None;
        let Some(Some(slice)) = self.slices.get_mut(slice_index.0 as usize) else { return };
        slice.remove(index);
        if slice.members().is_empty() {
            self.slices_by_name.remove(slice.name());
            self.slices[slice_index.0 as usize] = None;
            self.slice_indices_free.insert(slice_index);
            change.slices.remove(&slice_index);
            change.dissolved.insert(slice_index);
            return;
        }
        change.slices.insert(slice_index);
        self.found_anew(slice_index, change);
    }

    /// When those who agreed on a slice's shape are gone, the eldest of the others says what it is.
    fn found_anew(&mut self, index: SliceIndex, change: &mut Change) {
        let Some(slice) = self.slice(index) else { return };
        let members = slice.members().to_vec();
        let of = |host: &HostIndex| self.host(*host).and_then(|host| host.membership.as_ref());
        if members.iter().filter_map(of).any(|membership| membership.spec == slice.spec()) {
            return;
        }
        let Some(spec) = members.first().and_then(of).map(|membership| membership.spec) else { return };
        self.slices[index.0 as usize] = Some(Slice::new(slice.name().clone(), spec));
        for member in members {
            self.seat(member, change);
        }
    }

    fn host_name(&self, index: HostIndex) -> HostName {
        self.host(index).map(|host| host.name.clone()).unwrap_or_default()
    }

    fn recount(&mut self, change: &Change) {
        for index in &change.slices {
            if let Some(Some(slice)) = self.slices.get_mut(index.0 as usize) {
                slice.recount(&self.hosts);
            }
        }
    }
}
