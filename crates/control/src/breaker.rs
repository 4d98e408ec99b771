//! The circuit breaker: a ramp that has only made errors for ten seconds is not pushed further.
//!
//! It looks at the network's and the server's failures only. A limit of this machine is no sign that the
//! service is in trouble, and a level that stays or falls is what somebody wanted to watch (a recovery, an
//! outage).

use plimsoll_plan::Outline;
use plimsoll_plan::load::Profile;
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_record::event::Tick;
use plimsoll_record::record::requests_of;

/// Above this share of failed requests a tick is bad.
pub const FAILED_RATIO_MAX: f64 = 0.5;
/// So long, in a row, must ticks be bad.
pub const BAD_NS_MAX: u64 = 10 * SECOND_NS;

/// Watches the ticks of one run.
pub struct Breaker {
    outline: Outline,
    bad_ns: u64,
    finished: u64,
    failed: u64,
}

/// Why the load was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// From the start of the run, ns.
    pub at_ns: u64,
    /// For the timeline and the terminal.
    pub sentence: String,
}

impl Breaker {
    /// A breaker for a load that changes; a constant load has none.
    pub fn new(outline: &Outline) -> Option<Self> {
        let staged = !outline.load.profile().stages.is_empty();
        staged.then(|| Self { outline: outline.clone(), bad_ns: 0, finished: 0, failed: 0 })
    }

    /// Takes the next tick, in order; says when it is enough.
    pub fn tick(&mut self, tick: &Tick) -> Option<Trip> {
        let interval = &tick.interval;
        let (from_ns, to_ns) = self.outline.tick_bounds_ns(interval.tick);
        let requests =
            || requests_of(&self.outline, &tick.opened, interval).filter(|(one, _)| !one.is_outside_load);
        let sum =
            |what: SeriesSum| -> u64 { requests().filter_map(|(_, tally)| tally.sums.get(what.id())).sum() };
        let (finished, failed) = (sum(SeriesSum::Finished), sum(SeriesSum::Failed));
        let bad = finished > 0 && failed as f64 > FAILED_RATIO_MAX * finished as f64;
        if !bad || !rises(self.outline.load.profile(), from_ns) {
            // A tick in which nothing finished breaks the row too: it proves neither trouble nor health.
            (self.bad_ns, self.finished, self.failed) = (0, 0, 0);
            return None;
        }
        self.bad_ns += to_ns - from_ns;
        self.finished += finished;
        self.failed += failed;
        (self.bad_ns >= BAD_NS_MAX).then(|| Trip { at_ns: to_ns, sentence: self.sentence() })
    }

    fn sentence(&self) -> String {
        format!(
            "stopped by the circuit breaker: {} of {} requests failed in the last {} s while the load was \
             still to rise; `--no-circuit-breaker` switches it off",
            self.failed,
            self.finished,
            self.bad_ns / SECOND_NS
        )
    }
}

/// Whether the level rises at `t_ns`, or still will above what it is then.
fn rises(profile: &Profile, t_ns: u64) -> bool {
    let now = profile.level_at(t_ns);
    let mut end_ns = 0u64;
    profile.stages.iter().any(|stage| {
        end_ns += stage.duration_ns;
        end_ns > t_ns && stage.to > now
    })
}
