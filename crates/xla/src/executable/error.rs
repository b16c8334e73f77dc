//! Why a program was not compiled or not launched.

use std::fmt;

use crate::array::{Array, ArrayError};
use crate::dtype::TensorType;
use crate::mesh::MeshShape;
use crate::pjrt::PjrtError;
use crate::program::Position;
use crate::sharding::{ShardingError, TilesError};

/// Why a program was not compiled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The program names another mesh than the one it is to run on.
    #[error("compile a program for a mesh of another shape: the program expects {expected}, got {got}")]
    Mesh {
        /// The program's mesh.
        expected: MeshShape,
        /// The mesh that was given.
        got: MeshShape,
    },
    /// The program is partitioned for another number of devices.
    #[error("compile a program for another number of devices: the program expects {expected}, got {got}")]
    Partitions {
        /// The program's number of partitions.
        expected: usize,
        /// The number of devices of the mesh.
        got: usize,
    },
    /// The compiler refuses the program.
    #[error("compile the program {name}: {source}")]
    Rejected {
        /// The program's name.
        name: String,
        /// Where in the text, when the compiler says so.
        at: Option<Position>,
        /// The compiler's words, with its diagnostics.
        source: PjrtError,
    },
    /// The plugin failed behind the compiler.
    #[error("read what was compiled: {0}")]
    Plugin(#[from] PjrtError),
    /// The executable runs on other devices than those of the mesh.
    #[error("compile for the {expected} devices of a mesh: the executable has {got}, or others")]
    Devices {
        /// The devices of the mesh.
        expected: usize,
        /// The devices of the executable.
        got: usize,
    },
    /// A sharding does not fit its tensor or the mesh.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// A sharding in XLA's notation cannot be named in axes of the mesh.
    #[error("name the sharding of {what} {index}: {source}")]
    Tiles {
        /// `argument` or `output`.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Why.
        source: TilesError,
    },
    /// The program does not state a sharding and the plugin does not tell what the compiler chose.
    #[error(
        "name the sharding of {what} {index}: neither the program nor the plugin tells; state it \
         in the program, or give the signature"
    )]
    UnknownSharding {
        /// `argument` or `output`.
        what: &'static str,
        /// Which one.
        index: usize,
    },
    /// The signature has another number of outputs than the program.
    #[error("check the signature: it has {expected} outputs, the program has {got}")]
    OutputCount {
        /// The signature's outputs.
        expected: usize,
        /// The program's.
        got: usize,
    },
    /// The signature has another number of arguments than the program.
    #[error("check the signature: it has {expected} arguments, the program has {got}")]
    ArgumentCount {
        /// The signature's arguments.
        expected: usize,
        /// The program's.
        got: usize,
    },
    /// The signature has another type for an argument or output.
    #[error(transparent)]
    Signature(#[from] SignatureMismatch),
    /// The thread of the compiler panicked: an error of this crate.
    #[error("compile a program: the compiler's thread ended early")]
    Ended,
}

impl CompileError {
    /// A refusal of the compiler, with the place that its diagnostics name first.
    pub(super) fn rejected(name: &str, source: PjrtError) -> CompileError {
        CompileError::Rejected { name: name.to_owned(), at: diagnosed_at(&source.message), source }
    }
}

/// The first `:LINE:COLUMN: error` of MLIR's diagnostics, such as `<unknown>:4:12: error: ..`.
pub(super) fn diagnosed_at(message: &str) -> Option<Position> {
    for (end, _) in message.match_indices(": error:") {
        let mut parts = message[..end].rsplitn(3, ':');
        let column = parts.next().and_then(|text| text.parse().ok());
        let line = parts.next().and_then(|text| text.parse().ok());
        if let (Some(line @ 1..), Some(column)) = (line, column) {
            return Some(Position { line, column });
        }
    }
    None
}

/// The signature has another type for an argument or output than the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "check the signature: it says that a shard of {what} {index} is {expected}, the program has \
     {got_dtype}{got_shape:?}"
)]
pub struct SignatureMismatch {
    /// `argument` or `output`.
    pub what: &'static str,
    /// Which one.
    pub index: usize,
    /// What a shard should be.
    pub expected: TensorType,
    /// The program's element type.
    pub got_dtype: String,
    /// The extents of the program's shard.
    pub got_shape: Vec<usize>,
}

/// What is wrong with an argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Another element type or shape.
    #[error("expected {expected}, got {got}")]
    Type {
        /// What the program takes.
        expected: TensorType,
        /// What came.
        got: TensorType,
    },
    /// It lies on other devices, or in another order.
    #[error("expected an array on devices {expected:?}, got one on {got:?}")]
    Devices {
        /// The devices of the executable.
        expected: Vec<i32>,
        /// The devices of the array.
        got: Vec<i32>,
    },
    /// It is spread in another way.
    #[error("expected the sharding {expected}, got {got}")]
    Sharding {
        /// What the program takes.
        expected: String,
        /// What came.
        got: String,
    },
    /// It lacks shards, or holds those of others.
    #[error("expected the shards of devices {expected:?}, got those of {got:?}")]
    Shards {
        /// The devices whose shards are needed.
        expected: Vec<i32>,
        /// The devices whose shards came.
        got: Vec<i32>,
    },
    /// An earlier launch consumed it.
    #[error("it was donated to an earlier launch")]
    Donated,
    /// It shares memory with another argument, and one of the two is to be consumed.
    #[error("it shares memory with another argument, and the launch consumes one of them")]
    SharedDonation,
}

/// Why a program was not launched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunFailure {
    /// Another number of arguments.
    #[error("take the arguments: expected {expected}, got {got}")]
    ArgumentCount {
        /// What the program takes.
        expected: usize,
        /// What came.
        got: usize,
    },
    /// An argument does not fit.
    #[error("take argument {index}: {source}")]
    Argument {
        /// Which one.
        index: usize,
        /// What is wrong with it.
        source: ArgumentError,
    },
    /// Shards of several holders do not make one array.
    #[error("put argument {index} together: {source}")]
    Join {
        /// Which one.
        index: usize,
        /// Why.
        source: ArrayError,
    },
    /// The plugin refused the launch, or the program failed.
    #[error(transparent)]
    Plugin(PjrtError),
    /// The client's thread panicked: an error of this crate.
    #[error("launch: the client's thread panicked")]
    Ended,
}

/// Why a program was not launched, with the arguments.
#[derive(Debug, thiserror::Error)]
#[error("{failure}")]
pub struct RunError {
    failure: Box<RunFailure>,
    arguments: Vec<Array>,
}

impl RunError {
    pub(super) fn new(failure: RunFailure, arguments: Vec<Array>) -> RunError {
        RunError { failure: Box::new(failure), arguments }
    }

    /// What went wrong.
    pub fn failure(&self) -> &RunFailure {
        &self.failure
    }

    /// The arguments, given back. Empty when a program that was launched failed.
    pub fn into_arguments(self) -> Vec<Array> {
        self.arguments
    }

    /// Both.
    pub fn into_parts(self) -> (RunFailure, Vec<Array>) {
        (*self.failure, self.arguments)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
