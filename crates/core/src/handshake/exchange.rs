//! The handshake's bytes on a stream.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Answer, Hello, Refusal};
use crate::codec;
use crate::limits;
use crate::wire;

const MAGIC: [u8; 4] = *b"MBLA";
/// Magic and version.
const HEAD_BYTES: usize = MAGIC.len() + 1;

/// Failed to shake hands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum HandshakeError {
    /// The other side said no.
    #[error("{0}")]
    RefusedByPeer(Refusal),
    /// This side said no.
    #[error("{0}")]
    RefusedHere(Refusal),
    #[error("the connection broke during the handshake: {0}")]
    Io(#[from] io::Error),
    #[error("handshake: the other side does not speak this protocol")]
    NotMobula,
    #[error("handshake: {len} bytes came, at most {max} are taken")]
    TooLong { len: usize, max: usize },
    #[error("handshake: {0}")]
    Encode(#[from] codec::EncodeError),
}

/// Writes one handshake message.
pub(super) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, HandshakeError> {
    let mut out = vec![0; wire::PREFIX_BYTES];
    out.extend_from_slice(&MAGIC);
    out.push(wire::VERSION);
    codec::encode_into(value, &mut out)?;
    let len = out.len() - wire::PREFIX_BYTES;
    if len > limits::HANDSHAKE_BYTES_MAX {
        return Err(HandshakeError::TooLong { len, max: limits::HANDSHAKE_BYTES_MAX });
    }
    // The limit is far below 2^32.
    out[..wire::PREFIX_BYTES].copy_from_slice(&(len as u32).to_le_bytes());
    Ok(out)
}

/// Reads one handshake message, growing its buffer only as bytes arrive.
async fn read<T: DeserializeOwned>(reader: &mut (impl AsyncRead + Unpin)) -> Result<T, HandshakeError> {
    let len = reader.read_u32_le().await? as usize;
    if len > limits::HANDSHAKE_BYTES_MAX {
        return Err(HandshakeError::TooLong { len, max: limits::HANDSHAKE_BYTES_MAX });
    }
    let mut body = Vec::new();
    let read = reader.take(len as u64).read_to_end(&mut body).await?;
    if read < len {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    parse(&body)
}

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, HandshakeError> {
    let Some((head, value)) = body.split_at_checked(HEAD_BYTES) else {
        return Err(HandshakeError::NotMobula);
    };
    if head[..MAGIC.len()] != MAGIC {
        return Err(HandshakeError::NotMobula);
    }
    let got = head[MAGIC.len()];
    if got != wire::VERSION {
        return Err(HandshakeError::RefusedHere(Refusal::Version { expected: wire::VERSION, got }));
    }
    codec::decode(value)
        .map_err(|error| HandshakeError::RefusedHere(Refusal::Malformed(wire::cut_text(error.to_string()))))
}

/// The dialer's side: says hello and waits for the answer.
pub(crate) async fn dial(
    reader: &mut (impl AsyncRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    hello: &Hello,
) -> Result<(), HandshakeError> {
    writer.write_all(&encode(hello)?).await?;
    writer.flush().await?;
    match read(reader).await? {
        Answer::Welcome => Ok(()),
        Answer::Refused(refusal) => Err(HandshakeError::RefusedByPeer(refusal.flipped())),
    }
}

/// The acceptor's first half: waits for the hello.
pub(crate) async fn hear(reader: &mut (impl AsyncRead + Unpin)) -> Result<Hello, HandshakeError> {
    read(reader).await
}

/// The acceptor's second half: answers.
pub(crate) async fn answer(
    writer: &mut (impl AsyncWrite + Unpin),
    answer: &Answer,
) -> Result<(), HandshakeError> {
    writer.write_all(&encode(answer)?).await?;
    writer.flush().await?;
    Ok(())
}
