//! TLS to PostgreSQL: a connector for the library that uses the program's own TLS. The names of its modes are those
//! of libpq.

use super::super::trust::Trust;
use plimsoll_engine::link::tls::Setup;
use std::future::Future;
use std::io::{Error, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// Connector that verifies hosts according to its trust settings.
#[derive(Clone)]
pub struct Tls(pub Trust);

/// A pending handshake.
pub struct Handshake(Setup);

/// A connection after its handshake.
pub struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake> {
        // A server that accepts TLS without a plain-text request requires the protocol's name (ALPN).
        self.0.setup(host, &["postgresql"]).map(Handshake).map_err(Error::other)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Encrypted<S>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let Handshake(setup) = self;
        let connector = TlsConnector::from(setup.config());
        Box::pin(async move { connector.connect(setup.server_name(), stream).await.map(Encrypted) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    /// Channel binding is not supported: the certificate's hash would have to use its signature's algorithm.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
