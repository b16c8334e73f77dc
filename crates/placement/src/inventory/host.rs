//! One machine: what it reported, and how it is.

use serde::{Deserialize, Serialize};

use super::labels::Labels;
use super::name::{HostName, SliceName};
use super::resources::Resources;
use super::slice::SliceIndex;
use super::time::Timestamp;
use crate::topology::{ChipSet, Coord, SliceSpec};

/// A host's number in one inventory; small, reused, and meaningless outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostIndex(pub(crate) u32);

/// How a host is. Only a host that is alive is given anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    /// Up, with all its chips.
    Alive,
    /// Up, but about to go: nothing new is placed on it.
    Draining {
        /// Since when.
        since: Timestamp,
        /// What the provider said.
        cause: String,
    },
    /// Up, but some of its chips are not.
    Sick {
        /// Since when.
        since: Timestamp,
        /// What was observed.
        cause: String,
    },
    /// Not heard of.
    Lost {
        /// Since when.
        since: Timestamp,
        /// What was observed.
        cause: String,
    },
}

impl Health {
    /// Whether new work may be placed on the host.
    pub const fn is_alive(&self) -> bool {
        matches!(self, Self::Alive)
    }

    /// Whether the host is gone as far as anyone knows.
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}

/// What a host says about the slice that it is part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The slice.
    pub slice: SliceName,
    /// The host's number in it, as the provider gave it.
    pub worker: u32,
    /// What the slice is.
    pub spec: SliceSpec,
    /// Coordinates of the host's chips in the slice, where they are known; without them the worker id says where it lies.
    pub chips: Vec<Coord>,
}

/// What a host reports when it joins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReport {
    /// Its name.
    pub name: HostName,
    /// Where it is reached.
    pub address: String,
    /// Which start of the host this is: another number means that what ran before is gone.
    pub incarnation: u64,
    /// The slice that it is part of; a host without chips is part of none.
    pub membership: Option<Membership>,
    /// Its labels.
    pub labels: Labels,
    /// What it has besides chips.
    pub resources: Resources,
}

impl HostReport {
    /// The report of a host without chips, labels and resources.
    pub fn new(name: HostName, address: &str) -> Self {
        Self {
            name,
            address: address.to_owned(),
            incarnation: 0,
            membership: None,
            labels: Labels::new(),
            resources: Resources::none(),
        }
    }

    /// The same as a member of a slice, at the place that the worker id says.
    #[must_use]
    pub fn with_membership(mut self, slice: SliceName, worker: u32, spec: SliceSpec) -> Self {
        let chips = spec.chips_of(worker).unwrap_or_default();
        self.membership = Some(Membership { slice, worker, spec, chips });
        self
    }

    /// The same with resources.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// The same with one more label.
    #[must_use]
    pub fn with_label(mut self, label: &str, value: &str) -> Self {
        self.labels.insert(label.to_owned(), value.to_owned());
        self
    }
}

/// A host that has joined.
#[derive(Clone, Debug)]
pub struct Host {
    pub(super) name: HostName,
    pub(super) address: String,
    pub(super) incarnation: u64,
    pub(super) membership: Option<Membership>,
    pub(super) labels: Labels,
    pub(super) resources: Resources,
    pub(super) health: Health,
    pub(super) slice: Option<SliceIndex>,
    pub(super) place: Option<u32>,
    pub(super) departed: bool,
}

impl Host {
    pub(super) fn new(report: HostReport) -> Self {
        Self {
            name: report.name,
            address: report.address,
            incarnation: report.incarnation,
            membership: report.membership,
            labels: report.labels,
            resources: report.resources,
            health: Health::Alive,
            slice: None,
            place: None,
            departed: false,
        }
    }

    pub(super) fn update(&mut self, report: HostReport) {
        let (slice, place) = (self.slice, self.place);
        *self = Self { slice, place, ..Self::new(report) };
    }

    /// Its name.
    pub const fn name(&self) -> &HostName {
        &self.name
    }

    /// Where it is reached.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it says about its slice.
    pub const fn membership(&self) -> Option<&Membership> {
        self.membership.as_ref()
    }

    /// Its labels.
    pub const fn labels(&self) -> &Labels {
        &self.labels
    }

    /// What it has besides chips.
    pub const fn resources(&self) -> &Resources {
        &self.resources
    }

    /// How it is.
    pub const fn health(&self) -> &Health {
        &self.health
    }

    /// Whether it left for good and only what was reserved on it remains.
    pub const fn has_departed(&self) -> bool {
        self.departed
    }

    /// The slice and the seat in it; none while its report contradicts that of the others.
    pub fn seat(&self) -> Option<(SliceIndex, u32)> {
        Some((self.slice?, self.place?))
    }

    /// Its chips: none without a slice.
    pub fn chips(&self) -> ChipSet {
        let per_host = |membership: &Membership| ChipSet::first(membership.spec.chips_per_host());
        self.membership.as_ref().map(per_host).unwrap_or_default()
    }
}
