//! What can happen in a generated sequence, and how it becomes an event.

use std::time::Duration;

use mobula_placement::inventory::{HostName, HostReport, Quantity, Resources, SliceName, Timestamp};
use mobula_placement::ledger::RequestId;
use mobula_placement::scheduler::{
    Bundle, BundleAsk, Command, Event, Options, Preemption, Provisioner, Request, Scheduler, SliceAsk,
    Strategy as Lay,
};
use mobula_placement::topology::SliceSpec;
use proptest::prelude::*;

use crate::model::Model;

/// The slices that may exist: generation, topology.
const SLICES: [(&str, &str); 8] = [
    ("v6e", "4x4"),
    ("v6e", "4x4"),
    ("v6e", "2x4"),
    ("v6e", "8x8"),
    ("v6e", "2x8"),
    ("v5p", "2x2x2"),
    ("v5p", "4x4x4"),
    ("v6e", "4x4"),
];
/// What is asked for as whole slices.
const KINDS: [(&str, &str); 7] = [
    ("v6e", "4x4"),
    ("v6e", "2x4"),
    ("v6e", "8x8"),
    ("v6e", "2x8"),
    ("v5p", "2x2x2"),
    ("v5p", "4x4x4"),
    ("v6e", "16x16"),
];
/// What is asked for as sub-slices.
const PARTS: [(&str, &str); 9] = [
    ("v6e", "1x1"),
    ("v6e", "1x2"),
    ("v6e", "2x2"),
    ("v6e", "2x4"),
    ("v6e", "4x4"),
    ("v5p", "2x2x1"),
    ("v5p", "1x2x1"),
    ("v5p", "2x2x2"),
    ("v5p", "2x2x4"),
];
const STRATEGIES: [Lay; 4] = [Lay::Pack, Lay::Spread, Lay::StrictPack, Lay::StrictSpread];

/// One thing that happens; numbers choose among what there is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Join { slice: usize, worker: u32 },
    JoinAll { slice: usize },
    Twin { slice: usize, worker: u32 },
    Lose { host: usize },
    Sick { host: usize },
    Leave { host: usize },
    Whole { kind: usize, count: u32, priority: i32 },
    Part { kind: usize, count: u32, priority: i32 },
    Bundles { chips: u32, processors: u64, count: usize, strategy: usize },
    Together { kind: usize, count: u32 },
    Release { which: usize },
    Cancel { which: usize },
    Wait { secs: u64 },
    Provisioner { attached: bool },
}

/// Any step; joins and requests are the most common.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..8usize, 0..16u32).prop_map(|(slice, worker)| Step::Join { slice, worker }),
        2 => (0..8usize).prop_map(|slice| Step::JoinAll { slice }),
        1 => (0..8usize, 0..4u32).prop_map(|(slice, worker)| Step::Twin { slice, worker }),
        2 => (0..64usize).prop_map(|host| Step::Lose { host }),
        1 => (0..64usize).prop_map(|host| Step::Sick { host }),
        1 => (0..64usize).prop_map(|host| Step::Leave { host }),
        4 => (0..7usize, 1..4u32, -1..3).prop_map(|(kind, count, priority)| Step::Whole { kind, count, priority }),
        6 => (0..9usize, 1..4u32, -1..3).prop_map(|(kind, count, priority)| Step::Part { kind, count, priority }),
        3 => (prop::sample::select(vec![0u32, 1, 2, 4, 8]), 0..6u64, 1..5usize, 0..4usize)
            .prop_map(|(chips, processors, count, strategy)| Step::Bundles { chips, processors, count, strategy }),
        1 => (0..7usize, 1..3u32).prop_map(|(kind, count)| Step::Together { kind, count }),
        8 => (0..64usize).prop_map(|which| Step::Release { which }),
        2 => (0..64usize).prop_map(|which| Step::Cancel { which }),
        3 => (1..30u64).prop_map(|secs| Step::Wait { secs }),
        1 => any::<bool>().prop_map(|attached| Step::Provisioner { attached }),
    ]
}

/// Short patience, so that keeping is part of every sequence.
pub(crate) fn options(preemption: bool) -> Options {
    let preemption = match preemption {
        true => Preemption::LowerPriority { grace: Duration::from_secs(5) },
        false => Preemption::Never,
    };
    let ageing = Some(Duration::from_secs(60));
    Options { patience: Duration::from_secs(20), ageing, preemption, ..Options::default() }
}

/// The time and the ids used so far.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) now: u64,
    next: u64,
}

pub(crate) fn spec(slice: usize) -> SliceSpec {
    let (generation, topology) = SLICES[slice];
    SliceSpec::parse(generation, topology).expect("a slice that exists")
}

fn report(slice: usize, worker: u32, suffix: &str) -> HostReport {
    let name = HostName::new(&format!("s{slice}-{worker}{suffix}")).expect("a name");
    let resources = Resources::none().with("CPU", Quantity::whole(8));
    let slice_name = SliceName::new(&format!("s{slice}")).expect("a name");
    HostReport::new(name, "10.0.0.1")
        .with_membership(slice_name, worker, spec(slice))
        .with_resources(resources)
}

