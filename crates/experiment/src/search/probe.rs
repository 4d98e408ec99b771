//! A run requested by a search.

use plimsoll_plan::experiment::Purpose;

/// Runs of one user: the interval between its requests, and the length, in ns. The first may fail at a service with a
/// rate limiter; the others send less often.
pub(super) const FLOORS: [(u64, u64); 3] =
    [(100_000_000, 2_000_000_000), (500_000_000, 5_000_000_000), (2_000_000_000, 10_000_000_000)];
/// Rest between two of them in ns.
const BACK_OFF_NS: u64 = 2_000_000_000;

/// A run requested by a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Arrivals per second, or whole users. For [`Purpose::Baseline`] one user, also if the search varies a rate.
    pub level: f64,
    pub purpose: Purpose,
    /// Rest before the run, to let the service recover, in ns.
    pub rest_ns: u64,
    /// Warm-up, which is not measured, in ns.
    pub warmup_ns: u64,
    /// Measured load after the warm-up, in ns.
    pub length_ns: u64,
    /// Position in the search, from 0.
    pub turn: u32,
}

impl Probe {
    /// Returns the run of one user, after `failed` earlier ones.
    pub(super) fn floor(failed: usize) -> Probe {
        let (_, length_ns) = FLOORS[failed.min(FLOORS.len() - 1)];
        let rest_ns = if failed == 0 { 0 } else { BACK_OFF_NS };
        Probe {
            level: 1.0,
            purpose: Purpose::Baseline,
            rest_ns,
            warmup_ns: 0,
            length_ns,
            turn: failed as u32,
        }
    }

    /// Returns, for [`Purpose::Baseline`], the interval between the starts of two requests of its user in ns. It is
    /// not a load test, and a service with a rate limiter would show nothing but that limit.
    pub fn pause_ns(&self) -> u64 {
        FLOORS[(self.turn as usize).min(FLOORS.len() - 1)].0
    }

    /// Returns the duration of rest, warm-up, and measurement in ns.
    pub fn total_ns(&self) -> u64 {
        self.rest_ns.saturating_add(self.warmup_ns).saturating_add(self.length_ns)
    }
}
