//! The samples of a run: its series and counts, by the definitions of k6.

use super::Options;
use super::metric::{Contains, Gauge, Trend, Values};
use super::select::{Covered, RequestTag, Selection, sum};
use super::times::{hist, merged};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{
    CheckSum, CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, GroupHist, RateSum, RunSum, SeriesHist,
    SeriesSum, StreamHist, StreamSum, TrendHist, WebSocketHist, WebSocketSum, fault_id,
};
use plimsoll_plan::series::{Custom, Family, SeriesKey, counted, from_ordered, label, request_trend};
use plimsoll_record::RunRecord;
use plimsoll_record::record::GeneratorRecord;
use plimsoll_stats::Hist;
use plimsoll_stats::tally::{Layout, Tally};
use std::collections::BTreeMap;

/// The metric of iterations that a program may count as a trend, in ms.
pub const ITERATION_DURATION: &str = "iteration_duration";

/// The series of all machines.
pub struct Samples<'a> {
    pub machines: Vec<&'a GeneratorRecord>,
    /// Equal keys added up, in the order of their first use.
    pub series: Vec<(&'a SeriesKey, Tally)>,
    pub run: Tally,
    pub duration_s: f64,
    /// The name of the only scenario.
    single: Option<&'a str>,
    time_trends: &'a [String],
}

