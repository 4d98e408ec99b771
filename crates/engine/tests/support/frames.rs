//! A server of HTTP/2 for the simulated network: it reads the client's frames strictly, and sends what a script says.

use plimsoll_engine::driver::sim::{Answer, Connect, Server, SimRequest, Then};
use plimsoll_wire::hpack::{Decoder, Scratch};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;

pub const NO_ERROR: u32 = 0;
pub const INTERNAL_ERROR: u32 = 2;
pub const REFUSED: u32 = 7;
pub const CANCEL: u32 = 8;
pub const CALM: u32 = 11;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let pairs = pairs.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat());
    frame(SETTINGS, 0, 0, &pairs.collect::<Vec<u8>>())
}

pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

pub fn rst(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

fn field(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        assert!(text.len() < 127);
        bytes.push(text.len() as u8);
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// A head, which ends its stream if `ends`.
pub fn head(stream: u32, status: u16, fields: &[(&str, &str)], ends: bool) -> Vec<u8> {
    let mut block = field(":status", &status.to_string());
    fields.iter().for_each(|(name, value)| block.extend(field(name, value)));
    frame(HEADERS, END_HEADERS | u8::from(ends), stream, &block)
}

/// The fields after a body.
pub fn trailers(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    let block: Vec<u8> = fields.iter().flat_map(|(name, value)| field(name, value)).collect();
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
}

/// A part of a body in frames, the last of which ends the stream if `ends`.
pub fn data(stream: u32, body: &[u8], ends: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut parts = body.chunks(16_384).peekable();
    if parts.peek().is_none() {
        return frame(DATA, u8::from(ends), stream, b"");
    }
    while let Some(part) = parts.next() {
        bytes.extend(frame(DATA, u8::from(ends && parts.peek().is_none()), stream, part));
    }
    bytes
}

/// A response of status 200 with this body.
pub fn ok(stream: u32, body: &[u8]) -> Vec<u8> {
    [head(stream, 200, &[], false), data(stream, body, true)].concat()
}

/// A request as the server reads it.
#[derive(Debug, Clone)]
pub struct ServerRequest {
    pub connection: u64,
    pub stream: u32,
    /// The number of earlier requests on this connection, and on all.
    pub number: u64,
    pub total: u64,
    pub now_ns: u64,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub is_complete: bool,
    /// Other requests on this connection that were not answered when it began.
    pub others: usize,
}

impl ServerRequest {
    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    pub fn path(&self) -> &str {
        self.get(":path")
    }

    /// A response of status 200 after a time.
    pub fn ok(&self, after_ns: u64) -> Says {
        says().at(after_ns, ok(self.stream, b"ok"))
    }
}

/// What the server sends: pieces, each this many ns from now, and then perhaps an end.
#[derive(Debug, Clone, Default)]
pub struct Says {
    pub pieces: Vec<(u64, Vec<u8>)>,
    pub then: Option<Then>,
}

pub fn says() -> Says {
    Says::default()
}

impl Says {
    pub fn at(mut self, after_ns: u64, bytes: Vec<u8>) -> Says {
        self.pieces.push((after_ns, bytes));
        self
    }

    pub fn then(mut self, then: Then) -> Says {
        self.then = Some(then);
        self
    }
}

/// A frame of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub connection: u64,
    pub at_ns: u64,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// What the server has read.
#[derive(Debug, Default)]
pub struct Record {
    /// Each request once: its head, with its body as far as it had come at the end.
    pub asked: Vec<ServerRequest>,
    /// All other frames, less the client's first SETTINGS, acknowledgements, and WINDOW_UPDATE.
    pub frames: Vec<Frame>,
    /// The most requests of a connection that were not answered at one time.
    pub most: usize,
}

impl Record {
    pub fn paths(&self) -> Vec<String> {
        self.asked.iter().map(|asked| asked.path().to_owned()).collect()
    }

    /// Returns how many frames of a kind the client sent.
    pub fn count(&self, kind: u8) -> usize {
        self.frames.iter().filter(|frame| frame.kind == kind).count()
    }
}

struct Conn {
    heard: Vec<u8>,
    has_begun: bool,
    decoder: Decoder,
    last_stream: u32,
    asked: u64,
    /// Open streams, with the index of their requests.
    open: BTreeMap<u32, usize>,
    /// When the server ends streams.
    ends: Vec<(u64, u32)>,
    /// What the client may still send, over all and by stream.
    window: i64,
    windows: BTreeMap<u32, i64>,
}

type Script = Box<dyn FnMut(&ServerRequest) -> Says>;

/// The server.
pub struct Peer {
    pub record: Rc<RefCell<Record>>,
    script: Script,
    /// Is also called for heads whose bodies follow.
    pub answers_heads: bool,
    /// The first frames; SETTINGS without limits unless a test replaces them.
    pub greeting: Says,
    /// The first windows of the connection and of streams, which the client must not exceed, and whether the server
    /// opens windows as bodies arrive.
    pub first_window: i64,
    pub window: u32,
    pub widens: bool,
    pub connects: Box<dyn FnMut(u64) -> Connect>,
    conns: BTreeMap<u64, Conn>,
    scratch: Scratch,
}

/// Returns a server that answers every complete request as `script` says.
pub fn peer(script: impl FnMut(&ServerRequest) -> Says + 'static) -> Peer {
    Peer {
        record: Rc::default(),
        script: Box::new(script),
        answers_heads: false,
        greeting: says().at(0, settings(&[])),
        first_window: 65_535,
        window: 65_535,
        widens: true,
        connects: Box::new(|_| Connect::Accept { after_ns: 0 }),
        conns: BTreeMap::new(),
        scratch: Scratch::default(),
    }
}

impl Peer {
    /// Allows this many streams at a time.
    pub fn streams(mut self, most: u32) -> Peer {
        self.greeting = says().at(0, settings(&[(3, most)]));
        self
    }

    pub fn greeting(mut self, greeting: Says) -> Peer {
        self.greeting = greeting;
        self
    }

    pub fn connects(mut self, connects: impl FnMut(u64) -> Connect + 'static) -> Peer {
        self.connects = Box::new(connects);
        self
    }

    pub fn record(&self) -> Rc<RefCell<Record>> {
        Rc::clone(&self.record)
    }

    /// Reads bytes of a connection; returns what is sent in reply.
    pub fn hear(&mut self, connection: u64, now_ns: u64, bytes: &[u8]) -> Says {
        let conn = self.conns.entry(connection).or_insert_with(|| Conn {
            heard: Vec::new(),
            has_begun: false,
            decoder: Decoder::new(4_096),
            last_stream: 0,
            asked: 0,
            open: BTreeMap::new(),
            ends: Vec::new(),
            window: self.first_window,
            windows: BTreeMap::new(),
        });
        conn.heard.extend_from_slice(bytes);
        let mut all = says();
        loop {
            let conn = self.conns.get_mut(&connection).unwrap();
            if !conn.has_begun && conn.heard.starts_with(PREFACE) {
                conn.heard.drain(..PREFACE.len());
            }
            let Some(&[a, b, c, kind, flags, s0, s1, s2, s3]) = conn.heard.first_chunk() else { break };
            let len = u32::from_be_bytes([0, a, b, c]) as usize;
            if conn.heard.len() < 9 + len {
                break;
            }
            let stream = u32::from_be_bytes([s0, s1, s2, s3]);
            let payload = conn.heard[9..9 + len].to_vec();
            conn.heard.drain(..9 + len);
            let reply = self.frame(Frame { connection, at_ns: now_ns, kind, flags, stream, payload });
            all.pieces.extend(reply.pieces);
            all.then = all.then.or(reply.then);
        }
        let conn = self.conns.get_mut(&connection).unwrap();
        for (after_ns, bytes) in &all.pieces {
            conn.ends.extend(ends_in(bytes).into_iter().map(|stream| (now_ns + after_ns, stream)));
        }
        all
    }

    /// Reads one frame.
    fn frame(&mut self, frame: Frame) -> Says {
        let Frame { connection, at_ns, kind, flags, stream, .. } = frame;
        let payload = &frame.payload;
        let conn = self.conns.get_mut(&connection).unwrap();
        let mut record = self.record.borrow_mut();
        let gone: Vec<u32> =
            conn.ends.iter().filter(|(end_ns, _)| *end_ns <= at_ns).map(|(_, stream)| *stream).collect();
        conn.open.retain(|stream, _| !gone.contains(stream));
        assert!(kind == SETTINGS || conn.has_begun, "the first frame is SETTINGS");
        match kind {
            SETTINGS if flags & ACK != 0 => says(),
            SETTINGS => {
                assert!(!std::mem::replace(&mut conn.has_begun, true), "one SETTINGS");
                drop(record);
                let mut greeting = self.greeting.clone();
                if let Some((at_ns, _)) = greeting.pieces.last() {
                    greeting.pieces.push((*at_ns, settings_ack()));
                }
                greeting
            }
            HEADERS => {
                assert!(flags & END_HEADERS != 0, "heads of the tests are short");
                assert!(stream % 2 == 1 && stream > conn.last_stream, "streams ascend: {stream}");
                conn.last_stream = stream;
                let mut fields = Vec::new();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                conn.decoder
                    .decode(payload, &mut self.scratch, |name, value| {
                        fields.push((text(name), text(value)));
                        true
                    })
                    .expect("the client's blocks are valid");
                let others = conn.open.len();
                record.most = record.most.max(others + 1);
                let asked = ServerRequest {
                    connection,
                    stream,
                    number: conn.asked,
                    total: record.asked.len() as u64,
                    now_ns: at_ns,
                    fields,
                    body: Vec::new(),
                    is_complete: flags & END_STREAM != 0,
                    others,
                };
                conn.asked += 1;
                conn.open.insert(stream, record.asked.len());
                conn.windows.insert(stream, i64::from(self.window));
                record.asked.push(asked.clone());
                drop(record);
                if asked.is_complete || self.answers_heads { (self.script)(&asked) } else { says() }
            }
            DATA => {
                conn.window -= payload.len() as i64;
                let window = conn.windows.get_mut(&stream).expect("DATA on an open stream");
                *window -= payload.len() as i64;
                assert!(conn.window >= 0 && *window >= 0, "the client keeps to its windows");
                let mut reply = says();
                if self.widens && !payload.is_empty() {
                    conn.window += payload.len() as i64;
                    *window += payload.len() as i64;
                    let len = payload.len() as u32;
                    reply = reply.at(0, [update(0, len), update(stream, len)].concat());
                }
                let Some(at) = conn.open.get(&stream) else { return reply };
                let asked = &mut record.asked[*at];
                assert!(!asked.is_complete, "no DATA after the end");
                asked.body.extend_from_slice(payload);
                if flags & END_STREAM == 0 {
                    return reply;
                }
                asked.is_complete = true;
                let asked = asked.clone();
                drop(record);
                if !self.answers_heads {
                    let more = (self.script)(&asked);
                    reply.pieces.extend(more.pieces);
                    reply.then = more.then;
                }
                reply
            }
            WINDOW_UPDATE => says(),
            _ => {
                if kind == RST_STREAM {
                    assert!(stream <= conn.last_stream, "no reset of an idle stream");
                    conn.open.remove(&stream);
                }
                record.frames.push(frame);
                says()
            }
        }
    }
}

fn settings_ack() -> Vec<u8> {
    frame(SETTINGS, ACK, 0, b"")
}

/// Splits bytes into (kind, flags, stream) of frames; what is not a frame is ignored.
fn ends_in(mut bytes: &[u8]) -> Vec<u32> {
    let mut ends = Vec::new();
    while bytes.len() >= 9 {
        let len = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
        let stream = u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]);
        let (kind, flags) = (bytes[3], bytes[4]);
        if kind == RST_STREAM || (kind <= HEADERS && flags & END_STREAM != 0) {
            ends.push(stream);
        }
        bytes = bytes.get(9 + len..).unwrap_or_default();
    }
    ends
}

impl Server for Peer {
    fn connect(&mut self, connection: u64, _: u64) -> Connect {
        (self.connects)(connection)
    }

    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        unreachable!("`heard` takes all bytes")
    }

    fn heard(&mut self, connection: u64, now_ns: u64, bytes: &[u8]) -> Option<Answer> {
        let all = self.hear(connection, now_ns, bytes);
        let pieces = all.pieces.iter();
        let answer =
            pieces.fold(Answer::silence(), |answer, (after_ns, bytes)| answer.piece(*after_ns, bytes));
        Some(answer.interleave().then(all.then.unwrap_or(Then::Stay)))
    }
}
