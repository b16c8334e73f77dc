//! What a member of a gang knows of its place.

use std::collections::BTreeMap;

use mobula_core::SpawnContext;
use mobula_core::actor::ContextEntryError;
use serde::{Deserialize, Serialize};

use crate::scheduler::Assignment;
use crate::topology::{Coord, SliceSpec};

/// The name under which a gang attaches it to a spawn.
pub(crate) const ENTRY: &str = "mobula-placement.rank";

/// One chip of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chip {
    /// Its number on its host.
    pub index: u8,
    /// Where it lies in the slice.
    pub at: Coord,
}

/// Another member of the gang, or this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its rank.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Where the host is reached, as it reported.
    pub address: String,
}

/// A member's place in its gang. Ranks follow the ICI coordinates of the hosts: x fastest, then y, then z, slice by slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankContext {
    /// This member's number, from 0.
    pub rank: u32,
    /// How many members there are.
    pub world_size: u32,
    /// The reservation under which the gang runs.
    pub group: String,
    /// The number of the grant; what belongs to an older one is refused.
    pub epoch: u64,
    /// Which of the gang's slices this member is on, from 0.
    pub slice_index: u32,
    /// How many slices the gang has.
    pub slice_count: u32,
    /// The slice's name.
    pub slice: String,
    /// What the slice is.
    pub spec: SliceSpec,
    /// Which host of its slice this member is on, from 0 in the order of coordinates.
    pub host_index: u32,
    /// How many hosts each slice has.
    pub hosts_per_slice: u32,
    /// The host's name.
    pub host: String,
    /// The worker id that the provider gave the host.
    pub worker: u32,
    /// The chips of this member, by their number on the host.
    pub chips: Vec<Chip>,
    /// Every member, by rank.
    pub peers: Vec<Peer>,
    /// The TPU environment of this member, as a process of its own would have it set before a device library loads.
    pub environment: BTreeMap<String, String>,
}

/// Reads a member's place where it is built.
pub trait Ranked {
    /// The place that the gang gave this member.
    ///
    /// # Errors
    /// [`ContextEntryError`] when the actor was not spawned by a gang.
    fn rank(&self) -> Result<RankContext, ContextEntryError>;
}

impl Ranked for SpawnContext {
    fn rank(&self) -> Result<RankContext, ContextEntryError> {
        self.entry(ENTRY)
    }
}

/// The place of every member of a gang with one member a host, by rank.
pub(crate) fn plan(assignment: &Assignment) -> Vec<RankContext> {
    let peers: Vec<_> = assignment
        .hosts()
        .zip(0..)
        .map(|(host, rank)| Peer { rank, host: host.host.to_string(), address: host.address.clone() })
        .collect();
    let slice_count = assignment.slices.len() as u32;
    let mut ranks = Vec::with_capacity(peers.len());
    for (slice, slice_index) in assignment.slices.iter().zip(0..) {
        let hostnames: Vec<_> = slice.hosts.iter().map(|host| host.address.as_str()).collect();
        for (host, host_index) in slice.hosts.iter().zip(0..) {
            let chips = host.chips.iter().zip(&host.coords).map(|(index, &at)| Chip { index, at }).collect();
            ranks.push(RankContext {
                rank: ranks.len() as u32,
                world_size: peers.len() as u32,
                group: assignment.request.to_string(),
                epoch: assignment.epoch.0,
                slice_index,
                slice_count,
                slice: slice.slice.to_string(),
                spec: slice.spec,
                host_index,
                hosts_per_slice: slice.hosts.len() as u32,
                host: host.host.to_string(),
                worker: host.worker,
                chips,
                peers: peers.clone(),
                environment: environment(slice.spec, slice.slice.as_str(), host_index, &hostnames),
            });
        }
    }
    ranks
}

/// The variables of a member that has its whole host, by the table of the provider's documentation: the worker id,
/// the hosts in worker order, and what the slice is. A part of a host, and several slices, need more than these.
fn environment(spec: SliceSpec, slice: &str, worker: u32, hostnames: &[&str]) -> BTreeMap<String, String> {
    let variables = [
        ("TPU_NAME", slice.to_owned()),
        ("TPU_WORKER_ID", worker.to_string()),
        ("TPU_WORKER_HOSTNAMES", hostnames.join(",")),
        ("TPU_ACCELERATOR_TYPE", spec.pod_type().to_string()),
        ("TPU_TOPOLOGY", spec.topology().to_string()),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
