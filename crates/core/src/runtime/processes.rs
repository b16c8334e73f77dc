//! Hosts as child processes of the driver.
//!
//! Each child is this binary again (or the one named), told by its first argument that it is a worker. What it needs
//! to join (certificate, key, the driver's address) comes through its standard input, which then stays open: when it
//! closes, the child drains and ends, whether the driver closed it or died (`NL-4`).
//!
//! One task watches each child, from start to exit:
//!
//! ```text
//! Started --joined--> Up --exit or broken link--> Ended
//!    | exit, refusal, deadline                      ^
//!    +---------------------------------------------+
//! ```

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::StartError;
use super::options::ProcessOptions;
use crate::host::{HostSpec, LossCause};
use crate::id::NodeId;
use crate::node::Node;
use crate::node::net::{self, Net, NetEvent};
use crate::transport::identity::{Authority, IdentityError};
use crate::transport::quic::Endpoint;
use crate::worker::{self, Bootstrap};

/// How long a child whose connection broke may take to exit before it is killed.
const EXIT_AFTER_BREAK: Duration = Duration::from_secs(1);

/// One child process, as others see it.
struct ChildProcess {
    host: String,
    node: NodeId,
    kill: mpsc::Sender<()>,
    stdin: Mutex<Option<ChildStdin>>,
    ended: watch::Receiver<Option<LossCause>>,
}

/// The child processes of the driver, for whoever may kill one.
#[derive(Default)]
pub(crate) struct ChildProcesses {
    by_node: Mutex<BTreeMap<NodeId, Arc<ChildProcess>>>,
}

impl ChildProcesses {
    /// Sends SIGKILL; `false` when there is no such child.
    pub(crate) fn kill(&self, node: NodeId) -> bool {
        let children = self.by_node.lock().unwrap_or_else(PoisonError::into_inner);
        // A full channel says that it is being killed already.
        children.get(&node).map(|child| child.kill.try_send(())).is_some()
    }
}

/// The child processes of a runtime. Dropping it kills them.
pub(crate) struct Children {
    processes: Vec<Arc<ChildProcess>>,
    watchers: JoinSet<()>,
}

