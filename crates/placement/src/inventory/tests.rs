//! Slices that are whole, and every way in which they are not.

use super::{
    Finding, Health, HostName, HostReport, Inventory, InventoryError, LabelRule, LabelSelector, LackCause,
    Membership, NameError, Quantity, Resources, SliceName, Timestamp,
};
use crate::topology::SliceSpec;

fn spec(topology: &str) -> SliceSpec {
    SliceSpec::parse("v6e", topology).expect("a slice that exists")
}

fn name(text: &str) -> HostName {
    HostName::new(text).expect("a name")
}

fn slice_name(text: &str) -> SliceName {
    SliceName::new(text).expect("a name")
}

fn report(host: &str, slice: &str, worker: u32, topology: &str) -> HostReport {
    HostReport::new(name(host), "10.0.0.1").with_membership(slice_name(slice), worker, spec(topology))
}

fn lost(secs: u64) -> Health {
    Health::Lost { since: Timestamp::from_secs(secs), cause: "no heartbeat".to_owned() }
}

fn whole(slice: &str) -> Inventory {
    let mut inventory = Inventory::new();
    for worker in 0..4 {
        let change = inventory.join(report(&format!("{slice}-{worker}"), slice, worker, "4x4"));
        assert_eq!(change.findings, []);
    }
    inventory
}

fn is_whole(inventory: &Inventory, slice: &str) -> bool {
    let index = inventory.find_slice(&slice_name(slice)).expect("a slice");
    let slice = inventory.slice(index).expect("a slice");
    assert_eq!(slice.is_whole(), inventory.lacks(index).is_empty(), "I1");
    slice.is_whole()
}

#[test]
fn a_slice_is_whole_when_its_last_worker_has_joined() {
    let mut inventory = Inventory::new();
    for worker in 0..4 {
        inventory.join(report(&format!("h{worker}"), "a", worker, "4x4"));
        assert_eq!(is_whole(&inventory, "a"), worker == 3);
    }
}

#[test]
fn a_lost_host_breaks_its_slice_and_keeps_when_and_why() {
    let mut inventory = whole("a");
    inventory.set_health(&name("a-2"), lost(7)).expect("known");
    assert!(!is_whole(&inventory, "a"));
    let index = inventory.find_slice(&slice_name("a")).expect("a slice");
    let lacks = inventory.lacks(index);
    assert_eq!(lacks.len(), 1);
    assert_eq!(lacks[0].worker, 2);
    let LackCause::Unfit { host, health, .. } = &lacks[0].cause else { panic!("{lacks:?}") };
    assert_eq!((host, health), (&name("a-2"), &lost(7)));
    inventory.join(report("a-2", "a", 2, "4x4"));
    assert!(is_whole(&inventory, "a"), "it came back");
}

#[test]
fn sick_and_draining_hosts_break_a_slice_too() {
    for health in [
        Health::Sick { since: Timestamp::START, cause: "chip 3".to_owned() },
        Health::Draining { since: Timestamp::START, cause: "maintenance".to_owned() },
    ] {
        let mut inventory = whole("a");
        inventory.set_health(&name("a-0"), health).expect("known");
        assert!(!is_whole(&inventory, "a"));
    }
}

#[test]
fn a_duplicate_worker_is_reported_and_the_slice_is_broken_until_one_leaves() {
    let mut inventory = whole("a");
    let change = inventory.join(report("twin", "a", 1, "4x4"));
    assert!(matches!(&change.findings[..], [Finding::DuplicateWorker { worker: 1, .. }]), "{change:?}");
    assert!(!is_whole(&inventory, "a"));
    inventory.leave(&name("twin")).expect("known");
    assert!(is_whole(&inventory, "a"));
}

#[test]
fn of_two_claimants_the_lost_one_yields() {
    let mut inventory = whole("a");
    inventory.join(report("twin", "a", 1, "4x4"));
    let change = inventory.set_health(&name("a-1"), lost(1)).expect("known");
    assert!(matches!(&change.findings[..], [Finding::Replaced { .. }]), "{change:?}");
    assert!(is_whole(&inventory, "a"));
    assert_eq!(inventory.find_host(&name("a-1")), None);
}

