//! Redis commands of programs. They are not part of the load: one thread serves the clients of all users, each with its
//! own connections. A server is resolved and checked for permission once, as an origin is, but never tried.

use super::Shared;
use plimsoll_engine::clock::now_ns;
use plimsoll_engine::link::tls::Setup;
use plimsoll_engine::origins::OriginAnswer;
use plimsoll_plan::Fault;
use plimsoll_plan::program::{OriginQuery, Unreachable};
use plimsoll_plan::redis::{RedisClient, RedisCommand};
use plimsoll_wire::redis::{Reply, Scanner, write_command};
use std::collections::HashMap;
use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{OnceCell, Semaphore};
use tokio_rustls::TlsConnector;

/// Largest reply, bytes.
const REPLY_BYTES_MAX: usize = 512 << 20;
/// Beginnings of errors that pass: a command that gets one is repeated.
const PASSING: &[&str] = &["LOADING ", "TRYAGAIN ", "ERR max number of clients reached"];

/// The way to the thread.
pub struct Redis {
    jobs: UnboundedSender<Job>,
}

struct Job {
    command: Arc<RedisCommand>,
    answer: OriginAnswer,
}

/// Where the connections to a server go.
#[derive(Clone)]
struct Server {
    addresses: Vec<SocketAddr>,
    tls: Option<Setup>,
}

type FoundServer = OnceCell<Result<Server, Unreachable>>;

/// What all commands share.
struct Servers {
    origins: Weak<Shared>,
    /// By queries without a command.
    known: Mutex<HashMap<OriginQuery, Arc<FoundServer>>>,
}

/// The connections of a client.
#[derive(Debug)]
struct Pool {
    idle: Mutex<Vec<Connection>>,
    /// One permit for each connection that may exist.
    permits: Semaphore,
}

/// Why a command has no reply.
enum Failure {
    /// The connection was refused or broke: the command may be repeated.
    Passing(String),
    Final(String),
}

trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

struct Connection {
    stream: Box<dyn Duplex>,
    opened_ns: u64,
    used_ns: u64,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Redis {
    /// Starts the thread, which ends when this value is dropped.
    ///
    /// # Errors
    /// Returns an error if the kernel allows no more threads or file descriptors.
    pub fn start(origins: Weak<Shared>) -> std::io::Result<Redis> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (jobs, mut received) = unbounded_channel::<Job>();
        let servers = Arc::new(Servers { origins, known: Mutex::default() });
        let serve = move || {
            runtime.block_on(async {
                while let Some(job) = received.recv().await {
                    let servers = Arc::clone(&servers);
                    tokio::spawn(async move {
                        let result = servers.serve(&job.command).await;
                        job.answer.send(result.map(|()| 0));
                    });
                }
            });
        };
        std::thread::Builder::new().name("redis".into()).spawn(serve)?;
        Ok(Redis { jobs })
    }

    pub fn send(&self, command: Arc<RedisCommand>, answer: OriginAnswer) {
        if let Err(unsent) = self.jobs.send(Job { command, answer }) {
            let sentence = "the thread of the Redis clients has ended".into();
            unsent.0.answer.send(Err(Unreachable { fault: Fault::ClientSendRefused, sentence }));
        }
    }
}

impl Servers {
    /// Sets the reply of a command.
    async fn serve(&self, command: &Arc<RedisCommand>) -> Result<(), Unreachable> {
        let server = self.server(command).await?;
        let reply = answered(command, &server).await;
        // The first reply is the only one.
        let _ = command.reply.set(reply);
        Ok(())
    }

    async fn server(&self, command: &Arc<RedisCommand>) -> Result<Server, Unreachable> {
        let query = OriginQuery { redis: None, ..OriginQuery::from(Arc::clone(command)) };
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(query.clone()).or_default())
        };
        let found = cell.get_or_init(|| self.find(query.clone())).await.clone();
        if found.as_ref().is_err_and(|why| !matches!(why.fault, Fault::OriginRefused | Fault::InvalidRequest))
        {
            // A name may resolve later; permission does not come during a run.
            self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&query);
        }
        found
    }

    /// Resolves a server and checks the permission, on a thread that may wait.
    async fn find(&self, query: OriginQuery) -> Result<Server, Unreachable> {
        let over = |_| Unreachable { fault: Fault::ClientSendRefused, sentence: "the run has ended".into() };
        let origins = self.origins.upgrade().ok_or_else(|| over(()))?;
        let found = tokio::task::spawn_blocking(move || {
            let way = origins.permitted_way(&query, &origins.direct_plan(&query))?;
            Ok(Server { addresses: way.place.addresses.clone(), tls: way.tls })
        });
        found.await.map_err(|_| over(()))?
    }
}

/// Sends a command until it gets a reply, as often as its client says.
async fn answered(command: &RedisCommand, server: &Server) -> Result<Vec<u8>, String> {
    let client = &command.client;
    let made = client.pool.get_or_init(|| {
        let permits = Semaphore::new(client.connections_max.min(Semaphore::MAX_PERMITS));
        Box::new(Pool { idle: Mutex::default(), permits })
    });
    let Some(pool) = made.downcast_ref::<Pool>() else {
        return Err("the client has no connections".to_owned());
    };
    let mut wait_ns = client.backoff_ns.0;
    let mut left = client.retries;
    loop {
        match pool.exchange(command, server).await {
            Ok(reply) => return Ok(reply),
            Err(Failure::Final(why)) => return Err(why),
            Err(Failure::Passing(why)) if left == 0 => return Err(why),
            Err(Failure::Passing(_)) => {
                left -= 1;
                tokio::time::sleep(Duration::from_nanos(wait_ns)).await;
                wait_ns = wait_ns.saturating_mul(2).min(client.backoff_ns.1);
            }
        }
    }
}

