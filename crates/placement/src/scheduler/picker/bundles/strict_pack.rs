//! STRICT_PACK: on one host or not at all. The tightest host that holds everything; of hosts with all their chips free,
//! one whose taking breaks up the smallest block.

use std::collections::BTreeSet;

use super::Tray;
use crate::inventory::HostIndex;
use crate::scheduler::bundle::Bundle;
use crate::scheduler::floor::PROCESSORS;
use crate::scheduler::picker::Avoided;
use crate::topology::CHIPS_PER_PROCESS;

pub(super) fn place(tray: &mut Tray<'_>, order: &[usize]) -> Option<()> {
    let host = find(tray, order)?;
    tray.on_host(order, host)
}

/// The host that all these bundles fit on: one that is broken up already or has no chips, before one that is not.
pub(super) fn find(tray: &mut Tray<'_>, bundles: &[usize]) -> Option<HostIndex> {
    let sum = tray.sum(bundles);
    let processors = sum.resources.amount(PROCESSORS).as_milli();
    let fits = |tray: &Tray<'_>, host: HostIndex| tray.fits(bundles, host).is_some();
    if sum.chips == 0 {
        return tray.floor.shelf.tightest(0, processors).find(|&host| fits(tray, host));
    }
    if let Some(host) = tray.floor.shelf.broken(sum.chips, processors).find(|&host| fits(tray, host)) {
        return Some(host);
    }
    let chips = CHIPS_PER_PROCESS.into_iter().find(|&chips| chips >= sum.chips)?;
    let together = Bundle { chips, ..sum };
    // A host that has the room may still not suit each bundle: their labels differ.
    let mut refused = BTreeSet::new();
    while let Some((host, _)) = tray.with_chips(&together, Avoided(Some(&refused))) {
        if fits(tray, host) {
            return Some(host);
        }
        refused.insert(host);
    }
    None
}
