//! The text at the end of a test, as versions since 1.0 print it.

use super::groups::CheckCount;
use super::layout::{Form, Row, Widths, check, compared, mark, pad, rows};
use super::metric::{Metric, ratio};
use super::numbers::{percent, plain};
use super::{EndOfTest, Options, Part};
use std::collections::BTreeMap;

/// The blocks of metrics, in their order.
const BLOCKS: [&str; 6] = ["CUSTOM", "HTTP", "EXECUTION", "NETWORK", "WEBSOCKET", "GRPC"];

/// The metrics of HTTP that are always shown.
const RELEVANT: [&str; 3] = ["http_req_duration", "http_req_failed", "http_reqs"];

pub fn write(end: &EndOfTest, options: &Options<'_>, is_full: bool) -> String {
    let total = rows(&end.metrics, options, Form::OutOf);
    let total: Vec<Row<'_>> = visible(total, is_full);
    let mut widths = Widths::default();
    widths.widen(&total, 0);
    let parts: &[Part] = if is_full { &end.parts } else { &[] };
    let mut out = String::from("\n\n");
    out += &thresholds(&end.metrics, options);
    out += "  █ TOTAL RESULTS \n\n";
    out += &block(&end.checks, &total, &Context { end, options, widths: &widths }, 0);
    for part in parts {
        out += &section(part, end, options, 0);
    }
    out + "\n\n"
}

struct Context<'a> {
    end: &'a EndOfTest,
    options: &'a Options<'a>,
    widths: &'a Widths,
}

/// Leaves out rows that the compact form does not have, each with its sub-metrics.
fn visible(rows: Vec<Row<'_>>, is_full: bool) -> Vec<Row<'_>> {
    let mut is_shown = false;
    let mut keep = |row: &Row<'_>| {
        if !row.name.starts_with(' ') {
            is_shown = match category(&row.name) {
                None => false,
                Some("HTTP") => {
                    is_full || RELEVANT.contains(&row.name.as_str()) || !row.metric.thresholds.is_empty()
                }
                Some(_) => true,
            };
        }
        is_shown
    };
    rows.into_iter().filter(|row| keep(row)).collect()
}

/// Returns the block of a metric; `None`: it is shown elsewhere.
fn category(name: &str) -> Option<&'static str> {
    let is = |prefix: &str| name.starts_with(prefix) && super::evaluate::is_built_in(name);
    match name {
        // The tree of checks shows them; k6 leaves out the time of groups.
        "checks" | "group_duration" => None,
        _ if is("http_req") => Some("HTTP"),
        _ if is("data_") => Some("NETWORK"),
        _ if is("ws_") => Some("WEBSOCKET"),
        _ if is("grpc_") => Some("GRPC"),
        _ if is("") => Some("EXECUTION"),
        _ => Some("CUSTOM"),
    }
}

fn thresholds(metrics: &BTreeMap<String, Metric>, options: &Options<'_>) -> String {
    let mut with: Vec<(&str, &str, &Metric)> = metrics
        .iter()
        .filter(|(_, metric)| !metric.thresholds.is_empty())
        .map(|(key, metric)| {
            let (name, tags) = key.split_at(key.find('{').unwrap_or(key.len()));
            (name, tags, metric)
        })
        .collect();
    if with.is_empty() {
        return String::new();
    }
    with.sort_by_key(|(name, tags, _)| (*name, *tags));
    let mut out = String::from("  █ THRESHOLDS \n\n");
    for (name, tags, metric) in with {
        // Those of a sub-metric follow below the metric, if it has thresholds as well.
        let is_nested =
            !tags.is_empty() && metrics.get(name).is_some_and(|whole| !whole.thresholds.is_empty());
        let space = if is_nested { "      " } else { "    " };
        out += &format!("{space}{}{tags}\n", if is_nested { "" } else { name });
        for (threshold, is_met) in &metric.thresholds {
            let value = compared(metric, threshold, options);
            out += &format!("{space}{} '{}' {value}\n", mark(*is_met, options), threshold.source);
        }
        out.push('\n');
    }
    out + "\n"
}

/// Checks and metrics of the whole or of a part.
fn block(checks: &[CheckCount], rows: &[Row<'_>], context: &Context<'_>, indent: usize) -> String {
    let space = " ".repeat(4 + indent);
    let mut out = totals(checks, context.end, &space);
    for one in checks {
        out += &check(one, 4 + indent, context.options);
    }
    if !checks.is_empty() {
        out.push('\n');
    }
    for title in BLOCKS {
        let mut is_own = false;
        let mut lines = String::new();
        for row in rows {
            if !row.name.starts_with(' ') {
                is_own = category(&row.name) == Some(title);
            }
            if is_own {
                lines += &format!("{space}{}\n", context.widths.line(row, 0));
            }
        }
        if !lines.is_empty() {
            out += &format!("{space}{title}\n{lines}\n");
        }
    }
    out
}

/// All checks added up.
fn totals(checks: &[CheckCount], end: &EndOfTest, space: &str) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let passes = checks.iter().map(|check| check.passes).fold(0, u64::saturating_add);
    let fails = checks.iter().map(|check| check.fails).fold(0, u64::saturating_add);
    let all = passes.saturating_add(fails);
    let per_s = if end.duration_ms > 0.0 { all as f64 / end.duration_ms * 1e3 } else { 0.0 };
    let lines = [
        ("checks_total.......", all.to_string(), format!("{}/s", plain(per_s, 6))),
        ("checks_succeeded...", percent(ratio(passes, fails)), format!("{passes} out of {all}")),
        ("checks_failed......", percent(ratio(fails, passes)), format!("{fails} out of {all}")),
    ];
    let width = lines.iter().map(|(_, first, _)| first.len()).max().unwrap_or(0);
    let line = |(name, first, more): &(&str, String, String)| {
        format!("{space}{name}: {} {more}\n", pad(first, width))
    };
    lines.iter().map(line).collect::<String>() + "\n"
}

/// The columns of each section have their own widths.
fn section(part: &Part, end: &EndOfTest, options: &Options<'_>, indent: usize) -> String {
    let kind = if part.is_scenario { "SCENARIO" } else { "GROUP" };
    let head = match indent {
        0 => format!("\n  █ {kind}: {} \n\n", part.name),
        _ => format!("{}↳ {kind}: {} \n\n", " ".repeat(2 + indent), part.name),
    };
    let own = visible(rows(&part.metrics, options, Form::OutOf), true);
    let mut widths = Widths::default();
    widths.widen(&own, 0);
    let context = Context { end, options, widths: &widths };
    let nested = part.parts.iter().map(|part| section(part, end, options, indent + 2));
    head + &block(&part.checks, &own, &context, indent) + &nested.collect::<String>()
}
