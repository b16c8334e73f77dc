//! Slices, placement groups and gangs of mobula: which hosts and chips a piece of work runs on, or why it waits.

pub mod inventory;
pub mod ledger;
pub mod scheduler;
pub mod topology;
