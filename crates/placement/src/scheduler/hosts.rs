//! Hosts that come, go, or fall ill: what that means for slices and for those who hold them.

use std::collections::BTreeSet;

use super::Scheduler;
use super::command::{Command, EventError, Trouble};
use super::floor::Floor;
use super::queue::Lane;
use crate::inventory::{Change, Health, HostIndex, HostName, HostReport, Resources, Timestamp};
use crate::topology::{ChipSet, Generation};

impl Scheduler {
    pub(super) fn on_joined(&mut self, report: HostReport, now: Timestamp, commands: &mut Vec<Command>) {
        let change = self.floor.inventory.join(report);
        if let Some(index) = change.host
            && let Some(host) = self.floor.inventory.host(index)
        {
            let (chips, resources) = (host.chips(), host.resources().clone());
            self.floor.ledger.set_capacity(index, chips, resources);
            if change.restarted {
                self.tell(index, Trouble::Restarted, "another process answers under its name", commands);
            }
        }
        self.on_change(change, now, commands);
    }

    pub(super) fn on_trouble(
        &mut self,
        kind: Trouble,
        host: &HostName,
        cause: String,
        now: Timestamp,
        commands: &mut Vec<Command>,
    ) {
        let since = now;
        let told = cause.clone();
        let index = self.floor.inventory.find_host(host);
        let news =
            index.and_then(|index| self.floor.inventory.host(index)).is_some_and(|record| match kind {
                Trouble::Lost => !record.health().is_lost(),
                _ => true,
            });
        // Before the change, while the host still has its seat.
        if let Some(index) = index.filter(|_| news) {
            self.tell(index, kind, &told, commands);
        }
        let change = match kind {
            Trouble::Left => self.floor.inventory.leave(host),
            Trouble::Lost => self.floor.inventory.set_health(host, Health::Lost { since, cause }),
            Trouble::Draining => self.floor.inventory.set_health(host, Health::Draining { since, cause }),
            Trouble::Sick | Trouble::Restarted => {
                self.floor.inventory.set_health(host, Health::Sick { since, cause })
            }
        };
        match change {
            Ok(change) => self.on_change(change, now, commands),
            Err(error) => commands.push(Command::Reject(EventError::Inventory(error))),
        }
    }

    /// Tells everyone who holds something on a host (**S5**).
    fn tell(&self, index: HostIndex, kind: Trouble, cause: &str, commands: &mut Vec<Command>) {
        let (Some(host), Some(account)) =
            (self.floor.inventory.host(index), self.floor.ledger.account(index))
        else {
            return;
        };
        let seat = host.membership().map(|membership| (membership.slice.clone(), membership.worker));
        commands.extend(account.holders().map(|holder| Command::Trouble {
            holder: holder.clone(),
            host: host.name().clone(),
            seat: seat.clone(),
            kind,
            cause: cause.to_owned(),
        }));
    }

    fn on_change(&mut self, change: Change, now: Timestamp, commands: &mut Vec<Command>) {
        commands.extend(change.findings.into_iter().map(Command::Report));
        for &host in &change.departed {
            if change.host != Some(host) {
                self.tell(host, Trouble::Left, "another host has its seat", commands);
            }
            self.floor.ledger.set_capacity(host, ChipSet::EMPTY, Resources::none());
            self.floor.sync_host(host);
            self.floor.forget_if_done(host);
        }
        // What all hosts together can hold changes when one comes, goes, or reports anew.
        let lanes_of_hosts = change.reported || !change.departed.is_empty();
        if let Some(host) = change.host {
            self.floor.sync_host(host);
        }
        let mut lanes = BTreeSet::new();
        let mut kinds_changed = BTreeSet::new();
        for slice in change.slices.into_iter().chain(change.dissolved) {
            let before = self.generation_of_slice(slice);
            let news = self.floor.sync_slice(slice);
            for generation in before.into_iter().chain(self.generation_of_slice(slice)) {
                lanes.insert(Lane::Generation(generation));
                if news {
                    kinds_changed.insert(Lane::Generation(generation));
                }
            }
        }
        if lanes_of_hosts {
            kinds_changed.insert(Lane::Hosts);
        }
        lanes.insert(Lane::Hosts);
        lanes.retain(|lane| !kinds_changed.contains(lane));
        if !kinds_changed.is_empty() {
            self.recheck(kinds_changed, now, commands);
        }
        self.settle(lanes, now, commands);
    }

    fn generation_of_slice(&self, slice: crate::inventory::SliceIndex) -> Option<Generation> {
        self.floor.class_of(slice).map(|class| class.plan().spec.generation())
    }
}

impl Floor {
    /// Gives up the record of a host that departed, once nobody holds anything of it.
    pub(super) fn forget_if_done(&mut self, host: HostIndex) {
        if !self.ledger.is_held(host) {
            self.inventory.forget(host);
        }
    }
}
