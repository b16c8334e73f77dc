//! Taking over what another scheduler granted.

use super::super::{AdoptError, Command, Event, EventError};
use super::{World, granted, host, id, part, whole};

#[test]
fn holds_survive_a_change_of_scheduler() {
    let mut old = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    let (first, second) = (whole("r1", "4x4"), part("r2", "2x4"));
    let held = [(first.clone(), old.hold(first, 7)), (second.clone(), old.hold(second, 8))];
    let mut new = World::with_slices(&[("a", "4x4"), ("b", "4x4")]);
    for (request, assignment) in held {
        assert_eq!(new.on(Event::Adopt { request, assignment }, 20), []);
    }
    assert_eq!(new.scheduler.held().count(), 2);
    let reason = new.wait(whole("w", "4x4"), 27).to_string();
    assert!(reason.contains("a held by 'r1' since 20 s; b held by 'r2' since 19 s"), "{reason}");
    let commands = new.release("r1", 30);
    assert_eq!(granted(&commands), ["w"]);
    let Some(Command::Grant { assignment }) = commands.last() else { panic!("{commands:?}") };
    assert_eq!(assignment.epoch.0, 3, "later than every epoch taken over");
}

#[test]
fn what_cannot_be_taken_over_is_rejected_with_why() {
    let mut old = World::with_slices(&[("a", "4x4")]);
    let request = whole("r", "4x4");
    let assignment = old.hold(request.clone(), 0);
    let adopt = || Event::Adopt { request: request.clone(), assignment: assignment.clone() };
    let cause = |commands: Vec<Command>| match &commands[..] {
        [Command::Reject(EventError::Adopt { cause, .. })] => (**cause).clone(),
        other => panic!("{other:?}"),
    };
    let mut empty = World::with_slices(&[]);
    let unknown = cause(empty.on(adopt(), 0));
    assert_eq!(unknown, AdoptError::UnknownHost { host: host("a-0") });
    let error = EventError::Adopt { request: id("r"), cause: Box::new(unknown) };
    assert!(error.is_retryable());
    assert_eq!(error.to_string(), "adopt r: failed to find host a-0: it has not joined");
    let mut taken = World::with_slices(&[("a", "4x4")]);
    taken.hold(whole("other", "4x4"), 0);
    assert!(matches!(cause(taken.on(adopt(), 0)), AdoptError::Reserve(_)));
    let mut twice = World::with_slices(&[("a", "4x4")]);
    twice.on(adopt(), 0);
    assert_eq!(cause(twice.on(adopt(), 0)), AdoptError::Duplicate);
}
