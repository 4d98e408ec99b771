//! When requests that wait without a failure have waited too long: a hang.

use super::{Gap, Slot};

/// Who waits without a failure has not lost his request: only much later than this may it be called an outage ...
const HANG_LEAST_NS: u64 = 2_000_000_000;
/// ... and only so many times later than nearly all answers before (p99 of the slowest second).
const HANG_TIMES: u64 = 4;
/// How long answers take is not known before so many.
const HANG_AFTER: u64 = 20;
/// The same if nothing was answered up to the end of the run: no late response speaks for a slow service.
const HANG_AFTER_OPEN: u64 = 5;
/// So many wait at once where all were answered in the end: one slow request in a thousand is a tail, several at once
/// that have it at the same time are a service that stalled.
const HANG_WAITING: f64 = 4.0;
/// The same of a part: while others are served, one request that waits is a slow one.
const HANG_WAITING_OPEN: f64 = 2.0;

/// How long an answer may be late before it counts as never sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    /// Median service time of the slowest request of the run, ns: no hang of the service moves it.
    Service { slowest_ns: u64 },
    /// Of a part. Those that wait to the end are in no percentile, so p99 is what is usual; a hang that ended is in it,
    /// and only p90 is not moved by it.
    Part { p90_ns: u64, p99_ns: u64 },
}

impl Patience {
    /// How long is usual is not known, so nothing is too long.
    pub const UNKNOWN: Patience = Patience::Part { p90_ns: u64::MAX, p99_ns: u64::MAX };

    /// Of requests that are looked at together: that of the slower ones.
    pub fn longer(self, other: Patience) -> Patience {
        match (self, other) {
            (
                Patience::Part { p90_ns, p99_ns },
                Patience::Part { p90_ns: other_p90_ns, p99_ns: other_p99_ns },
            ) => Patience::Part { p90_ns: p90_ns.max(other_p90_ns), p99_ns: p99_ns.max(other_p99_ns) },
            (own, _) => own,
        }
    }

    /// Requests waited all the while, far longer than ever before.
    pub fn is_over(self, slots: &[Slot], gap: &Gap, length_ns: u64) -> bool {
        let before = &slots[..=gap.before];
        let answered: u64 = before.iter().map(|slot| slot.served.successes()).sum();
        let Some(usual_ns) = before.iter().filter_map(|slot| slot.usual_ns).max() else { return false };
        let inside = slots[gap.before..=gap.after].iter().filter(|slot| slot.served.successes() == 0);
        let after = if gap.open_ended { HANG_AFTER_OPEN } else { HANG_AFTER };
        let (own_ns, waited_ns) = match self {
            Patience::Service { slowest_ns } => {
                let edges = || [gap.before, gap.after].map(|at| slots[at].waiting.unwrap_or(0.0));
                let waiting = inside
                    .filter_map(|slot| slot.waiting)
                    .reduce(f64::min)
                    .unwrap_or_else(|| edges().into_iter().fold(f64::INFINITY, f64::min));
                let enough = if gap.open_ended { 0.9 } else { HANG_WAITING };
                (slowest_ns, if waiting >= enough { length_ns } else { 0 })
            }
            // A part fills with those that wait, so only the time counts in which there were enough of them.
            Patience::Part { p90_ns, p99_ns } => {
                let (own_ns, enough) =
                    if gap.open_ended { (p99_ns, HANG_WAITING_OPEN) } else { (p90_ns, HANG_WAITING) };
                let waited = inside.rev().take_while(|slot| slot.waiting.is_some_and(|n| n >= enough)).last();
                let waited_ns = waited.map_or(0, |slot| gap.to_ns.saturating_sub(slot.from_ns));
                (own_ns, waited_ns.min(length_ns))
            }
        };
        let patience_ns = HANG_LEAST_NS.max(usual_ns.max(own_ns).saturating_mul(HANG_TIMES));
        answered >= after && waited_ns >= patience_ns
    }
}
