//! Who holds what: reservations by id, and accounts of hosts that cannot go wrong.
//!
//! # Invariants
//! - **L1** A chip is in at most one reservation.
//! - **L2** What is free plus what is held is what there is; nothing is ever negative. When a host shrinks while parts of
//!   it are held, what is free is zero until they come back.
//! - **L3** A release gives back exactly what the reservation took, once, whatever happened to the hosts meanwhile.
//! - **L4** A reservation is made of all its parts or not at all.
//!
//! [`Ledger::check`] recounts everything; tests call it after every step.

mod account;
mod error;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use account::Account;
pub use error::{AuditError, ReleaseError, ReserveError};

use crate::inventory::{HostIndex, Resources, Timestamp, name_type};
use crate::topology::ChipSet;

name_type! {
    /// The id of a request and of the reservation that answers it; unique while either exists.
    RequestId
}

/// What a reservation takes of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// The host.
    pub host: HostIndex,
    /// Chips of the host.
    pub chips: ChipSet,
    /// Whatever else of the host.
    pub resources: Resources,
}

/// What one id holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    id: RequestId,
    since: Timestamp,
    takes: Vec<Take>,
}

impl Reservation {
    /// Who holds it.
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// Since when.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// What it takes of each host, in the order given.
    pub fn takes(&self) -> &[Take] {
        &self.takes
    }

    /// How many chips it holds.
    pub fn chips(&self) -> u32 {
        self.takes.iter().map(|take| take.chips.len()).sum()
    }
}

/// Accounts of hosts and reservations on them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    accounts: Vec<Account>,
    reservations: BTreeMap<RequestId, Reservation>,
}

impl Ledger {
    /// A ledger without accounts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the account of a host, or says anew what the host has; what is held on it stays held.
    pub fn set_capacity(&mut self, host: HostIndex, chips: ChipSet, resources: Resources) {
        let index = host.0 as usize;
        if self.accounts.len() <= index {
            self.accounts.resize_with(index + 1, Account::default);
        }
        self.accounts[index].set_capacity(chips, resources);
    }

    /// The account of a host.
    pub fn account(&self, host: HostIndex) -> Option<&Account> {
        self.accounts.get(host.0 as usize)
    }

    /// Whether anything is held on a host.
    pub fn is_held(&self, host: HostIndex) -> bool {
        self.account(host).is_some_and(|account| account.holders().next().is_some())
    }

    /// A reservation by id.
    pub fn reservation(&self, id: &RequestId) -> Option<&Reservation> {
        self.reservations.get(id)
    }

    /// Every reservation, by id.
    pub fn reservations(&self) -> impl Iterator<Item = &Reservation> {
        self.reservations.values()
    }

    /// Takes everything in `takes` under a new id, or nothing (**L4**).
    ///
    /// # Errors
    /// Any [`ReserveError`]; the ledger is then as before. Worth a retry only after a release.
    pub fn reserve(&mut self, id: RequestId, since: Timestamp, takes: Vec<Take>) -> Result<(), ReserveError> {
        if self.reservations.contains_key(&id) {
            return Err(ReserveError::Duplicate { id });
        }
        if takes.is_empty() {
            return Err(ReserveError::Nothing { id });
        }
        self.take_all(&id, &takes)?;
        self.reservations.insert(id.clone(), Reservation { id, since, takes });
        Ok(())
    }

    /// Takes more under an id that exists, all of it or nothing.
    ///
    /// # Errors
    /// Any [`ReserveError`] but [`ReserveError::Duplicate`]; the ledger is then as before.
    pub fn extend(&mut self, id: &RequestId, takes: Vec<Take>) -> Result<(), ReserveError> {
        if !self.reservations.contains_key(id) {
            return Err(ReserveError::Unknown { id: id.clone() });
        }
        self.take_all(id, &takes)?;
        if let Some(reservation) = self.reservations.get_mut(id) {
            reservation.takes.extend(takes);
        }
        Ok(())
    }

    fn take_all(&mut self, id: &RequestId, takes: &[Take]) -> Result<(), ReserveError> {
        for (done, take) in takes.iter().enumerate() {
            let account = self.accounts.get_mut(take.host.0 as usize);
            let taken = match account {
                None => Err(ReserveError::UnknownHost { id: id.clone() }),
                Some(account) => account.take(id, take),
            };
            if let Err(error) = taken {
                for undone in &takes[..done] {
                    self.accounts[undone.host.0 as usize].give(id, undone);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives everything back that the id took, and says what that was.
    ///
    /// # Errors
    /// [`ReleaseError::Unknown`] when the id holds nothing.
    pub fn release(&mut self, id: &RequestId) -> Result<Reservation, ReleaseError> {
        let reservation =
            self.reservations.remove(id).ok_or_else(|| ReleaseError::Unknown { id: id.clone() })?;
        for take in &reservation.takes {
            if let Some(account) = self.accounts.get_mut(take.host.0 as usize) {
                account.give(id, take);
            }
        }
        Ok(reservation)
    }

    /// Recounts every account from the reservations (**L1**, **L2**).
    ///
    /// # Errors
    /// [`AuditError`] naming the first host whose account is not the sum of its reservations.
    pub fn check(&self) -> Result<(), AuditError> {
        let mut recount: BTreeMap<HostIndex, (ChipSet, Resources)> = BTreeMap::new();
        for reservation in self.reservations.values() {
            for take in &reservation.takes {
                let (chips, resources) = recount.entry(take.host).or_default();
                if !chips.common(take.chips).is_empty() {
                    let chips = chips.common(take.chips);
                    return Err(AuditError::Twice { host: take.host, chips, id: reservation.id.clone() });
                }
                *chips = chips.union(take.chips);
                resources.add(&take.resources);
            }
        }
        for (index, account) in (0..).zip(&self.accounts) {
            let (chips, resources) = recount.remove(&HostIndex(index)).unwrap_or_default();
            if account.held_chips() != chips || *account.held() != resources {
                return Err(AuditError::Account { host: HostIndex(index), chips, got: account.held_chips() });
            }
        }
        Ok(())
    }
}
