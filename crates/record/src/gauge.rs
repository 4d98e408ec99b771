//! Measured quantity of a threshold over any period: summed over ticks, workers, and machines, and then converted to
//! a value. The check that stops a run and the later report use the same code.

use crate::record::{Opened, requests_of, total_of};
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{
    CheckSum, CounterSum, GroupHist, RunHist, RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum,
    WebSocketHist, WebSocketSum,
};
use plimsoll_plan::outline::RequestOutline;
use plimsoll_plan::series::{Family, GRPC_STATUS, SeriesKey};
use plimsoll_plan::threshold::{Subject, Threshold};
use plimsoll_stats::Hist;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;
use std::cell::LazyCell;

/// Quantity of a threshold. The default is empty, which changes nothing when merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    /// Numerator of a share, or the count of a count or rate.
    pub part: u64,
    /// Denominator of a share.
    pub whole: u64,
    /// Exact values of a duration.
    pub exact: Hist,
    /// Lower bounds of durations that were cut off.
    pub bounds: Hist,
    /// Service times for a TTFB threshold, which show whether the bounds matter.
    pub beside: Hist,
}

impl Default for Gauge {
    fn default() -> Self {
        let empty = Hist::on_demand;
        Self { part: 0, whole: 0, exact: empty(), bounds: empty(), beside: empty() }
    }
}

impl Gauge {
    /// Returns the quantity in one interval of a run of this plan.
    pub fn of(threshold: &Threshold, outline: &Outline, opened: &[Opened], interval: &Interval) -> Gauge {
        let is_covered = |request: &RequestOutline| {
            threshold.subject.is_of(request)
                && match &threshold.scope {
                    Some(scope) => scope.covers(request),
                    None => !request.is_outside_load,
                }
        };
        let requests = requests_of(outline, opened, interval).filter(|(request, _)| is_covered(request));
        let run = &interval.run;
        // Only some subjects need it.
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
            Subject::Checks => {
                let mut gauge = checks(outline, interval, is_covered);
                gauge.merge(&opened_checks(threshold, opened, interval));
                gauge
            }
            Subject::GrpcStatus => statuses(threshold, opened, interval),
            Subject::GroupTime => passages(threshold, outline, opened, interval),
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
            Subject::WebSocketHandshake => times(stream(StreamHist::StreamHead), None),
            Subject::MessageRoundTrip => times(total.hists.get(WebSocketHist::RoundTrip.id()), None),
            Subject::MessageGap => times(stream(StreamHist::EventGap), None),
            Subject::MessageAge => times(stream(StreamHist::EventAge), None),
            Subject::MessagesSent => counts(sum(&total, WebSocketSum::MessagesSent.id()), 0),
            Subject::MessagesReceived => counts(streams(StreamSum::Events), 0),
            Subject::MessageLoss => counts(streams(StreamSum::EventsLost), streams(StreamSum::EventsExpected)),
            // A stream that is open at the stop has not failed, and nothing more will be known of it.
            Subject::ErrorRate => counts(
                of(SeriesSum::Failed),
                of(SeriesSum::Finished).saturating_add(streams(StreamSum::OpenAtEnd)),
            ),
            Subject::IterationsFailed => {
                counts(sum(run, RunSum::IterationsFailed.id()), sum(run, RunSum::Iterations.id()))
            }
            Subject::Throughput | Subject::Requests => counts(of(SeriesSum::Finished), 0),
            Subject::Events => counts(streams(StreamSum::Events), 0),
            Subject::EventLoss => counts(streams(StreamSum::EventsLost), streams(StreamSum::EventsExpected)),
            Subject::Availability
            | Subject::LongestOutage
            // Known and counted at the end only.
            | Subject::Counter
            | Subject::Gauge
            | Subject::TrueRatio
            | Subject::Trend => Gauge::default(),
        }
    }

    /// Adds another period, worker, or machine.
    pub fn merge(&mut self, other: &Gauge) {
        self.part = self.part.saturating_add(other.part);
        self.whole = self.whole.saturating_add(other.whole);
        self.exact.merge(&other.exact);
        self.bounds.merge(&other.bounds);
        self.beside.merge(&other.beside);
    }
}

/// Returns passed checks out of all checks.
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

/// Returns the same for the checks of programs. A scope covers them by their labels; they belong to no request.
fn opened_checks(threshold: &Threshold, opened: &[Opened], interval: &Interval) -> Gauge {
    let mut gauge = Gauge::default();
    let is_covered = |one: &&Opened| {
        one.key.family == Family::Check
            && threshold.scope.as_ref().is_none_or(|scope| scope.covers_series(&one.key))
    };
    for one in opened.iter().filter(is_covered) {
        let Some(tally) = interval.series.get(one.series as usize) else { continue };
        let (made, failed) = (sum(tally, CheckSum::Made.id()), sum(tally, CheckSum::Failed.id()));
        gauge.whole = gauge.whole.saturating_add(made);
        gauge.part = gauge.part.saturating_add(made.saturating_sub(failed));
    }
    gauge
}

/// Returns the calls that ended with one of the statuses of the scope out of all that ended with a status.
fn statuses(threshold: &Threshold, opened: &[Opened], interval: &Interval) -> Gauge {
    let mut gauge = Gauge::default();
    let is_status = |key: &SeriesKey| key.family == Family::Counter && key.name == GRPC_STATUS;
    for one in opened.iter().filter(|one| is_status(&one.key)) {
        let Some(tally) = interval.series.get(one.series as usize) else { continue };
        let calls = sum(tally, CounterSum::Whole.id());
        gauge.whole = gauge.whole.saturating_add(calls);
        if threshold.scope.as_ref().is_some_and(|scope| scope.covers_series(&one.key)) {
            gauge.part = gauge.part.saturating_add(calls);
        }
    }
    gauge
}

/// Returns the durations of the group with exactly this name, or of all groups; nested groups have their own series and
/// are part of its time. A group in progress at the stop has no lower bound, so nothing is cut off here.
fn passages(threshold: &Threshold, outline: &Outline, opened: &[Opened], interval: &Interval) -> Gauge {
    let mut all = Gauge::default();
    let mut add = |key: &SeriesKey, series: u32| {
        let is_covered = threshold.scope.as_ref().is_none_or(|scope| scope.covers_passes(key));
        let tally = interval.series.get(series as usize).filter(|_| is_covered);
        if let Some(hist) = tally.and_then(|tally| tally.hists.get(GroupHist::Time.id())) {
            all.exact.merge(hist);
        }
    };
    for (number, group) in outline.groups.iter().enumerate() {
        add(&SeriesKey::new(Family::Group, group, &[]), outline.group_series(number));
    }
    for one in opened.iter().filter(|one| one.key.family == Family::Group) {
        add(&one.key, one.series);
    }
    all
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
