//! Bytes written by hand from the format's description, and hostile lengths.

use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    small: u64,
    large: u64,
    text: String,
    maybe: Option<i32>,
}

#[test]
fn encoding_is_the_documented_format() {
    // Varint: below 251 one byte; 0xfb and two bytes below 2^16; signed numbers are zigzag; a string is its length
    // and its bytes; `Some` is 1 and the value.
    let sample = Sample { small: 7, large: 300, text: "ray".into(), maybe: Some(-2) };
    let bytes = [7, 0xfb, 0x2c, 0x01, 3, b'r', b'a', b'y', 1, 3];
    assert_eq!(encode(&sample), Ok(bytes.to_vec()));
    assert_eq!(decode::<Sample>(&bytes), Ok(sample));
}

#[test]
fn leftover_bytes_are_an_error() {
    let error = decode::<u8>(&[1, 2, 3]).unwrap_err();
    assert_eq!(error, DecodeError::Trailing { type_name: "u8", rest: 2 });
}

#[test]
fn a_claimed_length_does_not_take_memory() {
    // A string of 2^62 bytes, of which none follow.
    let mut bytes = vec![0xfd];
    bytes.extend_from_slice(&(1u64 << 62).to_le_bytes());
    for error in [decode::<String>(&bytes).map(|_| ()), decode::<Vec<u64>>(&bytes).map(|_| ())] {
        assert!(matches!(error, Err(DecodeError::Malformed { .. })), "{error:?}");
    }
}

#[test]
fn truncation_at_every_length_is_an_error() {
    let bytes = encode(&Sample { small: 1, large: 1 << 40, text: "slice".into(), maybe: None }).unwrap();
    for len in 0..bytes.len() {
        assert!(decode::<Sample>(&bytes[..len]).is_err(), "{len} bytes decoded");
    }
}

#[test]
fn wide_integers_fit_the_budget() {
    // The narrowest encoding with the widest claim: one byte, sixteen claimed.
    let zeros = vec![0u128; 100_000];
    let bytes = encode(&zeros).unwrap();
    assert_eq!(decode::<Vec<u128>>(&bytes), Ok(zeros));
}
