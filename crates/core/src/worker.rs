//! A process that is a host: the other side of [`processes`](crate::runtime::processes).
//!
//! `#[mobula::main]` comes here before anything else of the program runs. A process that was started as a worker reads
//! its [`Bootstrap`], joins the driver, serves until its standard input closes or the driver is lost, drains, and exits;
//! the program's own `main` does not run in it.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::codec;
use crate::handshake::RuntimeId;
use crate::host::{HostSpec, LossCause};
use crate::id::NodeId;
use crate::limits;
use crate::node::Node;
use crate::node::net::{self, Net};
use crate::registry::Registry;
use crate::runtime::options::NodeOptions;
use crate::transport::identity::Identity;
use crate::transport::quic::Endpoint;

/// First argument of a worker. The host's name and the number of threads follow, for whoever looks at a list of processes.
pub(crate) const ARGUMENT: &str = "--mobula-worker";
/// Exit status of a worker that could not join.
const EXIT_NOT_JOINED: i32 = 69;
const BOOTSTRAP_BYTES_MAX: usize = 1 << 20;

/// What a child process must know to join.
#[derive(Serialize, Deserialize)]
pub(crate) struct Bootstrap {
    pub(crate) runtime: RuntimeId,
    pub(crate) node: NodeId,
    pub(crate) driver: NodeId,
    pub(crate) driver_address: String,
    pub(crate) identity: Identity,
    pub(crate) host: HostSpec,
    pub(crate) options: NodeOptions,
}

impl Bootstrap {
    /// Length and value.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::EncodeError> {
        let value = codec::encode(self)?;
        let mut out = u64::try_from(value.len()).unwrap_or(u64::MAX).to_le_bytes().to_vec();
        out.extend(value);
        Ok(out)
    }

    fn read(mut input: impl Read) -> Result<Self, WorkerError> {
        let mut prefix = [0; 8];
        input.read_exact(&mut prefix)?;
        let len = u64::from_le_bytes(prefix);
        if len > BOOTSTRAP_BYTES_MAX as u64 {
            return Err(WorkerError::Bootstrap(format!(
                "it claims {len} bytes, at most {BOOTSTRAP_BYTES_MAX} are taken"
            )));
        }
        let mut value = Vec::new();
        input.take(len).read_to_end(&mut value)?;
        codec::decode(&value).map_err(|error| WorkerError::Bootstrap(error.to_string()))
    }
}

/// Why a worker could not join.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error("read the start message: {0}")]
    Read(#[from] std::io::Error),
    #[error("read the start message: {0}")]
    Bootstrap(String),
    #[error("join the runtime: {0}")]
    Join(String),
}

/// Runs `main`, unless this process was started as a worker: then it serves as one and exits.
#[doc(hidden)]
pub fn enter<T>(main: impl FnOnce() -> T) -> T {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == ARGUMENT) {
        let threads = arguments.nth(1).and_then(|threads| threads.to_str()?.parse().ok()).unwrap_or(2);
        let status = match serve(threads) {
            Ok(()) => 0,
            Err(error) => {
                report(&error);
                EXIT_NOT_JOINED
            }
        };
        exit(status)
    }
    main()
}

/// Runs a program's own `main` on a new executor; `threads` is its number of threads, or 0 for the machine's.
///
/// # Panics
/// The executor cannot be made (no threads, no file descriptors), before anything of the program has run.
#[doc(hidden)]
pub fn block_on<T>(threads: usize, main: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    let executor =
        builder.enable_all().build().expect("a tokio runtime starts: threads and file descriptors are left");
    executor.block_on(main)
}

#[expect(
    clippy::disallowed_methods,
    reason = "every actor and task has ended; the thread that reads stdin may not have"
)]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}

/// A worker has no other place to say why it could not join.
fn report(error: &WorkerError) {
    eprintln!("mobula worker {}: failed to {error}", std::process::id());
}

fn serve(threads: usize) -> Result<(), WorkerError> {
    let bootstrap = Bootstrap::read(std::io::stdin().lock())?;
    let executor =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads.max(1)).enable_all().build()?;
    let served = executor.block_on(run(bootstrap));
    executor.shutdown_timeout(std::time::Duration::from_millis(100));
    served
}

async fn run(bootstrap: Bootstrap) -> Result<(), WorkerError> {
    let join = |error: &dyn std::error::Error| WorkerError::Join(error.to_string());
    let registry = Registry::build(&[], &[]).map_err(|error| join(&error))?;
    let shutdown_deadline = bootstrap.options.shutdown_deadline;
    let node =
        Node::new(bootstrap.node, bootstrap.runtime, Some(bootstrap.driver), bootstrap.options, registry);
    let endpoint = Endpoint::bind(&bootstrap.identity, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .map_err(|error| join(&error))?;
    node.set_net(Net::new(endpoint, vec![bootstrap.host])?);
    let accepting = node.clone();
    node.task(async move { net::accept(accepting).await });
    node.merge_hosts(Vec::new(), vec![(bootstrap.driver, bootstrap.driver_address)]);

    let orders = input_closed();
    let driver = node.peer(bootstrap.driver);
    if let Err(error) = driver.link(&node, Instant::now() + limits::CONNECT_DEADLINE).await {
        return Err(WorkerError::Join(format!("{error:?}")));
    }
    let driver_lost = driver_lost(&node);
    tokio::select! {
        _ = orders => {}
        () = driver_lost => {}
    }
    node.refuse_new();
    if timeout(shutdown_deadline, node.actors().stop_all()).await.is_err() {
        // What never awaits ends with the process.
        let _ = timeout(limits::KEEP_ALIVE, node.actors().kill_all()).await;
    }
    node.close(&LossCause::Left);
    node.closed().await;
    Ok(())
}

/// Ends when standard input does: the driver wants this process to end, or is dead.
fn input_closed() -> oneshot::Receiver<()> {
    let (sender, closed) = oneshot::channel();
    // A thread and not a task: a blocking read cannot be cancelled and must not hold up the executor's end.
    let reader = std::thread::Builder::new().name("mobula-stdin".into()).spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut byte = [0];
        while input.read(&mut byte).is_ok_and(|read| read > 0) {}
        let _ = sender.send(());
    });
    if let Err(error) = reader {
        // Without the thread the channel is closed, and the process ends at once, which is safe.
        tracing::error!(%error, "no thread for standard input");
    }
    closed
}

/// Ends when the connection to the driver does.
async fn driver_lost(node: &Node) {
    if let Some(link) = node.peer(node.driver()).up().cloned() {
        link.ended().await;
    }
}
