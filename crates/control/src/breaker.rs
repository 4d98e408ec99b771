//! Circuit breaker: stops a ramp in which most requests failed for ten seconds. Only failures of the network and the
//! server count, because limits of this machine say nothing about the service. A constant or falling level continues,
//! because the user may want to observe a recovery or an outage.

use plimsoll_plan::Outline;
use plimsoll_plan::load::Profile;
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_record::event::Tick;
use plimsoll_record::record::requests_of;

/// A tick with a higher share of failed requests is bad.
pub const FAILED_RATIO_MAX: f64 = 0.5;
/// Time for which consecutive ticks must be bad.
pub const BAD_NS_MAX: u64 = 10 * SECOND_NS;

/// Evaluates the ticks of one run.
pub struct Breaker {
    outline: Outline,
    bad_ns: u64,
    finished: u64,
    failed: u64,
}

/// Why the load was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// Time since the start of the run, ns.
    pub at_ns: u64,
    /// Sentence for the timeline and the terminal.
    pub sentence: String,
}

impl Breaker {
    /// Returns a breaker for a load that changes, and none for a constant load.
    pub fn new(outline: &Outline) -> Option<Self> {
        let staged = !outline.load.profile().stages.is_empty();
        staged.then(|| Self { outline: outline.clone(), bad_ns: 0, finished: 0, failed: 0 })
    }

    /// Takes the next tick in order, and returns a trip if the load must stop.
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
            // A tick in which nothing finished also ends the sequence, because it proves neither trouble nor health.
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
            "stopped by the circuit breaker: {} of {} requests failed in the last {} s of a rising load; to continue \
             anyway, use `--no-circuit-breaker`",
            self.failed,
            self.finished,
            self.bad_ns / SECOND_NS
        )
    }
}

/// Returns true if the level rises at `t_ns`, or will later exceed it.
fn rises(profile: &Profile, t_ns: u64) -> bool {
    let now = profile.level_at(t_ns);
    let mut end_ns = 0u64;
    profile.stages.iter().any(|stage| {
        end_ns += stage.duration_ns;
        end_ns > t_ns && stage.to > now
    })
}
