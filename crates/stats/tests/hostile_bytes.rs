//! Decoders given damaged and hostile bytes return an error or an equal value; they never panic and never allocate too
//! much memory.

use crate::common::{Rng, encoded, random_hist, random_interval, random_layout, random_tally};
use plimsoll_stats::tally::{BUCKET_BYTES_MAX, CELL_BYTES_MAX};
use plimsoll_stats::{Error, Hist, Interval, Tally};

/// Decodes; an accepted value must encode to exactly the bytes taken.
fn check<T>(
    bytes: &[u8],
    decode: impl Fn(&mut &[u8]) -> Result<T, Error>,
    encode: impl Fn(&T, &mut Vec<u8>),
) -> bool {
    let mut rest = bytes;
    let Ok(value) = decode(&mut rest) else { return false };
    let taken = &bytes[..bytes.len() - rest.len()];
    assert_eq!(encoded(|out| encode(&value, out)), taken);
    true
}

/// Adds the bytes to an interval: the same are accepted, with the same sum.
fn check_sum(bytes: &[u8]) {
    let base = random_interval(&mut Rng(33));
    let (mut rest, mut added, mut sum) = (bytes, bytes, base.clone());
    let decoded = Interval::decode(&mut rest);
    let merged = sum.merge_encoded(&mut added, usize::MAX, &[]);
    assert_eq!(merged.is_ok(), decoded.is_ok());
    let Ok(decoded) = decoded else { return };
    let mut expected = base;
    expected.merge(&decoded);
    assert_eq!((sum, added), (expected, rest));
}

fn check_all(bytes: &[u8]) -> usize {
    check_sum(bytes);
    [
        check(bytes, Hist::decode, Hist::encode),
        check(bytes, Tally::decode, Tally::encode),
        check(bytes, Interval::decode, Interval::encode),
    ]
    .iter()
    .filter(|accepted| **accepted)
    .count()
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        match rng.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.next() as u8),
            2 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            3 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.below(5) as usize],
            _ if at < bytes.len() => drop(bytes.remove(at)),
            _ => {}
        }
    }
}

#[test]
fn mutated_bytes_give_an_error_or_a_value_that_encodes_to_them() {
    let mut rng = Rng(30);
    let (mut accepted, rounds) = (0, 6_000);
    for round in 0..rounds {
        let mut bytes = match round % 3 {
            0 => encoded(|out| random_hist(&mut rng).encode(out)),
            1 => {
                let layout = random_layout(&mut rng);
                encoded(|out| random_tally(&mut rng, layout).encode(out))
            }
            _ => encoded(|out| random_interval(&mut rng).encode(out)),
        };
        mutate(&mut rng, &mut bytes);
        accepted += check_all(&bytes);
    }
    assert!(accepted > 100 && accepted < rounds, "{accepted}: the test should reach both outcomes");
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = Rng(31);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..rng.below(60)).map(|_| (rng.next() >> rng.below(57)) as u8).collect();
        // All versions are 1: let most inputs past the first byte.
        if let (Some(first), true) = (bytes.first_mut(), rng.below(4) > 0) {
            *first = 1;
        }
        check_all(&bytes);
    }
}

#[test]
fn every_prefix_of_a_valid_encoding_is_refused_as_too_short() {
    let mut rng = Rng(32);
    let interval = random_interval(&mut rng);
    let bytes = encoded(|out| interval.encode(out));
    for len in 0..bytes.len() {
        assert_eq!(Interval::decode(&mut &bytes[..len]), Err(Error::Truncated), "{len} of {}", bytes.len());
    }
}

#[test]
fn a_few_bytes_cannot_ask_for_unlimited_memory() {
    // A tally of 2^63 counters.
    let mut bytes = vec![1u8];
    bytes.extend([0xff; 8]);
    bytes.extend([0x7f, 0, 0, 0, 0, 0, 0, 0]);
    let refused = Tally::decode(&mut &bytes[..]);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");

    // An interval with a large run tally and many one-byte series like it: each is within the limit, together they are
    // not.
    let mut bytes = vec![1u8, 0, 1, 0x80, 0x80, 0x40, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0x80, 0x08]);
    bytes.extend([0; 1024]);
    let refused = Interval::decode(&mut &bytes[..]);
    let Err(Error::TooLarge { found, limit, .. }) = refused else {
        unreachable!("1025 tallies of 8 MiB are more than the limit")
    };
    assert!(found == 8 << 20 && limit < found && CELL_BYTES_MAX == 64 << 20);

    // 160,000 histograms of eight values each, each in a separate block: 4 KiB for 40 bytes.
    let mut wide = Hist::new();
    (0..8).for_each(|power| wide.record(7 << (4 * power)));
    let (one, count) = (encoded(|out| wide.encode(out)), 160_000);
    let mut bytes = vec![1u8, 0, 0, 0, 0, 0, 0, 0x80, 0xe2, 0x09, 0x80, 0xe2, 0x09];
    // Each follows the previous one.
    (0..count).for_each(|_| bytes.extend([0].iter().chain(&one)));
    let refused = Tally::decode(&mut &bytes[..]).map(|tally| tally.hists.len());
    assert!(matches!(refused, Err(Error::TooLarge { what: "bytes of buckets", .. })), "{refused:?}");
    assert_eq!(BUCKET_BYTES_MAX, 512 << 20);

    // More series than bytes left.
    let bytes = [1u8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0];
    assert_eq!(Interval::decode(&mut &bytes[..]), Err(Error::Truncated));
}

#[test]
fn unknown_versions_are_named() {
    assert_eq!(
        Tally::decode(&mut &[3u8, 0][..]),
        Err(Error::UnknownVersion { what: "tally", found: 3, known: 2 })
    );
    let error = Interval::decode(&mut &[7u8][..]).err().map(|e| e.to_string()).unwrap_or_default();
    assert_eq!(error, "unknown interval version `7`");
}
