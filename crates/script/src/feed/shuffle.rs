//! A random order of any number of rows without memory: the position of row i is computed, not stored.

use plimsoll_stats::random::SplitMix64;

/// Mixes the bits of `x`: one step of the generator with `x` as its seed.
pub fn mix(x: u64) -> u64 {
    SplitMix64::new(x).next_u64()
}

/// Rounds of the network. Four are enough for halves of many bits (Luby, Rackoff: How to construct pseudorandom
/// permutations, 1988). Files of a few rows have halves of one or two bits and need more rounds.
const ROUNDS: u64 = 8;

/// Returns the image of `index` under the permutation of `0..count` with the given `key`.
///
/// A Feistel network permutes the numbers with an even number of bits. If the image is not below `count`, the network
/// is applied again until it is. This follows a cycle through `index`, so it ends, and no two indexes have the same
/// image (Black, Rogaway: Ciphers with Arbitrary Finite Domains, 2002). The domain is below four times `count`, so it
/// takes fewer than four steps on average.
pub fn permuted(index: u64, count: u64, key: u64) -> u64 {
    if count < 2 {
        return 0;
    }
    let bits = u64::BITS - (count - 1).leading_zeros();
    let half = bits.div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut image = index;
    loop {
        let (mut left, mut right) = (image >> half, image & mask);
        for round in 0..ROUNDS {
            let mixed = mix(key.wrapping_add(round.wrapping_mul(0xd6e8_feb8_6659_fd93)) ^ right);
            (left, right) = (right, left ^ (mixed >> 32 & mask));
        }
        image = left << half | right;
        if image < count {
            return image;
        }
    }
}
