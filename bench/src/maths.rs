//! The few statistics that the bench needs. Kept here, apart from the tool's own crate: what judges the tool must
//! not share its mistakes.

/// The middle value, or the mean of the two middle ones. Zero values: nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Linear interpolation between the closest ranks (Hyndman and Fan 1996, definition 7).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64))
}

/// The value at rank `q` of sorted values, no interpolation: for maxima and far tails of many samples.
pub fn at_rank(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[((sorted.len() as f64 * q) as usize).min(last)])
}

/// Numbers for made-up data: splitmix64 (Steele, Lea & Flood 2014), the same after the same seed on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_known_values() {
        let values = [4.0, 1.0, 3.0, 2.0, 5.0];
        assert_eq!(
            (median(&values), quantile(&values, 0.25), quantile(&values, 0.75)),
            (Some(3.0), Some(2.0), Some(4.0))
        );
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
        assert_eq!(median(&[]), None);
        assert_eq!(at_rank(&[1.0, 2.0, 3.0], 1.0), Some(3.0));
    }

    #[test]
    fn the_random_numbers_are_those_of_the_paper() {
        let mut random = Random::new(1_234_567);
        let first = [random.next(), random.next(), random.next()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
