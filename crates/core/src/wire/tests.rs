//! The frame decoder against every way of cutting and breaking its input.

use proptest::prelude::*;

use super::*;

fn sample() -> Vec<(Header, Vec<u8>)> {
    vec![
        (Header::Ask { call: 1, actor: 2, message: u64::MAX }, b"hello".to_vec()),
        (Header::Done { call: 1 }, vec![]),
        (
            Header::Failed {
                call: 9,
                failure: Failure::Died { death: Death::Panicked("boom".into()), unhandled: true },
            },
            vec![],
        ),
        (Header::Tell { call: 3, actor: 2, message: 5 }, vec![7; 70_000]),
        (Header::Goodbye, vec![]),
    ]
}

fn encode(frames: &[(Header, Vec<u8>)]) -> Vec<u8> {
    let frames = frames.iter().map(|(header, payload)| {
        let append = |out: &mut Vec<u8>| {
            out.extend_from_slice(payload);
            Ok(())
        };
        frame(header, append).unwrap()
    });
    frames.collect::<Vec<_>>().concat()
}

fn decode_in_chunks(bytes: &[u8], sizes: impl IntoIterator<Item = usize>) -> Result<Vec<Frame>, FrameError> {
    let mut decoder = FrameDecoder::new(1 << 20);
    let mut frames = Vec::new();
    let (mut rest, mut sizes) = (bytes, sizes.into_iter());
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(sizes.next().unwrap_or(rest.len()).clamp(1, rest.len()));
        decoder.buffer().extend_from_slice(chunk);
        rest = after;
        while let Some(frame) = decoder.next_frame()? {
            frames.push(frame);
        }
    }
    Ok(frames)
}

#[test]
fn a_frame_is_the_documented_bytes() {
    // length 5, version, variant 4 (`Done`), call 300 as a varint, no payload
    assert_eq!(bare(&Header::Done { call: 300 }), Ok(vec![5, 0, 0, 0, VERSION, 4, 0xfb, 0x2c, 0x01]));
}

#[test]
fn frames_survive_any_cutting() {
    let bytes = encode(&sample());
    let expected: Vec<Frame> =
        sample().into_iter().map(|(header, payload)| Frame { header, payload: payload.into() }).collect();
    for size in [1, 2, 3, 5, 7, 64, 1000, 65_537, bytes.len()] {
        assert_eq!(
            decode_in_chunks(&bytes, std::iter::repeat(size)).as_ref(),
            Ok(&expected),
            "chunks of {size}"
        );
    }
}

#[test]
fn a_long_frame_is_refused_at_its_prefix() {
    let mut decoder = FrameDecoder::new(100);
    decoder.buffer().extend_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(decoder.next_frame(), Err(FrameError::TooLong { len: u32::MAX as usize, max: 100 }));
    assert!(decoder.buffer().capacity() < 1 << 20, "memory was taken for a claimed length");
}

#[test]
fn a_claimed_length_is_reserved_in_steps() {
    let mut decoder = FrameDecoder::new(limits::FRAME_BYTES_MAX);
    decoder.buffer().extend_from_slice(&(limits::FRAME_BYTES_MAX as u32).to_le_bytes());
    assert_eq!(decoder.next_frame(), Ok(None));
    assert!(decoder.buffer().capacity() <= 2 * limits::FRAME_RESERVE_BYTES);
}

#[test]
fn other_versions_and_garbage_are_refused() {
    let mut bytes = bare(&Header::Goodbye).unwrap();
    bytes[PREFIX_BYTES] = VERSION + 1;
    let version = FrameError::Version { expected: VERSION, got: VERSION + 1 };
    assert_eq!(decode_in_chunks(&bytes, [bytes.len()]), Err(version));
    assert_eq!(decode_in_chunks(&[0, 0, 0, 0], [4]), Err(FrameError::Empty));
    let garbage = [3, 0, 0, 0, VERSION, 0xee, 0xee];
    assert!(matches!(decode_in_chunks(&garbage, [7]), Err(FrameError::Header(_))));
}

#[test]
fn too_large_a_message_is_refused_by_the_sender() {
    let grow = |out: &mut Vec<u8>| {
        out.resize(out.len() + limits::FRAME_BYTES_MAX, 0);
        Ok(())
    };
    assert!(matches!(frame(&Header::Goodbye, grow), Err(FrameEncodeError::TooLarge { .. })));
}

#[test]
fn long_texts_are_cut_between_characters() {
    let cut = cut_text("ä".repeat(limits::TEXT_BYTES_MAX));
    assert!(cut.len() <= limits::TEXT_BYTES_MAX + 3 && cut.ends_with("..."));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..4096), sizes in proptest::collection::vec(1usize..64, 1..64)) {
        let _ = decode_in_chunks(&bytes, sizes);
    }

    #[test]
    fn one_flipped_byte_never_panics(at in 0usize..200, value in any::<u8>()) {
        let mut bytes = encode(&sample()[..3]);
        let at = at % bytes.len();
        bytes[at] = value;
        let _ = decode_in_chunks(&bytes, [bytes.len()]);
    }
}
