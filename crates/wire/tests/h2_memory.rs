//! HTTP/2: the steady state allocates nothing, and a connection holds little more than its streams.

use super::{ALLOCATIONS, LIVE, peak_bytes};
use plimsoll_wire::h1;
use plimsoll_wire::h2::{
    Ask, Config, Event, Head, Limits, Malformed, Prepared, Request, Session, Shared, Sink,
};
use plimsoll_wire::hpack::{Fields, literal};

/// Reads everything and keeps only a number.
#[derive(Default)]
struct Sum(usize);

impl Sink for Sum {
    fn head(&mut self, _tag: u32, head: &Head<'_>) {
        self.0 += head.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    }

    fn body(&mut self, _tag: u32, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn trailers(&mut self, _tag: u32, trailers: &Head<'_>) {
        self.0 += trailers.raw().len();
    }
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Appends a literal that is inserted into the table.
fn insert(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(0x40);
    for text in [name, value] {
        out.push(text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    }
}

/// The parts of a worker that all its connections share.
struct Worker {
    shared: Shared,
    out: Vec<u8>,
    bytes: Vec<u8>,
    prepared: Prepared,
    fields: Fields,
    sum: Sum,
}

impl Worker {
    fn new() -> Worker {
        let request = h1::Request {
            method: "POST",
            target: "/pick?n=1",
            host: "127.0.0.1:8080",
            headers: &[],
            body: Some(b"body"),
            http10: false,
            close: false,
            user_agent: "plimsoll/0.1.0",
        };
        let mut fields = Fields::new();
        let prepared = Prepared::new(&request, "http", None, &mut fields);
        let (shared, out, bytes) = (Shared::new(Limits::default()), Vec::new(), Vec::new());
        Worker { shared, out, bytes, prepared, fields, sum: Sum::default() }
    }

    fn connect(&mut self, streams: u32) -> Box<Session> {
        let mut session = Box::new(Session::new(Config { streams, ..Config::default() }));
        session.start(&mut self.out);
        self.bytes.clear();
        frame(&mut self.bytes, 4, 0, 0, &[]);
        self.feed(&mut session, usize::MAX);
        session
    }

    /// Feeds the bytes in pieces; returns how many streams are done.
    fn feed(&mut self, session: &mut Session, size: usize) -> usize {
        let mut done = 0;
        for piece in self.bytes.chunks(size.min(self.bytes.len())) {
            let mut rest = piece;
            while !rest.is_empty() {
                match session.feed(rest, &mut self.shared, &mut self.sum, &mut self.out) {
                    Ok(fed) => {
                        rest = &rest[fed.consumed..];
                        done += usize::from(matches!(fed.event, Some(Event::Done { .. })));
                    }
                    Err(malformed) => panic!("{malformed}"),
                }
            }
        }
        session.settle(&mut self.out);
        done
    }

    /// Opens `streams` streams with a body, and reads the response that `respond` writes for each.
    fn round(
        &mut self,
        session: &mut Session,
        streams: u32,
        reads: bool,
        size: usize,
        respond: &mut dyn FnMut(u32, &mut Vec<u8>),
    ) {
        self.out.clear();
        self.bytes.clear();
        for tag in 0..streams {
            let ask = Ask { tag, reads_head: reads, reads_body: reads, ..self.prepared.ask() };
            let request = Request::Prepared(&self.prepared, &self.fields);
            let Some(stream) = session.open(ask, request, &mut self.out) else { panic!("no room") };
            assert_eq!(session.write(stream, b"body", true, &mut self.out), 4);
            respond(stream, &mut self.bytes);
        }
        // Bodies use up the window, which the server returns.
        frame(&mut self.bytes, 8, 0, 0, &(4 * streams).to_be_bytes());
        assert_eq!(self.feed(session, size), streams as usize);
    }
}

/// Counts the allocations of the last ten of twenty rounds of 50 streams.
fn allocations(reads: bool, size: usize, mut respond: impl FnMut(u32, &mut Vec<u8>)) -> usize {
    let mut worker = Worker::new();
    let mut session = worker.connect(100);
    let mut rounds = |count: usize| {
        for _ in 0..count {
            worker.round(&mut session, 50, reads, size, &mut respond);
        }
    };
    rounds(10);
    let before = ALLOCATIONS.get();
    rounds(10);
    ALLOCATIONS.get() - before
}

#[test]
fn responses_allocate_nothing_whole_or_in_pieces_read_or_not() {
    for reads in [false, true] {
        for size in [usize::MAX, 1000, 7, 1] {
            let plain = |stream: u32, out: &mut Vec<u8>| {
                let mut block = [0u8; 32];
                block[0] = 0x88;
                // A literal without indexing: `x: ` and 27 bytes.
                block[1..5].copy_from_slice(&[0, 1, b'x', 27]);
                block[5..].fill(b'y');
                frame(out, 1, 4, stream, &block);
                frame(out, 0, 1, stream, &[b'z'; 76]);
            };
            assert_eq!(allocations(reads, size, plain), 0, "reads: {reads}, pieces of {size}");
        }
    }
}

#[test]
fn a_table_that_changes_with_every_response_allocates_nothing() {
    for size in [usize::MAX, 7] {
        let mut count = 0u32;
        let mut block = Vec::with_capacity(100);
        let inserting = |stream: u32, out: &mut Vec<u8>| {
            count += 1;
            block.clear();
            block.push(0x88);
            block.extend_from_slice(&[0x40, 4, b'x', b'-', b'i', b'd', 8]);
            block.extend_from_slice(&u64::from(count % 100).to_be_bytes().map(|byte| b'a' + byte % 26));
            frame(out, 1, 4, stream, &block);
            frame(out, 0, 1, stream, b"");
        };
        assert_eq!(allocations(true, size, inserting), 0);
    }
}

#[test]
fn heads_that_continue_trailers_and_resets_allocate_nothing() {
    for size in [usize::MAX, 5] {
        let parts = |stream: u32, out: &mut Vec<u8>| {
            frame(out, 1, 0, stream, &[0x88, 0, 1, b'x']);
            frame(out, 9, 4, stream, &[1, b'y']);
            frame(out, 0, 0, stream, b"message");
            frame(out, 1, 5, stream, &[0, 1, b's', 1, b'0']);
            frame(out, 3, 0, stream, &[0, 0, 0, 0]);
            frame(out, 6, 0, 0, &[0; 8]);
        };
        assert_eq!(allocations(true, size, parts), 0);
    }
}

/// Returns the bytes that a connection holds after its responses, without those that the worker shares.
fn held(streams: u32, first: &[u8], then: &[u8]) -> isize {
    let mut worker = Worker::new();
    let mut warm = worker.connect(streams);
    let respond = |session: &mut Session, worker: &mut Worker| {
        for round in 0..10 {
            let mut count = 0;
            worker.round(session, streams, false, usize::MAX, &mut |stream, out| {
                let block = if round == 0 && count == 0 { first } else { then };
                count += 1;
                frame(out, 1, 4, stream, block);
                frame(out, 0, 1, stream, &[b'z'; 76]);
            });
        }
    };
    respond(&mut warm, &mut worker);
    let before = LIVE.get();
    let mut session = worker.connect(streams);
    respond(&mut session, &mut worker);
    let held = LIVE.get() - before;
    drop(warm);
    held
}

#[test]
fn a_connection_holds_little_more_than_its_streams() {
    let fields = [
        ("server", "nginx/1.22.1"),
        ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("content-type", "application/json"),
        ("content-length", "76"),
        ("via", "1.1 nghttpx"),
    ];
    let (mut literals, mut inserts) = (vec![0x88], vec![0x88]);
    for (name, value) in fields {
        literal(&mut literals, name.as_bytes(), value.as_bytes());
        insert(&mut inserts, name, value);
    }
    let indexes = [0x88, 0xc2, 0xc1, 0xc0, 0xbf, 0xbe];
    for (streams, most) in [(1, 700), (10, 1400), (32, 3700), (100, 6800)] {
        for (first, then) in [(&literals[..], &literals[..]), (&inserts, &indexes)] {
            let held = held(streams, first, then);
            assert!((250..=most).contains(&held), "{held} bytes for {streams} streams");
        }
    }
}

#[test]
fn a_table_holds_no_more_than_its_size_asks_for() {
    let mut worker = Worker::new();
    let mut session = worker.connect(1);
    let (mut block, mut count) = (Vec::with_capacity(300), 0u32);
    let before = LIVE.get();
    for _ in 0..2000 {
        worker.round(&mut session, 1, false, usize::MAX, &mut |stream, out| {
            count += 1;
            block.clear();
            block.push(0x88);
            insert(&mut block, "x", &"y".repeat(count as usize % 100));
            frame(out, 1, 5, stream, &block);
        });
    }
    let held = LIVE.get() - before;
    // Texts of at most 4,096 bytes in a buffer that grows by doubling, and entries of 8 bytes for at least 33 each.
    assert!(held <= 2 * 4096 + 2 * 1024 + 1000, "{held} bytes");
}

#[test]
fn an_endless_head_holds_no_more_than_its_limit_asks_for() {
    for size in [1, 9, 1000] {
        let limits = Limits { head_bytes_max: 20_000, overhead_frames_max: u32::MAX, ..Limits::default() };
        let mut worker = Worker::new();
        worker.shared = Shared::new(limits);
        let mut session = worker.connect(1);
        let request = Request::Prepared(&worker.prepared, &worker.fields);
        assert!(session.open(worker.prepared.ask(), request, &mut worker.out).is_some());
        let mut bytes = Vec::new();
        frame(&mut bytes, 1, 0, 1, &[0x88]);
        for _ in 0..100_000 / size {
            frame(&mut bytes, 9, 0, 1, &vec![b'x'; size]);
        }
        let mut fed = Ok(());
        let peak = peak_bytes(|| {
            fed = bytes.chunks(11).try_for_each(|piece| {
                session.feed(piece, &mut worker.shared, &mut (), &mut worker.out).map(drop)
            });
        });
        assert_eq!(fed, Err(Malformed::HeadBomb));
        assert!(peak <= 60_000 + 1000, "{peak} bytes");
    }
}
