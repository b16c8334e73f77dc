//! What an onlooker knows who sees only events and commands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mobula_placement::inventory::{HostName, HostReport};
use mobula_placement::ledger::RequestId;
use mobula_placement::scheduler::{
    Assignment, Command, Demand, Event, HostPart, Request, Scheduler, SlicePart, Strategy,
};
use mobula_placement::topology::{ChipSet, Coord};
use proptest::prelude::*;

/// Who waits, who holds, and which hosts are up.
#[derive(Default)]
pub(crate) struct Model {
    reports: BTreeMap<HostName, HostReport>,
    up: BTreeSet<HostName>,
    waiting: BTreeMap<RequestId, Request>,
    held: BTreeMap<RequestId, Arc<Assignment>>,
}

impl Model {
    pub(crate) fn has_host(&self, name: &HostName) -> bool {
        self.up.contains(name)
    }

    pub(crate) fn host(&self, which: usize) -> Option<HostName> {
        self.reports.keys().cycle().nth(which % self.reports.len().max(1)).cloned()
    }

    pub(crate) fn holder(&self, which: usize) -> Option<RequestId> {
        self.held.keys().nth(which % self.held.len().max(1)).cloned()
    }

    pub(crate) fn waiter(&self, which: usize) -> Option<RequestId> {
        self.waiting.keys().nth(which % self.waiting.len().max(1)).cloned()
    }

    /// Takes note of what an event says by itself.
    pub(crate) fn before(&mut self, event: &Event) {
        match event {
            Event::HostJoined(report) => {
                self.reports.insert(report.name.clone(), report.clone());
                self.up.insert(report.name.clone());
            }
            Event::HostLost { host, .. } | Event::HostSick { host, .. } => {
                self.up.remove(host);
            }
            Event::HostLeft { host, .. } => {
                self.up.remove(host);
                self.reports.remove(host);
            }
            Event::Submit(requests) => {
                for request in requests {
                    self.waiting.insert(request.id.clone(), request.clone());
                }
            }
            _ => {}
        }
    }

    /// Checks the commands, and the scheduler against what they add up to.
    pub(crate) fn after(
        &mut self,
        event: &Event,
        commands: &[Command],
        scheduler: &Scheduler,
    ) -> Result<(), TestCaseError> {
        for command in commands {
            match command {
                Command::Grant { assignment } => self.granted(assignment)?,
                Command::Released { request } => {
                    prop_assert!(self.held.remove(request).is_some(), "{request} held nothing");
                }
                Command::Refuse { request, .. }
                | Command::Expire { request, .. }
                | Command::Withdrawn { request } => {
                    prop_assert!(self.waiting.remove(request).is_some(), "{request} did not wait");
                }
                Command::Trouble { holder, host, .. } => {
                    let holds = |held: &Arc<Assignment>| held.hosts().any(|part| part.host == *host);
                    prop_assert!(
                        self.held.get(holder).is_some_and(holds),
                        "{holder} holds nothing of {host}"
                    );
                }
                Command::Reject(_) => {
                    let rightly = match event {
                        // Its deadline may have passed, or its turn have come, at the same moment.
                        Event::Cancel(request) => !self.waiting.contains_key(request),
                        Event::Submit(_) | Event::Release(_) => false,
                        _ => true,
                    };
                    prop_assert!(rightly, "{command:?}");
                }
                _ => {}
            }
        }
        self.compare(scheduler)
    }

    fn compare(&self, scheduler: &Scheduler) -> Result<(), TestCaseError> {
        prop_assert_eq!(scheduler.ledger().check(), Ok(()));
        let held: Vec<_> = scheduler.held().cloned().collect();
        prop_assert_eq!(held, self.held.values().cloned().collect::<Vec<_>>());
        let waiting: BTreeSet<_> = scheduler.waiting().map(|request| &request.id).collect();
        prop_assert_eq!(waiting, self.waiting.keys().collect());
        // What is free is what there is without what is held, host by host.
        let mut chips: BTreeMap<&HostName, ChipSet> = BTreeMap::new();
        for part in self.held.values().flat_map(|held| held.hosts()) {
            let taken = chips.entry(&part.host).or_default();
            prop_assert!(taken.common(part.chips).is_empty(), "a chip of {} is held twice", part.host);
            *taken = taken.union(part.chips);
        }
        for (index, host) in scheduler.inventory().hosts() {
            let account = scheduler.ledger().account(index).expect("every host has an account");
            let held = chips.get(host.name()).copied().unwrap_or_default();
            if account.holders().next().is_none() {
                prop_assert_eq!(account.free_chips(), host.chips());
            }
            prop_assert_eq!(account.held_chips(), held);
        }
        Ok(())
    }

