//! Heatmaps: the distribution of times over time. Columns keep whole histograms until the range of all of them is
//! known; then each bucket falls into one row, so that no request is counted twice or split.

use super::groups::Groups;
use crate::cells::Cells;
use crate::facts::Facts;
use crate::picture::Heat;
use crate::timeline::Sum;
use crate::times::stands;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::SeriesHist;
use plimsoll_stats::{Hist, bucket_bounds, bucket_of};

/// Most columns, those of gaps included.
pub(super) const COLUMNS_MAX: usize = 240;
/// Most rows.
const ROWS_MOST: i32 = 60;
/// Rows for each power of ten, from fine to coarse. Finer rows than a hundredth would hold two buckets here and three
/// there, and show stripes that the service never made.
const ROWS_PER_DECADE: [i32; 15] = [100, 80, 60, 50, 40, 30, 25, 20, 16, 12, 10, 8, 6, 5, 4];

/// See the module.
pub(super) struct Columns {
    groups: Groups,
    columns: Vec<Column>,
    to_ns: u64,
}

#[derive(Default)]
struct Column {
    from_ns: u64,
    response: Blend,
    service: Blend,
}

/// Times, finished and cut off.
struct Blend {
    exact: Hist,
    bounds: Hist,
}

impl Default for Blend {
    fn default() -> Self {
        Blend { exact: Hist::on_demand(), bounds: Hist::on_demand() }
    }
}

/// What is drawn of a column, and how many times are not.
struct Shown {
    hist: Hist,
    cut_off: u64,
}

impl Blend {
    fn sampled(&self, stands: &impl Fn(u64) -> bool) -> Shown {
        let mut shown = Shown { hist: self.exact.clone(), cut_off: 0 };
        for (low, high, n) in self.bounds.buckets() {
            match stands(high) {
                true => shown.hist.record_n(middle(low, high), n),
                false => shown.cut_off += n,
            }
        }
        shown
    }
}

impl Columns {
    pub fn new(plan: &Outline, ticks: &[u32]) -> Columns {
        // Each gap takes a separate column; half of the columns are enough for runs with many gaps.
        let groups = Groups::of(plan, ticks, COLUMNS_MAX);
        let gaps = ticks.windows(2).filter(|pair| pair[0].saturating_add(1) != pair[1]).count();
        let groups = match gaps {
            0 => groups,
            gaps => Groups::of(plan, ticks, COLUMNS_MAX - gaps.min(COLUMNS_MAX / 2)),
        };
        Columns { groups, columns: Vec::new(), to_ns: 0 }
    }

    pub fn take(&mut self, sum: &Sum) {
        if self.groups.begins(sum.first) || self.columns.is_empty() {
            let is_behind_gap = !self.columns.is_empty() && sum.from_ns > self.to_ns;
            if is_behind_gap && self.columns.len() + 1 < COLUMNS_MAX {
                self.columns.push(Column { from_ns: self.to_ns, ..Column::default() });
            }
            self.columns.push(Column { from_ns: sum.from_ns, ..Column::default() });
        }
        self.to_ns = self.to_ns.max(sum.from_ns.saturating_add(sum.length_ns));
        let Some(column) = self.columns.last_mut() else { return };
        for (blend, ids) in [
            (&mut column.response, [SeriesHist::Response, SeriesHist::ResponseCensored]),
            (&mut column.service, [SeriesHist::Service, SeriesHist::ServiceCensored]),
        ] {
            blend.exact.merge(sum.all.hist(ids[0]));
            blend.bounds.merge(sum.all.hist(ids[1]));
        }
    }

    /// Of response and of service times, with rows of the same height.
    pub fn heats(&self, facts: &Facts) -> (Heat, Heat) {
        let of = |which: fn(&Column) -> &Blend, exact: SeriesHist| {
            let stands = stands(facts.all.hist(exact), facts.plan.timeout_ns);
            self.columns.iter().map(|column| which(column).sampled(&stands)).collect::<Vec<Shown>>()
        };
        let response = of(|c| &c.response, SeriesHist::Response);
        let service = of(|c| &c.service, SeriesHist::Service);
        let per_decade = per_decade(range(response.iter().chain(&service)));
        let heat = |shown: &[Shown]| self.heat(shown, per_decade);
        (heat(&response), heat(&service))
    }

    fn heat(&self, shown: &[Shown], per_decade: i32) -> Heat {
        let Some((least, most)) = range(shown.iter()) else { return Heat::default() };
        let edges_ns = edges_ns(least, most, per_decade);
        let counts = |Shown { hist, .. }: &Shown| {
            let mut counts = vec![0u64; edges_ns.len() - 1];
            for (from, to, n) in hist.buckets() {
                let value_ns = middle(from, to) as f64;
                // Times of zero are in the first row, times without a bucket in the last.
                let row = edges_ns.partition_point(|edge| *edge <= value_ns).saturating_sub(1);
                counts[row.min(edges_ns.len() - 2)] += n;
            }
            counts
        };
        Heat {
            from_s: self.columns.iter().map(|column| column.from_ns as f64 / 1e9).collect(),
            to_s: self.to_ns as f64 / 1e9,
            counts: shown.iter().map(counts).collect(),
            cut_off: shown.iter().map(|shown| shown.cut_off).collect(),
            edges_ns,
        }
    }
}

/// The middles of the lowest and the highest bucket that is used.
fn range<'a>(shown: impl Iterator<Item = &'a Shown> + Clone) -> Option<(u64, u64)> {
    let of_bucket = |value: u64| {
        let (low, high) = bucket_bounds(bucket_of(value));
        middle(low, high)
    };
    let least = shown.clone().filter_map(|shown| shown.hist.min()).min()?;
    let most = shown.filter_map(|shown| shown.hist.max()).max()?;
    Some((of_bucket(least), of_bucket(most)))
}

fn middle(low: u64, high: u64) -> u64 {
    low + (high - low) / 2
}

/// As fine as there is room for.
fn per_decade(range: Option<(u64, u64)>) -> i32 {
    let (least, most) = range.unwrap_or_default();
    let fits = |n: &i32| row_of(most, *n) - row_of(least, *n) < ROWS_MOST - 1;
    // From 1 ns to the highest bucket are less than 14 powers of ten: 54 rows of 4.
    ROWS_PER_DECADE.into_iter().find(fits).unwrap_or(4)
}

/// Edges of the rows that are used; two at least.
fn edges_ns(least: u64, most: u64, per_decade: i32) -> Vec<f64> {
    let edge = |row: i32| 10f64.powf(f64::from(row) / f64::from(per_decade));
    let (mut low, mut high) = (row_of(least, per_decade), row_of(most, per_decade));
    // A logarithm rounds: at an edge it may return the adjacent row.
    while low > 0 && edge(low) > least as f64 {
        low -= 1;
    }
    while edge(high + 1) <= most as f64 {
        high += 1;
    }
    (low..=high + 1).map(edge).collect()
}

/// Rows are numbered from 1 ns.
fn row_of(value_ns: u64, per_decade: i32) -> i32 {
    ((value_ns.max(1) as f64).log10() * f64::from(per_decade)).floor() as i32
}
