//! What a threshold looks at, of any stretch of time: added up over ticks, workers and machines, and only then turned
//! into a figure. A run that is stopped by a threshold and the report behind it count with the same code.

use crate::record::{Opened, requests_of, total_of};
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{
    CheckSum, GroupHist, RunHist, RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum,
};
use plimsoll_plan::outline::RequestOutline;
use plimsoll_plan::threshold::{Scope, Subject, Threshold};
use plimsoll_stats::Hist;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;
use std::cell::LazyCell;

/// See the module. The default is nothing, which changes nothing when it is added.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    /// Of a share its part, of a count or a rate the count.
    pub part: u64,
    /// Of a share the whole.
    pub whole: u64,
    /// Of a time: what is known.
    pub exact: Hist,
    /// Lower bounds of those that were cut off.
    pub bounds: Hist,
    /// Of the first byte: the service times, which tell whether the bounds matter.
    pub beside: Hist,
}

impl Default for Gauge {
    fn default() -> Self {
        let empty = Hist::on_demand;
        Self { part: 0, whole: 0, exact: empty(), bounds: empty(), beside: empty() }
    }
}

impl Gauge {
    /// Of one interval of a run of this plan.
    pub fn of(threshold: &Threshold, outline: &Outline, opened: &[Opened], interval: &Interval) -> Gauge {
        let is_covered = |request: &RequestOutline| match &threshold.scope {
            Some(scope) => scope.covers(request),
            None => !request.is_outside_load,
        };
        let requests = requests_of(outline, opened, interval).filter(|(request, _)| is_covered(request));
        let run = &interval.run;
        // Not all subjects need it.
        let total = LazyCell::new(|| total_of(requests, threshold.scope.is_some()));
        let of = |id: SeriesSum| sum(&total, id.id());
        let streams = |id: StreamSum| sum(&total, id.id());
        let hist = |id: SeriesHist| total.hists.get(id.id());
        let stream = |id: StreamHist| total.hists.get(id.id());
        match threshold.subject {
            Subject::Connect => times(run.hists.get(RunHist::Connect.id()), None),
            Subject::TlsHandshake => times(run.hists.get(RunHist::Handshake.id()), None),
            Subject::Achieved => {
                counts(sum(run, RunSum::ArrivalsCompleted.id()), sum(run, RunSum::Arrivals.id()))
            }
            Subject::Checks => checks(outline, interval, is_covered),
            Subject::GroupTime => passages(threshold, outline, interval),
            Subject::ResponseTime => times(hist(SeriesHist::Response), hist(SeriesHist::ResponseCensored)),
            Subject::ServiceTime => times(hist(SeriesHist::Service), hist(SeriesHist::ServiceCensored)),
            Subject::FirstByte => Gauge {
                beside: hist(SeriesHist::Service).cloned().unwrap_or_else(Hist::on_demand),
                ..times(hist(SeriesHist::FirstByte), hist(SeriesHist::ServiceCensored))
            },
            Subject::StreamHead => times(stream(StreamHist::StreamHead), None),
            Subject::FirstEvent => times(stream(StreamHist::FirstEvent), None),
            Subject::EventGap => times(stream(StreamHist::EventGap), None),
            Subject::EventAge => times(stream(StreamHist::EventAge), None),
            // A stream that stands at the stop has not failed, and nothing more will be heard of it.
            Subject::ErrorRate => counts(
                of(SeriesSum::Failed),
                of(SeriesSum::Finished).saturating_add(streams(StreamSum::OpenAtEnd)),
            ),
            Subject::Throughput | Subject::Requests => counts(of(SeriesSum::Finished), 0),
            Subject::Events => counts(streams(StreamSum::Events), 0),
            Subject::EventLoss => counts(streams(StreamSum::EventsLost), streams(StreamSum::EventsExpected)),
            Subject::Availability
            | Subject::LongestOutage
            // Known at the end only, and counted there.
            | Subject::Counter
            | Subject::Gauge
            | Subject::TrueRatio
            | Subject::Trend => Gauge::default(),
        }
    }

    /// Adds another stretch of time, worker or machine.
    pub fn merge(&mut self, other: &Gauge) {
        self.part = self.part.saturating_add(other.part);
        self.whole = self.whole.saturating_add(other.whole);
        self.exact.merge(&other.exact);
        self.bounds.merge(&other.bounds);
        self.beside.merge(&other.beside);
    }
}

/// Those that held, of all that were made.
fn checks(outline: &Outline, interval: &Interval, is_covered: impl Fn(&RequestOutline) -> bool) -> Gauge {
    let mut gauge = Gauge::default();
    for (number, check) in outline.checks.iter().enumerate() {
        let request = outline.requests.get(check.request as usize).filter(|request| is_covered(request));
        let tally = interval.series.get(outline.check_series(number) as usize);
        let (Some(_), Some(tally)) = (request, tally) else { continue };
        let (made, failed) = (sum(tally, CheckSum::Made.id()), sum(tally, CheckSum::Failed.id()));
        gauge.whole = gauge.whole.saturating_add(made);
        gauge.part = gauge.part.saturating_add(made.saturating_sub(failed));
    }
    gauge
}

/// Passages through the group of this very name: those nested in it have series of their own, and are part of its time.
/// A passage under way at the stop leaves no bound behind, so nothing is cut off here.
fn passages(threshold: &Threshold, outline: &Outline, interval: &Interval) -> Gauge {
    let Some(Scope::Group(name)) = &threshold.scope else { return Gauge::default() };
    let group = outline.groups.iter().position(|group| group == name);
    let tally = group.and_then(|group| interval.series.get(outline.group_series(group) as usize));
    times(tally.and_then(|tally| tally.hists.get(GroupHist::Time.id())), None)
}

fn counts(part: u64, whole: u64) -> Gauge {
    Gauge { part, whole, ..Gauge::default() }
}

fn times(exact: Option<&Hist>, bounds: Option<&Hist>) -> Gauge {
    let copy = |hist: Option<&Hist>| hist.cloned().unwrap_or_else(Hist::on_demand);
    Gauge { exact: copy(exact), bounds: copy(bounds), ..Gauge::default() }
}

fn sum(tally: &Tally, id: usize) -> u64 {
    tally.sums.get(id).copied().unwrap_or(0)
}
