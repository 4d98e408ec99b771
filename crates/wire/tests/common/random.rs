//! Chance that can be repeated: numbers from a seed, and the ways in which a network or a hostile server spoils
//! bytes.

use std::env;

/// SplitMix64 (Steele, Lea and Flood, 2014): one word of state, every seed is as good as any other, so the
/// number of a case can be its seed.
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

    /// 0 to `bound` - 1; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A stretch of `bytes`, short ones more often than long ones.
    fn stretch<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let from = self.below(bytes.len());
        let room = bytes.len() - from;
        let most = if self.one_in(4) { room } else { room.min(12) };
        &bytes[from..][..self.below(most + 1)]
    }

    /// One change: a flip, a sharp byte, a cut, a piece of something else, a repetition. `sharp` are the bytes
    /// that mean something to the reader under test.
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
            // A repetition of what is there is how two lengths, two heads or endless lines come about.
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

    /// `bytes` cut at random places: single bytes, some, or many at once; empty pieces too.
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

/// Runs `case` once for each of `usual` seeds, or as many as `PLIMSOLL_FUZZ_CASES` says. A case that fails says
/// its seed, and `PLIMSOLL_FUZZ_SEED` runs that one alone.
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
        // The reason was printed when the case failed; what it lacks is the seed.
        let held = std::panic::catch_unwind(|| case(&mut Random::new(seed))).is_ok();
        assert!(held, "PLIMSOLL_FUZZ_SEED={seed} repeats this case alone");
    }
}
