//! The life of the server: it listens, serves each connection, and in the end stops what it has started.

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

/// Line and headers of a request.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Until the head of a request, or the handshake of TLS, has come. Also how long an idle connection is kept.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// After a connection could not be taken (no descriptors left), so that the loop does not spin.
const PAUSE: Duration = Duration::from_millis(100);
/// For starts, checks and all else that is neither a page nor a look at a run that goes on.
const ASIDE_MAX: usize = 64;

/// Why the console cannot be served.
#[derive(Debug)]
pub enum Error {
    /// Somebody else has the port, or the address is none of this machine.
    Listen { address: SocketAddr, source: std::io::Error },
    /// An address that others can reach, without what protects it.
    Unprotected { address: SocketAddr },
    /// Certificate, key, randomness, threads.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Listen { address, source } => write!(f, "cannot listen on `{address}`: {source}"),
            Error::Unprotected { address } => {
                write!(
                    f,
                    "`{address}` can be reached from other machines, and anybody there could start loads"
                )
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
    /// The mend.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Listen { .. } => Some("name another one: `--listen 127.0.0.1:0` takes a free port"),
            Error::Unprotected { .. } => Some("give `--tls-cert`, `--tls-key` and `--password-file`, too"),
            Error::Other(_) => None,
        }
    }
}

/// A console that is being served, on a thread of its own.
pub struct Server {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Listens, and serves from now on.
    ///
    /// # Errors
    /// See [`Error`].
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
        let app = Arc::new(App {
            names: Names { address, is_secure: acceptor.is_some() },
            auth,
            throttle: LoginThrottle::default(),
            index,
            annotating: Arc::default(),
            jobs: Arc::new(Jobs::new(
                config.tool.clone(),
                config.folders.clone(),
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
            // Those for work aside, which come and go.
            .thread_name("console-aside")
            // However many of the two kinds of readers never end, the others have theirs.
            .max_blocking_threads(2 * ALL_MAX + ASIDE_MAX)
            .build()
            .map_err(|e| Error::Other(format!("the console's thread cannot be prepared: {e}")))?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("console".into())
            .spawn(move || {
                runtime.block_on(serve(listener, acceptor, app, stopped));
                // Whoever still reads or waits is cut off.
                runtime.shutdown_background();
            })
            .map_err(|e| Error::Other(format!("the console's thread cannot be started: {e}")))?;
        Ok(Server { url, stop: Some(stop), thread })
    }

    /// What is to be opened on this machine; whoever has it may come in.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// It serves no more: something broke.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Interrupts the loads that it has started, waits for their reports, and ends.
    ///
    /// # Errors
    /// When its thread has broken down.
    pub fn stop(mut self) -> Result<(), Error> {
        if let Some(stop) = self.stop.take() {
            // It has ended by itself: that is what was to be reached.
            let _ = stop.send(());
        }
        self.thread.join().map_err(|_| Error::Other("the console's thread broke down".into()))
    }
}

/// No browser can open the address that stands for all of a machine; on the machine itself this one is among them.
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
            // Rows of a live view are small and must not wait for each other.
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
            // Of a crowd that waits to be accepted each gets its turn to be read before the next ones can displace it.
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = accepting => {}
        // Also when whoever started the server is gone.
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
    // A browser that goes away, or speaks no HTTP, is its own affair.
    let _ = builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service).await;
}
