//! One process: the same promises without a network.

use std::time::Duration;

use mobula::{AskError, Death, HostEvent, HostSpec, LossCause, Runtime, SpawnError, StartError, TellError};
use mobula_tests::actors::{Add, AddAt, Busy, Fail, Note, Panic, Probe, Seen, Start, Where};

#[tokio::test]
async fn an_actor_answers_fails_and_dies_with_its_panic() {
    let runtime = Runtime::builder().start().await.unwrap();
    let probe = runtime.spawn::<Probe>(Start::At(40)).await.unwrap();
    assert_eq!(probe.ask(Add(2)).await.unwrap(), 42);
    assert!(matches!(probe.ask(Fail("no".into())).await, Err(AskError::Handler(text)) if text == "no"));
    let died = probe.ask(Panic("boom".into())).await.unwrap_err();
    assert!(
        matches!(&died, AskError::ActorDied { death: Death::Panicked(text), message: None, .. } if text == "boom"),
        "{died:?}"
    );
    // Later sends know it too, and give the message back (LD-3, DE-4).
    let later = probe.ask(Add(7)).await.unwrap_err();
    assert!(matches!(&later, AskError::ActorDied { death: Death::Panicked(_), .. }), "{later:?}");
    assert_eq!(later.into_message(), Some(Add(7)));
    assert!(matches!(probe.tell(Add(1)).await, Err(TellError::ActorDied { message: Add(1), .. })));
    runtime.shutdown().await.unwrap();
}

