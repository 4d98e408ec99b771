//! One connection before any load: checks whether the target listens, how far away it is, and whether it is ready. It
//! uses the TLS setup of the load, so it meets the same problems.

mod stream;

use crate::clock::now_ns;
use crate::link::tls::{Channel, Setup, TlsFault};
use crate::route::Route;
use crate::sys::socket;
use plimsoll_plan::{Fault, Problem};
use plimsoll_wire::h2::{self, Event};
use plimsoll_wire::proxy::Refused;
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;
use stream::Stream;

/// Where a trial connection goes.
#[derive(Debug, Clone, Copy)]
pub struct Peer<'a> {
    pub address: SocketAddr,
    pub route: Option<&'a Route>,
}

impl From<SocketAddr> for Peer<'static> {
    fn from(address: SocketAddr) -> Self {
        Peer { address, route: None }
    }
}

/// The reason why the first connection failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeError {
    Refused,
    TimedOut,
    Unreachable(String),
    /// The load generator failed.
    Client(String),
    /// The proxy opened no tunnel; whether it wants other credentials.
    Proxy {
        why: String,
        is_about_credentials: bool,
    },
    Other(String),
}

impl ProbeError {
    /// Returns the row of the table of failures that the load would count.
    pub fn class(&self) -> Fault {
        match self {
            ProbeError::Refused => Fault::ConnectionRefused,
            ProbeError::TimedOut => Fault::ConnectTimeout,
            ProbeError::Unreachable(_) => Fault::HostUnreachable,
            ProbeError::Client(_) => Fault::ClientSendRefused,
            ProbeError::Proxy { is_about_credentials: true, .. } => Fault::ProxyCredentials,
            ProbeError::Proxy { .. } => Fault::ProxyRefused,
            ProbeError::Other(_) => Fault::ConnectionReset,
        }
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeError::Refused => write!(f, "connection refused (nothing is listening)"),
            ProbeError::TimedOut => write!(f, "connection timed out"),
            ProbeError::Unreachable(why) => write!(f, "unreachable ({why})"),
            ProbeError::Client(why) => write!(f, "the load generator could not open a connection ({why})"),
            ProbeError::Proxy { why, .. } => write!(f, "the proxy opened no connection: {why}"),
            ProbeError::Other(why) => write!(f, "connection failed ({why})"),
        }
    }
}

/// Opens and closes one connection; returns how long the setup took, with the handshake of a proxy, ns.
///
/// # Errors
/// Returns an error if the connection fails, classified by the side that caused it.
pub fn connect<'a>(peer: impl Into<Peer<'a>>, timeout: Duration) -> Result<u64, ProbeError> {
    let begin = now_ns();
    Stream::open(peer.into(), timeout).map(|_| now_ns() - begin)
}

/// Why sockets cannot be bound to a network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceProblem {
    Missing,
    Forbidden,
    Other(String),
}

/// Checks that connections can be bound to a network interface.
///
/// # Errors
/// Returns an error if the interface does not exist, or the kernel refuses.
pub fn check_interface(name: &str) -> Result<(), InterfaceProblem> {
    socket::check_interface(name).map_err(|errno| match errno.0 {
        libc::ENODEV => InterfaceProblem::Missing,
        libc::EPERM => InterfaceProblem::Forbidden,
        _ => InterfaceProblem::Other(errno.sentence()),
    })
}

fn classify(e: &std::io::Error) -> ProbeError {
    match (e.kind(), e.raw_os_error()) {
        // Nothing listens on the path of a Unix domain socket that does not exist.
        (ErrorKind::ConnectionRefused | ErrorKind::NotFound, _) => ProbeError::Refused,
        (ErrorKind::TimedOut | ErrorKind::WouldBlock, _) => ProbeError::TimedOut,
        (_, Some(libc::ENETUNREACH | libc::EHOSTUNREACH)) => ProbeError::Unreachable(e.to_string()),
        (
            _,
            Some(
                libc::EMFILE
                | libc::ENFILE
                | libc::EADDRNOTAVAIL
                | libc::ENOBUFS
                | libc::EPERM
                | libc::EACCES,
            ),
        ) => ProbeError::Client(e.to_string()),
        _ => ProbeError::Other(e.to_string()),
    }
}

