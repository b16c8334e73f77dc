//! What a waiting request lacks, and what holds it.

use std::fmt;
use std::time::Duration;

use super::infeasible::{Infeasible, Stock};
use super::plural;
use crate::inventory::{Age, Health, HostName, Lack, Shortage, SliceName, Timestamp};
use crate::ledger::RequestId;
use crate::scheduler::bundle::Bundle;
use crate::scheduler::request::Demand;
use crate::topology::SliceSpec;

const HOLDERS_SHOWN_MAX: usize = 3;
const LACKS_SHOWN_MAX: usize = 3;

/// Why a request waits, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingReason {
    /// What is asked for.
    pub demand: Demand,
    /// The moment.
    pub at: Timestamp,
    /// How long the request has waited.
    pub waited: Duration,
    /// What stands in the way.
    pub obstacle: Obstacle,
    /// Slices of the generation that are free as a whole: what could be had at once.
    pub free_now: Vec<Stock>,
}

/// What stands in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// Slices of the right kind exist; too few of them are whole, free and not kept for others.
    Slices {
        /// How many exist, whatever their state.
        exist: u32,
        /// Those that cannot be had, one by one up to [`crate::scheduler::Options::notes_max`].
        notes: Vec<SliceNote>,
        /// How many more there are.
        more: u32,
    },
    /// Hosts exist that could hold the bundles; too few have room, or they do not fit together as asked.
    Hosts {
        /// The bundle that is hardest to place.
        bundle: Box<Bundle>,
        /// How many hosts could hold it if they were free.
        exist: u32,
        /// Those that cannot now, one by one up to [`crate::scheduler::Options::notes_max`].
        notes: Vec<HostNote>,
        /// How many more there are.
        more: u32,
    },
    /// The inventory can never hold it; a provisioner was asked.
    Provisioning(Box<Infeasible>),
}

/// One slice that cannot be had, or not in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceNote {
    /// The slice.
    pub slice: SliceName,
    /// What it is.
    pub spec: SliceSpec,
    /// Who holds something of it, longest first.
    pub holders: Vec<Holder>,
    /// What it lacks to be whole.
    pub lacks: Vec<Lack>,
    /// For whom it is kept.
    pub keeper: Option<Keeper>,
    /// Whether a host's labels are not as asked.
    pub mislabelled: bool,
    /// What a host has too little of beside its chips.
    pub shortage: Option<Shortage>,
}

/// One host that has no room for a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNote {
    /// The host.
    pub host: HostName,
    /// How it is, when it is not alive.
    pub unfit: Option<Health>,
    /// Who holds something of it, longest first.
    pub holders: Vec<Holder>,
    /// For whom it is kept.
    pub keeper: Option<Keeper>,
    /// How many of its chips are free.
    pub chips_free: u32,
    /// What it has too little of beside its chips.
    pub shortage: Option<Shortage>,
}

/// Who holds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The reservation.
    pub request: RequestId,
    /// For how long.
    pub held: Duration,
}

/// For whom something is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeper {
    /// The request.
    pub request: RequestId,
    /// How long that one has waited.
    pub waited: Duration,
}

impl PendingReason {
    fn write_note(&self, f: &mut fmt::Formatter<'_>, note: &SliceNote) -> fmt::Result {
        write!(f, "{}", note.slice)?;
        let mut joint = " ";
        if !note.holders.is_empty() {
            write!(f, "{joint}held by ")?;
            write_holders(f, &note.holders)?;
            joint = " and ";
        }
        if !note.lacks.is_empty() {
            write!(f, "{joint}lacks ")?;
            for (position, lack) in note.lacks.iter().take(LACKS_SHOWN_MAX).enumerate() {
                write!(f, "{}", if position > 0 { ", " } else { "" })?;
                lack.write(f, self.at)?;
            }
            write_rest(f, note.lacks.len(), LACKS_SHOWN_MAX)?;
            joint = " and ";
        }
        if let Some(keeper) = &note.keeper {
            let waited = Age(keeper.waited);
            write!(f, "{joint}kept for '{}', which has waited {waited}", keeper.request)?;
            joint = " and ";
        }
        if note.mislabelled {
            write!(f, "{joint}labelled otherwise")?;
            joint = " and ";
        }
        if let Some(shortage) = &note.shortage {
            let Shortage { resource, asked, free } = shortage;
            write!(f, "{joint}short of {resource} on a host ({asked} asked, {free} free)")?;
            joint = " and ";
        }
        if joint == " " {
            write!(f, " free")?;
        }
        Ok(())
    }
}

impl PendingReason {
    fn write_host(&self, f: &mut fmt::Formatter<'_>, note: &HostNote) -> fmt::Result {
        write!(f, "{} has {}", note.host, plural(note.chips_free, "free chip"))?;
        if let Some(Shortage { resource, asked, free }) = &note.shortage {
            write!(f, " and {free} of {asked} {resource}")?;
        }
        if !note.holders.is_empty() {
            write!(f, ", held by ")?;
            write_holders(f, &note.holders)?;
        }
        if let Some(keeper) = &note.keeper {
            let waited = Age(keeper.waited);
            write!(f, ", kept for '{}', which has waited {waited}", keeper.request)?;
        }
        match &note.unfit {
            None | Some(Health::Alive) => Ok(()),
            Some(Health::Draining { since, .. }) => {
                write!(f, ", draining for {}", Age(self.at.since(*since)))
            }
            Some(Health::Sick { since, .. }) => write!(f, ", sick for {}", Age(self.at.since(*since))),
            Some(Health::Lost { since, .. }) => write!(f, ", lost {} ago", Age(self.at.since(*since))),
        }
    }
}

fn write_holders(f: &mut fmt::Formatter<'_>, holders: &[Holder]) -> fmt::Result {
    for (position, holder) in holders.iter().take(HOLDERS_SHOWN_MAX).enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        write!(f, "{comma}'{}' since {}", holder.request, Age(holder.held))?;
    }
    write_rest(f, holders.len(), HOLDERS_SHOWN_MAX)
}

fn write_rest(f: &mut fmt::Formatter<'_>, len: usize, shown: usize) -> fmt::Result {
    if len > shown { write!(f, " and {} more", len - shown) } else { Ok(()) }
}

impl fmt::Display for PendingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.obstacle {
            Obstacle::Slices { exist, notes, more } => {
                write!(f, "{} wanted; {} can serve", self.demand, plural(*exist, "slice"))?;
                for (position, note) in notes.iter().enumerate() {
                    write!(f, "{}", if position == 0 { ": " } else { "; " })?;
                    self.write_note(f, note)?;
                }
                if *more > 0 {
                    write!(f, "; and {more} more")?;
                }
            }
            Obstacle::Hosts { bundle, exist, notes, more } => {
                let hosts = plural(*exist, "host");
                write!(f, "{} wanted; {hosts} can hold a bundle of {bundle}", self.demand)?;
                for (position, note) in notes.iter().enumerate() {
                    write!(f, "{}", if position == 0 { ": " } else { "; " })?;
                    self.write_host(f, note)?;
                }
                if *more > 0 {
                    write!(f, "; and {more} more")?;
                }
            }
            Obstacle::Provisioning(infeasible) => {
                write!(f, "{} wanted from the provisioner: {infeasible}", self.demand)?;
            }
        }
        if !self.free_now.is_empty() {
            let free: Vec<_> =
                self.free_now.iter().map(|stock| format!("{} {}", stock.count, stock.spec)).collect();
            write!(f, "; free now: {}", free.join(", "))?;
        }
        Ok(())
    }
}
