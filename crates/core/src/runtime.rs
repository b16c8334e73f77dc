//! A runtime as the application owns it.
//!
//! [`Runtime::builder`] declares the hosts and how they run; [`RuntimeBuilder::start`] gives a [`Runtime`], which is
//! ended by [`Runtime::shutdown`] in good order, or by dropping it at once. A [`Handle`] is the same runtime without the duty
//! to end it: it is what actors get, and what may be cloned.
//!
//! Life: `starting -> running -> draining -> ended`. Draining begins with `shutdown`: nothing new starts, actors handle
//! what is in their mailboxes; at the deadline they are killed, then child processes, then connections and tasks.

use std::fmt;
use std::ops::Deref;

use tokio::time::{Instant, timeout_at};

use crate::host::LossCause;
use crate::limits;
use crate::node::Node;
use crate::registry::Registry;

mod builder;
mod error;
mod handle;
pub(crate) mod options;
pub(crate) mod processes;

pub use builder::RuntimeBuilder;
pub use error::{KillHostError, ShutdownError, StartError};
pub use handle::{Handle, HostEvents};

use processes::Children;

/// A running runtime. Dereferences to its [`Handle`], which has everything but the end.
pub struct Runtime {
    handle: Handle,
    children: Option<Children>,
}

impl Runtime {
    /// Declares a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }

    pub(crate) fn new(node: Node, children: Option<Children>) -> Self {
        Self { handle: Handle::of(node), children }
    }

    fn node(&self) -> &Node {
        self.handle.node()
    }

    /// Ends the runtime in good order, within the deadline of the builder.
    ///
    /// # Errors
    /// [`ShutdownError`] names what had to be killed because it had not ended by then. Everything has ended all the same.
    ///
    /// # Cancel safety
    /// Dropping the future ends the runtime at once.
    pub async fn shutdown(mut self) -> Result<(), ShutdownError> {
        let node = self.node().clone();
        let within = node.options().shutdown_deadline;
        let deadline = Instant::now() + within;
        node.refuse_new();
        // Child processes drain while this one does.
        let children = self.children.take();
        if let Some(children) = &children {
            children.drain();
        }
        let drained = timeout_at(deadline, node.actors().stop_all()).await.is_ok();
        let actors_killed = if drained { 0 } else { node.actors().len() };
        if !drained {
            // An actor whose handler never awaits cannot be killed; the process need not wait for it for ever.
            let _ = timeout_at(deadline + within, node.actors().kill_all()).await;
        }
        let hosts_killed = match children {
            Some(children) => children.ended(deadline).await,
            None => Vec::new(),
        };
        node.close(&LossCause::ShuttingDown);
        node.closed().await;
        if actors_killed == 0 && hosts_killed.is_empty() {
            Ok(())
        } else {
            Err(ShutdownError { within, actors_killed, hosts_killed })
        }
    }
}

impl Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // After `shutdown` there is nothing left for these to end.
        self.node().actors().condemn_all();
        drop(self.children.take());
        self.node().close(&LossCause::ShuttingDown);
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("node", &self.node().id()).finish_non_exhaustive()
    }
}

/// What the registry of a running runtime holds.
pub(crate) fn check_registry(registry: &Registry) -> Result<(), StartError> {
    let bytes: usize = registry.rows().iter().map(|row| row.name.len() + row.schema.len() + 16).sum();
    if bytes > limits::HANDSHAKE_BYTES_MAX / 2 {
        return Err(StartError::RegistryTooLarge { bytes, max: limits::HANDSHAKE_BYTES_MAX / 2 });
    }
    Ok(())
}
