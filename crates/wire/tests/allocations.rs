//! The steady state allocates nothing: not per answer, not per piece, not per new Date.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{GET, samples};
use plimsoll_wire::h1::{Ask, Head, Limits, Session, Shared, Sink};

thread_local! {
    // Per thread, because the test harness allocates on its own threads whenever it likes.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// The only way to see an allocation is to be the allocator, and that trait is unsafe. Every call is handed on
// to the system's allocator unchanged, so its contract is kept as the caller keeps it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Looks at everything and keeps only a number.
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

/// Allocations of the second half of `rounds` over `answers`, cut in pieces of `size` bytes.
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

/// More different heads than there are templates, so that every one is parsed.
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

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
