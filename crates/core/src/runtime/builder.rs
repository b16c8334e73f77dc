//! Declaring a runtime.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::options::{Mode, NodeOptions, ProcessOptions};
use super::{Runtime, StartError, check_registry, processes};
use crate::actor::{RemoteActor, RemoteMessage};
use crate::handshake::RuntimeId;
use crate::host::{HostInfo, HostSpec, HostState};
use crate::id::NodeId;
use crate::limits;
use crate::node::{DRIVER_HOST, Node};
use crate::registry::{ActorEntry, MessageEntry, Registry, Wire};

/// A runtime that is being declared.
#[derive(Debug)]
#[must_use = "a declaration does nothing until `start`"]
pub struct RuntimeBuilder {
    hosts: Vec<HostSpec>,
    mode: Mode,
    node: NodeOptions,
    processes: ProcessOptions,
    actors: Vec<Row<ActorEntry>>,
    messages: Vec<Row<MessageEntry>>,
    fault: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// A registration, which has nothing to show.
struct Row<T>(T);

impl<T> std::fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("_")
    }
}

impl RuntimeBuilder {
    pub(super) fn new() -> Self {
        Self {
            hosts: Vec::new(),
            mode: Mode::Embedded,
            node: NodeOptions::default(),
            processes: ProcessOptions::default(),
            actors: Vec::new(),
            messages: Vec::new(),
            fault: None,
        }
    }

    /// Adds a host. Without any, an embedded runtime has one that is called `local`.
    pub fn host(mut self, host: HostSpec) -> Self {
        self.hosts.push(host);
        self
    }

    /// Hosts are names in this process. The default: no network, no files.
    pub fn embedded(mut self) -> Self {
        self.mode = Mode::Embedded;
        self
    }

    /// Each host is a child process of this one: the same binary, whose `main` carries `#[mobula::main]`.
    pub fn processes(mut self) -> Self {
        self.mode = Mode::Processes;
        self
    }

    /// Default deadline of `ask` and `tell`; one minute if not set.
    pub fn ask_deadline(mut self, within: Duration) -> Self {
        self.node.ask_deadline = within;
        self
    }

    /// Default deadline of a spawn; one minute if not set.
    pub fn spawn_deadline(mut self, within: Duration) -> Self {
        self.node.spawn_deadline = within;
        self
    }

    /// Time in which all hosts must have joined; 30 seconds if not set.
    pub fn start_deadline(mut self, within: Duration) -> Self {
        self.processes.start_deadline = within;
        self
    }

    /// Time in which a shutdown lets actors finish before it kills them; 10 seconds if not set.
    pub fn shutdown_deadline(mut self, within: Duration) -> Self {
        self.node.shutdown_deadline = within;
        self
    }

    /// Default capacity of a mailbox, in messages, at least 1; 256 if not set.
    pub fn mailbox_capacity(mut self, messages: usize) -> Self {
        self.node.mailbox_capacity = messages.max(1);
        self
    }

    /// The program that child processes run, where it is not this binary. It must register the same actors.
    pub fn worker_executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.processes.executable = Some(path.into());
        self
    }

    /// Adds a variable to the environment of child processes.
    pub fn worker_environment(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.processes.environment.push((name.into(), value.into()));
        self
    }

    /// Threads of each child's executor, at least 1; 2 if not set.
    pub fn worker_threads(mut self, threads: usize) -> Self {
        self.processes.worker_threads = threads.max(1);
        self
    }

    /// Registers an actor type by hand: a generic one, or one of a crate that is not linked by name. Child processes
    /// register only what `#[remote]` finds, so by hand is for embedded runtimes and for programs of their own.
    pub fn register_actor<A: RemoteActor>(mut self) -> Self {
        self.actors.push(Row(ActorEntry::of::<A>()));
        self
    }

    /// Registers a message by hand; see [`register_actor`](Self::register_actor).
    pub fn register_message<A: RemoteMessage<M>, M: Wire>(mut self) -> Self {
        self.messages.push(Row(MessageEntry::of::<A, M>()));
        self
    }

    /// Records that a declaration is wrong, for layers that extend the builder: `start` will fail with the first one.
    pub fn invalid(mut self, fault: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.fault.get_or_insert_with(|| fault.into());
        self
    }

    /// The hosts that were declared so far.
    pub fn declared_hosts(&self) -> &[HostSpec] {
        &self.hosts
    }

    /// Starts the runtime and waits until every host has joined.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    ///
    /// # Cancel safety
    /// Dropping the future ends what was started.
    pub async fn start(self) -> Result<Runtime, StartError> {
        if let Some(fault) = self.fault {
            return Err(StartError::Declaration(fault));
        }
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StartError::NoExecutor);
        }
        let mut hosts = self.hosts;
        if hosts.is_empty() && matches!(self.mode, Mode::Embedded) {
            hosts.push(HostSpec::new("local"));
        }
        check_hosts(&hosts)?;
        let actors: Vec<_> = self.actors.into_iter().map(|row| row.0).collect();
        let messages: Vec<_> = self.messages.into_iter().map(|row| row.0).collect();
        let registry = Registry::build(&actors, &messages)?;
        check_registry(&registry)?;
        let node = Node::new(NodeId::random(), RuntimeId::random(), None, self.node, registry);
        match self.mode {
            Mode::Embedded => {
                let (id, pid) = (node.id(), std::process::id());
                let info = |spec| HostInfo { spec, node: id, pid, state: HostState::Alive };
                node.merge_hosts(hosts.into_iter().map(info).collect(), Vec::new());
                Ok(Runtime::new(node, None))
            }
            Mode::Processes => {
                // Ends what was started, should the future be dropped or fail.
                let mut runtime = Runtime::new(node.clone(), None);
                runtime.children = Some(processes::start(&node, hosts, self.processes).await?);
                Ok(runtime)
            }
        }
    }
}

fn check_hosts(hosts: &[HostSpec]) -> Result<(), StartError> {
    if hosts.len() > limits::HOSTS_MAX {
        return Err(StartError::TooManyHosts { hosts: hosts.len() });
    }
    let mut names = BTreeSet::from([DRIVER_HOST]);
    for host in hosts {
        if let Some(fault) = host.fault() {
            return Err(StartError::Declaration(fault.into()));
        }
        if !names.insert(&host.name) {
            return Err(StartError::DuplicateHost { name: host.name.clone() });
        }
    }
    Ok(())
}
