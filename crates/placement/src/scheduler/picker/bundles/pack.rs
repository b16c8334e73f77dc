//! PACK: on as few hosts as possible. While what is left does not fit on one host, the roomiest host takes as much of it as
//! it can, the hardest first.

use super::{Tray, strict_pack};

pub(super) fn place(tray: &mut Tray<'_>, order: Vec<usize>) -> Option<()> {
    let mut left = order;
    while !left.is_empty() {
        if let Some(host) = strict_pack::find(tray, &left) {
            return tray.on_host(&left, host);
        }
        let host = tray.roomiest(left[0], &left)?;
        let mut rest = Vec::with_capacity(left.len());
        for &bundle in &left {
            if tray.on_host(&[bundle], host).is_none() {
                rest.push(bundle);
            }
        }
        // The roomiest host takes at least the first; otherwise none does.
        if rest.len() == left.len() {
            return None;
        }
        left = rest;
    }
    Some(())
}
