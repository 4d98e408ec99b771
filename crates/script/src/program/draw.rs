//! Chance in numbers: the uniform draws and the delays of users. Everything comes from the user's own generator, so
//! that a run repeats by its seed.

use plimsoll_plan::script::Delay;
use plimsoll_stats::random::SplitMix64;

/// Uniform in 0..1, from the upper 53 bits: each value of the grid is a float of its own.
pub fn unit(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A length of time, ns; never below 0.
pub fn delay_ns(delay: &Delay, random: &mut SplitMix64) -> u64 {
    match *delay {
        Delay::Constant { ns } => ns,
        Delay::Uniform { low_ns, high_ns } => {
            // Both ends included. The product's bias is below 2^-64 of the width, far under a nanosecond.
            let width = u128::from(high_ns.saturating_sub(low_ns)) + 1;
            low_ns.saturating_add(((u128::from(random.next_u64()) * width) >> 64) as u64)
        }
        Delay::Normal { mean_ns, deviation_ns } => {
            // Box and Muller, A note on the generation of random normal deviates, 1958. One of the two values is left
            // unused: keeping it would cost every user eight bytes. `exponential` is -ln(u) with u kept off 0.
            let radius = (2.0 * random.exponential()).sqrt();
            let normal = radius * (std::f64::consts::TAU * unit(random)).cos();
            // A cast to u64 cuts off below 0.
            (mean_ns as f64 + deviation_ns as f64 * normal).round() as u64
        }
        Delay::Exponential { mean_ns } => (mean_ns as f64 * random.exponential()).round() as u64,
    }
}

/// The seed of one user: neighbours in any of the three numbers share nothing, because each is mixed in by a full step
/// of the generator.
pub fn seed_of(seed: u64, part: u64, user: u64) -> u64 {
    let mut mixed = SplitMix64::new(seed).next_u64();
    for number in [part, user] {
        mixed = SplitMix64::new(mixed ^ number).next_u64();
    }
    mixed
}
