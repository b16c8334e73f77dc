//! Each check of the acceptor, and the bytes.

use super::exchange::{HandshakeError, encode, parse};
use super::*;
use crate::wire;

const HERE: NodeId = NodeId::new(5);
const RUNTIME: RuntimeId = RuntimeId(1, 2);

fn row(name: &str) -> RegistryRow {
    RegistryRow { name: name.into(), schema: "u64 -> u64 or unit".into() }
}

fn hello() -> Hello {
    Hello {
        runtime: RUNTIME,
        node: NodeId::new(7),
        to: HERE,
        listens_on: "127.0.0.1:4000".into(),
        pid: 1,
        hosts: vec![HostSpec::new("a")],
        registry: vec![row("x::A"), row("x::A/Add")],
    }
}

fn judge(hello: &Hello, certified: bool) -> Result<(), Refusal> {
    let registry = [row("x::A"), row("x::A/Add")];
    Acceptor { runtime: RUNTIME, node: HERE, registry: &registry, shutting_down: false }
        .judge(hello, certified)
}

#[test]
fn a_member_with_the_same_build_is_welcome() {
    assert_eq!(judge(&hello(), true), Ok(()));
}

#[test]
fn each_check_has_its_refusal() {
    assert_eq!(judge(&Hello { runtime: RuntimeId(9, 9), ..hello() }, true), Err(Refusal::OtherRuntime));
    let other = NodeId::new(6);
    assert_eq!(
        judge(&Hello { to: other, ..hello() }, true),
        Err(Refusal::OtherNode { wanted: other, here: HERE })
    );
    assert_eq!(judge(&hello(), false), Err(Refusal::Identity { claimed: NodeId::new(7) }));
    assert_eq!(judge(&Hello { node: HERE, ..hello() }, true), Err(Refusal::Identity { claimed: HERE }));
    let refusal =
        judge(&Hello { registry: vec![row("x::A"), row("x::A/Sub")], ..hello() }, true).unwrap_err();
    let text = refusal.to_string();
    assert!(text.contains("only this side registers x::A/Add") && text.contains("x::A/Sub"), "{text}");
    let closing = Acceptor { runtime: RUNTIME, node: HERE, registry: &[], shutting_down: true };
    assert_eq!(closing.judge(&hello(), true), Err(Refusal::ShuttingDown));
}

#[test]
fn of_two_that_dial_each_other_one_connection_stays() {
    let (low, high) = (NodeId::new(1), NodeId::new(2));
    // Both are dialing, and each sees the other's dial arrive.
    assert_eq!(judge_pair(high, low, Pair::Dialing), Ok(()));
    assert_eq!(judge_pair(low, high, Pair::Dialing), Err(Refusal::Duplicate));
    for (pair, expected) in [
        (Pair::Apart, Ok(())),
        (Pair::Connected, Err(Refusal::Duplicate)),
        (Pair::Lost, Err(Refusal::DeclaredLost)),
    ] {
        assert_eq!(judge_pair(low, high, pair), expected);
        assert_eq!(judge_pair(high, low, pair), expected);
    }
}

#[test]
fn messages_survive_their_bytes() {
    let bytes = encode(&hello()).unwrap();
    assert_eq!(parse::<Hello>(&bytes[wire::PREFIX_BYTES..]).unwrap(), hello());
}

#[test]
fn another_version_is_named_and_garbage_refused() {
    let mut bytes = encode(&hello()).unwrap();
    bytes[wire::PREFIX_BYTES + 4] = 99;
    let refused = parse::<Hello>(&bytes[wire::PREFIX_BYTES..]).unwrap_err();
    let version = Refusal::Version { expected: wire::VERSION, got: 99 };
    assert!(matches!(refused, HandshakeError::RefusedHere(refusal) if refusal == version));
    for garbage in [&b""[..], b"MBL", b"HTTP/1.1 400", b"MBLA"] {
        assert!(matches!(parse::<Hello>(garbage), Err(HandshakeError::NotMobula)));
    }
    let cut = &bytes[wire::PREFIX_BYTES..bytes.len() - 1];
    let mut cut = cut.to_vec();
    cut[4] = wire::VERSION;
    let refused = parse::<Hello>(&cut).unwrap_err();
    assert!(matches!(refused, HandshakeError::RefusedHere(Refusal::Malformed(_))));
}

#[test]
fn a_refusal_reads_from_the_other_side_too() {
    let version = Refusal::Version { expected: 1, got: 2 };
    assert_eq!(version.flipped(), Refusal::Version { expected: 2, got: 1 });
}
