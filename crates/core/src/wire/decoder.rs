//! Bytes in, frames out. Pure: it never reads and never waits.

use bytes::{Buf, BytesMut};

use super::{Frame, Header, PREFIX_BYTES, VERSION};
use crate::codec::{self, DecodeError};
use crate::limits;

/// Why a connection must end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The length prefix is over the limit in force.
    #[error("read a frame of {len} bytes: at most {max} are taken")]
    TooLong {
        /// What the peer claims.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Too short for a version and a header.
    #[error("read an empty frame")]
    Empty,
    /// The peer speaks another version.
    #[error("read a frame of protocol version {got}: this build speaks {expected}")]
    Version {
        /// This build's.
        expected: u8,
        /// The peer's.
        got: u8,
    },
    /// The header is garbage.
    #[error("read a frame header: {0}")]
    Header(#[from] DecodeError),
}

/// Cuts a stream of bytes into frames.
///
/// Append what was read to [`buffer`](Self::buffer), then call [`next_frame`](Self::next_frame) until it gives `None`.
#[derive(Debug)]
pub struct FrameDecoder {
    buffer: BytesMut,
    frame_bytes_max: usize,
}

impl FrameDecoder {
    /// A decoder that refuses frames of more than `frame_bytes_max` bytes.
    pub fn new(frame_bytes_max: usize) -> Self {
        Self { buffer: BytesMut::with_capacity(8 << 10), frame_bytes_max }
    }

    /// Moves the limit, once the peer is known.
    pub fn set_limit(&mut self, frame_bytes_max: usize) {
        self.frame_bytes_max = frame_bytes_max;
    }

    /// Where to append what was read, with room for some more (`WI-1`).
    pub fn buffer(&mut self) -> &mut BytesMut {
        let wanted = self.wanted().clamp(4 << 10, limits::FRAME_RESERVE_BYTES);
        self.buffer.reserve(wanted);
        &mut self.buffer
    }

    /// How many bytes the frame at the front still lacks.
    fn wanted(&self) -> usize {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else { return PREFIX_BYTES };
        (u32::from_le_bytes(*prefix) as usize + PREFIX_BYTES).saturating_sub(self.buffer.len())
    }

    /// The frame at the front, or `None` when it is not all there yet.
    ///
    /// # Errors
    /// Any [`FrameError`]: the stream cannot be read further.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let len = u32::from_le_bytes(*prefix) as usize;
        if len > self.frame_bytes_max {
            return Err(FrameError::TooLong { len, max: self.frame_bytes_max });
        }
        if self.buffer.len() < PREFIX_BYTES + len {
            return Ok(None);
        }
        self.buffer.advance(PREFIX_BYTES);
        let mut body = self.buffer.split_to(len).freeze();
        let Some(&version) = body.first() else { return Err(FrameError::Empty) };
        if version != VERSION {
            return Err(FrameError::Version { expected: VERSION, got: version });
        }
        body.advance(1);
        let (header, used) = codec::decode_prefix::<Header>(&body)?;
        body.advance(used);
        Ok(Some(Frame { header, payload: body }))
    }

    /// Whether the stream may end here, between two frames.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}
