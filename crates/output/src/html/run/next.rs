//! Below the verdict, before any table: what made it so, where to look first, and what to do next. Each line leads to
//! what shows it.

use super::Anchors;
use crate::format::{count, duration_ns, quantile_name};
use crate::html::piece::prose;
use crate::words::{self, Shown};
use maud::{Markup, html};
use plimsoll_record::summary::{Caution, Judged, Outcome, SeriesRow, Summary, Weight};

/// What shows when it was slow.
const COURSE: &[&str] = &["chart-timeline", "times"];

/// Lines with their names; an inconclusive run has reason and advice in the box above, and here only what failed.
pub fn body(s: &Summary, anchors: &Anchors) -> Markup {
    let mut lines: Vec<(&str, Markup)> = Vec::new();
    match s.verdict.result {
        Outcome::Inconclusive => lines.extend(failures(s).map(|line| ("why", line))),
        Outcome::Pass => {
            lines.extend([closest(s), failures(s)].into_iter().flatten().map(|line| ("why", line)));
        }
        Outcome::Fail => {
            let all = [limiting(s, anchors), failures(s), failing(s), slowest(s)];
            lines.extend(all.into_iter().flatten().map(|line| ("why", line)));
        }
    }
    if s.verdict.result != Outcome::Inconclusive {
        lines.push(("next", next(s, anchors)));
    }
    html! {
        @if !lines.is_empty() {
            dl.next {
                @for (at, (name, line)) in lines.iter().enumerate() {
                    @let is_new = at == 0 || lines[at - 1].0 != *name;
                    @if is_new { dt { @if *name == "why" { "Why" } @else { "Next" } } }
                    dd { (line) }
                }
            }
        }
    }
}

/// The threshold that was nearest to being missed.
fn closest(s: &Summary) -> Option<Markup> {
    // Of `errors == 0%` there is no margin.
    let nearest = s.thresholds.iter().min_by(|a, b| {
        let far = |t: &Judged| t.margin.unwrap_or(f64::INFINITY).abs();
        far(a).total_cmp(&far(b))
    })?;
    let n = s.thresholds.len();
    Some(html! {
        @if n == 1 { "The one threshold was met: " }
        @else { "All " (count(n as u64)) " thresholds were met; the closest: " }
        (prose(&nearest.text)) ", observed " (words::observed(nearest))
        @if nearest.margin.is_some() { ", " (words::margin(nearest)) }
        ". "
        a href="#thresholds" { "Thresholds" }
    })
}

fn limiting(s: &Summary, anchors: &Anchors) -> Option<Markup> {
    // Without a pressure it says that there was none; and once is enough.
    let is_news = !s.pressure.is_empty()
        && !s.limiting_resource.as_ref().is_some_and(|l| words::sentence(s).contains(l));
    let limiting = s.limiting_resource.as_ref().filter(|_| is_news)?;
    let shown = anchors.first(&["system"]);
    Some(html! {
        "At its limit: " b { (limiting) } ". "
        @if let Some(anchor) = shown { a href={ "#" (anchor) } { "System under test" } }
    })
}

/// Whether a missed threshold is on this.
fn missed(s: &Summary, what: &str) -> bool {
    s.thresholds.iter().any(|t| !t.met && t.what.starts_with(what))
}

/// Of what kind most failures were, where they decided.
fn failures(s: &Summary) -> Option<Markup> {
    let row = s.errors.iter().max_by_key(|row| row.count).filter(|row| row.count > 0)?;
    if !missed(s, "errors") && s.totals.errors * 100 <= s.totals.requests {
        return None;
    }
    Some(html! {
        @if row.count == s.totals.errors { "All " (count(row.count)) } @else {
            (count(row.count)) " of " (count(s.totals.errors))
        }
        " errors are " code { (row.class) } ": " (row.sentence)
        @if let Some((status, n)) = worst(s) { "; " (count(*n)) " answers had status " (status) }
        ". "
        a href="#errors" { "Errors" }
    })
}

/// The most frequent status that says that something failed.
fn worst(s: &Summary) -> Option<(&String, &u64)> {
    s.statuses.iter().filter(|(status, _)| status.starts_with(['4', '5'])).max_by_key(|(_, n)| **n)
}

/// The request that failed most, where there are several.
fn failing(s: &Summary) -> Option<Markup> {
    let row = s.requests.iter().max_by_key(|row| row.errors)?;
    let is_telling = s.requests.len() > 1 && row.errors > 0 && missed(s, "errors");
    is_telling.then(|| {
        html! {
            "The request with the most: " b { (row.name) } ", " (count(row.errors)) " of its "
            (count(row.requests)) ". "
            a href="#requests" { "Requests" }
        }
    })
}

/// The request with the longest p99, where a threshold on times was missed.
fn slowest(s: &Summary) -> Option<Markup> {
    let p99 = |row: &SeriesRow| match words::percentile(&row.response_time, 0.99) {
        Shown::Fact(p) => Some(p.value_ns),
        _ => None,
    };
    let row = s.requests.iter().filter(|row| !row.stream).max_by_key(|row| p99(row).unwrap_or(0))?;
    let ns = p99(row).filter(|_| missed(s, "response_time") && s.requests.len() > 1)?;
    Some(html! {
        "Slowest: the request " b { (row.name) } " with a response time " (quantile_name(0.99)) " of " (duration_ns(ns))
        ". " a href="#requests" { "Requests" }
    })
}

/// What one does with such a result: first about what is at its limit, then about what failed, then about what is slow.
fn next(s: &Summary, anchors: &Anchors) -> Markup {
    let told = |c: &&Caution| c.weight != Weight::Inconclusive && !c.advice.is_empty();
    let is_fail = s.verdict.result == Outcome::Fail;
    let again = html! {
        ", then run the same load again and hold both against each other with " code { "plimsoll compare" } ". "
    };
    if let Some(pressure) = s.pressure.first().filter(|_| is_fail) {
        let anchor = anchors.first(&["system"]);
        return html! {
            "Give " b { (pressure.what) } " more room or less to do" (again)
            @if let Some(anchor) = anchor { a href={ "#" (anchor) } { "System under test" } }
        };
    }
    if is_fail && missed(s, "errors") && s.totals.errors > 0 {
        return html! {
            "Read what failed and how, mend it" (again) a href="#errors" { "Errors" }
        };
    }
    if is_fail && missed(s, "response_time") {
        return html! {
            "See when it was slow, and what the slowest requests waited for; mend it" (again)
            a href={ "#" (anchors.first(COURSE).unwrap_or_else(|| "times".into())) } { "Over time" }
        };
    }
    if let Some(first) = s.cautions.iter().filter(told).min_by_key(|c| c.weight) {
        return html! { (first.title) ": " (prose(&first.advice)) ". " a href="#findings" { "Findings" } };
    }
    html! {
        "Keep the run file: " code { "plimsoll compare" } " holds the next run against it, " code { "plimsoll find" }
        " looks for the highest load that still passes. " a href="#method" { "Method" }
    }
}
