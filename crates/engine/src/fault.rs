//! Maps the kernel's error numbers and the parser's errors to fault numbers.

use crate::driver::Errno;
use plimsoll_plan::Fault;
use plimsoll_plan::limit::{Limits, TABLE};
use plimsoll_wire::h1::Malformed;
use plimsoll_wire::h2;
use plimsoll_wire::proxy::Refused;

/// Returns the fault of an error while connecting.
pub fn of_connect(errno: Errno) -> Fault {
    match errno.0 {
        libc::EMFILE | libc::ENFILE => Fault::FdLimit,
        // EADDRINUSE: returned by connect on some kernels if every port to this address is taken.
        libc::EADDRNOTAVAIL | libc::EADDRINUSE | libc::EAGAIN => Fault::PortsExhausted,
        libc::ENOBUFS | libc::ENOMEM | libc::ENOSPC => Fault::ClientOutOfMemory,
        // ENOENT: nothing listens on the path of a Unix domain socket.
        libc::ECONNREFUSED | libc::ENOENT => Fault::ConnectionRefused,
        libc::ETIMEDOUT => Fault::ConnectTimeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EHOSTDOWN | libc::ENETDOWN => Fault::HostUnreachable,
        // TLS with a proxy is broken (`driver::epoll::enclosed`); TCP never reports it.
        libc::EPROTO => Fault::ProxyFailed,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE => Fault::ConnectionReset,
        _ => Fault::ClientSendRefused,
    }
}

/// Returns the fault of an error while connecting to a Unix domain socket.
pub fn of_connect_unix(errno: Errno) -> Fault {
    match errno.0 {
        libc::EAGAIN => Fault::AcceptQueueFull,
        _ => of_connect(errno),
    }
}

/// Returns the fault of a proxy that opens no tunnel.
pub fn of_proxy(refused: Refused) -> Fault {
    match refused {
        refused if refused.is_about_credentials() => Fault::ProxyCredentials,
        refused if refused.is_malformed() => Fault::ProxyFailed,
        _ => Fault::ProxyRefused,
    }
}

/// Returns the fault of an error on an established connection.
pub fn of_transfer(errno: Errno) -> Fault {
    match errno.0 {
        libc::ENOBUFS | libc::ENOMEM => Fault::ClientOutOfMemory,
        libc::ETIMEDOUT => Fault::Timeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ENETDOWN => Fault::HostUnreachable,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE | libc::ENOTCONN => Fault::ConnectionReset,
        // A local firewall, or an unforeseen error: never blamed on the server.
        _ => Fault::ClientSendRefused,
    }
}

/// Returns the name of the limit that a response exceeded, and its value.
fn limit_of(malformed: Malformed, limits: &Limits) -> Option<(&'static str, u64)> {
    Some(match malformed {
        Malformed::HeadTooLarge => ("head_bytes", limits.head_bytes),
        Malformed::TooManyHeaders => ("headers", limits.headers),
        Malformed::TooManyInformational => ("informational", limits.informational),
        Malformed::TrailerTooLarge => ("trailer_bytes", limits.trailer_bytes),
        Malformed::ChunkLineTooLong => ("chunk_line_bytes", limits.chunk_line_bytes),
        _ => return None,
    })
}

/// Returns the limit that ended a response, and its value, if it is below its default: a response that other clients
/// would accept is not a failure of the server.
pub fn lowered(malformed: Malformed, limits: &Limits) -> Option<(&'static str, u64)> {
    let (name, value) = limit_of(malformed, limits)?;
    is_lowered(name, value).then_some((name, value))
}

/// Returns whether this limit is lower than its default.
pub fn is_lowered(name: &str, value: u64) -> bool {
    TABLE.iter().any(|row| row.name == name && value < row.default)
}

/// Returns the fault of a response that violates the protocol: plainly wrong, or unsafe to interpret.
pub fn of_answer(malformed: Malformed) -> Fault {
    match malformed {
        Malformed::ConflictingLength
        | Malformed::HeadTooLarge
        | Malformed::TooManyHeaders
        | Malformed::TooManyInformational
        | Malformed::TrailerTooLarge
        | Malformed::ChunkLineTooLong
        | Malformed::Unasked => Fault::UnsafeResponse,
        _ => Fault::MalformedResponse,
    }
}

/// Returns the limit that an HTTP/2 response exceeded, and its value, if it is below its default.
pub fn frames_lowered(malformed: h2::Malformed, limits: &Limits) -> Option<(&'static str, u64)> {
    let candidates: &[(&'static str, u64)] = match malformed {
        h2::Malformed::HeadTooLarge => &[
            ("head_bytes", limits.head_bytes),
            ("headers", limits.headers),
            ("trailer_bytes", limits.trailer_bytes),
        ],
        h2::Malformed::TooManyInformational => &[("informational", limits.informational)],
        _ => &[],
    };
    candidates.iter().copied().find(|(name, value)| is_lowered(name, *value))
}

/// Returns the fault of frames that violate HTTP/2: plainly wrong, or unsafe to interpret.
pub fn of_frames(malformed: h2::Malformed) -> Fault {
    match malformed {
        h2::Malformed::HeadTooLarge
        | h2::Malformed::HeadBomb
        | h2::Malformed::TooManyInformational
        | h2::Malformed::Flood
        | h2::Malformed::WrongLength
        | h2::Malformed::ConnectionFlow
        | h2::Malformed::StreamFlow => Fault::UnsafeResponse,
        h2::Malformed::Http1 => Fault::ProtocolChanged,
        _ => Fault::MalformedResponse,
    }
}