    fn granted(&mut self, assignment: &Arc<Assignment>) -> Result<(), TestCaseError> {
        let request = self.waiting.remove(&assignment.request);
        prop_assert!(request.is_some(), "{} did not wait", assignment.request);
        for part in assignment.hosts() {
            prop_assert!(self.up.contains(&part.host), "{} is not up", part.host);
            let others = self.held.values().flat_map(|held| held.hosts());
            let mut same = others.filter(|other| other.host == part.host);
            prop_assert!(same.all(|other| other.chips.common(part.chips).is_empty()), "L1");
        }
        match &request.expect("checked").demand {
            Demand::Slices(ask) => {
                prop_assert_eq!(assignment.slices.len(), ask.count as usize);
                let names: BTreeSet<_> = assignment.slices.iter().map(|part| &part.slice).collect();
                prop_assert_eq!(names.len(), ask.count as usize, "S1: as many slices as asked for");
                for part in &assignment.slices {
                    prop_assert_eq!(part.spec.generation(), ask.generation);
                    prop_assert_eq!(part.spec.topology(), ask.topology);
                    prop_assert_eq!(part.hosts.len() as u32, part.spec.hosts(), "S3: every host of it");
                    connected(part, part.spec.chips())?;
                }
            }
            Demand::Parts(ask) => {
                prop_assert_eq!(assignment.slices.len(), ask.count as usize);
                for part in &assignment.slices {
                    prop_assert_eq!(part.spec.generation(), ask.generation);
                    prop_assert_eq!(part.part.map(|part| part.shape()), Some(ask.topology));
                    connected(part, ask.topology.chips())?;
                }
            }
            Demand::Bundles(ask) => {
                prop_assert_eq!(assignment.bundles.len(), ask.bundles.len());
                let hosts: BTreeSet<_> = assignment.bundles.iter().map(|part| &part.host).collect();
                match ask.strategy {
                    Strategy::StrictPack => prop_assert_eq!(hosts.len(), 1),
                    Strategy::StrictSpread => prop_assert_eq!(hosts.len(), ask.bundles.len()),
                    Strategy::Pack | Strategy::Spread => {}
                }
                for (bundle, part) in ask.bundles.iter().zip(&assignment.bundles) {
                    prop_assert_eq!(bundle.chips, part.chips.len());
                }
            }
            other => panic!("{other:?}"),
        }
        self.held.insert(assignment.request.clone(), Arc::clone(assignment));
        Ok(())
    }

    /// The events that make every slice whole: impostors leave, everyone who was lost or never came joins.
    pub(crate) fn repairs(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let twins = self.reports.keys().filter(|name| name.as_str().ends_with("-twin"));
        events.extend(twins.map(|host| Event::HostLeft { host: host.clone(), cause: "impostor".to_owned() }));
        let mut slices = BTreeMap::new();
        for report in self.reports.values() {
            if let Some(membership) = &report.membership {
                slices.insert(membership.slice.clone(), (membership.spec, report.clone()));
            }
        }
        for (slice, (spec, like)) in slices {
            events.extend((0..spec.hosts()).map(|worker| {
                let name = HostName::new(&format!("{slice}-{worker}")).expect("a name");
                let report = HostReport::new(name, "10.0.0.1");
                let report = report.with_membership(slice.clone(), worker, spec);
                Event::HostJoined(report.with_resources(like.resources.clone()))
            }));
        }
        events
    }
}

/// S4: the chips of a part are in one piece, and as many as asked for.
fn connected(part: &SlicePart, chips: u32) -> Result<(), TestCaseError> {
    let coords = |host: &HostPart| host.coords.clone();
    let all: BTreeSet<Coord> = part.hosts.iter().flat_map(coords).collect();
    prop_assert_eq!(all.len() as u32, chips);
    let mut open: Vec<Coord> = all.first().copied().into_iter().collect();
    let mut reached: BTreeSet<Coord> = open.iter().copied().collect();
    while let Some(chip) = open.pop() {
        let inside = part.spec.neighbours(chip).into_iter().filter(|next| all.contains(next));
        open.extend(inside.filter(|next| reached.insert(*next)));
    }
    prop_assert_eq!(reached, all, "the chips are in one piece");
    Ok(())
}
