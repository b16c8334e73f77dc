//! What can be wrong with an array or a transfer.

use crate::dtype::{DType, TensorType};
use crate::pjrt::PjrtError;
use crate::sharding::ShardingError;

/// Why shards were not put together or taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The shard of this device is not here.
    #[error("take the shard of device {device}: it is not held here")]
    NotHeld {
        /// The device's id.
        device: i32,
    },
    /// Two parts hold the shard of this device.
    #[error("join shards: two of them are of device {device}")]
    HeldTwice {
        /// The device's id.
        device: i32,
    },
    /// There is nothing to make an array of.
    #[error("make an array without shards")]
    NoShards,
    /// The parts belong to different arrays.
    #[error("join shards: expected {expected}, got {got}")]
    Mismatch {
        /// The first part.
        expected: String,
        /// The part that differs.
        got: String,
    },
}

/// Why a transfer between host and devices did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The sharding does not fit the tensor or the mesh.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// The shards do not make an array.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The host array has another shape than the whole tensor, the host's block or the shard.
    #[error("transfer {what}: expected shape {expected:?}, got {got:?}")]
    Shape {
        /// What was transferred, such as `the shard of device 3`.
        what: String,
        /// The shape on the devices.
        expected: Vec<usize>,
        /// The shape that was given.
        got: Vec<usize>,
    },
    /// The elements are of another type than asked for.
    #[error("transfer an array: expected elements of type {expected}, got {got}")]
    Dtype {
        /// The type of the array.
        expected: DType,
        /// The type that was asked for.
        got: DType,
    },
    /// A device is not of the mesh.
    #[error("transfer to device {device}: it is not of the mesh")]
    NotInMesh {
        /// Its id.
        device: i32,
    },
    /// The tensor has more bytes than memory has addresses.
    #[error("transfer {tensor}: it is larger than memory can be")]
    TooLarge {
        /// The tensor.
        tensor: TensorType,
    },
    /// The parts that are here do not make up what was asked for.
    #[error("read the whole array: {held} of {all} shards are here, and they do not cover it")]
    Incomplete {
        /// How many shards are here.
        held: usize,
        /// How many devices the mesh has.
        all: usize,
    },
    /// The parts of the devices do not form a rectangle.
    #[error("transfer the block of devices {devices:?}: their parts of the tensor do not form a rectangle")]
    NotRectangular {
        /// The devices' ids.
        devices: Vec<i32>,
    },
    /// A launch consumed the array.
    #[error("use an array that was donated to a launch")]
    Donated,
    /// The thread that copies ended early: its runtime shuts down.
    #[error("copy an array: the thread that copies ended early")]
    Ended,
    /// The plugin refused or failed.
    #[error(transparent)]
    Plugin(#[from] PjrtError),
}
