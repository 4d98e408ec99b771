//! When requests that wait without a failure have waited too long: a hang.

use super::{Gap, Slot};
use plimsoll_stats::Hist;

/// Who waits without a failure has not lost his request: only much later than this may it be called an outage ...
const HANG_LEAST_NS: u64 = 2_000_000_000;
/// ... and this many times later than nearly all earlier responses.
const HANG_TIMES: u64 = 4;
/// Number of responses below which the usual response time is unknown.
const HANG_AFTER: u64 = 20;
/// The same if nothing was answered up to the end of the run: no late response speaks for a slow service.
const HANG_AFTER_OPEN: u64 = 5;
/// Number of requests that wait at once, if all got a response in the end. One slow request in a thousand is the
/// tail; several slow requests at the same time are a stall of the service.
const HANG_WAITING: f64 = 4.0;
/// The same at the end: no other request is answered either.
const HANG_WAITING_OPEN: f64 = 0.9;
/// The same of a part: while others are served, one request that waits is a slow one.
const HANG_WAITING_PART: f64 = 2.0;

/// How long an answer may be late before it counts as never sent.
#[derive(Clone)]
pub(super) enum Patience {
    /// Of the service: p99 of the slowest second before. `slowest_ns` is the median service time of the slowest request
    /// of the run, which no hang of the service moves.
    Service { slowest_ns: u64 },
    /// For a part: p99 of its service times in the whole run, without those that hung. `cut_off` were in flight at
    /// the end or timed out, and are not among the times.
    Part { times: Hist, cut_off: u64 },
}

impl Patience {
    /// Of requests that are looked at together.
    pub fn join(&mut self, other: &Patience) {
        if let (Patience::Part { times, cut_off }, Patience::Part { times: more, cut_off: cut }) =
            (self, other)
        {
            times.merge(more);
            *cut_off = cut_off.saturating_add(*cut);
        }
    }

    /// Returns the number of requests that waited during the whole period, far longer than before. `hung` is the
    /// number in hangs found earlier.
    pub fn is_over(&self, slots: &[Slot], gap: &Gap, length_ns: u64, hung: u64) -> Option<u64> {
        let before = &slots[..=gap.before];
        let answered: u64 = before.iter().map(|slot| slot.served.successes()).sum();
        let inside = slots[gap.before..=gap.after].iter().filter(|slot| slot.served.successes() == 0);
        let after = if gap.is_open_ended { HANG_AFTER_OPEN } else { HANG_AFTER };
        let (usual_ns, waited_ns, waited) = match self {
            Patience::Service { slowest_ns } => {
                let usual_ns = before.iter().filter_map(|slot| slot.usual_ns).max()?;
                let edges = || [gap.before, gap.after].map(|at| slots[at].waiting.unwrap_or(0.0));
                let waiting = inside
                    .filter_map(|slot| slot.waiting)
                    .reduce(f64::min)
                    .unwrap_or_else(|| edges().into_iter().fold(f64::INFINITY, f64::min));
                let enough = if gap.is_open_ended { HANG_WAITING_OPEN } else { HANG_WAITING };
                (usual_ns.max(*slowest_ns), if waiting >= enough { length_ns } else { 0 }, waiting)
            }
            // A part fills with those that wait, so only the time counts in which there were enough of them.
            Patience::Part { times, cut_off } => {
                let enough = if gap.is_open_ended { HANG_WAITING_PART } else { HANG_WAITING };
                let begins =
                    inside.rev().take_while(|slot| slot.waiting.is_some_and(|n| n >= enough)).last()?;
                let waited = slots[gap.after].waiting?;
                // They are the slowest of all, so this is the percentile of the others.
                let late = hung.saturating_add((waited as u64).saturating_sub(*cut_off));
                let others = times.count().checked_sub(late).filter(|n| *n > 0)? as f64;
                let usual_ns = times.quantile(0.99 * others / times.count() as f64)?;
                (usual_ns, gap.to_ns.saturating_sub(begins.from_ns).min(length_ns), waited)
            }
        };
        let patience_ns = HANG_LEAST_NS.max(usual_ns.saturating_mul(HANG_TIMES));
        (answered >= after && waited_ns >= patience_ns).then_some(waited as u64)
    }
}
