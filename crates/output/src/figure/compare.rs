//! Charts of a comparison: the changes from A to B with their intervals, and both distributions.

use super::run::{spectrum_chart, spectrum_line};
use crate::compare::{maybe_change, times};
use plimsoll_analysis::picture::Spectrum;
use plimsoll_chart::{Axis, Band, Chart, Form, Panel, Series, Unit};
use plimsoll_experiment::compare::{Compared, Comparison, Scale, Verdict, change};

pub fn figures(c: &Comparison) -> Vec<Chart> {
    let mut out: Vec<Chart> = delta(c).into_iter().collect();
    if let Some([a, b]) = c.spectra.as_deref() {
        out.push(overlaid(c, a, b));
    }
    out
}

/// Classes of change with their names and colors.
type Class = (&'static str, &'static str, u8, fn(Verdict) -> bool);

const CLASSES: [Class; 4] = [
    ("better", "B is better", 2, Verdict::is_better),
    ("worse", "B is worse", 1, Verdict::is_worse),
    ("same", "equivalent", 7, |verdict| verdict == Verdict::Equivalent),
    ("open", "inconclusive", 4, |verdict| verdict == Verdict::Inconclusive),
];

/// Returns one row for each metric with a relative change. Errors, which are compared by their difference, have a
/// separate panel.
fn delta(c: &Comparison) -> Option<Chart> {
    let rows: Vec<&Compared> =
        c.figures.iter().filter(|row| row.difference.is_some_and(f64::is_finite)).collect();
    if rows.is_empty() {
        return None;
    }
    let n = rows.len();
    let mut axis = Axis::new("", Unit::Plain).between(0.5, n as f64 + 0.5);
    axis.ticks = (1..=n).map(|k| k as f64).collect();
    let named = |row: &&Compared| {
        // The unit stays next to its number if the name is wrapped.
        let change = maybe_change(row, row.difference).replace(' ', "\u{a0}");
        format!("{} {change}", row.figure.replace("_time", ""))
    };
    axis.names = rows.iter().map(named).collect();
    let [a, b] = c.short_names();
    let mut chart = Chart::new("delta", format!("Changes from {a} to {b}"), axis);
    chart.subtitle = c.sentence.clone();
    chart.help = "Each point is the change of one metric with its interval. A change is equivalent if its interval \
                  lies within the band around 0, and inconclusive if it extends beyond the band on both sides."
        .into();
    chart.xs = (1..=n).map(|k| k as f64).collect();
    // Runs that cannot be compared are neither better nor worse.
    let is_blocked = c.blocking().is_some();
    let describe = |verdict| if is_blocked { Verdict::Inconclusive } else { verdict };
    for (scale, id, label, worth) in [
        (Scale::Ratio, "change", "change from A to B", c.min_difference_ratio),
        (
            Scale::Points,
            "points",
            "change of the error rate, percentage points",
            c.min_error_difference_ratio,
        ),
    ] {
        if !rows.iter().any(|row| row.scale == scale) {
            continue;
        }
        // The axis shows ratios as percentages, but percentage points are not percentages of anything.
        let (unit, by) = match scale {
            Scale::Ratio => (Unit::Ratio, 1.0),
            Scale::Points => (Unit::Plain, 100.0),
        };
        let series = CLASSES.iter().filter_map(|(name, said, color, is_of)| {
            let of = |value: fn(&Compared) -> Option<f64>| -> Vec<Option<f64>> {
                let is_own = |row: &&&Compared| row.scale == scale && is_of(describe(row.verdict));
                let own = rows.iter().map(|row| Some(row).filter(is_own).and_then(|row| value(row)));
                own.map(|x| x.map(|x| x * by)).collect()
            };
            let y = of(|row| row.difference);
            let has_any = y.iter().any(Option::is_some);
            let series = Series::new(&format!("{id}-{name}"), *said, *color, Form::Dots, y);
            has_any.then(|| series.within(of(|row| row.low), of(|row| row.high)))
        });
        let mut y = Axis::new(label, unit);
        if let Some(reach) = reach(rows.iter().copied().filter(|row| row.scale == scale)) {
            y = y.between(-reach * by, reach * by);
            for (row, name) in rows.iter().zip(&mut chart.x.names).filter(|(row, _)| row.scale == scale) {
                name.push_str(&cut_off(row, reach));
            }
        }
        let mut panel = Panel::new(id, y, series.collect());
        if worth > 0.0 && worth.is_finite() {
            let least = change(worth, scale);
            let word = format!("smaller than {}: equivalent", least.trim_start_matches('+'));
            panel.bands.push(Band { low: -worth * by, high: worth * by, word });
        }
        chart.panels.push(panel);
    }
    Some(chart)
}

/// An interval this many times longer than the others would compress all of them.
const FAR: f64 = 4.0;

/// Returns the end of the axis if the widest intervals are truncated; `None` if all are drawn completely.
fn reach<'a>(rows: impl Iterator<Item = &'a Compared>) -> Option<f64> {
    let widest = |row: &Compared| {
        let ends = [row.difference, row.low, row.high].into_iter().flatten().filter(|end| end.is_finite());
        ends.fold(0.0, |widest: f64, end| widest.max(end.abs()))
    };
    let mut all: Vec<f64> = rows.map(widest).filter(|end| *end > 0.0).collect();
    all.sort_by(f64::total_cmp);
    // Starting at the median, so that most rows are drawn.
    let middle = all.len() / 2;
    let gap = all.windows(2).enumerate().find(|(at, pair)| *at + 1 >= middle && pair[1] > FAR * pair[0]);
    gap.map(|(_, pair)| 1.5 * pair[0])
}

/// Draws an arrow with the value to each end that lies outside.
fn cut_off(row: &Compared, reach: f64) -> String {
    let describe = |end: f64| change(end, row.scale).replace(' ', "\u{a0}");
    let high = row.high.filter(|high| *high > reach).map(|high| format!(" \u{2191}\u{a0}{}", describe(high)));
    let low = row.low.filter(|low| *low < -reach).map(|low| format!(" \u{2193}\u{a0}{}", describe(low)));
    [high, low].into_iter().flatten().collect()
}

fn overlaid(c: &Comparison, a: &Spectrum, b: &Spectrum) -> Chart {
    let [name_a, name_b] = c.short_names();
    let mut series = Vec::new();
    for (side, spectrum, color) in [(name_a, a, 0), (name_b, b, 1)] {
        let id = if color == 0 { "a" } else { "b" };
        let (n, m) = (spectrum.response_count, spectrum.service_count);
        let name = format!("{side}: response time");
        series.push(spectrum_line(
            &format!("{id}-response"),
            &name,
            color,
            Form::Line,
            &spectrum.response,
            n,
        ));
        let name = format!("{side}: service time");
        series.push(spectrum_line(
            &format!("{id}-service"),
            &name,
            color,
            Form::Dashed,
            &spectrum.service,
            m,
        ));
    }
    series.retain(|one| !one.y.is_empty());
    let mut chart = spectrum_chart("spectra", "Latency distributions", series);
    chart.subtitle = times(c, a.response_count, b.response_count);
    chart
}
