//! The samplers of the common WebSocket plugin.

use super::Compiler;
use crate::code;
use crate::plan::{SamplerKind, Socket, SocketAction, SocketMessage, SocketUrl};
use crate::text::Text;
use crate::tree::Raw;

/// The classes of these samplers.
pub(super) const SOCKETS: &[&str] = &[
    "OpenWebSocketSampler",
    "RequestResponseWebSocketSampler",
    "SingleReadWebSocketSampler",
    "SingleWriteWebSocketSampler",
    "PingPongSampler",
    "CloseWebSocketSampler",
];

impl Compiler<'_> {
    pub(super) fn socket(&mut self, raw: &Raw) -> SamplerKind {
        let (action, may_open) = match raw.class.as_str() {
            "OpenWebSocketSampler" => (SocketAction::Open, false),
            "RequestResponseWebSocketSampler" => (SocketAction::Exchange(self.socket_message(raw)), true),
            "SingleWriteWebSocketSampler" => (SocketAction::Write(self.socket_message(raw)), true),
            "SingleReadWebSocketSampler" => {
                let is_binary = match self.choice(raw, "dataType").as_str() {
                    "Any" => None,
                    "Binary" => Some(true),
                    "" => Some(self.flag(raw, "binaryPayload", false)),
                    _ => Some(false),
                };
                (SocketAction::Read { is_binary, is_optional: self.flag(raw, "optional", false) }, true)
            }
            "PingPongSampler" if self.choice(raw, "type") == "Pong" => (SocketAction::Pong, false),
            "PingPongSampler" => (SocketAction::Ping, false),
            _ => (SocketAction::Close { status: self.text(raw, "statusCode") }, false),
        };
        let opens =
            action == SocketAction::Open || (may_open && self.flag(raw, "createNewConnection", false));
        let opens = opens.then(|| self.socket_url(raw));
        SamplerKind::Socket(Box::new(Socket {
            opens,
            action,
            connect_timeout_ms: self.text(raw, "connectTimeout"),
            read_timeout_ms: self.text(raw, "readTimeout"),
        }))
    }

    fn socket_url(&mut self, raw: &Raw) -> SocketUrl {
        let url = SocketUrl {
            is_secure: self.flag(raw, "TLS", false),
            server: self.text(raw, "server"),
            port: self.text(raw, "port"),
            path: self.text(raw, "path"),
        };
        if url.server.is_empty() {
            let message = format!("`{}` has no server name", raw.name);
            self.wrong(code::SETTING, raw.pos, message, "set it in the sampler");
        }
        for (text, what) in [(&url.server, "the host of"), (&url.path, "the path of")] {
            self.refuse_tokens(text, what, &raw.name);
        }
        url
    }

    fn socket_message(&mut self, raw: &Raw) -> SocketMessage {
        let is_binary = match self.choice(raw, "payloadType").as_str() {
            "" => self.flag(raw, "binaryPayload", false),
            "Text" => false,
            "Binary" => true,
            other => {
                self.unsupported(raw, format!("the payload `{other}`"), "send a text or bytes");
                false
            }
        };
        let file: Option<Text> =
            self.flag(raw, "loadDataFromFile", false).then(|| self.text(raw, "dataFile"));
        if let Some(file) = &file {
            self.refuse_missing(file);
        }
        SocketMessage { is_binary, text: self.text(raw, "requestData"), file }
    }
}