impl<'a> Samples<'a> {
    pub fn new(record: &'a RunRecord, options: &Options<'a>) -> Samples<'a> {
        let machines: Vec<&GeneratorRecord> = record.generators.values().collect();
        let mut places: BTreeMap<&SeriesKey, usize> = BTreeMap::new();
        let mut series: Vec<(&SeriesKey, Tally)> = Vec::new();
        let mut run = Tally::on_demand(plimsoll_record::record::RUN_LAYOUT);
        for machine in &machines {
            run.merge(&machine.totals.run);
            for one in &machine.opened {
                let Some(tally) = machine.totals.series.get(one.series as usize) else { continue };
                let at = *places.entry(&one.key).or_insert_with(|| {
                    series.push((&*one.key, Tally::on_demand(Layout::of(one.key.family.cells()))));
                    series.len() - 1
                });
                if let Some((_, sum)) = series.get_mut(at) {
                    sum.merge(tally);
                }
            }
        }
        let length_ns = |machine: &&GeneratorRecord| {
            let last = machine.ticks.keys().next_back();
            let seen_ns = last.map_or(0, |tick| machine.opening.outline.tick_bounds_ns(*tick).1);
            machine.ending.as_ref().map_or(seen_ns, |ending| ending.elapsed_ns)
        };
        // The clock is read at events. A test without any lasts a moment all the same, so that it has rates.
        const MOMENT_NS: u64 = 1_000;
        let longest_ns = machines.iter().map(length_ns).max().map_or(0, |ns| ns.max(MOMENT_NS));
        let duration_s = longest_ns as f64 / 1e9;
        let single = match options.scenarios {
            [one] => Some(one.as_str()),
            _ => None,
        };
        Samples { machines, series, run, duration_s, single, time_trends: options.time_trends }
    }

    pub fn of<'s>(
        &'s self,
        selection: &'s Selection<'_>,
        wanted: impl Fn(Family) -> bool + 's,
    ) -> impl Iterator<Item = &'s (&'a SeriesKey, Tally)> + 's {
        self.series.iter().filter(move |(key, _)| wanted(key.family) && selection.covers(key, self.single))
    }

    /// Returns the series that a selection covers.
    pub fn of_keys<'s>(
        &'s self,
        selection: &'s Selection<'_>,
        wanted: impl Fn(&SeriesKey) -> bool + 's,
    ) -> impl Iterator<Item = &'s (&'a SeriesKey, Tally)> + 's {
        self.of(selection, |_| true).filter(move |(key, _)| wanted(key))
    }

    pub fn counter(&self, count: f64) -> Values {
        let rate_per_s = if self.duration_s > 0.0 { count / self.duration_s } else { 0.0 };
        Values::Counter { count, rate_per_s }
    }

    pub fn built_in(&self, name: &str, selection: &Selection<'_>) -> Option<(Contains, Values)> {
        let requests = || self.of_keys(selection, is_http);
        let all_requests = || self.of(selection, Family::is_requests);
        let sums = |id: SeriesSum| all_requests().map(|(_, tally)| sum(tally, id) as f64).sum::<f64>();
        let run = |id: RunSum| self.run.sums.get(id.id()).copied().unwrap_or(0);
        let is_whole = selection.is_empty();
        let whole_count = |id: RunSum| is_whole.then(|| (Contains::Default, self.counter(run(id) as f64)));
        let time = |trend: Option<Trend>| Some((Contains::Time, Values::Trend(trend?)));
        match name {
            "http_reqs" => {
                let count = |tally: &Tally| match selection.of_requests {
                    Some(tag) => tag.count(tally),
                    None => sum(tally, SeriesSum::Finished).saturating_add(refused(tally)),
                };
                let all: f64 = requests().map(|(_, tally)| count(tally) as f64).sum();
                Some((Contains::Default, self.counter(all)))
            }
            "http_req_failed" => Some((Contains::Default, self.failed(selection)?)),
            "http_req_duration" => time(self.duration(selection)),
            "http_req_waiting" => time(self.responses(selection, SeriesHist::FirstByte)),
            "http_req_receiving" => time(self.responses(selection, SeriesHist::Body)),
            request_trend::BLOCKED | request_trend::CONNECTING | request_trend::HANDSHAKING => {
                time(self.of_connections(name, selection))
            }
            "http_req_sending" => time(self.sending(selection)),
            "data_sent" if selection.of_requests.is_none() => {
                Some((Contains::Data, self.counter(sums(SeriesSum::BytesOut))))
            }
            "data_received" if selection.of_requests.is_none() => {
                Some((Contains::Data, self.counter(sums(SeriesSum::BytesIn))))
            }
            "iterations" if is_whole => whole_count(RunSum::Iterations),
            "iterations" => {
                let (_, durations) = self.custom(ITERATION_DURATION, Family::Trend, selection)?;
                let Values::Trend(durations) = durations else { return None };
                Some((Contains::Default, self.counter(durations.count() as f64)))
            }
            "dropped_iterations" => whole_count(RunSum::IterationsDropped),
            ITERATION_DURATION => {
                let (_, values) = self.custom(name, Family::Trend, selection)?;
                Some((Contains::Time, values))
            }
            "vus" if is_whole => Some((Contains::Default, Values::Gauge(self.users()))),
            "vus_max" if is_whole => Some((Contains::Default, Values::Gauge(self.users_max()))),
            "checks" if selection.of_requests.is_none() => {
                let (mut made, mut fails) = (0_u64, 0_u64);
                for (_, tally) in self.of(selection, |family| family == Family::Check) {
                    made = made.saturating_add(sum(tally, CheckSum::Made));
                    fails = fails.saturating_add(sum(tally, CheckSum::Failed));
                }
                Some((Contains::Default, Values::Rate { passes: made.saturating_sub(fails), fails }))
            }
            "group_duration" if selection.of_requests.is_none() => {
                let groups = self.of(selection, |family| family == Family::Group);
                time(Some(Trend::of_ns(merged(groups, GroupHist::Time))))
            }
            _ => self.of_calls(name, selection).or_else(|| self.of_sockets(name, selection)),
        }
    }

    /// Metrics of gRPC calls.
    fn of_calls(&self, name: &str, selection: &Selection<'_>) -> Option<(Contains, Values)> {
        let streams = || self.of_keys(selection, |key| is_call(key) && key.family == Family::WebSocket);
        let count = |id: usize| {
            let all = streams().map(|(_, tally)| super::select::cell(tally, id) as f64).sum();
            Some((Contains::Default, self.counter(all)))
        };
        match name {
            _ if selection.of_requests.is_some() => None,
            "grpc_req_duration" => Some((Contains::Time, Values::Trend(self.call_duration(selection)))),
            "grpc_streams" => count(StreamSum::Streams.id()),
            "grpc_streams_msgs_sent" => count(WebSocketSum::MessagesSent.id()),
            "grpc_streams_msgs_received" => count(StreamSum::Events.id()),
            _ => None,
        }
    }

    /// Metrics of WebSockets.
    pub fn of_sockets(&self, name: &str, selection: &Selection<'_>) -> Option<(Contains, Values)> {
        let sockets = || self.of_keys(selection, is_socket);
        let count = |id: usize| {
            let all = sockets().map(|(_, tally)| super::select::cell(tally, id) as f64).sum();
            Some((Contains::Default, self.counter(all)))
        };
        let time = |hist: Hist| Some((Contains::Time, Values::Trend(Trend::of_ns(hist))));
        match name {
            _ if selection.of_requests.is_some() => None,
            "ws_sessions" => count(StreamSum::Streams.id()),
            "ws_msgs_sent" => count(WebSocketSum::MessagesSent.id()),
            "ws_msgs_received" => count(StreamSum::Events.id()),
            "ws_connecting" => time(merged(sockets(), StreamHist::StreamHead)),
            "ws_session_duration" => time(merged(sockets(), StreamHist::StreamLife)),
            "ws_ping" => time(merged(sockets(), WebSocketHist::PingRoundTrip)),
            _ => None,
        }
    }

    pub fn failed(&self, selection: &Selection<'_>) -> Option<Values> {
        let (mut passes, mut fails) = (0_u64, 0_u64);
        for (_, tally) in self.of_keys(selection, is_http) {
            let never = refused(tally);
            let all = sum(tally, SeriesSum::Finished).saturating_add(never);
            let failed = sum(tally, SeriesSum::Failed).saturating_add(never);
            let (all, failed) = match selection.of_requests {
                None => (all, failed),
                Some(tag @ RequestTag::Expected(is_expected)) => {
                    let own = tag.count(tally);
                    (own, if is_expected { 0 } else { own })
                }
                Some(tag) => match tag.of_requests(tally) {
                    Covered::All => (all, failed),
                    Covered::None => continue,
                    Covered::Some => return None,
                },
            };
            passes = passes.saturating_add(failed);
            fails = fails.saturating_add(all.saturating_sub(failed));
        }
        Some(Values::Rate { passes, fails })
    }

    pub fn custom(
        &self,
        name: &str,
        family: Family,
        selection: &Selection<'_>,
    ) -> Option<(Contains, Values)> {
        if selection.of_requests.is_some() {
            return None;
        }
        let mut all = Tally::on_demand(Layout::of(family.cells()));
        for (key, tally) in self.of(selection, |of| of == family) {
            if key.name == name {
                all.merge(tally);
            }
        }
        let values = match family.custom()? {
            Custom::Counter => {
                self.counter(counted(sum(&all, CounterSum::Whole), sum(&all, CounterSum::Billionths)))
            }
            Custom::Gauge => Values::Gauge(gauge(&all)),
            Custom::Rate => {
                let passes = sum(&all, RateSum::True);
                Values::Rate { passes, fails: sum(&all, RateSum::Values).saturating_sub(passes) }
            }
            Custom::Trend => Values::Trend(Trend::of_thousandths(hist(&all, TrendHist::Values).clone())),
        };
        let is_time = family == Family::Trend && self.time_trends.iter().any(|one| one == name);
        Some((if is_time { Contains::Time } else { Contains::Default }, values))
    }
}

