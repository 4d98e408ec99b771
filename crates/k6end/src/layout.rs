//! Lines of metrics: names with dots up to the widest, and values in columns.

use super::Options;
use super::groups::CheckCount;
use super::metric::{Contains, Gauge, Metric, Values, ratio};
use super::numbers::{bytes, percent, plain, time};
use plimsoll_k6::threshold::{Aggregator, Threshold};
use std::collections::BTreeMap;

const DOTS: usize = 3;

/// How the samples of a rate are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `3 out of 500`
    OutOf,
    /// `✓ 3 ✗ 497`
    Marks,
}

/// The values of a metric.
enum Cells {
    Trend(Vec<String>),
    Other { first: String, more: Vec<String> },
}

/// A metric, or a sub-metric below it.
pub struct Row<'a> {
    pub metric: &'a Metric,
    /// With two more spaces for a sub-metric.
    pub name: String,
    cells: Cells,
}

/// The widths of the columns of all lines of a text.
#[derive(Debug, Default)]
pub struct Widths {
    name: usize,
    trend: Vec<usize>,
    first: usize,
    more: Vec<usize>,
}

/// Returns the rows of metrics, each followed by its sub-metrics.
pub fn rows<'a>(metrics: &'a BTreeMap<String, Metric>, options: &Options<'_>, form: Form) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (name, metric) in metrics.iter().filter(|(name, _)| !name.contains('{')) {
        rows.push(Row { metric, name: name.clone(), cells: cells(metric, options, form) });
        for (key, metric) in metrics {
            let tags = key.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('{'));
            if let Some(tags) = tags.and_then(|rest| rest.strip_suffix('}')) {
                let name = format!("  {{ {tags} }}");
                rows.push(Row { metric, name, cells: cells(metric, options, form) });
            }
        }
    }
    rows
}

impl Widths {
    /// Widens the columns for these rows, which are indented by `indent` more than others.
    pub fn widen(&mut self, rows: &[Row<'_>], indent: usize) {
        let widest = |all: &mut Vec<usize>, texts: &[String]| {
            all.resize(all.len().max(texts.len()), 0);
            for (width, text) in all.iter_mut().zip(texts) {
                *width = (*width).max(chars(text));
            }
        };
        for row in rows {
            self.name = self.name.max(chars(&row.name) + indent + DOTS);
            match &row.cells {
                Cells::Trend(columns) => widest(&mut self.trend, columns),
                Cells::Other { first, more } => {
                    self.first = self.first.max(chars(first));
                    widest(&mut self.more, more);
                }
            }
        }
    }

    /// Returns the line of a row without its indent. Its name is indented by `indent` more than others.
    pub fn line(&self, row: &Row<'_>, indent: usize) -> String {
        let padded = |texts: &[String], widths: &[usize]| {
            let cells = texts.iter().zip(widths).map(|(text, width)| pad(text, *width));
            cells.collect::<Vec<_>>().join(" ")
        };
        let values = match &row.cells {
            Cells::Trend(columns) => padded(columns, &self.trend),
            Cells::Other { first, more } => {
                let more = match more.as_slice() {
                    [one] => one.clone(),
                    several => padded(several, &self.more),
                };
                format!("{} {more}", pad(first, self.first))
            }
        };
        let name = &row.name;
        let dots = ".".repeat(self.name.saturating_sub(indent + chars(name)));
        format!("{name}{dots}: {values}")
    }
}

fn cells(metric: &Metric, options: &Options<'_>, form: Form) -> Cells {
    let number = |value: f64| match metric.contains {
        Contains::Time => time(value, options.time_unit),
        Contains::Data => bytes(value),
        Contains::Default => plain(value, 6),
    };
    let other = |first: String, more: Vec<String>| Cells::Other { first, more };
    match &metric.values {
        Values::Trend(trend) => {
            let column = |stat: &String| {
                let value = trend.stat(stat)?;
                let text = if stat == "count" { plain(value, 0) } else { number(value) };
                Some(format!("{stat}={text}"))
            };
            Cells::Trend(options.trend_stats.iter().filter_map(column).collect())
        }
        Values::Counter { count, rate_per_s } => {
            other(number(*count), vec![format!("{}/s", number(*rate_per_s))])
        }
        Values::Gauge(gauge) => {
            let Gauge { value, min, max } = gauge.unwrap_or(Gauge { value: 0.0, min: 0.0, max: 0.0 });
            other(number(value), vec![format!("min={}", number(min)), format!("max={}", number(max))])
        }
        Values::Rate { passes, fails } => {
            let more = match form {
                Form::OutOf => vec![format!("{passes} out of {}", passes.saturating_add(*fails))],
                Form::Marks => vec![format!("✓ {passes}"), format!("✗ {fails}")],
            };
            other(percent(ratio(*passes, *fails)), more)
        }
    }
}

/// Returns what a threshold compared: `p(95)=148.21ms`; without samples, the value is 0.
pub fn compared(metric: &Metric, threshold: &Threshold, options: &Options<'_>) -> String {
    let value = metric.values.get(threshold.aggregator).unwrap_or(0.0);
    let text = match (&metric.values, metric.contains, threshold.aggregator) {
        (Values::Rate { .. }, _, _) => percent(value),
        (_, Contains::Time, _) => time(value, options.time_unit),
        (Values::Counter { .. }, Contains::Data, Aggregator::Rate) => format!("{}/s", bytes(value)),
        (_, Contains::Data, _) => bytes(value),
        (Values::Counter { .. }, _, Aggregator::Rate) => format!("{}/s", plain(value, 6)),
        (_, Contains::Default, _) => plain(value, 6),
    };
    format!("{}={text}", threshold.aggregator)
}

/// Returns the lines of a check: one if it always passed, otherwise two.
pub fn check(check: &CheckCount, indent: usize, options: &Options<'_>) -> String {
    let (space, name) = (" ".repeat(indent), &check.name);
    let sign = mark(check.fails == 0, options);
    if check.fails == 0 {
        return format!("{space}{sign} {name}\n");
    }
    let percent = (ratio(check.passes, check.fails) * 100.0).floor();
    let (passes, fails) = (check.passes, check.fails);
    format!("{space}{sign} {name}\n{space}  ↳  {percent}% — ✓ {passes} / ✗ {fails}\n")
}

/// Returns a mark, green or red where there is color.
pub fn mark(is_good: bool, options: &Options<'_>) -> String {
    let (sign, color) = if is_good { ("✓", "32") } else { ("✗", "31") };
    if options.has_color { format!("\x1b[{color}m{sign}\x1b[0m") } else { sign.to_owned() }
}

pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(chars(text))))
}

fn chars(text: &str) -> usize {
    text.chars().count()
}
