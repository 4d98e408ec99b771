//! A study for READMEs and pull requests: findings first, then the tables and what is known of each curve.

use super::{Group, doubt, errors, extent, groups, intervals, plus_minus, rate, sentences, time, watched};
use crate::format::{quantity, ratio};
use crate::markdown::{escape, prose};
use plimsoll_experiment::study::{CellRow, Study, level_text, settings_text};

const HEADS: &str = "rate | | errors | mean | p50 | | p90 | p99 | | in flight | X R |";
const RULE: &str = "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|";

/// The report. What came from outside is escaped.
pub fn markdown(study: &Study) -> String {
    let mut out = format!("## {}\n\n{}; {}\n", escape(&study.name), extent(study), intervals(study));
    if !study.findings.is_empty() {
        out.push_str("\n### What the runs say together\n\n");
    }
    for f in &study.findings {
        out.push_str(&format!(
            "- **{}** (`{}`): {}. *Advice:* {}\n",
            prose(&f.sentence),
            f.code,
            prose(&f.evidence),
            prose(&f.advice)
        ));
    }
    for group in groups(study) {
        table(&group, study, &mut out);
    }
    scaling(study, &mut out);
    out
}

fn table(group: &Group, study: &Study, out: &mut String) {
    let title = if group.fixed.is_empty() { study.name.clone() } else { settings_text(&group.fixed) };
    let axis = group.curve.map_or("cell", |curve| curve.axis.as_str());
    out.push_str(&format!("\n### {}\n\n| {} | {HEADS}\n{RULE}\n", escape(&title), escape(axis)));
    for (name, row) in &group.rows {
        out.push_str(&format!("| {} | {} |\n", escape(name), cells(row).join(" | ")));
    }
    seen(group, axis, out);
    let doubts: Vec<String> = group
        .rows
        .iter()
        .filter(|(_, row)| !row.left_out.is_empty())
        .map(|(name, row)| format!("- {} {}: {}\n", escape(axis), escape(name), escape(&doubt(row))))
        .collect();
    if !doubts.is_empty() {
        out.push_str(&format!("\n{}", doubts.concat()));
    }
    if let Some(curve) = group.curve {
        let told: Vec<String> = sentences(curve)
            .into_iter()
            .map(|(what, text)| format!("- {what}: {}\n", escape(&text)))
            .collect();
        out.push_str(&format!("\n{}", told.concat()));
    }
}

fn seen(group: &Group, axis: &str, out: &mut String) {
    let columns = watched::columns(group.rows.iter().map(|(_, row)| *row));
    if columns.is_empty() {
        return;
    }
    let heads: Vec<String> = columns.iter().map(|column| escape(column)).collect();
    let rule = "--:|".repeat(columns.len());
    out.push_str(&format!(
        "\n| {} | {} | at its limit |\n|---|{rule}---|\n",
        escape(axis),
        heads.join(" | ")
    ));
    for (name, row) in &group.rows {
        let figures: Vec<String> = columns.iter().map(|column| watched::cell(row, column)).collect();
        let limiting = escape(&watched::limiting(row));
        out.push_str(&format!("| {} | {} | {limiting} |\n", escape(name), figures.join(" | ")));
    }
}

fn cells(row: &CellRow) -> Vec<String> {
    let both = |text: String, estimate| [escape(&text), plus_minus(estimate, "±")];
    let mut out: Vec<String> = Vec::new();
    out.extend(both(rate(&row.rate_per_s), &row.rate_per_s));
    out.extend([errors(&row.error_ratio), escape(&time(&row.mean_ns))]);
    out.extend(both(time(&row.p50_ns), &row.p50_ns));
    out.push(escape(&time(&row.p90_ns)));
    out.extend(both(time(&row.p99_ns), &row.p99_ns));
    out.extend([quantity(row.in_flight), quantity(row.little.rate_times_time)]);
    out
}

fn scaling(study: &Study, out: &mut String) {
    for scaling in &study.scaling {
        let fixed = settings_text(&scaling.fixed);
        let title =
            if fixed.is_empty() { scaling.axis.clone() } else { format!("{}, {fixed}", scaling.axis) };
        out.push_str(&format!(
            "\n### Scaling over {}\n\n| {} | rate | speed-up | efficiency |\n|--:|--:|--:|--:|\n",
            escape(&title),
            escape(&scaling.axis)
        ));
        for step in &scaling.steps {
            let interval = step.low.zip(step.high).map(|(l, h)| format!(" ({} to {})", ratio(l), ratio(h)));
            out.push_str(&format!(
                "| {} | {} | {} | {}{} |\n",
                level_text(step.n),
                crate::format::rate_per_s(step.rate_per_s),
                quantity(step.speed_up),
                ratio(step.efficiency),
                interval.unwrap_or_default()
            ));
        }
    }
}
