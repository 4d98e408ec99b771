//! The page of an audit: the published rows as a picture, each finding with its arithmetic and the line that it is
//! about, and the rows as a table with those figures marked.

mod findings;

use super::bits::{data, said, tiles};
use super::piece::{Tone, badge, figure as copied, grid, prose};
use super::table::{Cell, number, text};
use super::{Page, Section};
use crate::audit::judged::{Judged, rows};
use crate::audit::{headline, read};
use crate::format::{count, counted};
use maud::{Markup, html};
use plimsoll_audit::foreign::{Document, Figure, Measure};
use plimsoll_audit::{Audit, Finding, Grade, rules};

/// Rows that the table shows: a file of samples has a million.
const ROWS_MAX: usize = 300;

/// The page of what was found in these texts.
///
/// # Errors
/// When the audit cannot be expressed in JSON.
pub fn page(audit: &Audit, documents: &[Document]) -> Result<Page, crate::Error> {
    let charts = crate::figure::audit::charts(audit, documents);
    let judged = rows(audit, documents);
    let mut sections = Vec::new();
    let mut add = |id, title, body: Option<Markup>| {
        if let Some(body) = body {
            sections.push(Section { id, title, body });
        }
    };
    let drawn = grid(&charts.iter().collect::<Vec<_>>());
    add("picture", "The rows against each other", (!charts.is_empty()).then_some(drawn));
    add("wrong", "Cannot be true", findings::section(audit, Grade::CannotBeTrue));
    add("doubtful", "Doubtful", findings::section(audit, Grade::Doubtful));
    add("missing", "Missing", findings::missing(audit));
    add("sound", "Nothing found", nothing(audit));
    add("rows", "The rows as published", published(audit, &judged));
    add("unread", "Not read", unread(audit));
    add("method", "How it was audited", Some(method(audit)));
    Ok(Page {
        kind: "audit",
        title: format!("Audit: {}", headline(audit)),
        head: head(audit, &judged),
        sections,
        charts,
        document: serde_json::to_value(audit)?,
        bar: None,
    })
}

fn tone(grade: Option<Grade>) -> Tone {
    match grade {
        Some(Grade::CannotBeTrue) => Tone::Fail,
        Some(Grade::Doubtful) => Tone::Doubt,
        Some(Grade::Missing) => Tone::Note,
        None => Tone::Pass,
    }
}

fn grade_word(grade: Option<Grade>) -> &'static str {
    match grade {
        Some(Grade::CannotBeTrue) => "cannot be true",
        Some(Grade::Doubtful) => "doubtful",
        Some(Grade::Missing) => "incomplete",
        None => "nothing found",
    }
}

fn head(audit: &Audit, judged: &[Judged]) -> Markup {
    // Without figures nothing was judged, which is no praise.
    let (tone, verdict) = match audit.figures {
        0 => (Tone::Doubt, "nothing to judge"),
        _ => (tone(audit.worst()), grade_word(audit.worst())),
    };
    let of = |n: usize| copied(&count(n as u64), Some(n as f64));
    let about = |grade| judged.iter().filter(|row| row.grade == Some(grade)).count();
    let short: Vec<&str> = audit.files.iter().map(|file| file_name(file)).collect();
    let short = short.join(", ");
    let whole = audit.files.join(", ");
    html! {
        div.head.{(tone.class())} {
            h1 { (short) }
            div.verdict { (badge(tone, verdict)) }
            p.sentence { (headline(audit)) }
            (next(audit))
            @if whole != short { p.soft { (whole) } }
            (tiles(&[
            ("rows read", of(audit.rows)),
            ("figures read", of(audit.figures)),
            ("rows that cannot be true", of(about(Grade::CannotBeTrue))),
            ("doubtful rows", of(about(Grade::Doubtful))),
            ("findings in all", of(audit.findings.len())),
            ]))
        }
    }
}

/// The name of a file without its folders: the whole path stands small below.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Findings that are told as reasons.
const REASONS: usize = 2;

