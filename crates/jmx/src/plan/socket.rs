//! The samplers of the common WebSocket plugin. The samplers of a thread share one connection.

use crate::text::Text;

/// A WebSocket sampler.
#[derive(Debug, Clone, PartialEq)]
pub struct Socket {
    /// The connection that it opens; `None`: it uses the one that is open.
    pub opens: Option<SocketUrl>,
    pub action: SocketAction,
    /// Empty: the default of the plugin.
    pub connect_timeout_ms: Text,
    pub read_timeout_ms: Text,
}

/// Where a connection leads.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketUrl {
    pub is_secure: bool,
    pub server: Text,
    pub port: Text,
    pub path: Text,
}

/// What a WebSocket sampler does with the open connection.
#[derive(Debug, Clone, PartialEq)]
pub enum SocketAction {
    Open,
    Write(SocketMessage),
    /// Writes and reads a message of the same kind.
    Exchange(SocketMessage),
    Read {
        /// Whether the message must be binary or text; `None`: either.
        is_binary: Option<bool>,
        /// Whether the sample also passes without a message in time.
        is_optional: bool,
    },
    /// Sends a ping and waits for its pong.
    Ping,
    /// Sends a pong that nothing asked for.
    Pong,
    Close {
        /// Empty: 1000.
        status: Text,
    },
}

/// A message to send.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketMessage {
    /// Whether the text has the bytes as hexadecimal numbers.
    pub is_binary: bool,
    pub text: Text,
    /// The file that has it in place of the text.
    pub file: Option<Text>,
}
