//! Which hosts and nodes there are. Pure: changes in, events out.
//!
//! A host is `alive` until it, or its node, is lost; `lost` is final (`NL-2`). The driver's copy is the authority; the
//! others merge what it tells them, so every copy sees the same changes, each host's in the same order.

use std::collections::BTreeMap;

use crate::host::{HostEvent, HostInfo, HostState, LossCause};
use crate::id::NodeId;

/// The hosts and nodes that are known.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    hosts: BTreeMap<String, HostInfo>,
    addresses: BTreeMap<NodeId, String>,
    lost: BTreeMap<NodeId, LossCause>,
}

impl Membership {
    /// Hosts that joined or changed; gives what is new in it.
    pub(crate) fn merge(&mut self, hosts: Vec<HostInfo>, addresses: Vec<(NodeId, String)>) -> Vec<HostEvent> {
        self.addresses.extend(addresses);
        let mut events = Vec::new();
        for host in hosts {
            let name = host.spec.name.clone();
            let known = self.hosts.get(&name).map(|known| known.state.clone());
            match (known, &host.state) {
                (None, state) => {
                    let lost = state.clone();
                    let joined = HostInfo { state: HostState::Alive, ..host };
                    events.push(HostEvent::Joined(joined.clone()));
                    self.hosts.insert(name.clone(), joined);
                    // News of a node's loss may have come before news of its hosts.
                    let node_lost = self.hosts.get(&name).and_then(|host| self.lost.get(&host.node)).cloned();
                    match (lost, node_lost) {
                        (HostState::Lost(cause), _) | (HostState::Alive, Some(cause)) => {
                            events.extend(self.lose_host(&name, cause));
                        }
                        (HostState::Alive, None) => {}
                    }
                }
                (Some(HostState::Alive), HostState::Lost(cause)) => {
                    events.extend(self.lose_host(&name, cause.clone()));
                }
                (Some(_), _) => {}
            }
        }
        events
    }

    /// A node is gone, and with it every host that it acted for.
    pub(crate) fn lose_node(&mut self, node: NodeId, cause: &LossCause) -> Vec<HostEvent> {
        if self.lost.contains_key(&node) {
            return Vec::new();
        }
        self.lost.insert(node, cause.clone());
        let names: Vec<String> =
            self.hosts.values().filter(|host| host.node == node).map(|host| host.spec.name.clone()).collect();
        names.into_iter().filter_map(|name| self.lose_host(&name, cause.clone())).collect()
    }

    /// One host is gone; `None` when it is unknown or was lost before.
    pub(crate) fn lose_host(&mut self, name: &str, cause: LossCause) -> Option<HostEvent> {
        let host = self.hosts.get_mut(name).filter(|host| host.state == HostState::Alive)?;
        host.state = HostState::Lost(cause.clone());
        Some(HostEvent::Lost { host: name.to_owned(), node: host.node, cause })
    }

    pub(crate) fn host(&self, name: &str) -> Option<&HostInfo> {
        self.hosts.get(name)
    }

    pub(crate) fn hosts(&self) -> impl Iterator<Item = &HostInfo> {
        self.hosts.values()
    }

    /// The first host of a node, for error texts.
    pub(crate) fn host_of(&self, node: NodeId) -> Option<&HostInfo> {
        self.hosts.values().find(|host| host.node == node)
    }

    pub(crate) fn address(&self, node: NodeId) -> Option<&str> {
        self.addresses.get(&node).map(String::as_str)
    }

    pub(crate) fn addresses(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.addresses.iter().map(|(node, address)| (*node, address.as_str()))
    }

    pub(crate) fn lost(&self, node: NodeId) -> Option<&LossCause> {
        self.lost.get(&node)
    }

    /// What a new subscriber must be told to know the present state.
    pub(crate) fn story(&self) -> Vec<HostEvent> {
        let tell = |host: &HostInfo| {
            let joined = HostEvent::Joined(HostInfo { state: HostState::Alive, ..host.clone() });
            let lost = match &host.state {
                HostState::Alive => None,
                HostState::Lost(cause) => {
                    let (host, node) = (host.spec.name.clone(), host.node);
                    Some(HostEvent::Lost { host, node, cause: cause.clone() })
                }
            };
            [Some(joined), lost].into_iter().flatten()
        };
        self.hosts.values().flat_map(tell).collect()
    }
}

#[cfg(test)]
mod tests;
