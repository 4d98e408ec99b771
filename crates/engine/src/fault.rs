//! From the kernel's error numbers and the parser's refusals to the numbers of failures.

use crate::driver::Errno;
use plimsoll_plan::Fault;
use plimsoll_plan::limit::{Limits, TABLE};
use plimsoll_wire::h1::Malformed;

/// An error while opening a connection.
pub fn of_connect(errno: Errno) -> Fault {
    match errno.0 {
        libc::EMFILE | libc::ENFILE => Fault::FdLimit,
        // EADDRINUSE: what connect says on some kernels when every port towards this address is taken.
        libc::EADDRNOTAVAIL | libc::EADDRINUSE | libc::EAGAIN => Fault::PortsExhausted,
        libc::ENOBUFS | libc::ENOMEM | libc::ENOSPC => Fault::ClientOutOfMemory,
        libc::ECONNREFUSED => Fault::ConnectionRefused,
        libc::ETIMEDOUT => Fault::ConnectTimeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EHOSTDOWN | libc::ENETDOWN => Fault::HostUnreachable,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE => Fault::ConnectionReset,
        _ => Fault::ClientSendRefused,
    }
}

/// An error on an established connection.
pub fn of_transfer(errno: Errno) -> Fault {
    match errno.0 {
        libc::ENOBUFS | libc::ENOMEM => Fault::ClientOutOfMemory,
        libc::ETIMEDOUT => Fault::Timeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ENETDOWN => Fault::HostUnreachable,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE | libc::ENOTCONN => Fault::ConnectionReset,
        // A firewall here, or something that nobody thought of: never put on the server's account.
        _ => Fault::ClientSendRefused,
    }
}

/// The limit that an answer has met, with its value here and its default.
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

/// The limit that has ended an answer, and its value, when it is below its default: what any other client would have
/// taken is no failure of the server's.
pub fn lowered(malformed: Malformed, limits: &Limits) -> Option<(&'static str, u64)> {
    let (name, value) = limit_of(malformed, limits)?;
    is_lowered(name, value).then_some((name, value))
}

/// Is this limit lower than its default?
pub fn is_lowered(name: &str, value: u64) -> bool {
    TABLE.iter().any(|row| row.name == name && value < row.default)
}

/// An answer that breaks the rules: plainly wrong, or dangerous to believe.
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
