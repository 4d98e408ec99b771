//! From the kernel's error numbers and the parser's refusals to the numbers of failures.

use crate::driver::Errno;
use plimsoll_plan::Fault;
use plimsoll_wire::h1::Malformed;

/// An error while opening a connection.
pub fn of_connect(errno: Errno) -> Fault {
    match errno.0 {
        libc::EMFILE | libc::ENFILE => Fault::FdLimit,
        // EADDRINUSE: what connect says on some kernels when every port towards this address is taken.
        libc::EADDRNOTAVAIL | libc::EADDRINUSE | libc::EAGAIN => Fault::PortsExhausted,
        libc::ENOBUFS | libc::ENOMEM | libc::ENOSPC => Fault::ClientMemory,
        libc::ECONNREFUSED => Fault::Refused,
        libc::ETIMEDOUT => Fault::ConnectTimeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EHOSTDOWN | libc::ENETDOWN => Fault::Unreachable,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE => Fault::Reset,
        _ => Fault::ClientOther,
    }
}

/// An error on an established connection.
pub fn of_transfer(errno: Errno) -> Fault {
    match errno.0 {
        libc::ENOBUFS | libc::ENOMEM => Fault::ClientMemory,
        libc::ETIMEDOUT => Fault::Timeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ENETDOWN => Fault::Unreachable,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE | libc::ENOTCONN => Fault::Reset,
        // A firewall here, or something that nobody thought of: never put on the server's account.
        _ => Fault::ClientOther,
    }
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
        | Malformed::Unasked => Fault::Dangerous,
        _ => Fault::Malformed,
    }
}
