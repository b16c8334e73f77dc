//! Pushing out: which holders are asked to let go for a request that goes before them.
//!
//! The victims of a request are chosen once; what they hold is kept for it from then on, and is granted to it when they
//! have let go. Nobody is pushed out for two requests at once, and when the request is served otherwise, withdrawn or
//! expired, those who have not let go yet may stay.

use std::collections::{BTreeMap, BTreeSet};

use super::Scheduler;
use super::command::Command;
use super::keeping::kinds;
use super::keeps::Keep;
use super::options::Preemption;
use super::picker::whole_block;
use super::queue::Rank;
use super::request::{Demand, Extent, SliceAsk};
use crate::inventory::{SliceIndex, Timestamp};
use crate::ledger::RequestId;
use crate::topology::{Block, SubSlice, SubSliceHost};

/// Who is asked to let go, for whom, and until when.
#[derive(Clone, Debug, Default)]
pub(super) struct Preemptions {
    by_victim: BTreeMap<RequestId, (RequestId, Timestamp)>,
    victims: BTreeMap<RequestId, BTreeSet<RequestId>>,
    graces: BTreeSet<(Timestamp, RequestId)>,
}

impl Preemptions {
    fn insert(&mut self, victim: RequestId, by: RequestId, until: Timestamp) {
        self.victims.entry(by.clone()).or_default().insert(victim.clone());
        self.graces.insert((until, victim.clone()));
        self.by_victim.insert(victim, (by, until));
    }

    /// Forgets a victim that let go.
    pub(super) fn let_go(&mut self, victim: &RequestId) {
        let Some((by, until)) = self.by_victim.remove(victim) else { return };
        self.graces.remove(&(until, victim.clone()));
        if let Some(victims) = self.victims.get_mut(&by) {
            victims.remove(victim);
            if victims.is_empty() {
                self.victims.remove(&by);
            }
        }
    }

    /// Forgets all victims of a request; says who they were.
    pub(super) fn call_off(&mut self, by: &RequestId) -> BTreeSet<RequestId> {
        let victims = self.victims.remove(by).unwrap_or_default();
        for victim in &victims {
            if let Some((_, until)) = self.by_victim.remove(victim) {
                self.graces.remove(&(until, victim.clone()));
            }
        }
        victims
    }

    /// Whether somebody is being pushed out for a request.
    pub(super) fn is_under_way(&self, by: &RequestId) -> bool {
        self.victims.contains_key(by)
    }

    /// The next victim whose time is over, with the one it is for; each is named once.
    pub(super) fn due(&mut self, now: Timestamp) -> Option<(RequestId, RequestId)> {
        if self.graces.first()?.0 > now {
            return None;
        }
        let (_, victim) = self.graces.pop_first()?;
        let (by, _) = self.by_victim.get(&victim)?;
        Some((victim.clone(), by.clone()))
    }

    pub(super) fn next_grace(&self) -> Option<Timestamp> {
        self.graces.first().map(|(until, _)| *until)
    }
}

/// What pushing out the holders of a block costs: the most urgent of them, their chips, how many they are. Less is better;
/// a block that nobody holds costs nothing.
type Price = (Option<i32>, u32, usize);

struct Victims {
    price: Price,
    slice: SliceIndex,
    block: Block,
    holders: BTreeSet<RequestId>,
}

impl Scheduler {
    /// Asks holders to let go for a request that waits, if policy allows it and it helps.
    pub(super) fn preempt_for(&mut self, id: &RequestId, now: Timestamp, commands: &mut Vec<Command>) {
        let Preemption::LowerPriority { grace } = self.options.preemption else { return };
        if self.preemptions.is_under_way(id) {
            return;
        }
        let Some(waiting) = self.queue.find(id) else { return };
        let (rank, priority) = (waiting.rank, waiting.request.priority);
        let chosen = match &*waiting.demand {
            Demand::Slices(ask) => self.cheapest(ask, Extent::Whole, rank, priority),
            Demand::Parts(ask) => self.cheapest(ask, Extent::Part, rank, priority),
            Demand::Bundles(_) => None,
        };
        let Some(chosen) = chosen else { return };
        let blocks = chosen.iter().map(|victims| (victims.slice, victims.block)).collect();
        self.keeps.insert(rank, id.clone(), Keep::Blocks(blocks));
        let until = now + grace;
        let victims: BTreeSet<RequestId> = chosen.into_iter().flat_map(|victims| victims.holders).collect();
        for victim in victims {
            self.preemptions.insert(victim.clone(), id.clone(), until);
            commands.push(Command::Preempt { victim, by: id.clone(), until });
        }
    }

    /// As many blocks as are asked for, at the least price; `None` when there are not enough that can be bought.
    fn cheapest(&self, ask: &SliceAsk, extent: Extent, rank: Rank, priority: i32) -> Option<Vec<Victims>> {
        let count = ask.count as usize;
        let mut offers = Vec::new();
        for spec in kinds(&self.floor, ask, extent) {
            let (Ok(tiling), Some(class)) = (spec.tiling(ask.topology), self.floor.class(spec)) else {
                continue;
            };
            let parts = || (0..tiling.len()).filter_map(|index| tiling.part(index));
            for (slice, _) in class.slices() {
                offers.extend(parts().filter_map(|part| self.offer(ask, slice, part, rank, priority)));
            }
            // Whole slices of one request are all of one kind.
            if extent == Extent::Whole {
                if offers.len() >= count {
                    break;
                }
                offers.clear();
            }
        }
        offers.sort_by_key(|victims| (victims.price, victims.slice, victims.block));
        offers.truncate(count);
        let bought = offers.iter().any(|victims| !victims.holders.is_empty());
        (offers.len() == count && bought).then_some(offers)
    }

    /// What one block would cost; `None` when it cannot be had for this request.
    fn offer(
        &self,
        ask: &SliceAsk,
        slice: SliceIndex,
        part: SubSlice,
        rank: Rank,
        priority: i32,
    ) -> Option<Victims> {
        let (spec, block) = (part.spec(), part.chips());
        let record = self.floor.inventory.slice(slice).filter(|slice| !slice.is_contradicted())?;
        if block == whole_block(spec) && !record.is_whole() {
            return None;
        }
        if self.keeps.keeper(rank, slice, spec, block).is_some() {
            return None;
        }
        let mut holders = BTreeSet::new();
        for SubSliceHost { worker: place, chips } in part.hosts() {
            let index = record.ready_host(place)?;
            let (host, account) = (self.floor.inventory.host(index)?, self.floor.ledger.account(index)?);
            if !ask.labels.accepts(host.labels()) || !account.covers(&ask.resources_per_host) {
                return None;
            }
            holders.extend(account.holders_of(chips).cloned());
        }
        let mut price: Price = (None, 0, holders.len());
        for holder in &holders {
            let held = self.held.get(holder)?;
            let yields = held.request.preemptible && held.request.priority < priority;
            if !yields || self.preemptions.by_victim.contains_key(holder) {
                return None;
            }
            price.0 = price.0.max(Some(held.request.priority));
            price.1 += held.assignment.chips();
        }
        Some(Victims { price, slice, block, holders })
    }
}