fn ask((generation, topology): (&str, &str), count: u32) -> SliceAsk {
    let generation = generation.parse().expect("a generation");
    SliceAsk::new(generation, topology.parse().expect("a topology")).with_count(count)
}

impl World {
    fn id(&mut self) -> RequestId {
        self.next += 1;
        RequestId::new(&format!("r{}", self.next)).expect("a name")
    }

    /// The event that a step stands for; `None` when there is nothing to do it to.
    pub(crate) fn event(&mut self, step: Step, model: &Model) -> Option<Event> {
        self.now += 1;
        let cause = || "it happens".to_owned();
        Some(match step {
            Step::Join { slice, worker } => {
                Event::HostJoined(report(slice, worker % spec(slice).hosts(), ""))
            }
            Step::JoinAll { slice } => {
                // One event a step: the first host that is missing.
                let missing = |worker: &u32| !model.has_host(&report(slice, *worker, "").name);
                let worker = (0..spec(slice).hosts()).find(missing)?;
                Event::HostJoined(report(slice, worker, ""))
            }
            Step::Twin { slice, worker } => {
                Event::HostJoined(report(slice, worker % spec(slice).hosts(), "-twin"))
            }
            Step::Lose { host } => Event::HostLost { host: model.host(host)?, cause: cause() },
            Step::Sick { host } => Event::HostSick { host: model.host(host)?, cause: cause() },
            Step::Leave { host } => Event::HostLeft { host: model.host(host)?, cause: cause() },
            Step::Whole { kind, count, priority } => {
                let request = Request::slices(self.id(), ask(KINDS[kind], count)).with_priority(priority);
                Event::Submit(vec![request])
            }
            Step::Part { kind, count, priority } => {
                let mut request = Request::parts(self.id(), ask(PARTS[kind], count)).with_priority(priority);
                if priority == 0 {
                    request = request.with_deadline(Timestamp::from_secs(self.now + 300)).not_preemptible();
                }
                Event::Submit(vec![request])
            }
            Step::Bundles { chips, processors, count, strategy } => {
                let resources = Resources::none().with("CPU", Quantity::whole(processors));
                let bundle = Bundle::chips(chips).with_resources(resources);
                let ask = BundleAsk::new(vec![bundle; count], STRATEGIES[strategy]);
                Event::Submit(vec![Request::bundles(self.id(), ask)])
            }
            Step::Together { kind, count } => {
                let request = |id| Request::slices(id, ask(KINDS[kind], count));
                Event::Submit(vec![request(self.id()), request(self.id())])
            }
            Step::Release { which } => Event::Release(model.holder(which)?),
            Step::Cancel { which } => Event::Cancel(model.waiter(which)?),
            Step::Wait { secs } => {
                self.now += secs;
                Event::Tick
            }
            Step::Provisioner { attached: true } => Event::Provisioner(Provisioner::Attached),
            Step::Provisioner { attached: false } => Event::Provisioner(Provisioner::Absent),
        })
    }
}

/// A stream of small sub-slices that always has more to place than fits, and a few requests for whole slices in between:
/// each of those is served within a bounded time.
pub(crate) fn churn(lives: &[u64], shape: usize) -> Result<(), TestCaseError> {
    let mut scheduler = Scheduler::new(options(false));
    let mut world = World::default();
    for slice in [0, 1] {
        for worker in 0..4 {
            scheduler.on_event(Event::HostJoined(report(slice, worker, "")), Timestamp::START);
        }
    }
    let large = RequestId::new("large").expect("a name");
    let (mut ends, mut asked, mut lives_left) = (Vec::<(u64, RequestId)>::new(), None, lives.iter().cycle());
    for now in 1..=400u64 {
        let mut events = Vec::new();
        ends.retain(|(end, id)| {
            if *end <= now {
                events.push(Event::Release(id.clone()));
            }
            *end > now
        });
        if scheduler.waiting().count() < 12 {
            events.push(Event::Submit(vec![Request::parts(world.id(), ask(PARTS[shape], 1))]));
            events.push(Event::Submit(vec![Request::parts(world.id(), ask(PARTS[2], 1))]));
        }
        if now == 20 {
            events.push(Event::Submit(vec![Request::slices(large.clone(), ask(KINDS[0], 2))]));
        }
        events.push(Event::Tick);
        for event in events {
            for command in scheduler.on_event(event, Timestamp::from_secs(now)) {
                let Command::Grant { assignment } = command else { continue };
                if assignment.request == large {
                    asked = Some(now);
                }
                let life = lives_left.next().copied().unwrap_or(1);
                ends.push((now + life, assignment.request.clone()));
            }
        }
        if asked.is_some() {
            break;
        }
    }
    // Its patience; then the longest life of those who go before it, and of those who hold what is kept for it.
    prop_assert!(asked.is_some_and(|granted| granted <= 20 + 20 + 2 * 30 + 2), "granted at {asked:?}");
    Ok(())
}
