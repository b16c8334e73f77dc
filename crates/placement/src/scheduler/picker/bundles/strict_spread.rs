//! STRICT_SPREAD: each bundle on a host of its own. The hardest bundle first, each on the host where it spoils least. When
//! that leaves a bundle without a host, hosts change hands until each bundle has one or it is certain that none can.

use std::collections::{BTreeMap, BTreeSet};

use super::Tray;
use crate::inventory::HostIndex;
use crate::scheduler::floor::PROCESSORS;

/// The largest group for which hosts change hands.
const MATCHED_MAX: usize = 64;

pub(super) fn place(tray: &mut Tray<'_>, order: &[usize]) -> Option<()> {
    if order.iter().try_for_each(|&bundle| tray.elsewhere(bundle)).is_some() {
        return Some(());
    }
    tray.clear();
    let alike = tray.ask.bundles.windows(2).all(|pair| pair[0] == pair[1]);
    if alike || order.len() > MATCHED_MAX {
        return None;
    }
    let matched = matching(tray, order)?;
    matched.into_iter().try_for_each(|(host, bundle)| tray.on_host(&[bundle], host))
}

/// A host for each bundle, by augmenting paths. As many hosts as there are bundles are looked at for each: one that has so
/// many to choose from always finds one that the others leave.
fn matching(tray: &Tray<'_>, order: &[usize]) -> Option<BTreeMap<HostIndex, usize>> {
    let hosts_of = |&bundle: &usize| -> Vec<HostIndex> {
        let wanted = &tray.ask.bundles[bundle];
        let processors = wanted.resources.amount(PROCESSORS).as_milli();
        let hosts = tray.floor.shelf.tightest(wanted.chips, processors);
        hosts.filter(|&host| tray.fits(&[bundle], host).is_some()).take(order.len()).collect()
    };
    let candidates: BTreeMap<usize, Vec<HostIndex>> =
        order.iter().map(|bundle| (*bundle, hosts_of(bundle))).collect();
    let mut taken = BTreeMap::new();
    for &bundle in order {
        if !augment(bundle, &candidates, &mut taken, &mut BTreeSet::new()) {
            return None;
        }
    }
    Some(taken)
}

/// Finds a host for a bundle, moving others to hosts that they can have as well. Depth is at most [`MATCHED_MAX`].
fn augment(
    bundle: usize,
    candidates: &BTreeMap<usize, Vec<HostIndex>>,
    taken: &mut BTreeMap<HostIndex, usize>,
    seen: &mut BTreeSet<HostIndex>,
) -> bool {
    for &host in candidates.get(&bundle).into_iter().flatten() {
        if !seen.insert(host) {
            continue;
        }
        let free = match taken.get(&host).copied() {
            None => true,
            Some(other) => augment(other, candidates, taken, seen),
        };
        if free {
            taken.insert(host, bundle);
            return true;
        }
    }
    false
}
