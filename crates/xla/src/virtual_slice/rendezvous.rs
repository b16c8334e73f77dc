//! Who waits for which launch: the decisions of a virtual slice, without clock, threads or devices.
//!
//! # States
//! The slice *gathers* one launch at a time, numbered from 0. Of each host it knows the number of the launch
//! that its next arrival is for (`next`), and whether it is
//!
//! - *away*: not waiting (it computes, or has not come yet),
//! - *waiting* for the launch that gathers, since when, until when, and with which program,
//! - *gone*: its member was dropped.
//!
//! # Events and commands
//! | event | decision |
//! |---|---|
//! | `on_join` | the host is away; its next arrival is for the launch that gathers |
//! | `on_arrive` | late: answered at once; a host gone or another program: given up; all wait: launched |
//! | `on_refuse` | remembered, told to the others if the host does not come with a good arrival |
//! | `on_withdraw` | the host is away, as if it had not come |
//! | `on_tick` | when the deadline of somebody who waits has passed, the launch is given up |
//! | `on_leave` | the host is gone; when others wait, the launch is given up |
//!
//! *Given up* means: everybody who waits is answered ([`Command::Answer`]), the reason is remembered, and the
//! next number gathers. Hosts that were away learn it when they come.
//!
//! # Invariants
//! - `VS-1` [`Command::Launch`] is given only when every host waits, all with one program. Nothing is
//!   launched with fewer shards.
//! - `VS-2` Every number ends exactly once, launched or given up, one after the other.
//! - `VS-3` Every arrival that is not withdrawn is answered exactly once: by the launch or by one
//!   [`Command::Answer`].
//! - `VS-4` Whoever waits, waits for the launch that gathers; a host's `next` is never beyond it.
//! - `VS-5` A host's arrivals are for one number after the other: one that missed a launch is told so for
//!   exactly that launch, at once, whatever it brought.
//! - `VS-6` A refused arrival does not count and does not change which launch the host's next arrival is for.
//! - `VS-7` A withdrawn arrival leaves the state as it was before it, except for time.
//! - `VS-8` While a host is gone nobody waits: arrivals are answered at once, with its name.
//! - `VS-9` After `on_arrive` and `on_tick` with `now`, nobody waits whose deadline is not after `now`.

mod command;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

pub(super) use command::{Cause, Command, Verdict};

use super::error::MissingHost;
use crate::program::ProgramDigest;

/// How many given up launches are remembered with their reason.
pub(super) const REASONS_MAX: usize = 256;

/// How much of a refusal the others are told, in characters.
const REFUSAL_CHARS_MAX: usize = 500;

/// A program as errors name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramLabel {
    /// Its name.
    pub name: String,
    /// Its digest, with the mesh it is compiled for.
    pub digest: ProgramDigest,
}

impl fmt::Display for ProgramLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.digest)
    }
}

/// The member of the host is taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken;

/// The state of all hosts; see the module's docs.
#[derive(Debug)]
pub(super) struct Rendezvous {
    hosts: Vec<Host>,
    /// The number of the launch that gathers.
    launch: u64,
    /// Given up launches, oldest first.
    given_up: VecDeque<GivenUp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    /// The launch that the host's next arrival is for.
    next: u64,
    has_member: bool,
    phase: Phase,
    refusal: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    Away,
    Waiting { since: Instant, deadline: Instant, program: ProgramLabel },
    Gone,
}

#[derive(Debug)]
struct GivenUp {
    launch: u64,
    at: Instant,
    cause: Cause,
}

impl Rendezvous {
    /// All hosts away, launch 0 gathers.
    pub(super) fn new(host_count: usize) -> Rendezvous {
        let host = Host { next: 0, has_member: false, phase: Phase::Away, refusal: None };
        Rendezvous { hosts: vec![host; host_count], launch: 0, given_up: VecDeque::new() }
    }

    /// The number of the launch that gathers.
    #[cfg(test)]
    pub(super) fn launch(&self) -> u64 {
        self.launch
    }

    /// A member of `host` was taken.
    pub(super) fn on_join(&mut self, host: usize) -> Result<(), Taken> {
        let launch = self.launch;
        let host = &mut self.hosts[host];
        if host.has_member {
            return Err(Taken);
        }
        if host.phase == Phase::Gone {
            // A new member has missed nothing.
            host.next = launch;
            host.phase = Phase::Away;
        }
        host.has_member = true;
        Ok(())
    }

