//! Hand-made cases, then the invariants over generated steps.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Ledger, ReleaseError, RequestId, ReserveError, Take};
use crate::inventory::{HostIndex, Quantity, Resources, Timestamp};
use crate::topology::ChipSet;

fn id(text: &str) -> RequestId {
    RequestId::new(text).expect("a name")
}

fn cpus(amount: u64) -> Resources {
    Resources::none().with("CPU", Quantity::whole(amount))
}

fn take(host: u32, chips: ChipSet, cpu: u64) -> Take {
    Take { host: HostIndex(host), chips, resources: cpus(cpu) }
}

fn ledger(hosts: u32) -> Ledger {
    let mut ledger = Ledger::new();
    for host in 0..hosts {
        ledger.set_capacity(HostIndex(host), ChipSet::first(4), cpus(8));
    }
    ledger
}

#[test]
fn a_reservation_is_all_or_nothing() {
    let mut ledger = ledger(2);
    ledger.reserve(id("a"), Timestamp::START, vec![take(1, ChipSet::first(2), 1)]).expect("free");
    let both = vec![take(0, ChipSet::first(4), 8), take(1, ChipSet::first(4), 0)];
    let error = ledger.reserve(id("b"), Timestamp::START, both).expect_err("two chips are held");
    assert!(matches!(&error, ReserveError::Chips { free, .. } if free.len() == 2), "{error}");
    assert!(error.is_retryable());
    assert!(!ledger.is_held(HostIndex(0)), "the first part was undone");
    ledger.check().expect("consistent");
}

#[test]
fn a_release_gives_back_exactly_what_was_taken() {
    let mut ledger = ledger(1);
    let taken = vec![take(0, ChipSet::first(1), 3), take(0, ChipSet::EMPTY.with(3), 2)];
    ledger.reserve(id("a"), Timestamp::from_secs(5), taken.clone()).expect("free");
    assert_eq!(ledger.account(HostIndex(0)).expect("open").free(), cpus(3));
    let released = ledger.release(&id("a")).expect("held");
    assert_eq!((released.takes(), released.since()), (&taken[..], Timestamp::from_secs(5)));
    let account = ledger.account(HostIndex(0)).expect("open");
    assert_eq!((account.free_chips(), account.free()), (ChipSet::first(4), cpus(8)));
    assert_eq!(ledger.release(&id("a")), Err(ReleaseError::Unknown { id: id("a") }));
}

#[test]
fn ids_hosts_and_amounts_are_checked() {
    let mut ledger = ledger(1);
    let one = || vec![take(0, ChipSet::first(1), 0)];
    ledger.reserve(id("a"), Timestamp::START, one()).expect("free");
    assert_eq!(
        ledger.reserve(id("a"), Timestamp::START, one()),
        Err(ReserveError::Duplicate { id: id("a") })
    );
    assert_eq!(ledger.reserve(id("b"), Timestamp::START, vec![]), Err(ReserveError::Nothing { id: id("b") }));
    let stranger = vec![take(7, ChipSet::EMPTY, 0)];
    assert!(ledger.reserve(id("b"), Timestamp::START, stranger).is_err());
    let much = vec![take(0, ChipSet::EMPTY, 9)];
    let error = ledger.reserve(id("b"), Timestamp::START, much).expect_err("nine of eight");
    assert_eq!(error.to_string(), "reserve for b: take 9 CPU: 8 are free");
    assert!(ledger.extend(&id("b"), one()).is_err());
    let more = vec![take(0, ChipSet::EMPTY.with(1), 0)];
    ledger.extend(&id("a"), more).expect("free");
    assert_eq!(ledger.reservation(&id("a")).expect("held").chips(), 2);
}

#[test]
fn a_host_that_shrinks_under_a_reservation_is_never_negative() {
    let mut ledger = ledger(1);
    ledger.reserve(id("a"), Timestamp::START, vec![take(0, ChipSet::first(4), 6)]).expect("free");
    ledger.set_capacity(HostIndex(0), ChipSet::first(1), cpus(2));
    let account = ledger.account(HostIndex(0)).expect("open");
    assert_eq!((account.free_chips(), account.free()), (ChipSet::EMPTY, Resources::none()));
    ledger.check().expect("consistent");
    ledger.release(&id("a")).expect("held");
    let account = ledger.account(HostIndex(0)).expect("open");
    assert_eq!((account.free_chips(), account.free()), (ChipSet::first(1), cpus(2)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn l1_to_l4_hold_over_any_steps(
        steps in prop::collection::vec((0..12u8, prop::collection::vec((0..4u32, any::<u8>(), 0..4u64), 0..4)), 1..200),
    ) {
        let mut ledger = ledger(4);
        let mut held: BTreeMap<RequestId, Vec<Take>> = BTreeMap::new();
        for (who, parts) in steps {
            let who = id(&format!("r{who}"));
            if let Some(taken) = held.remove(&who) {
                let released = ledger.release(&who).expect("held");
                prop_assert_eq!(released.takes(), &taken[..]);
            } else {
                let pick = |bits: u8| (0..4).filter(|chip| bits & (1 << chip) != 0).collect::<ChipSet>();
                let takes: Vec<_> =
                    parts.into_iter().map(|(host, bits, cpu)| take(host, pick(bits), cpu)).collect();
                if ledger.reserve(who.clone(), Timestamp::START, takes.clone()).is_ok() {
                    held.insert(who, takes);
                }
            }
            prop_assert_eq!(ledger.check(), Ok(()));
        }
    }
}
