//! One worker's numbers: counted into an interval that leaves at each tick, nothing shared, nothing locked.

use crate::run::Place;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::{
    CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, PHASE_UNIT_NS, RateSum, RunFloor, RunHist,
    RunPeak, RunSum, SeriesFloor, SeriesPeak, SeriesSum, StreamHist, TrendHist, fault_id, status_id,
};
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_plan::series::{Custom, Family, RUN_CELLS, THOUSANDTHS, ordered, parts_of};
use plimsoll_plan::{Fault, Outline};
use plimsoll_stats::Last;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally as Cells};

/// An empty interval of a plan with so many series of addresses; its histograms take memory at their first value.
pub fn blank(outline: &Outline, addresses: usize) -> Interval {
    let addresses = (0..addresses).map(|_| Family::Address);
    let families = outline.families().chain(addresses);
    Interval::on_demand(Layout::of(RUN_CELLS), families.map(|family| Layout::of(family.cells())))
}

/// Series of addresses behind those of the outline: where an origin has several, one for each of all origins.
pub(crate) fn by_address(places: &[Place]) -> usize {
    let all = || places.iter().map(|place| place.addresses.len());
    if all().any(|addresses| addresses > 1) { all().sum() } else { 0 }
}

/// Cells of all series of a book, `fixed` being those of the plan.
fn reach(interval: &mut Interval, book: &SeriesBook, fixed: usize) {
    let known = interval.series.len().saturating_sub(fixed);
    let fresh = book.opened().iter().skip(known);
    interval.series.extend(fresh.map(|key| Cells::compact(Layout::of(key.family.cells()))));
}

pub struct Tally {
    pub now: Box<Interval>,
    begin_ns: u64,
    /// Requests in flight, and since when that number is true.
    in_flight: u64,
    changed_ns: u64,
    /// When a request was last sent or over, and since when none was over while some were in flight; the edge of a tick
    /// is neither.
    moved_ns: u64,
    quiet_ns: u64,
    stall: Option<ServiceStall>,
}

/// A stretch in which requests were in flight and none was over.
#[derive(Debug, Clone, Copy)]
pub struct ServiceStall {
    pub since_ns: u64,
    /// When the last request was sent in it.
    pub moved_ns: u64,
    pub end_ns: u64,
    /// Requests that were in flight at its end.
    pub waiting: u64,
}

/// Shorter ones are everyday.
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

    /// Where the time of a request went that was due, sent, first answered and over at these instants, kept by how long
    /// it took in all. A phase that took no time costs a comparison.
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

    /// Makes cells for series that a program has opened: for those behind the ones that there are.
    #[cold]
    pub fn open(&mut self, book: &SeriesBook, fixed: usize) {
        reach(&mut self.now, book, fixed);
    }

    /// Series that there are cells for.
    #[inline]
    pub fn series_count(&self) -> usize {
        self.now.series.len()
    }

    /// A value of a user-defined metric of this family, set at an instant; false: it has no meaning there.
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
                // NaN is in no range; above it `as` would stop at the largest number.
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

    /// The cells of a stream, also where the plan did not say that the request is one.
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

    /// An exchange that was sent is over, however it ended.
    #[inline]
    pub fn landed(&mut self, request: u32, now_ns: u64) {
        self.series(request).add(SeriesSum::Ended.id(), 1);
        self.rested(now_ns);
    }

    /// An exchange is in flight no longer: it is over, or so is the run.
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

    /// The last stall that ended since this was asked.
    #[inline]
    pub fn stall(&mut self) -> Option<ServiceStall> {
        self.stall.take()
    }

    /// What lies before this instant is no stall of the service.
    pub fn hear(&mut self, now_ns: u64) {
        (self.moved_ns, self.quiet_ns) = (now_ns, now_ns);
    }

    /// Area under "requests in flight" (Little's N, measured).
    #[inline]
    fn integrate(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.changed_ns);
        if passed > 0 {
            self.now.run.add(RunSum::InFlightNs.id(), self.in_flight * passed);
            self.changed_ns = now_ns;
        }
    }

    /// A fault on the network's or server's side ends a request; one on the client's only counts.
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

    /// An answer with its status; when it is `judged` by somebody else, whether it failed is not decided here.
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

    /// The service has done what it was asked. Two comparisons: this is how it is known to the nanosecond from when to
    /// when it did not.
    #[inline]
    pub fn success(&mut self, series: u32, now_ns: u64) {
        let at_ns = now_ns.saturating_sub(self.begin_ns);
        let series = self.series(series);
        series.peak(SeriesPeak::LastSuccess.id(), at_ns);
        series.floor(SeriesFloor::FirstSuccess.id(), at_ns);
    }

    /// It has not, and that was not this machine's doing.
    pub fn failure(&mut self, series: u32, now_ns: u64) {
        let at_ns = now_ns.saturating_sub(self.begin_ns);
        let series = self.series(series);
        series.peak(SeriesPeak::LastFailure.id(), at_ns);
        series.floor(SeriesFloor::FirstFailure.id(), at_ns);
    }

    /// Ends the tick: the full interval goes, `fresh` takes its place, with cells for all that the book has.
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
        // What is in flight across the edge is in flight in the new tick from its beginning.
        self.now.run.peak(RunPeak::InFlight.id(), self.in_flight);
        full
    }
}