#[test]
fn a_newcomer_takes_the_seat_of_a_lost_host() {
    let mut inventory = whole("a");
    inventory.set_health(&name("a-3"), lost(1)).expect("known");
    let change = inventory.join(report("spare", "a", 3, "4x4"));
    assert!(matches!(&change.findings[..], [Finding::Replaced { worker: 3, .. }]), "{change:?}");
    assert!(is_whole(&inventory, "a"));
    let old = change.departed[0];
    assert!(inventory.host(old).is_some(), "I4: the record stays");
    inventory.forget(old);
    assert!(inventory.host(old).is_none());
}

#[test]
fn another_shape_under_the_same_name_is_a_contradiction() {
    let mut inventory = whole("a");
    let change = inventory.join(report("odd", "a", 0, "2x8"));
    assert!(matches!(&change.findings[..], [Finding::ShapeContradiction { .. }]), "{change:?}");
    assert!(!is_whole(&inventory, "a"));
    inventory.set_health(&name("odd"), lost(1)).expect("known");
    assert!(is_whole(&inventory, "a"), "a lost host contradicts nobody");
}

#[test]
fn when_the_founder_leaves_the_others_say_what_the_slice_is() {
    let mut inventory = Inventory::new();
    inventory.join(report("odd", "a", 0, "2x8"));
    for worker in 0..4 {
        inventory.join(report(&format!("h{worker}"), "a", worker, "4x4"));
    }
    assert!(!is_whole(&inventory, "a"));
    inventory.leave(&name("odd")).expect("known");
    assert!(is_whole(&inventory, "a"));
    let index = inventory.find_slice(&slice_name("a")).expect("a slice");
    assert_eq!(inventory.slice(index).expect("a slice").spec(), spec("4x4"));
}

#[test]
fn a_slice_made_anew_under_an_old_name_replaces_what_was_lost() {
    let mut inventory = whole("a");
    for worker in 0..4 {
        inventory.set_health(&name(&format!("a-{worker}")), lost(1)).expect("known");
    }
    for worker in 0..4 {
        inventory.join(report(&format!("new-{worker}"), "a", worker, "2x8"));
    }
    assert!(is_whole(&inventory, "a"));
    assert_eq!(inventory.host_count(), 4);
}

#[test]
fn a_worker_id_past_the_last_is_a_stranger() {
    let mut inventory = whole("a");
    let change = inventory.join(report("stranger", "a", 4, "4x4"));
    assert!(matches!(&change.findings[..], [Finding::WorkerOutOfRange { worker: 4, hosts: 4, .. }]));
    assert!(!is_whole(&inventory, "a"));
}

#[test]
fn coordinates_decide_the_seat_when_the_provider_numbers_by_creation() {
    let mut inventory = Inventory::new();
    let order = [3, 1, 2, 0];
    for worker in 0..4 {
        let place = order[worker as usize];
        let membership = Membership {
            slice: slice_name("a"),
            worker,
            spec: spec("4x4"),
            chips: spec("4x4").chips_of(place).expect("a place"),
        };
        let mut report = HostReport::new(name(&format!("h{worker}")), "10.0.0.1");
        report.membership = Some(membership);
        let change = inventory.join(report);
        assert_eq!(change.findings.len(), usize::from(place != worker), "{change:?}");
    }
    assert!(is_whole(&inventory, "a"), "displaced, but every seat and every id is there once");
    let host = inventory.find_host(&name("h0")).expect("known");
    assert_eq!(inventory.host(host).and_then(super::Host::seat).map(|(_, place)| place), Some(3));
}

