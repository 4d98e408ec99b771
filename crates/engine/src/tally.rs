//! One worker's numbers, counted into an interval that is handed over at each tick; nothing is shared or locked.

use crate::run::Place;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::{
    CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, PHASE_UNIT_NS, RateSum, RunFloor, RunHist,
    RunPeak, RunSum, SeriesFloor, SeriesPeak, SeriesSum, StreamHist, TrendHist, WebSocketSum, fault_id,
    status_id,
};
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_plan::series::{Custom, Family, RUN_CELLS, THOUSANDTHS, ordered, parts_of};
use plimsoll_plan::{Fault, Outline};
use plimsoll_stats::Last;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally as Cells};

/// Returns an empty interval for a plan with this many series of addresses; its histograms allocate memory at their
/// first value.
pub fn blank(outline: &Outline, addresses: usize) -> Interval {
    let addresses = (0..addresses).map(|_| Family::Address);
    let families = outline.families().chain(addresses);
    Interval::on_demand(Layout::of(RUN_CELLS), families.map(|family| Layout::of(family.cells())))
}

/// Returns the number of address series, which follow those of the outline: one for each address of all origins if an
/// origin has several.
pub(crate) fn by_address(places: &[Place]) -> usize {
    let all = || places.iter().map(|place| place.addresses.len());
    if all().any(|addresses| addresses > 1) { all().sum() } else { 0 }
}

/// Creates cells for all series of a book, `fixed` of which are the plan's.
fn reach(interval: &mut Interval, book: &SeriesBook, fixed: usize) {
    let known = interval.series.len().saturating_sub(fixed);
    let fresh = book.opened().iter().skip(known);
    interval.series.extend(fresh.map(|key| Cells::compact(Layout::of(key.family.cells()))));
}

pub struct Tally {
    pub now: Box<Interval>,
    begin_ns: u64,
    /// Requests in flight, and the time since which that number is valid.
    in_flight: u64,
    changed_ns: u64,
    /// The time when a request was last sent or ended, and the time since which none has ended while some were in
    /// flight; the edge of a tick counts as neither.
    moved_ns: u64,
    quiet_ns: u64,
    stall: Option<ServiceStall>,
}

/// A period in which requests were in flight and none ended.
#[derive(Debug, Clone, Copy)]
pub struct ServiceStall {
    pub since_ns: u64,
    /// The time when the last request was sent in it.
    pub moved_ns: u64,
    pub end_ns: u64,
    /// Requests that were in flight at its end.
    pub waiting: u64,
}

/// Shorter stalls are normal.
const SERVICE_STALL_NS: u64 = 10_000_000;

impl Tally {
    pub fn new(blank: Interval, begin_ns: u64) -> Tally {
        Tally {
            now: Box::new(blank),
            begin_ns,
            in_flight: 0,
            changed_ns: begin_ns,
            moved_ns: begin_ns,
            quiet_ns: begin_ns,
            stall: None,
        }
    }

    #[inline]
    pub fn add(&mut self, id: RunSum, n: u64) {
        self.now.run.add(id.id(), n);
    }

    #[inline]
    pub fn record(&mut self, id: RunHist, value: u64) {
        self.now.run.record(id.id(), value);
    }

    /// Records the latency breakdown of a request by its intended start time, send time, time of the first byte, and
    /// end time, grouped by its response time. A phase that took no time costs a comparison.
    #[inline]
    pub fn phases(&mut self, [intended_ns, sent_ns, first_ns, end_ns]: [u64; 4]) {
        let response_ns = end_ns.saturating_sub(intended_ns);
        for (id, phase_ns) in [
            (RunHist::WaitByResponse, sent_ns.saturating_sub(intended_ns)),
            (RunHist::FirstByteByResponse, first_ns.saturating_sub(sent_ns)),
            (RunHist::BodyByResponse, end_ns.saturating_sub(first_ns)),
        ] {
            let units = (phase_ns + PHASE_UNIT_NS / 2) / PHASE_UNIT_NS;
            self.now.run.hists[id.id()].record_n(response_ns, units);
        }
    }