impl Pool {
    /// Sends a command over a connection, and returns its reply.
    async fn exchange(&self, command: &RedisCommand, server: &Server) -> Result<Vec<u8>, Failure> {
        let client = &command.client;
        let waited =
            within(client.pool_timeout_ns, "no connection became free in time", self.permits.acquire());
        // The semaphore is never closed.
        let Ok(_permit) = waited.await.map_err(Failure::Final)? else {
            return Err(Failure::Final("the client has ended".to_owned()));
        };
        let mut connection = match self.idle(client) {
            Some(connection) => connection,
            None => open(client, server).await?,
        };
        let reply = connection.exchange(&command.bytes, client.reply_timeout_ns).await?;
        let is_passing = |text: &[u8]| PASSING.iter().any(|begin| text.starts_with(begin.as_bytes()));
        if let Some(error) = reply.strip_prefix(b"-").filter(|error| is_passing(error)) {
            return Err(Failure::Passing(String::from_utf8_lossy(error).trim_end().to_owned()));
        }
        connection.used_ns = now_ns();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(reply)
    }

    /// Returns the connection that was used last, unless it is too old.
    fn idle(&self, client: &RedisClient) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = now_ns();
        let is_young = |connection: &Connection| {
            now_ns.saturating_sub(connection.used_ns) < client.idle_timeout_ns
                && now_ns.saturating_sub(connection.opened_ns) < client.lifetime_ns
        };
        idle.retain(is_young);
        idle.pop()
    }
}

/// Opens a connection and logs in.
async fn open(client: &RedisClient, server: &Server) -> Result<Connection, Failure> {
    let stream = within(client.connect_timeout_ns, "connection timed out", connect(server)).await;
    let stream = stream.map_err(Failure::Passing)?.map_err(|error| Failure::Passing(sentence(&error)))?;
    let opened_ns = now_ns();
    let mut connection = Connection { stream, opened_ns, used_ns: opened_ns };
    let mut steps: Vec<Vec<&str>> = Vec::new();
    let database = client.database.to_string();
    if let Some(password) = &client.password {
        let mut login = vec!["AUTH"];
        login.extend(client.user.as_deref());
        login.push(password.reveal());
        steps.push(login);
    }
    if client.database > 0 {
        steps.push(vec!["SELECT", &database]);
    }
    if let Some(name) = &client.name {
        steps.push(vec!["CLIENT", "SETNAME", name]);
    }
    for step in steps {
        let mut bytes = Vec::new();
        write_command(&step, &mut bytes);
        let reply = connection.exchange(&bytes, client.reply_timeout_ns).await?;
        if let Ok(Reply::Error(why)) = Reply::parse(&reply) {
            return Err(Failure::Final(String::from_utf8_lossy(&why).into_owned()));
        }
    }
    Ok(connection)
}

/// Connects to the first address that accepts.
async fn connect(server: &Server) -> std::io::Result<Box<dyn Duplex>> {
    let mut last = Error::from(ErrorKind::NotFound);
    for address in &server.addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(match &server.tls {
                    None => Box::new(socket),
                    Some(setup) => {
                        let connector = TlsConnector::from(setup.config());
                        Box::new(connector.connect(setup.server_name(), socket).await?)
                    }
                });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Connection {
    /// Sends a command and returns its reply.
    async fn exchange(&mut self, command: &[u8], timeout_ns: u64) -> Result<Vec<u8>, Failure> {
        let both = async {
            self.stream.write_all(command).await?;
            self.stream.flush().await?;
            let (mut bytes, mut scanner) = (Vec::new(), Scanner::new());
            loop {
                match scanner.scan(&bytes).map_err(Error::other)? {
                    // Nothing follows the reply of the only command in progress.
                    Some(end) if end == bytes.len() => return Ok(bytes),
                    None if bytes.len() < REPLY_BYTES_MAX => {}
                    _ => return Err(Error::other("the server sent more than a reply")),
                }
                if self.stream.read_buf(&mut bytes).await? == 0 {
                    return Err(Error::from(ErrorKind::UnexpectedEof));
                }
            }
        };
        let exchanged = within(timeout_ns, "no reply in time", both).await.map_err(Failure::Passing)?;
        exchanged.map_err(|error| match error.kind() {
            ErrorKind::Other => Failure::Final(sentence(&error)),
            _ => Failure::Passing(sentence(&error)),
        })
    }
}

/// Waits for a result, at most for a time; then `late` is the error.
async fn within<T>(limit_ns: u64, late: &str, of: impl Future<Output = T>) -> Result<T, String> {
    match limit_ns {
        u64::MAX => Ok(of.await),
        _ => tokio::time::timeout(Duration::from_nanos(limit_ns), of).await.map_err(|_| late.to_owned()),
    }
}

fn sentence(error: &Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "the server reset the connection".to_owned(),
        ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => error.to_string(),
    }
}
