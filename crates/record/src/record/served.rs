//! Successes and failures of a service, a request, or an address in a period: counts, and the first and last time of
//! each.

use plimsoll_plan::metric::{SeriesFloor, SeriesPeak, SeriesSum, StreamSum};
use plimsoll_stats::Tally;

/// Successes and failures. The default is an empty period, which changes nothing when merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    pub finished: u64,
    pub failed: u64,
    /// Streams that started and events that arrived.
    pub events: u64,
    /// Time since the start of the run, ns; `None` if there was none, or in files of early versions.
    pub first_success_ns: Option<u64>,
    pub last_success_ns: Option<u64>,
    pub first_failure_ns: Option<u64>,
    pub last_failure_ns: Option<u64>,
    /// Requests sent, and sent requests (in this period or before) that completed; 0 in files of early versions.
    pub sent: u64,
    pub ended: u64,
}

impl Served {
    pub const SUMS: usize = 3;
    /// Sums stored after all others, because early versions lack them.
    pub const FLOWS: usize = 2;
    pub const PEAKS: usize = SeriesPeak::COUNT;
    pub const FLOORS: usize = SeriesFloor::COUNT;

    /// Returns the counts of a series, or of several together.
    pub fn of(tally: &Tally) -> Self {
        let sum = |id: usize| tally.sums.get(id).copied().unwrap_or(0);
        let peak = |id: SeriesPeak| tally.peaks.get(id.id()).copied().filter(|at| *at > 0);
        let floor = |id: SeriesFloor| tally.floors.get(id.id()).copied().filter(|at| *at != u64::MAX);
        Self {
            finished: sum(SeriesSum::Finished.id()),
            failed: sum(SeriesSum::Failed.id()),
            events: sum(StreamSum::Streams.id()).saturating_add(sum(StreamSum::Events.id())),
            first_success_ns: floor(SeriesFloor::FirstSuccess),
            last_success_ns: peak(SeriesPeak::LastSuccess),
            first_failure_ns: floor(SeriesFloor::FirstFailure),
            last_failure_ns: peak(SeriesPeak::LastFailure),
            sent: sum(SeriesSum::Sent.id()),
            ended: sum(SeriesSum::Ended.id()),
        }
    }

    /// Returns the requests that succeeded, plus stream starts and events.
    pub fn successes(&self) -> u64 {
        self.finished.saturating_sub(self.failed).saturating_add(self.events)
    }

    /// Adds another machine, request, or period.
    pub fn merge(&mut self, other: &Served) {
        let earlier = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        self.finished = self.finished.saturating_add(other.finished);
        self.failed = self.failed.saturating_add(other.failed);
        self.events = self.events.saturating_add(other.events);
        self.first_success_ns = earlier(self.first_success_ns, other.first_success_ns);
        self.last_success_ns = self.last_success_ns.max(other.last_success_ns);
        self.first_failure_ns = earlier(self.first_failure_ns, other.first_failure_ns);
        self.last_failure_ns = self.last_failure_ns.max(other.last_failure_ns);
        self.sent = self.sent.saturating_add(other.sent);
        self.ended = self.ended.saturating_add(other.ended);
    }

    pub(super) fn flows(&self) -> [u64; Self::FLOWS] {
        [self.sent, self.ended]
    }

    pub(super) fn sums(&self) -> [u64; Self::SUMS] {
        [self.finished, self.failed, self.events]
    }

    pub(super) fn peaks(&self) -> [u64; Self::PEAKS] {
        [self.last_success_ns.unwrap_or(0), self.last_failure_ns.unwrap_or(0)]
    }

    pub(super) fn floors(&self) -> [u64; Self::FLOORS] {
        [self.first_success_ns.unwrap_or(u64::MAX), self.first_failure_ns.unwrap_or(u64::MAX)]
    }

    pub(super) fn from_cells(sums: &[u64], flows: &[u64], peaks: &[u64], floors: &[u64]) -> Self {
        let cell = |cells: &[u64], at: usize| cells.get(at).copied();
        let peak = |at| cell(peaks, at).filter(|ns| *ns > 0);
        let floor = |at| cell(floors, at).filter(|ns| *ns != u64::MAX);
        Self {
            finished: cell(sums, 0).unwrap_or(0),
            failed: cell(sums, 1).unwrap_or(0),
            events: cell(sums, 2).unwrap_or(0),
            first_success_ns: floor(0),
            last_success_ns: peak(0),
            first_failure_ns: floor(1),
            last_failure_ns: peak(1),
            sent: cell(flows, 0).unwrap_or(0),
            ended: cell(flows, 1).unwrap_or(0),
        }
    }
}
