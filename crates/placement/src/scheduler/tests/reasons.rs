//! What people read.

use super::super::{Command, Request};
use super::{World, ask, id, pair, part, whole};
use crate::inventory::{LabelSelector, Quantity, Resources};

fn refusal(world: &mut World, request: Request) -> String {
    match &world.submit(request, 0)[..] {
        [Command::Refuse { reason, .. }] => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reason_names_slices_holders_workers_and_ages() {
    let mut world = World::with_slices(&[("slice-a", "4x4"), ("slice-b", "4x4"), ("slice-c", "2x4")]);
    world.hold(whole("train-7", "4x4"), 0);
    world.lose("slice-b-3", 28);
    let reason = world.wait(whole("w", "4x4"), 40).to_string();
    assert_eq!(
        reason,
        "1 v6e 4x4 slice wanted; 2 slices can serve: slice-a held by 'train-7' since 40 s; slice-b lacks \
         worker 3 (10.0.0.3, lost 12 s ago: no heartbeat); free now: 1 v6e 2x4"
    );
    assert!(world.reason("w", 160).contains("lost 2 min ago"), "ages move on");
}

#[test]
fn a_refusal_names_what_is_here_instead() {
    let mut world = World::with_slices(&[("a", "4x4"), ("b", "4x4"), ("c", "2x4")]);
    assert_eq!(
        refusal(&mut world, whole("r", "8x8")),
        "1 v6e 8x8 slice cannot be: no such slice is here; nearest here: 2 v6e 4x4, 1 v6e 2x4"
    );
    assert_eq!(
        refusal(&mut world, Request::slices(id("r"), ask("v6e", "4x4").with_count(3))),
        "3 v6e 4x4 slices cannot be: only 2 such slices here; nearest here: 2 v6e 4x4, 1 v6e 2x4"
    );
    let error = refusal(&mut world, whole("r", "3x5"));
    assert!(error.contains("no such slice exists; nearest: 4x4"), "{error}");
    let two_hosts = Request::slices(id("r"), ask("v6e", "2x4").with_chips_per_host(4));
    let error = refusal(&mut world, two_hosts);
    assert!(error.contains("hosts of such slices have 8 chips"), "{error}");
    let error = refusal(&mut world, part("r", "8x8"));
    assert!(error.contains("the parts that fit are 1x1, 1x2, 2x2"), "{error}");
    let error = refusal(&mut world, Request::parts(id("r"), ask("v6e", "2x4").with_count(6)));
    assert!(error.contains("the slices here give 5"), "{error}");
    let empty = refusal(&mut World::with_slices(&[]), whole("r", "4x4"));
    assert_eq!(empty, "1 v6e 4x4 slice cannot be: no such slice is here; no slice has joined");
}

#[test]
fn labels_and_amounts_are_part_of_the_question() {
    let mut world = World::with_slices(&[]);
    let cpus = |amount| Resources::none().with("CPU", Quantity::whole(amount));
    for worker in 0..4 {
        let report = World::report("v6e", "a", "4x4", worker).with_label("zone", "eu");
        world.on(super::super::Event::HostJoined(report.with_resources(cpus(8))), 0);
    }
    let labelled = |zone: &str| {
        Request::slices(id("l"), ask("v6e", "4x4").with_labels(LabelSelector::any().with("zone", zone)))
    };
    let error = refusal(&mut world, labelled("us"));
    assert!(error.contains("labelled zone=us cannot be: 0 such slices here labelled so"), "{error}");
    let large = Request::slices(id("l"), ask("v6e", "4x4").with_resources_per_host(cpus(9)));
    let error = refusal(&mut world, large);
    assert!(error.contains("with 9 CPU a host cannot be"), "{error}");
    let held = world.hold(Request::parts(id("p"), ask("v6e", "2x2").with_resources_per_host(cpus(5))), 1);
    assert_eq!(held.hosts().next().expect("one host").resources, cpus(5));
    world.release("p", 2);
    world.hold(labelled("eu"), 3);
}

#[test]
fn a_long_reason_is_cut_and_says_so() {
    let names: Vec<String> = (0..20).map(|slice| format!("s{slice:02}")).collect();
    let slices: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "2x4")).collect();
    let mut world = World::with_slices(&slices);
    for slice in 0..20 {
        world.hold(whole(&format!("h{slice}"), "2x4"), 0);
    }
    let reason = world.wait(pair("w", "2x4"), 1).to_string();
    assert!(reason.ends_with("; and 12 more"), "{reason}");
}
