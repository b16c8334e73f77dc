//! Bundles under the four strategies.

use super::super::{Bundle, BundleAsk, Command, Event, Infeasible, InfeasibleCause, Request, Strategy};
use super::{World, granted, host, id, part, whole};
use crate::inventory::{HostReport, LabelSelector, Quantity, Resources};

fn cpus(amount: u64) -> Resources {
    Resources::none().with("CPU", Quantity::whole(amount))
}

/// Hosts without chips, with so many processors each.
fn plain(amounts: &[u64]) -> World {
    let mut world = World::with_slices(&[]);
    for (index, &amount) in amounts.iter().enumerate() {
        join(&mut world, &format!("h{index}"), amount);
    }
    world
}

fn join(world: &mut World, name: &str, amount: u64) -> Vec<Command> {
    let report = HostReport::new(host(name), "10.0.0.1").with_resources(cpus(amount));
    world.on(Event::HostJoined(report), 0)
}

fn group(name: &str, strategy: Strategy, bundles: Vec<Bundle>) -> Request {
    Request::bundles(id(name), BundleAsk::new(bundles, strategy))
}

fn same(bundle: &Bundle, count: usize) -> Vec<Bundle> {
    vec![bundle.clone(); count]
}

/// The host of each bundle, in the order of the bundles.
fn hosts(world: &mut World, request: Request) -> Vec<String> {
    world.hold(request, 0).bundles.iter().map(|part| part.host.to_string()).collect()
}

