//! The table of calls and the life of a peer, decision by decision.

use super::calls::{CallKind, Calls, Outcome};
use super::*;
use crate::codec;

fn done(index: u64) -> Outcome {
    Outcome::Done(codec::encode(&index).unwrap().into())
}

#[test]
fn a_call_gets_its_own_answer() {
    let mut calls = Calls::default();
    let (a, mut answer_a) = calls.begin().unwrap();
    let (b, mut answer_b) = calls.begin().unwrap();
    assert_ne!(a, b);
    assert_eq!(calls.finish(b, done(1)), None);
    assert!(answer_a.try_recv().is_err());
    assert!(matches!(answer_b.try_recv(), Ok(Outcome::Done(_))));
    assert_eq!(calls.finish(b, done(1)), None, "a second answer");
    assert_eq!(calls.finish(99, done(1)), None, "an answer to nothing");
    assert_eq!(calls.len(), 1);
}

#[test]
fn closing_ends_every_call_and_keeps_the_first_cause() {
    let mut calls = Calls::default();
    let (_, mut answer) = calls.begin().unwrap();
    calls.close(&LossCause::Left);
    calls.close(&LossCause::Unknown);
    assert!(matches!(answer.try_recv(), Err(tokio::sync::oneshot::error::TryRecvError::Closed)));
    assert!(calls.begin().is_none());
    assert_eq!(calls.cause(), LossCause::Left);
}

#[test]
fn an_abandoned_call_leaves_nothing_and_an_abandoned_spawn_its_actor() {
    let mut calls = Calls::default();
    let (plain, _) = calls.begin().unwrap();
    calls.abandon(plain, CallKind::Plain);
    assert_eq!(calls.len(), 0);
    let (spawn, _) = calls.begin().unwrap();
    calls.abandon(spawn, CallKind::Spawn);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls.finish(spawn, done(17)), Some(17));
    let (failed, _) = calls.begin().unwrap();
    calls.abandon(failed, CallKind::Spawn);
    assert_eq!(calls.finish(failed, Outcome::Failed(Failure::NotRegistered)), None);
    let (answered, _) = calls.begin().unwrap();
    calls.finish(answered, done(18));
    calls.abandon(answered, CallKind::Spawn);
    assert_eq!(calls.len(), 0, "the answer had come before");
}

#[test]
fn a_lost_peer_stays_lost() {
    let peer = Peer::new(NodeId::new(3));
    assert_eq!(peer.pair(), Pair::Apart);
    assert!(peer.lose(&LossCause::Left));
    assert!(!peer.lose(&LossCause::Unknown));
    assert_eq!(peer.pair(), Pair::Lost);
    assert!(peer.up().is_none());
}
