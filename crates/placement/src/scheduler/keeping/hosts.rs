//! Which hosts to keep for a group of bundles.

use std::collections::BTreeMap;

use crate::inventory::{Host, HostIndex};
use crate::scheduler::bundle::{Bundle, BundleAsk, Strategy};
use crate::scheduler::feasible::can_hold;
use crate::scheduler::floor::Floor;
use crate::topology::ChipSet;

/// Hosts that would hold the bundles if they were free, those with the fewest holders first; every host that could hold
/// one of them, when the group has waited very long.
pub(super) fn nearest_to_free(floor: &Floor, ask: &BundleAsk, all: bool) -> Vec<HostIndex> {
    let able = |host: &Host| ask.bundles.iter().any(|bundle| can_hold(ask.generation, bundle, host));
    let hosts = floor.inventory.hosts().filter(|(_, host)| host.health().is_alive());
    if all {
        return hosts.filter(|(_, host)| able(host)).map(|(index, _)| index).collect();
    }
    let holders = |index| floor.ledger.account(index).map_or(0, |account| account.holders().count());
    let mut hosts: Vec<_> = hosts.map(|(index, host)| (holders(index), index, host)).collect();
    hosts.sort_by_key(|(holders, index, _)| (*holders, *index));
    if ask.strategy == Strategy::StrictPack {
        let sum = ask.sum();
        let holds = |host: &Host| can_hold(ask.generation, &sum, host) && able(host);
        return hosts
            .into_iter()
            .find(|(.., host)| holds(host))
            .map(|(_, index, _)| index)
            .into_iter()
            .collect();
    }
    let mut chosen: BTreeMap<HostIndex, Bundle> = BTreeMap::new();
    for bundle in ask.orders().swap_remove(0).into_iter().map(|bundle| &ask.bundles[bundle]) {
        let room = |&&(_, index, host): &&(usize, HostIndex, &Host)| {
            let taken = chosen.get(&index);
            let alone = ask.strategy == Strategy::StrictSpread;
            match taken {
                None => can_hold(ask.generation, bundle, host),
                Some(_) if alone => false,
                Some(taken) => {
                    let together = with(taken, bundle);
                    bundle.labels.accepts(host.labels()) && can_hold(ask.generation, &together, host)
                }
            }
        };
        if let Some(&(_, index, _)) = hosts.iter().find(room) {
            let taken = chosen.entry(index).or_default();
            *taken = with(taken, bundle);
        }
    }
    chosen.into_keys().collect()
}

fn with(taken: &Bundle, bundle: &Bundle) -> Bundle {
    let mut together = taken.clone();
    together.chips = (taken.chips + bundle.chips).min(ChipSet::CHIPS_MAX + 1);
    together.resources.add(&bundle.resources);
    together
}
