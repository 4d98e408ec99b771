//! A sweep on a page: its curves as charts, its cells as one table, the findings, and the saturated resources.

use super::RunFile;
use crate::document::{Block, Cell, Column, Hint, Role, Table, Tile, Value, sentence};
use crate::format::{counted, rate_per_s};
use crate::next::NextRows;
use crate::study;
use plimsoll_experiment::conclusion::{Conclusion, Next};
use plimsoll_experiment::study::{AxisKind, CellRow, Study, level_text, settings_text};

/// The curves, throughput first because it shows the capacity, and the model that each one follows.
pub fn pictures(c: &Conclusion) -> Option<Vec<Block>> {
    let study = c.study.as_ref()?;
    if study.curves.is_empty() && study.scaling.is_empty() && crate::figure::of_study(study).is_empty() {
        return None;
    }
    let mut out = vec![Block::Charts(["capacity-", "latency-", "over-"].map(String::from).into())];
    out.extend(study.curves.iter().filter(|_| !is_in_head(study)).flat_map(study::describe));
    out.extend((1..).zip(&study.scaling).map(|(number, one)| Block::Table(study::scaling(one, number))));
    Some(out)
}

/// More than one curve would bury the verdict.
fn is_in_head(study: &Study) -> bool {
    study.curves.len() == 1
}

/// The reason for the result and the next step.
pub fn next(c: &Conclusion) -> Option<[Block; 2]> {
    let one = Next::of(c)?;
    let link = match one {
        Next::Found { .. } => Some(("findings".to_owned(), "All findings")),
        Next::RunsMissing { .. } | Next::SamplesShort { .. } => None,
    };
    let reason = Hint { text: reason_text(&one), command: None, link };
    let step = Hint { text: step_text(&one), command: None, link: None };
    Some([Block::Reasons(vec![reason]), Block::Steps(vec![step])])
}

fn reason_text(one: &Next<'_>) -> String {
    match one {
        Next::RunsMissing { runs } => {
            let verb = if *runs == 1 { "is" } else { "are" };
            format!("{} of the experiment {verb} missing.", counted(*runs as u64, "run"))
        }
        Next::SamplesShort { cells } => {
            let (cells, verb) = (counted(*cells as u64, "cell"), if *cells == 1 { "has" } else { "have" });
            format!("{cells} {verb} too few samples for the percentile of a threshold.")
        }
        Next::Found { row, .. } => format!("{} ({}).", row.sentence, row.evidence),
    }
}

fn step_text(one: &Next<'_>) -> String {
    match one {
        Next::RunsMissing { .. } => {
            "To continue where the experiment stopped, repeat the command with the same `--out`.".into()
        }
        Next::SamplesShort { .. } => {
            "Run each cell longer, or set the threshold on a lower percentile.".into()
        }
        Next::Found { row, .. } => format!("{}.", row.advice),
    }
}

/// The same for programs: kind, numbers, and sentences.
pub fn rows(c: &Conclusion) -> NextRows<Next<'_>, Next<'_>> {
    let all: Vec<Next<'_>> = Next::of(c).into_iter().collect();
    NextRows::described(all.clone(), all, reason_text, step_text)
}

/// The sentences of a single curve, for the head of the page.
pub fn answer(c: &Conclusion) -> Vec<Block> {
    let shown = c.study.as_ref().filter(|study| is_in_head(study));
    shown.map(|study| study.curves.iter().flat_map(study::describe).collect()).unwrap_or_default()
}

/// Highest measured rate, knee, and the level from which the rate no longer rises, where known.
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

/// One row per cell, repeats pooled, with intervals and run files.
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
        // A column sorts as numbers only if all of its values are numbers.
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
    // A short link for each repeat of a cell: its number, with the file name as tooltip.
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
        "{}. X R is throughput × mean response time; with a closed model it equals the number of users.",
        study::intervals(study)
    );
    vec![sentence(Role::Lead, lead), Block::Table(table.done()), study::doubts(study.table.iter(), named)]
}

/// Peaks of monitored resources by cell, and which ones were saturated.
pub fn resources(c: &Conclusion) -> Vec<Block> {
    let Some(study) = &c.study else { return Vec::new() };
    let name = |row: &CellRow| {
        let title = settings_text(&row.settings);
        Cell::text(if title.is_empty() { study.name.clone() } else { title })
    };
    let table =
        Table::of("resources", "Monitored resources", &study.table).column(Column::text("cell"), name);
    let mut out = study::measured_cells(table, study.table.iter());
    if !out.is_empty() {
        let lead = "Peaks, with their share of the limit in parentheses. A peak is one second of one run.";
        out.insert(0, sentence(Role::Lead, lead));
    }
    out
}
