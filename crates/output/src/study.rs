//! The runs of an experiment in one table, and their joint results.
//!
//! Combinations that differ only in the load are below each other, so that a column is a curve. Every value has its
//! interval next to it, because a smaller difference is not significant.

mod csv;
mod report;
mod watched;

pub use csv::{COLUMNS, csv};
pub(crate) use report::{curves, describe, doubts, figures, findings, head, measured_cells, scaling};

use crate::style::Look;
use crate::{document, format};
use plimsoll_experiment::study::{
    Basis, CellRow, Curve, Estimate, Saturation, Study, UslFit, level_text, settings_text,
};
use plimsoll_plan::experiment::Setting;

/// Returns the report, in the width of `look`.
pub fn terminal(study: &Study, look: &Look) -> String {
    document::terminal(&report::report(study), look)
}

/// Returns the report for READMEs and pull requests. Foreign text is escaped.
pub fn markdown(study: &Study) -> String {
    document::markdown(&report::report(study))
}

/// Combinations with the same settings except for the axis of the curves.
struct Group<'a> {
    fixed: Vec<Setting>,
    /// The header of its rows, and the rows.
    rows: Vec<(String, &'a CellRow)>,
    curve: Option<&'a Curve>,
}

impl Group<'_> {
    fn name(&self, row: &CellRow) -> &str {
        self.rows.iter().find(|(_, own)| std::ptr::eq(*own, row)).map_or("", |(name, _)| name)
    }
}

/// In the order of the table. Without curves, all combinations are one group, and their settings are their names.
fn groups<'a>(study: &'a Study) -> Vec<Group<'a>> {
    let Some(axis) = study.curves.first().map(|curve| curve.parameter.as_str()) else {
        let named = |row: &'a CellRow| {
            let text = settings_text(&row.settings);
            (if text.is_empty() { study.name.clone() } else { text }, row)
        };
        let rows: Vec<_> = study.table.iter().map(named).collect();
        return if rows.is_empty() {
            Vec::new()
        } else {
            vec![Group { fixed: Vec::new(), rows, curve: None }]
        };
    };
    let mut out: Vec<Group> = Vec::new();
    for row in &study.table {
        let fixed: Vec<Setting> = row.settings.iter().filter(|s| s.parameter != axis).cloned().collect();
        let name = row.setting(axis).unwrap_or("-").to_owned();
        match out.iter_mut().find(|group| group.fixed == fixed) {
            Some(group) => group.rows.push((name, row)),
            None => {
                let curve = study.curves.iter().find(|curve| curve.settings == fixed);
                out.push(Group { fixed, rows: vec![(name, row)], curve });
            }
        }
    }
    out
}

/// Returns `±1.2%`; empty without an interval or without a base for the share, and a dash if the interval is at least
/// as wide as the value.
fn plus_minus(estimate: &Estimate, sign: &str) -> String {
    if estimate.has_too_few_samples {
        return String::new();
    }
    match estimate.half_width_ratio() {
        Some(_) if says_nothing(estimate) => format::NONE.into(),
        Some(half) if half >= 0.0995 => format!("{sign}{:.0}%", half * 100.0),
        Some(half) => format!("{sign}{:.1}%", half * 100.0),
        None => String::new(),
    }
}

/// The interval contains 0 as well as twice the value.
pub(crate) fn says_nothing(estimate: &Estimate) -> bool {
    let is_wide = estimate.half_width_ratio().is_some_and(|half| half >= 1.0);
    is_wide && estimate.low.is_some_and(|low| low <= 0.0)
}

fn time(estimate: &Estimate) -> String {
    if estimate.has_too_few_samples {
        return format::NONE.into();
    }
    let text = estimate.value.map_or(format::NONE.into(), format::duration_f64_ns);
    if estimate.is_lower_bound { format!(">= {text}") } else { text }
}

fn rate(estimate: &Estimate) -> String {
    estimate.value.map_or(format::NONE.into(), format::rate_per_s)
}

