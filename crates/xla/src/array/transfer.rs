//! From host arrays to arrays on devices, and back.

use std::sync::Arc;

use ndarray::{ArrayD, Dimension};
use tokio::runtime::Handle;

use super::host::{copied_bytes, cut, paste, unpack};
use super::{Array, Cell, Held, TransferError};
use crate::client::Device;
use crate::dtype::{Element, TensorType};
use crate::mesh::Mesh;
use crate::pjrt::{Buffer, HostBytes};
use crate::sharding::{Sharding, Slice, bounding_block};

/// Copies of more bytes than this are made on a thread for blocking work.
const INLINE_COPY_BYTES_MAX: usize = 1 << 20;

impl Array {
    /// Spreads a host array over the devices of a mesh.
    ///
    /// Returns when the transfers are started; the host memory is kept until they have ended. Parts that are
    /// not contiguous in the host array (splits of an inner dim) are copied first.
    ///
    /// # Errors
    /// [`TransferError::Sharding`], [`TransferError::TooLarge`]; [`TransferError::Plugin`].
    ///
    /// # Cancel safety
    /// Dropping the future drops the array.
    pub async fn from_ndarray<T: Element, D: Dimension>(
        mesh: &Mesh,
        sharding: &Sharding,
        data: ndarray::Array<T, D>,
    ) -> Result<Array, TransferError> {
        let upload = Upload::plan(mesh, sharding, TensorType::new(T::DTYPE, data.shape()))?;
        let block = upload.tensor.shape.iter().map(|extent| 0..*extent).collect();
        upload.run((0..mesh.devices().len()).collect(), block, data.into_dyn()).await
    }

    /// Puts a host's own block of a tensor of `shape` on that host's `devices`: the array holds only their
    /// shards.
    ///
    /// The block is the smallest rectangle with the parts of all `devices` ([`Array::block_of`] tells which).
    ///
    /// # Errors
    /// [`TransferError::Shape`] when the block has another shape; [`TransferError::NotRectangular`] when the
    /// parts leave gaps; [`TransferError::NotInMesh`], [`TransferError::Sharding`],
    /// [`TransferError::TooLarge`]; [`TransferError::Plugin`].
    ///
    /// # Cancel safety
    /// Dropping the future drops the array.
    pub async fn from_block<T: Element, D: Dimension>(
        mesh: &Mesh,
        sharding: &Sharding,
        shape: &[usize],
        devices: &[Device],
        block: ndarray::Array<T, D>,
    ) -> Result<Array, TransferError> {
        let upload = Upload::plan(mesh, sharding, TensorType::new(T::DTYPE, shape))?;
        let positions = positions(mesh, devices)?;
        let place = block_of(&upload.slices, &positions, devices)?;
        let expected: Vec<usize> = place.iter().map(ExactSizeIterator::len).collect();
        if block.shape() != expected {
            let (what, got) = ("the block of a host".to_owned(), block.shape().to_vec());
            return Err(TransferError::Shape { what, expected, got });
        }
        upload.run(positions, place, block.into_dyn()).await
    }

