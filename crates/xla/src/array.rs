//! Arrays on devices.
//!
//! An [`Array`] has a global type and shape, a mesh and a sharding, and the *shards* that this holder may
//! use. As in JAX, it need not hold all of them: a host of a slice holds those of its own devices. Host
//! arrays are `ndarray`'s, in any layout; on devices the order is the plugin's.
//!
//! Transfers are asynchronous in the plugin. A function that starts one returns when it is started; the array
//! can be used at once, as an argument too, and [`Array::ready`] tells when it holds its values or why it
//! never will.

mod error;
mod host;
mod shard;
mod transfer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use error::{ArrayError, TransferError};
pub use shard::Shard;
pub(crate) use shard::{Cell, Held};

use crate::client::{Client, Device};
use crate::dtype::{DType, TensorType};
use crate::mesh::Mesh;
use crate::sharding::{Sharding, Slice};

/// A tensor spread over the devices of a mesh. Cheap to clone: clones share the device memory.
#[derive(Clone)]
pub struct Array(Arc<Inner>);

struct Inner {
    mesh: Mesh,
    tensor: TensorType,
    sharding: Sharding,
    /// Ordered by position in the mesh, without doubles, never empty.
    held: Vec<Held>,
    /// The part of each device of the mesh.
    slices: Arc<[Slice]>,
}

impl Array {
    /// An array of the shards `held`, whose buffers have the shape that tensor and sharding say.
    pub(crate) fn assemble(
        mesh: Mesh,
        tensor: TensorType,
        sharding: Sharding,
        slices: Arc<[Slice]>,
        mut held: Vec<Held>,
    ) -> Array {
        held.sort_by_key(|held| held.position);
        Array(Arc::new(Inner { mesh, tensor, sharding, held, slices }))
    }

    /// The extents of the whole tensor.
    pub fn shape(&self) -> &[usize] {
        &self.0.tensor.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.0.tensor.dtype
    }

    /// Element type and extents of the whole tensor.
    pub fn tensor(&self) -> &TensorType {
        &self.0.tensor
    }

    /// How the tensor is spread.
    pub fn sharding(&self) -> &Sharding {
        &self.0.sharding
    }

    /// The devices that it is spread over, also those whose shards are not here.
    pub fn mesh(&self) -> &Mesh {
        &self.0.mesh
    }

    /// The client of the devices.
    pub fn client(&self) -> &Client {
        self.0.mesh.client()
    }

    /// The number of shards that are here.
    pub fn shard_count(&self) -> usize {
        self.0.held.len()
    }

    /// The shards that are here, in the order of the mesh.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = Shard> + '_ {
        (0..self.0.held.len()).map(|index| Shard::new(self.clone(), index))
    }

    /// The shard with this index among those that are here, in the order of the mesh.
    pub fn shard(&self, index: usize) -> Option<Shard> {
        (index < self.0.held.len()).then(|| Shard::new(self.clone(), index))
    }

    /// Whether the shards of all devices of the mesh are here.
    pub fn is_complete(&self) -> bool {
        self.0.held.len() == self.0.mesh.devices().len()
    }

    /// Whether a launch consumed the memory of a shard that is here: the array can no longer be read or
    /// passed.
    pub fn is_donated(&self) -> bool {
        self.0.held.iter().any(|held| held.cell.is_donated())
    }

    /// The shards that are here.
    pub(crate) fn held(&self) -> &[Held] {
        &self.0.held
    }

    /// The part of each device of the mesh, in row-major order.
    pub(crate) fn slices(&self) -> &Arc<[Slice]> {
        &self.0.slices
    }

    /// Waits until all shards that are here hold their values.
    ///
    /// # Errors
    /// [`TransferError::Plugin`] with the reason why a value never came to be; [`TransferError::Donated`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn ready(&self) -> Result<(), TransferError> {
        let waits = self.0.held.iter().map(|held| held.cell.ready()).collect::<Result<Vec<_>, _>>()?;
        for wait in waits {
            wait.await?;
        }
        Ok(())
    }

    /// The same array with only the shards of `devices`: what a host may hold of it.
    ///
    /// # Errors
    /// [`ArrayError::NotHeld`] when the shard of one of the devices is not here.
    pub fn restricted_to(&self, devices: &[Device]) -> Result<Array, ArrayError> {
        let held_of = |device: &Device| {
            let position = self.0.mesh.position_of(device);
            let held = position.and_then(|at| self.0.held.iter().find(|held| held.position == at));
            held.cloned().ok_or_else(|| ArrayError::NotHeld { device: device.id() })
        };
        let held = devices.iter().map(held_of).collect::<Result<Vec<_>, _>>()?;
        self.with_held(held)
    }

    /// One array of the shards of `parts`, which hosts brought: the reverse of [`Array::restricted_to`].
    ///
    /// # Errors
    /// [`ArrayError::Mismatch`] when the parts are not of one array's type, mesh and sharding;
    /// [`ArrayError::HeldTwice`]; [`ArrayError::NoShards`].
    pub fn join(parts: &[Array]) -> Result<Array, ArrayError> {
        let first = parts.first().ok_or(ArrayError::NoShards)?;
        for part in parts {
            let fits = part.tensor() == first.tensor()
                && part.mesh().has_devices_of(first.mesh())
                && (Arc::ptr_eq(part.slices(), first.slices()) || part.slices() == first.slices());
            if !fits {
                let (expected, got) = (first.describe(), part.describe());
                return Err(ArrayError::Mismatch { expected, got });
            }
        }
        first.with_held(parts.iter().flat_map(|part| part.held().iter().cloned()).collect())
    }

    /// The same tensor with other shards of it.
    fn with_held(&self, held: Vec<Held>) -> Result<Array, ArrayError> {
        let mut by_position = BTreeMap::new();
        for held in held {
            let position = held.position;
            if by_position.insert(position, held).is_some() {
                return Err(ArrayError::HeldTwice { device: self.mesh().devices()[position].id() });
            }
        }
        if by_position.is_empty() {
            return Err(ArrayError::NoShards);
        }
        let inner = &self.0;
        Ok(Array::assemble(
            inner.mesh.clone(),
            inner.tensor.clone(),
            inner.sharding.clone(),
            Arc::clone(&inner.slices),
            by_position.into_values().collect(),
        ))
    }

    /// Type and sharding for an error, such as `f32[8, 4] as {data} over (data=4, model=4)`.
    pub(crate) fn describe(&self) -> String {
        format!("{} as {} over {}", self.0.tensor, self.0.sharding, self.0.mesh.shape())
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (held, all) = (self.0.held.len(), self.0.mesh.devices().len());
        write!(f, "Array({}, {held} of {all} shards)", self.describe())
    }
}
