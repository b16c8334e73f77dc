//! Every decision, with the state and the exact commands it leads to; then random histories against the
//! invariants.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use super::*;
use crate::program::Program;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Programs that differ.
static LABELS: LazyLock<[ProgramLabel; 3]> = LazyLock::new(|| {
    ["step", "eval", "other"].map(|name| {
        let text = format!("module @{name} {{ func.func public @main() {{ return }} }}");
        let program = Program::from_text(text).unwrap();
        ProgramLabel { name: name.to_owned(), digest: program.digest() }
    })
});

fn label(name: &str) -> ProgramLabel {
    LABELS.iter().find(|label| label.name == name).unwrap().clone()
}

fn missing(host: usize) -> MissingHost {
    MissingHost { host, refusal: None }
}

/// A slice of `hosts` hosts with all members taken, and the time.
struct Slice {
    state: Rendezvous,
    start: Instant,
}

impl Slice {
    fn new(hosts: usize) -> Slice {
        let mut state = Rendezvous::new(hosts);
        for host in 0..hosts {
            state.on_join(host).unwrap();
        }
        Slice { state, start: Instant::now() }
    }

    fn at(&self, second: u64) -> Instant {
        self.start + seconds(second)
    }

    /// `host` comes at a second and waits until another, with program `step`.
    fn arrive(&mut self, host: usize, at: u64, until: u64) -> Vec<Command> {
        let (now, deadline) = (self.at(at), self.at(until));
        self.state.on_arrive(host, &label("step"), now, deadline)
    }

