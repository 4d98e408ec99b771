//! Origins and scenarios where there are several, and groups.

use super::{max, percentile, printable_ns, share};
use crate::document::{Block, Cell, Column, On, Role, Section, Table, Value, sentence};
use crate::format::ratio;
use plimsoll_analysis::summary::{AddressRow, GroupRow, PartRow, Summary};

pub fn scenarios(s: &Summary) -> Section {
    several("scenarios", "Scenarios", "scenario", &s.scenarios)
}

pub fn by_origin(s: &Summary) -> Section {
    several("origins", "Origins", "origin", &s.by_origin)
}

/// One line per address over which connections rotated.
pub fn addresses(s: &Summary) -> Section {
    let has_weights = s.addresses.iter().any(|row| row.weight.is_some());
    let weight = |row: &AddressRow| row.weight.map_or(Cell::text(""), Cell::count);
    let mut table = Table::of("addresses", "Addresses", &s.addresses)
        .column(Column::text("address").brief(""), |row| Cell::text(&row.address));
    if has_weights {
        table = table.column(Column::number("weight"), weight);
    }
    let table = table
        .column(Column::number("requests"), |row| Cell::count(row.requests))
        .column(Column::number("share"), |row| Cell::text(ratio(row.requests_ratio)))
        .column(Column::number("errors"), |row| Cell::errors(row.errors))
        .done();
    Section::new("addresses", "Addresses", vec![Block::Table(table)]).indented()
}

/// Requests added up by what they have in common; a single row would only repeat the figures of the run.
fn several(name: &'static str, title: &'static str, one: &'static str, all: &[PartRow]) -> Section {
    let rows = all.iter().filter(|_| all.len() > 1);
    let table = Table::of(name, title, rows)
        .column(Column::text(one).brief(""), |row: &PartRow| Cell::text(&row.name))
        .column(Column::number("requests").on(On::TEXT), |row| Cell::count(row.requests))
        .column(Column::number("throughput"), |row| Value::Rate(row.rate_per_s).into())
        .column(Column::number("errors"), |row| Cell::errors(row.errors))
        .column(Column::number("error rate").on(On::HTML), |row| share(row.requests, row.errors))
        .column(Column::number("p50"), |row| percentile(&row.response_time, 0.5))
        .column(Column::number("p99"), |row| percentile(&row.response_time, 0.99))
        .column(Column::number("max"), |row| max(&row.response_time))
        .column(Column::number("requests").on(On::HTML), |row| Cell::count(row.requests))
        .worst_first(|row| row.errors, |row, q| printable_ns(&row.response_time, q));
    let section = Section::new(name, title, vec![Block::Table(table.done())]);
    section.aside("response time").indented()
}

/// One line per group: how long it took to go through it.
pub fn groups(s: &Summary) -> Section {
    let passage = |q: f64| move |row: &GroupRow| percentile(&row.passage, q);
    let table = Table::of("groups", "Groups", &s.groups)
        .column(Column::text("group").brief(""), |row| Cell::text(&row.name))
        .column(Column::number("runs"), |row| Cell::count(row.passages))
        .column(Column::number("requests").role(Role::Soft), |row| Cell::count(row.requests))
        .column(Column::number("errors"), |row| Cell::errors(row.errors))
        .column(Column::number("p50"), passage(0.5))
        .column(Column::number("p99"), passage(0.99))
        .column(Column::number("max"), |row| max(&row.passage))
        .worst_first(|row| row.errors, |row, q| printable_ns(&row.passage, q));
    let lead = "The time of a group covers all of its steps, think time included.";
    let blocks = vec![sentence(Role::Lead, lead).only(On::HTML), Block::Table(table.done())];
    let section = Section::new("groups", "Groups", blocks);
    section.aside("time through a whole group, think time included").indented()
}
