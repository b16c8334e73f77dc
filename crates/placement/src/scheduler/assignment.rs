//! What a granted request gets.

use serde::{Deserialize, Serialize};

use crate::inventory::{HostName, Resources, SliceName, Timestamp};
use crate::ledger::RequestId;
use crate::topology::{ChipSet, Coord, SliceSpec, SubSlice};

/// The number of a grant; every grant of a scheduler has a higher one than those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u64);

/// Everything a granted request holds: enough to start a gang without asking anyone anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The request.
    pub request: RequestId,
    /// The number of the grant.
    pub epoch: Epoch,
    /// Since when it is held.
    pub since: Timestamp,
    /// One for each slice or sub-slice that was asked for, in slice order.
    pub slices: Vec<SlicePart>,
    /// One for each bundle that was asked for, in their order.
    pub bundles: Vec<HostPart>,
}

/// A slice or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlicePart {
    /// The slice.
    pub slice: SliceName,
    /// What the slice is.
    pub spec: SliceSpec,
    /// Which part of it; `None` for the whole.
    pub part: Option<SubSlice>,
    /// Its hosts in rank order, which is the order of their place: x fastest, then y, then z.
    pub hosts: Vec<HostPart>,
}

/// A host or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPart {
    /// The host.
    pub host: HostName,
    /// Where it is reached.
    pub address: String,
    /// The slice that it is part of.
    pub slice: Option<SliceName>,
    /// The provider's worker id; 0 for a host that is part of no slice.
    pub worker: u32,
    /// Its place in the host grid of the slice; the worker id unless the provider numbers otherwise.
    pub place: u32,
    /// The chips held, by their number on the host.
    pub chips: ChipSet,
    /// The coordinates of those chips in the slice.
    pub coords: Vec<Coord>,
    /// What else is held of the host.
    pub resources: Resources,
}

impl Assignment {
    /// Every host held, in rank order over all slices; the hosts of bundles in the order of the bundles.
    pub fn hosts(&self) -> impl Iterator<Item = &HostPart> {
        self.slices.iter().flat_map(|slice| &slice.hosts).chain(&self.bundles)
    }

    /// How many chips are held.
    pub fn chips(&self) -> u32 {
        self.hosts().map(|host| host.chips.len()).sum()
    }
}
