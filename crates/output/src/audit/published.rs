//! The rows as they were published, those figures marked that a finding is about.

use super::audited_row::AuditedRow;
use super::{found, grade_word, tone};
use crate::document::{Block, Cell, Column, Role, Table, Value, sentence};
use crate::format::counted;
use plimsoll_audit::Audit;
use plimsoll_audit::foreign::Measure;

/// Rows that the table shows: a file of samples has a million.
const ROWS_MAX: usize = 300;

/// What a table has of a row: those that most reports state, under names that people use.
const COLUMNS: [(Measure, &str); 12] = [
    (Measure::Users, "users"),
    (Measure::Requests, "requests"),
    (Measure::Duration, "duration"),
    (Measure::Rate, "rate"),
    (Measure::Errors, "errors"),
    (Measure::ErrorRatio, "error share"),
    (Measure::Mean, "mean"),
    (Measure::Percentile(5_000), "p50"),
    (Measure::Percentile(9_500), "p95"),
    (Measure::Percentile(9_900), "p99"),
    (Measure::Max, "max"),
    (Measure::StdDev, "deviation"),
];

pub fn rows(audit: &Audit, judged: &[AuditedRow]) -> Vec<Block> {
    if judged.is_empty() {
        return Vec::new();
    }
    let place = |one: &AuditedRow| {
        let line = one.row.lines.0;
        let name = if audit.files.len() == 1 { line.to_string() } else { format!("{}:{line}", one.file) };
        Cell::number(name, Some(f64::from(line)))
    };
    let found = |one: &AuditedRow| {
        let first = one.findings.first().map(|at| format!("#{}", found::anchor(*at)));
        Cell::status(tone(one.grade), grade_word(one.grade)).linked(first)
    };
    let mut table = Table::of("rows", "Published rows", judged.iter().take(ROWS_MAX))
        .column(Column::text("row"), |one| Cell::text(one.label()))
        .column(Column::number("line"), place)
        .column(Column::text("found"), found);
    let is_stated = |measure: &Measure| judged.iter().any(|row| row.row.figures.contains_key(measure));
    for (measure, name) in COLUMNS.iter().filter(|(measure, _)| is_stated(measure)) {
        table = table.column(Column::number(*name), |one| match one.row.figures.get(measure) {
            Some(figure) => {
                let grade = one.of(figure, audit);
                Cell::number(&figure.written, Some(figure.value)).marked(grade.map(|grade| tone(Some(grade))))
            }
            None => Value::Missing.into(),
        });
    }
    let lead = "As written. Marked numbers have findings; the word in a row links to them.";
    let mut blocks = vec![sentence(Role::Lead, lead), Block::Table(table.done())];
    if judged.len() > ROWS_MAX {
        let more = counted((judged.len() - ROWS_MAX) as u64, "row");
        blocks.push(sentence(Role::Soft, format!("and {more} more")));
    }
    blocks
}
