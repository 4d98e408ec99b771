//! Checks, those that failed first, as the summary brings them. A screen has those that failed; where all held, one
//! line says so.

use crate::document::{Block, Cell, Column, Mark, On, Role, Section, Table, Tone, more, sentence};
use crate::format::{count, counted, ratio};
use plimsoll_analysis::summary::{CheckRow, Summary};

/// Those that a screen shows.
const ROWS: usize = 12;

/// A part of the place of a check.
type Place = fn(&CheckRow) -> &str;

/// Where a check belongs: to a request of the plan, or to what a program says.
const PLACES: [(&str, Place); 3] = [
    ("request", |check| &check.request),
    ("scenario", |check| check.scenario.as_deref().unwrap_or_default()),
    ("group", |check| check.group.as_deref().unwrap_or_default()),
];

pub fn section(s: &Summary) -> Section {
    let failed = s.checks.iter().filter(|check| check.failures > 0).count();
    let all: Vec<(usize, &CheckRow)> = s.checks.iter().enumerate().collect();
    let on_screen = || Column::right("").on(On::TERMINAL);
    let of = |check: &CheckRow| {
        format!(
            "{} of {}",
            ratio(check.failures as f64 / check.evaluations.max(1) as f64),
            count(check.evaluations)
        )
    };
    let mut table = Table::of("checks", "Checks", &all)
        .column(Column::text("check").brief(""), |(_, check)| Cell::text(&check.name).signed(Tone::Fail));
    for (head, text) in PLACES {
        if s.checks.iter().any(|check| !text(check).is_empty()) {
            let column = Column::text(head).brief("").role(Role::Soft);
            table = table.column(column, |(_, check)| Cell::text(text(check)));
        }
    }
    let table = table
        .column(Column::number("evaluated").on(On::FULL), |(_, check)| Cell::count(check.evaluations))
        .column(Column::number("failed").on(On::FULL), |(_, check)| {
            Cell::count(check.failures).bold(check.failures > 0)
        })
        .column(on_screen(), |(_, check)| {
            Cell::text(format!("{} failed", count(check.failures))).toned(Tone::Fail)
        })
        .column(on_screen().role(Role::Soft), |(_, check)| Cell::text(of(check)))
        .column(Column::number("failed %").on(On::HTML), |(_, check)| {
            super::share(check.evaluations, check.failures)
        })
        .marked(|(_, check)| (check.failures > 0).then_some(Mark::Bad))
        .on(|(at, _)| if *at < failed.min(ROWS) { On::ALL } else { On::FULL });
    let held = s.checks.len() - failed;
    let made: u64 = s.checks.iter().map(|check| check.evaluations).sum();
    let aside = match (held, failed) {
        (0, _) => String::new(),
        (all, 0) => format!("all {} passed ({} evaluated)", count(all as u64), count(made)),
        (some, _) => format!("{} always passed", counted(some as u64, "other check")),
    };
    let more = more(failed, ROWS).map(|text| sentence(Role::Faint, text).only(On::TERMINAL));
    let blocks = [Block::Table(table.done())].into_iter().chain(more).collect();
    let section = Section::new("checks", "Checks", blocks).aside(aside).indented();
    // One screen has those that failed.
    let on = if failed > 0 { On::ALL } else { On::UNABRIDGED };
    Section { is_alone: !s.checks.is_empty(), ..section }.only(on)
}
