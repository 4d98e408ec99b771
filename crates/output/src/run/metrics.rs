//! User-defined metrics: one row each, and one for each of its series with labels.

use crate::document::{Block, Cell, Column, On, Role, Section, Table, Value, sentence};
use crate::format::{count, quantity, ratio};
use plimsoll_analysis::summary::{CustomFigures, CustomMetric, CustomSeries, Summary};
use plimsoll_stats::enough_samples;

/// A metric as a whole (`None`), or one of its series.
type Row<'a> = (&'a CustomMetric, Option<&'a CustomSeries>);

/// Maximum number of series in a text or on a page; `--json` has the others.
const ROWS: usize = 200;

pub fn section(s: &Summary) -> Section {
    let rows: Vec<Row> = s.metrics.iter().flat_map(rows).collect();
    let known: usize = s.metrics.iter().map(|metric| 1 + metric.series.len() + metric.series_left_out).sum();
    let table = Table::of("metrics", "Metrics", rows.iter().take(ROWS))
        .column(Column::text("metric").brief(""), |row: &Row| Cell::text(name(row)))
        .column(Column::text("kind").role(Role::Soft), |row| Cell::text(kind(figures(row))))
        .column(Column::number("values"), |row| values(figures(row)))
        .column(Column::number("total or last"), |row| total(figures(row)))
        .column(Column::number("per s or mean"), |row| mean(figures(row)))
        .column(Column::number("min"), |row| number(min(figures(row))))
        .column(Column::number("p50"), |row| number(percentiles(figures(row))[0]))
        .column(Column::number("p99"), |row| number(percentiles(figures(row))[1]))
        .column(Column::number("max"), |row| number(max(figures(row))));
    let mut blocks = vec![Block::Table(table.done())];
    if known > ROWS {
        let more = format!("{} more series are in the JSON document.", count((known - ROWS) as u64));
        blocks.push(sentence(Role::Faint, more).only(On::ALL));
    }
    Section::new("metrics", "Metrics", blocks).indented()
}

fn rows(metric: &CustomMetric) -> impl Iterator<Item = Row<'_>> {
    std::iter::once((metric, None)).chain(metric.series.iter().map(move |series| (metric, Some(series))))
}

fn name((metric, series): &Row) -> String {
    let Some(series) = series else { return metric.name.clone() };
    let labels: Vec<String> =
        series.labels.iter().map(|(label, value)| format!("{label}: {value}")).collect();
    format!("{}{{{}}}", metric.name, labels.join(", "))
}

fn figures<'a>((metric, series): &Row<'a>) -> &'a CustomFigures {
    series.map_or(&metric.figures, |series| &series.figures)
}

fn kind(figures: &CustomFigures) -> &'static str {
    match figures {
        CustomFigures::Counter { .. } => "counter",
        CustomFigures::Gauge { .. } => "gauge",
        CustomFigures::Rate { .. } => "rate",
        CustomFigures::Trend { .. } => "trend",
    }
}

/// A number in the unit that the metric's definition names.
fn number(x: Option<f64>) -> Cell {
    x.map_or_else(|| Value::Missing.into(), |x| Cell::number(quantity(x), Some(x)))
}

fn share(x: Option<f64>) -> Cell {
    x.map_or_else(|| Value::Missing.into(), |x| Cell::number(ratio(x), Some(x)))
}

fn values(figures: &CustomFigures) -> Cell {
    match figures {
        CustomFigures::Counter { .. } => Value::Missing.into(),
        CustomFigures::Gauge { values, .. }
        | CustomFigures::Rate { values, .. }
        | CustomFigures::Trend { values, .. } => Cell::count(*values),
    }
}

fn total(figures: &CustomFigures) -> Cell {
    match figures {
        CustomFigures::Counter { total, .. } => number(Some(*total)),
        CustomFigures::Gauge { last, .. } => number(*last),
        CustomFigures::Rate { true_values, .. } => Cell::count(*true_values),
        CustomFigures::Trend { .. } => Value::Missing.into(),
    }
}

fn mean(figures: &CustomFigures) -> Cell {
    match figures {
        CustomFigures::Counter { rate_per_s, .. } => number(Some(*rate_per_s)),
        CustomFigures::Gauge { .. } => Value::Missing.into(),
        CustomFigures::Rate { ratio, .. } => share(*ratio),
        CustomFigures::Trend { mean, .. } => number(*mean),
    }
}

fn min(figures: &CustomFigures) -> Option<f64> {
    match figures {
        CustomFigures::Gauge { min, .. } | CustomFigures::Trend { min, .. } => *min,
        CustomFigures::Counter { .. } | CustomFigures::Rate { .. } => None,
    }
}

fn max(figures: &CustomFigures) -> Option<f64> {
    match figures {
        CustomFigures::Gauge { max, .. } | CustomFigures::Trend { max, .. } => *max,
        CustomFigures::Counter { .. } | CustomFigures::Rate { .. } => None,
    }
}

/// Median and p99 of a trend, if there are enough values.
fn percentiles(figures: &CustomFigures) -> [Option<f64>; 2] {
    match figures {
        CustomFigures::Trend { values, p50, p99, .. } => {
            let printable = |x: &Option<f64>, q| x.filter(|_| enough_samples(*values, q));
            [printable(p50, 0.5), printable(p99, 0.99)]
        }
        CustomFigures::Counter { .. } | CustomFigures::Gauge { .. } | CustomFigures::Rate { .. } => [None; 2],
    }
}
