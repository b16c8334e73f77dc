//! What a runtime is started with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits;

/// Options that every node of a runtime shares.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NodeOptions {
    pub(crate) ask_deadline: Duration,
    pub(crate) spawn_deadline: Duration,
    pub(crate) shutdown_deadline: Duration,
    pub(crate) mailbox_capacity: usize,
}

impl Default for NodeOptions {
    fn default() -> Self {
        Self {
            ask_deadline: limits::ASK_DEADLINE,
            spawn_deadline: limits::SPAWN_DEADLINE,
            shutdown_deadline: limits::SHUTDOWN_DEADLINE,
            mailbox_capacity: limits::MAILBOX_CAPACITY,
        }
    }
}

/// How child processes are started.
#[derive(Debug, Clone)]
pub(crate) struct ProcessOptions {
    /// The program; this binary where it is `None`.
    pub(crate) executable: Option<PathBuf>,
    /// Environment added to the driver's own.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Threads of each child's executor.
    pub(crate) worker_threads: usize,
    pub(crate) start_deadline: Duration,
}

impl Default for ProcessOptions {
    fn default() -> Self {
        Self {
            executable: None,
            environment: Vec::new(),
            worker_threads: 2,
            start_deadline: limits::START_DEADLINE,
        }
    }
}

/// How hosts run.
#[derive(Debug, Clone)]
pub(crate) enum Mode {
    /// In this process.
    Embedded,
    /// Each in a child process.
    Processes,
}
