//! What the present inventory can never hold, and what could be asked for instead.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::plural;
use crate::inventory::Resources;
use crate::scheduler::bundle::Bundle;
use crate::scheduler::request::Demand;
use crate::topology::{SliceSpec, SpecError, SubSliceError};

/// How many slices of one kind exist, whatever their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stock {
    /// The kind.
    pub spec: SliceSpec,
    /// How many.
    pub count: u32,
}

/// Why the present inventory can never hold a demand, and the nearest valid choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// What was asked for.
    pub demand: Demand,
    /// What stands against it.
    pub cause: InfeasibleCause,
    /// What exists, nearest to the demand first.
    pub nearest: Vec<Stock>,
}

/// What stands against a demand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InfeasibleCause {
    /// The generation does not come in that shape at all.
    Shape(SpecError),
    /// No slice of that generation and topology exists.
    NoSuchSlice,
    /// Slices of that kind exist, but not that many.
    TooFew {
        /// How many exist, whatever their state.
        exist: u32,
    },
    /// Slices of that shape exist, but not with that many chips a host.
    ChipsPerHost {
        /// The numbers that exist.
        exist: Vec<u32>,
    },
    /// Slices of the kind exist, but not enough of them have such labels.
    Labels {
        /// How many have.
        exist: u32,
    },
    /// Slices of the kind exist, but their hosts are not large enough for what is asked beside the chips.
    Resources {
        /// How many are large enough.
        exist: u32,
    },
    /// The slices that exist cannot be cut into such parts.
    NoSuchPart(Option<SubSliceError>),
    /// The slices that exist, cut wholly into such parts, give fewer.
    TooFewParts {
        /// How many they give.
        exist: u32,
    },
    /// A bundle that no host could hold. For more chips than a host has, ask for a slice.
    NoHost {
        /// The number of the bundle.
        bundle: u32,
        /// What it wants.
        wanted: Bundle,
        /// The most chips that a host has.
        chips_max: u32,
    },
    /// All bundles on one host were asked for, and none could hold them.
    NotOnOneHost,
    /// A host for each bundle was asked for, and fewer could hold one.
    TooFewHosts {
        /// How many could.
        exist: u32,
    },
    /// All hosts together have room for fewer bundles of one kind than are asked for.
    TooFewPlaces {
        /// The kind of bundle.
        wanted: Bundle,
        /// For how many there is room.
        exist: u64,
    },
    /// All hosts together have less than all bundles together want.
    TooMuch {
        /// Chips of all hosts.
        chips: u32,
        /// Other resources of all hosts, up to what is wanted.
        resources: Resources,
    },
}

impl Infeasible {
    /// Whether no inventory could ever hold it, so that no provisioner can help.
    pub const fn is_final(&self) -> bool {
        matches!(self.cause, InfeasibleCause::Shape(_))
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { demand, cause, .. } = self;
        match cause {
            InfeasibleCause::Shape(error) => return write!(f, "{demand} cannot be: failed to {error}"),
            InfeasibleCause::NoSuchSlice => write!(f, "{demand} cannot be: no such slice is here")?,
            InfeasibleCause::TooFew { exist } => {
                write!(f, "{demand} cannot be: only {} here", plural(*exist, "such slice"))?;
            }
            InfeasibleCause::ChipsPerHost { exist } => {
                let exist: Vec<_> = exist.iter().map(ToString::to_string).collect();
                write!(f, "{demand} cannot be: hosts of such slices have {} chips", exist.join(" or "))?;
            }
            InfeasibleCause::Labels { exist } => {
                write!(f, "{demand} cannot be: {} here labelled so", plural(*exist, "such slice"))?;
            }
            InfeasibleCause::Resources { exist } => {
                write!(f, "{demand} cannot be: {} here with hosts that large", plural(*exist, "such slice"))?;
            }
            InfeasibleCause::NoSuchPart(None) => {
                write!(f, "{demand} cannot be: no slice of the generation is here")?;
            }
            InfeasibleCause::NoSuchPart(Some(error)) => {
                write!(f, "{demand} cannot be: failed to {error}")?;
            }
            InfeasibleCause::TooFewParts { exist } => {
                write!(f, "{demand} cannot be: the slices here give {exist}")?;
            }
            InfeasibleCause::NoHost { bundle, wanted, chips_max } => {
                write!(f, "{demand} cannot be: no host here holds bundle {bundle} ({wanted})")?;
                if wanted.chips > *chips_max {
                    write!(f, "; a host has {chips_max} chips, for more ask for a topology")?;
                }
            }
            InfeasibleCause::NotOnOneHost => write!(f, "{demand} cannot be: no host here is that large")?,
            InfeasibleCause::TooFewHosts { exist } => {
                write!(f, "{demand} cannot be: only {} here could hold one", plural(*exist, "host"))?;
            }
            InfeasibleCause::TooFewPlaces { wanted, exist } => {
                write!(f, "{demand} cannot be: all hosts together hold {exist} bundles of {wanted}")?;
            }
            InfeasibleCause::TooMuch { chips, resources } => {
                write!(f, "{demand} cannot be: all hosts together have {}", plural(*chips, "chip"))?;
                if !resources.is_none() {
                    write!(f, " and {resources}")?;
                }
            }
        }
        if self.nearest.is_empty() {
            let of_chips = !matches!(demand, Demand::Bundles(_));
            return if of_chips { write!(f, "; no slice has joined") } else { Ok(()) };
        }
        let nearest: Vec<_> =
            self.nearest.iter().map(|stock| format!("{} {}", stock.count, stock.spec)).collect();
        write!(f, "; nearest here: {}", nearest.join(", "))
    }
}