#[test]
fn chips_that_are_no_host_are_a_contradiction() {
    let mut inventory = whole("a");
    let mut odd = report("odd", "a", 1, "4x4");
    if let Some(membership) = &mut odd.membership {
        membership.chips.pop();
    }
    let change = inventory.join(odd);
    assert!(matches!(&change.findings[..], [Finding::ChipsContradiction { .. }]), "{change:?}");
}

#[test]
fn a_host_that_moves_leaves_its_old_slice() {
    let mut inventory = whole("a");
    let change = inventory.join(report("a-1", "b", 1, "4x4"));
    assert!(matches!(&change.findings[..], [Finding::Moved { .. }]), "{change:?}");
    assert!(change.restarted);
    assert!(!is_whole(&inventory, "a"));
    assert!(!is_whole(&inventory, "b"));
}

#[test]
fn a_slice_whose_last_host_left_is_gone() {
    let mut inventory = whole("a");
    for worker in 0..4 {
        inventory.leave(&name(&format!("a-{worker}"))).expect("known");
    }
    assert_eq!(inventory.find_slice(&slice_name("a")), None);
    assert_eq!(inventory.host_count(), 0);
    let unknown = inventory.leave(&name("a-0"));
    assert_eq!(unknown, Err(InventoryError::UnknownHost { host: name("a-0") }));
}

#[test]
fn i4_a_host_that_left_and_comes_back_before_it_is_forgotten_is_the_same() {
    let mut inventory = whole("a");
    let old = inventory.leave(&name("a-1")).expect("known").departed[0];
    let change = inventory.join(report("a-1", "a", 1, "4x4"));
    assert_eq!((change.host, change.restarted), (Some(old), true));
    assert!(is_whole(&inventory, "a"));
    inventory.leave(&name("a-1")).expect("known");
    inventory.forget(old);
    assert!(!inventory.join(report("a-1", "a", 1, "4x4")).restarted);
}

#[test]
fn a_host_without_chips_is_a_host() {
    let mut inventory = Inventory::new();
    let cpus = Resources::none().with("CPU", Quantity::whole(8));
    inventory.join(HostReport::new(name("plain"), "10.0.0.1").with_resources(cpus.clone()));
    let (_, host) = inventory.hosts().next().expect("one host");
    assert_eq!((host.resources(), host.seat(), host.chips().len()), (&cpus, None, 0));
}

#[test]
fn another_incarnation_means_a_restart() {
    let mut inventory = whole("a");
    assert!(!inventory.join(report("a-0", "a", 0, "4x4")).restarted);
    let mut again = report("a-0", "a", 0, "4x4");
    again.incarnation = 1;
    assert!(inventory.join(again).restarted);
}

#[test]
fn names_and_amounts_from_outside_are_checked() {
    assert_eq!(HostName::new(""), Err(NameError::Empty));
    assert_eq!(HostName::new(&"x".repeat(254)), Err(NameError::TooLong { len: 254, len_max: 253 }));
    assert_eq!(HostName::new("a\nb"), Err(NameError::Control { at: 1 }));
    assert!(serde_json::from_str::<HostName>("\"\"").is_err());
    assert!(Quantity::try_from(-1.0).is_err());
    assert!(Quantity::try_from(f64::NAN).is_err());
    assert!(Quantity::try_from(0.0001).is_err());
    assert_eq!(Quantity::try_from(0.5), Ok(Quantity::milli(500)));
    assert_eq!(Quantity::milli(1250).to_string(), "1.25");
}

#[test]
fn selectors_read_as_they_match() {
    let labels = [("zone".to_owned(), "a".to_owned())].into();
    let selector = LabelSelector::any().with("zone", "a").with_rule("spot", LabelRule::Absent);
    assert!(selector.accepts(&labels));
    assert_eq!(selector.to_string(), "!spot, zone=a");
    let other = LabelSelector::any().with_rule("zone", LabelRule::NotIn(["a".to_owned()].into()));
    assert!(!other.accepts(&labels));
    assert!(LabelSelector::any().with_rule("zone", LabelRule::Exists).accepts(&labels));
}
