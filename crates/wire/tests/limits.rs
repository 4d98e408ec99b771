//! Each limit is exact to the byte, however the bytes are split, and each can be changed.

use crate::common::{End, GET, exchange};
use plimsoll_wire::h1::{Limits, Malformed, Session, Shared};

/// Returns the end of `bytes` under `limits`, whole and in pieces of 1, 7, and 1,000 bytes: all must agree.
fn end(bytes: &[u8], limits: Limits) -> Option<Malformed> {
    let ends = [bytes.len().max(1), 1, 7, 1000].map(|size| {
        let mut shared = Shared::new(limits);
        match exchange(GET, bytes.chunks(size), &mut shared).end {
            End::Refused(malformed) => Some(malformed),
            _ => None,
        }
    });
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    ends[0]
}

/// Returns a head without a body of exactly `len` bytes.
fn head_of(len: usize) -> Vec<u8> {
    let (start, rest) = ("HTTP/1.1 204 No Content\r\nX: ", "\r\n\r\n");
    format!("{start}{}{rest}", "x".repeat(len - start.len() - rest.len())).into_bytes()
}

fn head_with(lines: usize) -> Vec<u8> {
    let lines: String = (0..lines).map(|at| format!("X-{at}: y\r\n")).collect();
    format!("HTTP/1.1 204 No Content\r\n{lines}\r\n").into_bytes()
}

fn chunked(rest: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}").into_bytes()
}

#[test]
fn the_defaults_are_as_documented() {
    let limits = Shared::new(Limits::default()).limits().to_owned();
    assert_eq!((limits.head_bytes_max, limits.headers_max, limits.informational_max), (65_536, 128, 16));
    assert_eq!((limits.chunk_line_bytes_max, limits.trailer_bytes_max), (4096, 16_384));
}

#[test]
fn a_head_may_be_as_long_as_its_limit() {
    assert_eq!(end(&head_of(65_536), Limits::default()), None);
    assert_eq!(end(&head_of(65_537), Limits::default()), Some(Malformed::HeadTooLarge));
    let small = Limits { head_bytes_max: 100, ..Limits::default() };
    assert_eq!(end(&head_of(100), small), None);
    assert_eq!(end(&head_of(101), small), Some(Malformed::HeadTooLarge));
}

#[test]
fn an_endless_head_is_refused() {
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(1 << 20));
    assert_eq!(end(endless.as_bytes(), Limits::default()), Some(Malformed::HeadTooLarge));
    assert_eq!(end("\r\n".repeat(1 << 16).as_bytes(), Limits::default()), Some(Malformed::HeadTooLarge));
}

#[test]
fn empty_lines_are_counted_for_each_head_alone() {
    let interim = format!("HTTP/1.1 100 Continue\r\nX: {}\r\n\r\n", "x".repeat(60_000));
    let bytes = format!("{interim}{}HTTP/1.1 204 No Content\r\n\r\n", "\r\n".repeat(30_000));
    assert_eq!(end(bytes.as_bytes(), Limits::default()), None);
}

#[test]
fn a_fault_in_front_of_the_limit_is_named_rather_than_the_limit() {
    let bytes = format!("HTTP/1.1 200 OK\r\nno colon\r\nX: {}", "x".repeat(1 << 20));
    assert_eq!(end(bytes.as_bytes(), Limits::default()), Some(Malformed::HeaderLine));
}

#[test]
fn header_lines_are_counted() {
    assert_eq!(end(&head_with(128), Limits::default()), None);
    assert_eq!(end(&head_with(129), Limits::default()), Some(Malformed::TooManyHeaders));
    let few = Limits { headers_max: 2, ..Limits::default() };
    assert_eq!([end(&head_with(2), few), end(&head_with(3), few)], [None, Some(Malformed::TooManyHeaders)]);
    let many = Limits { headers_max: 300, ..Limits::default() };
    assert_eq!(
        [end(&head_with(300), many), end(&head_with(301), many)],
        [None, Some(Malformed::TooManyHeaders)]
    );
}

#[test]
fn interim_answers_are_counted() {
    let final_head = "HTTP/1.1 204 No Content\r\n\r\n";
    let after = |count| format!("{}{final_head}", "HTTP/1.1 100 Continue\r\n\r\n".repeat(count)).into_bytes();
    assert_eq!(end(&after(16), Limits::default()), None);
    assert_eq!(end(&after(17), Limits::default()), Some(Malformed::TooManyInformational));
    let none = Limits { informational_max: 0, ..Limits::default() };
    assert_eq!([end(&after(0), none), end(&after(1), none)], [None, Some(Malformed::TooManyInformational)]);
    let most = Limits { informational_max: u8::MAX, ..Limits::default() };
    assert_eq!(
        [end(&after(255), most), end(&after(256), most)],
        [None, Some(Malformed::TooManyInformational)]
    );
}

#[test]
fn a_chunk_line_may_be_as_long_as_its_limit() {
    let line = |len: usize| chunked(&format!("2;{}\r\nok\r\n0\r\n\r\n", "x".repeat(len - 2)));
    assert_eq!(end(&line(4096), Limits::default()), None);
    assert_eq!(end(&line(4097), Limits::default()), Some(Malformed::ChunkLineTooLong));
    // Leading zeros are digits that change nothing, and count as bytes of the line.
    let zeros = |count: usize| chunked(&format!("{}2\r\nok\r\n0\r\n\r\n", "0".repeat(count)));
    assert_eq!(end(&zeros(4095), Limits::default()), None);
    assert_eq!(end(&zeros(4096), Limits::default()), Some(Malformed::ChunkLineTooLong));
}

#[test]
fn the_limit_of_a_chunk_line_is_for_each_line() {
    let body = format!("1;{}\r\nx\r\n", "x".repeat(4000)).repeat(100);
    assert_eq!(end(&chunked(&format!("{body}0\r\n\r\n")), Limits::default()), None);
}

#[test]
fn trailers_are_limited_all_together() {
    let trailers = |len: usize| chunked(&format!("0\r\nX: y\r\nZ: {}\r\n\r\n", "z".repeat(len - 11)));
    assert_eq!(end(&trailers(16_384), Limits::default()), None);
    assert_eq!(end(&trailers(16_385), Limits::default()), Some(Malformed::TrailerTooLarge));
    let none = Limits { trailer_bytes_max: 0, ..Limits::default() };
    assert_eq!(end(&chunked("0\r\n\r\n"), none), None);
}

#[test]
fn the_longest_body_is_that_of_a_signed_offset() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    session.submit(GET);
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n";
    assert!(session.feed(head, &mut shared, &mut ()).is_ok());
    assert_eq!(session.skippable(), i64::MAX as u64);
    assert!(session.skip(i64::MAX as u64).is_some());
    assert_eq!(end(&chunked("7fffffffffffffff\r\nx"), Limits::default()), None);
}
