//! A sweep on a page: its curves as pictures, its cells as one table, what they say together, and what stood at its
//! limit.

use super::RunFile;
use crate::document::{Block, Cell, Column, Hint, Role, Table, Tile, Value, sentence};
use crate::format::{counted, rate_per_s};
use crate::next::NextRows;
use crate::study;
use plimsoll_experiment::conclusion::{Conclusion, Next};
use plimsoll_experiment::study::{AxisKind, CellRow, Study, level_text, settings_text};

/// The curves, throughput first: that is where the capacity is seen. Below them what each follows.
pub fn pictures(c: &Conclusion) -> Option<Vec<Block>> {
    let study = c.study.as_ref()?;
    if study.curves.is_empty() && study.scaling.is_empty() && crate::figure::of_study(study).is_empty() {
        return None;
    }
    let mut out = vec![Block::Charts(["capacity-", "latency-", "over-"].map(String::from).into())];
    out.extend(study.curves.iter().filter(|_| !is_told_above(study)).flat_map(study::describe));
    out.extend((1..).zip(&study.scaling).map(|(number, one)| Block::Table(study::scaling(one, number))));
    Some(out)
}

/// More curves than one would bury the verdict.
fn is_told_above(study: &Study) -> bool {
    study.curves.len() == 1
}

/// Why it is so, and what to do next.
pub fn next(c: &Conclusion) -> Option<Vec<Hint>> {
    let one = Next::of(c)?;
    let link = match one {
        Next::Found { .. } => Some(("findings".to_owned(), "All findings")),
        Next::RunsMissing { .. } | Next::SamplesShort { .. } => None,
    };
    let reason = Hint { is_next: false, text: reason_text(&one), command: None, link };
    Some(vec![reason, Hint { is_next: true, text: step_text(&one), command: None, link: None }])
}

fn reason_text(one: &Next<'_>) -> String {
    match one {
        Next::RunsMissing { runs } => {
            format!("{} of the experiment are still to be made.", counted(*runs as u64, "run"))
        }
        Next::SamplesShort { cells } => {
            let cells = counted(*cells as u64, "cell");
            format!("In {cells} a threshold names a percentile that needs more samples than there are.")
        }
        Next::Found { row, .. } => format!("{} ({}).", row.sentence, row.evidence),
    }
}

fn step_text(one: &Next<'_>) -> String {
    match one {
        Next::RunsMissing { .. } => {
            "The same command with the same `--out` goes on where it was stopped.".into()
        }
        Next::SamplesShort { .. } => "Run each cell longer, or hold it against a lower percentile.".into(),
        Next::Found { row, .. } => format!("{}.", row.advice),
    }
}

/// For programs: kind, numbers and sentences; empty where there is nothing to say.
pub fn rows(c: &Conclusion) -> NextRows<Next<'_>, Next<'_>> {
    let all: Vec<Next<'_>> = Next::of(c).into_iter().collect();
    NextRows::described(all.clone(), all, reason_text, step_text)
}

/// The answer that the picture shows, for the head of the page.
pub fn answer(c: &Conclusion) -> Vec<Block> {
    let told = c.study.as_ref().filter(|study| is_told_above(study));
    told.map(|study| study.curves.iter().flat_map(study::describe).collect()).unwrap_or_default()
}

/// Highest measured rate, knee and where the rate no longer rises, as far as the study knows them.
pub fn tiles(c: &Conclusion) -> Vec<Tile> {
    let Some([curve]) = c.study.as_ref().map(|study| study.curves.as_slice()) else { return Vec::new() };
    if curve.kind == AxisKind::Other {
        return Vec::new();
    }
    let mut out = Vec::new();
    let highest = curve.points.iter().max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    out.extend(highest.map(|point| {
        let at = format!("at {} {}", level_text(point.parameter_value), curve.parameter);
        Tile::new("highest rate", Value::Rate(point.rate_per_s)).with(at)
    }));
    let is_flat_there = curve.saturation.as_ref().is_some_and(|flat| study::is_knee(curve, flat));
    out.extend(
        curve.knee.level.filter(|_| !is_flat_there).map(|knee| {
            Tile::new("knee", Value::Number(level_text(knee), Some(knee))).with(&curve.parameter)
        }),
    );
    out.extend(curve.saturation.as_ref().map(|flat| {
        let rate = format!("{}, at {}", curve.parameter, rate_per_s(flat.rate_per_s));
        Tile::new("flat from", Value::Number(level_text(flat.from_level), Some(flat.from_level))).with(rate)
    }));
    out
}

/// One row for each cell, repeats pooled, with its intervals and its run files.
pub fn table(c: &Conclusion, files: &[RunFile]) -> Vec<Block> {
    let Some(study) = c.study.as_ref().filter(|study| !study.table.is_empty()) else { return Vec::new() };
    let caption =
        format!("{}, {}", counted(study.table.len() as u64, "cell"), counted(study.runs as u64, "run"));
    let mut table = Table::of("cells", caption, &study.table);
    if study.parameters.is_empty() {
        table = table.column(Column::text("cell"), |_| Cell::text(&study.name));
    }
    for axis in &study.parameters {
        let value = |row: &CellRow| row.setting(axis).unwrap_or("-").to_owned();
        // Numbers are sorted as such only where all values are.
        let is_text = table.any(|row| row.setting(axis).is_some_and(|value| value.parse::<f64>().is_err()));
        table = match is_text {
            true => table.column(Column::text(axis.as_str()), |row| Cell::text(value(row))),
            false => table.column(Column::number(axis.as_str()), |row| {
                Cell::number(value(row), value(row).parse().ok())
            }),
        };
    }
    let own =
        |row: &CellRow| -> Vec<&RunFile> { files.iter().filter(|f| f.settings == row.settings).collect() };
    // A short link for each repeat of a cell: its number, and the name of its file for those who point at it.
    let numbered = |row: &CellRow| {
        let all =
            (1..).zip(own(row)).map(|(number, file)| (number.to_string(), file.href.clone(), &file.name));
        Value::Links(all.map(|(text, href, about)| (text, href, about.clone())).collect()).into()
    };
    let table = study::figures(table)
        .column(Column::number("requests"), |row| Cell::count(row.requests))
        .column(Column::text("runs"), numbered);
    let named = |row: &CellRow| {
        let name = settings_text(&row.settings);
        if name.is_empty() { study.name.clone() } else { name }
    };
    let lead = format!(
        "{}. X R is rate times mean response time: with users, their number.",
        study::intervals(study)
    );
    vec![sentence(Role::Lead, lead), Block::Table(table.done()), study::doubts(study.table.iter(), named)]
}

/// Peaks of what was watched, by cell, and what stood at its limit.
pub fn resources(c: &Conclusion) -> Vec<Block> {
    let Some(study) = &c.study else { return Vec::new() };
    let name = |row: &CellRow| {
        let title = settings_text(&row.settings);
        Cell::text(if title.is_empty() { study.name.clone() } else { title })
    };
    let table = Table::of("resources", "What was watched", &study.table).column(Column::text("cell"), name);
    let mut out = study::measured_cells(table, study.table.iter());
    if !out.is_empty() {
        let lead = "Peaks, with their share of the limit in brackets. A peak is one second of one run.";
        out.insert(0, sentence(Role::Lead, lead));
    }
    out
}
