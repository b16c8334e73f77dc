//! Hosts by what is free of them: hosts whose chips are in use or who have none first, then few chips, then few processors,
//! so that the first that is enough fits best.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::HostIndex;

/// The resource that hosts are ordered by; the others are compared host by host.
pub(in crate::scheduler) const PROCESSORS: &str = "CPU";

/// What is free of a host, in the order in which hosts are looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scheduler) struct Free {
    /// Whether the host has chips and all of them are free.
    pub(in crate::scheduler) all_chips: bool,
    pub(in crate::scheduler) chips: u32,
    /// In thousandths.
    pub(in crate::scheduler) processors: u64,
}

/// Every host that is alive.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduler) struct Shelf {
    order: BTreeSet<(Free, HostIndex)>,
    filed: BTreeMap<HostIndex, Free>,
}

impl Shelf {
    /// Notes what is free on a host; nothing, when it is not alive.
    pub(in crate::scheduler) fn set(&mut self, host: HostIndex, free: Option<Free>) {
        let old = match free {
            Some(free) => self.filed.insert(host, free),
            None => self.filed.remove(&host),
        };
        if old == free {
            return;
        }
        if let Some(old) = old {
            self.order.remove(&(old, host));
        }
        if let Some(free) = free {
            self.order.insert((free, host));
        }
    }

    /// Hosts with at least so much free whose chips are in use or who have none, the tightest first.
    pub(in crate::scheduler) fn broken(
        &self,
        chips: u32,
        processors: u64,
    ) -> impl Iterator<Item = HostIndex> {
        self.tightest_of(false, chips, processors)
    }

    /// Hosts with at least so much free, the tightest first.
    pub(in crate::scheduler) fn tightest(
        &self,
        chips: u32,
        processors: u64,
    ) -> impl Iterator<Item = HostIndex> {
        self.broken(chips, processors).chain(self.tightest_of(true, chips, processors))
    }

    fn tightest_of(&self, all_chips: bool, chips: u32, processors: u64) -> impl Iterator<Item = HostIndex> {
        (chips..=8).flat_map(move |chips| {
            let from = (Free { all_chips, chips, processors }, HostIndex(0));
            let to = (Free { all_chips, chips, processors: u64::MAX }, HostIndex(u32::MAX));
            self.order.range(from..=to).map(|&(_, host)| host)
        })
    }

    /// Of the hosts with at least so many thousandths of a processor free, that with the most that suits.
    pub(in crate::scheduler) fn roomiest(
        &self,
        processors: u64,
        suits: impl Fn(HostIndex) -> bool,
    ) -> Option<HostIndex> {
        let mut most: Option<(u64, HostIndex)> = None;
        for (all_chips, chips) in
            (0..=8).map(|chips| (false, chips)).chain((1..=8).map(|chips| (true, chips)))
        {
            let at_least = most.map_or(processors, |(most, _)| most + 1);
            let from = (Free { all_chips, chips, processors: at_least }, HostIndex(0));
            let to = (Free { all_chips, chips, processors: u64::MAX }, HostIndex(u32::MAX));
            let found = self.order.range(from..=to).rev().find(|(_, host)| suits(*host));
            most = found.map(|(free, host)| (free.processors, *host)).or(most);
        }
        most.map(|(_, host)| host)
    }
}
