//! The seam between nodes and networks: connections that open and accept byte streams.
//!
//! Above the seam there is one framing, one set of limits and one suite of tests; below it there is QUIC with mutual TLS.
//! A connection is between two nodes; what a stream carries is not known here.

use std::io;

use futures::future::BoxFuture;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::host::LossCause;

pub(crate) mod identity;
pub(crate) mod quic;

/// One byte stream in each direction.
pub(crate) struct Stream {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
}

/// A connection to one other node.
pub(crate) trait Connection: Send + Sync + 'static {
    /// Opens a stream; the other side sees it once something was written.
    fn open(&self) -> BoxFuture<'_, io::Result<Stream>>;

    /// Waits for the other side to open a stream.
    fn accept(&self) -> BoxFuture<'_, io::Result<Stream>>;

    /// The certificate that the other side has shown.
    fn peer_certificate(&self) -> Option<CertificateDer<'static>>;

    /// Ends the connection and tells the other side why.
    fn close(&self, reason: &str);

    /// Waits for the end of the connection, and says why it ended.
    fn closed(&self) -> BoxFuture<'_, LossCause>;
}
