//! Why a request waits or cannot be served: data first, words for a person second.

mod infeasible;
mod pending;

pub use infeasible::{Infeasible, InfeasibleCause, Stock};
pub use pending::{Holder, HostNote, Keeper, Obstacle, PendingReason, SliceNote};

/// `1 slice`, `2 slices`.
fn plural(count: u32, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
