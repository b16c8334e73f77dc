//! Each change and the exact events it gives.

use super::*;
use crate::host::HostSpec;

const A: NodeId = NodeId::new(1);
const B: NodeId = NodeId::new(2);

fn host(name: &str, node: NodeId) -> HostInfo {
    HostInfo { spec: HostSpec::new(name), node, pid: 10, state: HostState::Alive }
}

fn lost(name: &str, node: NodeId) -> HostEvent {
    HostEvent::Lost { host: name.into(), node, cause: cause() }
}

fn cause() -> LossCause {
    LossCause::Killed { pid: 10, signal: 9 }
}

#[test]
fn joining_is_told_once() {
    let mut members = Membership::default();
    let joined = members.merge(vec![host("x", A), host("y", B)], vec![(A, "a:1".into())]);
    assert_eq!(joined, [HostEvent::Joined(host("x", A)), HostEvent::Joined(host("y", B))]);
    assert_eq!(members.merge(vec![host("x", A)], vec![]), []);
    assert_eq!(members.address(A), Some("a:1"));
    assert_eq!(members.address(B), None);
}

#[test]
fn a_lost_node_takes_its_hosts_once_and_for_good() {
    let mut members = Membership::default();
    members.merge(vec![host("x", A), host("y", A), host("z", B)], vec![]);
    assert_eq!(members.lose_node(A, &cause()), [lost("x", A), lost("y", A)]);
    assert_eq!(members.lose_node(A, &LossCause::Left), []);
    assert_eq!(members.lost(A), Some(&cause()));
    assert_eq!(members.merge(vec![host("x", A)], vec![]), [], "a lost host came back");
    assert_eq!(members.host("x").unwrap().state, HostState::Lost(cause()));
    assert_eq!(members.host("z").unwrap().state, HostState::Alive);
}

#[test]
fn one_virtual_host_may_go_alone() {
    let mut members = Membership::default();
    members.merge(vec![host("x", A), host("y", A)], vec![]);
    assert_eq!(members.lose_host("x", cause()), Some(lost("x", A)));
    assert_eq!(members.lose_host("x", cause()), None);
    assert_eq!(members.lose_host("nobody", cause()), None);
    assert_eq!(members.lose_node(A, &cause()), [lost("y", A)]);
}

#[test]
fn news_of_a_loss_may_come_before_news_of_the_host() {
    let mut members = Membership::default();
    assert_eq!(members.lose_node(A, &cause()), []);
    assert_eq!(members.merge(vec![host("x", A)], vec![]), [HostEvent::Joined(host("x", A)), lost("x", A)]);
}

#[test]
fn the_story_rebuilds_the_state() {
    let mut members = Membership::default();
    members.merge(vec![host("x", A), host("y", B)], vec![]);
    members.lose_node(B, &cause());
    assert_eq!(
        members.story(),
        [HostEvent::Joined(host("x", A)), HostEvent::Joined(host("y", B)), lost("y", B)]
    );
}
