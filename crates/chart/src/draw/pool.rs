//! Combines adjacent values if there are more than are visible: the mean of rates, the maximum of times.

use super::{Scale, x_scale};
use crate::{Chart, Panel, Pool, Series};

/// Values of a series, few enough to draw; `None` is a gap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    pub x: Vec<f64>,
    pub y: Vec<Option<f64>>,
    pub low: Vec<Option<f64>>,
    pub high: Vec<Option<f64>>,
    /// The largest number of values combined into one.
    pub most: usize,
}

/// Returns at most `points` values, in equal parts of the axis. Values that are not finite count as missing.
pub fn pooled(chart: &Chart, series: &Series, x: &Scale, points: usize) -> Values {
    let xs = chart.xs_of(series);
    let count = xs.len().min(series.y.len().max(series.low.len()));
    let is_few = count <= points;
    let slot = |k: usize| if is_few { k } else { (x.place(xs[k]) * points as f64 * 0.999_999) as usize };
    let number = |of: &[Option<f64>], k: usize| of.get(k).copied().flatten().filter(|y| y.is_finite());
    let mut out = Values::default();
    let mut from = 0;
    while from < count {
        // A gap ends a slot: a mean across it would hide the missing data.
        let is_gap = |k: usize| number(&series.y, k).is_none() && number(&series.low, k).is_none();
        let mut to = from + 1;
        while to < count && slot(to) == slot(from) && is_gap(to) == is_gap(from) {
            to += 1;
        }
        let all = from..to;
        let of = |values: &[Option<f64>], pool: Pool| {
            let there: Vec<f64> = all.clone().filter_map(|k| number(values, k)).collect();
            match pool {
                _ if there.is_empty() => None,
                Pool::Mean => Some(there.iter().sum::<f64>() / there.len() as f64),
                Pool::Highest => there.into_iter().reduce(f64::max),
            }
        };
        let middle = xs[from..to].iter().sum::<f64>() / (to - from) as f64;
        if middle.is_finite() {
            out.x.push(middle);
            out.y.push(of(&series.y, series.pool));
            out.low.push(of(&series.low, Pool::Mean));
            out.high.push(of(&series.high, series.pool));
            out.most = out.most.max(to - from);
        }
        from = to;
    }
    out
}

/// Returns the row with the highest sum for each slot, with all its series: the sum of each series' own maximum would
/// describe a second that never existed. Returns `None` if the rows do not need combining or the series do not share
/// one x.
fn highest_rows(chart: &Chart, panel: &Panel, x: &Scale, points: usize) -> Option<Vec<Values>> {
    let count = chart.xs.len();
    let is_common = |one: &Series| one.x.is_none() && one.y.len() == count && one.pool == Pool::Highest;
    if count <= points || !panel.series.iter().all(is_common) {
        return None;
    }
    let slot = |k: usize| (x.place(chart.xs[k]) * points as f64 * 0.999_999) as usize;
    let at = |one: &Series, k: usize| one.y[k].filter(|y| y.is_finite());
    let sum = |k: usize| panel.series.iter().filter_map(|one| at(one, k)).reduce(|all, y| all + y.max(0.0));
    let mut out = vec![Values::default(); panel.series.len()];
    let mut from = 0;
    while from < count {
        let mut to = from + 1;
        while to < count && slot(to) == slot(from) && sum(to).is_none() == sum(from).is_none() {
            to += 1;
        }
        let higher = |a: usize, b: usize| if sum(b) > sum(a) { b } else { a };
        let row = (from..to).reduce(higher).unwrap_or(from);
        let middle = chart.xs[from..to].iter().sum::<f64>() / (to - from) as f64;
        for (values, one) in out.iter_mut().zip(&panel.series).filter(|_| middle.is_finite()) {
            values.x.push(middle);
            values.y.push(at(one, row));
            values.most = values.most.max(to - from);
        }
        from = to;
    }
    Some(out)
}

/// Returns the layers of a stacked panel: `low` and `high` of each are the sums without and with it.
pub fn layers(chart: &Chart, panel: &Panel, points: usize) -> Vec<Values> {
    let x = x_scale(chart);
    let rows = highest_rows(chart, panel, &x, points);
    let mut sums: Vec<f64> = Vec::new();
    let layer = |(at, series): (usize, &Series)| {
        let row = rows.as_ref().and_then(|rows| rows.get(at)).cloned();
        let mut values = row.unwrap_or_else(|| pooled(chart, series, &x, points));
        sums.resize(sums.len().max(values.y.len()), 0.0);
        values.low = sums.iter().take(values.y.len()).map(|sum| Some(*sum)).collect();
        for (sum, y) in sums.iter_mut().zip(&values.y) {
            *sum += y.unwrap_or(0.0).max(0.0);
        }
        values.high = values.y.iter().zip(&sums).map(|(y, sum)| y.map(|_| *sum)).collect();
        values
    };
    panel.series.iter().enumerate().map(layer).collect()
}
