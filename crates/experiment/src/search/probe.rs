//! One run that a search asks for.

use plimsoll_plan::experiment::Purpose;

/// Runs of one user: pause between two of its requests, and length, ns. The first may fail at a service that is asked
/// too often (a rate limiter); the others ask less often.
pub(super) const FLOORS: [(u64, u64); 3] =
    [(100_000_000, 2_000_000_000), (500_000_000, 5_000_000_000), (2_000_000_000, 10_000_000_000)];
/// Between two of them, ns.
const BACK_OFF_NS: u64 = 2_000_000_000;

/// A run that is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Arrivals per second, or users (whole). Of [`Purpose::Baseline`] always one user, whatever the search varies.
    pub level: f64,
    pub purpose: Purpose,
    /// Let the service come back before it, ns.
    pub rest_ns: u64,
    /// Load that is not measured, ns.
    pub warmup_ns: u64,
    /// Load that is measured, behind the warm-up, ns.
    pub length_ns: u64,
    /// Place in the search, from 0.
    pub turn: u32,
}

impl Probe {
    /// The run of one user, `behind` others that failed.
    pub(super) fn floor(behind: usize) -> Probe {
        let (_, length_ns) = FLOORS[behind.min(FLOORS.len() - 1)];
        let rest_ns = if behind == 0 { 0 } else { BACK_OFF_NS };
        Probe {
            level: 1.0,
            purpose: Purpose::Baseline,
            rest_ns,
            warmup_ns: 0,
            length_ns,
            turn: behind as u32,
        }
    }

    /// Of [`Purpose::Baseline`]: the pause between the starts of two requests of its one user, ns. Nobody asked for a
    /// load there, and a service that turns away who asks too often would show nothing but that.
    pub fn pause_ns(&self) -> u64 {
        FLOORS[(self.turn as usize).min(FLOORS.len() - 1)].0
    }

    /// Rest, warm-up and measurement, ns.
    pub fn total_ns(&self) -> u64 {
        self.rest_ns.saturating_add(self.warmup_ns).saturating_add(self.length_ns)
    }
}
