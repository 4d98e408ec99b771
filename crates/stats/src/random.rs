//! SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): eight bytes of state, every
//! seed is valid, and runs are reproducible.

#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns an exponentially distributed number with mean 1, by inversion; the 53-bit uniform number is never 0.
    pub fn exponential(&mut self) -> f64 {
        let uniform = ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        -uniform.ln()
    }
}
