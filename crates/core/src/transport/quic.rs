//! QUIC by quinn, TLS 1.3 by rustls, certificates on both sides.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ConnectionError, IdleTimeout, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;

use super::identity::Identity;
use super::{Connection, Stream};
use crate::host::LossCause;
use crate::id::NodeId;
use crate::limits;

/// What the two sides agree to speak, in the TLS handshake.
const ALPN: &[u8] = b"mobula";
/// Bytes in flight on one stream, and on all streams of a connection, before the sender must wait.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
/// As above, for a connection.
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Streams that the other side may have open.
const STREAMS_MAX: u32 = 64;

/// Failed to set up an endpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum EndpointError {
    #[error("set up TLS: {0}")]
    Tls(String),
    #[error("listen on {address}: {source}")]
    Bind { address: SocketAddr, source: io::Error },
}

/// A socket that both dials and accepts.
pub(crate) struct Endpoint {
    endpoint: quinn::Endpoint,
    client: quinn::ClientConfig,
}

impl Endpoint {
    /// Listens on `address`; port 0 lets the system choose.
    pub(crate) fn bind(identity: &Identity, address: SocketAddr) -> Result<Self, EndpointError> {
        let tls = |error: &dyn std::error::Error| EndpointError::Tls(error.to_string());
        let mut roots = RootCertStore::empty();
        roots.add(identity.authority()).map_err(|error| tls(&error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = &[&rustls::version::TLS13];

        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots.clone()), Arc::clone(&provider))
                .build()
                .map_err(|error| tls(&error))?;
        let mut server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| tls(&error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(identity.chain(), identity.key())
            .map_err(|error| tls(&error))?;
        server.alpn_protocols = vec![ALPN.to_vec()];
        let mut client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|error| tls(&error))?
            .with_root_certificates(roots)
            .with_client_auth_cert(identity.chain(), identity.key())
            .map_err(|error| tls(&error))?;
        client.alpn_protocols = vec![ALPN.to_vec()];

        let transport = Arc::new(transport_config());
        let crypto = QuicServerConfig::try_from(server).map_err(|error| tls(&error))?;
        let mut server = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        server.transport_config(Arc::clone(&transport));
        let crypto = QuicClientConfig::try_from(client).map_err(|error| tls(&error))?;
        let mut client = quinn::ClientConfig::new(Arc::new(crypto));
        client.transport_config(transport);

        let endpoint = quinn::Endpoint::server(server, address)
            .map_err(|source| EndpointError::Bind { address, source })?;
        Ok(Self { endpoint, client })
    }

    /// Where others can dial this endpoint.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Dials a node, which must show a certificate for exactly that node.
    pub(crate) async fn dial(&self, address: SocketAddr, node: NodeId) -> Result<QuicConnection, LossCause> {
        let connecting = self
            .endpoint
            .connect_with(self.client.clone(), address, &node.dns_name())
            .map_err(|error| LossCause::Unreachable(error.to_string()))?;
        let connection = connecting.await.map_err(|error| LossCause::Unreachable(error.to_string()))?;
        Ok(QuicConnection { connection })
    }

    /// The next incoming connection whose TLS handshake has not begun; `None` once the endpoint is closed.
    pub(crate) async fn accept(&self) -> Option<quinn::Incoming> {
        self.endpoint.accept().await
    }

    /// Ends every connection and stops listening.
    pub(crate) fn close(&self, reason: &str) {
        self.endpoint.close(VarInt::from_u32(0), reason.as_bytes());
    }

    /// Waits until the ends of all connections were told to their peers.
    pub(crate) async fn wait_idle(&self) {
        self.endpoint.wait_idle().await;
    }
}

fn transport_config() -> TransportConfig {
    let mut transport = TransportConfig::default();
    // A duration of seconds is far below the largest idle time-out that QUIC can express.
    let idle = IdleTimeout::try_from(limits::SILENCE_MAX).expect("ten seconds are a valid idle time-out");
    transport
        .max_idle_timeout(Some(idle))
        .keep_alive_interval(Some(limits::KEEP_ALIVE))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(CONNECTION_WINDOW_BYTES))
        .send_window(u64::from(CONNECTION_WINDOW_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None)
        // Nodes share a data-center network; the default of 333 ms delays the first packets' recovery.
        .initial_rtt(Duration::from_millis(5));
    transport
}

/// One QUIC connection.
pub(crate) struct QuicConnection {
    connection: quinn::Connection,
}

impl QuicConnection {
    /// Finishes the TLS handshake of an incoming connection.
    pub(crate) async fn accept(incoming: quinn::Incoming) -> Result<Self, LossCause> {
        let connection = incoming.await.map_err(|error| LossCause::Disconnected(error.to_string()))?;
        Ok(Self { connection })
    }
}

impl Connection for QuicConnection {
    fn open(&self) -> BoxFuture<'_, io::Result<Stream>> {
        Box::pin(async {
            let (writer, reader) = self.connection.open_bi().await?;
            Ok(Stream { reader: Box::new(reader), writer: Box::new(writer) })
        })
    }

    fn accept(&self) -> BoxFuture<'_, io::Result<Stream>> {
        Box::pin(async {
            let (writer, reader) = self.connection.accept_bi().await?;
            Ok(Stream { reader: Box::new(reader), writer: Box::new(writer) })
        })
    }

    fn peer_certificate(&self) -> Option<CertificateDer<'static>> {
        let identity = self.connection.peer_identity()?;
        identity.downcast::<Vec<CertificateDer<'static>>>().ok()?.into_iter().next()
    }

    fn close(&self, reason: &str) {
        self.connection.close(VarInt::from_u32(0), reason.as_bytes());
    }

    fn closed(&self) -> BoxFuture<'_, LossCause> {
        Box::pin(async { cause(&self.connection.closed().await) })
    }
}

fn cause(error: &ConnectionError) -> LossCause {
    match error {
        ConnectionError::TimedOut => LossCause::Silent(limits::SILENCE_MAX),
        ConnectionError::LocallyClosed => LossCause::ShuttingDown,
        ConnectionError::ApplicationClosed(close) => {
            LossCause::Disconnected(String::from_utf8_lossy(&close.reason).into_owned())
        }
        other => LossCause::Disconnected(other.to_string()),
    }
}