/// Requests that were never sent, because the script named an invalid URL or a blocked host, or this machine refused to
/// send them: k6 counts them as failed.
fn refused(tally: &Tally) -> u64 {
    let of = |fault: Fault| super::select::cell(tally, fault_id(fault));
    of(Fault::InvalidRequest) + of(Fault::ClientSendRefused)
}

/// k6 has other metrics for WebSockets and for gRPC.
pub fn is_http(key: &SeriesKey) -> bool {
    matches!(key.family, Family::Request | Family::Stream) && !is_call(key)
}

/// The times of streams are their lifetimes.
pub fn has_response_time(key: &SeriesKey) -> bool {
    key.family == Family::Request && !is_call(key)
}

/// Returns whether a series is that of gRPC calls of a script.
pub fn is_call(key: &SeriesKey) -> bool {
    key.family.is_requests() && key.label(label::RPC_TYPE).is_some()
}

fn is_socket(key: &SeriesKey) -> bool {
    key.family == Family::WebSocket && !is_call(key)
}

fn gauge(tally: &Tally) -> Option<Gauge> {
    let is_set = sum(tally, GaugeSum::Values) > 0;
    let number = |bits: Option<u64>| bits.map(from_ordered).filter(|value| is_set && value.is_finite());
    Some(Gauge {
        value: number(tally.lasts.get(GaugeLast::Last.id()).map(|last| last.value))?,
        min: number(tally.floors.get(GaugeFloor::Min.id()).copied())?,
        max: number(tally.peaks.get(GaugePeak::Max.id()).copied())?,
    })
}
