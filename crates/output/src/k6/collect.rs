//! The record of a run in the metrics of k6.

use super::Options;
use super::groups::{CheckCount, Group};
use super::metric::{Contains, Gauge, Metric, Trend, Values};
use super::select::{Covered, RequestTag, Selection, sum};
use plimsoll_k6::threshold::Threshold;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{
    CheckSum, CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, GroupHist, HistCell, RateSum, RunHist,
    RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum, TrendHist, WebSocketHist, WebSocketSum, fault_id,
};
use plimsoll_plan::series::{Custom, Family, SeriesKey, counted, from_ordered, label};
use plimsoll_record::RunRecord;
use plimsoll_record::record::GeneratorRecord;
use plimsoll_stats::Hist;
use plimsoll_stats::tally::{Layout, Tally};
use std::collections::{BTreeMap, BTreeSet};

/// A run in the metrics of k6.
#[derive(Debug, Clone, PartialEq)]
pub struct EndOfTest {
    /// By name; sub-metrics as `metric{tag:value}`.
    pub metrics: BTreeMap<String, Metric>,
    pub root: Group,
    /// Length of the test, in ms.
    pub duration_ms: f64,
    /// The metrics that k6 would report and the record does not contain.
    pub missing: Vec<&'static str>,
    /// The results of each scenario if there are several, otherwise those of each group.
    pub parts: Vec<Part>,
}

/// The results of a scenario or a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub name: String,
    pub is_scenario: bool,
    pub checks: Vec<CheckCount>,
    pub metrics: BTreeMap<String, Metric>,
    /// The groups of a scenario, or the nested groups of a group.
    pub parts: Vec<Part>,
}

/// The metric of iterations that a program may count as a trend, in ms.
const ITERATION_DURATION: &str = "iteration_duration";

/// Metrics that divide a part.
const OF_PARTS: [&str; 7] = [
    "http_req_duration",
    "http_req_failed",
    "http_req_receiving",
    "http_req_waiting",
    "http_reqs",
    "data_received",
    "data_sent",
];

impl EndOfTest {
    /// Evaluates the record of a test.
    pub fn new(record: &RunRecord, options: &Options<'_>) -> EndOfTest {
        let samples = Samples::new(record, options);
        let mut metrics = samples.all();
        samples.add_sub_metrics(&mut metrics, options.thresholds);
        super::evaluate::judge(&mut metrics, options.thresholds);
        EndOfTest {
            root: samples.tree(&Selection::default()),
            duration_ms: samples.duration_s * 1e3,
            missing: samples.missing(&metrics),
            parts: samples.parts(options.scenarios),
            metrics,
        }
    }
}

/// The series of all machines.
struct Samples<'a> {
    machines: Vec<&'a GeneratorRecord>,
    /// Equal keys added up, in the order of their first use.
    series: Vec<(&'a SeriesKey, Tally)>,
    run: Tally,
    duration_s: f64,
    /// The name of the only scenario.
    single: Option<&'a str>,
    time_trends: &'a [String],
}

