//! The table of failures. Each is a small number on the hot path, with a name, a side, and a description here.
//!
//! The side decides how a failure counts: a failure on the client side is a limit of the load generator, and never
//! counts as an error of the server.

use serde::{Serialize, Serializer};
use std::cmp::Ordering;

/// The side that caused a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// A limit of the load generator. It makes a run INCONCLUSIVE, and never counts in `error_rate`.
    Client,
    /// The network between them, or the server's kernel.
    Network,
    /// The server process.
    Server,
}

macro_rules! faults {
    ($($variant:ident = $number:literal, $name:literal, $side:ident, $sentence:literal;)*) => {
        /// Why a request, or the attempt to open a connection for it, failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Fault { $(#[doc = $sentence] $variant = $number,)* }

        impl Fault {
            /// All faults, by number.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant,)*];

            /// The stable name in JSON, CSV, and documentation.
            pub const fn name(self) -> &'static str { match self { $(Fault::$variant => $name,)* } }

            /// The side that caused it.
            pub const fn side(self) -> Side { match self { $(Fault::$variant => Side::$side,)* } }

            /// What happened, as a fragment.
            pub const fn sentence(self) -> &'static str { match self { $(Fault::$variant => $sentence,)* } }
        }
    };
}

faults! {
    FdLimit = 0, "fd_limit", Client, "the load generator ran out of file descriptors (EMFILE, ENFILE)";
    PortsExhausted = 1, "ports_exhausted", Client,
        "the load generator ran out of ephemeral ports for this address (EADDRNOTAVAIL)";
    ClientOutOfMemory = 2, "client_out_of_memory", Client,
        "the load generator ran out of memory for a socket (ENOBUFS, ENOMEM) or a response body";
    ClientSendRefused = 3, "client_send_refused", Client,
        "the load generator's machine refused to send (firewall or permission)";
    ConnectionRefused = 4, "connection_refused", Network,
        "nothing listens on the port, or a firewall rejects the connection (ECONNREFUSED)";
    ConnectTimeout = 5, "connect_timeout", Network, "the connection attempt timed out";
    HostUnreachable = 6, "host_unreachable", Network, "no route to the host (EHOSTUNREACH, ENETUNREACH)";
    ConnectionReset = 7, "connection_reset", Network, "the connection was reset (ECONNRESET)";
    StaleConnection = 8, "stale_connection", Network,
        "a reused connection closed before the first byte of the response";
    ClosedBeforeResponse = 9, "closed_before_response", Server,
        "the server closed a fresh connection without a response";
    ClosedMidResponse = 10, "closed_mid_response", Server,
        "the server closed the connection in the middle of a response";
    MalformedResponse = 11, "malformed_response", Server,
        "the response is not valid HTTP, or a frame is not valid WebSocket";
    UnsafeResponse = 12, "unsafe_response", Server,
        "the response is unsafe to read: conflicting lengths, an endless head, or unexpected bytes";
    Timeout = 13, "timeout", Server, "the request timed out before the response was complete";
    Status = 14, "http_status", Server, "the status is outside 200-399, or outside those that the plan expects";
    Check = 15, "check_failed", Server, "a check of the response failed, or a value could not be extracted";
    Tls = 16, "tls_failed", Network, "either side rejected the TLS handshake or a TLS record";
    CertificateRejected = 17, "certificate_rejected", Server,
        "the server's certificate is untrusted, invalid, or for another name";
    TlsTimeout = 18, "tls_timeout", Network, "the TLS handshake timed out";
    StreamIdleTimeout = 19, "stream_idle_timeout", Server, "no event was received within the idle timeout of a stream";
    StreamFailed = 20, "stream_failed", Server, "a stream started or ended otherwise than the plan expects";
    Redirects = 21, "too_many_redirects", Server, "more redirects than the plan follows";
    DecodeFailed = 22, "decode_failed", Server, "the content encoding of a response body could not be decoded";
    ClientLimit = 23, "client_limit", Client,
        "the response exceeds a limit of the load generator: one that the plan lowers, or the limit of kept bodies";
    StreamReset = 24, "stream_reset", Server, "the server reset the HTTP/2 stream (RST_STREAM)";
    StreamRefused = 25, "stream_refused", Server,
        "the server refused the HTTP/2 stream twice, or closed the connection with an error (GOAWAY)";
    ProtocolChanged = 26, "protocol_changed", Server,
        "the server did not choose HTTP/2 for a connection, or WebSocket over it, although it did before the load";
    WebSocketHandshake = 27, "websocket_handshake_failed", Server,
        "the response to a WebSocket handshake is not the one that RFC 6455 requires";
    WebSocketClosed = 28, "websocket_closed", Server,
        "the server closed a WebSocket unexpectedly, or with an error code";
    MessageTimeout = 29, "message_timeout", Server, "no message that the plan expects was received in time";
    GrpcCancelled = 30, "grpc_cancelled", Server, "the server cancelled the call (CANCELLED)";
    GrpcUnknown = 31, "grpc_unknown", Server,
        "the call failed with gRPC status UNKNOWN, or with one that gRPC does not define";
    GrpcInvalidArgument = 32, "grpc_invalid_argument", Server,
        "the server rejected the message of the call (INVALID_ARGUMENT)";
    GrpcDeadlineExceeded = 33, "grpc_deadline_exceeded", Server,
        "the deadline of the call passed at the server (DEADLINE_EXCEEDED)";
    GrpcNotFound = 34, "grpc_not_found", Server, "an entity that the call names does not exist (NOT_FOUND)";
    GrpcAlreadyExists = 35, "grpc_already_exists", Server,
        "an entity that the call creates exists already (ALREADY_EXISTS)";
    GrpcPermissionDenied = 36, "grpc_permission_denied", Server,
        "the server denied permission for the call (PERMISSION_DENIED)";
    GrpcResourceExhausted = 37, "grpc_resource_exhausted", Server,
        "the server is out of a resource: a quota, memory, or the size of a message (RESOURCE_EXHAUSTED)";
    GrpcFailedPrecondition = 38, "grpc_failed_precondition", Server,
        "the server is not in the state that the call requires (FAILED_PRECONDITION)";
    GrpcAborted = 39, "grpc_aborted", Server, "the server aborted the call, as after a conflict (ABORTED)";
    GrpcOutOfRange = 40, "grpc_out_of_range", Server, "the call is past the end of something (OUT_OF_RANGE)";
    GrpcUnimplemented = 41, "grpc_unimplemented", Server,
        "the server does not have the method, or does not support what the call asks for (UNIMPLEMENTED)";
    GrpcInternal = 42, "grpc_internal", Server, "an invariant of the server is broken (INTERNAL)";
    GrpcUnavailable = 43, "grpc_unavailable", Server,
        "the server is unavailable, or a proxy could not reach it (UNAVAILABLE)";
    GrpcDataLoss = 44, "grpc_data_loss", Server, "the server lost data (DATA_LOSS)";
    GrpcUnauthenticated = 45, "grpc_unauthenticated", Server,
        "the server requires valid credentials for the call (UNAUTHENTICATED)";
    GrpcNoStatus = 46, "grpc_no_status", Server, "the response to a gRPC call ended without a gRPC status";
    GrpcContentType = 47, "grpc_content_type", Server,
        "the response to a gRPC call is not gRPC: its content type is not `application/grpc`";
    GrpcInvalidMessage = 48, "grpc_invalid_message", Server,
        "the response to a gRPC call is not exactly one message of its type";
    GraphqlErrors = 49, "graphql_errors", Server, "a GraphQL response with an accepted status contains errors";
    ProxyRefused = 50, "proxy_refused", Network,
        "the proxy refused to open a tunnel to the server, as it does if it cannot reach it";
    ProxyCredentials = 51, "proxy_credentials", Network,
        "the proxy requires other credentials to open a tunnel (407, or SOCKS5 authentication)";
    ProxyFailed = 52, "proxy_failed", Network,
        "the proxy closed the connection during its handshake, or its response or its TLS is invalid";
    ProxyTimeout = 53, "proxy_timeout", Network, "the handshake with the proxy timed out";
    AcceptQueueFull = 54, "accept_queue_full", Network,
        "the accept queue of the Unix domain socket is full (EAGAIN)";
    DnsFailed = 55, "dns_failed", Network,
        "the resolver did not find an address of the host that may be loaded";
    DnsTimeout = 56, "dns_timeout", Network, "the lookup of the host timed out";
    OriginRefused = 57, "origin_refused", Client,
        "the run may not load an origin that its script named: it has no permission, or there are too many origins";
    InvalidRequest = 58, "invalid_request", Client,
        "the request is invalid, or the options of its script forbid it, so it was not sent";
}

impl Fault {
    /// The number of faults, which is the size of a table indexed by `fault as usize`.
    pub const COUNT: usize = Self::ALL.len();

    /// Returns whether the connection failed, not the HTTP exchange on it: other tools call this a socket error.
    pub const fn is_below_http(self) -> bool {
        !self.is_grpc()
            && !matches!(
                self,
                Fault::Status
                    | Fault::Check
                    | Fault::GraphqlErrors
                    | Fault::Redirects
                    | Fault::DecodeFailed
                    | Fault::StreamIdleTimeout
                    | Fault::StreamFailed
                    | Fault::WebSocketHandshake
                    | Fault::WebSocketClosed
                    | Fault::MessageTimeout
                    | Fault::ClientLimit
            )
    }

    /// Returns whether it is the failure of a gRPC call whose response has arrived.
    pub const fn is_grpc(self) -> bool {
        Fault::GrpcCancelled as u8 <= self as u8 && self as u8 <= Fault::GrpcInvalidMessage as u8
    }

    /// Returns the fault with this number.
    pub fn from_number(number: usize) -> Option<Fault> {
        Self::ALL.get(number).copied()
    }
}

/// Ordered by name, so that a map of faults is sorted by name.
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

/// Serialized as its name.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
