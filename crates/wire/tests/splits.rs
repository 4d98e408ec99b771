//! A network may split bytes anywhere; the result must not depend on that, nor on earlier bytes. The same for corrupted
//! responses is in `fuzz_h1.rs`.

use crate::common::{exchange, samples, whole};
use plimsoll_wire::h1::{Limits, Shared};

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