    /// `host` brought all its shards for its next launch and waits until `deadline`.
    pub(super) fn on_arrive(
        &mut self,
        host: usize,
        program: &ProgramLabel,
        now: Instant,
        deadline: Instant,
    ) -> Vec<Command> {
        let mut commands = self.on_tick(now);
        let wanted = self.hosts[host].next;
        self.hosts[host].refusal = None;
        if wanted < self.launch {
            self.hosts[host].next += 1;
            commands.push(Command::Answer { host, verdict: self.late(wanted, now) });
            return commands;
        }
        self.hosts[host].phase = Phase::Waiting { since: now, deadline, program: program.clone() };
        if let Some(gone) = self.hosts.iter().position(|host| host.phase == Phase::Gone) {
            commands.extend(self.give_up(now, &Cause::Lost { host: gone }));
            return commands;
        }
        let programs = self.programs();
        if programs.iter().any(|(_, other)| other != program) {
            commands.extend(self.give_up(now, &Cause::Programs { programs }));
            return commands;
        }
        if programs.len() == self.hosts.len() {
            commands.push(Command::Launch { launch: self.launch });
            self.next_launch();
            return commands;
        }
        commands.extend(self.on_tick(now));
        commands
    }

    /// What `host` brought was refused for the reason in `text`; it may try again.
    pub(super) fn on_refuse(&mut self, host: usize, text: &str) {
        self.hosts[host].refusal = Some(text.chars().take(REFUSAL_CHARS_MAX).collect());
    }

    /// `host` no longer waits. Nothing changes when it was answered already.
    pub(super) fn on_withdraw(&mut self, host: usize) {
        if let Phase::Waiting { .. } = self.hosts[host].phase {
            self.hosts[host].phase = Phase::Away;
        }
    }

    /// Time passed.
    pub(super) fn on_tick(&mut self, now: Instant) -> Vec<Command> {
        let passed = |host: &Host| matches!(&host.phase, Phase::Waiting { deadline, .. } if *deadline <= now);
        if !self.hosts.iter().any(passed) {
            return Vec::new();
        }
        let missing = (0..self.hosts.len()).filter(|host| !self.is_waiting(*host));
        let missing =
            missing.map(|host| MissingHost { host, refusal: self.hosts[host].refusal.clone() }).collect();
        let since = self.hosts.iter().filter_map(|host| match host.phase {
            Phase::Waiting { since, .. } => Some(since),
            _ => None,
        });
        let waited = since.map(|since| now.saturating_duration_since(since)).max().unwrap_or_default();
        self.give_up(now, &Cause::Missing { missing, waited })
    }

    /// The member of `host` was dropped.
    pub(super) fn on_leave(&mut self, host: usize, now: Instant) -> Vec<Command> {
        self.hosts[host].has_member = false;
        self.hosts[host].phase = Phase::Gone;
        self.hosts[host].refusal = None;
        if !(0..self.hosts.len()).any(|host| self.is_waiting(host)) {
            return Vec::new();
        }
        self.give_up(now, &Cause::Lost { host })
    }

    fn is_waiting(&self, host: usize) -> bool {
        matches!(self.hosts[host].phase, Phase::Waiting { .. })
    }

    /// Who waits with which program.
    fn programs(&self) -> Vec<(usize, ProgramLabel)> {
        let hosts = self.hosts.iter().enumerate();
        let waiting = hosts.filter_map(|(index, host)| match &host.phase {
            Phase::Waiting { program, .. } => Some((index, program.clone())),
            _ => None,
        });
        waiting.collect()
    }

    /// Ends the launch that gathers without launching it; all who wait are answered.
    fn give_up(&mut self, now: Instant, cause: &Cause) -> Vec<Command> {
        let launch = self.launch;
        let mut commands = Vec::new();
        for (index, host) in self.hosts.iter().enumerate() {
            if let Phase::Waiting { since, .. } = host.phase {
                let waited = now.saturating_duration_since(since);
                let verdict = Verdict::GivenUp { launch, waited, cause: cause.clone() };
                commands.push(Command::Answer { host: index, verdict });
            }
        }
        if self.given_up.len() == REASONS_MAX {
            self.given_up.pop_front();
        }
        self.given_up.push_back(GivenUp { launch, at: now, cause: cause.clone() });
        self.next_launch();
        commands
    }

    /// The next number gathers; whoever waited has taken part in this one.
    fn next_launch(&mut self) {
        for host in &mut self.hosts {
            if let Phase::Waiting { .. } = host.phase {
                host.phase = Phase::Away;
                host.next = self.launch + 1;
            }
            host.refusal = None;
        }
        self.launch += 1;
    }

    /// What a host is told that comes for a launch that has ended.
    fn late(&self, launch: u64, now: Instant) -> Verdict {
        // A launch that a host missed was given up: without it, it cannot have been launched (`VS-1`).
        let found = self.given_up.iter().find(|given_up| given_up.launch == launch);
        match found {
            Some(given_up) => {
                let ago = now.saturating_duration_since(given_up.at);
                Verdict::Late { launch, ago: Some(ago), cause: Some(given_up.cause.clone()) }
            }
            None => Verdict::Late { launch, ago: None, cause: None },
        }
    }
}