#[tokio::test]
async fn messages_of_one_sender_keep_their_order() {
    let runtime = Runtime::builder().mailbox_capacity(4).start().await.unwrap();
    let probe = runtime.spawn::<Probe>(Start::At(0)).await.unwrap();
    for n in 0..100 {
        probe.tell(Note(n)).await.unwrap();
    }
    assert_eq!(probe.ask(Seen).await.unwrap(), (0..100).collect::<Vec<_>>());
    runtime.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn every_wait_has_a_deadline() {
    let runtime =
        Runtime::builder().ask_deadline(Duration::from_secs(3)).mailbox_capacity(1).start().await.unwrap();
    let probe = runtime.spawn::<Probe>(Start::At(0)).await.unwrap();
    let within = Duration::from_secs(3);
    let late = probe.ask(Busy(u64::MAX)).await.unwrap_err();
    assert!(matches!(late, AskError::Timeout { within: w, .. } if w == within), "{late:?}");
    // The handler still runs, so the mailbox fills, and a tell waits for room until its deadline.
    probe.tell(Busy(0)).await.unwrap();
    let full = probe.tell_within(Duration::from_secs(1), Busy(1)).await.unwrap_err();
    assert!(matches!(full, TellError::Timeout { message: Busy(1), .. }), "{full:?}");
    let hung = runtime
        .spawn_with::<Probe>(Start::Hang, mobula::actor::SpawnOptions::new().deadline(Duration::from_secs(2)))
        .await
        .unwrap_err();
    assert!(matches!(hung, SpawnError::Timeout { .. }), "{hung}");
    probe.kill().await.unwrap();
    assert_eq!(runtime.actor_count(), 0);
    runtime.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_failed_start_says_why_and_leaves_nothing() {
    let runtime = Runtime::builder().start().await.unwrap();
    for (start, reason) in
        [(Start::Fail("no chips".into()), "no chips"), (Start::Panic("ouch".into()), "ouch")]
    {
        let failed = runtime.spawn::<Probe>(start).await.unwrap_err();
        assert!(matches!(&failed, SpawnError::Start { reason: r, .. } if r.contains(reason)), "{failed}");
    }
    let nowhere = runtime.spawn_on::<Probe>("nowhere", Start::At(0)).await.unwrap_err();
    assert!(matches!(&nowhere, SpawnError::NoSuchHost { known, .. } if known.contains("local")), "{nowhere}");
    assert_eq!(runtime.actor_count(), 0);
    runtime.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_virtual_host_can_be_lost() {
    let runtime = Runtime::builder().host(HostSpec::new("a")).host(HostSpec::new("b")).start().await.unwrap();
    let mut events = runtime.host_events();
    let on_a = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap();
    let on_b = runtime.spawn_on::<Probe>("b", Start::At(0)).await.unwrap();
    assert_eq!(on_a.ask(Where).await.unwrap().0, "a");
    runtime.kill_host("a").unwrap();
    let lost = on_a.ask(Add(1)).await.unwrap_err();
    assert!(
        matches!(&lost, AskError::NodeLost { host: Some(host), cause: LossCause::KilledOnPurpose, .. } if host == "a"),
        "{lost:?}"
    );
    assert_eq!(on_b.ask(Add(1)).await.unwrap(), 1, "the other host was touched");
    let again = runtime.spawn_on::<Probe>("a", Start::At(0)).await.unwrap_err();
    assert!(matches!(again, SpawnError::HostLost { .. }), "{again}");
    let names =
        [events.next().await, events.next().await, events.next().await].map(|event| match event.unwrap() {
            HostEvent::Joined(info) => format!("joined {}", info.spec.name),
            HostEvent::Lost { host, .. } => format!("lost {host}"),
            other => format!("{other:?}"),
        });
    assert_eq!(names, ["joined a", "joined b", "lost a"]);
    runtime.shutdown().await.unwrap();
}

#[tokio::test]
async fn references_travel_and_stop_is_after_the_mailbox() {
    let runtime = Runtime::builder().start().await.unwrap();
    let one = runtime.spawn::<Probe>(Start::At(0)).await.unwrap();
    let two = runtime.spawn::<Probe>(Start::At(10)).await.unwrap();
    assert_eq!(one.ask(AddAt(two.clone(), 5)).await.unwrap(), 15);
    let (stopped, asked) = tokio::join!(
        async {
            tokio::task::yield_now().await;
            two.stop().await
        },
        two.ask(Add(1))
    );
    stopped.unwrap();
    assert_eq!(asked.unwrap(), 16, "what was in the mailbox is handled before the stop (LD-2)");
    let died = two.ask(Add(1)).await.unwrap_err();
    assert!(
        matches!(died, AskError::ActorDied { death: Death::Stopped, message: Some(Add(1)), .. }),
        "{died:?}"
    );
    runtime.shutdown().await.unwrap();
}

#[tokio::test]
async fn wrong_declarations_are_refused_by_name() {
    let twice =
        Runtime::builder().host(HostSpec::new("a")).host(HostSpec::new("a")).start().await.unwrap_err();
    assert!(matches!(twice, StartError::DuplicateHost { name } if name == "a"));
    let driver = Runtime::builder().host(HostSpec::new("driver")).start().await.unwrap_err();
    assert!(matches!(driver, StartError::DuplicateHost { .. }));
    for name in [String::new(), "x".repeat(10_000)] {
        let bad = Runtime::builder().host(HostSpec::new(name)).start().await.unwrap_err();
        assert!(bad.to_string().len() < 200, "{bad}");
        assert!(matches!(bad, StartError::Declaration(_)));
    }
    let fault = Runtime::builder().invalid("first").invalid("second").start().await.unwrap_err();
    assert_eq!(fault.to_string(), "start the runtime: first");
}

#[tokio::test]
async fn dropping_a_runtime_ends_its_actors() {
    let runtime = Runtime::builder().start().await.unwrap();
    let handle = (*runtime).clone();
    let probe = runtime.spawn::<Probe>(Start::At(0)).await.unwrap();
    drop(runtime);
    assert!(probe.ask(Add(1)).await.is_err());
    let refused = handle.spawn::<Probe>(Start::At(0)).await.unwrap_err();
    assert!(matches!(refused, SpawnError::ShuttingDown { .. }), "{refused}");
}
