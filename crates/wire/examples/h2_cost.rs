//! Cost of one exchange over HTTP/2 in user space: a stream is opened, and its response is read. It prints nothing and
//! reads no clock: run it twice under a profiler or timer with different counts, and divide the difference of the times
//! by the difference of the counts.
//!
//! `perf stat target/release/examples/h2_cost <case> <exchanges>`, where the case is one of `empty` (the loop alone),
//! `indexed` (a head of six indexed fields and a body of 76 bytes, as most servers send them after the first), `read`
//! (the same with a sink that reads), `single` (the same, and one stream at a time), `split` (the same in pieces of 64
//! bytes), `literal` (a head of literals, as nginx sends it), `mixed` (two heads in rotation, so that no head equals
//! the one before it), `inserting` (four new fields in each head), `block` (`indexed`, with a request that a program
//! rendered), `grpc` (trailers), `bulk` (a body of 1 MiB in frames of 16 KiB).

use std::hint::black_box;
use std::process::ExitCode;

use plimsoll_wire::h1;
use plimsoll_wire::h2::{
    Ask, Config, Event, Head, Malformed, Prepared, Request, Session, Shared, Sink, Writer,
};
use plimsoll_wire::hpack::{Fields, literal};

/// Streams that are open at a time, and responses in one read.
const BATCH: usize = 100;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_else(|| "indexed".to_owned());
    let Ok(exchanges) = arguments.next().unwrap_or_else(|| "1000".to_owned()).parse::<usize>() else {
        return ExitCode::from(2);
    };
    let Some(mut server) = Server::of(&case) else { return ExitCode::from(2) };
    let done = match case.as_str() {
        "empty" => Ok((0..exchanges).map(|index| black_box(index) & 1).sum::<usize>().max(exchanges)),
        "read" => run(&mut server, exchanges, &mut Count(0)),
        _ => run(&mut server, exchanges, &mut ()),
    };
    if done.is_ok_and(|done| done >= exchanges) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads every field and counts every byte.
struct Count(usize);

impl Sink for Count {
    fn head(&mut self, _tag: u32, head: &Head<'_>) {
        self.0 += head.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    }

    fn body(&mut self, _tag: u32, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
}

/// The responses, and how they arrive.
struct Server {
    /// Blocks sent in rotation; the first one inserts the fields that the others refer to.
    blocks: Vec<Vec<u8>>,
    body: Vec<Vec<u8>>,
    trailers: Option<Vec<u8>>,
    next: usize,
    batch: usize,
    piece: usize,
    reads: bool,
    rendered: bool,
}

impl Server {
    fn of(case: &str) -> Option<Server> {
        let fields = [
            ("server", "nghttpd nghttp2/1.52.0"),
            ("content-type", "application/json"),
            ("content-length", "76"),
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("cache-control", "max-age=3600"),
        ];
        let mut first = vec![0x88];
        fields.iter().for_each(|(name, value)| insert(&mut first, name, value));
        let indexed = vec![0x88, 0xc2, 0xc1, 0xc0, 0xbf, 0xbe];
        let mut literals = vec![0x88];
        fields.iter().for_each(|(name, value)| literal(&mut literals, name.as_bytes(), value.as_bytes()));
        let mut inserting = vec![0x88];
        fields[..4].iter().for_each(|(name, value)| insert(&mut inserting, name, value));
        let blocks = match case {
            "literal" => vec![literals],
            "mixed" => vec![first, indexed.clone(), [indexed, vec![0x90]].concat()],
            "inserting" => vec![inserting],
            _ => vec![first, indexed],
        };
        let body = match case {
            "bulk" => vec![vec![b'x'; 16_384]; 64],
            _ => vec![vec![b'x'; 76]],
        };
        let cases = ["empty", "indexed", "read", "single", "split", "literal", "mixed", "inserting", "block"];
        let known = cases.contains(&case) || matches!(case, "grpc" | "bulk");
        let mut trailers = Vec::new();
        literal(&mut trailers, b"grpc-status", b"0");
        known.then(|| Server {
            blocks: if case == "bulk" { vec![vec![0x88]] } else { blocks },
            body,
            trailers: (case == "grpc").then_some(trailers),
            next: 0,
            batch: if matches!(case, "single" | "bulk") { 1 } else { BATCH },
            piece: if case == "split" { 64 } else { usize::MAX },
            reads: case == "read",
            rendered: case == "block",
        })
    }