fn refusal(world: &mut World, request: Request) -> Infeasible {
    match &world.submit(request, 0)[..] {
        [Command::Refuse { reason, .. }] => (**reason).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn pack_takes_few_hosts_and_the_tightest() {
    let mut world = plain(&[8, 4, 2]);
    let two = Bundle::resources(cpus(2));
    assert_eq!(hosts(&mut world, group("p", Strategy::Pack, same(&two, 2))), ["h1", "h1"], "fits exactly");
    assert_eq!(hosts(&mut world, group("q", Strategy::Pack, same(&two, 5))), ["h0", "h0", "h0", "h0", "h2"]);
    let mut small = plain(&[2, 2, 2, 2, 8]);
    let taken = hosts(&mut small, group("p", Strategy::Pack, same(&two, 5)));
    assert_eq!(taken, ["h4", "h4", "h4", "h4", "h0"], "two hosts, not four");
}

#[test]
fn spread_takes_many_hosts_and_shares_only_when_it_must() {
    let mut world = plain(&[4, 4]);
    let one = Bundle::resources(cpus(1));
    assert_eq!(hosts(&mut world, group("p", Strategy::Spread, same(&one, 3))), ["h0", "h1", "h0"]);
}

#[test]
fn strict_pack_is_one_host_or_nothing() {
    let mut world = plain(&[4, 8]);
    let two = Bundle::resources(cpus(2));
    assert_eq!(hosts(&mut world, group("p", Strategy::StrictPack, same(&two, 3))), ["h1"; 3]);
    world.wait(group("w", Strategy::StrictPack, same(&two, 3)), 1);
    let never = refusal(&mut world, group("n", Strategy::StrictPack, same(&two, 5)));
    assert_eq!(never.cause, InfeasibleCause::NotOnOneHost);
    assert_eq!(granted(&world.release("p", 2)), ["w"]);
}

#[test]
fn strict_spread_is_a_host_each_or_nothing() {
    let mut world = plain(&[4, 8]);
    let (small, large) = (Bundle::resources(cpus(1)), Bundle::resources(cpus(6)));
    let both = vec![small.clone(), large];
    assert_eq!(hosts(&mut world, group("p", Strategy::StrictSpread, both)), ["h0", "h1"]);
    let never = refusal(&mut world, group("n", Strategy::StrictSpread, same(&small, 3)));
    assert_eq!(never.cause, InfeasibleCause::TooFewHosts { exist: 2 });
}

#[test]
fn strict_spread_finds_the_one_way_there_is() {
    let mut world = plain(&[]);
    for (name, amount, disk) in [("a", 8, "ssd"), ("b", 4, "ssd"), ("c", 2, "none")] {
        let report = HostReport::new(host(name), "10.0.0.1").with_resources(cpus(amount));
        world.on(Event::HostJoined(report.with_label("disk", disk)), 0);
    }
    let ssd = |amount| Bundle::resources(cpus(amount)).with_labels(LabelSelector::any().with("disk", "ssd"));
    // Tightest first would give b to the first and leave nothing for the large one without a label.
    let bundles = vec![ssd(1), Bundle::resources(cpus(8)), Bundle::resources(cpus(2))];
    assert_eq!(hosts(&mut world, group("p", Strategy::StrictSpread, bundles)), ["b", "a", "c"]);
    world.release("p", 1);
    let bundles = vec![Bundle::resources(cpus(4)), ssd(2), Bundle::resources(cpus(1))];
    assert_eq!(hosts(&mut world, group("q", Strategy::StrictSpread, bundles)), ["a", "b", "c"]);
}

#[test]
fn bundles_with_chips_go_where_they_spoil_least() {
    let mut world = World::with_slices(&[("big", "8x8"), ("a", "4x4")]);
    let four = Bundle::chips(4);
    let taken = hosts(&mut world, group("p", Strategy::Pack, same(&four, 2)));
    assert_eq!(taken, ["a-0", "a-2"], "one column of the smaller slice");
    let one = Bundle::chips(1);
    let held = world.hold(group("q", Strategy::StrictPack, same(&one, 3)), 1);
    let chips: Vec<_> = held.bundles.iter().map(|part| part.chips.to_string()).collect();
    assert_eq!((held.bundles[0].host.as_str(), chips), ("a-1", vec!["0".into(), "2".into(), "1".into()]));
    world.hold(whole("w", "8x8"), 2);
}

#[test]
fn a_bundle_of_eight_needs_a_host_of_eight() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    let eight = Bundle::chips(8);
    let never = refusal(&mut world, group("n", Strategy::Pack, vec![eight.clone()]));
    assert!(matches!(never.cause, InfeasibleCause::NoHost { chips_max: 4, .. }), "{never}");
    world.join_slice("v6e", "c", "2x4");
    let held = world.hold(group("p", Strategy::Pack, vec![eight]), 0);
    assert_eq!((held.bundles[0].host.as_str(), held.bundles[0].coords.len()), ("c-0", 8));
}

#[test]
fn a_generation_can_be_asked_for() {
    let mut world = World::with_slices(&[("a", "2x2")]);
    world.join_slice("v5p", "p", "2x2x1");
    let ask = BundleAsk::new(vec![Bundle::chips(4)], Strategy::Pack);
    let ask = ask.with_generation("v5p".parse().expect("a generation"));
    assert_eq!(hosts(&mut world, Request::bundles(id("r"), ask)), ["p-0"]);
}

#[test]
fn labels_are_asked_of_each_bundle() {
    let mut world = plain(&[4]);
    let report = HostReport::new(host("gpu"), "10.0.0.2").with_resources(cpus(4)).with_label("disk", "ssd");
    world.on(Event::HostJoined(report), 0);
    let fast = Bundle::resources(cpus(1)).with_labels(LabelSelector::any().with("disk", "ssd"));
    let both = vec![Bundle::resources(cpus(4)), fast.clone()];
    assert_eq!(hosts(&mut world, group("p", Strategy::Pack, both)), ["h0", "gpu"]);
    let tape = Bundle::resources(cpus(1)).with_labels(LabelSelector::any().with("disk", "tape"));
    let never = refusal(&mut world, group("n", Strategy::Pack, vec![tape]));
    assert!(never.to_string().contains("no host here holds bundle 0 (0 chips, 1 CPU labelled disk=tape)"));
}

#[test]
fn all_hosts_together_may_be_too_few() {
    let mut world = plain(&[4, 4]);
    let three = Bundle::resources(cpus(3));
    let never = refusal(&mut world, group("n", Strategy::Spread, same(&three, 3)));
    assert!(never.to_string().ends_with("all hosts together hold 2 bundles of 0 chips, 3 CPU"), "{never}");
    let mixed = vec![three.clone(), three, Bundle::resources(cpus(4))];
    let never = refusal(&mut world, group("n", Strategy::Pack, mixed));
    assert!(never.to_string().ends_with("all hosts together have 0 chips and 8 CPU"), "{never}");
}

#[test]
fn a_group_that_waits_says_which_hosts_have_no_room() {
    let mut world = plain(&[4, 4]);
    let three = Bundle::resources(cpus(3));
    world.hold(group("p", Strategy::StrictSpread, same(&three, 2)), 0);
    world.lose("h1", 5);
    let reason = world.wait(group("w", Strategy::Pack, vec![three]), 10).to_string();
    assert_eq!(
        reason,
        "1 bundle (PACK; 0 chips, 3 CPU in all) wanted; 2 hosts can hold a bundle of 0 chips, 3 CPU: h0 has 0 \
         free chips and 1 of 3 CPU, held by 'p' since 10 s; h1 has 0 free chips and 1 of 3 CPU, held by 'p' \
         since 10 s, lost 5 s ago"
    );
}

#[test]
fn a_failed_group_leaves_nothing_behind() {
    let mut world = plain(&[4, 4]);
    world.hold(group("p", Strategy::Pack, vec![Bundle::resources(cpus(3))]), 0);
    let two = Bundle::resources(cpus(2));
    world.wait(group("w", Strategy::StrictSpread, same(&two, 2)), 1);
    assert_eq!(world.scheduler.ledger().reservations().count(), 1);
    assert_eq!(granted(&world.release("p", 2)), ["w"]);
}

#[test]
fn a_large_bundle_is_not_overtaken_for_ever() {
    let mut world = plain(&[4]);
    let one = Bundle::resources(cpus(1));
    for name in ["a", "b", "c", "d"] {
        world.hold(group(name, Strategy::Pack, vec![one.clone()]), 0);
    }
    world.wait(group("large", Strategy::Pack, vec![Bundle::resources(cpus(4))]), 1);
    world.on(Event::Tick, 601);
    for name in ["a", "b", "c"] {
        world.release(name, 602);
    }
    let reason = world.wait(group("late", Strategy::Pack, vec![one]), 603).to_string();
    assert!(reason.contains("kept for 'large'"), "{reason}");
    assert_eq!(granted(&world.release("d", 604)), ["large"]);
}

#[test]
fn bundles_respect_what_is_kept_for_slices() {
    let mut world = World::with_slices(&[("a", "4x4")]);
    world.hold(part("p", "2x2"), 0);
    world.wait(whole("w", "4x4"), 1);
    world.on(Event::Tick, 601);
    let waits = world.wait(group("b", Strategy::Pack, vec![Bundle::chips(4)]), 602);
    assert!(waits.to_string().contains("hosts can hold a bundle of 4 chips"), "{waits}");
    assert_eq!(granted(&world.release("p", 603)), ["w"]);
}

#[test]
fn numbers_that_make_no_bundle_are_rejected() {
    let mut world = plain(&[4]);
    for bundles in [vec![], vec![Bundle::chips(3)], same(&Bundle::chips(1), 5000)] {
        let commands = world.submit(group("r", Strategy::Pack, bundles), 0);
        assert!(matches!(commands[..], [Command::Reject(_)]), "{commands:?}");
    }
}