impl<'a> Samples<'a> {
    fn new(record: &'a RunRecord, options: &Options<'a>) -> Samples<'a> {
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
        let duration_s = machines.iter().map(length_ns).max().unwrap_or(0) as f64 / 1e9;
        let single = match options.scenarios {
            [one] => Some(one.as_str()),
            _ => None,
        };
        Samples { machines, series, run, duration_s, single, time_trends: options.time_trends }
    }

    fn of<'s>(
        &'s self,
        selection: &'s Selection<'_>,
        wanted: impl Fn(Family) -> bool + 's,
    ) -> impl Iterator<Item = &'s (&'a SeriesKey, Tally)> + 's {
        self.series.iter().filter(move |(key, _)| wanted(key.family) && selection.covers(key, self.single))
    }

    fn counter(&self, count: f64) -> Values {
        let rate_per_s = if self.duration_s > 0.0 { count / self.duration_s } else { 0.0 };
        Values::Counter { count, rate_per_s }
    }

    /// All metrics with samples, without sub-metrics.
    fn all(&self) -> BTreeMap<String, Metric> {
        let everything = Selection::default();
        let mut all = BTreeMap::new();
        for (name, _) in plimsoll_k6::threshold::BUILT_IN {
            if let Some((contains, values)) = self.built_in(name, &everything)
                && has_samples(name, &values)
            {
                all.insert(name.to_owned(), Metric { contains, values, thresholds: Vec::new() });
            }
        }
        let custom =
            self.series.iter().filter(|(key, _)| key.family.is_custom() && key.name != ITERATION_DURATION);
        let names: BTreeSet<(&str, Family)> =
            custom.map(|(key, _)| (key.name.as_str(), key.family)).collect();
        for (name, family) in names {
            if let Some((contains, values)) = self.custom(name, family, &everything) {
                all.insert(name.to_owned(), Metric { contains, values, thresholds: Vec::new() });
            }
        }
        let expected = Selection::of([("expected_response", "true")]).unwrap_or_default();
        if let Some((contains, values)) = self.built_in("http_req_duration", &expected)
            && has_samples("", &values)
        {
            let name = "http_req_duration{expected_response:true}".to_owned();
            all.insert(name, Metric { contains, values, thresholds: Vec::new() });
        }
        all
    }

    /// Adds those that thresholds name, also without samples.
    fn add_sub_metrics(&self, metrics: &mut BTreeMap<String, Metric>, thresholds: &[Threshold]) {
        for threshold in thresholds {
            let tags = threshold.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let Some(selection) = Selection::of(tags) else { continue };
            let is_built_in =
                plimsoll_k6::threshold::BUILT_IN.iter().any(|(name, _)| *name == threshold.metric);
            let find = |selection: &Selection<'_>| match is_built_in {
                true => self.built_in(&threshold.metric, selection),
                false => self.custom(&threshold.metric, family(threshold), selection),
            };
            // A sub-metric is shown below its metric.
            for (name, selection) in
                [(&threshold.metric, &Selection::default()), (&threshold.key, &selection)]
            {
                if let Some((contains, values)) = find(selection) {
                    let metric = || Metric { contains, values, thresholds: Vec::new() };
                    metrics.entry(name.clone()).or_insert_with(metric);
                }
            }
        }
    }

    fn built_in(&self, name: &str, selection: &Selection<'_>) -> Option<(Contains, Values)> {
        let requests = || self.of(selection, is_http);
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
                    None => sum(tally, SeriesSum::Finished),
                };
                let all: f64 = requests().map(|(_, tally)| count(tally) as f64).sum();
                Some((Contains::Default, self.counter(all)))
            }
            "http_req_failed" => Some((Contains::Default, self.failed(selection)?)),
            "http_req_duration" => time(self.duration(selection)),
            "http_req_waiting" => time(self.responses(selection, SeriesHist::FirstByte)),
            "http_req_receiving" => time(self.responses(selection, SeriesHist::Body)),
            "http_req_connecting" => time(self.of_connections(RunHist::Connect, is_whole)),
            "http_req_tls_handshaking" => time(self.of_connections(RunHist::Handshake, is_whole)),
            "data_sent" if selection.of_requests.is_none() => {
                Some((Contains::Data, self.counter(sums(SeriesSum::BytesOut))))
            }
            "data_received" if selection.of_requests.is_none() => {
                Some((Contains::Data, self.counter(sums(SeriesSum::BytesIn))))
            }
            "iterations" => whole_count(RunSum::Iterations),
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
            _ => self.of_sockets(name, selection),
        }
    }

    /// Metrics of WebSockets.
    fn of_sockets(&self, name: &str, selection: &Selection<'_>) -> Option<(Contains, Values)> {
        let sockets = || self.of(selection, |family| family == Family::WebSocket);
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

    fn failed(&self, selection: &Selection<'_>) -> Option<Values> {
        let (mut passes, mut fails) = (0_u64, 0_u64);
        for (_, tally) in self.of(selection, is_http) {
            let (all, failed) = (sum(tally, SeriesSum::Finished), sum(tally, SeriesSum::Failed));
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

    /// Times of responses; `None` if some of them are not selected, because a histogram cannot be divided.
    fn responses(&self, selection: &Selection<'_>, id: impl HistCell + Copy) -> Option<Trend> {
        let mut all = Hist::on_demand();
        for (_, tally) in self.of(selection, has_response_time) {
            match selection.of_requests.map_or(Covered::All, |tag| tag.of_responses(tally)) {
                Covered::All => all.merge(hist(tally, id)),
                Covered::None => {}
                Covered::Some => return None,
            }
        }
        Some(Trend::of_ns(all))
    }

    /// Service times of responses and, with their whole time, of timeouts.
    fn duration(&self, selection: &Selection<'_>) -> Option<Trend> {
        let mut all = Hist::on_demand();
        for (_, tally) in self.of(selection, has_response_time) {
            match selection.of_requests.map_or(Covered::All, |tag| tag.of_responses(tally)) {
                Covered::All => all.merge(hist(tally, SeriesHist::Service)),
                Covered::None => {}
                Covered::Some => return None,
            }
            let has_timeouts = match selection.of_requests {
                None | Some(RequestTag::Expected(false) | RequestTag::Status(0)) => true,
                Some(RequestTag::Expected(true) | RequestTag::Status(_)) => false,
            };
            if has_timeouts {
                add_timeouts(tally, &mut all);
            }
        }
        Some(Trend::of_ns(all))
    }

    /// A time of each new connection, and 0 for each request on a reused one.
    fn of_connections(&self, id: RunHist, is_whole: bool) -> Option<Trend> {
        let mut all = hist(&self.run, Connections(id)).clone();
        let everything = Selection::default();
        let requests = self.of(&everything, is_http).map(|(_, tally)| sum(tally, SeriesSum::Finished));
        let requests = requests.fold(0, u64::saturating_add);
        all.record_n(0, requests.saturating_sub(all.count()));
        is_whole.then(|| Trend::of_ns(all))
    }

    /// Active users: means of whole seconds.
    fn users(&self) -> Option<Gauge> {
        let mut seconds: BTreeMap<u32, f64> = BTreeMap::new();
        for machine in &self.machines {
            let elapsed_ns = machine.ending.as_ref().map_or(u64::MAX, |ending| ending.elapsed_ns);
            for (tick, row) in &machine.ticks {
                let (from_ns, to_ns) = machine.opening.outline.tick_bounds_ns(*tick);
                let length_ns = to_ns.min(elapsed_ns).saturating_sub(from_ns);
                let users_ns = row.run().sums.get(RunSum::UsersNs.id()).copied().unwrap_or(0);
                if length_ns > 0 {
                    *seconds.entry(*tick).or_default() += users_ns as f64 / length_ns as f64;
                }
            }
        }
        let all = || seconds.values().map(|users| users.round());
        Some(Gauge { value: all().next_back()?, min: all().reduce(f64::min)?, max: all().reduce(f64::max)? })
    }

    fn users_max(&self) -> Option<Gauge> {
        let users = self.machines.iter().map(|machine| f64::from(machine.opening.outline.connections));
        let all: f64 = users.sum();
        (!self.machines.is_empty()).then_some(Gauge { value: all, min: all, max: all })
    }

    fn custom(&self, name: &str, family: Family, selection: &Selection<'_>) -> Option<(Contains, Values)> {
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

    /// The groups and checks of a selection.
    fn tree(&self, selection: &Selection<'_>) -> Group {
        let mut root = Group::default();
        for (key, tally) in self.of(selection, |_| true) {
            match key.family {
                Family::Group => {
                    root.at(&key.name);
                }
                Family::Check => {
                    let (made, fails) = (sum(tally, CheckSum::Made), sum(tally, CheckSum::Failed));
                    let group = root.at(key.label(label::GROUP).unwrap_or_default());
                    group.count(&key.name, made.saturating_sub(fails), fails);
                }
                _ => {
                    root.at(key.label(label::GROUP).unwrap_or_default());
                }
            }
        }
        root
    }

    fn missing(&self, metrics: &BTreeMap<String, Metric>) -> Vec<&'static str> {
        let has_requests = metrics.contains_key("http_reqs");
        let has_iterations = metrics.contains_key("iterations");
        let mut missing = Vec::new();
        if has_requests {
            missing.extend(["http_req_blocked", "http_req_sending"]);
        }
        if has_iterations && !metrics.contains_key(ITERATION_DURATION) {
            missing.push(ITERATION_DURATION);
        }
        if has_requests && !metrics.contains_key("http_req_duration{expected_response:true}") {
            missing.push("http_req_duration{expected_response:true}");
        }
        missing
    }

    fn parts(&self, scenarios: &[String]) -> Vec<Part> {
        if scenarios.len() < 2 {
            return self.groups(&self.tree(&Selection::default()), None);
        }
        let part = |name: &String| {
            let selection = Selection::of([(label::SCENARIO, name.as_str())])?;
            let tree = self.tree(&selection);
            let parts = self.groups(&tree, Some(name));
            Some(self.part(name, true, &selection, tree.checks, parts))
        };
        scenarios.iter().filter_map(part).collect()
    }

    fn groups(&self, around: &Group, scenario: Option<&String>) -> Vec<Part> {
        let part = |group: &Group| {
            let tags = scenario.map(|name| (label::SCENARIO, name.as_str()));
            let selection = Selection::of(tags.into_iter().chain([(label::GROUP, group.path.as_str())]))?;
            let parts = self.groups(group, scenario);
            Some(self.part(&group.name, false, &selection, group.checks.clone(), parts))
        };
        around.groups.iter().filter_map(part).collect()
    }

    fn part(
        &self,
        name: &str,
        is_scenario: bool,
        selection: &Selection<'_>,
        checks: Vec<CheckCount>,
        parts: Vec<Part>,
    ) -> Part {
        let mut metrics = BTreeMap::new();
        let mut add = |name: &str, found: Option<(Contains, Values)>| {
            if let Some((contains, values)) = found
                && has_samples(name, &values)
            {
                metrics.insert(name.to_owned(), Metric { contains, values, thresholds: Vec::new() });
            }
        };
        for name in OF_PARTS {
            // The bytes of groups are not among the values that k6 reports.
            if is_scenario || !name.starts_with("data_") {
                add(name, self.built_in(name, selection));
            }
        }
        let custom = self.of(selection, Family::is_custom);
        let names: BTreeSet<(&str, Family)> =
            custom.map(|(key, _)| (key.name.as_str(), key.family)).collect();
        for (name, family) in names.into_iter().filter(|(name, _)| *name != ITERATION_DURATION) {
            add(name, self.custom(name, family, selection));
        }
        Part { name: name.to_owned(), is_scenario, checks, metrics, parts }
    }
}

fn family(threshold: &Threshold) -> Family {
    match threshold.kind {
        plimsoll_k6::threshold::Kind::Counter => Family::Counter,
        plimsoll_k6::threshold::Kind::Gauge => Family::Gauge,
        plimsoll_k6::threshold::Kind::Rate => Family::Rate,
        plimsoll_k6::threshold::Kind::Trend => Family::Trend,
    }
}

/// k6 has other metrics for WebSockets.
fn is_http(family: Family) -> bool {
    matches!(family, Family::Request | Family::Stream)
}

/// The times of streams are their lifetimes.
fn has_response_time(family: Family) -> bool {
    family == Family::Request
}

/// k6 reports its data and iterations in any case, and other metrics only with samples.
fn has_samples(name: &str, values: &Values) -> bool {
    let is_always = matches!(name, "data_sent" | "data_received");
    is_always
        || match values {
            Values::Counter { count, .. } => *count > 0.0,
            Values::Gauge(gauge) => gauge.is_some(),
            Values::Rate { passes, fails } => passes.saturating_add(*fails) > 0,
            Values::Trend(trend) => trend.count() > 0,
        }
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

/// Adds the timeouts among the lower bounds: the longest of them. The others were in flight at the end.
fn add_timeouts(tally: &Tally, all: &mut Hist) {
    let bounds = hist(tally, SeriesHist::ServiceCensored);
    let timeouts = super::select::cell(tally, fault_id(Fault::Timeout)).min(bounds.count());
    let mut rank = bounds.count() - timeouts;
    while rank < bounds.count() {
        let Some(value) = bounds.value_at_rank(rank + 1) else { return };
        let up_to = bounds.count_at_most(value).max(rank + 1);
        all.record_n(value, up_to - rank);
        rank = up_to;
    }
}

fn merged<'s>(series: impl Iterator<Item = &'s (&'s SeriesKey, Tally)>, id: impl HistCell + Copy) -> Hist {
    let mut all = Hist::on_demand();
    series.for_each(|(_, tally)| all.merge(hist(tally, id)));
    all
}

/// A histogram of the whole run.
#[derive(Clone, Copy)]
struct Connections(RunHist);

impl HistCell for Connections {
    fn cell(self) -> usize {
        self.0.id()
    }
}

static EMPTY: std::sync::LazyLock<Hist> = std::sync::LazyLock::new(Hist::on_demand);

fn hist(tally: &Tally, id: impl HistCell) -> &Hist {
    tally.hists.get(id.cell()).unwrap_or(&EMPTY)
}
