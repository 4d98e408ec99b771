//! Why reused connections ended before the first byte of an answer: an idle timeout of the server, something that
//! closes connections in use, or a server that went away. From this side all three are the same end of a connection;
//! how long it had been idle and what happened right afterwards tell them apart.

use super::cells::Cells;
use super::facts::{Facts, Machine};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, SeriesSum};

/// Shorter than any idle timeout that is set on purpose.
const IDLE_NS: u64 = 10_000_000;
/// This share of the connections had been idle for no longer.
const BUSY: f64 = 0.1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Idle for a while, and the server kept serving others.
    Idle,
    /// Not idle, and the server kept serving others.
    InUse,
    /// Nothing was answered afterwards: the server went away.
    Gone,
}

/// `None`: no reused connection ended so.
pub(super) fn ended(facts: &Facts) -> Option<Ended> {
    let all = facts.all.fault(Fault::StaleConnection);
    if all == 0 {
        return None;
    }
    let gone: u64 = facts.machines.iter().map(with_the_server).sum();
    if gone * 2 > all {
        return Some(Ended::Gone);
    }
    let idle = facts.run.spread(RunHist::IdleBeforeClose);
    let is_idle = idle.count() > 0 && idle.quantile(BUSY).is_some_and(|ns| ns >= IDLE_NS);
    Some(if is_idle { Ended::Idle } else { Ended::InUse })
}

/// Connections that ended in a second after which there were hardly any responses, or in which nothing listened.
fn with_the_server(machine: &Machine) -> u64 {
    let ticks: Vec<_> = machine.origin.ticks.values().map(|row| row.all()).collect();
    let good = |at: usize| {
        ticks.get(at).map(|t| t.sum(SeriesSum::Finished).saturating_sub(t.sum(SeriesSum::Failed)))
    };
    let refused = |at: usize| {
        ticks.get(at).map_or(0, |t| t.fault(Fault::ConnectionRefused) + t.fault(Fault::HostUnreachable))
    };
    let mut gone: u64 = 0;
    for (at, tick) in ticks.iter().enumerate() {
        let stale = tick.fault(Fault::StaleConnection);
        let failed_behind = ticks.get(at + 1).map_or(0, |t| t.sum(SeriesSum::Failed));
        let is_gone = match good(at + 1) {
            Some(good) => good <= failed_behind || refused(at) + refused(at + 1) > stale,
            None => refused(at) > 0,
        };
        // A run may end with a second in which nothing was sent.
        let is_last =
            ticks.get(at + 1).is_some_and(|t| t.sum(SeriesSum::Finished) == 0 && at + 2 == ticks.len());
        if stale > 0 && if is_last { refused(at) > 0 } else { is_gone } {
            gone = gone.saturating_add(stale);
        }
    }
    gone
}
