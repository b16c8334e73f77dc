//! Sub-slices: where they go, and that large blocks stay whole.

use super::super::{Command, Event, Request};
use super::{World, ask, granted, host, id, part, slices, whole};

fn workers(world: &mut World, request: Request) -> (String, Vec<u32>) {
    let held = world.hold(request, 0);
    let part = &held.slices[0];
    (part.slice.to_string(), part.hosts.iter().map(|host| host.worker).collect())
}

#[test]
fn a_column_of_hosts_is_a_sub_slice() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    assert_eq!(workers(&mut world, part("s0", "2x4")), ("a".to_owned(), vec![0, 2]));
    assert_eq!(workers(&mut world, part("s1", "2x4")), ("a".to_owned(), vec![1, 3]));
}

#[test]
fn small_parts_fill_the_smallest_gap() {
    let mut world = World::with_slices(&[("big", "8x8"), ("a", "4x4"), ("b", "4x4")]);
    let first = workers(&mut world, part("p1", "2x2"));
    assert_eq!(first, ("a".to_owned(), vec![0]), "the smallest slice is broken up first");
    let second = workers(&mut world, part("p2", "2x2"));
    assert_eq!(second, ("a".to_owned(), vec![2]), "then the column that is broken up already");
    let column = workers(&mut world, part("p3", "2x4"));
    assert_eq!(column, ("a".to_owned(), vec![1, 3]));
    world.hold(whole("w", "4x4"), 1);
    world.hold(whole("v", "8x8"), 1);
}

#[test]
fn a_broken_slice_serves_parts_before_a_whole_one() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    world.lose("b-3", 0);
    assert_eq!(workers(&mut world, part("p", "2x2")).0, "b");
    assert_eq!(workers(&mut world, part("q", "2x4")), ("b".to_owned(), vec![0, 2]));
}

#[test]
fn parts_of_a_host_share_it() {
    let mut world = World::with_slices(&[("a", "4x4"), ("eight", "2x4")]);
    let chips = |world: &mut World, name: &str, topology: &str| {
        let held = world.hold(part(name, topology), 0);
        let host = held.hosts().next().expect("one host");
        (host.host.to_string(), host.chips.to_string())
    };
    // The host of eight is the smaller slice, so it is broken up first.
    assert_eq!(chips(&mut world, "p1", "1x1"), ("eight-0".to_owned(), "0".to_owned()));
    assert_eq!(
        chips(&mut world, "p2", "1x1"),
        ("eight-0".to_owned(), "2".to_owned()),
        "the rest of the pair"
    );
    assert_eq!(chips(&mut world, "p3", "1x2"), ("eight-0".to_owned(), "1,3".to_owned()));
    assert_eq!(chips(&mut world, "p4", "2x2"), ("eight-0".to_owned(), "4,5,6,7".to_owned()));
    assert_eq!(chips(&mut world, "p5", "1x1").0, "a-0");
    world.release("p1", 1);
    assert_eq!(chips(&mut world, "p6", "1x1").0, "eight-0", "one chip between busy ones is the smallest gap");
}

#[test]
fn several_parts_are_taken_together_or_not_at_all() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    let three = |name: &str| Request::parts(id(name), ask("v6e", "2x4").with_count(3));
    let held = world.hold(three("p"), 0);
    assert_eq!(slices(&held), ["a", "a", "b"]);
    let commands = world.submit(three("q"), 1);
    assert!(matches!(commands[..], [Command::Wait { .. }]), "{commands:?}");
    assert_eq!(world.scheduler.ledger().reservations().count(), 1);
    world.hold(part("r", "2x4"), 2);
    world.release("r", 3);
    assert_eq!(granted(&world.release("p", 4)), ["q"]);
}

#[test]
fn a_part_of_the_size_of_a_slice_is_that_slice() {
    let mut world = World::with_slices(&[("a", "2x4")]);
    let held = world.hold(part("p", "2x4"), 0);
    assert_eq!(held.chips(), 8);
    world.wait(whole("w", "2x4"), 1);
}

#[test]
fn a_lost_host_of_another_part_is_not_our_trouble() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(part("left", "2x4"), 0);
    world.hold(part("right", "2x4"), 0);
    let commands = world.lose("a-3", 1);
    let [Command::Trouble { holder, .. }] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(*holder, id("right"));
}

#[test]
fn a_slice_in_doubt_gives_no_parts() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    let mut odd = World::report("v6e", "a", "2x8", 0);
    odd.name = host("odd");
    world.on(Event::HostJoined(odd), 0);
    let reason = world.wait(part("p", "2x2"), 1).to_string();
    assert!(reason.contains("odd contradicts the slice"), "{reason}");
    let left = Event::HostLeft { host: host("odd"), cause: "removed".to_owned() };
    assert_eq!(granted(&world.on(left, 2)), ["p"]);
}

#[test]
fn parts_in_three_dimensions_follow_geometry() {
    let mut world = World::with_slices(&[]);
    world.join_slice("v4", "cube", "4x4x4");
    let cut = |name: &str, topology: &str| Request::parts(id(name), ask("v4", topology));
    let (_, block) = workers(&mut world, cut("p", "2x2x2"));
    assert_eq!(block, [0, 4], "two layers of one host");
    let (_, block) = workers(&mut world, cut("q", "2x2x4"));
    assert_eq!(block, [2, 6, 10, 14], "the rest of the 2x4x4 that is broken up; the other stays whole");
}
