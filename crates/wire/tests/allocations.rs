//! The steady state allocates nothing: not per response, per piece, per new Date, or per event. Memory held for a
//! sender that never finishes is proportional to a limit.

mod common;
mod h2_memory;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{GET, samples};
use plimsoll_wire::h1::{Ask, Head, Limits, Malformed, Session, Shared, Sink};
use plimsoll_wire::sse::{Parser, Spares, TooLong};

thread_local! {
    // Per thread, because the test harness allocates on its own threads at any time.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes in use, minus those that another thread allocated and this one freed; and their peak.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(allocations: usize, bytes: isize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + allocations);
    LIVE.set(LIVE.get() + bytes);
    PEAK.set(PEAK.get().max(LIVE.get()));
}

/// Returns the most bytes in use during `work`, above those in use before it.
fn peak_bytes(work: impl FnOnce()) -> isize {
    let before = LIVE.get();
    PEAK.set(before);
    work();
    PEAK.get() - before
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator, so the caller's guarantees hold. Only an
// allocator can count allocations, and its trait is unsafe.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as isize - layout.size() as isize);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Reads everything and keeps only a number.
#[derive(Default)]
struct Sum(usize);

impl Sink for Sum {
    const READS: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.0 += head.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

/// Counts the allocations of the second half of `rounds` over `answers`, split into pieces of `size` bytes.
fn allocations<S: Sink>(answers: &[Vec<u8>], size: usize, sink: &mut S) -> usize {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    let mut round = || {
        for bytes in answers {
            session.submit(Ask::default());
            let mut done = false;
            for piece in bytes.chunks(size) {
                match session.feed(piece, &mut shared, sink) {
                    Ok(fed) => done = fed.done.is_some(),
                    Err(malformed) => panic!("{malformed}"),
                }
            }
            assert!(done);
        }
    };
    (0..10).for_each(|_| round());
    let before = ALLOCATIONS.get();
    (0..10).for_each(|_| round());
    ALLOCATIONS.get() - before
}

fn dated() -> Vec<Vec<u8>> {
    let date = |second| format!("Sun, 06 Nov 1994 08:49:{second:02} GMT");
    (0..60)
        .map(|second| {
            format!("HTTP/1.1 200 OK\r\nDate: {}\r\nContent-Length: 2\r\n\r\nok", date(second)).into_bytes()
        })
        .collect()
}

/// Returns more different heads than there are templates, so that each one is parsed.
fn unique() -> Vec<Vec<u8>> {
    (0..50)
        .map(|id| format!("HTTP/1.1 200 OK\r\nX-Id: {id:08}\r\nContent-Length: 2\r\n\r\nok").into_bytes())
        .collect()
}

#[test]
fn whole_small_answers_allocate_nothing() {
    let usual = samples::small().swap_remove(0);
    assert_eq!(usual.ask, GET);
    assert_eq!(allocations(std::slice::from_ref(&usual.bytes), usize::MAX, &mut ()), 0);
    assert_eq!(allocations(&[usual.bytes], usize::MAX, &mut Sum::default()), 0);
    assert_eq!(allocations(&dated(), usize::MAX, &mut ()), 0);
    assert_eq!(allocations(&unique(), usize::MAX, &mut Sum::default()), 0);
}

#[test]
fn answers_in_pieces_allocate_nothing() {
    assert_eq!(allocations(&dated(), 10, &mut ()), 0);
    assert_eq!(allocations(&unique(), 1, &mut Sum::default()), 0);
    assert_eq!(allocations(&[samples::head_of_32_kb()], 1460, &mut ()), 0);
}

#[test]
fn chunks_allocate_nothing() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
            .to_vec();
    assert_eq!(allocations(std::slice::from_ref(&chunked), usize::MAX, &mut ()), 0);
    assert_eq!(allocations(&[chunked], 3, &mut Sum::default()), 0);
}

/// Counts the allocations while a new parser reads `bytes` ten times in pieces of `size` bytes, after `warm` rounds.
fn event_allocations(bytes: &[u8], size: usize, warm: usize, events: usize) -> usize {
    let (mut parser, mut spares, mut seen) = (Parser::new(), Spares::new(), 0);
    let mut round = || {
        for piece in bytes.chunks(size) {
            let fed = parser.feed(piece, &mut spares, 4096, &mut |_| seen += 1);
            assert_eq!(fed, Ok(()));
        }
    };
    (0..warm).for_each(|_| round());
    let before = ALLOCATIONS.get();
    (0..10).for_each(|_| round());
    let found = ALLOCATIONS.get() - before;
    assert_eq!(seen, (warm + 10) * events);
    found
}

const TOKENS: &[u8] =
    b"event: token\ndata: {\"text\": \"one\"}\n\n: ping\n\nid: 7\ndata: two\r\n\r\nretry: 9\n\n";

#[test]
fn events_in_one_piece_never_allocate_not_even_the_first() {
    assert_eq!(event_allocations(TOKENS, usize::MAX, 0, 2), 0);
}

#[test]
fn keep_alives_never_allocate_however_they_are_cut() {
    assert_eq!(event_allocations(b": ping\n\n:\r\n\r\n: a comment without an empty line\n", 2, 0, 0), 0);
}

#[test]
fn events_in_pieces_and_of_many_lines_allocate_nothing_in_the_steady_state() {
    let lines = b"data: one\ndata: two\n\n";
    for size in [1, 5, 30, usize::MAX] {
        assert_eq!(event_allocations(TOKENS, size, 2, 2), 0, "{size}");
        assert_eq!(event_allocations(lines, size, 2, 1), 0, "{size}");
    }
    assert!(event_allocations(lines, 5, 0, 1) > 0, "a first piece needs a first buffer");
}

#[test]
fn streams_between_events_share_a_few_buffers() {
    let mut spares = Spares::new();
    let mut parsers: Vec<Parser> = (0..1000).map(|_| Parser::new()).collect();
    let held = peak_bytes(|| {
        for parser in &mut parsers {
            for piece in [&b"data: in two pie"[..], b"ces\n\n"] {
                assert_eq!(parser.feed(piece, &mut spares, 4096, &mut |_| {}), Ok(()));
            }
        }
    });
    assert!((1..1000).contains(&held), "{held} bytes for a thousand streams");
}

#[test]
fn a_stream_left_in_an_event_gives_its_buffer_to_the_next() {
    let (mut parser, mut spares) = (Parser::new(), Spares::new());
    let mut leave = || {
        assert_eq!(parser.feed(b"data: half an ev", &mut spares, 4096, &mut |_| {}), Ok(()));
        parser.reset(&mut spares);
    };
    leave();
    let before = ALLOCATIONS.get();
    (0..10).for_each(|_| leave());
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn a_burst_of_split_events_leaves_little_behind() {
    let mut parsers: Vec<Parser> = (0..100).map(|_| Parser::new()).collect();
    let mut spares = Spares::new();
    let before = LIVE.get();
    for len in [1000, 100_000] {
        let piece = [b"data: ".to_vec(), vec![b'x'; len]].concat();
        for parser in &mut parsers {
            assert_eq!(parser.feed(&piece, &mut spares, 1 << 20, &mut |_| {}), Ok(()));
        }
        drop(piece);
        assert!(LIVE.get() - before > 100 * len as isize, "all are held while they last");
        for parser in &mut parsers {
            assert_eq!(parser.feed(b"\n\n", &mut spares, 1 << 20, &mut |_| {}), Ok(()));
        }
        assert!(LIVE.get() - before < 100_000, "{} bytes are left", LIVE.get() - before);
    }
}

#[test]
fn an_endless_event_holds_no_more_than_its_limit_asks_for() {
    const LIMIT_BYTES: usize = 10_000;
    for line in ["data: x\n", "data: a longer line than that\r\n", "x"] {
        for size in [1, 7, 1000] {
            let endless = line.repeat(100_000);
            let (mut parser, mut spares) = (Parser::new(), Spares::new());
            let mut fed = Ok(());
            let peak = peak_bytes(|| {
                let mut pieces = endless.as_bytes().chunks(size);
                fed = pieces.try_for_each(|piece| parser.feed(piece, &mut spares, LIMIT_BYTES, &mut |_| {}));
            });
            assert_eq!(fed, Err(TooLong));
            // A buffer grows by doubling, and the old one exists at the same time for a moment.
            assert!(peak <= 3 * LIMIT_BYTES as isize + 1000, "{peak} bytes");
        }
    }
}

#[test]
fn an_endless_head_holds_no_more_than_its_limit_asks_for() {
    let limits = Limits { head_bytes_max: 10_000, ..Limits::default() };
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(1 << 20));
    for size in [1, 7, 1000] {
        let (mut shared, mut session) = (Shared::new(limits), Session::new());
        session.submit(GET);
        let mut fed = Ok(());
        let peak = peak_bytes(|| {
            let mut pieces = endless.as_bytes().chunks(size);
            fed = pieces.try_for_each(|piece| session.feed(piece, &mut shared, &mut ()).map(drop));
        });
        assert_eq!(fed, Err(Malformed::HeadTooLarge));
        assert!(peak <= 30_000 + 1000, "{peak} bytes");
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    let peak = peak_bytes(|| drop(std::hint::black_box(Box::new([1u8; 100]))));
    assert_eq!((ALLOCATIONS.get() - before, peak), (1, 100));
}
