//! Device memory and the transfers to and from it.
#![expect(unsafe_code, reason = "hands host memory to the plugin and destroys buffers")]

use std::any::Any;
use std::sync::Arc;

use super::event::Event;
use super::live::Counted;
use super::{Client, Completion, DeviceHandle, Kind, PjrtError, abi};

/// Elements that are plain bytes: every pattern of bits is a value, and there is no padding.
///
/// # Safety
/// Both halves of the sentence above are true of the type.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty),*) => { $(
        // SAFETY: integers and floats (`half`'s types are transparent over `u16`) have neither padding nor
        // invalid bits.
        unsafe impl Plain for $type {}
    )* };
}

plain!(u8, i8, u16, i16, u32, i32, u64, i64, half::f16, half::bf16, f32, f64);

/// A block of memory on one device.
pub(crate) struct Buffer {
    client: Client,
    raw: abi::Handle,
    _counted: Counted,
}

// SAFETY: the C API may be called on a buffer from any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Takes ownership of `raw`, a buffer of `client` that nobody else destroys.
    pub(super) fn from_raw(client: &Client, raw: abi::Handle) -> Buffer {
        Buffer { client: client.clone(), raw, _counted: client.context().live.count(Kind::Buffer) }
    }

    /// Starts a transfer of dense row-major data to a device.
    ///
    /// `data` is what `owner` keeps alive and unchanged; `owner` is dropped when the plugin has read it all.
    /// `dtype` is the number of the element type in the C API.
    pub(crate) fn from_host(
        client: &Client,
        device: DeviceHandle,
        dtype: i32,
        dims: &[i64],
        data: HostBytes,
    ) -> Result<Buffer, PjrtError> {
        let mut args = abi::ClientBufferFromHostBuffer {
            client: client.raw(),
            data: data.start.cast(),
            dtype,
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            semantics: abi::IMMUTABLE_UNTIL_TRANSFER_COMPLETES,
            device: device.raw(),
            ..Default::default()
        };
        let context = client.context();
        // SAFETY: client and device are alive; `dims` is read during the call; the data is kept alive,
        // unchanged, by its owner until the event below has fired.
        unsafe { context.api.call(&mut args)? };
        let buffer = Buffer::from_raw(client, args.buffer);
        if !args.done.is_null() {
            let done = Event::new(context, args.done);
            // Nobody waits for it: a transfer that failed shows in the buffer's own event.
            drop(done.complete("Client_BufferFromHostBuffer", data));
        }
        Ok(buffer)
    }

    /// The pointer for a call.
    pub(super) fn raw(&self) -> abi::Handle {
        self.raw
    }

    /// Whether the memory was given away to a launch.
    pub(crate) fn is_deleted(&self) -> Result<bool, PjrtError> {
        let mut args = abi::BufferIsDeleted { buffer: self.raw, ..Default::default() };
        // SAFETY: the buffer is alive.
        unsafe { self.client.context().api.call(&mut args)? };
        Ok(args.deleted)
    }

    /// Ready when the memory holds its values, or with the error of what was to produce them.
    pub(crate) fn ready(&self) -> Result<Completion<()>, PjrtError> {
        let mut args = abi::BufferReadyEvent { buffer: self.raw, ..Default::default() };
        let context = self.client.context();
        // SAFETY: the buffer is alive; the event is ours.
        unsafe { context.api.call(&mut args)? };
        Ok(Event::new(context, args.event).complete("Buffer_ReadyEvent", ()))
    }

    /// Starts a transfer to the host: `count` elements in row-major order of a block with `rank` dims.
    ///
    /// The caller knows that the block has `count` elements of `T`'s size; the plugin refuses a target that
    /// is too small.
    pub(crate) fn to_host<T: Plain>(
        &self,
        count: usize,
        rank: usize,
        zero: T,
    ) -> Result<Completion<Vec<T>>, PjrtError> {
        let mut target = vec![zero; count];
        let minor_to_major: Vec<i64> = (0..rank as i64).rev().collect();
        let layout = abi::TiledLayout {
            struct_size: size_of::<abi::TiledLayout>(),
            extension: std::ptr::null_mut(),
            tiled_struct_size: abi::TILED_SIZE,
            tiled_extension: std::ptr::null_mut(),
            minor_to_major: minor_to_major.as_ptr(),
            minor_to_major_size: rank,
            tile_dims: std::ptr::null(),
            tile_dim_sizes: std::ptr::null(),
            num_tiles: 0,
            kind: 0,
        };
        let mut args = abi::BufferToHostBuffer {
            source: self.raw,
            layout: &raw const layout,
            target: target.as_mut_ptr().cast(),
            target_size: size_of_val(target.as_slice()),
            ..Default::default()
        };
        let context = self.client.context();
        // SAFETY: the buffer is alive; the layout is read during the call; the plugin writes at most
        // `target_size` bytes to memory that the callback of the event below owns until the transfer has
        // ended, and any bytes it writes are values of `T`. Moving the vector does not move its memory.
        unsafe { context.api.call(&mut args)? };
        Ok(Event::new(context, args.event).complete("Buffer_ToHostBuffer", target))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut args = abi::BufferDestroy { buffer: self.raw, ..Default::default() };
        // SAFETY: the handle is alive and this is its only owner; the client is still held.
        if let Err(error) = unsafe { self.client.context().api.call(&mut args) } {
            tracing::warn!(%error, "a buffer was not destroyed");
        }
    }
}

/// A run of bytes inside memory that it keeps alive.
pub(crate) struct HostBytes {
    start: *const u8,
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the bytes are only read, and their owner is `Send` and `Sync`.
unsafe impl Send for HostBytes {}

impl HostBytes {
    /// The elements `range` of `owner`. The vector is behind an `Arc` that is never mutated, so its memory
    /// stays.
    pub(crate) fn part<T: Copy + Send + Sync + 'static>(
        owner: &Arc<Vec<T>>,
        range: std::ops::Range<usize>,
    ) -> HostBytes {
        let start = owner[range].as_ptr().cast();
        HostBytes { start, _owner: Arc::clone(owner) as Arc<dyn Any + Send + Sync> }
    }
}