    /// Appends the response for a stream.
    fn respond(&mut self, stream: u32, at: usize, out: &mut Batch) {
        let block = &self.blocks[self.next];
        // The first block inserts what the others refer to, and is sent once.
        self.next = if self.next + 1 < self.blocks.len() { self.next + 1 } else { 1 % self.blocks.len() };
        out.frame(at, 1, 4, stream, block);
        for (part_at, part) in self.body.iter().enumerate() {
            let is_last = part_at + 1 == self.body.len() && self.trailers.is_none();
            out.frame(at, 0, u8::from(is_last), stream, part);
        }
        if let Some(trailers) = &self.trailers {
            out.frame(at, 1, 5, stream, trailers);
        }
    }
}

/// Appends a literal with indexing; the texts are shorter than 127 bytes.
fn insert(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(0x40);
    for text in [name, value] {
        out.push(text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    }
}

/// Opens streams and reads their responses until `exchanges` are done.
fn run<S: Sink>(server: &mut Server, exchanges: usize, sink: &mut S) -> Result<usize, Malformed> {
    let headers = [("Accept".to_owned(), "*/*".to_owned()), ("X-Tenant".to_owned(), "one".to_owned())];
    let request = h1::Request {
        method: "GET",
        target: "/pick?n=1",
        host: "127.0.0.1:8080",
        headers: &headers,
        body: None,
        http10: false,
        close: false,
        user_agent: "plimsoll/0.1.0",
    };
    let mut fields = Fields::new();
    let prepared = Prepared::new(&request, "http", None, &mut fields);
    let mut rendered = Vec::new();
    let (mut shared, mut out) = (Shared::default(), Vec::new());
    let mut session = Session::new(Config { streams: BATCH as u32, ..Config::default() });
    session.start(&mut out);
    session.feed(b"\0\0\0\x04\0\0\0\0\0", &mut shared, sink, &mut out)?;
    let ask = Ask { reads_head: server.reads, reads_body: server.reads, ..prepared.ask() };
    let (mut batch, mut ids, mut done) = (Batch::default(), Vec::new(), 0);
    while done < exchanges {
        out.clear();
        ids.clear();
        while ids.len() < server.batch {
            let ask = Ask { tag: ids.len() as u32, ..ask };
            let request = if server.rendered {
                rendered.clear();
                let mut writer = Writer::new(&mut rendered, "http", "127.0.0.1:8080");
                let Ok(_) = writer.line("GET", |out| {
                    out.extend_from_slice(b"/pick?n=1");
                    Ok::<(), std::convert::Infallible>(())
                });
                headers.iter().for_each(|(name, value)| writer.field(name, value.as_bytes()));
                writer.end();
                Request::Block(&rendered)
            } else {
                Request::Prepared(&prepared, &fields)
            };
            match session.open(ask, request, &mut out) {
                Some(id) => ids.push(id),
                None => break,
            }
        }
        black_box(&out);
        batch.refill(server, &ids);
        for piece in batch.bytes.chunks(server.piece.min(batch.bytes.len())) {
            let mut rest = black_box(piece);
            while !rest.is_empty() {
                let fed = session.feed(rest, &mut shared, sink, &mut out)?;
                rest = &rest[fed.consumed..];
                done += usize::from(matches!(black_box(fed.event), Some(Event::Done { .. })));
            }
        }
        session.settle(&mut out);
    }
    Ok(done)
}

/// The responses of one batch, and where the numbers of their streams are.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Position, and which stream of the batch.
    numbers: Vec<(usize, usize)>,
    made: usize,
}

impl Batch {
    /// Makes the responses of the first two batches, because the first one fills the table. Later ones differ only in
    /// the numbers of their streams.
    fn refill(&mut self, server: &mut Server, ids: &[u32]) {
        if self.made < 2 {
            self.made += 1;
            self.bytes.clear();
            self.numbers.clear();
            for (at, id) in ids.iter().enumerate() {
                server.respond(*id, at, self);
            }
            return;
        }
        for (position, at) in &self.numbers {
            self.bytes[*position..*position + 4].copy_from_slice(&ids[*at].to_be_bytes());
        }
    }

    fn frame(&mut self, at: usize, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
        self.bytes.extend_from_slice(&[kind, flags]);
        self.numbers.push((self.bytes.len(), at));
        self.bytes.extend_from_slice(&stream.to_be_bytes());
        self.bytes.extend_from_slice(payload);
    }
}
