//! Generated values: identifiers, random numbers and strings, counters. All randomness comes from the user's generator,
//! so runs with the same seed send the same bytes.

use super::{Scope, fake, time};
use plimsoll_plan::value::{Alphabet, Function};
use plimsoll_stats::random::SplitMix64;

pub(super) fn put(function: &Function, scope: &mut Scope<'_>, out: &mut Vec<u8>) {
    match function {
        Function::Uuid => uuid(scope.random, out),
        Function::Now(format) => time::write_time(scope.unix_ns, format, out),
        Function::Moment(moment) => time::write_moment(scope.unix_ns, moment, out),
        Function::Fake(kind, locale) => fake::put(*kind, *locale, scope.random, out),
        Function::Counter { id, start, step } => signed(scope.counters.next(*id, *start, *step), out),
        Function::RandomInt { low, high } => signed(between(scope.random, *low, *high), out),
        Function::RandomString { length, alphabet } => string(scope.random, *length, *alphabet, out),
        Function::User => time::number(u64::from(scope.user), 1, out),
        Function::Iteration => time::number(scope.iteration, 1, out),
    }
}

fn signed(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    time::number(value.unsigned_abs(), 1, out);
}

/// Version 4 of RFC 9562 section 5.4: 122 random bits, the version in the 13th digit, the variant in the 17th.
fn uuid(random: &mut SplitMix64, out: &mut Vec<u8>) {
    const VERSION: u128 = 4 << 76;
    const VARIANT: u128 = 2 << 62;
    const FIXED_BITS: u128 = (15 << 76) | (3 << 62);
    let drawn = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
    let bytes = ((drawn & !FIXED_BITS) | VERSION | VARIANT).to_be_bytes();
    let mut text = [b'-'; 36];
    let mut at = 0;
    for (index, byte) in bytes.iter().enumerate() {
        // A hyphen follows 8, 12, 16, and 20 digits, which are 4, 6, 8, and 10 bytes.
        at += usize::from(matches!(index, 4 | 6 | 8 | 10));
        text[at] = Alphabet::Hex.signs()[usize::from(byte >> 4)];
        text[at + 1] = Alphabet::Hex.signs()[usize::from(byte & 15)];
        at += 2;
    }
    out.extend_from_slice(&text);
}

/// Returns a whole number between `low` and `high`, which may be in either order. Both ends are included, and all
/// numbers are equally likely.
///
/// D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29 (2019): the high half of `draw * span` is
/// the number; the draws whose low half is below `2^64 mod span` are the surplus that would make some numbers likelier.
pub(super) fn between(random: &mut SplitMix64, low: i64, high: i64) -> i64 {
    let (low, high) = (low.min(high), low.max(high));
    let span = (high.wrapping_sub(low) as u64).wrapping_add(1);
    if span == 0 {
        // All 2^64 numbers are in the range.
        return random.next_u64() as i64;
    }
    loop {
        let product = u128::from(random.next_u64()) * u128::from(span);
        let surplus = product as u64;
        // The division happens only in the rare case that it matters.
        if surplus >= span || surplus >= span.wrapping_neg() % span {
            return low.wrapping_add((product >> 64) as u64 as i64);
        }
    }
}

/// Appends `length` characters. Each is drawn from 16 bits of the generator by the method of [`between`].
fn string(random: &mut SplitMix64, length: u32, alphabet: Alphabet, out: &mut Vec<u8>) {
    let signs = alphabet.signs();
    let count = signs.len() as u32;
    let surplus = (1 << 16) % count;
    let mut left = length;
    out.reserve(length as usize);
    while left > 0 {
        let mut bits = random.next_u64();
        for _ in 0..4 {
            let product = (bits as u32 & 0xffff) * count;
            bits >>= 16;
            if left > 0 && product & 0xffff >= surplus {
                // proof: a 16-bit number times `count`, over 2^16, is below `count`.
                out.push(signs[(product >> 16) as usize]);
                left -= 1;
            }
        }
    }
}

trait Signs {
    fn signs(self) -> &'static [u8];
}

impl Signs for Alphabet {
    fn signs(self) -> &'static [u8] {
        const ALPHANUMERIC: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        match self {
            Alphabet::Alphanumeric => ALPHANUMERIC,
            Alphabet::Letters => &ALPHANUMERIC[..52],
            Alphabet::Digits => b"0123456789",
            Alphabet::Hex => b"0123456789abcdef",
        }
    }
}
