//! Choosing what to keep for a request whose patience has ended (**S7**).

mod hosts;

use super::floor::Floor;
use super::keeps::Keep;
use super::queue::{Alarm, Lane, Rank, Waiting};
use super::request::{Demand, Extent, SliceAsk};
use super::{Scheduler, feasible};
use crate::inventory::{SliceIndex, Timestamp};
use crate::ledger::RequestId;
use crate::topology::{Block, SliceSpec};

/// After how many times its patience every slice that could serve a request is kept for it.
const PATIENCE_TIMES_MAX: u32 = 4;

impl Scheduler {
    /// Keeps what a request waits for, if it is among the first of its lane who have lost patience; looks again after
    /// another patience.
    pub(super) fn keep_for(&mut self, id: &RequestId, now: Timestamp) {
        let Some(waiting) = self.queue.find(id) else { return };
        let (rank, patience) = (waiting.rank, self.options.patience);
        let waited = now.since(waiting.since);
        if waited < patience {
            return;
        }
        let lane = Lane::of(&waiting.demand);
        // What the inventory can never hold is not waited for here, but at the provisioner. For whom holders are being
        // pushed out, what they hold is kept already.
        if feasible::check(&self.floor, &waiting.demand).is_ok()
            && !self.preemptions.is_under_way(id)
            && self.may_keep(rank, lane)
            && let Some(waiting) = self.queue.find(id)
        {
            let keep = self.keep_of(waiting, now);
            self.keeps.insert(rank, id.clone(), keep);
        }
        self.queue.alarm(
            now + patience.max(std::time::Duration::from_millis(1)),
            Alarm::Patience,
            id.clone(),
        );
    }

    /// Whether fewer than [`super::Options::keeps_max`] keepers of the lane go before this rank; one that came too late to
    /// keep for makes room.
    fn may_keep(&mut self, rank: Rank, lane: Lane) -> bool {
        let of_lane =
            |id: &RequestId| self.queue.find(id).is_some_and(|waiting| Lane::of(&waiting.demand) == lane);
        let mut ranks: Vec<Rank> =
            self.keeps.keepers().filter(|(_, id)| of_lane(id)).map(|(rank, _)| rank).collect();
        if !ranks.contains(&rank) {
            ranks.push(rank);
            ranks.sort_unstable();
        }
        for late in ranks.split_off(ranks.len().min(self.options.keeps_max)) {
            self.keeps.remove(late);
            if late == rank {
                return false;
            }
        }
        true
    }

    /// What a request that waits is to have.
    fn keep_of(&self, waiting: &Waiting, now: Timestamp) -> Keep {
        let long = now.since(waiting.since) >= self.options.patience * PATIENCE_TIMES_MAX;
        match (&*waiting.demand, long) {
            (Demand::Bundles(ask), _) => Keep::Hosts(hosts::nearest_to_free(&self.floor, ask, long)),
            (Demand::Slices(ask), true) => Keep::Kinds(kinds(&self.floor, ask, Extent::Whole)),
            (Demand::Parts(ask), true) => Keep::Kinds(kinds(&self.floor, ask, Extent::Part)),
            (Demand::Slices(ask), false) => {
                Keep::Blocks(self.nearest_to_free(waiting.rank, ask, Extent::Whole))
            }
            (Demand::Parts(ask), false) => {
                Keep::Blocks(self.nearest_to_free(waiting.rank, ask, Extent::Part))
            }
        }
    }

    /// The blocks, as many as are asked for, that lack least to be free. One that is kept already stays unless another is
    /// nearer.
    fn nearest_to_free(&self, rank: Rank, ask: &SliceAsk, extent: Extent) -> Vec<(SliceIndex, Block)> {
        let kept = match self.keeps.find(rank) {
            Some(Keep::Blocks(blocks)) => blocks.as_slice(),
            _ => &[],
        };
        let best = |mut candidates: Vec<Candidate>| {
            candidates.retain(|candidate| {
                self.keeps.keeper(rank, candidate.slice, candidate.spec, candidate.block).is_none()
            });
            candidates.sort_by_key(|candidate| {
                let fresh = !kept.contains(&(candidate.slice, candidate.block));
                (candidate.broken, candidate.closed, fresh, candidate.slice, candidate.block)
            });
            candidates.truncate(ask.count as usize);
            candidates
        };
        let of_kinds = kinds(&self.floor, ask, extent).into_iter();
        let by_kind = of_kinds.map(|spec| candidates(&self.floor, ask, spec));
        let chosen = match extent {
            Extent::Part => best(by_kind.flatten().collect()),
            // Whole slices of one request are all of one kind: that which lacks least.
            Extent::Whole => {
                let lacks = |chosen: &Vec<Candidate>| {
                    let broken = chosen.iter().filter(|candidate| candidate.broken).count();
                    let closed: u32 = chosen.iter().map(|candidate| candidate.closed).sum();
                    (std::cmp::Reverse(chosen.len()), broken, closed)
                };
                by_kind.map(best).min_by_key(lacks).unwrap_or_default()
            }
        };
        chosen.into_iter().map(|candidate| (candidate.slice, candidate.block)).collect()
    }
}

struct Candidate {
    slice: SliceIndex,
    spec: SliceSpec,
    block: Block,
    /// Whether a host is missing, which no holder can change by letting go.
    broken: bool,
    /// How many hosts are not free.
    closed: u32,
}

/// The kinds of slices that could serve an ask.
pub(super) fn kinds(floor: &Floor, ask: &SliceAsk, extent: Extent) -> Vec<SliceSpec> {
    let serves = |spec: &SliceSpec| {
        let shaped = match extent {
            Extent::Whole => spec.topology() == ask.topology,
            Extent::Part => spec.tiling(ask.topology).is_ok(),
        };
        shaped && ask.chips_per_host.is_none_or(|chips| chips == spec.chips_per_host())
    };
    floor.kinds_of(ask.generation).map(|(spec, _)| spec).filter(serves).collect()
}

/// The blocks of one kind of slice that could serve an ask if they were free; for a part of a host, the host.
fn candidates(floor: &Floor, ask: &SliceAsk, spec: SliceSpec) -> Vec<Candidate> {
    let Some(class) = floor.class(spec) else { return Vec::new() };
    let plan = class.plan();
    let inside_host = plan.host_part_index(ask.topology).is_some();
    let Some(shape) = (if inside_host { Some(0) } else { plan.shape_index(ask.topology) }) else {
        return Vec::new();
    };
    let any = ask.labels.is_any() && ask.resources_per_host.is_none();
    let mut found = Vec::new();
    for (slice, area) in class.slices() {
        let Some(record) = floor.inventory.slice(slice) else { continue };
        let suits = |place: u32| {
            let host = record.ready_host(place).and_then(|host| floor.inventory.host(host));
            host.is_none_or(|host| {
                ask.labels.accepts(host.labels()) && host.resources().covers(&ask.resources_per_host).is_ok()
            })
        };
        for index in 0..plan.shapes[shape].grid.len() {
            let Some(part) = plan.shapes[shape].tiling.part(index) else { continue };
            let hosts = part.hosts();
            let broken = !hosts.iter().all(|host| record.ready_host(host.worker).is_some());
            if any || hosts.iter().all(|host| suits(host.worker)) {
                let closed = area.closed_in(shape, index);
                found.push(Candidate { slice, spec, block: part.chips(), broken, closed });
            }
        }
    }
    found
}
