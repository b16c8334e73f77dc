//! Groups of bundles: parts of hosts that need no mesh between them.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::request::DemandError;
use crate::inventory::{LabelSelector, Resources};
use crate::topology::{CHIPS_PER_PROCESS, Generation};

/// The most bundles that one group may have.
pub const BUNDLES_MAX: usize = 4096;

/// What one process gets of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bundle {
    /// How many chips: none, or what a process can be given.
    pub chips: u32,
    /// Whatever else.
    pub resources: Resources,
    /// What the labels of the host must be.
    pub labels: LabelSelector,
}

/// How bundles lie on hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Strategy {
    /// On as few hosts as possible.
    #[default]
    Pack,
    /// On as many hosts as possible.
    Spread,
    /// On one host, or not at all.
    StrictPack,
    /// Each on a host of its own, or not at all.
    StrictSpread,
}

/// Bundles that are placed together. For a program that needs the mesh, ask for slices instead: bundles of one group may
/// lie on different slices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundleAsk {
    /// The bundles.
    pub bundles: Vec<Bundle>,
    /// How they lie.
    pub strategy: Strategy,
    /// The generation of the chips; any, when it does not matter.
    pub generation: Option<Generation>,
}

impl Bundle {
    /// Chips and nothing else.
    pub const fn chips(chips: u32) -> Self {
        Self { chips, resources: Resources::none(), labels: LabelSelector::any() }
    }

    /// No chips, only these resources.
    pub const fn resources(resources: Resources) -> Self {
        Self { chips: 0, resources, labels: LabelSelector::any() }
    }

    /// The same with resources.
    #[must_use]
    pub fn with_resources(self, resources: Resources) -> Self {
        Self { resources, ..self }
    }

    /// The same on hosts with such labels.
    #[must_use]
    pub fn with_labels(self, labels: LabelSelector) -> Self {
        Self { labels, ..self }
    }
}

impl BundleAsk {
    /// These bundles, with chips of any generation.
    pub const fn new(bundles: Vec<Bundle>, strategy: Strategy) -> Self {
        Self { bundles, strategy, generation: None }
    }

    /// The same with chips of one generation.
    #[must_use]
    pub fn with_generation(self, generation: Generation) -> Self {
        Self { generation: Some(generation), ..self }
    }

    /// Everything that all bundles together take.
    pub(super) fn sum(&self) -> Bundle {
        let mut sum = Bundle::default();
        for bundle in &self.bundles {
            sum.chips += bundle.chips;
            sum.resources.add(&bundle.resources);
        }
        sum
    }

    /// The numbers of the bundles in the orders in which it is worth placing them, the most promising first: those that
    /// are choosy about labels, that want most chips, or that want most of the rest at the front. One order when all
    /// bundles are alike.
    pub(super) fn orders(&self) -> Vec<Vec<usize>> {
        type Key<'a> = (bool, Reverse<u32>, Reverse<&'a Resources>);
        let by = |key: &dyn Fn(&Bundle) -> (bool, u32)| {
            let mut order: Vec<usize> = (0..self.bundles.len()).collect();
            order.sort_by_key(|&index| {
                let bundle = &self.bundles[index];
                let (later, chips) = key(bundle);
                let key: Key<'_> = (later, Reverse(chips), Reverse(&bundle.resources));
                key
            });
            order
        };
        let mut orders = vec![by(&|bundle| (bundle.labels.is_any(), bundle.chips))];
        for other in [by(&|bundle| (false, bundle.chips)), by(&|_| (false, 0))] {
            if !orders.contains(&other) {
                orders.push(other);
            }
        }
        orders
    }

    /// The bundle that is hardest to place.
    pub(super) fn hardest(&self) -> Option<&Bundle> {
        self.bundles.get(*self.orders().first()?.first()?)
    }

    pub(super) fn check(&self) -> Result<(), DemandError> {
        let got = self.bundles.len();
        if got == 0 || got > BUNDLES_MAX {
            return Err(DemandError::Bundles { got, max: BUNDLES_MAX });
        }
        // More than any process takes is a question for the inventory: the answer names slices that hold it.
        let odd = |bundle: &&Bundle| {
            let most = CHIPS_PER_PROCESS[CHIPS_PER_PROCESS.len() - 1];
            bundle.chips > 0 && bundle.chips < most && !CHIPS_PER_PROCESS.contains(&bundle.chips)
        };
        match self.bundles.iter().find(odd) {
            Some(bundle) => Err(DemandError::Chips { got: bundle.chips }),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.chips == 1 { "" } else { "s" };
        write!(f, "{} chip{s}", self.chips)?;
        if !self.resources.is_none() {
            write!(f, ", {}", self.resources)?;
        }
        if !self.labels.is_any() {
            write!(f, " labelled {}", self.labels)?;
        }
        Ok(())
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pack => "PACK",
            Self::Spread => "SPREAD",
            Self::StrictPack => "STRICT_PACK",
            Self::StrictSpread => "STRICT_SPREAD",
        })
    }
}

impl fmt::Display for BundleAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.bundles.len() == 1 { "" } else { "s" };
        write!(f, "{} bundle{s} ({}", self.bundles.len(), self.strategy)?;
        if let Some(generation) = self.generation {
            write!(f, ", {generation}")?;
        }
        write!(f, "; {} in all)", self.sum())
    }
}