/// The gravest findings with the arithmetic that proves them, and what to do about them: a reader of the first screen
/// needs no other.
fn next(audit: &Audit) -> Markup {
    let gravest = audit.worst();
    let told: Vec<(usize, &Finding)> =
        audit.findings.iter().enumerate().filter(|(_, f)| Some(f.grade) == gravest).take(REASONS).collect();
    let mut advice: Vec<&str> = Vec::new();
    for (_, finding) in &told {
        if !finding.advice.is_empty() && !advice.contains(&finding.advice.as_str()) {
            advice.push(&finding.advice);
        }
    }
    // What is missing has no place of its own among the findings.
    let is_listed = gravest != Some(Grade::Missing);
    html! {
        @if !told.is_empty() {
            dl.next {
                dt { "Why" }
                @for (at, finding) in &told { dd {
                    (prose(&finding.sentence))
                    @if let Some(line) = finding.arithmetic.first() { " (" (line) ")" }
                    ". "
                    @if is_listed { a href={ "#finding-" (at + 1) } { "The lines" } }
                } }
                @if !advice.is_empty() { dt { "Next" } }
                @for text in advice { dd { (prose(text)) "." } }
            }
        }
    }
}

fn nothing(audit: &Audit) -> Option<Markup> {
    if !audit.findings.is_empty() {
        return None;
    }
    Some(html! {
        @if audit.figures == 0 {
            p { "No figures were found to judge: neither output of a known tool nor a table with recognisable \
                 columns." }
        } @else {
            p { "The figures agree with each other, with arithmetic and with what a sound result says. That does not \
                 make them right: an audit sees contradictions, not mistakes that fit together." }
        }
    })
}

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

fn published(audit: &Audit, judged: &[Judged]) -> Option<Markup> {
    if judged.is_empty() {
        return None;
    }
    let has = |measure: &Measure| judged.iter().any(|row| row.row.figures.contains_key(measure));
    let columns: Vec<&(Measure, &str)> = COLUMNS.iter().filter(|(measure, _)| has(measure)).collect();
    let mut heads = vec![text("row"), number("line"), text("found")];
    heads.extend(columns.iter().map(|(_, name)| number(name)));
    let row = |one: &Judged| {
        let line = u64::from(one.row.lines.0);
        let place = match audit.files.len() {
            1 => line.to_string(),
            _ => format!("{}:{line}", one.file),
        };
        let links = html! {
            @match one.findings.first() {
                Some(first) => a href={ "#finding-" (first + 1) } { (said(tone(one.grade), grade_word(one.grade))) },
                None => (said(tone(one.grade), grade_word(one.grade))),
            }
        };
        let mut cells =
            vec![Cell::text(one.label()), Cell::number(place, Some(line as f64)), Cell::Markup(links)];
        for (measure, _) in &columns {
            cells.push(match one.row.figures.get(measure) {
                Some(figure) => Cell::Valued(marked(one, figure, audit), Some(figure.value)),
                None => Cell::number(crate::format::NONE, None),
            });
        }
        cells
    };
    let shown: Vec<Vec<Cell>> = judged.iter().take(ROWS_MAX).map(row).collect();
    Some(html! {
        p.lead { "As written. A marked figure is one that a finding is about; the word in its row leads there." }
        (data("rows", "The rows as published", &heads, shown))
        @if judged.len() > ROWS_MAX { p.soft { "and " (counted((judged.len() - ROWS_MAX) as u64, "row")) " more" } }
    })
}

fn marked(judged: &Judged, figure: &Figure, audit: &Audit) -> Markup {
    match judged.of(figure, audit) {
        Some(grade) => html! { mark class=(tone(Some(grade)).class()) { (figure.written) } },
        None => html! { (figure.written) },
    }
}

/// Passages that are named; the rest is counted.
const UNREAD: usize = 20;

fn unread(audit: &Audit) -> Option<Markup> {
    if audit.unread.is_empty() {
        return None;
    }
    Some(html! {
        p.lead { "Passages that look like a result and could not be read: nothing is said of them." }
        ul { @for text in audit.unread.iter().take(UNREAD) { li { (text) } } }
        @if audit.unread.len() > UNREAD { p.soft { "and " (count((audit.unread.len() - UNREAD) as u64)) " more" } }
    })
}

fn method(audit: &Audit) -> Markup {
    let checked = counted(rules().count() as u64, "rule");
    let files = audit.files.join(" ");
    html! {
        p { (read(audit)) ". " (checked) " looked at them; a figure counts with what its rounding leaves open. "
            "A finding is " b { "proved" } " by arithmetic alone, " b { "likely" } " in every usual set-up, or "
            b { "possible" } " and worth a look." }
        p { "The same as text: " code { "plimsoll audit " (files) } ", and with every digit " code { "--json" } "." }
    }
}
