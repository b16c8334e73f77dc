//! Every case of `tests/cases/placement.json`, by name, through the public API.

use std::collections::BTreeMap;

use mobula_placement::inventory::{HostName, HostReport, SliceName, Timestamp};
use mobula_placement::ledger::RequestId;
use mobula_placement::scheduler::{Command, Event, Options, Request, Scheduler, SliceAsk};
use mobula_placement::topology::{Generation, SliceSpec, Topology};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    inventory: Vec<Slice>,
    requests: Vec<Wanted>,
    #[serde(default)]
    arrive_together: bool,
    expect: Vec<Expected>,
}

#[derive(Deserialize)]
struct Slice {
    slice: String,
    generation: String,
    topology: String,
    missing_workers: Vec<u32>,
    dead_workers: Vec<u32>,
    held_by: Option<String>,
}

#[derive(Deserialize)]
struct Wanted {
    id: String,
    generation: String,
    topology: String,
    slices: u32,
    #[serde(default)]
    priority: i32,
    #[serde(default)]
    sub_slice: bool,
}

#[derive(Deserialize)]
struct Expected {
    id: String,
    outcome: String,
    slices_among: Option<Vec<String>>,
    reason_mentions: Vec<String>,
}

/// What a request came to: the outcome, the slices, the reason in words.
type Result = (&'static str, Vec<String>, String);

fn cases() -> Vec<Case> {
    let text = include_str!("../../../tests/cases/placement.json");
    serde_json::from_str(text).expect("the cases are well formed")
}

fn id(text: &str) -> RequestId {
    RequestId::new(text).expect("a name")
}

fn ask(generation: &str, topology: &str, count: u32) -> SliceAsk {
    let generation: Generation = generation.parse().expect("a generation");
    let topology: Topology = topology.parse().expect("a topology");
    SliceAsk::new(generation, topology).with_count(count)
}

fn host_name(slice: &str, worker: u32) -> HostName {
    HostName::new(&format!("{slice}-host-{worker}")).expect("a name")
}

/// Lets a slice join; before hosts die, whoever holds it gets it.
fn join(scheduler: &mut Scheduler, slice: &Slice, now: Timestamp) {
    let spec = SliceSpec::parse(&slice.generation, &slice.topology).expect("a slice");
    let name = SliceName::new(&slice.slice).expect("a name");
    for worker in (0..spec.hosts()).filter(|worker| !slice.missing_workers.contains(worker)) {
        let report = HostReport::new(host_name(&slice.slice, worker), &format!("10.0.0.{worker}"));
        scheduler.on_event(Event::HostJoined(report.with_membership(name.clone(), worker, spec)), now);
    }
    if let Some(holder) = &slice.held_by {
        let request = Request::slices(id(holder), ask(&slice.generation, &slice.topology, 1));
        let commands = scheduler.on_event(Event::Submit(vec![request]), now);
        assert!(matches!(commands[..], [Command::Grant { .. }]), "{commands:?}");
    }
    for &worker in &slice.dead_workers {
        let host = host_name(&slice.slice, worker);
        scheduler.on_event(Event::HostLost { host, cause: "no heartbeat".to_owned() }, now);
    }
}

fn results(commands: Vec<Command>) -> BTreeMap<String, Result> {
    let result = |command: Command| match command {
        Command::Grant { assignment } => {
            let slices = assignment.slices.iter().map(|part| part.slice.to_string()).collect();
            (assignment.request.to_string(), ("reserved", slices, String::new()))
        }
        Command::Wait { request, reason } => (request.to_string(), ("pending", vec![], reason.to_string())),
        Command::Refuse { request, reason } => {
            (request.to_string(), ("infeasible", vec![], reason.to_string()))
        }
        other => panic!("{other:?}"),
    };
    commands.into_iter().map(result).collect()
}

fn check(name: &str) {
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of that name");
    let mut scheduler = Scheduler::new(Options::default());
    // Held slices first, so that the holder gets the one that the case says.
    let (held, free): (Vec<_>, Vec<_>) = case.inventory.iter().partition(|slice| slice.held_by.is_some());
    for slice in held.into_iter().chain(free) {
        join(&mut scheduler, slice, Timestamp::START);
    }
    let request = |wanted: &Wanted| {
        let ask = ask(&wanted.generation, &wanted.topology, wanted.slices);
        let request = if wanted.sub_slice { Request::parts } else { Request::slices };
        request(id(&wanted.id), ask).with_priority(wanted.priority)
    };
    let requests: Vec<_> = case.requests.iter().map(request).collect();
    let now = Timestamp::from_secs(40);
    let commands = if case.arrive_together {
        scheduler.on_event(Event::Submit(requests), now)
    } else {
        let submit = |request| scheduler.on_event(Event::Submit(vec![request]), now);
        requests.into_iter().flat_map(submit).collect()
    };
    let results = results(commands);
    let mut slices_held = Vec::new();
    for expected in &case.expect {
        let (outcome, slices, reason) = results.get(&expected.id).expect("an answer");
        assert_eq!(outcome, &expected.outcome, "{} {reason}", expected.id);
        if let Some(among) = &expected.slices_among {
            let wanted = case.requests.iter().find(|wanted| wanted.id == expected.id).expect("asked");
            assert_eq!(slices.len(), wanted.slices as usize, "{}", expected.id);
            assert!(slices.iter().all(|slice| among.contains(slice)), "{slices:?} among {among:?}");
            if !wanted.sub_slice {
                slices_held.extend(slices.clone());
            }
        }
        for word in &expected.reason_mentions {
            assert!(reason.contains(word.as_str()), "{reason:?} mentions {word:?}");
        }
    }
    slices_held.sort_unstable();
    let all = slices_held.len();
    slices_held.dedup();
    assert_eq!(slices_held.len(), all, "no slice is granted twice");
    scheduler.ledger().check().expect("consistent");
}

macro_rules! cases {
    ($($test:ident: $name:literal,)*) => {
        $(#[test] fn $test() { check($name); })*

        #[test]
        fn no_case_is_left_out() {
            let names = [$($name),*];
            let known: Vec<_> = cases().into_iter().map(|case| case.name).collect();
            assert_eq!(known, names);
        }
    };
}

cases! {
    one_whole_slice: "one whole slice",
    a_broken_slice_is_never_taken_while_a_whole_one_is_free: "a broken slice is never taken while a whole one is free",
    only_a_broken_slice: "only a broken slice",
    worker_zero_missing: "worker zero missing",
    a_dead_host: "a dead host",
    held_by_another: "held by another",
    two_want_one: "two want one",
    a_topology_no_slice_has: "a topology no slice has",
    a_generation_no_slice_has: "a generation no slice has",
    same_pod_type_another_shape: "same pod type, another shape",
    an_impossible_shape: "an impossible shape",
    two_slices_or_none: "two slices or none",
    two_pairs_two_slices_one_wins_no_one_holds_half: "two pairs, two slices: one wins, no one holds half",
    a_failed_pair_leaves_its_first_slice_free: "a failed pair leaves its first slice free",
    three_when_two_exist: "three when two exist",
    priority_goes_first: "priority goes first",
    a_sub_slice_inside_an_idle_slice: "a sub-slice inside an idle slice",
    sub_slices_share_a_slice_then_a_whole_one_must_wait: "sub-slices share a slice, then a whole one must wait",
    small_ones_pack_to_keep_a_large_block: "small ones pack to keep a large block",
}
