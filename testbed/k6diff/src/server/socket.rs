//! WebSockets: the server repeats each message, and does what some of them demand.

use super::Record;
use super::request::Seen;
use std::io::Write;
use std::net::TcpStream;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{Message, Role, WebSocket};

/// Serves a WebSocket until one side closes it.
///
/// `greet` in the path sends a message first. The text `close` closes with code 1001, `ping` sends a ping, and `twice`
/// is repeated twice.
pub fn serve(stream: &TcpStream, seen: &Seen, record: &Record) -> Option<()> {
    let mut out = stream.try_clone().ok()?;
    if !seen.path().starts_with("/ws") {
        return out
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .ok();
    }
    let key = derive_accept_key(seen.header("sec-websocket-key")?.as_bytes());
    let protocol = seen.header("sec-websocket-protocol").and_then(|all| all.split(',').next());
    let protocol =
        protocol.map(|one| format!("Sec-WebSocket-Protocol: {}\r\n", one.trim())).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {key}\r\n{protocol}X-Greeting: hello\r\n\r\n"
    );
    out.write_all(head.as_bytes()).ok()?;
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
    let keep = |kind: &str, body: Vec<u8>| {
        record.keep(Seen { method: format!("WebSocket {kind}"), headers: Vec::new(), body, ..seen.clone() });
    };
    if seen.path().ends_with("greet") {
        socket.send(Message::text("welcome")).ok()?;
    }
    loop {
        let message = socket.read().ok()?;
        match &message {
            Message::Text(text) => {
                keep("text", text.as_bytes().to_vec());
                match text.as_str() {
                    "close" => {
                        let frame = CloseFrame { code: CloseCode::Away, reason: "enough".into() };
                        socket.close(Some(frame)).ok()?;
                    }
                    "ping" => socket.send(Message::Ping("are you there".into())).ok()?,
                    "twice" => {
                        socket.send(message.clone()).ok()?;
                        socket.send(message).ok()?;
                    }
                    _ => socket.send(message).ok()?,
                }
            }
            Message::Binary(bytes) => {
                keep("binary", bytes.to_vec());
                socket.send(message).ok()?;
            }
            Message::Ping(bytes) => {
                keep("ping", bytes.to_vec());
                socket.flush().ok()?;
            }
            Message::Pong(bytes) => keep("pong", bytes.to_vec()),
            Message::Close(frame) => {
                let code =
                    frame.as_ref().map_or("none".to_owned(), |frame| u16::from(frame.code).to_string());
                keep("close", code.into_bytes());
                socket.flush().ok()?;
            }
            Message::Frame(_) => {}
        }
    }
}
