//! What only scripts and streams have: checks, examples of failures, scenarios, groups, streams.

use super::{Table, cell, code, escape};
use crate::format::{chosen_ns, count, rate_per_s};
use crate::words;
use plimsoll_analysis::summary::{SampleRow, Summary};

/// Those that failed stand first, as the summary brings them.
pub fn checks(s: &Summary, out: &mut String) {
    if s.checks.is_empty() {
        return;
    }
    let mut table = Table::new("Checks", &["check", "request", "made", "failed"]);
    for check in &s.checks {
        let failed = if check.failed > 0 { format!("**{}**", count(check.failed)) } else { "0".into() };
        table.row([escape(&check.name), escape(&check.request), count(check.made), failed]);
    }
    table.write(out);
}

/// Examples of failures, each with the beginning of its answer.
pub fn samples(s: &Summary, out: &mut String) {
    const SHOWN: usize = 10;
    if s.samples.is_empty() {
        return;
    }
    let mut table = Table::new("Samples", &["failure", "request", "at", "status", "found", "answer"]);
    for SampleRow { sample, .. } in s.samples.iter().take(SHOWN) {
        let excerpt = code(&sample.excerpt);
        table.row([
            escape(&sample.check),
            escape(&sample.request),
            chosen_ns(sample.at_ns),
            sample.status.to_string(),
            escape(&sample.found),
            if excerpt.trim().is_empty() { String::new() } else { format!("`{excerpt}`") },
        ]);
    }
    table.write(out);
}

/// Scenarios where there are several, and groups.
pub fn parts(s: &Summary, out: &mut String) {
    if s.scenarios.len() > 1 {
        let heads = ["scenario", "finished", "errors", "rate", "p50", "p99", "max"];
        let mut table = Table::new("Scenarios", &heads);
        for row in &s.scenarios {
            let times = &row.response_time;
            table.row([
                escape(&row.name),
                count(row.requests),
                count(row.errors),
                rate_per_s(row.rate_per_s),
                cell(times, 0.5).0,
                cell(times, 0.99).0,
                escape(&words::max(times)),
            ]);
        }
        table.write(out);
    }
    if !s.groups.is_empty() {
        let heads = ["group", "passages", "requests", "errors", "p50", "p99", "max"];
        let mut table = Table::new("Groups", &heads);
        for row in &s.groups {
            table.row([
                escape(&row.name),
                count(row.passages),
                count(row.requests),
                count(row.errors),
                cell(&row.passage, 0.5).0,
                cell(&row.passage, 0.99).0,
                escape(&words::max(&row.passage)),
            ]);
        }
        table.write(out);
    }
}

/// How streams began and ended, what came through them, and its times.
pub fn streams(s: &Summary, out: &mut String) {
    if s.streams.is_empty() {
        return;
    }
    let mut table = Table::new("Streams", &["stream", "", ""]);
    for row in &s.streams {
        table.row([escape(&row.name), "streams".into(), escape(&words::ends(row).join(", "))]);
        table.row([String::new(), "events".into(), escape(&words::events(row).join("; "))]);
        for (label, times) in words::stream_times(row) {
            let figures = format!(
                "p50 {}, p99 {}, max {}, {} samples",
                cell(times, 0.5).0,
                cell(times, 0.99).0,
                escape(&words::max(times)),
                count(times.count)
            );
            table.row([String::new(), label.into(), figures]);
        }
    }
    table.write(out);
}
