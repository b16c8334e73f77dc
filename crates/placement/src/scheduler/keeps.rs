//! What is kept for requests that have waited longer than their patience.
//!
//! A keep names blocks of slices. Whoever ranks behind the keeper cannot have anything that overlaps them; whoever ranks
//! before it can. So what the keeper waits for drains, and is granted to it once it is free.

use std::collections::{BTreeMap, BTreeSet};

use super::queue::Rank;
use crate::inventory::{HostIndex, SliceIndex};
use crate::ledger::RequestId;
use crate::topology::{Block, SliceSpec};

/// What is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// These blocks, in chip coordinates of their slices.
    Blocks(Vec<(SliceIndex, Block)>),
    /// Every slice of these kinds: for one that waits although its blocks did not drain.
    Kinds(Vec<SliceSpec>),
    /// These hosts, with everything they have.
    Hosts(Vec<HostIndex>),
}

/// Everything that is kept, by keeper.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeps {
    keeps: BTreeMap<Rank, (RequestId, Keep)>,
    blocks: BTreeMap<SliceIndex, Vec<(Rank, Block)>>,
    hosts: BTreeMap<HostIndex, BTreeSet<Rank>>,
    /// Whether something was given up since this was last asked.
    given_up: bool,
}

impl Keeps {
    pub(super) fn insert(&mut self, rank: Rank, id: RequestId, keep: Keep) {
        self.remove(rank);
        match &keep {
            Keep::Blocks(blocks) => {
                for &(slice, block) in blocks {
                    self.blocks.entry(slice).or_default().push((rank, block));
                }
            }
            Keep::Hosts(hosts) => {
                for &host in hosts {
                    self.hosts.entry(host).or_default().insert(rank);
                }
            }
            Keep::Kinds(_) => {}
        }
        self.keeps.insert(rank, (id, keep));
    }

    /// Gives up what is kept for a rank.
    pub(super) fn remove(&mut self, rank: Rank) {
        let Some((_, keep)) = self.keeps.remove(&rank) else { return };
        self.given_up = true;
        match keep {
            Keep::Blocks(blocks) => {
                for (slice, _) in blocks {
                    if let Some(kept) = self.blocks.get_mut(&slice) {
                        kept.retain(|(keeper, _)| *keeper != rank);
                        if kept.is_empty() {
                            self.blocks.remove(&slice);
                        }
                    }
                }
            }
            Keep::Hosts(hosts) => {
                for host in hosts {
                    if let Some(kept) = self.hosts.get_mut(&host) {
                        kept.remove(&rank);
                        if kept.is_empty() {
                            self.hosts.remove(&host);
                        }
                    }
                }
            }
            Keep::Kinds(_) => {}
        }
    }

    /// Whether anything was given up since the last call, so that others may have it now.
    pub(super) fn take_given_up(&mut self) -> bool {
        std::mem::take(&mut self.given_up)
    }

    /// Whether any host is kept.
    pub(super) fn hosts_are_kept(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The first of those before `rank` for whom a host is kept.
    pub(super) fn host_keeper(&self, rank: Rank, host: HostIndex) -> Option<&RequestId> {
        let keeper = self.hosts.get(&host)?.first().filter(|keeper| **keeper < rank)?;
        self.keeps.get(keeper).map(|(id, _)| id)
    }

    pub(super) fn find(&self, rank: Rank) -> Option<&Keep> {
        self.keeps.get(&rank).map(|(_, keep)| keep)
    }

    /// Every keeper.
    pub(super) fn keepers(&self) -> impl Iterator<Item = (Rank, &RequestId)> {
        self.keeps.iter().map(|(&rank, (id, _))| (rank, id))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keeps.is_empty()
    }

    /// The first of those before `rank` for whom the block is kept.
    pub(super) fn keeper(
        &self,
        rank: Rank,
        slice: SliceIndex,
        spec: SliceSpec,
        block: Block,
    ) -> Option<(Rank, &RequestId)> {
        if self.keeps.is_empty() {
            return None;
        }
        let kept = self.blocks.get(&slice).into_iter().flatten();
        let by_block = kept.filter(|(keeper, kept)| *keeper < rank && kept.overlaps(block));
        let by_block = by_block.map(|(keeper, _)| *keeper).min();
        let of_kind = |keep: &Keep| matches!(keep, Keep::Kinds(kinds) if kinds.contains(&spec));
        let by_kind = self.keeps.range(..rank).find(|(_, (_, keep))| of_kind(keep));
        let first = by_block.into_iter().chain(by_kind.map(|(&keeper, _)| keeper)).min()?;
        self.keeps.get(&first).map(|(id, _)| (first, id))
    }
}