/// Returns the status of the response to one GET, without waiting for the rest of the response. Over TLS, the server
/// chooses the version of HTTP; over plain text, it is HTTP/2 if `is_http2`.
///
/// # Errors
/// Returns an error if there is no response, or if it is not HTTP.
pub fn status<'a>(
    peer: impl Into<Peer<'a>>,
    tls: Option<&Setup>,
    is_http2: bool,
    host_header: &str,
    path: &str,
    timeout: Duration,
) -> Result<u16, Problem> {
    let peer = peer.into();
    let mut line = Line::open(peer, tls, timeout)?;
    let is_http2 = match &line.channel {
        Some(channel) => channel.facts().and_then(|facts| facts.alpn) == Some(HTTP2),
        None => is_http2,
    };
    let user_agent = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));
    if is_http2 {
        return line.status_http2(host_header, path, user_agent);
    }
    let forward = peer.route.and_then(|route| route.forward.as_ref());
    let prefix = forward.map_or("", |forward| &forward.prefix);
    let mut bytes = format!("GET {prefix}{path} HTTP/1.1\r\nHost: {host_header}\r\n").into_bytes();
    bytes.extend_from_slice(forward.map_or(&[][..], |forward| &forward.fields.0));
    bytes.extend_from_slice(format!("User-Agent: {user_agent}\r\nConnection: close\r\n\r\n").as_bytes());
    line.send(&bytes)?;
    line.status()
}

