//! One connection before any load: checks whether the target listens, how far away it is, and whether it is ready. It
//! uses the TLS setup of the load, so it meets the same problems.

use crate::clock::now_ns;
use crate::link::tls::{Channel, Setup};
use plimsoll_plan::Problem;
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The reason why the first connection failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeError {
    Refused,
    TimedOut,
    Unreachable(String),
    /// The load generator failed.
    Client(String),
    Other(String),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeError::Refused => write!(f, "connection refused (nothing is listening)"),
            ProbeError::TimedOut => write!(f, "connection timed out"),
            ProbeError::Unreachable(why) => write!(f, "unreachable ({why})"),
            ProbeError::Client(why) => write!(f, "the load generator could not open a connection ({why})"),
            ProbeError::Other(why) => write!(f, "connection failed ({why})"),
        }
    }
}

/// Opens and closes one connection; returns how long the setup took, ns.
///
/// # Errors
/// Returns an error if the connection fails, classified by the side that caused it.
pub fn connect(address: SocketAddr, timeout: Duration) -> Result<u64, ProbeError> {
    let begin = now_ns();
    match TcpStream::connect_timeout(&address, timeout) {
        Ok(_) => Ok(now_ns() - begin),
        Err(e) => Err(classify(&e)),
    }
}

fn classify(e: &std::io::Error) -> ProbeError {
    match (e.kind(), e.raw_os_error()) {
        (ErrorKind::ConnectionRefused, _) => ProbeError::Refused,
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

/// Returns the status of the response to one GET, without waiting for the rest of the response.
///
/// # Errors
/// Returns an error if there is no response, or if it is not HTTP.
pub fn status(
    address: SocketAddr,
    tls: Option<&Setup>,
    host_header: &str,
    path: &str,
    timeout: Duration,
) -> Result<u16, Problem> {
    let mut stream = connected(address, timeout).map_err(Problem::plain)?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host_header}\r\nUser-Agent: plimsoll/{}\r\nConnection: close\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    // `HTTP/1.1 200`
    let mut line = [0; 12];
    match tls {
        Some(setup) => {
            let answer = exchanged(&mut stream, setup, request.as_bytes(), line.len())?;
            let begin = answer
                .first_chunk()
                .ok_or_else(|| Problem::plain("it closed the connection without a response"))?;
            line = *begin;
        }
        None => {
            stream.write_all(request.as_bytes()).map_err(|e| Problem::plain(e.to_string()))?;
            stream.read_exact(&mut line).map_err(|e| unanswered(&e))?;
        }
    }
    let code = line.strip_prefix(b"HTTP/1.").and_then(|rest| std::str::from_utf8(&rest[2..]).ok());
    code.and_then(|code| code.parse().ok()).ok_or_else(|| Problem::plain("the response is not HTTP"))
}

fn unanswered(e: &std::io::Error) -> Problem {
    Problem::plain(match classify(e) {
        ProbeError::TimedOut => "it accepted the connection but did not respond",
        _ => "it closed the connection without a response",
    })
}

fn connected(address: SocketAddr, timeout: Duration) -> Result<TcpStream, String> {
    let stream = TcpStream::connect_timeout(&address, timeout).map_err(|e| classify(&e).to_string())?;
    let limits =
        stream.set_read_timeout(Some(timeout)).and_then(|()| stream.set_write_timeout(Some(timeout)));
    limits.map_err(|e| e.to_string())?;
    Ok(stream)
}

/// Sends a request over TLS and returns the response: all of it, or at least its first `enough` bytes. An end without
/// `close_notify` does not count, because an attacker can cause it.
fn exchanged(
    stream: &mut TcpStream,
    setup: &Setup,
    request: &[u8],
    enough: usize,
) -> Result<Vec<u8>, Problem> {
    let (mut out, mut answer, mut buffer) = (Vec::new(), Vec::new(), vec![0; 16_384]);
    let mut channel = greeted(stream, setup)?;
    channel.seal(request, &mut out).map_err(|e| e.problem().clone())?;
    while !channel.is_closed() && answer.len() < enough {
        stream.write_all(&out).map_err(|e| Problem::plain(e.to_string()))?;
        out.clear();
        let n = stream.read(&mut buffer).map_err(|e| unanswered(&e))?;
        if n == 0 {
            let why = "the server closed the connection without ending TLS (`close_notify`)";
            return Err(Problem::plain(why));
        }
        let fed = channel.feed(&mut buffer[..n], &mut answer, &mut out);
        fed.map_err(|refused| refused.problem().clone())?;
    }
    Ok(answer)
}

/// Does one TLS handshake before any load, so that an untrusted certificate is one error message instead of ten
/// thousand failures.
///
/// # Errors
/// Returns an error with the reason.
pub fn handshake(address: SocketAddr, setup: &Setup, timeout: Duration) -> Result<(), Problem> {
    let mut stream = connected(address, timeout).map_err(Problem::plain)?;
    greeted(&mut stream, setup).map(drop)
}

fn greeted(stream: &mut TcpStream, setup: &Setup) -> Result<Channel, Problem> {
    let (mut out, mut plain, mut buffer) = (Vec::new(), Vec::new(), vec![0; 16_384]);
    let mut channel = Channel::new(setup, &mut out).map_err(|e| e.problem().clone())?;
    loop {
        stream.write_all(&out).map_err(|e| Problem::plain(e.to_string()))?;
        out.clear();
        if channel.is_ready() {
            return Ok(channel);
        }
        let n = stream.read(&mut buffer).map_err(|e| match classify(&e) {
            ProbeError::TimedOut => Problem::plain("the TLS handshake timed out"),
            _ => Problem::plain(e.to_string()),
        })?;
        if n == 0 {
            return Err(Problem::plain("the server closed the connection during the TLS handshake"));
        }
        let fed = channel.feed(&mut buffer[..n], &mut plain, &mut out);
        if let Err(refused) = fed {
            // The alert tells the server why; it does not matter if it cannot be sent.
            let _ = stream.write_all(&out);
            return Err(refused.problem().clone());
        }
    }
}
