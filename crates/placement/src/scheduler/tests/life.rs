//! The life of a request, and of the hosts it runs on.

use super::super::{Command, EventError, Options, Provisioner, Request, Trouble};
use super::super::{DemandError, Event};
use super::{World, ask, granted, host, id, pair, part, slices, whole};
use crate::inventory::{Health, InventoryError, SliceName};

#[test]
fn a_grant_says_everything_a_gang_needs() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    let held = world.hold(whole("r", "4x4"), 3);
    assert_eq!((held.epoch.0, held.chips(), held.slices.len()), (1, 16, 1));
    let hosts: Vec<_> = held.hosts().map(|host| (host.worker, host.host.as_str())).collect();
    assert_eq!(hosts, [(0, "a-0"), (1, "a-1"), (2, "a-2"), (3, "a-3")], "rank order is worker order");
    let last = held.hosts().last().expect("four hosts");
    let coords: Vec<_> = last.coords.iter().map(ToString::to_string).collect();
    assert_eq!(coords, ["(2,2,0)", "(3,2,0)", "(2,3,0)", "(3,3,0)"]);
    assert_eq!((last.address.as_str(), last.chips.to_string().as_str()), ("10.0.0.3", "0,1,2,3"));
}

#[test]
fn a_release_serves_those_who_wait_by_priority_then_age() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("first", "4x4"), 0);
    world.wait(whole("older", "4x4"), 1);
    world.wait(whole("younger", "4x4"), 2);
    world.wait(whole("urgent", "4x4").with_priority(1), 3);
    for (released, served) in [("first", "urgent"), ("urgent", "older"), ("older", "younger")] {
        let commands = world.release(released, 10);
        assert_eq!(commands[0], Command::Released { request: id(released) });
        assert_eq!(granted(&commands), [served]);
    }
}

#[test]
fn waiting_makes_up_for_priority() {
    let hour = 3_600;
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("first", "4x4"), 0);
    world.wait(whole("old", "4x4"), 1);
    world.wait(whole("urgent", "4x4").with_priority(1), 1 + 2 * hour);
    assert_eq!(granted(&world.release("first", 3 * hour)), ["old"]);
    let strict = Options { ageing: None, ..Options::default() };
    let mut world = World::new(strict);
    world.join_slice("v6e", "a", "4x4");
    world.hold(whole("first", "4x4"), 0);
    world.wait(whole("old", "4x4"), 1);
    world.wait(whole("urgent", "4x4").with_priority(1), 1 + 2 * hour);
    assert_eq!(granted(&world.release("first", 3 * hour)), ["urgent"]);
}

#[test]
fn a_cancelled_request_is_withdrawn_and_makes_room() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    world.wait(whole("w", "4x4"), 1);
    assert_eq!(world.on(Event::Cancel(id("w")), 2), [Command::Withdrawn { request: id("w") }]);
    assert_eq!(granted(&world.release("r", 3)), [""; 0]);
    let error = EventError::NotWaiting { request: id("w") };
    assert_eq!(world.on(Event::Cancel(id("w")), 4), [Command::Reject(error)]);
}

#[test]
fn a_deadline_ends_the_wait_with_the_last_reason() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("train-7", "4x4"), 0);
    world.wait(whole("w", "4x4").with_deadline(super::at(30)), 10);
    assert_eq!(world.scheduler.next_wakeup(), Some(super::at(30)));
    assert_eq!(world.on(Event::Tick, 29), []);
    let commands = world.on(Event::Tick, 30);
    let [Command::Expire { request, waited, reason }] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!((request, waited.as_secs()), (&id("w"), 20));
    assert!(reason.to_string().contains("held by 'train-7' since 30 s"), "{reason}");
}

#[test]
fn a_release_that_comes_with_the_deadline_is_too_late() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    world.wait(whole("w", "4x4").with_deadline(super::at(30)), 10);
    let commands = world.release("r", 30);
    assert!(matches!(commands[..], [Command::Expire { .. }, Command::Released { .. }]), "{commands:?}");
}

