//! The page of an experiment. A sweep leads with the picture of its capacity, a search with the way to its answer; what
//! somebody expected, the findings over all runs and the comparisons follow, and then how it was made.

mod cells;
mod search;

use super::bits::{At, data, facts, finding, tiles};
use super::piece::{Tone, badge, figure as copied, grid, prose};
use super::table::{Cell, number, text};
use super::{Page, Section, comparison};
use crate::experiment::{name, outcome};
use crate::format::{count, counted};
use maud::{Markup, html};
use plimsoll_analysis::summary::Outcome;
use plimsoll_chart::Chart;
use plimsoll_experiment::compare::expect::Borne;
use plimsoll_experiment::conclusion::Conclusion;
use plimsoll_plan::experiment::Setting;
use serde_json::Value;

/// A run file of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    pub settings: Vec<Setting>,
    /// From 0.
    pub repeat: u32,
    /// Its name in the folder.
    pub name: String,
    /// Where it lies as seen from the page; `None`: somewhere else.
    pub href: Option<String>,
}

/// The page of what an experiment found. `charts` are those of [`crate::figure::of_conclusion`], `document` is what
/// `--json` prints.
pub fn page(c: &Conclusion, files: &[RunFile], charts: Vec<Chart>, document: Value) -> Page {
    let at = At::default();
    let charts = told_once(charts, c);
    Page {
        kind: if c.searches.is_empty() { "experiment" } else { "search" },
        title: format!("{}: {}", outcome(c), c.name),
        head: head(c),
        sections: sections(c, files, &charts, &at),
        charts,
        document,
        bar: None,
    }
}

/// A picture that stands alone says what was found; on a page that stands above it already.
pub(super) fn told_once(mut charts: Vec<Chart>, c: &Conclusion) -> Vec<Chart> {
    let answers = c.searches.iter().filter_map(|one| one.answer.as_ref()).map(|answer| &answer.sentence);
    let told: Vec<&String> = answers.chain(c.comparisons.iter().map(|one| &one.sentence)).collect();
    charts
        .iter_mut()
        .filter(|chart| told.contains(&&chart.subtitle))
        .for_each(|chart| chart.subtitle.clear());
    // The curves of rate and times have pictures of their own: over the axis the rest is left.
    let has = |stem: &str| charts.iter().any(|chart| chart.id.starts_with(stem));
    if has("capacity-") && has("latency-") {
        for chart in charts.iter_mut().filter(|chart| chart.id.starts_with("over-")) {
            chart.panels.retain(|panel| !["rate", "p50", "p99"].contains(&panel.id.as_str()));
        }
        charts.retain(|chart| !chart.panels.is_empty());
    }
    charts
}

fn head(c: &Conclusion) -> Markup {
    html! {
        div.head.{(tone(c).class())} {
            h1 { (c.name) }
            @if !c.question.is_empty() { p.question { (c.question) } }
            (verdict(c, &At::default()))
        }
    }
}

/// Runs that nothing was asked of are neither good nor bad.
pub(super) fn tone(c: &Conclusion) -> Tone {
    if c.is_judged() || c.result != Outcome::Pass { Tone::from(c.result) } else { Tone::Note }
}

/// Comparisons whose lines stand below the verdict; more would bury it.
const TOLD: usize = 3;

/// What a sentence about runs and cells leaves open, in few words: what differs.
pub(super) fn answer(c: &Conclusion) -> Vec<String> {
    c.comparisons.iter().take(TOLD).map(|one| one.sentence.clone()).collect()
}

/// Badge, sentence and how much there is behind it.
pub(super) fn verdict(c: &Conclusion, at: &At) -> Markup {
    let mut tiles_of = Vec::new();
    for axis in &c.axes {
        let values = axis.values.join(", ");
        tiles_of.push((axis.name.as_str(), html! { (values) }));
    }
    if let [one] = c.searches.as_slice() {
        tiles_of.extend(search::tiles(one));
    }
    tiles_of.extend(cells::tiles(c));
    let runs = copied(&count(c.runs as u64), Some(c.runs as f64));
    let of = html! { (runs) @if c.missing > 0 { span.soft { ", " (count(c.missing as u64)) " still to be made" } } };
    tiles_of.push(("runs", of));
    if c.cells > 1 {
        tiles_of.push(("cells", copied(&count(c.cells as u64), Some(c.cells as f64))));
    }
    if c.repeat > 1 {
        tiles_of.push(("repeats", copied(&count(u64::from(c.repeat)), Some(f64::from(c.repeat)))));
    }
    html! {
        div.verdict { (badge(tone(c), outcome(c))) }
        p.sentence { (prose(&c.sentence)) }
        @if c.comparisons.len() <= TOLD {
            @for one in &c.comparisons { p { (comparison::line(one)) } }
        }
        @if let Some(next) = cells::next(c, at).or_else(|| search::next(c)) { (next) }
        @if let Some(answer) = cells::answer(c, at) { (answer) }
        (tiles(&tiles_of))
    }
}

