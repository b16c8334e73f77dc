//! S7: nobody is overtaken for ever.

use super::super::Event;
use super::{World, granted, pair, part, whole};

/// Patience of the default options.
const PATIENCE: u64 = 600;

#[test]
fn a_pair_is_overtaken_until_its_patience_ends() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("one", "4x4"), 0);
    world.hold(whole("two", "4x4"), 0);
    world.wait(pair("p", "4x4"), 1);
    world.release("one", 2);
    world.hold(whole("three", "4x4"), 3);
    world.on(Event::Tick, 1 + PATIENCE);
    world.release("three", 2 + PATIENCE);
    let reason = world.wait(whole("four", "4x4"), 3 + PATIENCE).to_string();
    assert!(reason.contains("a kept for 'p', which has waited 10 min"), "{reason}");
    assert_eq!(granted(&world.release("two", 4 + PATIENCE)), ["p"]);
    assert_eq!(granted(&world.release("p", 5 + PATIENCE)), ["four"]);
}

#[test]
fn what_is_kept_does_not_bind_those_who_go_before() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("one", "4x4"), 0);
    world.hold(whole("two", "4x4"), 0);
    world.wait(pair("p", "4x4"), 1);
    world.on(Event::Tick, 1 + PATIENCE);
    world.wait(whole("urgent", "4x4").with_priority(9), 2 + PATIENCE);
    assert_eq!(granted(&world.release("one", 3 + PATIENCE)), ["urgent"]);
}

#[test]
fn a_large_part_gets_the_block_that_drains() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    for name in ["s1", "s2", "s3", "s4"] {
        world.hold(part(name, "2x2"), 0);
    }
    world.wait(part("column", "2x4"), 1);
    world.on(Event::Tick, 1 + PATIENCE);
    // s1 and s2 share the first column, which is kept as soon as one of them lets go.
    world.release("s1", 2 + PATIENCE);
    world.wait(part("small", "2x2"), 3 + PATIENCE);
    assert_eq!(granted(&world.release("s3", 4 + PATIENCE)), ["small"], "another column is not kept");
    assert_eq!(granted(&world.release("s2", 5 + PATIENCE)), ["column"]);
}

#[test]
fn who_waits_on_a_holder_that_never_lets_go_gets_what_else_drains() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    // One small part of a is held for ever; the two halves of b change hands and are never free together.
    for name in ["forever", "a2", "a3", "a4", "b1", "b2", "b3", "b4"] {
        world.hold(part(name, "2x2"), 0);
    }
    for name in ["a2", "a3", "a4"] {
        world.release(name, 1);
    }
    world.wait(whole("w", "4x4"), 2);
    world.on(Event::Tick, 2 + PATIENCE);
    world.release("b1", 3 + PATIENCE);
    world.hold(part("b5", "2x2"), 4 + PATIENCE);
    let late = 2 + 4 * PATIENCE;
    world.on(Event::Tick, late);
    for name in ["b2", "b3", "b4"] {
        world.release(name, late + 1);
        world.wait(part(&format!("after-{name}"), "2x2"), late + 2);
    }
    let served = granted(&world.release("b5", late + 3));
    assert_eq!(served[0], "w");
    assert_eq!(served.len(), 4, "and the parts go to what is left of a: {served:?}");
}

#[test]
fn a_keep_ends_with_its_keeper() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    world.hold(whole("one", "4x4"), 0);
    world.hold(whole("two", "4x4"), 0);
    world.wait(pair("p", "4x4"), 1);
    world.on(Event::Tick, 1 + PATIENCE);
    world.release("one", 2 + PATIENCE);
    world.wait(whole("three", "4x4"), 3 + PATIENCE);
    let commands = world.on(Event::Cancel(super::id("p")), 4 + PATIENCE);
    assert_eq!(granted(&commands), ["three"]);
}
