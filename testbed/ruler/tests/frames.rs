//! A client of HTTP/2 that sends and shows frames, and does nothing by itself: no window updates, no acknowledgements.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The number at this place of the payload.
    pub fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }

    pub fn ends(&self, stream: u32) -> bool {
        let over = matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0;
        self.stream == stream && (over || self.kind == RST_STREAM)
    }
}

pub struct Frames {
    pub socket: TcpStream,
    held: Vec<u8>,
    next: u32,
}

impl Frames {
    /// Connects and announces these settings.
    pub fn connect(address: SocketAddr, settings: &[(u16, u32)]) -> Frames {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket.set_nodelay(true).unwrap();
        let mut frames = Frames { socket, held: Vec::new(), next: 1 };
        let entry =
            |&(name, value): &(u16, u32)| [&name.to_be_bytes()[..], &value.to_be_bytes()[..]].concat();
        let payload: Vec<u8> = settings.iter().flat_map(entry).collect();
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        frames.send(&[preface, frame(SETTINGS, 0, 0, &payload)].concat());
        frames
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    /// The bytes of a GET, and the number of its stream.
    pub fn get(&mut self, target: &str) -> (u32, Vec<u8>) {
        self.head("GET", target, END_STREAM)
    }

    /// The bytes of the head of a request.
    pub fn head(&mut self, method: &str, target: &str, flags: u8) -> (u32, Vec<u8>) {
        let mut block = Vec::new();
        for (name, value) in
            [(":method", method), (":scheme", "http"), (":authority", "ruler"), (":path", target)]
        {
            // A literal without indexing (RFC 7541, 6.2.2), both strings as they are and below 127 bytes.
            block.extend([0, name.len() as u8]);
            block.extend(name.bytes());
            block.push(value.len() as u8);
            block.extend(value.bytes());
        }
        let stream = self.next;
        self.next += 2;
        (stream, frame(HEADERS, flags | END_HEADERS, stream, &block))
    }

    /// Sends several GETs in one piece.
    pub fn ask(&mut self, targets: &[&str]) {
        let requests: Vec<Vec<u8>> = targets.iter().map(|target| self.get(target).1).collect();
        self.send(&requests.concat());
    }

    /// The next frame; None at the end of the connection.
    pub fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(&[a, b, c, kind, flags, d, e, f, g]) = self.held.get(..9) {
                let end = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
                if self.held.len() >= end {
                    let rest = self.held.split_off(end);
                    let payload = std::mem::replace(&mut self.held, rest)[9..].to_vec();
                    return Some(Frame { kind, flags, stream: u32::from_be_bytes([d, e, f, g]), payload });
                }
            }
            let mut piece = [0; 65536];
            match self.socket.read(&mut piece) {
                Ok(0) => return None,
                Ok(length) => self.held.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}, with {:?} held", self.held),
            }
        }
    }

    /// All frames up to the first for which this is true, with it.
    pub fn until(&mut self, last: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        loop {
            let frame = self.frame().unwrap_or_else(|| panic!("the connection ended after {frames:?}"));
            frames.push(frame.clone());
            if last(&frame) {
                return frames;
            }
        }
    }

    /// All frames up to the end of the connection.
    pub fn rest(&mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.frame()).collect()
    }
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// The bytes of the body of a stream.
pub fn body(frames: &[Frame], stream: u32) -> Vec<u8> {
    let data = frames.iter().filter(|frame| frame.kind == DATA && frame.stream == stream);
    data.flat_map(|frame| frame.payload.clone()).collect()
}
