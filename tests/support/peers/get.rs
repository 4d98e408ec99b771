//! The plainest client there is, to ask a peer what it counted without the tool that is being tested.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer in full.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("no JSON ({e}): {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// One GET.
pub fn get(address: SocketAddr, path: &str) -> Answer {
    exchange(address, format!("GET {path} HTTP/1.0\r\nHost: peer\r\n\r\n"))
}

/// Sends these bytes and reads until the peer closes; write HTTP/1.0, so that it does and sends no chunks.
pub fn exchange(address: SocketAddr, request: impl AsRef<[u8]>) -> Answer {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5)).expect("the peer listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    stream.write_all(request.as_ref()).expect("the peer reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the peer answers and closes");
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("the answer has a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status line");
    Answer { status, head, body: bytes.split_off(end + 4) }
}
