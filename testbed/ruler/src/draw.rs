//! Random delays, reproducible from a seed.
//!
//! The generator is xoshiro256++ (Blackman and Vigna) seeded by splitmix64; normal values are from the Box-Muller
//! transform. Each use (delay, service, errors, faults) has a separate stream, so that turning errors on does not
//! change the delays.

use crate::units;

/// A stream of pseudo-random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Returns stream number `stream` of `seed`; equal arguments return equal streams.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        let state = std::array::from_fn(|_| {
            mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = mixed;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        });
        Random { state }
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Draws a number from the open interval (0, 1): never 0, so that its logarithm is finite.
    pub fn fraction(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Returns true with probability `chance`; draws nothing for 0 and 1.
    pub fn hits(&mut self, chance: f64) -> bool {
        chance >= 1.0 || (chance > 0.0 && self.fraction() < chance)
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.fraction().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }
}

/// A distribution of durations, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Always the same value.
    Constant(u64),
    /// Uniform between two bounds.
    Uniform(u64, u64),
    /// Exponential with this mean.
    Exponential(u64),
    /// Normal with mean and standard deviation, cut off at 0.
    Normal(u64, u64),
    /// Log-normal with this median and this sigma of the logarithm.
    LogNormal(u64, f64),
    /// The first value, or with the given probability the second.
    Bimodal(u64, u64, f64),
}

/// No draw exceeds an hour: the tail of a log-normal must not overflow the clock.
const MOST_NS: f64 = 3.6e12;

impl Distribution {
    /// Reads `5ms`, `uniform:1ms-20ms`, `exponential:10ms`, `normal:20ms:4ms`, `lognormal:10ms:0.8`, or
    /// `bimodal:5ms:200ms:0.02`.
    ///
    /// # Errors
    /// Returns a sentence that says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((name, rest)) = text.split_once(':') else {
            return Ok(Distribution::Constant(units::duration_ns(text)?));
        };
        let parts: Vec<&str> = rest.split(':').collect();
        match (name, parts.as_slice()) {
            ("uniform", [bounds]) => {
                let (low, high) = bounds.split_once('-').ok_or_else(|| {
                    format!("missing bounds in `{text}`: expected for example uniform:1ms-20ms")
                })?;
                let (low, high) = (units::duration_ns(low)?, units::duration_ns(high)?);
                if low > high {
                    return Err(format!(
                        "invalid bounds in `{text}`: the first must not be larger than the second"
                    ));
                }
                Ok(Distribution::Uniform(low, high))
            }
            ("exponential", [mean]) => Ok(Distribution::Exponential(units::duration_ns(mean)?)),
            ("normal", [mean, deviation]) => {
                Ok(Distribution::Normal(units::duration_ns(mean)?, units::duration_ns(deviation)?))
            }
            ("lognormal", [median, sigma]) => match sigma.parse::<f64>() {
                Ok(sigma) if (0.0..=10.0).contains(&sigma) => {
                    Ok(Distribution::LogNormal(units::duration_ns(median)?, sigma))
                }
                _ => Err(format!("invalid sigma `{sigma}`: expected a number from 0 to 10")),
            },
            ("bimodal", [usual, rare, share]) => Ok(Distribution::Bimodal(
                units::duration_ns(usual)?,
                units::duration_ns(rare)?,
                units::probability(share)?,
            )),
            _ => Err(format!(
                "unknown distribution `{text}`: expected for example 5ms, uniform:1ms-20ms, exponential:10ms, \
                 normal:20ms:4ms, lognormal:10ms:0.8, or bimodal:5ms:200ms:0.02"
            )),
        }
    }

    /// Draws one value in nanoseconds; a constant draws no random number.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let drawn_ns = match *self {
            Distribution::Constant(value_ns) => return value_ns,
            Distribution::Uniform(low, high) => low as f64 + random.fraction() * (high - low) as f64,
            Distribution::Exponential(mean) => -(mean as f64) * random.fraction().ln(),
            Distribution::Normal(mean, deviation) => mean as f64 + deviation as f64 * random.normal(),
            Distribution::LogNormal(median, sigma) => median as f64 * (sigma * random.normal()).exp(),
            Distribution::Bimodal(usual, rare, share) => {
                return if random.hits(share) { rare } else { usual };
            }
        };
        drawn_ns.clamp(0.0, MOST_NS).round() as u64
    }

    /// Returns true if every draw is 0.
    pub fn is_zero(&self) -> bool {
        *self == Distribution::Constant(0)
    }
}
