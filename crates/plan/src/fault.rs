//! The table of failures: each a small number on the hot path, with a name, a side and a sentence here.
//!
//! The side decides what a failure says: one on the client's side is a limit of the load generator and is never
//! counted among the server's errors.

use serde::{Serialize, Serializer};
use std::cmp::Ordering;

/// Whose failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The load generator's machine gave out. Makes a run INCONCLUSIVE, never counts in `errors`.
    Client,
    /// Something between the two, or the server's kernel.
    Network,
    /// The server's program.
    Server,
}

macro_rules! faults {
    ($($variant:ident = $number:literal, $name:literal, $side:ident, $sentence:literal;)*) => {
        /// Why a request (or the attempt to make a connection for it) failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Fault { $(#[doc = $sentence] $variant = $number,)* }

        impl Fault {
            /// All of them, by number.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant,)*];

            /// The stable name in JSON, CSV and documents.
            pub const fn name(self) -> &'static str { match self { $(Fault::$variant => $name,)* } }

            /// Whose failure it is.
            pub const fn side(self) -> Side { match self { $(Fault::$variant => Side::$side,)* } }

            /// What happened, as a sentence fragment.
            pub const fn sentence(self) -> &'static str { match self { $(Fault::$variant => $sentence,)* } }
        }
    };
}

faults! {
    FdLimit = 0, "fd_limit", Client, "no file descriptor left on this machine (EMFILE, ENFILE)";
    PortsExhausted = 1, "ports_exhausted", Client, "no local port left towards this address (EADDRNOTAVAIL)";
    ClientMemory = 2, "client_memory", Client,
        "no memory left on this machine for a socket (ENOBUFS, ENOMEM), or for a response that is read";
    ClientOther = 3, "client_other", Client, "this machine refused to send (firewall or permission)";
    Refused = 4, "connect_refused", Network, "nothing listens on the port, or its firewall says no (ECONNREFUSED)";
    ConnectTimeout = 5, "connect_timeout", Network, "no answer to the connection attempt within the time allowed";
    Unreachable = 6, "unreachable", Network, "no route to the host (EHOSTUNREACH, ENETUNREACH)";
    Reset = 7, "reset", Network, "the connection was reset (ECONNRESET)";
    StaleConnection = 8, "stale_connection", Network,
        "a reused connection ended before the first byte of the answer";
    ClosedBeforeResponse = 9, "closed_before_response", Server,
        "the server closed a fresh connection without answering";
    ClosedMidResponse = 10, "closed_mid_response", Server, "the server closed in the middle of its answer";
    Malformed = 11, "malformed_response", Server, "the answer is not HTTP/1.x";
    Dangerous = 12, "dangerous_response", Server,
        "the answer was refused as dangerous: conflicting lengths, an endless head or bytes that nobody asked for";
    Timeout = 13, "timeout", Server, "no complete answer within the time-out";
    Status = 14, "http_status", Server, "a status outside 200-399, or outside those that the plan expects";
    Check = 15, "check_failed", Server, "a check on the answer did not hold, or there was nothing to extract";
    Tls = 16, "tls_failed", Network, "the TLS handshake or a TLS record was refused, by either side";
    Certificate = 17, "certificate_refused", Server,
        "the server's certificate is not trusted, not valid or for another name";
    TlsTimeout = 18, "tls_timeout", Network, "no end of the TLS handshake within the time allowed for a connection";
    StreamIdle = 19, "stream_idle", Server, "no event came on a stream for longer than the plan allows";
    StreamEnded = 20, "stream_ended", Server, "a stream ended, broke off or began otherwise than the plan expects";
    Redirects = 21, "too_many_redirects", Server, "more redirects than the plan follows";
    Undecodable = 22, "undecodable_body", Server, "the content coding of a body could not be undone";
    ClientLimit = 23, "client_limit", Client,
        "a limit of the load generator was too small for the response: lowered by the plan, or that on kept bodies";
}

impl Fault {
    /// How many there are; the size of a table indexed by `fault as usize`.
    pub const COUNT: usize = Self::ALL.len();

    /// The connection failed, not what was said on it: what other tools count as a socket error.
    pub const fn is_below_http(self) -> bool {
        !matches!(
            self,
            Fault::Status
                | Fault::Check
                | Fault::Redirects
                | Fault::Undecodable
                | Fault::StreamIdle
                | Fault::StreamEnded
                | Fault::ClientLimit
        )
    }

    /// The fault with this number.
    pub fn from_number(number: usize) -> Option<Fault> {
        Self::ALL.get(number).copied()
    }
}

/// By name, so that a map of faults is sorted as its names are.
impl Ord for Fault {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Fault {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Its name.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