    pub fn peak(&mut self, id: RunPeak, value: u64) {
        self.now.run.peak(id.id(), value);
    }

    pub fn floor(&mut self, id: RunFloor, value: u64) {
        self.now.run.floor(id.id(), value);
    }

    /// Creates cells for series that a program has opened, in addition to the existing ones.
    #[cold]
    pub fn open(&mut self, book: &SeriesBook, fixed: usize) {
        reach(&mut self.now, book, fixed);
    }

    /// Returns the number of series that have cells.
    #[inline]
    pub fn series_count(&self) -> usize {
        self.now.series.len()
    }

    /// Records a value of a user-defined metric of this family at a point in time; returns false if the value is not
    /// valid for it.
    pub fn value(&mut self, metric: u32, family: Family, value: f64, unix_ns: u64) -> bool {
        let cells = self.series(metric);
        let Some(custom) = family.custom() else { return false };
        match custom {
            Custom::Counter => {
                let Some((whole, billionths)) = parts_of(value) else { return false };
                cells.add(CounterSum::Whole.id(), whole);
                cells.add(CounterSum::Billionths.id(), billionths);
            }
            Custom::Gauge => {
                let Some(bits) = ordered(value) else { return false };
                cells.add(GaugeSum::Values.id(), 1);
                cells.peak(GaugePeak::Max.id(), bits);
                cells.floor(GaugeFloor::Min.id(), bits);
                cells.last(GaugeLast::Last.id(), Last { at: unix_ns, value: bits });
            }
            Custom::Rate if value.is_nan() => return false,
            Custom::Rate => {
                cells.add(RateSum::Values.id(), 1);
                cells.add(RateSum::True.id(), u64::from(value != 0.0));
            }
            Custom::Trend => {
                let thousandths = (value * THOUSANDTHS).round();
                // NaN is in no range; for larger values, `as` would saturate at the largest number.
                if !(0.0..u64::MAX as f64).contains(&thousandths) {
                    return false;
                }
                cells.record(TrendHist::Values.id(), thousandths as u64);
            }
        }
        true
    }

    #[inline]
    pub fn series(&mut self, request: u32) -> &mut Cells {
        &mut self.now.series[request as usize]
    }

    /// Returns the cells of a WebSocket, even if the plan did not declare the request as one.
    #[inline]
    pub fn socket(&mut self, request: u32) -> &mut Cells {
        let series = self.series(request);
        if series.sums.len() < WebSocketSum::COUNT {
            series.merge(&Cells::on_demand(Layout::of(Family::WebSocket.cells())));
        }
        series
    }

    /// Returns the cells of a stream, even if the plan did not declare the request as one.
    #[inline]
    pub fn stream(&mut self, request: u32) -> &mut Cells {
        let series = self.series(request);
        if series.hists.len() < StreamHist::COUNT {
            series.merge(&Cells::on_demand(Layout::of(Family::Stream.cells())));
        }
        series
    }

    #[inline]
    pub fn sent(&mut self, request: u32, bytes: usize, reused: bool, now_ns: u64) {
        self.integrate(now_ns);
        self.moved_ns = now_ns;
        if self.in_flight == 0 {
            self.quiet_ns = now_ns;
        }
        self.in_flight += 1;
        self.now.run.peak(RunPeak::InFlight.id(), self.in_flight);
        if reused {
            self.now.run.add(RunSum::ConnReusedRequests.id(), 1);
        }
        let series = self.series(request);
        series.add(SeriesSum::Sent.id(), 1);
        series.add(SeriesSum::BytesOut.id(), bytes as u64);
    }

    /// Counts a sent exchange that has ended in any way.
    #[inline]
    pub fn landed(&mut self, request: u32, now_ns: u64) {
        self.series(request).add(SeriesSum::Ended.id(), 1);
        self.rested(now_ns);
    }

