//! SPREAD: on as many hosts as possible. Each bundle goes to a host that the group does not use yet, and to one that it
//! uses only when there is no other.

use std::collections::BTreeMap;

use super::Tray;
use crate::inventory::HostIndex;

pub(super) fn place(tray: &mut Tray<'_>, order: &[usize]) -> Option<()> {
    let mut load: BTreeMap<HostIndex, usize> = BTreeMap::new();
    for &bundle in order {
        if tray.elsewhere(bundle).is_none() {
            let mut shared: Vec<_> = load.iter().map(|(&host, &count)| (count, host)).collect();
            shared.sort_unstable();
            shared.into_iter().find_map(|(_, host)| tray.on_host(&[bundle], host))?;
        }
        let host = tray.placed.last()?.host;
        *load.entry(host).or_default() += 1;
    }
    Some(())
}
