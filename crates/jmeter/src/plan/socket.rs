//! WebSocket samplers.

use crate::template::Template;

/// A WebSocket sampler.
#[derive(Debug)]
pub struct Socket {
    /// Whether it opens a connection over TLS, and its server, port, and path.
    pub opens: Option<(bool, [Template; 3])>,
    pub action: SocketAction,
    pub connect_timeout_ms: Template,
    pub read_timeout_ms: Template,
}

#[derive(Debug)]
pub enum SocketAction {
    Open,
    /// Whether a response is read.
    Write(SocketMessage, bool),
    Read {
        is_binary: Option<bool>,
        is_optional: bool,
    },
    Ping,
    Pong,
    Close(Template),
}

#[derive(Debug)]
pub struct SocketMessage {
    pub is_binary: bool,
    pub text: Template,
    pub file: Option<Template>,
}
