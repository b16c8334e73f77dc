//! Labels of hosts, and what a request asks of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// The labels of a host.
pub type Labels = BTreeMap<String, String>;

/// What one label must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LabelRule {
    /// The label has one of these values.
    In(BTreeSet<String>),
    /// The label is absent or has none of these values.
    NotIn(BTreeSet<String>),
    /// The label is there, with any value.
    Exists,
    /// The label is not there.
    Absent,
}

/// What a request asks of the labels of every host it gets; the empty selector asks nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabelSelector(BTreeMap<String, LabelRule>);

impl LabelSelector {
    /// The selector that asks nothing.
    pub const fn any() -> Self {
        Self(BTreeMap::new())
    }

    /// Asks in addition that a label has this value.
    #[must_use]
    pub fn with(self, label: &str, value: &str) -> Self {
        self.with_rule(label, LabelRule::In(BTreeSet::from([value.to_owned()])))
    }

    /// Asks in addition that a label follows a rule; an earlier rule for the label is replaced.
    #[must_use]
    pub fn with_rule(mut self, label: &str, rule: LabelRule) -> Self {
        self.0.insert(label.to_owned(), rule);
        self
    }

    /// Whether nothing is asked.
    pub fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the labels are as asked.
    pub fn accepts(&self, labels: &Labels) -> bool {
        self.0.iter().all(|(label, rule)| {
            let value = labels.get(label);
            match rule {
                LabelRule::In(values) => value.is_some_and(|value| values.contains(value)),
                LabelRule::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                LabelRule::Exists => value.is_some(),
                LabelRule::Absent => value.is_none(),
            }
        })
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join("|");
        for (position, (label, rule)) in self.0.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            match rule {
                LabelRule::In(values) => write!(f, "{comma}{label}={}", joined(values))?,
                LabelRule::NotIn(values) => write!(f, "{comma}{label}!={}", joined(values))?,
                LabelRule::Exists => write!(f, "{comma}{label}")?,
                LabelRule::Absent => write!(f, "{comma}!{label}")?,
            }
        }
        Ok(())
    }
}
