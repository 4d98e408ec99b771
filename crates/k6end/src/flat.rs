//! The text at the end of a test, as versions before 1.0 printed it: groups with their checks, then all metrics.

use super::groups::Group;
use super::layout::{Form, Row, Widths, check, mark, rows};
use super::{EndOfTest, Options};

pub fn write(end: &EndOfTest, options: &Options<'_>) -> String {
    let all = rows(&end.metrics, options, Form::Marks);
    let mut widths = Widths::default();
    widths.widen(&all, 0);
    let mut out = String::from("\n");
    out += &group(&end.root, 5, options);
    for row in &all {
        out += &line(row, &widths, options);
    }
    out
}

/// A metric with thresholds has a mark in front.
fn line(row: &Row<'_>, widths: &Widths, options: &Options<'_>) -> String {
    let text = widths.line(row, 0);
    if row.metric.thresholds.is_empty() {
        return format!("     {text}\n");
    }
    let sign = mark(row.metric.thresholds.iter().all(|(_, is_met)| *is_met), options);
    match text.strip_prefix("  ") {
        Some(below) => format!("     {sign} {below}\n"),
        None => format!("   {sign} {text}\n"),
    }
}

fn group(group: &Group, indent: usize, options: &Options<'_>) -> String {
    let mut out: String = group.checks.iter().map(|one| check(one, indent, options)).collect();
    if !group.checks.is_empty() {
        out.push('\n');
    }
    for nested in &group.groups {
        out += &format!("{}█ {}\n\n", " ".repeat(indent), nested.name);
        out += &self::group(nested, indent + 2, options);
    }
    out
}
