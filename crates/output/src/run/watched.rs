//! Numbers of monitors: all in one table in Markdown, one table for each monitor on a page.

use crate::document::{Block, Cell, Column, Mark, On, Section, Table, Value};
use crate::format::chosen_s;
use crate::watched::{FULL, environment, findings};
use plimsoll_analysis::summary::{MetricRow, MonitorRow, Summary};
use plimsoll_plan::phrase::watched as describe;

/// A number and whose it is.
type Row<'a> = (&'a MonitorRow, &'a MetricRow);

pub fn table<'a>(id: String, caption: String, monitors: impl Iterator<Item = &'a MonitorRow>) -> Block {
    let rows: Vec<Row> = monitors.flat_map(|one| one.rows.iter().map(move |row| (one, row))).collect();
    let name = |(_, row): &Row| {
        let part = if row.part.is_empty() { String::new() } else { format!("{}: ", row.part) };
        Cell::text(format!("{part}{}", row.metric.replace('_', " ")))
    };
    let figure = |of: fn(&MetricRow) -> Option<f64>| {
        move |(_, row): &Row| match of(row) {
            Some(x) => Cell::number(describe(x, row.unit), Some(x)),
            None => Value::Missing.into(),
        }
    };
    let rho = |(_, row): &Row| match &row.with_p99 {
        Some(with) => Cell::number(format!("{:.2}", with.rho), Some(with.rho)),
        None => Value::Missing.into(),
    };
    let table = Table::of(id, caption, &rows)
        .column(Column::text("monitor").on(On::MARKDOWN), |(monitor, _)| Cell::text(&monitor.name))
        .column(Column::text("number"), name)
        .column(Column::number("mean"), figure(|row| Some(row.mean)))
        .column(Column::number("peak"), figure(|row| Some(row.max)))
        .column(Column::number("at"), |(_, row)| {
            Cell::number(chosen_s((row.max_at_s * 10.0).round() / 10.0), Some(row.max_at_s))
        })
        .column(Column::number("last").on(On::HTML), figure(|row| Some(row.last)))
        .column(Column::number("limit"), figure(|row| row.limit))
        .column(Column::number("peak of limit"), |(_, row)| {
            row.usage_peak.map_or(Value::Missing, Value::Share).into()
        })
        .column(Column::number("with p99").on(On::HTML), rho)
        // At its limit for half of the measured seconds, as in the terminal.
        .marked(|(_, row)| row.at_limit_ratio.is_some_and(|share| share >= FULL).then_some(Mark::Bad));
    Block::Table(table.done())
}

/// All of it for READMEs and pull requests.
pub fn section(s: &Summary) -> Section {
    let mut items = Vec::new();
    for monitor in s.monitors.iter().filter(|monitor| monitor.rows.is_empty()) {
        items.push(format!("{}: nothing: {}", monitor.name, why(monitor)));
    }
    items.extend(findings(s));
    let of = |of: String| if of.is_empty() { "environment".to_owned() } else { of };
    items.extend(environment(s).into_iter().map(|(whose, text)| format!("{}: {text}", of(whose))));
    items.extend(s.raw_window.as_ref().map(|window| window.sentence.clone()));
    let list = crate::document::List { items, brief: usize::MAX, most: usize::MAX };
    let all = table("monitors".into(), "What monitors saw".into(), s.monitors.iter());
    Section::new("system", "System under test", vec![all, Block::List(list)]).on(On::MARKDOWN)
}

/// Why there is nothing of a monitor.
pub fn why(monitor: &MonitorRow) -> &str {
    monitor.first_lapse.as_ref().map_or("no sample", |lapse| lapse.why.as_str())
}
