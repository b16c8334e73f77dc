//! Whether the hosts that exist can ever hold a group of bundles. Only what can be proven counts: a group that passes may
//! still not fit together, and then waits with a reason.

use std::collections::BTreeMap;

use super::NEAREST_MAX;
use crate::inventory::{Host, Quantity, Resources};
use crate::scheduler::bundle::{Bundle, BundleAsk, Strategy};
use crate::scheduler::floor::Floor;
use crate::scheduler::reason::{InfeasibleCause, Stock};
use crate::topology::Generation;

pub(super) fn check(floor: &Floor, ask: &BundleAsk) -> Option<InfeasibleCause> {
    let able = |bundle: &Bundle| {
        let bundle = bundle.clone();
        floor
            .inventory
            .hosts()
            .map(|(_, host)| host)
            .filter(move |host| can_hold(ask.generation, &bundle, host))
    };
    let mut last: Option<&Bundle> = None;
    for (index, bundle) in (0..).zip(&ask.bundles) {
        // Groups are mostly many of the same.
        if last != Some(bundle) && able(bundle).next().is_none() {
            return Some(no_host(floor, ask, index, bundle));
        }
        last = Some(bundle);
    }
    match ask.strategy {
        Strategy::StrictPack => {
            let sum = Bundle { labels: ask.bundles.first()?.labels.clone(), ..ask.sum() };
            able(&sum).next().is_none().then_some(InfeasibleCause::NotOnOneHost)
        }
        Strategy::StrictSpread => {
            let exist = floor
                .inventory
                .hosts()
                .filter(|(_, host)| ask.bundles.iter().any(|bundle| can_hold(ask.generation, bundle, host)));
            let (exist, needed) = (exist.count(), ask.bundles.len());
            (exist < needed).then_some(InfeasibleCause::TooFewHosts { exist: exist as u32 })
        }
        Strategy::Pack | Strategy::Spread => too_much(floor, ask),
    }
}

/// Whether a host could hold a bundle if all of it were free.
pub(in crate::scheduler) fn can_hold(generation: Option<Generation>, bundle: &Bundle, host: &Host) -> bool {
    let chips = if bundle.chips == 0 { 0 } else { chips_of(generation, host) };
    bundle.chips <= chips
        && bundle.labels.accepts(host.labels())
        && host.resources().covers(&bundle.resources).is_ok()
}

fn chips_of(generation: Option<Generation>, host: &Host) -> u32 {
    let membership = host.membership();
    let of_it = membership
        .filter(|membership| generation.is_none_or(|generation| generation == membership.spec.generation()));
    of_it.map_or(0, |membership| membership.spec.chips_per_host())
}

fn no_host(floor: &Floor, ask: &BundleAsk, bundle: u32, wanted: &Bundle) -> InfeasibleCause {
    let hosts = floor.inventory.hosts().map(|(_, host)| host);
    let chips_max = hosts.map(|host| chips_of(ask.generation, host)).max().unwrap_or(0);
    InfeasibleCause::NoHost { bundle, wanted: wanted.clone(), chips_max }
}

/// Whether all hosts together have less than all bundles together want, or have room for fewer bundles of one kind than
/// there are.
fn too_much(floor: &Floor, ask: &BundleAsk) -> Option<InfeasibleCause> {
    let mut kinds: BTreeMap<&Bundle, u64> = BTreeMap::new();
    for bundle in &ask.bundles {
        *kinds.entry(bundle).or_default() += 1;
    }
    for (bundle, count) in kinds {
        let mut room = 0;
        for (_, host) in floor.inventory.hosts() {
            room += room_on(ask.generation, bundle, host);
            if room >= count {
                break;
            }
        }
        if room < count {
            return Some(InfeasibleCause::TooFewPlaces { wanted: bundle.clone(), exist: room });
        }
    }
    let sum = ask.sum();
    let (mut chips, mut resources) = (0, Resources::none());
    for (_, host) in floor.inventory.hosts() {
        chips += chips_of(ask.generation, host);
        for (resource, amount) in sum.resources.iter() {
            // Enough is enough: amounts are added up to what is wanted.
            let there = resources.amount(resource).as_milli() + host.resources().amount(resource).as_milli();
            let there = Quantity::milli(there.min(amount.as_milli()));
            resources = std::mem::take(&mut resources).with(resource, there);
        }
        if chips >= sum.chips && resources.covers(&sum.resources).is_ok() {
            return None;
        }
    }
    Some(InfeasibleCause::TooMuch { chips, resources })
}

/// How many bundles of a kind a host could hold if all of it were free.
fn room_on(generation: Option<Generation>, bundle: &Bundle, host: &Host) -> u64 {
    if !can_hold(generation, bundle, host) {
        return 0;
    }
    let by_chips = match bundle.chips {
        0 => u64::MAX,
        chips => u64::from(chips_of(generation, host) / chips),
    };
    let by_resource = bundle
        .resources
        .iter()
        .map(|(resource, amount)| host.resources().amount(resource).as_milli() / amount.as_milli().max(1));
    by_resource.fold(by_chips, u64::min)
}

/// Slices that would hold all the chips, the smallest first.
pub(super) fn nearest(floor: &Floor, ask: &BundleAsk) -> Vec<Stock> {
    let chips = ask.sum().chips;
    if chips == 0 {
        return Vec::new();
    }
    let of_it = |stock: &Stock| ask.generation.is_none_or(|generation| generation == stock.spec.generation());
    let mut stock: Vec<_> =
        floor.kinds().map(|(spec, class)| Stock { spec, count: class.len() }).filter(of_it).collect();
    stock.sort_by_key(|stock| {
        let too_small = stock.spec.chips() < chips;
        (too_small, stock.spec.chips().abs_diff(chips), stock.spec)
    });
    stock.truncate(NEAREST_MAX);
    stock
}
