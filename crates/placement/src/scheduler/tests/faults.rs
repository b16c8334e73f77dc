//! Where the peer fails (the numbers are those of the list this project keeps of it); each is a promise here.

use super::super::{Bundle, BundleAsk, Command, Event, Request, Strategy};
use super::{World, ask, granted, id, pair, slices, whole};

#[test]
fn fault_1_a_slice_that_lacks_a_host_is_never_taken() {
    for missing in 0..4 {
        let mut world = World::with_slices(&[("whole", "4x4")]);
        for worker in (0..4).filter(|worker| *worker != missing) {
            world.join("v6e", "broken", "4x4", worker);
        }
        assert_eq!(slices(&world.hold(whole("r", "4x4"), 0)), ["whole"]);
        let reason = world.wait(whole("w", "4x4"), 1).to_string();
        assert!(reason.contains(&format!("broken lacks worker {missing} (never joined)")), "{reason}");
    }
}

#[test]
fn fault_1_of_sixteen_requests_none_takes_the_broken_slice() {
    let mut world = World::with_slices(&[("broken", "4x4"), ("whole", "4x4")]);
    world.lose("broken-2", 0);
    for round in 0..16 {
        let name = format!("r{round}");
        assert_eq!(slices(&world.hold(whole(&name, "4x4"), round)), ["whole"]);
        world.release(&name, round);
    }
}

#[test]
fn fault_2_two_pairs_never_hold_half_each() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    let commands = world.on(Event::Submit(vec![pair("p1", "4x4"), pair("p2", "4x4")]), 0);
    assert_eq!(granted(&commands), ["p1"]);
    assert_eq!(granted(&world.release("p1", 1)), ["p2"]);
}

#[test]
fn fault_3_the_shape_is_matched_not_the_count() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.join_slice("v5p", "long", "4x4x8");
    let commands = world.submit(whole("r", "2x8"), 0);
    assert!(matches!(commands[..], [Command::Refuse { .. }]), "v6e 2x8 on a 4x4: {commands:?}");
    let turned = Request::slices(id("t"), ask("v5p", "4x8x4"));
    let commands = world.submit(turned, 0);
    assert!(matches!(commands[..], [Command::Refuse { .. }]), "v5p 4x8x4 on a 4x4x8: {commands:?}");
}

#[test]
fn fault_4_a_topology_nobody_has_is_refused_at_once() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    let commands = world.submit(whole("r", "16x16"), 0);
    let [Command::Refuse { reason, .. }] = &commands[..] else { panic!("{commands:?}") };
    assert!(reason.to_string().contains("nearest here: 1 v6e 4x4"), "{reason}");
    assert_eq!(world.scheduler.waiting().count(), 0);
}

#[test]
fn fault_5_chips_for_many_hosts_without_a_topology_are_refused_with_the_topologies() {
    let mut world = World::with_slices(&[("a", "4x4"), ("c", "2x4")]);
    let sixteen = BundleAsk::new(vec![Bundle::chips(16)], Strategy::Pack);
    let commands = world.submit(Request::bundles(id("model"), sixteen), 0);
    let [Command::Refuse { reason, .. }] = &commands[..] else { panic!("{commands:?}") };
    let text = reason.to_string();
    assert!(
        text.contains("a host has 8 chips, for more ask for a topology; nearest here: 1 v6e 4x4"),
        "{text}"
    );
}

#[test]
fn fault_6_rank_follows_the_place() {
    // The hosts join in the order in which the peer was seen to number its ranks.
    let mut world = World::with_slices(&[]);
    for worker in [3, 1, 2, 0] {
        world.join("v6e", "a", "4x4", worker);
    }
    let held = world.hold(whole("r", "4x4"), 0);
    assert_eq!(held.hosts().map(|host| host.place).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn fault_7_a_lost_host_is_told_in_the_same_step() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("r", "4x4"), 0);
    let commands = world.lose("a-1", 1);
    assert!(matches!(commands[..], [Command::Trouble { .. }]), "{commands:?}");
    let reason = world.wait(whole("w", "4x4"), 1).to_string();
    assert!(reason.contains("lacks worker 1 (10.0.0.1, lost 0 ms ago: no heartbeat)"), "{reason}");
}

#[test]
fn fault_8_who_waits_for_a_held_slice_knows_by_whom_and_is_served_when_it_is_free() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(whole("train-7", "4x4"), 0);
    let reason = world.wait(whole("replica", "4x4"), 320).to_string();
    assert!(reason.contains("a held by 'train-7' since 5 min"), "{reason}");
    assert_eq!(granted(&world.release("train-7", 321)), ["replica"]);
}
