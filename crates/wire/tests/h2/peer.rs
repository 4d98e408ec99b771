//! The other side: frames as a server writes them, and one way to feed them and to keep everything that came of it.

#![allow(dead_code, reason = "each test file uses its own part")]

use plimsoll_wire::h1::Answer;
use plimsoll_wire::h2::{
    Ask, Config, Event, Head, Limits, Malformed, Request, Session, Shared, Sink, Writer,
};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const PRIORITIZED: u8 = 0x20;
/// A whole head that ends its stream, and one that does not.
pub const ALONE: u8 = END_HEADERS | END_STREAM;

/// `:status: 200`, indexed.
pub const OK: &[u8] = &[0x88];

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let payload = pairs
        .iter()
        .flat_map(|(setting, value)| setting.to_be_bytes().into_iter().chain(value.to_be_bytes()));
    frame(SETTINGS, 0, 0, &payload.collect::<Vec<u8>>())
}

pub fn number(kind: u8, stream: u32, number: u32) -> Vec<u8> {
    frame(kind, 0, stream, &number.to_be_bytes())
}

pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// Returns a literal field without indexing.
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        assert!(text.len() < 127);
        bytes.push(text.len() as u8);
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// Returns a block with `:status` and these fields.
pub fn block(status: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = field(":status", status);
    fields.iter().for_each(|(name, value)| bytes.extend(field(name, value)));
    bytes
}

/// A frame that the session sent: type, flags, stream, payload.
pub type Sent = (u8, u8, u32, Vec<u8>);

/// Splits the bytes that a session sent into frames.
pub fn frames(mut bytes: &[u8]) -> Vec<Sent> {
    let mut all = Vec::new();
    bytes = bytes.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap_or(bytes);
    while !bytes.is_empty() {
        let len = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
        let stream = u32::from_be_bytes(bytes[5..9].try_into().unwrap());
        all.push((bytes[3], bytes[4], stream, bytes[9..9 + len].to_vec()));
        bytes = &bytes[9 + len..];
    }
    all
}

/// Everything that a sink received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Tag and text.
    pub heads: Vec<(u32, String)>,
    pub bodies: Vec<(u32, Vec<u8>)>,
    pub trailers: Vec<(u32, String)>,
}

impl Seen {
    pub fn body(&self, tag: u32) -> Vec<u8> {
        let of = self.bodies.iter().find(|(found, _)| *found == tag);
        of.map(|(_, bytes)| bytes.clone()).unwrap_or_default()
    }
}

impl Sink for Seen {
    fn head(&mut self, tag: u32, head: &Head<'_>) {
        self.heads.push((tag, String::from_utf8_lossy(head.raw()).into_owned()));
    }

    fn body(&mut self, tag: u32, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "a sink never receives an empty slice");
        match self.bodies.iter_mut().find(|(found, _)| *found == tag) {
            Some((_, body)) => body.extend_from_slice(bytes),
            None => self.bodies.push((tag, bytes.to_vec())),
        }
    }

    fn trailers(&mut self, tag: u32, trailers: &Head<'_>) {
        self.trailers.push((tag, String::from_utf8_lossy(trailers.raw()).into_owned()));
    }
}

/// A session, what it sent, and what came of the bytes fed to it.
pub struct Client {
    pub session: Session,
    pub shared: Shared,
    pub out: Vec<u8>,
    pub seen: Seen,
    pub events: Vec<Event>,
}

pub const GET: Ask =
    Ask { tag: 0, head_only: false, has_body: false, reads_head: true, reads_body: true, is_tunnel: false };

impl Client {
    pub fn new(config: Config, limits: Limits) -> Client {
        Client {
            session: Session::new(config),
            shared: Shared::new(limits),
            out: Vec::new(),
            seen: Seen::default(),
            events: Vec::new(),
        }
    }

    /// Returns a client with the server's empty SETTINGS, and forgets what it sent.
    pub fn settled() -> Client {
        let mut client = Client::new(Config::default(), Limits::default());
        client.session.start(&mut client.out);
        assert_eq!(client.feed(&settings(&[])), Ok(()));
        client.out.clear();
        client.events.clear();
        client
    }

    /// Opens a stream for `GET /`.
    pub fn open(&mut self, ask: Ask) -> Option<u32> {
        self.session.open(ask, Request::Block(&get("/")), &mut self.out)
    }

    /// Opens `count` streams with tags from 0.
    pub fn open_all(&mut self, count: u32) -> Vec<u32> {
        (0..count).map(|tag| self.open(Ask { tag, ..GET }).unwrap()).collect()
    }

    /// Feeds bytes until all are taken or refused. Parts of one body that follow each other are one event.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Malformed> {
        while !bytes.is_empty() {
            let fed = self.session.feed(bytes, &mut self.shared, &mut self.seen, &mut self.out)?;
            assert!(fed.consumed <= bytes.len());
            assert!(fed.event.is_some() || fed.consumed == bytes.len());
            bytes = &bytes[fed.consumed..];
            if let Some(event) = fed.event {
                let repeats = matches!(event, Event::Data { .. }) && self.events.last() == Some(&event);
                if !repeats {
                    self.events.push(event);
                }
            }
        }
        Ok(())
    }

    /// Feeds frames and returns the events of them.
    pub fn events_of(&mut self, frames: &[Vec<u8>]) -> Result<Vec<Event>, Malformed> {
        self.events.clear();
        self.feed(&frames.concat())?;
        Ok(std::mem::take(&mut self.events))
    }

    /// Returns the frames sent since the last call.
    pub fn sent(&mut self) -> Vec<Sent> {
        frames(&std::mem::take(&mut self.out))
    }

    /// Returns the answer of the only finished stream.
    pub fn answer(&self) -> Answer {
        let mut done = self.events.iter().filter_map(|event| match event {
            Event::Done { answer, .. } => Some(*answer),
            _ => None,
        });
        let answer = done.next().expect("a stream is done");
        assert_eq!(done.next(), None);
        answer
    }
}

/// Returns a writer of a part of a request.
pub fn put(text: &str) -> impl FnOnce(&mut Vec<u8>) -> Result<(), std::convert::Infallible> {
    |out| {
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns the block of a GET.
pub fn get(target: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, "http", "localhost");
    writer.line("GET", put(target)).unwrap();
    writer.end();
    out
}