fn errors(estimate: &Estimate) -> String {
    estimate.value.map_or(format::NONE.into(), format::ratio)
}

/// Returns the conclusions about a curve, one sentence each.
fn sentences(curve: &Curve) -> Vec<(&'static str, String)> {
    let law = match &curve.usl {
        UslFit::Fit { sentence, r2, .. } => format!("{sentence} (R2 {r2:.3})"),
        UslFit::Unfit { reason: why } => format!("no scalability law: {why}"),
    };
    let knee = match curve.knee.level {
        Some(_) => curve.knee.sentence.clone(),
        None => format!("no knee: {}", curve.knee.sentence),
    };
    let mut out = vec![("law", law), ("knee", knee)];
    // A knee where the rate becomes flat is the same fact.
    if let Some(flat) = curve.saturation.as_ref().filter(|flat| flat.is_link || !is_knee(curve, flat)) {
        let what = if flat.is_link { "the network is saturated" } else { "something is saturated" };
        out.push((
            "flat",
            format!(
                "from {} up at {}: {what}",
                level_text(flat.from_level),
                format::rate_per_s(flat.rate_per_s)
            ),
        ));
    }
    out
}

/// The knee and the beginning of the flat range are one fact if they are within this share of each other.
const SAME: f64 = 0.10;

/// Returns whether the knee is where the rate becomes flat.
pub(crate) fn is_knee(curve: &Curve, flat: &Saturation) -> bool {
    curve.knee.level.is_some_and(|at| (at / flat.from_level - 1.0).abs() <= SAME)
}

/// Returns `3 runs, 12 combinations`.
fn extent(study: &Study) -> String {
    let cells = study.table.len() as u64;
    format!("{}, {}", format::counted(study.runs as u64, "run"), format::counted(cells, "combination"))
}

/// The note of a table or a chart without intervals.
pub(crate) const NO_INTERVALS: &str =
    "no intervals: one short run per combination yields none; repeat each three times (`repeat: 3`)";

/// Returns the meaning of the intervals, for the line below the name.
pub(crate) fn intervals(study: &Study) -> String {
    let describe = |row: &CellRow| [row.rate_per_s, row.p50_ns, row.p99_ns].iter().any(says_nothing);
    let few =
        |row: &CellRow| [row.p50_ns, row.p90_ns, row.p99_ns].iter().any(|time| time.has_too_few_samples);
    let mut text = basis_text(study).to_owned();
    if study.table.iter().any(describe) {
        text = format!("{text}; {DASH}");
    }
    match study.table.iter().any(few) {
        true => format!("{text}; {}", crate::words::DASH),
        false => text,
    }
}

/// The meaning of a dash in place of an interval.
const DASH: &str = "a dash: the interval is wider than the value, so these repeats do not determine it";

fn basis_text(study: &Study) -> &'static str {
    let any = |basis| study.table.iter().any(|row| row.basis == basis);
    let two = study.table.iter().any(|row| row.basis == Basis::Runs && row.repeats < 3);
    match (any(Basis::Runs), any(Basis::Blocks)) {
        (true, true) => "95% intervals between runs, or within runs if there are fewer than three",
        (true, false) if two => "95% intervals between runs; two repeats make them wide: repeat three times",
        (true, false) => "95% intervals between runs",
        (false, true) => "95% intervals within runs: repeat three times to see how runs vary",
        (false, false) => NO_INTERVALS,
    }
}

/// Returns why a row is not a measurement, or what was left out of it.
fn doubt(row: &CellRow) -> String {
    match row.excluded_runs.first() {
        None => String::new(),
        Some(first) if row.is_valid => format!("{} left out: {}", row.excluded_runs.len(), first.reason),
        Some(first) => format!("not valid: {}", first.reason),
    }
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Runs => "runs",
        Basis::Blocks => "blocks",
        Basis::None => "none",
    }
}
