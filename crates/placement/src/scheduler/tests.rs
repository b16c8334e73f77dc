//! A test for every decision: the state before, the event, and the exact commands.

mod adopt;
mod bundles;
mod faults;
mod keeping;
mod life;
mod parts;
mod preempt;
mod reasons;

use std::sync::Arc;

use super::{Assignment, Command, Event, Options, Outcome, PendingReason, Request, Scheduler, SliceAsk};
use crate::inventory::{HostName, HostReport, SliceName, Timestamp};
use crate::ledger::RequestId;
use crate::topology::SliceSpec;

pub(super) fn id(text: &str) -> RequestId {
    RequestId::new(text).expect("a name")
}

pub(super) fn host(text: &str) -> HostName {
    HostName::new(text).expect("a name")
}

pub(super) fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

pub(super) fn ask(generation: &str, topology: &str) -> SliceAsk {
    SliceAsk::new(generation.parse().expect("a generation"), topology.parse().expect("a topology"))
}

pub(super) fn whole(name: &str, topology: &str) -> Request {
    Request::slices(id(name), ask("v6e", topology))
}

pub(super) fn pair(name: &str, topology: &str) -> Request {
    Request::slices(id(name), ask("v6e", topology).with_count(2))
}

pub(super) fn part(name: &str, topology: &str) -> Request {
    Request::parts(id(name), ask("v6e", topology))
}

/// A scheduler under test; its indexes are checked after every event.
pub(super) struct World {
    pub(super) scheduler: Scheduler,
}

impl World {
    pub(super) fn new(options: Options) -> Self {
        Self { scheduler: Scheduler::new(options) }
    }

    /// With v6e slices of these names and topologies, whole and idle.
    pub(super) fn with_slices(slices: &[(&str, &str)]) -> Self {
        let mut world = Self::new(Options::default());
        for (name, topology) in slices {
            world.join_slice("v6e", name, topology);
        }
        world
    }

    pub(super) fn join_slice(&mut self, generation: &str, name: &str, topology: &str) {
        let spec = SliceSpec::parse(generation, topology).expect("a slice");
        for worker in 0..spec.hosts() {
            self.join(generation, name, topology, worker);
        }
    }

    pub(super) fn report(generation: &str, slice: &str, topology: &str, worker: u32) -> HostReport {
        let spec = SliceSpec::parse(generation, topology).expect("a slice");
        let slice_name = SliceName::new(slice).expect("a name");
        HostReport::new(host(&format!("{slice}-{worker}")), &format!("10.0.0.{worker}"))
            .with_membership(slice_name, worker, spec)
    }

    pub(super) fn join(
        &mut self,
        generation: &str,
        slice: &str,
        topology: &str,
        worker: u32,
    ) -> Vec<Command> {
        self.on(Event::HostJoined(Self::report(generation, slice, topology, worker)), 0)
    }

    pub(super) fn on(&mut self, event: Event, secs: u64) -> Vec<Command> {
        let commands = self.scheduler.on_event(event, at(secs));
        assert!(self.scheduler.floor.check(), "the indexes are a recount");
        commands
    }

    pub(super) fn submit(&mut self, request: Request, secs: u64) -> Vec<Command> {
        self.on(Event::Submit(vec![request]), secs)
    }

    /// Submits what is granted at once.
    pub(super) fn hold(&mut self, request: Request, secs: u64) -> Arc<Assignment> {
        let commands = self.submit(request, secs);
        match &commands[..] {
            [Command::Grant { assignment }] => Arc::clone(assignment),
            other => panic!("{other:?}"),
        }
    }

    /// Submits what has to wait.
    pub(super) fn wait(&mut self, request: Request, secs: u64) -> PendingReason {
        let commands = self.submit(request, secs);
        match &commands[..] {
            [Command::Wait { reason, .. }] => (**reason).clone(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn release(&mut self, name: &str, secs: u64) -> Vec<Command> {
        self.on(Event::Release(id(name)), secs)
    }

    pub(super) fn lose(&mut self, name: &str, secs: u64) -> Vec<Command> {
        self.on(Event::HostLost { host: host(name), cause: "no heartbeat".to_owned() }, secs)
    }

    pub(super) fn reason(&self, name: &str, secs: u64) -> String {
        match self.scheduler.outcome(&id(name), at(secs)) {
            Some(Outcome::Pending(reason)) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

/// The names of those granted, in order.
pub(super) fn granted(commands: &[Command]) -> Vec<String> {
    let name = |command: &Command| match command {
        Command::Grant { assignment } => Some(assignment.request.to_string()),
        _ => None,
    };
    commands.iter().filter_map(name).collect()
}

/// The slices of an assignment.
pub(super) fn slices(assignment: &Assignment) -> Vec<&str> {
    assignment.slices.iter().map(|part| part.slice.as_str()).collect()
}
