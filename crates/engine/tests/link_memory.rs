//! The memory of an idle TLS connection, and the allocations of a request over it.
//!
//! A load of 100,000 idle connections multiplies this number. The limits are the measured values plus 10%, so that a
//! new version of the library cannot double them unnoticed.
#![allow(clippy::expect_used)]

mod link_support;

use link_support::*;
use plimsoll_engine::link::tls::{Channel, Versions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static BYTES: Cell<i64> = const { Cell::new(0) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: i64, calls: u64) {
    // A thread that is ending has no cells any more; nothing is measured then.
    let _ = BYTES.try_with(|n| n.set(n.get() + bytes));
    let _ = CALLS.try_with(|n| n.set(n.get() + calls));
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counters do not touch the allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64, 1);
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64, 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64), 0);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the bytes on Rust's heap that dropping an idle link frees, and the link's own size. Memory of the
/// cryptography in C is not included; `examples/tls_cost.rs` measures the total from outside.
fn idle(versions: Versions) -> (i64, usize) {
    let authority = Authority::new();
    let server = Arc::new(server(&authority.issue(&["localhost"]), None));
    let mut pair = Pair::ready(&setup(&wanted(&authority, versions)), &server);
    // Records in pieces, including a large one, so that every buffer has been used once.
    pair.ask(b"ping");
    pair.answer(&[7; 40_000]);
    pair.talk(1000).expect("the link works");
    assert_eq!(pair.got.len(), 40_000);
    let link = pair.link;
    let before = BYTES.with(Cell::get);
    drop(link);
    (before - BYTES.with(Cell::get), size_of::<Channel>())
}

#[test]
fn an_idle_connection_keeps_its_keys_and_no_buffers() {
    for (versions, most) in [(Versions::Tls12, 2_800), (Versions::Tls13, 5_300)] {
        let (heap, own) = idle(versions);
        println!("{versions:?}: {heap} bytes on the heap and {own} of its own");
        assert!(heap > 0 && heap + (own as i64) < most, "{versions:?}: {heap} + {own} bytes");
    }
}

#[test]
fn a_small_request_allocates_only_what_the_library_does() {
    for versions in BOTH {
        let authority = Authority::new();
        let server = Arc::new(server(&authority.issue(&["localhost"]), None));
        let mut pair = Pair::ready(&setup(&wanted(&authority, versions)), &server);
        let (mut plain, mut out) = (Vec::with_capacity(4096), Vec::with_capacity(4096));
        let (mut sealing, mut feeding) = (0, 0);
        for round in 0..10 {
            let start = CALLS.with(Cell::get);
            pair.link.seal(b"GET / HTTP/1.1\r\n\r\n", &mut out).expect("the link is ready");
            sealing = CALLS.with(Cell::get) - start;
            pair.up.append(&mut out);
            pair.serve();
            pair.answer(b"HTTP/1.1 204 No Content\r\n\r\n");
            let mut down = std::mem::take(&mut pair.down);
            let start = CALLS.with(Cell::get);
            pair.link.feed(&mut down, &mut plain, &mut out).expect("the link works");
            feeding = CALLS.with(Cell::get) - start;
            assert!(out.is_empty() && !plain.is_empty(), "round {round}");
            plain.clear();
        }
        println!("{versions:?}: {sealing} allocations to seal, {feeding} to feed");
        // The record to send, and the data of the received record.
        assert_eq!((sealing, feeding), (1, 1), "{versions:?}");
    }
}
