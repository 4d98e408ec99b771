//! Corrupted event streams: however the text is split, the parser gives the same result as a slow reader that sees the
//! whole text at once.
//!
//! `PLIMSOLL_FUZZ_CASES=5000000 cargo test -p plimsoll-wire --test surface fuzz_sse` runs more cases.

use crate::common::random::{Random, cases};
use plimsoll_wire::sse::{Event, Parser, Spares, TooLong};

const SHARP: &[u8] = b"\r\n\n: \0\xef\xbb\xbf0d";

const MARK: &[u8] = b"\xef\xbb\xbf";

const SAMPLES: &[&[u8]] = &[
    b"data: hello\n\n",
    b"\xef\xbb\xbfdata: hello\r\n\r\n",
    b"event: token\r\ndata: {\"a\": 1}\r\nid: 7\r\n\r\n",
    b"data: one\rdata: two\r\rdata\n\n",
    b": ping\n\n: ping\n\ndata:x\n:in between\ndata:  y\n\n",
    b"retry: 3000\n\nid: 9\n\nevent: lost\n\ndata: kept\n\n",
    b"id: a\0b\nid\nretry: 12x\nretry: 99999999999999999999999\ndata\ndata\n\n",
    b"unknown: field\n data: no\nData: no\ndata: yes\nretry:5\n\n",
    b"data: never finished\ndata: at all",
    b"data: [DONE]\n\n\n\n\xef\xbb\xbfdata: a mark that is none\n\n",
];

/// An event that can be kept.
type Kept = (Vec<u8>, Vec<u8>, Option<Vec<u8>>, Option<u64>);

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    events: Vec<Kept>,
    last_retry_ms: Option<u64>,
    too_long: bool,
}

/// Follows the standard's text step by step, over the complete text: strip the mark, then lines, fields, buffers.
fn slow(text: &[u8], limit_bytes: usize) -> Outcome {
    let mut out = Outcome::default();
    // Half a mark may still become a whole one, which does not count.
    if MARK.starts_with(text) {
        return out;
    }
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && text[at - 1] == b'\r' => {}
            b'\r' | b'\n' => lines.push(std::mem::take(&mut line)),
            _ => line.push(byte),
        }
    }
    // The text after the last line end is not a line, but it counts towards the limit.
    let last = lines.len();
    lines.push(line);
    let (mut name, mut data, mut id, mut retry_ms) = (Vec::new(), Vec::new(), None, None);
    let mut before = 0;
    for (at, line) in lines.iter().enumerate() {
        let comment = line.starts_with(b":");
        if !line.is_empty() && !comment && before + line.len() > limit_bytes {
            out.too_long = true;
            return out;
        }
        if at == last || comment {
            continue;
        }
        if line.is_empty() {
            if !data.is_empty() {
                data.pop();
                out.events.push((name, data, id, retry_ms));
            }
            (name, data, id, retry_ms, before) = (Vec::new(), Vec::new(), None, None, 0);
            continue;
        }
        before += line.len() + 1;
        let mut parts = line.splitn(2, |&byte| byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = if value.first() == Some(&b' ') { &value[1..] } else { value };
        if field == b"event" {
            name = value.to_vec();
        } else if field == b"data" {
            data.extend_from_slice(value);
            data.push(b'\n');
        } else if field == b"id" && !value.contains(&0) {
            id = Some(value.to_vec());
        } else if field == b"retry" && !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
            let digits = String::from_utf8_lossy(value);
            // Parsing digits fails for only one reason: there are too many.
            retry_ms = Some(digits.parse().unwrap_or(u64::MAX));
            out.last_retry_ms = retry_ms;
        }
    }
    out
}

fn quick(pieces: &[&[u8]], limit_bytes: usize, spares: &mut Spares) -> Outcome {
    let mut out = Outcome::default();
    let mut parser = Parser::new();
    let mut keep = |event: Event<'_>| {
        let id = event.id.map(<[u8]>::to_vec);
        out.events.push((event.name.to_vec(), event.data.to_vec(), id, event.retry_ms));
    };
    let fed = pieces.iter().try_for_each(|piece| parser.feed(piece, spares, limit_bytes, &mut keep));
    out.too_long = fed == Err(TooLong);
    out.last_retry_ms = parser.last_retry_ms();
    out
}

fn spoiled(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random.below(3) {
        bytes.extend_from_slice(random.pick(SAMPLES));
    }
    for _ in 0..random.below(6) {
        let other = random.pick(SAMPLES);
        random.mutate(&mut bytes, SHARP, other);
    }
    bytes
}

/// Builds lines from significant words, because a corrupted sample rarely has two of a kind.
fn made(random: &mut Random) -> Vec<u8> {
    const WORDS: &[&[u8]] =
        &[b"data", b"event", b"id", b"retry", b":", b": ", b" ", b"1", b"x", b"\0", b"\xef\xbb\xbf", b"\xef"];
    const ENDS: &[&[u8]] = &[b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r", b"\r\n\r\n"];
    let mut bytes = if random.one_in(4) { MARK.to_vec() } else { Vec::new() };
    for _ in 0..random.below(30) {
        let from = if random.one_in(3) { ENDS } else { WORDS };
        bytes.extend_from_slice(random.pick(from));
    }
    bytes
}

#[test]
fn samples_cut_in_three_anywhere_are_what_the_slow_reader_says() {
    let mut spares = Spares::new();
    for sample in SAMPLES {
        let expected = slow(sample, usize::MAX);
        for end in 0..=sample.len() {
            for start in 0..=end {
                let pieces = [&sample[..start], &sample[start..end], &sample[end..]];
                let found = quick(&pieces, usize::MAX, &mut spares);
                assert_eq!(found, expected, "{start} {end}: {}", sample.escape_ascii());
            }
        }
    }
}

#[test]
fn spoiled_streams_are_what_the_slow_reader_says_however_they_are_cut() {
    cases(150_000, |random| {
        let bytes = if random.one_in(2) { spoiled(random) } else { made(random) };
        let limit_bytes = if random.one_in(2) { usize::MAX } else { random.below(40) };
        let mut spares = Spares::new();
        let expected = slow(&bytes, limit_bytes);
        let found = quick(&[&bytes], limit_bytes, &mut spares);
        assert_eq!(found, expected, "limit {limit_bytes}, whole: {}", bytes.escape_ascii());
        for _ in 0..2 {
            let pieces = random.pieces(&bytes);
            let found = quick(&pieces, limit_bytes, &mut spares);
            let shown: Vec<_> = pieces.iter().map(|piece| piece.escape_ascii().to_string()).collect();
            assert_eq!(found, expected, "limit {limit_bytes}: {shown:?}");
        }
    });
}

#[test]
fn chance_is_the_same_for_the_same_seed() {
    let bytes = |seed| made(&mut Random::new(seed));
    assert!((0..100).all(|seed| bytes(seed) == bytes(seed)));
    assert!((0..100).any(|seed| bytes(seed) != bytes(seed + 1)));
}
