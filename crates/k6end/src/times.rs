//! Times of requests and connections, and users over time.

use super::metric::{Gauge, Trend};
use super::samples::{Samples, has_response_time, is_call, is_http};
use super::select::{Covered, RequestTag, Selection, sum};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{
    HistCell, RunHist, RunSum, SeriesHist, SeriesSum, StreamHist, TrendHist, fault_id,
};
use plimsoll_plan::series::{Family, SeriesKey, request_trend};
use plimsoll_record::record::GeneratorRecord;
use plimsoll_stats::Hist;
use plimsoll_stats::tally::Tally;
use std::collections::BTreeMap;

impl Samples<'_> {
    /// Times of responses; `None` if some of them are not selected, because a histogram cannot be divided.
    pub fn responses(&self, selection: &Selection<'_>, id: impl HistCell) -> Option<Trend> {
        let mut all = Hist::on_demand();
        for (_, tally) in self.of_keys(selection, has_response_time) {
            match selection.of_requests.map_or(Covered::All, |tag| tag.of_responses(tally)) {
                Covered::All => all.merge(hist(tally, id)),
                Covered::None => {}
                Covered::Some => return None,
            }
        }
        Some(Trend::of_ns(all))
    }

    /// Service times of responses and, with their whole time, of timeouts.
    pub fn duration(&self, selection: &Selection<'_>) -> Option<Trend> {
        let mut all = Hist::on_demand();
        // Series of which some responses are selected, all of their responses.
        let mut divided = Hist::on_demand();
        for (_, tally) in self.of_keys(selection, has_response_time) {
            let service = hist(tally, SeriesHist::Service);
            match selection.of_requests.map_or(Covered::All, |tag| tag.of_responses(tally)) {
                Covered::All => all.merge(service),
                Covered::None => {}
                Covered::Some => divided.merge(service),
            }
            let has_timeouts = match selection.of_requests {
                None | Some(RequestTag::Expected(false) | RequestTag::Status(0)) => true,
                Some(RequestTag::Expected(true) | RequestTag::Status(_)) => false,
            };
            if has_timeouts {
                add_timeouts(tally, &mut all);
            }
        }
        if divided.count() > 0 {
            let Some(RequestTag::Expected(is_expected)) = selection.of_requests else { return None };
            let unexpected = self.unexpected(selection);
            if unexpected.count() == 0 {
                return None;
            }
            match is_expected {
                true => all.merge(&without(&divided, &unexpected)),
                false => all.merge(&unexpected),
            }
        }
        Some(Trend::of_ns(all))
    }

    /// Times of gRPC calls: those with one response from the send, those with streams from their opening.
    pub fn call_duration(&self, selection: &Selection<'_>) -> Trend {
        let mut all = Hist::on_demand();
        for (key, tally) in self.of_keys(selection, is_call) {
            match key.family {
                Family::Request => {
                    all.merge(hist(tally, SeriesHist::Service));
                    add_timeouts(tally, &mut all);
                }
                _ => all.merge(hist(tally, StreamHist::StreamLife)),
            }
        }
        Trend::of_ns(all)
    }

    /// Service times of responses that were not expected, of series in which others were, ns.
    fn unexpected(&self, selection: &Selection<'_>) -> Hist {
        let labels = selection.of_all_requests();
        let mixed = self
            .of_keys(selection, has_response_time)
            .filter(|(_, tally)| RequestTag::Expected(true).of_responses(tally) == Covered::Some);
        let names: Vec<&str> = mixed.map(|(key, _)| key.name.as_str()).collect();
        let mut all = Hist::on_demand();
        for (key, tally) in self.of(&labels, |family| family == Family::Trend) {
            let is_mixed = key.label("name").is_some_and(|name| names.contains(&name));
            if key.name == request_trend::UNEXPECTED && is_mixed {
                add_thousandths(hist(tally, TrendHist::Values), &mut all);
            }
        }
        all
    }

    /// A time of each request that opened a connection, and 0 for each of the others; `None` if the record does not
    /// tell them apart.
    pub fn of_connections(&self, name: &str, selection: &Selection<'_>) -> Option<Trend> {
        if selection.of_requests.is_some() {
            return None;
        }
        let is_own = |key: &SeriesKey| key.family == Family::Trend && key.name == name;
        let of_run = match name {
            request_trend::HANDSHAKING => RunHist::Handshake,
            _ => RunHist::Connect,
        };
        let of_run = hist(&self.run, Whole(of_run));
        let is_divided = self.series.iter().any(|(key, _)| is_own(key));
        let mut all = Hist::on_demand();
        for (_, tally) in self.of(selection, |_| true).filter(|(key, _)| is_own(key)) {
            all.merge(hist(tally, TrendHist::Values));
        }
        let others = self.finished(selection).saturating_sub(all.count());
        if is_divided || of_run.count() == 0 {
            all.record_n(0, others);
            return Some(Trend::of_thousandths(all));
        }
        // The program has not counted them: only the whole run is known, and not how long requests were blocked.
        if name == request_trend::BLOCKED || !selection.is_empty() {
            return None;
        }
        let mut all = of_run.clone();
        all.record_n(0, self.finished(selection).saturating_sub(all.count()));
        Some(Trend::of_ns(all))
    }

    /// The times in which the send buffer was full; a request that the kernel takes at once has none. `None`: some had,
    /// and a histogram of the whole run cannot be divided.
    pub fn sending(&self, selection: &Selection<'_>) -> Option<Trend> {
        let mut all = hist(&self.run, Whole(RunHist::SendBlocked)).clone();
        if selection.of_requests.is_some() || !selection.is_empty() && all.count() > 0 {
            return None;
        }
        all.record_n(0, self.finished(selection).saturating_sub(all.count()));
        Some(Trend::of_ns(all))
    }

    fn finished(&self, selection: &Selection<'_>) -> u64 {
        let requests = self.of_keys(selection, is_http).map(|(_, tally)| sum(tally, SeriesSum::Finished));
        requests.fold(0, u64::saturating_add)
    }

    /// Active users: means of whole seconds, and for arrivals the users in an iteration at the end of each; `None` in a
    /// shorter run, which k6 ends without a sample, too.
    pub fn users(&self) -> Option<Gauge> {
        self.of_seconds(|run, length_ns| {
            let of = |id: RunSum| run.sums.get(id.id()).copied().unwrap_or(0);
            of(RunSum::UsersNs) as f64 / length_ns as f64 + of(RunSum::ArrivalUsersBusy) as f64
        })
    }

    fn of_seconds(&self, of: impl Fn(&Tally, u64) -> f64) -> Option<Gauge> {
        let mut seconds: BTreeMap<u32, f64> = BTreeMap::new();
        for machine in &self.machines {
            let elapsed_ns = machine.ending.as_ref().map_or(u64::MAX, |ending| ending.elapsed_ns);
            for (tick, row) in &machine.ticks {
                let (from_ns, to_ns) = machine.opening.outline.tick_bounds_ns(*tick);
                if elapsed_ns < to_ns {
                    continue;
                }
                let length_ns = to_ns.saturating_sub(from_ns);
                if length_ns > 0 {
                    *seconds.entry(*tick).or_default() += of(&row.run(), length_ns);
                }
            }
        }
        let all = || seconds.values().map(|users| users.round());
        Some(Gauge { value: all().next_back()?, min: all().reduce(f64::min)?, max: all().reduce(f64::max)? })
    }

    /// Users that exist: those of a closed load, which are divided among machines, and those that arrivals have needed.
    pub fn users_max(&self) -> Option<Gauge> {
        let closed = |machine: &&GeneratorRecord| {
            let outline = &machine.opening.outline;
            let open = match outline.workloads.is_empty() {
                true if outline.load.is_open() => outline.connections,
                true => 0,
                false => {
                    let open = outline.workloads.iter().filter(|one| one.load.is_open());
                    open.map(|one| one.connections).sum::<u32>()
                }
            };
            outline.share.count_of(outline.connections.saturating_sub(open))
        };
        let closed: f64 = self.machines.iter().map(closed).map(f64::from).sum();
        let of = |run: &Tally| run.sums.get(RunSum::ArrivalUsers.id()).copied().unwrap_or(0);
        let open = self.of_seconds(|run, _| of(run) as f64)?;
        Some(Gauge { value: closed + open.value, min: closed + open.min, max: closed + open.max })
    }
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