    /// For each host, the number of its next launch, and whether it is away (-), waiting (w) or gone (x).
    fn phases(&self) -> String {
        let one = |host: &Host| {
            let phase = match host.phase {
                Phase::Away => '-',
                Phase::Waiting { .. } => 'w',
                Phase::Gone => 'x',
            };
            format!("{}{phase}", host.next)
        };
        self.state.hosts.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

fn given_up(host: usize, launch: u64, waited: u64, cause: Cause) -> Command {
    Command::Answer { host, verdict: Verdict::GivenUp { launch, waited: seconds(waited), cause } }
}

fn late(host: usize, launch: u64, ago: u64, cause: Cause) -> Command {
    let (ago, cause) = (Some(seconds(ago)), Some(cause));
    Command::Answer { host, verdict: Verdict::Late { launch, ago, cause } }
}

#[test]
fn the_last_arrival_launches() {
    let mut slice = Slice::new(3);
    assert_eq!(slice.arrive(2, 0, 10), []);
    assert_eq!(slice.phases(), "0- 0- 0w");
    assert_eq!(slice.arrive(0, 1, 10), []);
    assert_eq!(slice.arrive(1, 2, 10), [Command::Launch { launch: 0 }]);
    assert_eq!(slice.phases(), "1- 1- 1-");
    assert_eq!(slice.state.launch(), 1);
    // Timers that are left over change nothing.
    assert_eq!(slice.state.on_tick(slice.at(100)), []);
    assert_eq!(slice.state.launch(), 1);
}

#[test]
fn a_slice_of_one_host_launches_at_once() {
    let mut slice = Slice::new(1);
    assert_eq!(slice.arrive(0, 0, 0), [Command::Launch { launch: 0 }]);
    assert_eq!(slice.arrive(0, 0, 5), [Command::Launch { launch: 1 }]);
}

#[test]
fn the_first_deadline_gives_up_and_names_who_is_missing() {
    let mut slice = Slice::new(4);
    slice.arrive(0, 0, 10);
    slice.arrive(2, 3, 8);
    assert_eq!(slice.state.on_tick(slice.at(7)), []);
    let cause = Cause::Missing { missing: vec![missing(1), missing(3)], waited: seconds(8) };
    let expected = [given_up(0, 0, 8, cause.clone()), given_up(2, 0, 5, cause)];
    assert_eq!(slice.state.on_tick(slice.at(8)), expected);
    assert_eq!(slice.phases(), "1- 0- 1- 0-");
    assert_eq!(slice.state.launch(), 1);
    // VS-3: the deadline of host 0 finds nobody waiting.
    assert_eq!(slice.state.on_tick(slice.at(10)), []);
}

#[test]
fn a_deadline_in_the_past_is_answered_by_the_arrival() {
    let mut slice = Slice::new(2);
    let cause = Cause::Missing { missing: vec![missing(1)], waited: seconds(0) };
    assert_eq!(slice.arrive(0, 5, 5), [given_up(0, 0, 0, cause)]);
    assert_eq!(slice.phases(), "1- 0-");
}

#[test]
fn an_arrival_at_the_deadline_is_late() {
    let mut slice = Slice::new(2);
    slice.arrive(0, 0, 10);
    let cause = Cause::Missing { missing: vec![missing(1)], waited: seconds(10) };
    let expected = [given_up(0, 0, 10, cause.clone()), late(1, 0, 0, cause)];
    assert_eq!(slice.arrive(1, 10, 20), expected);
    assert_eq!(slice.phases(), "1- 1-");
}

#[test]
fn a_late_host_is_told_and_takes_part_in_the_next_launch() {
    let mut slice = Slice::new(2);
    slice.arrive(0, 0, 10);
    slice.state.on_tick(slice.at(10));
    let cause = Cause::Missing { missing: vec![missing(1)], waited: seconds(10) };
    assert_eq!(slice.arrive(1, 13, 99), [late(1, 0, 3, cause)]);
    assert_eq!(slice.phases(), "1- 1-");
    slice.arrive(1, 14, 99);
    assert_eq!(slice.arrive(0, 15, 99), [Command::Launch { launch: 1 }]);
}

#[test]
fn a_host_is_told_of_each_launch_it_missed() {
    let mut slice = Slice::new(2);
    for launch in 0..2 {
        slice.arrive(0, launch * 10, launch * 10 + 1);
        slice.state.on_tick(slice.at(launch * 10 + 1));
    }
    let cause = Cause::Missing { missing: vec![missing(1)], waited: seconds(1) };
    assert_eq!(slice.arrive(1, 12, 99), [late(1, 0, 11, cause.clone())]);
    assert_eq!(slice.arrive(1, 13, 99), [late(1, 1, 2, cause)]);
    assert_eq!(slice.arrive(1, 14, 99), []);
    assert_eq!(slice.phases(), "2- 2w");
}

#[test]
fn a_late_host_does_not_disturb_those_who_wait_for_the_next_launch() {
    let mut slice = Slice::new(2);
    slice.arrive(0, 0, 1);
    slice.state.on_tick(slice.at(1));
    slice.arrive(0, 2, 50);
    let other = slice.state.on_arrive(1, &label("other"), slice.at(3), slice.at(50));
    let cause = Cause::Missing { missing: vec![missing(1)], waited: seconds(1) };
    assert_eq!(other, [late(1, 0, 2, cause)]);
    assert_eq!(slice.arrive(1, 4, 50), [Command::Launch { launch: 1 }]);
}

#[test]
fn different_programs_end_the_wait_of_all_who_came() {
    let mut slice = Slice::new(3);
    slice.arrive(0, 0, 10);
    let commands = slice.state.on_arrive(2, &label("eval"), slice.at(1), slice.at(10));
    let programs = vec![(0, label("step")), (2, label("eval"))];
    let cause = Cause::Programs { programs };
    assert_eq!(commands, [given_up(0, 0, 1, cause.clone()), given_up(2, 0, 0, cause.clone())]);
    assert_eq!(slice.phases(), "1- 0- 1-");
    assert_eq!(slice.arrive(1, 2, 10), [late(1, 0, 1, cause)]);
}

#[test]
fn a_refused_arrival_does_not_count_and_is_told_to_the_others() {
    let mut slice = Slice::new(2);
    slice.state.on_refuse(1, "take argument 0: expected f32[4], got f32[5]");
    assert_eq!(slice.phases(), "0- 0-");
    slice.arrive(0, 0, 10);
    let refusal = Some("take argument 0: expected f32[4], got f32[5]".to_owned());
    let cause = Cause::Missing { missing: vec![MissingHost { host: 1, refusal }], waited: seconds(10) };
    assert_eq!(slice.state.on_tick(slice.at(10)), [given_up(0, 0, 10, cause)]);
    // The refusal belongs to launch 0.
    assert_eq!(slice.state.hosts[1].refusal, None);
}

#[test]
fn a_good_arrival_after_a_refused_one_counts() {
    let mut slice = Slice::new(2);
    slice.arrive(0, 0, 10);
    slice.state.on_refuse(1, "take arguments");
    assert_eq!(slice.arrive(1, 1, 10), [Command::Launch { launch: 0 }]);
    assert_eq!(slice.state.hosts[1].refusal, None);
}

#[test]
fn a_long_refusal_is_cut() {
    let mut slice = Slice::new(1);
    slice.state.on_refuse(0, &"ä".repeat(10_000));
    assert_eq!(slice.state.hosts[0].refusal.as_ref().unwrap().chars().count(), REFUSAL_CHARS_MAX);
}

#[test]
fn a_withdrawn_arrival_leaves_no_trace() {
    let mut slice = Slice::new(2);
    slice.arrive(0, 0, 10);
    slice.state.on_withdraw(0);
    assert_eq!(slice.phases(), "0- 0-");
    assert_eq!(slice.state.on_tick(slice.at(10)), []);
    assert_eq!(slice.arrive(1, 11, 20), []);
    assert_eq!(slice.arrive(0, 12, 20), [Command::Launch { launch: 0 }]);
    // Withdrawing what was answered changes nothing.
    slice.state.on_withdraw(0);
    assert_eq!(slice.phases(), "1- 1-");
}

#[test]
fn a_member_that_leaves_is_named_at_once() {
    let mut slice = Slice::new(3);
    slice.arrive(0, 0, 10);
    slice.arrive(1, 1, 10);
    let lost = || Cause::Lost { host: 2 };
    let expected = [given_up(0, 0, 3, lost()), given_up(1, 0, 2, lost())];
    assert_eq!(slice.state.on_leave(2, slice.at(3)), expected);
    assert_eq!(slice.phases(), "1- 1- 0x");
    // VS-8: later arrivals need not wait for their deadline.
    assert_eq!(slice.arrive(0, 4, 99), [given_up(0, 1, 0, lost())]);
    assert_eq!(slice.arrive(1, 5, 99), [late(1, 1, 1, lost())]);
}

#[test]
fn a_member_that_leaves_while_it_waits_does_not_answer_itself() {
    let mut slice = Slice::new(2);
    slice.arrive(0, 0, 10);
    assert_eq!(slice.state.on_leave(0, slice.at(1)), []);
    assert_eq!(slice.phases(), "0x 0-");
}

#[test]
fn a_new_member_has_missed_nothing() {
    let mut slice = Slice::new(2);
    assert_eq!(slice.state.on_leave(1, slice.at(0)), []);
    slice.arrive(0, 1, 9);
    slice.arrive(0, 2, 9);
    assert_eq!(slice.phases(), "2- 0x");
    assert_eq!(slice.state.on_join(1), Ok(()));
    assert_eq!(slice.phases(), "2- 2-");
    slice.arrive(0, 3, 9);
    assert_eq!(slice.arrive(1, 4, 9), [Command::Launch { launch: 2 }]);
}

#[test]
fn a_host_has_one_member() {
    let mut state = Rendezvous::new(1);
    assert_eq!(state.on_join(0), Ok(()));
    assert_eq!(state.on_join(0), Err(Taken));
    state.on_leave(0, Instant::now());
    assert_eq!(state.on_join(0), Ok(()));
}

#[test]
fn a_member_that_was_not_taken_yet_is_missing_and_not_gone() {
    let mut slice = Slice { state: Rendezvous::new(2), start: Instant::now() };
    slice.state.on_join(0).unwrap();
    assert_eq!(slice.arrive(0, 0, 10), []);
    slice.state.on_join(1).unwrap();
    assert_eq!(slice.arrive(1, 1, 10), [Command::Launch { launch: 0 }]);
}

#[test]
fn old_reasons_are_forgotten() {
    let mut slice = Slice::new(2);
    for launch in 0..=REASONS_MAX as u64 {
        slice.arrive(0, launch, launch);
    }
    assert_eq!(slice.state.given_up.len(), REASONS_MAX);
    let verdict = Verdict::Late { launch: 0, ago: None, cause: None };
    assert_eq!(slice.arrive(1, 1000, 2000), [Command::Answer { host: 1, verdict }]);
    assert!(matches!(
        slice.arrive(1, 1000, 2000)[..],
        [Command::Answer { host: 1, verdict: Verdict::Late { launch: 1, ago: Some(_), .. } }]
    ));
}

/// A small generator of numbers (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
/// generators").
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// What a history has seen, kept without looking into the state.
#[derive(Default)]
struct Witness {
    waiting: BTreeSet<usize>,
    ended: BTreeSet<u64>,
    launched: u64,
}

impl Witness {
    /// Takes note of commands and checks what they promise.
    fn perform(&mut self, commands: &[Command], hosts: usize) {
        for command in commands {
            match command {
                Command::Launch { launch } => {
                    assert_eq!(self.waiting.len(), hosts, "VS-1");
                    assert!(self.ended.insert(*launch), "VS-2");
                    self.waiting.clear();
                    self.launched += 1;
                }
                Command::Answer { host, verdict } => {
                    assert!(self.waiting.remove(host), "VS-3");
                    match verdict {
                        Verdict::GivenUp { launch, .. } => drop(self.ended.insert(*launch)),
                        Verdict::Late { launch, .. } => assert!(self.ended.contains(launch), "VS-5"),
                    }
                }
            }
        }
    }
}

/// One random history; the numbers of launches and of given up launches in it.
fn history(seed: u64) -> (u64, usize) {
    let mut random = SplitMix(seed);
    let hosts = 1 + random.below(4) as usize;
    let mut slice = Slice::new(hosts);
    let (mut witness, mut now) = (Witness::default(), 0);
    let mut members = vec![true; hosts];
    for _ in 0..200 {
        now += random.below(3);
        let host = random.below(hosts as u64) as usize;
        let commands = match random.below(12) {
            0 if members[host] => {
                witness.waiting.remove(&host);
                members[host] = false;
                slice.state.on_leave(host, slice.at(now))
            }
            1..=3 if !members[host] => {
                members[host] = true;
                slice.state.on_join(host).unwrap();
                Vec::new()
            }
            4 => {
                witness.waiting.remove(&host);
                slice.state.on_withdraw(host);
                Vec::new()
            }
            5 if members[host] && !witness.waiting.contains(&host) => {
                slice.state.on_refuse(host, "take argument 0");
                Vec::new()
            }
            6 => slice.state.on_tick(slice.at(now)),
            _ if members[host] && !witness.waiting.contains(&host) => {
                witness.waiting.insert(host);
                let name = if random.below(20) == 0 { "other" } else { "step" };
                let until = now + random.below(20);
                slice.state.on_arrive(host, &label(name), slice.at(now), slice.at(until))
            }
            _ => Vec::new(),
        };
        witness.perform(&commands, hosts);
        check_invariants(&slice, &witness, &members);
    }
    (witness.launched, witness.ended.len())
}

fn check_invariants(slice: &Slice, witness: &Witness, members: &[bool]) {
    let state = &slice.state;
    for (index, host) in state.hosts.iter().enumerate() {
        let waits = matches!(host.phase, Phase::Waiting { .. });
        assert_eq!(waits, witness.waiting.contains(&index), "VS-3, VS-7");
        assert!(host.next <= state.launch && (!waits || host.next == state.launch), "VS-4");
    }
    assert!(witness.waiting.is_empty() || members.iter().all(|member| *member), "VS-8");
    assert_eq!(witness.ended, (0..state.launch).collect(), "VS-2");
    assert!(state.programs().windows(2).all(|pair| pair[0].1 == pair[1].1), "VS-1");
    assert!(state.given_up.len() <= REASONS_MAX);
}

#[test]
fn random_histories_keep_the_invariants() {
    let (mut launched, mut ended) = (0, 0);
    for seed in 0..1_000 {
        let counts = std::panic::catch_unwind(|| history(seed));
        let (more, all) = counts.unwrap_or_else(|_| panic!("history({seed}) broke an invariant"));
        launched += more;
        ended += all;
    }
    // The histories are worth something: both ends are common in them.
    assert!(launched > 2_000 && ended as u64 - launched > 2_000, "{launched} of {ended}");
}
