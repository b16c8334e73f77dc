//! Invariants of the scheduler over generated steps, checked from outside: an independent model follows the commands and
//! compares what it knows with what the scheduler says.
//!
//! Together the properties take more than 100,000 steps, the same ones every time. `PROPTEST_CASES` changes how many
//! sequences are tried and `PROPTEST_RNG_SEED` which; a failure prints the shortest sequence found.

mod model;
mod steps;

use mobula_placement::inventory::Timestamp;
use mobula_placement::scheduler::{Command, Event, Outcome, Scheduler};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use model::Model;
use steps::{Step, World, options, step};

/// Sequences of each property unless the environment says otherwise.
const CASES: u32 = 130;
/// Steps of a sequence; with [`CASES`] of each of two properties, at least 104,000.
const STEPS: std::ops::Range<usize> = 400..401;

fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(7);
    }
    config
}

/// Takes all steps; returns the scheduler, the model and the time.
fn run(steps: Vec<Step>, preemption: bool) -> Result<(Scheduler, Model, u64), TestCaseError> {
    let mut scheduler = Scheduler::new(options(preemption));
    let mut twin = Scheduler::new(options(preemption));
    let mut model = Model::default();
    let mut world = World::default();
    for step in steps {
        let Some(event) = world.event(step, &model) else { continue };
        let now = Timestamp::from_secs(world.now);
        model.before(&event);
        let commands = scheduler.on_event(event.clone(), now);
        // S8: equal inputs, equal outputs.
        prop_assert_eq!(&commands, &twin.on_event(event.clone(), now));
        model.after(&event, &commands, &scheduler)?;
    }
    Ok((scheduler, model, world.now))
}

/// Lets every host come back, then lets the holders go one by one; everyone who waits must be served.
fn heal(mut scheduler: Scheduler, mut model: Model, mut now: u64) -> Result<(), TestCaseError> {
    let mut on = |scheduler: &mut Scheduler, model: &mut Model, event: Event| -> Result<(), TestCaseError> {
        now += 1;
        model.before(&event);
        let commands = scheduler.on_event(event.clone(), Timestamp::from_secs(now));
        model.after(&event, &commands, scheduler)
    };
    for event in model.repairs() {
        on(&mut scheduler, &mut model, event)?;
    }
    let rounds = 2 * (scheduler.waiting().count() + scheduler.held().count());
    for _ in 0..rounds {
        // The oldest first; what is granted meanwhile has its turn later.
        let oldest = scheduler.held().min_by_key(|held| held.epoch).map(|held| held.request.clone());
        if let Some(oldest) = oldest {
            on(&mut scheduler, &mut model, Event::Release(oldest))?;
        }
    }
    let mut stuck = Vec::new();
    for request in scheduler.waiting() {
        let outcome = scheduler.outcome(&request.id, Timestamp::from_secs(now));
        let Some(Outcome::Pending(reason)) = outcome else { panic!("it waits") };
        let text = reason.to_string();
        if !text.contains("from the provisioner") {
            stuck.push(format!("{} waits for ever: {text}", request.id));
        }
    }
    prop_assert!(stuck.is_empty(), "{stuck:#?}");
    prop_assert_eq!(scheduler.held().count(), 0);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_chip_twice_no_group_astray_and_everyone_is_served_in_the_end(
        steps in prop::collection::vec(step(), STEPS),
    ) {
        let (scheduler, model, now) = run(steps, false)?;
        heal(scheduler, model, now)?;
    }

    #[test]
    fn the_same_holds_when_requests_push_out_others(steps in prop::collection::vec(step(), STEPS)) {
        let (scheduler, model, now) = run(steps, true)?;
        heal(scheduler, model, now)?;
    }

    #[test]
    fn nobody_is_overtaken_for_ever(lives in prop::collection::vec(1..30u64, 100), parts in 0..3usize) {
        steps::churn(&lives, parts)?;
    }
}

#[test]
fn a_wait_always_comes_with_words() {
    let mut world = World::default();
    let mut scheduler = Scheduler::new(options(false));
    for slice in 0..2 {
        for worker in 0..4 {
            let event = world.event(Step::Join { slice, worker }, &Model::default()).expect("a host joins");
            scheduler.on_event(event, Timestamp::START);
        }
    }
    let submit = Step::Whole { kind: 0, count: 2, priority: 0 };
    for expected in ["granted", "waits"] {
        let event = world.event(submit, &Model::default()).expect("a request");
        let commands = scheduler.on_event(event, Timestamp::START);
        match &commands[..] {
            [Command::Grant { .. }] => assert_eq!(expected, "granted"),
            [Command::Wait { reason, .. }] => assert!(reason.to_string().contains("held by")),
            other => panic!("{other:?}"),
        }
    }
}