/// Checks that a proxy that forwards requests accepts the login of the route. It is asked for a name that never
/// resolves (RFC 6761, section 6.4), so that no server gets a request; only a status of 407 says something, or 401,
/// which some proxies send instead. A proxy without a response is not at fault.
///
/// # Errors
/// Returns an error if it wants other credentials.
pub fn check_login(peer: Peer<'_>, timeout: Duration) -> Result<(), ProbeError> {
    let mut bytes = b"GET http://plimsoll.invalid/ HTTP/1.1\r\nHost: plimsoll.invalid\r\n".to_vec();
    let forward = peer.route.and_then(|route| route.forward.as_ref());
    bytes.extend_from_slice(forward.map_or(&[][..], |forward| &forward.fields.0));
    bytes.extend_from_slice(b"Connection: close\r\n\r\n");
    let asked = Line::open(peer, None, timeout).and_then(|mut line| {
        line.send(&bytes)?;
        line.status()
    });
    match asked.map(Refused::Status) {
        Ok(refused) if refused.is_about_credentials() => {
            Err(ProbeError::Proxy { why: refused.to_string(), is_about_credentials: true })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A connection, perhaps over TLS.
pub struct Line {
    stream: Stream,
    channel: Option<Channel>,
    /// A server that keeps sending and never answers has no more time than one that is silent.
    until_ns: u64,
}

impl Line {
    /// Connects to a peer.
    ///
    /// # Errors
    /// Returns an error if the connection or the handshake fails.
    pub fn open(peer: Peer<'_>, tls: Option<&Setup>, timeout: Duration) -> Result<Line, Problem> {
        let mut stream = connected(peer, timeout)?;
        let channel =
            tls.map(|setup| greeted(&mut stream, setup)).transpose().map_err(|failed| failed.why)?;
        let until_ns = now_ns().saturating_add(timeout.as_nanos() as u64);
        Ok(Line { stream, channel, until_ns })
    }

    /// Returns whether it is over TLS.
    pub fn has_tls(&self) -> bool {
        self.channel.is_some()
    }

    /// Returns whether the server chose HTTP/2 over TLS.
    pub fn has_chosen_http2(&self) -> bool {
        self.channel.as_ref().and_then(Channel::facts).and_then(|facts| facts.alpn) == Some(HTTP2)
    }

    /// Gives the server this time for the responses that follow.
    pub fn give(&mut self, timeout: Duration) {
        self.until_ns = now_ns().saturating_add(timeout.as_nanos() as u64);
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// Returns an error if the connection ends or is not ready in time.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let failed = |e: std::io::Error| Problem::plain(e.to_string());
        let Some(channel) = &mut self.channel else { return self.stream.write_all(bytes).map_err(failed) };
        let mut sealed = Vec::new();
        channel.seal(bytes, &mut sealed).map_err(|e| e.problem().clone())?;
        self.stream.write_all(&sealed).map_err(failed)
    }

    /// Appends the next bytes; at least one. An end of TLS without `close_notify` is an error as well, because an
    /// attacker can cause it.
    ///
    /// # Errors
    /// Returns an error if the connection ends, or if nothing arrives in time.
    pub fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), Problem> {
        let (mut buffer, mut out, before) = (vec![0; 16_384], Vec::new(), into.len());
        while into.len() == before {
            if now_ns() > self.until_ns {
                return Err(Problem::plain(SILENT));
            }
            let n = self.stream.read(&mut buffer).map_err(|e| unanswered(&e))?;
            if n == 0 {
                return Err(Problem::plain("it closed the connection without a response"));
            }
            let Some(channel) = &mut self.channel else {
                into.extend_from_slice(&buffer[..n]);
                break;
            };
            let fed = channel.feed(&mut buffer[..n], into, &mut out);
            fed.map_err(|refused| refused.problem().clone())?;
            self.stream.write_all(&out).map_err(|e| Problem::plain(e.to_string()))?;
            out.clear();
            if channel.is_closed() && into.len() == before {
                return Err(Problem::plain("it closed the connection without a response"));
            }
        }
        Ok(())
    }

    /// Returns the status of a response over HTTP/1.
    fn status(&mut self) -> Result<u16, Problem> {
        // `HTTP/1.1 200`
        let mut begin = Vec::new();
        while begin.len() < 12 {
            self.receive(&mut begin)?;
        }
        let code = begin[..12].strip_prefix(b"HTTP/1.").and_then(|rest| std::str::from_utf8(&rest[2..]).ok());
        code.and_then(|code| code.parse().ok()).ok_or_else(|| Problem::plain("the response is not HTTP"))
    }

    fn status_http2(&mut self, host: &str, path: &str, user_agent: &str) -> Result<u16, Problem> {
        let scheme = if self.channel.is_some() { "https" } else { "http" };
        let (mut out, mut block) = (Vec::new(), Vec::new());
        let mut writer = h2::Writer::new(&mut block, scheme, host);
        let Ok(_) = writer.line("GET", |out| {
            out.extend_from_slice(path.as_bytes());
            Ok::<(), std::convert::Infallible>(())
        });
        writer.field("user-agent", user_agent.as_bytes());
        writer.end();
        let mut session = h2::Session::new(h2::Config::default());
        session.start(&mut out);
        session.open(h2::Ask::default(), h2::Request::Block(&block), &mut out);
        self.converse(&mut session, out, |event, _| match event {
            Event::Head { status, .. } => Some(Ok(status)),
            Event::Done { answer, .. } => Some(Ok(answer.status)),
            Event::Refused { why, .. } => Some(Err(Problem::plain(why.sentence()))),
            Event::Reset { .. } | Event::GoAway { .. } => {
                Some(Err(Problem::plain("it refused the request over HTTP/2")))
            }
            Event::Settings
            | Event::Interim { .. }
            | Event::Data { .. }
            | Event::HalfClosed { .. }
            | Event::Writable => None,
        })
    }

    /// Sends `out` and feeds what comes until an event has a result.
    fn converse<T>(
        &mut self,
        session: &mut h2::Session,
        mut out: Vec<u8>,
        on: impl Fn(Event, &h2::Session) -> Option<Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let (mut shared, mut received) = (h2::Shared::default(), Vec::new());
        loop {
            self.send(&out)?;
            out.clear();
            received.clear();
            self.receive(&mut received)?;
            let mut rest = &received[..];
            while !rest.is_empty() {
                let fed = session.feed(rest, &mut shared, &mut (), &mut out);
                let fed = fed.map_err(|why| Problem::plain(why.sentence()))?;
                rest = &rest[fed.consumed..];
                if let Some(result) = fed.event.and_then(|event| on(event, session)) {
                    session.close(h2::code::NO_ERROR, &mut out);
                    // The server has answered; whether it reads the farewell does not matter.
                    let _ = self.send(&out);
                    return result;
                }
            }
        }
    }
}

const SILENT: &str = "it accepted the connection but did not respond";

fn unanswered(e: &std::io::Error) -> Problem {
    Problem::plain(match classify(e) {
        ProbeError::TimedOut => SILENT,
        _ => "it closed the connection without a response",
    })
}

fn connected(peer: Peer<'_>, timeout: Duration) -> Result<Stream, Problem> {
    Stream::open(peer, timeout).map_err(|why| Problem::plain(why.to_string()))
}

/// Does one TLS handshake before any load, so that an untrusted certificate is one error message instead of ten
/// thousand failures. Returns what the server chose.
///
/// # Errors
/// Returns an error with the reason, and how the load would count it.
pub fn handshake<'a>(
    peer: impl Into<Peer<'a>>,
    setup: &Setup,
    timeout: Duration,
) -> Result<Handshake, HandshakeError> {
    let mut stream = Stream::open(peer.into(), timeout)
        .map_err(|why| HandshakeError::new(why.class(), why.to_string()))?;
    let channel = greeted(&mut stream, setup)?;
    let facts = channel.facts();
    let is_http2 = facts.as_ref().and_then(|facts| facts.alpn) == Some(HTTP2);
    Ok(Handshake { is_http2, tls: facts.map(|facts| (facts.version, facts.suite)) })
}

/// What a server chose in a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// HTTP/2, by ALPN.
    pub is_http2: bool,
    /// The version of TLS, 12 or 13, and the cipher suite as IANA names it.
    pub tls: Option<(u8, &'static str)>,
}

/// The name of HTTP/2 in TLS (ALPN), and that of HTTP/1.1.
pub const HTTP2: &[u8] = b"h2";
pub const HTTP1: &[u8] = b"http/1.1";

/// Greets a server in HTTP/2 and reads its settings; over plain text, this is prior knowledge (RFC 9113, section 3.3).
/// Returns whether it supports WebSocket over HTTP/2 (RFC 8441).
///
/// # Errors
/// Returns an error if the server does not answer in HTTP/2.
pub fn greet_http2<'a>(
    peer: impl Into<Peer<'a>>,
    tls: Option<&Setup>,
    timeout: Duration,
) -> Result<bool, Problem> {
    let mut line = Line::open(peer.into(), tls, timeout)?;
    let (mut session, mut out) = (h2::Session::new(h2::Config::default()), Vec::new());
    session.start(&mut out);
    line.converse(&mut session, out, |event, session| match event {
        Event::Settings => Some(Ok(session.allows_connect())),
        _ => None,
    })
}

