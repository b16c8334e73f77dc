//! Which hosts of one slice are open, and which of its blocks are open as a whole.

use super::plan::Plan;

/// How much a choice spoils: the size of the largest open block that it breaks up, in chips; whether that is a whole idle
/// slice; how many larger open blocks it breaks up in all. Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scheduler) struct Damage {
    pub(in crate::scheduler) largest_chips: u32,
    pub(in crate::scheduler) whole_slice: bool,
    pub(in crate::scheduler) blocks: u32,
}

/// The hosts of one slice. A host is *open* when it is ready and all its chips are free; a block is open when every host
/// of it is.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct Area {
    open: Vec<bool>,
    open_count: u32,
    /// For each shape and block: how many of its hosts are not open.
    closed_in: Vec<Vec<u32>>,
    /// For each shape: how many of its blocks are open.
    open_blocks: Vec<u32>,
}

impl Area {
    /// Nothing is open.
    pub(in crate::scheduler) fn new(plan: &Plan) -> Self {
        let closed = |shape: &super::plan::Shape| vec![shape.hosts.len(); shape.grid.len() as usize];
        Self {
            open: vec![false; plan.spec.hosts() as usize],
            open_count: 0,
            closed_in: plan.shapes.iter().map(closed).collect(),
            open_blocks: vec![0; plan.shapes.len()],
        }
    }

    /// Opens or closes a host; says whether that was news.
    pub(in crate::scheduler) fn set(&mut self, plan: &Plan, place: u32, open: bool) -> bool {
        let place = place as usize;
        if std::mem::replace(&mut self.open[place], open) == open {
            return false;
        }
        let counts = self.closed_in.iter_mut().zip(&mut self.open_blocks);
        for ((closed_in, open_blocks), shape) in counts.zip(&plan.shapes) {
            let closed = &mut closed_in[shape.block_of[place] as usize];
            if open {
                *closed -= 1;
                *open_blocks += u32::from(*closed == 0);
            } else {
                *open_blocks -= u32::from(*closed == 0);
                *closed += 1;
            }
        }
        self.open_count = if open { self.open_count + 1 } else { self.open_count - 1 };
        true
    }

    #[cfg(test)]
    pub(in crate::scheduler) fn is_open(&self, place: u32) -> bool {
        self.open.get(place as usize).copied().unwrap_or(false)
    }

    /// Whether every host is open.
    pub(in crate::scheduler) fn is_idle(&self) -> bool {
        self.open_count as usize == self.open.len()
    }

    /// How many hosts of a block are not open.
    pub(in crate::scheduler) fn closed_in(&self, shape: usize, block: u32) -> u32 {
        self.closed_in[shape][block as usize]
    }

    /// What taking an open block would spoil.
    fn damage(&self, plan: &Plan, shape: usize, block: u32) -> Damage {
        let mut damage =
            Damage { largest_chips: plan.shapes[shape].chips, whole_slice: self.is_idle(), blocks: 0 };
        for larger in (shape + 1..plan.shapes.len()).rev() {
            if self.open_blocks[larger] == 0 {
                continue;
            }
            let broken = plan.overlapping(shape, block, larger);
            let broken = broken.filter(|&other| self.closed_in(larger, other) == 0).count() as u32;
            if broken > 0 {
                damage.largest_chips = damage.largest_chips.max(plan.shapes[larger].chips);
                damage.blocks += broken;
            }
        }
        damage
    }

    /// The open block of a shape whose taking spoils least, of those that are allowed; the first of several.
    pub(in crate::scheduler) fn best(
        &self,
        plan: &Plan,
        shape: usize,
        allowed: impl Fn(u32) -> bool,
    ) -> Option<(Damage, u32)> {
        if self.open_blocks[shape] == 0 {
            return None;
        }
        let blocks = 0..self.closed_in[shape].len() as u32;
        let open = blocks.filter(|&block| self.closed_in(shape, block) == 0 && allowed(block));
        open.map(|block| (self.damage(plan, shape, block), block)).min()
    }
}
