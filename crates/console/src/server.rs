//! Life of the server: listens, serves connections, and finally stops the loads that it has started.

use crate::agents::Agents;
use crate::api::router;
use crate::app::App;
use crate::auth::Auth;
use crate::connection_limiter::{ConnectionLimiter, Place};
use crate::hub::Hubs;
use crate::index::Index;
use crate::jobs::Jobs;
use crate::login_throttle::LoginThrottle;
use crate::names::Names;
use crate::readers::{ALL_MAX, Readers};
use crate::write_timeout::WriteTimeout;
use crate::{Config, tls};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// Maximum size of the request line and headers.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Maximum wait for the head of a request or the TLS handshake; also the idle time of a connection.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Pause after a failed accept (no file descriptors left), so that the loop does not spin.
const PAUSE: Duration = Duration::from_millis(100);
/// Threads for starts, checks, and everything else but pages and live reads.
const ASIDE_MAX: usize = 64;

/// Why the console cannot be served.
#[derive(Debug)]
pub enum Error {
    /// The port is taken, or the address does not belong to this machine.
    Listen { address: SocketAddr, source: std::io::Error },
    /// An address that other machines can reach, without protection.
    Unprotected { address: SocketAddr },
    /// An error of certificate, key, randomness, or threads.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Listen { address, source } => write!(f, "cannot listen on `{address}`: {source}"),
            Error::Unprotected { address } => {
                write!(f, "other machines can reach `{address}`, and anyone there could start loads")
            }
            Error::Other(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Listen { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl Error {
    /// Returns the fix.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Listen { .. } => Some("choose another address; `--listen 127.0.0.1:0` picks a free port"),
            Error::Unprotected { .. } => Some("add `--tls-cert`, `--tls-key`, and `--password-file`"),
            Error::Other(_) => None,
        }
    }
}

/// A running console on its own thread.
pub struct Server {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Starts to listen and serve.
    ///
    /// # Errors
    /// Returns [`Error`].
    pub fn start(config: Config) -> Result<Server, Error> {
        let address = config.listen;
        if !address.ip().is_loopback() && config.secure.is_none() {
            return Err(Error::Unprotected { address });
        }
        let acceptor = config.secure.as_ref().map(tls::acceptor).transpose().map_err(Error::Other)?;
        let listener =
            std::net::TcpListener::bind(address).map_err(|source| Error::Listen { address, source })?;
        let address = listener
            .set_nonblocking(true)
            .and_then(|()| listener.local_addr())
            .map_err(|source| Error::Listen { address, source })?;
        let password = config.secure.as_ref().map(|secure| secure.password.clone());
        let auth = Auth::new(password, address.port(), config.tool.random).map_err(Error::Other)?;
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}/?token={}", to_be_opened(address), auth.token());
        let index =
            Index::new(config.folders.clone(), config.state.join("index.json"), config.tool.now_unix_ns);
        let index = Arc::new(index);
        let agents = Arc::new(Agents::new(&config.tool, config.agents.clone(), config.signing_key.clone()));
        let app = Arc::new(App {
            names: Names { address, is_secure: acceptor.is_some() },
            auth,
            throttle: LoginThrottle::default(),
            index,
            annotating: Arc::default(),
            agents: Arc::clone(&agents),
            jobs: Arc::new(Jobs::new(
                config.tool.clone(),
                config.folders.clone(),
                Arc::clone(&agents),
                config.allow_commands,
                &config.state.join("console"),
            )),
            hubs: Hubs::default(),
            pages: Readers::default(),
            looks: Readers::default(),
            config,
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            // Pool threads, which come and go.
            .thread_name("console-aside")
            // Enough that unfinished reads of both kinds leave threads for the others.
            .max_blocking_threads(2 * ALL_MAX + ASIDE_MAX)
            .build()
            .map_err(|e| Error::Other(format!("cannot prepare the console's thread: {e}")))?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("console".into())
            .spawn(move || {
                runtime.block_on(serve(listener, acceptor, app, stopped));
                // Aborts reads and waits in progress.
                runtime.shutdown_background();
            })
            .map_err(|e| Error::Other(format!("cannot start the console's thread: {e}")))?;
        Ok(Server { url, stop: Some(stop), thread })
    }

    /// Returns the address to open on this machine, which grants access.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns whether the server has stopped because of an error.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Interrupts the loads that the console has started, waits for their reports, and stops.
    ///
    /// # Errors
    /// Returns an error if its thread panicked.
    pub fn stop(mut self) -> Result<(), Error> {
        if let Some(stop) = self.stop.take() {
            // The server may have stopped already.
            let _ = stop.send(());
        }
        self.thread.join().map_err(|_| Error::Other("the console's thread panicked".into()))
    }
}

/// Replaces the unspecified address, which no browser can open, by the loopback address.
fn to_be_opened(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn serve(
    listener: std::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    app: Arc<App>,
    stopped: oneshot::Receiver<()>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let router = router(app.clone());
    let accepting = async {
        let crowd = Arc::new(ConnectionLimiter::default());
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Rows of a live view are small and must not be delayed.
            let _ = stream.set_nodelay(true);
            let (router, acceptor) = (router.clone(), acceptor.clone());
            let (place, dismissed) = crowd.enter(peer.ip());
            tokio::spawn(async move {
                let served = async {
                    match acceptor {
                        None => connection(stream, router, place).await,
                        Some(acceptor) => {
                            let shaken = tokio::time::timeout(HEAD_PATIENCE, acceptor.accept(stream)).await;
                            if let Ok(Ok(stream)) = shaken {
                                connection(stream, router, place).await;
                            }
                        }
                    }
                };
                tokio::select! {
                    () = served => {}
                    _ = dismissed => {}
                }
            });
            // Lets each accepted connection be read before the next ones can displace it.
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = accepting => {}
        // Also applies if the server's owner is gone.
        _ = stopped => app.jobs.end_all().await,
    }
}

async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router, place: Arc<Place>) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(HEAD_BYTES_MAX);
    let router = TowerToHyperService::new(router.into_service::<Incoming>());
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(place.clone());
        router.call(request)
    });
    // A browser that disconnects or does not use HTTP is not an error.
    let _ = builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service).await;
}
