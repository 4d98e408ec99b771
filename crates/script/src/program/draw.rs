//! Random numbers: uniform draws and delays of users. All come from the user's generator, so that the seed makes a run
//! reproducible.

use plimsoll_plan::script::Delay;
use plimsoll_stats::random::SplitMix64;

/// Returns a uniform number in 0..1 from the upper 53 bits, so that each value is a distinct float.
pub fn unit(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a random duration, ns; never below 0.
pub fn delay_ns(delay: &Delay, random: &mut SplitMix64) -> u64 {
    match *delay {
        Delay::Constant { ns } => ns,
        Delay::Uniform { low_ns, high_ns } => {
            // Includes both ends. The bias of the product is below 2^-64 of the width, far below a nanosecond.
            let width = u128::from(high_ns.saturating_sub(low_ns)) + 1;
            low_ns.saturating_add(((u128::from(random.next_u64()) * width) >> 64) as u64)
        }
        Delay::Normal { mean_ns, deviation_ns } => {
            // Box and Muller, A note on the generation of random normal deviates, 1958. The second value is discarded,
            // because storing it would take eight bytes per user. `exponential` is -ln(u) with u above 0.
            let radius = (2.0 * random.exponential()).sqrt();
            let normal = radius * (std::f64::consts::TAU * unit(random)).cos();
            // The cast to u64 replaces negative values with 0.
            (mean_ns as f64 + deviation_ns as f64 * normal).round() as u64
        }
        Delay::Exponential { mean_ns } => (mean_ns as f64 * random.exponential()).round() as u64,
    }
}

/// Returns the seed of one user. Adjacent values of any of the three numbers give unrelated seeds, because a full step
/// of the generator mixes each of them in.
pub fn seed_of(seed: u64, part: u64, user: u64) -> u64 {
    let mut mixed = SplitMix64::new(seed).next_u64();
    for number in [part, user] {
        mixed = SplitMix64::new(mixed ^ number).next_u64();
    }
    mixed
}