#[test]
fn a_lost_host_is_told_to_its_holder_and_only_to_it() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("r1", "4x4"), 0);
    world.hold(whole("r2", "4x4"), 0);
    let commands = world.lose("b-3", 5);
    let expected = Command::Trouble {
        holder: id("r2"),
        host: host("b-3"),
        seat: Some((SliceName::new("b").expect("a name"), 3)),
        kind: Trouble::Lost,
        cause: "no heartbeat".to_owned(),
    };
    assert_eq!(commands, [expected]);
    assert_eq!(world.lose("b-3", 6), [], "told once");
}

#[test]
fn after_a_loss_the_rest_is_free_once_the_holder_lets_go() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    world.lose("a-3", 5);
    let reason = world.wait(part("p", "2x4"), 6).to_string();
    assert!(reason.contains("held by 'r'"), "S5: {reason}");
    assert_eq!(granted(&world.release("r", 7)), ["p"], "a column of two live hosts");
    world.wait(whole("w", "4x4"), 8);
    world.release("p", 9);
    assert_eq!(granted(&world.join("v6e", "a", "4x4", 3)), ["w"], "served when the host came back");
}

#[test]
fn sick_draining_restarted_and_left_are_told_as_what_they_are() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    let cause = || "maintenance".to_owned();
    let kind = |commands: &[Command]| match commands {
        [Command::Trouble { kind, .. }] => *kind,
        other => panic!("{other:?}"),
    };
    let draining = Event::HostDraining { host: host("a-0"), cause: cause() };
    assert_eq!(kind(&world.on(draining, 1)), Trouble::Draining);
    let sick = Event::HostSick { host: host("a-1"), cause: cause() };
    assert_eq!(kind(&world.on(sick, 1)), Trouble::Sick);
    let mut report = World::report("v6e", "a", "4x4", 2);
    report.incarnation = 1;
    assert_eq!(kind(&world.on(Event::HostJoined(report), 1)), Trouble::Restarted);
    let left = Event::HostLeft { host: host("a-3"), cause: cause() };
    assert_eq!(kind(&world.on(left, 1)), Trouble::Left);
    world.release("r", 2);
    assert!(world.reason_of_wait("w").contains("draining for 2 s"));
}

impl World {
    fn reason_of_wait(&mut self, name: &str) -> String {
        self.wait(whole(name, "4x4"), 3).to_string()
    }
}

#[test]
fn a_host_that_was_replaced_while_held_is_forgotten_at_the_release() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    world.lose("a-3", 1);
    let mut spare = World::report("v6e", "a", "4x4", 3);
    spare.name = host("spare");
    let commands = world.on(Event::HostJoined(spare), 2);
    assert!(matches!(&commands[..], [Command::Report(_), Command::Trouble { .. }]), "{commands:?}");
    world.wait(whole("w", "4x4"), 3);
    let served = world.release("r", 4);
    assert_eq!(granted(&served), ["w"]);
    assert_eq!(world.scheduler.inventory().host_count(), 4);
}

#[test]
fn a_pair_is_served_when_its_second_slice_comes_free() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    world.wait(pair("p", "4x4"), 1);
    assert_eq!(world.scheduler.ledger().reservations().count(), 1, "S2: it holds nothing meanwhile");
    let commands = world.release("r", 2);
    let Some(Command::Grant { assignment }) = commands.last() else { panic!("{commands:?}") };
    assert_eq!(slices(assignment), ["a", "b"]);
}

#[test]
fn what_can_no_longer_be_is_refused() {
    let mut world = World::with_slices(&[("a", "4x4"), ("c", "2x4")]);
    world.hold(whole("r", "4x4"), 0);
    world.wait(whole("w", "4x4"), 1);
    world.release("r", 2);
    world.hold(whole("again", "2x4"), 3);
    let wait = world.wait(whole("late", "2x4"), 3);
    assert_eq!(wait.waited.as_secs(), 0);
    let left = Event::HostLeft { host: host("c-0"), cause: "scaled down".to_owned() };
    let commands = world.on(left, 4);
    assert!(matches!(&commands[..], [Command::Trouble { .. }, Command::Refuse { .. }]), "{commands:?}");
}