    /// Puts one host array on each of some devices of the mesh, as shards of a tensor of `shape`.
    ///
    /// Shards of devices that hold copies are taken as they come: that they are equal is the caller's
    /// promise.
    ///
    /// # Errors
    /// [`TransferError::Shape`] when a shard has another shape than the sharding says;
    /// [`TransferError::NotInMesh`], [`TransferError::Array`], [`TransferError::Sharding`],
    /// [`TransferError::TooLarge`]; [`TransferError::Plugin`].
    ///
    /// # Cancel safety
    /// Dropping the future drops the array.
    pub async fn from_shards<T: Element, D: Dimension>(
        mesh: &Mesh,
        sharding: &Sharding,
        shape: &[usize],
        shards: Vec<(Device, ndarray::Array<T, D>)>,
    ) -> Result<Array, TransferError> {
        let upload = Upload::plan(mesh, sharding, TensorType::new(T::DTYPE, shape))?;
        let expected = sharding.shard_shape(mesh.shape(), shape)?;
        let devices: Vec<Device> = shards.iter().map(|(device, _)| device.clone()).collect();
        for (device, shard) in &shards {
            if shard.shape() != expected {
                let (what, got) = (format!("the shard of device {}", device.id()), shard.shape().to_vec());
                return Err(TransferError::Shape { what, expected, got });
            }
        }
        let positions = positions(mesh, &devices)?;
        let mut parts = Vec::with_capacity(shards.len());
        for (position, (_, shard)) in positions.into_iter().zip(shards) {
            let place = upload.slices[position].clone();
            parts.push(upload.clone().run(vec![position], place, shard.into_dyn()).await?);
        }
        Ok(Array::join(&parts)?)
    }

    /// The part of a tensor of `shape` that `devices` of a mesh hold together.
    ///
    /// # Errors
    /// [`TransferError::NotRectangular`], [`TransferError::NotInMesh`], [`TransferError::Sharding`].
    pub fn block_of(
        mesh: &Mesh,
        sharding: &Sharding,
        shape: &[usize],
        devices: &[Device],
    ) -> Result<Slice, TransferError> {
        let slices = sharding.slices(mesh.shape(), shape)?;
        block_of(&slices, &positions(mesh, devices)?, devices)
    }

    /// Copies the whole array to the host.
    ///
    /// Works for complete arrays and for any other whose shards cover the tensor, such as a replicated one.
    ///
    /// # Errors
    /// [`TransferError::Incomplete`] when the shards that are here do not cover the tensor;
    /// [`TransferError::Dtype`] when `T` is not its element type; [`TransferError::Donated`];
    /// [`TransferError::Plugin`].
    ///
    /// # Cancel safety
    /// Dropping the future loses the copy; the array is unchanged.
    pub async fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>, TransferError> {
        let whole: Slice = self.shape().iter().map(|extent| 0..*extent).collect();
        match self.local_block() {
            Ok(block) if block == whole => self.to_local_ndarray().await,
            _ => {
                let (held, all) = (self.shard_count(), self.mesh().devices().len());
                Err(TransferError::Incomplete { held, all })
            }
        }
    }

    /// The part of the tensor that the shards here cover together.
    ///
    /// # Errors
    /// [`TransferError::NotRectangular`] when it has gaps.
    pub fn local_block(&self) -> Result<Slice, TransferError> {
        let held: Vec<Slice> = self.shards().map(|shard| shard.slice().clone()).collect();
        bounding_block(&held).ok_or_else(|| TransferError::NotRectangular {
            devices: self.shards().map(|shard| shard.device().id()).collect(),
        })
    }

    /// Copies the part of the tensor that the shards here cover ([`Array::local_block`]) to the host.
    ///
    /// # Errors
    /// [`TransferError::NotRectangular`], [`TransferError::Dtype`], [`TransferError::Donated`];
    /// [`TransferError::Plugin`].
    ///
    /// # Cancel safety
    /// Dropping the future loses the copy; the array is unchanged.
    pub async fn to_local_ndarray<T: Element>(&self) -> Result<ArrayD<T>, TransferError> {
        let block = self.local_block()?;
        let mut sources = Vec::new();
        for shard in self.shards() {
            if !sources.iter().any(|(slice, _)| slice == shard.slice()) {
                // All transfers are started before the first is awaited.
                sources.push((shard.slice().clone(), shard));
            }
        }
        let mut transfers = Vec::with_capacity(sources.len());
        for (slice, shard) in sources {
            transfers.push((slice, shard.start_to_host::<T>()?));
        }
        if transfers.len() == 1 {
            let (_, transfer) = transfers.remove(0);
            return transfer.await;
        }
        let shape: Vec<usize> = block.iter().map(ExactSizeIterator::len).collect();
        let count = shape.iter().product();
        let mut whole = unpack(&shape, T::from_raw(vec![T::ZERO; count]));
        for (slice, transfer) in transfers {
            paste(&mut whole, &block, &slice, &transfer.await?);
        }
        Ok(whole)
    }
}

