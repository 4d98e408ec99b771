//! Reproducible randomness: numbers from a seed, and the ways in which a network or a hostile server corrupts bytes.

use std::env;

/// SplitMix64 (Steele, Lea, and Flood, 2014): one word of state, and every seed is equally good, so the number of a
/// case can be its seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns 0 to `bound` - 1; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Returns a slice of `bytes`, more often a short one than a long one.
    fn stretch<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let from = self.below(bytes.len());
        let room = bytes.len() - from;
        let most = if self.one_in(4) { room } else { room.min(12) };
        &bytes[from..][..self.below(most + 1)]
    }

    /// Makes one change: a bit flip, a significant byte, a cut, a piece of another sample, a repetition. `sharp` are
    /// the bytes that are significant to the reader under test.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>, sharp: &[u8], other: &[u8]) {
        let at = self.below(bytes.len() + 1);
        let kind = self.below(9);
        match kind {
            0 | 1 if at < bytes.len() => {
                bytes[at] = if kind == 0 { bytes[at] ^ 1 << self.below(8) } else { self.pick(sharp) };
            }
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.truncate(at),
            4 => {
                let len = self.stretch(&bytes[at..]).len();
                bytes.drain(at..at + len);
            }
            5 => {
                let stretch = self.stretch(other).to_vec();
                bytes.splice(at..at, stretch);
            }
            // Repeating existing bytes produces two lengths, two heads, or endless lines.
            6 => {
                let times = 1 + self.below(4);
                let stretch = self.stretch(bytes).repeat(times);
                bytes.splice(at..at, stretch);
            }
            7 => {
                let run = vec![self.pick(sharp); 1 + self.below(40)];
                bytes.splice(at..at, run);
            }
            _ => bytes.insert(at, self.pick(sharp)),
        }
    }

    /// Splits `bytes` at random positions: into single bytes, some, or many at once, with empty pieces, too.
    pub fn pieces<'b>(&mut self, mut bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let longest = self.pick(&[1, 2, 7, 40, 400]);
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let least = usize::from(!self.one_in(20));
            let (first, rest) = bytes.split_at((least + self.below(longest)).min(bytes.len()));
            pieces.push(first);
            bytes = rest;
        }
        pieces
    }
}

/// Runs `case` once for each of `usual` seeds, or for the number in `PLIMSOLL_FUZZ_CASES`. A failing case prints its
/// seed, and `PLIMSOLL_FUZZ_SEED` runs that one alone.
pub fn cases(usual: u64, case: impl Fn(&mut Random) + std::panic::RefUnwindSafe) {
    let number = |name: &str| {
        let text = env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is `{text}`, not a whole number")))
    };
    let seeds = match number("PLIMSOLL_FUZZ_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("PLIMSOLL_FUZZ_CASES").unwrap_or(usual),
    };
    for seed in seeds {
        // The panic printed the reason; only the seed is missing.
        let held = std::panic::catch_unwind(|| case(&mut Random::new(seed))).is_ok();
        assert!(held, "rerun only this case with PLIMSOLL_FUZZ_SEED={seed}");
    }
}