/// Why a trial handshake failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeError {
    /// The row of the table of failures.
    pub fault: Fault,
    pub why: Problem,
}

impl HandshakeError {
    fn new(fault: Fault, why: impl Into<String>) -> HandshakeError {
        HandshakeError { fault, why: Problem::plain(why) }
    }
}

impl From<TlsFault> for HandshakeError {
    fn from(refused: TlsFault) -> Self {
        HandshakeError { fault: refused.class(), why: refused.problem().clone() }
    }
}

fn greeted(stream: &mut Stream, setup: &Setup) -> Result<Channel, HandshakeError> {
    let (mut out, mut plain, mut buffer) = (Vec::new(), Vec::new(), vec![0; 16_384]);
    let mut channel = Channel::new(setup, &mut out)?;
    loop {
        stream.write_all(&out).map_err(|e| HandshakeError::new(Fault::Tls, e.to_string()))?;
        out.clear();
        if channel.is_ready() {
            return Ok(channel);
        }
        let n = stream.read(&mut buffer).map_err(|e| match classify(&e) {
            ProbeError::TimedOut => HandshakeError::new(Fault::TlsTimeout, "the TLS handshake timed out"),
            _ => HandshakeError::new(Fault::Tls, e.to_string()),
        })?;
        if n == 0 {
            let why = "the server closed the connection during the TLS handshake";
            return Err(HandshakeError::new(Fault::Tls, why));
        }
        let fed = channel.feed(&mut buffer[..n], &mut plain, &mut out);
        if let Err(refused) = fed {
            // The alert tells the server why; it does not matter if it cannot be sent.
            let _ = stream.write_all(&out);
            return Err(refused.into());
        }
    }
}