/// A tensor that is about to go to devices, checked.
#[derive(Clone)]
struct Upload {
    mesh: Mesh,
    sharding: Sharding,
    tensor: TensorType,
    slices: Arc<[Slice]>,
}

impl Upload {
    fn plan(mesh: &Mesh, sharding: &Sharding, tensor: TensorType) -> Result<Upload, TransferError> {
        if tensor.element_count().is_none() {
            return Err(TransferError::TooLarge { tensor });
        }
        let slices = sharding.slices(mesh.shape(), &tensor.shape)?.into();
        Ok(Upload { mesh: mesh.clone(), sharding: sharding.clone(), tensor, slices })
    }

    /// Sends the parts of `data`, which holds `block` of the tensor, to the devices at `positions`.
    async fn run<T: Element>(
        self,
        positions: Vec<usize>,
        block: Slice,
        data: ArrayD<T>,
    ) -> Result<Array, TransferError> {
        let wanted: Vec<Slice> = positions.iter().map(|position| self.slices[*position].clone()).collect();
        let reordered = if data.is_standard_layout() { 0 } else { data.len() * size_of::<T>() };
        let copied = reordered + copied_bytes(&block, &wanted, size_of::<T>());
        let start = move || self.start(&positions, &wanted, &block, data);
        match Handle::try_current() {
            Ok(runtime) if copied > INLINE_COPY_BYTES_MAX => {
                runtime.spawn_blocking(start).await.unwrap_or(Err(TransferError::Ended))
            }
            _ => start(),
        }
    }

    fn start<T: Element>(
        self,
        positions: &[usize],
        wanted: &[Slice],
        block: &Slice,
        data: ArrayD<T>,
    ) -> Result<Array, TransferError> {
        let mut held = Vec::with_capacity(positions.len());
        for ((position, slice), part) in positions.iter().zip(wanted).zip(cut(row_major(data), block, wanted))
        {
            let device = &self.mesh.devices()[*position];
            let dims: Vec<i64> = slice.iter().map(|range| range.len() as i64).collect();
            let bytes = HostBytes::part(&part.owner, part.range);
            let buffer =
                Buffer::from_host(self.mesh.client().raw(), device.raw(), T::DTYPE.raw(), &dims, bytes)?;
            held.push(Held { position: *position, cell: Cell::new(buffer) });
        }
        Ok(Array::assemble(self.mesh, self.tensor, self.sharding, self.slices, held))
    }
}

/// The elements in row-major order; without a copy when they lie so.
fn row_major<T: Copy>(data: ArrayD<T>) -> Vec<T> {
    if data.is_standard_layout() {
        let count = data.len();
        let (mut elements, offset) = data.into_raw_vec_and_offset();
        let offset = offset.unwrap_or(0);
        elements.truncate(offset + count);
        if offset > 0 {
            elements.drain(..offset);
        }
        return elements;
    }
    data.iter().copied().collect()
}

/// Where the devices lie in the mesh.
fn positions(mesh: &Mesh, devices: &[Device]) -> Result<Vec<usize>, TransferError> {
    let position = |device: &Device| {
        mesh.position_of(device).ok_or_else(|| TransferError::NotInMesh { device: device.id() })
    };
    devices.iter().map(position).collect()
}

fn block_of(slices: &[Slice], positions: &[usize], devices: &[Device]) -> Result<Slice, TransferError> {
    let held: Vec<Slice> = positions.iter().map(|position| slices[*position].clone()).collect();
    bounding_block(&held)
        .ok_or_else(|| TransferError::NotRectangular { devices: devices.iter().map(Device::id).collect() })
}
