//! Amounts of what hosts have besides chips: processors, memory, anything with a name.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

const MILLI: u64 = 1000;

/// An amount in thousandths; whole numbers, so that what is given back is exactly what was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Quantity(u64);

/// Why a number is no amount. Never worth a retry.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("use {got} as an amount: expected a number from 0 to {max}, in steps of 0.001")]
pub struct QuantityError {
    /// The number.
    pub got: f64,
    /// The largest amount.
    pub max: f64,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// A whole amount.
    pub const fn whole(amount: u64) -> Self {
        Self(amount.saturating_mul(MILLI))
    }

    /// An amount in thousandths.
    pub const fn milli(thousandths: u64) -> Self {
        Self(thousandths)
    }

    /// The amount in thousandths.
    pub const fn as_milli(self) -> u64 {
        self.0
    }
}

impl TryFrom<f64> for Quantity {
    type Error = QuantityError;

    fn try_from(amount: f64) -> Result<Self, Self::Error> {
        let max = 1e12;
        let milli = amount * MILLI as f64;
        if !(0.0..=max).contains(&amount) || (milli - milli.round()).abs() > 1e-3 {
            return Err(QuantityError { got: amount, max });
        }
        // Between 0 and 1e15: exact in both types.
        Ok(Self(milli.round() as u64))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / MILLI, self.0 % MILLI);
        if rest == 0 {
            write!(f, "{whole}")
        } else {
            write!(f, "{whole}.{}", format!("{rest:03}").trim_end_matches('0'))
        }
    }
}

/// Which resource is short.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("take {asked} {resource}: {free} are free")]
pub struct Shortage {
    /// The resource.
    pub resource: String,
    /// How much was asked for.
    pub asked: Quantity,
    /// How much is free.
    pub free: Quantity,
}

/// Amounts by name; one that is not named is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resources(BTreeMap<String, Quantity>);

impl Resources {
    /// Nothing.
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with an amount set; zero takes the name out.
    #[must_use]
    pub fn with(mut self, resource: &str, amount: Quantity) -> Self {
        if amount == Quantity::ZERO {
            self.0.remove(resource);
        } else {
            self.0.insert(resource.to_owned(), amount);
        }
        self
    }

    /// How much there is of one resource.
    pub fn amount(&self, resource: &str) -> Quantity {
        self.0.get(resource).copied().unwrap_or_default()
    }

    /// Whether everything is zero.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The amounts that are not zero, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Quantity)> {
        self.0.iter().map(|(resource, &amount)| (resource.as_str(), amount))
    }

    /// The first resource that `asked` wants more of than there is.
    ///
    /// # Errors
    /// [`Shortage`] naming it.
    pub fn covers(&self, asked: &Self) -> Result<(), Shortage> {
        match asked.iter().find(|&(resource, amount)| amount > self.amount(resource)) {
            None => Ok(()),
            Some((resource, amount)) => {
                Err(Shortage { resource: resource.to_owned(), asked: amount, free: self.amount(resource) })
            }
        }
    }

    /// Adds amounts.
    pub fn add(&mut self, other: &Self) {
        for (resource, amount) in &other.0 {
            let sum = self.amount(resource).0.saturating_add(amount.0);
            self.0.insert(resource.clone(), Quantity(sum));
        }
    }

    /// Takes amounts away, down to nothing at the lowest.
    pub fn subtract(&mut self, other: &Self) {
        for (resource, amount) in &other.0 {
            let rest = self.amount(resource).0.saturating_sub(amount.0);
            if rest == 0 {
                self.0.remove(resource);
            } else {
                self.0.insert(resource.clone(), Quantity(rest));
            }
        }
    }

    /// What is left when `other` is taken away.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        rest
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (resource, amount)) in self.iter().enumerate() {
            write!(f, "{}{amount} {resource}", if position > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
