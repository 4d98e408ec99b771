//! The network cuts where it likes; the result must not depend on it, nor on what was seen before.

mod common;

use common::{End, Outcome, exchange, exchange_into, samples, whole};
use plimsoll_wire::h1::{Ask, Limits, Shared};

fn fresh() -> Shared {
    Shared::new(Limits::default())
}

#[test]
fn every_sample_cut_in_two_anywhere_gives_the_same() {
    let mut shared = fresh();
    for sample in samples::all() {
        let expected = whole(sample.ask, &sample.bytes);
        for at in 0..=sample.bytes.len() {
            let (first, second) = sample.bytes.split_at(at);
            let found = exchange(sample.ask, [first, second], &mut shared);
            assert!(found == expected, "cut at {at}: {}", sample.bytes.escape_ascii());
        }
    }
}

#[test]
fn every_sample_byte_by_byte_gives_the_same() {
    for sample in samples::all() {
        let found = exchange(sample.ask, sample.bytes.chunks(1), &mut fresh());
        assert!(found == whole(sample.ask, &sample.bytes), "{}", sample.bytes.escape_ascii());
    }
}

#[test]
fn every_small_sample_cut_in_three_anywhere_gives_the_same() {
    let mut shared = fresh();
    for sample in samples::small() {
        let expected = whole(sample.ask, &sample.bytes);
        for end in 0..=sample.bytes.len() {
            for start in 0..=end {
                let bytes = &sample.bytes;
                let pieces = [&bytes[..start], &bytes[start..end], &bytes[end..]];
                assert!(exchange(sample.ask, pieces, &mut shared) == expected, "{start} {end}");
            }
        }
    }
}

#[test]
fn what_was_seen_before_changes_nothing() {
    let mut shared = fresh();
    let samples = samples::all();
    for round in 0..samples.len() {
        // Every sample follows every other one once, so that each meets each as a template.
        for at in 0..samples.len() {
            let sample = &samples[(at * (round + 1)) % samples.len()];
            assert_eq!(
                exchange(sample.ask, [&sample.bytes[..]], &mut shared),
                whole(sample.ask, &sample.bytes)
            );
        }
    }
}

/// Small, seeded, and good enough to hit every state: xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// One change that a faulty or hostile server could make.
    fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        const SHARP: &[u8] = b"\r\n\0 :;,0159afAF\t\x7f\xff-HTPC";
        let at = self.below(bytes.len());
        match self.below(6) {
            _ if bytes.is_empty() => bytes.extend_from_slice(other),
            0 => bytes[at] = self.below(256) as u8,
            1 => bytes[at] = SHARP[self.below(SHARP.len())],
            2 => bytes.insert(at, SHARP[self.below(SHARP.len())]),
            3 => drop(bytes.remove(at)),
            4 => bytes.truncate(at),
            _ => {
                let from = self.below(other.len());
                let to = from + self.below(other.len() - from + 1);
                bytes.splice(at..at, other[from..to].iter().copied());
            }
        }
    }

    fn pieces<'b>(&mut self, mut bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (first, rest) = bytes.split_at(1 + self.below(bytes.len().min(40)));
            pieces.push(first);
            bytes = rest;
        }
        pieces
    }
}

/// Neither panic nor a byte too many (asserted in `exchange_into`), and the same result whole, in pieces,
/// with warm templates and with nobody looking.
#[test]
fn mutated_answers_never_panic_and_never_depend_on_the_cut() {
    let samples: Vec<_> = samples::all().into_iter().filter(|sample| sample.bytes.len() < 500).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut warm = fresh();
    for _ in 0..60_000 {
        let sample = &samples[random.below(samples.len())];
        let other = &samples[random.below(samples.len())].bytes;
        let ask = Ask {
            head_only: random.below(10) == 0,
            http10: random.below(10) == 0,
            close: random.below(10) == 0,
        };
        let mut bytes = sample.bytes.clone();
        for _ in 0..random.below(4) {
            random.mutate(&mut bytes, other);
        }
        let expected: Outcome = whole(ask, &bytes);
        let pieces = random.pieces(&bytes);
        assert_eq!(exchange(ask, pieces.iter().copied(), &mut fresh()), expected, "{}", bytes.escape_ascii());
        assert_eq!(exchange(ask, pieces.iter().copied(), &mut warm), expected, "{}", bytes.escape_ascii());
        assert_eq!(exchange(ask, [&bytes[..]], &mut warm), expected, "{}", bytes.escape_ascii());
        let (unread, consumed) = exchange_into(ask, [&bytes[..]], &mut warm, &mut ());
        assert_eq!(unread, expected.end);
        if !matches!(unread, End::Refused(_)) {
            assert_eq!(Some(consumed), expected.consumed);
        }
    }
}
