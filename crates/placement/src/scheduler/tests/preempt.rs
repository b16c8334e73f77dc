//! Pushing out: who, for whom, and when not.

use std::time::Duration;

use super::super::{Command, Event, Options, Preemption};
use super::{World, at, granted, id, pair, part, whole};
use crate::ledger::RequestId;

fn world(slices: &[(&str, &str)]) -> World {
    let preemption = Preemption::LowerPriority { grace: Duration::from_secs(30) };
    let mut world = World::new(Options { preemption, ..Options::default() });
    for (name, topology) in slices {
        world.join_slice("v6e", name, topology);
    }
    world
}

fn victims(commands: &[Command]) -> Vec<String> {
    let victim = |command: &Command| match command {
        Command::Preempt { victim, .. } => Some(victim.to_string()),
        _ => None,
    };
    commands.iter().filter_map(victim).collect()
}

#[test]
fn the_least_urgent_lets_go_and_the_urgent_gets_its_slice() {
    let mut world = world(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("mid", "4x4").with_priority(2), 0);
    world.hold(whole("low", "4x4").with_priority(1), 0);
    let commands = world.submit(whole("urgent", "4x4").with_priority(9), 1);
    let ask = Command::Preempt { victim: id("low"), by: id("urgent"), until: at(31) };
    assert_eq!(commands[0], ask);
    assert!(matches!(commands[1..], [Command::Wait { .. }]), "it waits until they let go (S5)");
    let reason = world.wait(whole("other", "4x4").with_priority(2), 2).to_string();
    assert!(reason.contains("kept for 'urgent'"), "{reason}");
    let served = world.release("low", 3);
    assert_eq!(granted(&served), ["urgent"]);
}

#[test]
fn who_does_not_let_go_in_time_is_revoked_once() {
    let mut world = world(&[("a", "4x4")]);
    world.hold(whole("low", "4x4"), 0);
    world.submit(whole("urgent", "4x4").with_priority(1), 1);
    assert_eq!(world.scheduler.next_wakeup(), Some(at(31)));
    let revoke = Command::Revoke { victim: id("low"), by: id("urgent") };
    assert_eq!(world.on(Event::Tick, 31), [revoke]);
    assert_eq!(world.on(Event::Tick, 32), []);
    assert_eq!(granted(&world.release("low", 33)), ["urgent"]);
}

#[test]
fn who_is_no_longer_needed_may_stay() {
    let mut world = world(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("safe", "4x4").not_preemptible(), 0);
    world.hold(whole("low", "4x4"), 0);
    assert_eq!(victims(&world.submit(whole("urgent", "4x4").with_priority(1), 1)), ["low"]);
    let commands = world.release("safe", 2);
    assert_eq!(granted(&commands), ["urgent"]);
    assert!(commands.contains(&Command::Reprieve { victim: id("low") }), "{commands:?}");
    assert_eq!(world.on(Event::Tick, 99), [], "nobody is revoked");
}

#[test]
fn equals_and_the_protected_are_never_pushed_out() {
    let mut world = world(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("equal", "4x4").with_priority(5), 0);
    world.hold(whole("safe", "4x4").not_preemptible(), 0);
    assert_eq!(victims(&world.submit(whole("urgent", "4x4").with_priority(5), 1)), [""; 0]);
    let strict = &mut World::with_slices(&[("a", "4x4")]);
    strict.hold(whole("low", "4x4"), 0);
    assert_eq!(victims(&strict.submit(whole("urgent", "4x4").with_priority(9), 1)), [""; 0]);
}

#[test]
fn a_pair_uses_what_is_free_and_pushes_out_one() {
    let mut world = world(&[("a", "4x4"), ("b", "4x4"), ("c", "4x4")]);
    for name in ["low-1", "low-2", "low-3"] {
        world.hold(whole(name, "4x4"), 0);
    }
    world.release("low-2", 1);
    assert_eq!(victims(&world.submit(pair("urgent", "4x4").with_priority(1), 2)), ["low-1"]);
    assert_eq!(granted(&world.release("low-1", 3)), ["urgent"]);
}

#[test]
fn for_a_part_the_fewest_chips_are_taken_back() {
    let mut world = world(&[("a", "4x4"), ("b", "2x4")]);
    world.hold(whole("large", "4x4"), 0);
    world.hold(whole("small", "2x4"), 0);
    assert_eq!(victims(&world.submit(part("urgent", "2x4").with_priority(1), 1)), ["small"]);
}

#[test]
fn nobody_is_pushed_out_for_two_or_in_vain() {
    let mut world = world(&[("a", "4x4")]);
    world.hold(whole("low", "4x4"), 0);
    assert_eq!(victims(&world.submit(whole("first", "4x4").with_priority(1), 1)), ["low"]);
    assert_eq!(victims(&world.submit(whole("second", "4x4").with_priority(2), 1)), [""; 0]);
    let commands = world.on(Event::Cancel(id("first")), 2);
    assert!(commands.contains(&Command::Reprieve { victim: id("low") }), "{commands:?}");
    let mut half = self::world(&[("a", "4x4"), ("b", "4x4")]);
    half.hold(whole("low", "4x4"), 0);
    half.hold(whole("safe", "4x4").not_preemptible(), 0);
    let none: Vec<RequestId> = Vec::new();
    let asked = victims(&half.submit(pair("urgent", "4x4").with_priority(1), 1));
    assert_eq!(asked.len(), none.len(), "one of two would not help");
}
