//! The contents of a picture as tables, for readers who cannot see it and for those who want the numbers.

use super::draw::{Values, pooled, x_scale};
use crate::{Chart, Heat, Panel, Pool, Series, Unit};
use plimsoll_plan::phrase::{
    NONE, bytes_f64, bytes_per_s, chosen_s, count, duration_f64_ns, quantile_name, quantity, rate_per_s,
    ratio, trimmed_value, watched,
};
use plimsoll_plan::watch;

/// Most rows of a table: more belong in a file.
const ROWS: usize = 48;
/// Most rows and columns of a heat map's table.
const HEAT: (usize, usize) = (24, 8);

/// Series that share their x, with their panels.
type Group<'a> = Vec<(&'a Panel, &'a Series)>;

/// Cells with text and values.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// How several values were combined into one; empty if none were.
    pub note: String,
}

/// A text, with its value in the base unit if it is a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub text: String,
    pub value: Option<f64>,
}

/// Returns one table for the series that share their x, and one for each heat map.
pub fn tables(chart: &Chart) -> Vec<Table> {
    let mut out: Vec<Table> = chart
        .panels
        .iter()
        .filter_map(|panel| panel.heat.as_ref())
        .map(|heat| of_heat(chart, heat))
        .collect();
    let all: Vec<(&Panel, &Series)> = chart
        .panels
        .iter()
        .flat_map(|panel| panel.series.iter().map(move |series| (panel, series)))
        .collect();
    let mut groups: Vec<(&[f64], Group)> = Vec::new();
    for (panel, series) in all {
        let xs = chart.xs_of(series);
        match groups.iter_mut().find(|(known, _)| *known == xs) {
            Some((_, group)) => group.push((panel, series)),
            None => groups.push((xs, vec![(panel, series)])),
        }
    }
    out.extend(groups.iter().filter(|(xs, _)| !xs.is_empty()).map(|(_, group)| of_group(chart, group)));
    out
}

fn of_group(chart: &Chart, group: &[(&Panel, &Series)]) -> Table {
    let x = x_scale(chart);
    let named: Vec<&(&Panel, &Series)> =
        group.iter().filter(|(_, s)| !s.name.is_empty() || group.len() == 1).collect();
    let all: Vec<Values> = named.iter().map(|(_, series)| pooled(chart, series, &x, ROWS)).collect();
    let mut heads = vec![match chart.x.label.as_str() {
        "" => "figure".to_owned(),
        // The JSON document contains the start of each row.
        label if chart.group == "time" => format!("{label}, middle of the row"),
        label => label.to_owned(),
    }];
    for (panel, series) in &named {
        heads.push(match panel.y.label == series.name || series.name.is_empty() {
            true => panel.y.label.clone(),
            false => format!("{}: {}", panel.y.label, series.name),
        });
    }
    let xs = all.first().map(|values| values.x.clone()).unwrap_or_default();
    let row = |(at, x): (usize, &f64)| {
        let mut cells = vec![x_cell(chart, *x)];
        for ((panel, _), values) in named.iter().zip(&all) {
            let value = |of: &[Option<f64>]| of.get(at).copied().flatten();
            let (y, low, high) = (value(&values.y), value(&values.low), value(&values.high));
            let unit = panel.y.unit;
            let mut cell = y.map_or(Cell { text: NONE.into(), value: None }, |y| cell(unit, y));
            if let (Some(low), Some(high)) = (low, high) {
                cell.text = format!("{} ({} to {})", cell.text, text(unit, low), text(unit, high));
            }
            cells.push(cell);
        }
        cells
    };
    let rows = xs.iter().enumerate().map(row).collect();
    let most = all.iter().map(|values| values.most).max().unwrap_or(1);
    let has_highest = named.iter().any(|(_, series)| series.pool == Pool::Highest);
    let note = match (most > 1, has_highest) {
        (false, _) => String::new(),
        (true, true) => {
            "each row covers a period: the mean of rates and medians, the maximum of failures and times"
                .into()
        }
        (true, false) => "each row is the mean over a period".to_owned(),
    };
    Table { heads, rows, note }
}

/// Returns the counts of a heat map, combined into fewer bands and periods.
fn of_heat(chart: &Chart, heat: &Heat) -> Table {
    let rows = heat.edges.len().saturating_sub(1);
    let is_there = |row: &usize| heat.counts.iter().any(|column| column.get(*row).is_some_and(|n| *n > 0));
    let first = (0..rows).find(is_there).unwrap_or(0);
    let last = (0..rows).rev().find(is_there).map_or(rows, |row| row + 1);
    let (by_x, by_y) = (chart.xs.len().div_ceil(HEAT.0).max(1), (last - first).div_ceil(HEAT.1).max(1));
    let edge = |row: usize| heat.edges.get(row.min(last)).copied().unwrap_or(0.0);
    let bands: Vec<usize> = (first..last).step_by(by_y).collect();
    let mut heads = vec![format!("{} from", chart.x.label)];
    heads.extend(
        bands
            .iter()
            .map(|row| format!("{} to {}", duration_f64_ns(edge(*row)), duration_f64_ns(edge(row + by_y)))),
    );
    let columns = chart.xs.chunks(by_x).zip(heat.counts.chunks(by_x));
    let row = |(xs, counts): (&[f64], &[Vec<u64>])| {
        let mut cells = vec![x_cell(chart, xs.first().copied().unwrap_or(0.0))];
        for band in &bands {
            let rows = *band..(band + by_y).min(last);
            let n: u64 =
                counts.iter().flat_map(|column| rows.clone().filter_map(|row| column.get(row))).sum();
            cells.push(Cell { text: count(n), value: Some(n as f64) });
        }
        cells
    };
    Table { heads, rows: columns.map(row).collect(), note: format!("counts of {}", heat.what) }
}

fn x_cell(chart: &Chart, x: f64) -> Cell {
    let named = chart.x.ticks.iter().position(|tick| *tick == x).and_then(|at| chart.x.names.get(at));
    named.map_or_else(|| cell(chart.x.unit, x), |name| Cell { text: name.clone(), value: None })
}

fn cell(unit: Unit, value: f64) -> Cell {
    Cell { text: text(unit, value), value: Some(value).filter(|value| value.is_finite()) }
}

/// Formats a value of a chart.
pub fn text(unit: Unit, value: f64) -> String {
    match unit {
        _ if !value.is_finite() => NONE.into(),
        Unit::Seconds => chosen_s(value),
        Unit::Nanoseconds => duration_f64_ns(value),
        Unit::PerSecond => rate_per_s(value),
        Unit::Bytes => bytes_f64(value),
        Unit::BytesPerSecond => bytes_per_s(value),
        Unit::Ratio => ratio(value),
        Unit::Cores => watched(value, watch::Unit::Cores),
        Unit::Count if value.fract() != 0.0 => quantity(value),
        Unit::Count | Unit::Plain => trimmed_value(value),
        Unit::Quantile => quantile_name(value),
    }
}
