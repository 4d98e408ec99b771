//! Checks, those that failed first, as the summary brings them. The terminal has those that failed, in its own words.

use crate::document::{Block, Cell, Column, Mark, On, Section, Table};
use plimsoll_analysis::summary::Summary;

pub fn section(s: &Summary) -> Section {
    let table = Table::of("checks", "Checks", &s.checks)
        .column(Column::text("check"), |check| Cell::text(&check.name))
        .column(Column::text("request"), |check| Cell::text(&check.request))
        .column(Column::number("made"), |check| Cell::count(check.made))
        .column(Column::number("failed"), |check| Cell::count(check.failed).bold(check.failed > 0))
        .column(Column::number("failed share").on(On::HTML), |check| super::share(check.made, check.failed))
        .marked(|check| (check.failed > 0).then_some(Mark::Bad));
    let blocks = vec![Block::Table(table.done())];
    Section::new("checks", "Checks", blocks).on(On::FULL)
}