impl Children {
    /// Lets every child drain and end.
    pub(crate) fn drain(&self) {
        for child in &self.processes {
            drop(child.stdin.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    /// Waits until every child has ended; kills those that are left at the deadline, and names their hosts.
    pub(crate) async fn ended(mut self, deadline: Instant) -> Vec<String> {
        let mut killed = Vec::new();
        for child in &self.processes {
            let mut ended = child.ended.clone();
            // An error says that its watcher, and so the child, has ended.
            if timeout_at(deadline, ended.wait_for(Option::is_some)).await.is_err() {
                killed.push(child.host.clone());
                let _ = child.kill.try_send(());
            }
        }
        while self.watchers.join_next().await.is_some() {}
        killed
    }
}

/// Starts a child for each host and waits until all have joined.
pub(crate) async fn start(
    node: &Node,
    hosts: Vec<HostSpec>,
    options: ProcessOptions,
) -> Result<Children, StartError> {
    let network = |error: &dyn std::error::Error| StartError::Network(error.to_string());
    let authority = Authority::new().map_err(|error| network(&error))?;
    let identity = authority.issue(node.id()).map_err(|error| network(&error))?;
    let endpoint = Endpoint::bind(&identity, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .map_err(|error| network(&error))?;
    let net = Net::new(endpoint, Vec::new()).map_err(|error| network(&error))?;
    let address = net.address();
    let mut events = net.events();
    node.set_net(net);
    node.merge_hosts(Vec::new(), vec![(node.id(), address.to_string())]);
    let accepting = node.clone();
    node.task(async move { net::accept(accepting).await });

    let deadline = Instant::now() + options.start_deadline;
    let table = node.extensions().find_or_init(ChildProcesses::default);
    let mut children = Children { processes: Vec::with_capacity(hosts.len()), watchers: JoinSet::new() };
    for host in hosts {
        let bootstrap = bootstrap(node, &authority, address, host).map_err(|error| network(&error))?;
        let (child, watcher) = launch(node, bootstrap, &options).await?;
        table.by_node.lock().unwrap_or_else(PoisonError::into_inner).insert(child.node, Arc::clone(&child));
        children.processes.push(child);
        children.watchers.spawn(watcher);
    }
    all_joined(&children, &mut events, deadline, options.start_deadline).await?;
    let watching = node.clone();
    node.task(watch_links(watching, events, table));
    Ok(children)
}

fn bootstrap(
    node: &Node,
    authority: &Authority,
    driver_address: SocketAddr,
    host: HostSpec,
) -> Result<Bootstrap, IdentityError> {
    let child = NodeId::random();
    Ok(Bootstrap {
        runtime: node.runtime(),
        node: child,
        driver: node.id(),
        driver_address: driver_address.to_string(),
        identity: authority.issue(child)?,
        host,
        options: node.options().clone(),
    })
}

async fn launch(
    node: &Node,
    bootstrap: Bootstrap,
    options: &ProcessOptions,
) -> Result<(Arc<ChildProcess>, impl Future<Output = ()> + Send + use<>), StartError> {
    let (host, id) = (bootstrap.host.name.clone(), bootstrap.node);
    let executable = match &options.executable {
        Some(path) => Ok(path.clone()),
        None => std::env::current_exe(),
    };
    let failed = |executable: String| {
        let host = host.clone();
        move |source| StartError::Spawn { host, executable, source }
    };
    let executable = executable.map_err(failed("this program".into()))?;
    let failed = failed(executable.display().to_string());
    let mut command = Command::new(&executable);
    command
        .arg(worker::ARGUMENT)
        .arg(&host)
        .arg(options.worker_threads.to_string())
        .envs(options.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(failed)?;
    // Taken right after a piped spawn.
    let mut stdin = child.stdin.take().expect("standard input was piped");
    let written = match bootstrap.encode() {
        Ok(bytes) => stdin.write_all(&bytes).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = written {
        // A child that does not read has ended, or is no mobula program; its exit says more, if it comes.
        tracing::warn!(%host, %error, "the child process did not take its start message");
    }
    let (kill, killed) = mpsc::channel(1);
    let (end, ended) = watch::channel(None);
    let process = ChildProcess { host, node: id, kill, stdin: Mutex::new(Some(stdin)), ended };
    Ok((Arc::new(process), watch_child(node.clone(), id, child, killed, end)))
}

/// Waits for a child's exit, or for the order to kill it, and tells the node.
async fn watch_child(
    node: Node,
    id: NodeId,
    mut child: Child,
    mut killed: mpsc::Receiver<()>,
    ended: watch::Sender<Option<LossCause>>,
) {
    let pid = child.id().unwrap_or(0);
    let status = tokio::select! {
        status = child.wait() => status,
        // `None` when nobody can order it any more, which is no order.
        Some(()) = killed.recv() => {
            if let Err(error) = child.start_kill() {
                tracing::warn!(pid, %error, "a child process could not be killed");
            }
            child.wait().await
        }
    };
    let cause = match status {
        Ok(status) => exit_cause(pid, status),
        Err(error) => LossCause::Disconnected(error.to_string()),
    };
    node.lose_node(id, &cause);
    ended.send_replace(Some(cause));
}

fn exit_cause(pid: u32, status: ExitStatus) -> LossCause {
    match (status.code(), status.signal()) {
        (Some(status), _) => LossCause::Exited { pid, status },
        (None, signal) => LossCause::Killed { pid, signal: signal.unwrap_or(0) },
    }
}

/// Waits until every child has joined, or one cannot.
async fn all_joined(
    children: &Children,
    events: &mut mpsc::UnboundedReceiver<NetEvent>,
    deadline: Instant,
    within: Duration,
) -> Result<(), StartError> {
    let mut missing: BTreeMap<NodeId, Arc<ChildProcess>> =
        children.processes.iter().map(|child| (child.node, Arc::clone(child))).collect();
    while !missing.is_empty() {
        let exits = missing.values().map(|child| {
            let (host, mut ended) = (child.host.clone(), child.ended.clone());
            Box::pin(async move {
                let cause = ended.wait_for(Option::is_some).await.ok().and_then(|cause| cause.clone());
                StartError::ChildEnded { host, cause: cause.unwrap_or(LossCause::Unknown) }
            })
        });
        let event = tokio::select! {
            // A refusal comes before the exit that it leads to.
            biased;
            event = events.recv() => event,
            (error, _, _) = futures::future::select_all(exits) => return Err(refused(&missing, events).unwrap_or(error)),
            () = tokio::time::sleep_until(deadline) => {
                let names = missing.values().map(|child| child.host.clone()).collect();
                return Err(StartError::Timeout { missing: names, of: children.processes.len(), within });
            }
        };
        match event {
            Some(NetEvent::Joined(node)) => drop(missing.remove(&node)),
            Some(NetEvent::Refused(node, refusal)) => {
                if let Some(child) = missing.get(&node) {
                    return Err(StartError::Refused { host: child.host.clone(), refusal });
                }
            }
            Some(NetEvent::Broken(..)) => {}
            None => return Err(StartError::Network("the endpoint has closed".into())),
        }
    }
    Ok(())
}

/// A refusal that is still in the queue when an exit is seen.
fn refused(
    missing: &BTreeMap<NodeId, Arc<ChildProcess>>,
    events: &mut mpsc::UnboundedReceiver<NetEvent>,
) -> Option<StartError> {
    while let Ok(event) = events.try_recv() {
        if let NetEvent::Refused(node, refusal) = event
            && let Some(child) = missing.get(&node)
        {
            return Some(StartError::Refused { host: child.host.clone(), refusal });
        }
    }
    None
}

/// A child whose connection broke ends soon by itself, or is ended: half of it must not go on.
async fn watch_links(node: Node, mut events: mpsc::UnboundedReceiver<NetEvent>, table: Arc<ChildProcesses>) {
    while let Some(event) = events.recv().await {
        let NetEvent::Broken(id, cause) = event else { continue };
        let child = table.by_node.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        let Some(child) = child else {
            node.lose_node(id, &cause);
            continue;
        };
        let node = node.clone();
        tokio::spawn(async move {
            let mut ended = child.ended.clone();
            if timeout(EXIT_AFTER_BREAK, ended.wait_for(Option::is_some)).await.is_err() {
                node.lose_node(id, &cause);
                let _ = child.kill.try_send(());
            }
        });
    }
}
