//! The wire codec: serde values to bytes and back. The only module that names bincode.
//!
//! bincode 2 with little-endian variable-length integers; the format is fixed by the protocol version of
//! [`wire`](crate::wire). Decoding never takes memory far beyond what the input's length justifies: a claimed length is
//! checked against a budget of [`BUDGET_PER_BYTE`] bytes for each byte of input (at least the smallest tier), before
//! anything is allocated.

use bincode::config::{Configuration, Limit, LittleEndian, NoLimit, Varint};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes that a decoded value may claim for each byte of its encoding.
///
/// An integer is encoded in at least one byte and claims at most sixteen (`u128`).
pub const BUDGET_PER_BYTE: usize = 16;

/// Failed to encode a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("encode {type_name}: {reason}")]
pub struct EncodeError {
    /// The Rust type.
    pub type_name: &'static str,
    /// What serde or bincode said.
    pub reason: String,
}

/// Failed to decode a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are no encoding of the type.
    #[error("decode {type_name} from {len} bytes: {reason}")]
    Malformed {
        /// The Rust type.
        type_name: &'static str,
        /// Length of the input.
        len: usize,
        /// What serde or bincode said.
        reason: String,
    },
    /// The value ended before the bytes did.
    #[error("decode {type_name}: {rest} bytes are left over after it")]
    Trailing {
        /// The Rust type.
        type_name: &'static str,
        /// Bytes that were not used.
        rest: usize,
    },
}

type Plain = Configuration<LittleEndian, Varint, NoLimit>;
type Limited<const N: usize> = Configuration<LittleEndian, Varint, Limit<N>>;

const PLAIN: Plain = bincode::config::standard();

/// Encodes `value` behind what is already in `out`.
///
/// # Errors
/// The type's own `Serialize` refused, or it asks for what bincode cannot express (an untagged enum, a flattened struct).
/// `out` may then hold a partial encoding.
pub fn encode_into<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    bincode::serde::encode_into_std_write(value, out, PLAIN)
        .map(|_| ())
        .map_err(|error| EncodeError { type_name: std::any::type_name::<T>(), reason: error.to_string() })
}

/// Encodes `value` alone.
///
/// # Errors
/// As [`encode_into`].
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::with_capacity(64);
    encode_into(value, &mut out)?;
    Ok(out)
}

/// Decodes a value that fills `bytes` exactly.
///
/// # Errors
/// [`DecodeError::Malformed`] or [`DecodeError::Trailing`]; neither is worth a retry.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let (value, used) = decode_prefix(bytes)?;
    match bytes.len() - used {
        0 => Ok(value),
        rest => Err(DecodeError::Trailing { type_name: std::any::type_name::<T>(), rest }),
    }
}

/// Decodes a value from the front of `bytes` and says how many it took.
///
/// # Errors
/// [`DecodeError::Malformed`].
pub fn decode_prefix<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, usize), DecodeError> {
    decode_budgeted(bytes).map_err(|error| DecodeError::Malformed {
        type_name: std::any::type_name::<T>(),
        len: bytes.len(),
        reason: error.to_string(),
    })
}

/// bincode's limit is a constant of the type, so the budget is rounded up to one of a few tiers.
fn decode_budgeted<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, usize), bincode::error::DecodeError> {
    use bincode::serde::decode_from_slice;
    const fn tier<const N: usize>() -> Limited<N> {
        bincode::config::standard().with_limit::<N>()
    }
    match bytes.len().saturating_mul(BUDGET_PER_BYTE) {
        0..=0x1_0000 => decode_from_slice(bytes, tier::<0x1_0000>()),
        0x1_0001..=0x10_0000 => decode_from_slice(bytes, tier::<0x10_0000>()),
        0x10_0001..=0x100_0000 => decode_from_slice(bytes, tier::<0x100_0000>()),
        0x100_0001..=0x1000_0000 => decode_from_slice(bytes, tier::<0x1000_0000>()),
        _ => decode_from_slice(bytes, tier::<0x4000_0000>()),
    }
}

#[cfg(test)]
mod tests;
