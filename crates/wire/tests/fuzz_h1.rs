//! Corrupted responses: no panic, no byte too many, no limit exceeded, and the same result however they are split.
//!
//! `PLIMSOLL_FUZZ_CASES=5000000 cargo test -p plimsoll-wire --test surface fuzz_h1` runs more cases.

use crate::common::random::{Random, cases};
use crate::common::samples::{self, Sample};
use crate::common::{End, Outcome, Seen, exchange, exchange_into};
use plimsoll_wire::h1::{Answer, Ask, Eof, Head, Limits, Malformed, Session, Shared, Sink};

/// The bytes that are significant in a head or in chunk framing.
const SHARP: &[u8] = b"\r\n\0 :;,0159afAF\t\x7f\xff-HTPC";

fn corpus() -> Vec<Sample> {
    samples::all().into_iter().filter(|sample| sample.bytes.len() < 500).collect()
}

/// Returns a sample with up to five changes, and its request.
fn spoiled(random: &mut Random, corpus: &[Sample]) -> (Ask, Vec<u8>) {
    let mut bytes = corpus[random.below(corpus.len())].bytes.clone();
    for _ in 0..random.below(6) {
        let other = &corpus[random.below(corpus.len())].bytes;
        random.mutate(&mut bytes, SHARP, other);
    }
    let ask = Ask { head_only: random.one_in(10), http10: random.one_in(10), close: random.one_in(10) };
    (ask, bytes)
}

/// Returns the default limits, or limits that the samples reach.
fn limits(random: &mut Random) -> Limits {
    if random.one_in(2) {
        return Limits::default();
    }
    Limits {
        head_bytes_max: random.below(200),
        headers_max: random.below(6),
        informational_max: random.below(3) as u8,
        chunk_line_bytes_max: random.below(30),
        trailer_bytes_max: random.below(40),
    }
}

/// Checks the properties of every outcome, for any bytes.
fn plausible(outcome: &Outcome, given: &[u8], limits: &Limits) {
    let consumed = outcome.consumed.unwrap_or_default();
    assert!(consumed <= given.len());
    assert!(outcome.seen.heads.len() <= 1);
    assert!(outcome.seen.heads.iter().all(|head| head.headers.len() <= limits.headers_max));
    if let End::Done(answer) | End::Closed(Eof::Complete(answer)) = outcome.end {
        assert!(answer.head_bytes as usize <= limits.head_bytes_max);
        assert_eq!(answer.body_bytes, outcome.seen.body.len() as u64);
        assert_eq!(answer.wire_bytes, consumed as u64);
        assert!((200..1000).contains(&answer.status) || answer.status == 101);
        assert_eq!(outcome.seen.heads.len(), 1, "every response has one head");
    }
}

#[test]
fn spoiled_answers_never_depend_on_the_cut_nor_on_what_was_seen_before() {
    let corpus = corpus();
    cases(100_000, |random| {
        let (ask, bytes) = spoiled(random, &corpus);
        let limits = limits(random);
        let fresh = || Shared::new(limits);
        let expected = exchange(ask, [&bytes[..]], &mut fresh());
        plausible(&expected, &bytes, &limits);
        let pieces = random.pieces(&bytes);
        let mut warm = fresh();
        for _ in 0..random.below(4) {
            let (other_ask, other) = spoiled(random, &corpus);
            exchange(other_ask, [&other[..]], &mut warm);
        }
        let shown = bytes.escape_ascii();
        assert_eq!(exchange(ask, pieces.iter().copied(), &mut fresh()), expected, "{limits:?} {shown}");
        assert_eq!(exchange(ask, pieces.iter().copied(), &mut warm), expected, "{limits:?} {shown}");
        assert_eq!(exchange(ask, [&bytes[..]], &mut warm), expected, "{limits:?} {shown}");
        let (unread, consumed) = exchange_into(ask, [&bytes[..]], &mut warm, &mut ());
        assert_eq!(unread, expected.end, "{shown}");
        assert!(matches!(unread, End::Refused(_)) || Some(consumed) == expected.consumed);
    });
}

/// Everything that one connection produced until it could not continue: responses, bodies, and the reason why it ended.
#[derive(Debug, PartialEq)]
struct Conversation {
    answers: Vec<Answer>,
    seen: Seen,
    refused: Option<Malformed>,
    eof: Option<Eof>,
}

/// Sends one request after another on a connection that delivers `pieces`, each submitted after the previous response,
/// with skipped bodies if `skips` is set. Skipped bytes are counted but not passed on.
fn converse(ask: Ask, pieces: &[&[u8]], shared: &mut Shared, skips: bool) -> Conversation {
    let mut session = Session::new();
    let mut found = Conversation { answers: Vec::new(), seen: Seen::default(), refused: None, eof: None };
    session.submit(ask);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let skippable = session.skippable().min(rest.len() as u64) as usize;
            let done = if skips && skippable > 0 {
                rest = &rest[skippable..];
                session.skip(skippable as u64)
            } else {
                match session.feed(rest, shared, &mut found.seen) {
                    Ok(fed) => {
                        assert!(fed.consumed > 0 && fed.consumed <= rest.len(), "each call makes progress");
                        rest = &rest[fed.consumed..];
                        fed.done
                    }
                    Err(malformed) => {
                        found.refused = Some(malformed);
                        return found;
                    }
                }
            };
            if let Some(answer) = done {
                found.answers.push(answer);
                session.submit(ask);
            }
        }
    }
    found.eof = Some(session.eof());
    found
}

#[test]
fn answers_behind_each_other_are_told_apart_however_they_are_cut() {
    let corpus = corpus();
    cases(80_000, |random| {
        let (ask, mut bytes) = spoiled(random, &corpus);
        for _ in 0..random.below(4) {
            bytes.extend(spoiled(random, &corpus).1);
        }
        let mut shared = Shared::new(Limits::default());
        let expected = converse(ask, &[&bytes], &mut shared, false);
        let pieces = random.pieces(&bytes);
        let found = converse(ask, &pieces, &mut shared, false);
        assert_eq!(found, expected, "{}", bytes.escape_ascii());
        let skipped = converse(ask, &pieces, &mut shared, true);
        assert_eq!(skipped.answers, expected.answers, "{}", bytes.escape_ascii());
        assert_eq!((skipped.refused, skipped.eof), (expected.refused, expected.eof));
    });
}

#[test]
fn a_head_is_shown_as_it_came_whatever_it_is() {
    /// The last head, in one piece and in its parts.
    #[derive(Default)]
    struct Raw(Option<(Vec<u8>, Vec<u8>)>);
    impl Sink for Raw {
        const READS: bool = true;
        fn head(&mut self, head: &Head<'_>) {
            let values = head.iter().flat_map(|(name, value)| [name.as_bytes(), value]).collect::<Vec<_>>();
            self.0 = Some((head.raw().to_vec(), values.concat()));
        }
    }
    let corpus = corpus();
    cases(80_000, |random| {
        let (ask, bytes) = spoiled(random, &corpus);
        let pieces = random.pieces(&bytes);
        let mut shared = Shared::new(Limits::default());
        let mut raw = Raw::default();
        exchange_into(ask, pieces.iter().copied(), &mut shared, &mut raw);
        let Some((head, parts)) = raw.0.take() else { return };
        assert!(bytes.windows(head.len()).any(|window| window == head), "{}", bytes.escape_ascii());
        // The received head can be read again by itself, with the same result.
        exchange_into(ask, [&head[..]], &mut shared, &mut raw);
        assert_eq!(raw.0, Some((head, parts)));
    });
}
