//! Child processes over QUIC: the same promises, and what only processes can lose.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mobula::{AskError, Death, HostState, LossCause, Runtime, SpawnError, StartError, TellError};
use mobula_tests::actors::{Add, AddAt, Busy, Echo, Fail, Note, Panic, Probe, Seen, Start, Where};

use super::processes;

/// Whether a process is there and no zombie.
fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actors_live_in_processes_of_their_own() {
    let runtime = processes(&["a", "b"]).start().await.unwrap();
    let a = runtime.spawn_on::<Probe>("a", Start::At(40)).await.unwrap();
    let b = runtime.spawn_on::<Probe>("b", Start::At(0)).await.unwrap();
    assert_eq!(a.ask(Add(2)).await.unwrap(), 42);
    let (at_a, at_b) = (a.ask(Where).await.unwrap(), b.ask(Where).await.unwrap());
    assert_eq!((at_a.0.as_str(), at_b.0.as_str()), ("a", "b"));
    let pids = BTreeSet::from([at_a.1, at_b.1, std::process::id()]);
    assert_eq!(pids.len(), 3, "three processes: {pids:?}");
    assert_eq!(runtime.host("a").unwrap().pid, at_a.1);
    // A reference inside a message, to an actor of a third process.
    assert_eq!(a.ask(AddAt(b.clone(), 5)).await.unwrap(), 5);
    // And to one of the process that receives it, where it becomes a local one.
    let c = runtime.spawn_on::<Probe>("a", Start::At(100)).await.unwrap();
    assert_eq!(a.ask(AddAt(c, 5)).await.unwrap(), 105);
    assert!(matches!(a.ask(Fail("no".into())).await, Err(AskError::Handler(text)) if text == "no"));
    let bytes: Vec<u8> = (0..1_000_000u32).map(|i| i as u8).collect();
    assert_eq!(a.ask(Echo(bytes.clone())).await.unwrap(), bytes);
    runtime.shutdown().await.unwrap();
    for pid in [at_a.1, at_b.1] {
        assert!(!lives(pid), "process {pid} is left");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn order_and_full_mailboxes_across_processes() {
    let runtime = processes(&["a"]).mailbox_capacity(2).start().await.unwrap();
    let probe = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap();
    // While the actor is busy more tells arrive than the mailbox holds: they wait in order (MB-2).
    let busy = tokio::spawn({
        let probe = probe.clone();
        async move { probe.ask(Busy(200)).await }
    });
    let tells = (0..50).map(|n| {
        let probe = probe.clone();
        async move { probe.tell(Note(n)).await }
    });
    // `join_all` polls them in order, so they are sent in order (OR-1).
    for told in futures::future::join_all(tells).await {
        told.unwrap();
    }
    busy.await.unwrap().unwrap();
    assert_eq!(probe.ask(Seen).await.unwrap(), (0..50).collect::<Vec<_>>());
    runtime.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_answered_with_mailbox_full() {
    let runtime = processes(&["a"]).mailbox_capacity(1).start().await.unwrap();
    let probe = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap();
    // In the mailbox before anything else, and then handled for ever.
    probe.tell(Busy(u64::MAX)).await.unwrap();
    let flood = mobula::limits::BACKLOG_MESSAGES_MAX as u64 + 10;
    let tells = (0..flood).map(|n| {
        let probe = probe.clone();
        async move { probe.tell_within(Duration::from_secs(3), Note(n)).await }
    });
    let results = futures::future::join_all(tells).await;
    let full = results.iter().filter(|told| matches!(told, Err(TellError::MailboxFull { .. }))).count();
    let late = results.iter().filter(|told| matches!(told, Err(TellError::Timeout { .. }))).count();
    assert!(full > 0 && full + late + 3 >= flood as usize, "{full} full, {late} late");
    probe.kill().await.unwrap();
    let died = probe.ask(Add(1)).await.unwrap_err();
    assert!(matches!(died, AskError::ActorDied { death: Death::Killed, .. }), "{died:?}");
    runtime.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_ends_every_ask_to_it_promptly() {
    let runtime = processes(&["a", "b"]).start().await.unwrap();
    let a = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap();
    let b = runtime.spawn_on::<Probe>("b", Start::At(0)).await.unwrap();
    assert_eq!(b.ask(AddAt(a.clone(), 0)).await.unwrap(), 0);
    // From the driver, and from another child.
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let a = a.clone();
            tokio::spawn(async move { a.ask(Busy(u64::MAX)).await })
        })
        .collect();
    let from_b = tokio::spawn({
        let (a, b) = (a.clone(), b.clone());
        async move { b.ask(AddAt(a, 1)).await }
    });
    // A second message to `b` waits behind the ask to `a`: when `a` is lost, both come back.
    let behind = tokio::spawn({
        let b = b.clone();
        async move { b.ask(Add(1)).await }
    });
    let started = Instant::now();
    runtime.kill_host("a").unwrap();
    for asked in waiting {
        let lost = asked.await.unwrap().unwrap_err();
        let AskError::NodeLost { host, cause, maybe_handled, .. } = &lost else { panic!("{lost:?}") };
        assert_eq!(host.as_deref(), Some("a"));
        assert!(matches!(cause, LossCause::Killed { signal: 9, .. }), "{cause}");
        assert!(maybe_handled);
    }
    let text = from_b.await.unwrap().unwrap_err().to_string();
    assert!(text.contains("signal 9"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(1), "it took {:?}", started.elapsed());
    // Later ones fail at once, with the message given back.
    let later = a.ask(Add(1)).await.unwrap_err();
    assert_eq!(later.into_message(), Some(Add(1)));
    let spawn = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap_err();
    assert!(matches!(spawn, SpawnError::HostLost { .. }), "{spawn}");
    assert!(matches!(runtime.host("a").unwrap().state, HostState::Lost(LossCause::Killed { .. })));
    assert_eq!(behind.await.unwrap().unwrap(), 1, "the other process was touched");
    runtime.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn death_and_failed_starts_are_told_across_processes() {
    let runtime = processes(&["a"]).start().await.unwrap();
    let probe = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap();
    let died = probe.ask(Panic("boom".into())).await.unwrap_err();
    assert!(
        matches!(&died, AskError::ActorDied { death: Death::Panicked(text), .. } if text == "boom"),
        "{died:?}"
    );
    let later = probe.ask(Add(1)).await.unwrap_err();
    assert!(matches!(&later, AskError::ActorDied { death: Death::Panicked(_), .. }), "{later:?}");
    assert_eq!(later.into_message(), Some(Add(1)));
    let failed = runtime.spawn_on::<Probe>("a", Start::Fail("no chips".into())).await.unwrap_err();
    assert!(matches!(&failed, SpawnError::Start { reason, .. } if reason.contains("no chips")), "{failed}");
    let options = mobula::actor::SpawnOptions::new().host("a").deadline(Duration::from_millis(200));
    let hung = runtime.spawn_with::<Probe>(Start::Hang, options).await.unwrap_err();
    assert!(matches!(hung, SpawnError::Timeout { .. }), "{hung}");
    runtime.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_build_is_refused_and_the_difference_named() {
    let refused = Runtime::builder()
        .processes()
        .host(mobula::HostSpec::new("a"))
        .worker_executable(env!("CARGO_BIN_EXE_other_worker"))
        .start()
        .await
        .unwrap_err();
    let text = refused.to_string();
    assert!(matches!(refused, StartError::Refused { .. }), "{text}");
    assert!(text.contains("mobula-tests::Extra/Unheard") && text.contains("only the other side"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_no_worker_is_named() {
    let started = Instant::now();
    let missing = Runtime::builder()
        .processes()
        .host(mobula::HostSpec::new("a"))
        .worker_executable("no/such/program")
        .start()
        .await
        .unwrap_err();
    assert!(matches!(&missing, StartError::Spawn { host, .. } if host == "a"), "{missing}");
    let ended = Runtime::builder()
        .processes()
        .host(mobula::HostSpec::new("a"))
        .worker_executable("/bin/false")
        .start()
        .await
        .unwrap_err();
    assert!(
        matches!(&ended, StartError::ChildEnded { host, cause: LossCause::Exited { status: 1, .. } } if host == "a"),
        "{ended}"
    );
    let late = Runtime::builder()
        .processes()
        .host(mobula::HostSpec::new("a"))
        .worker_executable("/bin/cat")
        .start_deadline(Duration::from_millis(300))
        .start()
        .await
        .unwrap_err();
    // `cat` refuses our argument and exits; a program that waits instead runs into the deadline.
    assert!(matches!(late, StartError::ChildEnded { .. } | StartError::Timeout { .. }), "{late}");
    assert!(started.elapsed() < Duration::from_secs(5));
}