/// Adds values of a trend in ms to a histogram in ns.
fn add_thousandths(values: &Hist, all: &mut Hist) {
    const NS_PER_THOUSANDTH: u64 = 1_000;
    for (low, high, count) in values.buckets() {
        all.record_n((low + (high - low) / 2).saturating_mul(NS_PER_THOUSANDTH), count);
    }
}

/// Returns a histogram without values that are part of it. Their buckets differ, so the nearest values are removed.
fn without(all: &Hist, removed: &Hist) -> Hist {
    let middle = |(low, high, count): (u64, u64, u64)| (low + (high - low) / 2, count);
    let mut left: Vec<(u64, u64)> = all.buckets().map(middle).collect();
    for (value, mut count) in removed.buckets().map(middle) {
        while count > 0 {
            let filled = left.iter_mut().filter(|(_, count)| *count > 0);
            let Some(nearest) = filled.min_by_key(|(other, _)| other.abs_diff(value)) else { break };
            let taken = nearest.1.min(count);
            nearest.1 -= taken;
            count -= taken;
        }
    }
    let mut rest = Hist::on_demand();
    left.into_iter().filter(|(_, count)| *count > 0).for_each(|(value, count)| rest.record_n(value, count));
    rest
}

pub fn merged<'s>(series: impl Iterator<Item = &'s (&'s SeriesKey, Tally)>, id: impl HistCell) -> Hist {
    let mut all = Hist::on_demand();
    series.for_each(|(_, tally)| all.merge(hist(tally, id)));
    all
}

/// A histogram of the whole run.
#[derive(Clone, Copy)]
struct Whole(RunHist);

impl HistCell for Whole {
    fn cell(self) -> usize {
        self.0.id()
    }
}

static EMPTY: std::sync::LazyLock<Hist> = std::sync::LazyLock::new(Hist::on_demand);

pub fn hist(tally: &Tally, id: impl HistCell) -> &Hist {
    tally.hists.get(id.cell()).unwrap_or(&EMPTY)
}
