//! Choosing what to keep for a request whose patience has ended (**S7**).

use super::Scheduler;
use super::floor::Floor;
use super::keeps::Keep;
use super::picker::whole_block;
use super::queue::{Alarm, Lane, Rank, Waiting};
use super::request::{Demand, SliceAsk};
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
        if self.may_keep(rank, lane)
            && let Some(waiting) = self.queue.find(id)
        {
            let keep = if waited < patience * PATIENCE_TIMES_MAX {
                Keep::Blocks(self.nearest_to_free(waiting))
            } else {
                Keep::Kinds(kinds(&self.floor, &waiting.demand))
            };
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

    /// The blocks, as many as are asked for, that lack least to be free. One that is kept already stays unless another is
    /// nearer.
    fn nearest_to_free(&self, waiting: &Waiting) -> Vec<(SliceIndex, Block)> {
        let ask = match &*waiting.demand {
            Demand::Slices(ask) | Demand::Parts(ask) => ask,
        };
        let whole = matches!(&*waiting.demand, Demand::Slices(_));
        let mut candidates = if whole { slices(&self.floor, ask) } else { parts(&self.floor, ask) };
        let kept = match self.keeps.find(waiting.rank) {
            Some(Keep::Blocks(blocks)) => blocks.as_slice(),
            _ => &[],
        };
        candidates.retain(|candidate| {
            self.keeps.keeper(waiting.rank, candidate.slice, candidate.spec, candidate.block).is_none()
        });
        candidates.sort_by_key(|candidate| {
            let fresh = !kept.contains(&(candidate.slice, candidate.block));
            (candidate.broken, candidate.closed, fresh, candidate.slice, candidate.block)
        });
        candidates.truncate(ask.count as usize);
        candidates.into_iter().map(|candidate| (candidate.slice, candidate.block)).collect()
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

fn takes_kind(ask: &SliceAsk, spec: SliceSpec) -> bool {
    ask.chips_per_host.is_none_or(|chips| chips == spec.chips_per_host())
}

fn kinds(floor: &Floor, demand: &Demand) -> Vec<SliceSpec> {
    let (ask, whole) = match demand {
        Demand::Slices(ask) => (ask, true),
        Demand::Parts(ask) => (ask, false),
    };
    let serves = |spec: &SliceSpec| {
        let shaped = if whole { spec.topology() == ask.topology } else { spec.tiling(ask.topology).is_ok() };
        shaped && takes_kind(ask, *spec)
    };
    floor.kinds_of(ask.generation).map(|(spec, _)| spec).filter(serves).collect()
}

fn slices(floor: &Floor, ask: &SliceAsk) -> Vec<Candidate> {
    let kinds = floor.kinds_like(ask.generation, ask.topology).filter(|(spec, _)| takes_kind(ask, *spec));
    let slices = kinds.flat_map(|(spec, class)| {
        class.slices().map(move |(slice, area)| Candidate {
            slice,
            spec,
            block: whole_block(spec),
            broken: floor.inventory.slice(slice).is_none_or(|slice| !slice.is_whole()),
            closed: area.closed_in(class.plan().whole(), 0),
        })
    });
    slices.collect()
}

fn parts(floor: &Floor, ask: &SliceAsk) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (spec, class) in floor.kinds_of(ask.generation).filter(|(spec, _)| takes_kind(ask, *spec)) {
        let plan = class.plan();
        let inside_host = plan.host_part_index(ask.topology).is_some();
        // For a part of a host, a host is kept.
        let Some(shape) = (if inside_host { Some(0) } else { plan.shape_index(ask.topology) }) else {
            continue;
        };
        for (slice, area) in class.slices() {
            for index in 0..plan.shapes[shape].grid.len() {
                let Some(part) = plan.shapes[shape].tiling.part(index) else { continue };
                let record = floor.inventory.slice(slice);
                let ready = |place| record.is_some_and(|slice| slice.ready_host(place).is_some());
                let block = part.chips();
                let broken = !part.hosts().iter().all(|host| ready(host.worker));
                found.push(Candidate { slice, spec, block, broken, closed: area.closed_in(shape, index) });
            }
        }
    }
    found
}