/// In reading order; what the experiment has nothing for is left out.
pub(super) fn sections(c: &Conclusion, files: &[RunFile], charts: &[Chart], at: &At) -> Vec<Section> {
    let mut out = Vec::new();
    let mut add = |id, title, body: Option<Markup>| {
        if let Some(body) = body {
            out.push(Section { id, title, body });
        }
    };
    add("search", "The search", search::answers(c, charts, at));
    let capacity = cells::pictures(c, charts, at);
    // Variants without curves lead with what differs between them.
    let leads_with_difference = capacity.is_none() && c.searches.is_empty();
    if leads_with_difference {
        add("comparisons", "Comparisons", comparisons(c, charts, at));
    }
    add("capacity", "Capacity", capacity);
    add("cells", "Cells", cells::table(c, files, at));
    add("curve", "The curve", search::curves(c, at));
    add("steps", "The steps", search::steps(c, files, at));
    add("findings", "What the runs say together", cells::findings(c));
    add("expectations", "What was expected", expectations(c));
    add("resources", "What gave out", cells::resources(c, at));
    if !leads_with_difference {
        add("comparisons", "Comparisons", comparisons(c, charts, at));
    }
    add("runs", "Runs", runs(c, files, at));
    add("method", "How it was made", Some(method(c)));
    out
}

/// Those whose ids begin so: a page of several results has the name of the part before them.
pub(super) fn drawn<'a>(charts: &'a [Chart], at: &At, stem: &str) -> Vec<&'a Chart> {
    let start = format!("{}{stem}", at.part);
    charts.iter().filter(|chart| chart.id.starts_with(&start)).collect()
}

pub(super) fn shown(charts: &[&Chart]) -> Markup {
    html! { @if !charts.is_empty() { (grid(charts)) } }
}

fn expectations(c: &Conclusion) -> Option<Markup> {
    if c.expectations.is_empty() {
        return None;
    }
    let tone = |held: Borne| match held {
        Borne::Holds => (Tone::Pass, "holds"),
        Borne::DoesNotHold => (Tone::Fail, "does not hold"),
        Borne::CannotTell => (Tone::Doubt, "cannot tell"),
    };
    Some(html! {
        ul.findings { @for expected in &c.expectations {
            @let (tone, text) = tone(expected.verdict);
            (finding(tone, None, &html! {
                p.what { b { (text) } " " (prose(&expected.sentence)) }
                // The sentence tells the first of them already.
                @for line in expected.evidence.iter().filter(|line| !expected.sentence.contains(line.as_str())) {
                    p.soft { (prose(line)) }
                }
            }))
        } }
    })
}

/// Beyond so many each is folded: the sentences are what is read first.
const OPEN: usize = 4;

fn comparisons(c: &Conclusion, charts: &[Chart], at: &At) -> Option<Markup> {
    if c.comparisons.is_empty() {
        return None;
    }
    let open = c.comparisons.len() <= OPEN;
    Some(html! {
        @for (number, one) in c.comparisons.iter().enumerate() {
            details.comparison open[open] {
                summary { (comparison::line(one)) }
                @let suffix = if c.comparisons.len() > 1 { format!("-{}", number + 1) } else { String::new() };
                (comparison::body(one, None, charts, &suffix, &at.below(&format!("c{}-", number + 1))))
            }
        }
    })
}

fn runs(c: &Conclusion, files: &[RunFile], at: &At) -> Option<Markup> {
    if files.is_empty() && c.left_out.is_empty() {
        return None;
    }
    let heads = [text("file"), text("settings"), number("repeat")];
    let row = |file: &RunFile| {
        let repeat = u64::from(file.repeat) + 1;
        vec![Cell::Markup(link(file)), Cell::text(name(&file.settings)), Cell::count(repeat)]
    };
    let rows: Vec<Vec<Cell>> = files.iter().map(row).collect();
    Some(html! {
        @if !files.is_empty() {
            p.lead { "Each file has a report of its own: " code { "plimsoll report FILE --html OUT.html" } "." }
            (data(&at.id("runs"), "Run files", &heads, rows))
        }
        @if !c.left_out.is_empty() {
            (at.heading("Left out"))
            ul { @for why in &c.left_out { li { (prose(why)) } } }
        }
    })
}

/// The name of a run file, as a link where it lies beside the page.
pub(super) fn link(file: &RunFile) -> Markup {
    match &file.href {
        Some(href) => html! { a href=(href) { (file.name) } },
        None => html! { code { (file.name) } },
    }
}

fn method(c: &Conclusion) -> Markup {
    let mut told: Vec<(&str, Markup)> = Vec::new();
    for axis in &c.axes {
        told.push(("axis", html! { (axis.name) ": " (axis.values.join(", ")) }));
    }
    if let Some(study) = &c.study {
        told.push(("intervals", html! { (crate::study::intervals(study)) }));
    }
    for searched in &c.searches {
        let Some(answer) = &searched.answer else { continue };
        let of = name(&searched.settings);
        let of = if of.is_empty() { of } else { format!("{of}: ") };
        let held = answer.thresholds.join(", ");
        told.push(("held against", html! { (of) (held) }));
    }
    let cells = counted(c.cells as u64, "cell");
    let repeats = counted(u64::from(c.repeat), "repeat");
    told.push(("asked for", html! { (cells) ", " (repeats) " of each" }));
    let made = counted(c.runs as u64, "run");
    let left = counted(c.left_out.len() as u64, "file");
    told.push(("counted", html! { (made) ", " (left) " left out, " (count(c.missing as u64)) " missing" }));
    told.push((
        "the same as text",
        html! { code { "plimsoll report FOLDER" } " and, with every digit, "
        code { "plimsoll report FOLDER --json" } },
    ));
    facts(&told)
}