#[test]
fn with_a_provisioner_the_impossible_pends_on_it() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.on(Event::Provisioner(Provisioner::Attached), 0);
    let commands = world.submit(whole("w", "8x8"), 1);
    assert!(
        matches!(&commands[..], [Command::Provision { .. }, Command::Wait { .. }]),
        "asked for, and pending: {commands:?}"
    );
    assert!(world.reason("w", 2).contains("wanted from the provisioner"), "{}", world.reason("w", 2));
    let never = world.submit(whole("never", "3x5"), 2);
    assert!(matches!(&never[..], [Command::Refuse { .. }]), "no provisioner can make that");
    let spec = crate::topology::SliceSpec::parse("v6e", "8x8").expect("a slice");
    let served: Vec<_> =
        (0..spec.hosts()).flat_map(|worker| world.join("v6e", "new", "8x8", worker)).collect();
    assert_eq!(granted(&served), ["w"]);
}

#[test]
fn without_its_provisioner_the_impossible_is_refused() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.on(Event::Provisioner(Provisioner::Attached), 0);
    world.submit(whole("w", "8x8"), 1);
    let commands = world.on(Event::Provisioner(Provisioner::Absent), 2);
    assert!(matches!(&commands[..], [Command::Refuse { .. }]), "{commands:?}");
}

#[test]
fn events_that_make_no_sense_are_rejected_and_change_nothing() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    let reject = |commands: Vec<Command>| match &commands[..] {
        [Command::Reject(error)] => error.clone(),
        other => panic!("{other:?}"),
    };
    let duplicate = reject(world.submit(whole("r", "4x4"), 1));
    assert_eq!(duplicate, EventError::Duplicate { request: id("r") });
    let none = reject(world.submit(Request::slices(id("n"), ask("v6e", "4x4").with_count(0)), 1));
    assert!(matches!(none, EventError::Demand { error: DemandError::Count { got: 0, .. }, .. }), "{none}");
    assert_eq!(reject(world.release("x", 1)), EventError::NotHeld { request: id("x") });
    let stranger = reject(world.lose("x", 1));
    let unknown = InventoryError::UnknownHost { host: host("x") };
    assert_eq!(stranger, EventError::Inventory(unknown));
}

#[test]
fn a_full_queue_says_so() {
    let mut world = World::new(Options { queue_len_max: 1, ..Options::default() });
    world.join_slice("v6e", "a", "4x4");
    world.hold(whole("r", "4x4"), 0);
    world.wait(whole("w1", "4x4"), 0);
    let commands = world.submit(whole("w2", "4x4"), 0);
    let [Command::Reject(error)] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(*error, EventError::QueueFull { request: id("w2"), waiting: 1 });
    assert!(error.is_retryable());
}

#[test]
fn findings_of_the_inventory_are_reported() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    let mut twin = World::report("v6e", "a", "4x4", 1);
    twin.name = host("twin");
    let commands = world.on(Event::HostJoined(twin), 1);
    assert!(matches!(&commands[..], [Command::Report(_)]), "{commands:?}");
    let reason = world.wait(whole("w", "4x4"), 2).to_string();
    assert!(reason.contains("worker 1 (claimed by a-1 and twin)"), "{reason}");
}

#[test]
fn health_is_kept_with_when_and_why() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.lose("a-1", 9);
    let index = world.scheduler.inventory().find_host(&host("a-1")).expect("known");
    let health = world.scheduler.inventory().host(index).expect("known").health().clone();
    assert_eq!(health, Health::Lost { since: super::at(9), cause: "no heartbeat".to_owned() });
}
