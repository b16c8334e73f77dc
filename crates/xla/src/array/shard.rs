//! One device's part of an array.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::ArrayD;

use super::host::unpack;
use super::{Array, TransferError};
use crate::client::Device;
use crate::dtype::Element;
use crate::pjrt::{Buffer, Completion, PjrtError};
use crate::sharding::Slice;

/// The memory of a shard, shared by all arrays that hold it.
pub(crate) struct Cell {
    buffer: Buffer,
    donated: AtomicBool,
}

impl Cell {
    /// Wraps a buffer that nobody consumed yet.
    pub(crate) fn new(buffer: Buffer) -> Arc<Cell> {
        Arc::new(Cell { buffer, donated: AtomicBool::new(false) })
    }

    /// The device memory.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Whether a launch consumed the memory.
    pub(crate) fn is_donated(&self) -> bool {
        self.donated.load(Ordering::Acquire)
    }

    /// Marks the memory as consumed. Only the client's thread does, so that what it checked stays true
    /// (`PJ-4`).
    pub(crate) fn set_donated(&self) {
        self.donated.store(true, Ordering::Release);
    }

    /// Ready when the memory holds its values.
    pub(crate) fn ready(&self) -> Result<Completion<()>, TransferError> {
        if self.is_donated() {
            return Err(TransferError::Donated);
        }
        self.buffer.ready().map_err(|error| self.explain(error))
    }

    /// A plugin's error, or the donation that explains it.
    pub(crate) fn explain(&self, error: PjrtError) -> TransferError {
        if self.is_donated() || self.buffer.is_deleted().unwrap_or(false) {
            return TransferError::Donated;
        }
        TransferError::Plugin(error)
    }
}

/// A shard that an array holds.
#[derive(Clone)]
pub(crate) struct Held {
    /// Where its device lies in the mesh.
    pub(crate) position: usize,
    /// The memory.
    pub(crate) cell: Arc<Cell>,
}

/// One device's part of an array. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shard {
    array: Array,
    index: usize,
}

impl Shard {
    /// The shard number `index` of those that `array` holds.
    pub(super) fn new(array: Array, index: usize) -> Shard {
        Shard { array, index }
    }

    fn held(&self) -> &Held {
        &self.array.held()[self.index]
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        &self.array.mesh().devices()[self.held().position]
    }

    /// Where that device lies in the mesh, in row-major order.
    pub fn position(&self) -> usize {
        self.held().position
    }

    /// Which part of the whole tensor it is.
    pub fn slice(&self) -> &Slice {
        &self.array.slices()[self.held().position]
    }

    /// The extents of the part.
    pub fn shape(&self) -> Vec<usize> {
        self.slice().iter().map(ExactSizeIterator::len).collect()
    }

    /// Copies the part to the host.
    ///
    /// # Errors
    /// [`TransferError::Dtype`] when `T` is not the array's element type; [`TransferError::Donated`];
    /// [`TransferError::Plugin`].
    ///
    /// # Cancel safety
    /// Dropping the future loses the copy; the array is unchanged.
    pub async fn to_host<T: Element>(&self) -> Result<ArrayD<T>, TransferError> {
        self.start_to_host()?.await
    }

    /// Starts the copy at once; the future ends with it.
    pub(super) fn start_to_host<T: Element>(
        &self,
    ) -> Result<impl Future<Output = Result<ArrayD<T>, TransferError>> + Send + use<T>, TransferError> {
        if T::DTYPE != self.array.dtype() {
            return Err(TransferError::Dtype { expected: self.array.dtype(), got: T::DTYPE });
        }
        let (shape, cell) = (self.shape(), &self.held().cell);
        if cell.is_donated() {
            return Err(TransferError::Donated);
        }
        let count = shape.iter().product::<usize>();
        let transfer = if count == 0 {
            // There are no bytes to move, only values to wait for.
            Either::Empty(cell.ready()?)
        } else {
            let transfer = cell.buffer().to_host(count, shape.len(), T::ZERO);
            Either::Elements(transfer.map_err(|error| cell.explain(error))?)
        };
        Ok(async move {
            let raw = match transfer {
                Either::Empty(ready) => ready.await.map(|()| Vec::new())?,
                Either::Elements(transfer) => transfer.await?,
            };
            Ok(unpack(&shape, T::from_raw(raw)))
        })
    }
}

/// What a copy to the host waits for.
enum Either<T> {
    Empty(Completion<()>),
    Elements(Completion<Vec<T>>),
}