    /// Notes that an exchange is no longer in flight because it, or the run, has ended.
    #[inline]
    pub fn rested(&mut self, now_ns: u64) {
        self.integrate(now_ns);
        if now_ns.saturating_sub(self.quiet_ns) >= SERVICE_STALL_NS {
            let (since_ns, moved_ns, waiting) = (self.quiet_ns, self.moved_ns, self.in_flight);
            self.stall = Some(ServiceStall { since_ns, moved_ns, end_ns: now_ns, waiting });
        }
        (self.moved_ns, self.quiet_ns) = (now_ns, now_ns);
        self.in_flight -= 1;
    }

    /// Returns the last stall that ended since the previous call.
    #[inline]
    pub fn stall(&mut self) -> Option<ServiceStall> {
        self.stall.take()
    }

    /// Excludes the time before this instant from service stalls.
    pub fn hear(&mut self, now_ns: u64) {
        (self.moved_ns, self.quiet_ns) = (now_ns, now_ns);
    }

    /// Adds to the area under "requests in flight" (Little's N, measured).
    #[inline]
    fn integrate(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.changed_ns);
        if passed > 0 {
            self.now.run.add(RunSum::InFlightNs.id(), self.in_flight * passed);
            self.changed_ns = now_ns;
        }
    }

    /// Counts a fault. One on the network's or server's side ends a request; one on the client's side is only counted.
    pub fn fault(&mut self, request: u32, fault: Fault, now_ns: u64) {
        let client = fault.side() == plimsoll_plan::Side::Client;
        if !client {
            self.failure(request, now_ns);
        }
        let series = self.series(request);
        series.add(fault_id(fault), 1);
        if !client {
            series.add(SeriesSum::Finished.id(), 1);
            series.add(SeriesSum::Failed.id(), 1);
        }
    }

    /// Counts a response with its status; if it is `judged` elsewhere, whether it failed is not decided here.
    #[inline]
    pub fn status(&mut self, request: u32, status: u16, judged: bool, now_ns: u64) {
        let failed = !judged && !Statuses::usual(status);
        match (failed, judged) {
            (true, _) => self.failure(request, now_ns),
            (false, false) => self.success(request, now_ns),
            (false, true) => {}
        }
        let series = self.series(request);
        series.add(SeriesSum::Finished.id(), 1);
        series.add(status_id(status), 1);
        if failed {
            series.add(SeriesSum::Failed.id(), 1);
            series.add(fault_id(Fault::Status), 1);
        }
    }

    /// Notes a success of the service. This costs two comparisons and gives the start and end of an outage to the
    /// nanosecond.
    #[inline]
    pub fn success(&mut self, series: u32, now_ns: u64) {
        let at_ns = now_ns.saturating_sub(self.begin_ns);
        let series = self.series(series);
        series.peak(SeriesPeak::LastSuccess.id(), at_ns);
        series.floor(SeriesFloor::FirstSuccess.id(), at_ns);
    }

    /// Notes a failure that the load generator did not cause.
    pub fn failure(&mut self, series: u32, now_ns: u64) {
        let at_ns = now_ns.saturating_sub(self.begin_ns);
        let series = self.series(series);
        series.peak(SeriesPeak::LastFailure.id(), at_ns);
        series.floor(SeriesFloor::FirstFailure.id(), at_ns);
    }

    /// Ends the tick: returns the full interval and replaces it with `fresh`, with cells for all series in the book.
    pub fn swap(
        &mut self,
        tick: u32,
        mut fresh: Box<Interval>,
        (book, fixed): (&SeriesBook, usize),
        edge_ns: u64,
    ) -> Box<Interval> {
        self.integrate(edge_ns);
        fresh.clear();
        reach(&mut fresh, book, fixed);
        let mut full = std::mem::replace(&mut self.now, fresh);
        full.tick = tick;
        // Requests in flight across the edge are in flight in the new tick from its beginning.
        self.now.run.peak(RunPeak::InFlight.id(), self.in_flight);
        full
    }
}
