//! Times of requests and connections, and users over time.

use super::metric::{Gauge, Trend};
use super::samples::{Samples, has_response_time, is_http};
use super::select::{Covered, RequestTag, Selection, sum};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{HistCell, RunHist, RunSum, SeriesHist, SeriesSum, fault_id};
use plimsoll_plan::series::SeriesKey;
use plimsoll_stats::Hist;
use plimsoll_stats::tally::Tally;
use std::collections::BTreeMap;

impl Samples<'_> {
    /// Times of responses; `None` if some of them are not selected, because a histogram cannot be divided.
    pub fn responses(&self, selection: &Selection<'_>, id: impl HistCell) -> Option<Trend> {
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
    pub fn duration(&self, selection: &Selection<'_>) -> Option<Trend> {
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
    pub fn of_connections(&self, id: RunHist, is_whole: bool) -> Option<Trend> {
        let mut all = hist(&self.run, Connections(id)).clone();
        let everything = Selection::default();
        let requests = self.of(&everything, is_http).map(|(_, tally)| sum(tally, SeriesSum::Finished));
        let requests = requests.fold(0, u64::saturating_add);
        all.record_n(0, requests.saturating_sub(all.count()));
        is_whole.then(|| Trend::of_ns(all))
    }

    /// Active users: means of whole seconds.
    pub fn users(&self) -> Option<Gauge> {
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

    pub fn users_max(&self) -> Option<Gauge> {
        let users = self.machines.iter().map(|machine| f64::from(machine.opening.outline.connections));
        let all: f64 = users.sum();
        (!self.machines.is_empty()).then_some(Gauge { value: all, min: all, max: all })
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

pub fn merged<'s>(series: impl Iterator<Item = &'s (&'s SeriesKey, Tally)>, id: impl HistCell) -> Hist {
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

pub fn hist(tally: &Tally, id: impl HistCell) -> &Hist {
    tally.hists.get(id.cell()).unwrap_or(&EMPTY)
}
