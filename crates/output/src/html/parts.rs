//! The page of several experiments of one file: every question with its answer first, then the report of each.

use super::bits::{At, tiles};
use super::piece::{Tone, badge, figure as copied, prose};
use super::{Page, Section};
use crate::document::{self, Cell, Column, Table, Value, alone};
use crate::experiment::parts::Row;
use crate::experiment::{RunFile, answer, report as written, told_once};
use crate::format::count;
use maud::{Markup, html};
use plimsoll_analysis::summary::Outcome;
use plimsoll_chart::Chart;
use plimsoll_experiment::conclusion::Conclusion;
use serde_json::Value as Json;

/// One of the experiments.
pub struct Part {
    /// As in the table of the terminal.
    pub row: Row,
    pub question: String,
    /// `None`: there is no report of it, and the row says why.
    pub conclusion: Option<Conclusion>,
    pub files: Vec<RunFile>,
    /// Those of its own experiment, under their own ids.
    pub charts: Vec<Chart>,
}

/// The page; `document` is what `--json` prints.
pub fn page(name: &str, parts: Vec<Part>, document: Json) -> Page {
    let mut charts = Vec::new();
    let mut reports = Vec::new();
    let overview = overview(&parts);
    let head = head(name, &parts);
    for (number, part) in (1..).zip(parts) {
        let at = At::part(number);
        // One page has several charts over the same axis.
        let drawn = part.conclusion.as_ref().map(|c| told_once(part.charts.clone(), c)).unwrap_or_default();
        let own: Vec<Chart> =
            drawn.into_iter().map(|chart| Chart { id: at.id(&chart.id), ..chart }).collect();
        reports.push(report(number, &part, &own, &at));
        charts.extend(own);
    }
    let each = html! { @for report in &reports { (report) } };
    Page {
        kind: "parts",
        title: format!("{name}: {} questions", count(reports.len() as u64)),
        head,
        sections: vec![
            Section { id: "answers", title: "Questions and answers".into(), body: overview },
            Section { id: "parts", title: "The parts".into(), body: each },
        ],
        charts,
        document,
        bar: None,
    }
}

fn head(name: &str, parts: &[Part]) -> Markup {
    // What nothing was asked of cannot be the worst of those that were.
    let rank = |row: &Row| match row.result {
        None => 4,
        Some(Outcome::Fail) => 3,
        Some(Outcome::Inconclusive | Outcome::Interrupted) => 2,
        Some(Outcome::Pass) if row.judged => 1,
        Some(Outcome::Pass) => 0,
    };
    let worst = parts.iter().max_by_key(|part| rank(&part.row));
    let words = ["MEASURED", "PASS", "INCONCLUSIVE", "FAIL", "not run"];
    let of = |wanted: usize| parts.iter().filter(|part| rank(&part.row) == wanted).count() as u64;
    let told: Vec<(&str, Markup)> = [1, 0, 3, 2, 4]
        .into_iter()
        .filter(|rank| of(*rank) > 0)
        .map(|rank| (words[rank], copied(&count(of(rank)), Some(of(rank) as f64))))
        .collect();
    html! {
        div.head.{(worst.map_or(Tone::Doubt, |worst| worst.row.tone()).class())} {
            h1 { (name) }
            @if let Some(worst) = worst {
                div.verdict { (badge(worst.row.tone(), worst.row.result())) }
                p.sentence { (count(parts.len() as u64)) " questions; the worst answer decides: " (worst.row.name) }
            }
            (tiles(&told))
        }
    }
}

fn overview(parts: &[Part]) -> Markup {
    let rows: Vec<(usize, &Part)> = (1..).zip(parts).collect();
    let sentence = |(_, part): &(usize, &Part)| {
        let cell = Cell::from(Value::Prose(part.row.sentence.clone()));
        part.conclusion.iter().flat_map(answer).fold(cell, |cell, more| cell.aside(Tone::Note, more))
    };
    let table = Table::of("parts", "Every question with its answer", &rows)
        .column(Column::text("part"), |(number, part)| {
            Cell::text(&part.row.name).linked(Some(format!("#part-{number}")))
        })
        .column(Column::text("question"), |(_, part)| Cell::text(&part.question))
        .column(Column::text("result"), |(_, part)| Cell::status(part.row.tone(), part.row.result()))
        .column(Column::text("answer"), sentence);
    alone(&table.done())
}

fn report(number: usize, part: &Part, charts: &[Chart], at: &At) -> Markup {
    html! {
        article.part #{ "part-" (number) } {
            h3 { (part.row.name) }
            @let is_asked_below = part.conclusion.as_ref().is_some_and(|c| !c.question.is_empty());
            @if !part.question.is_empty() && !is_asked_below { p.question { (part.question) } }
            @match &part.conclusion {
                None => {
                    div.verdict { (badge(part.row.tone(), part.row.result())) }
                    p.sentence { (prose(&part.row.sentence)) }
                },
                Some(conclusion) => {
                    @let report = written(conclusion, &part.files, None);
                    (document::head(&report, charts, at))
                    @for section in document::sections(&report, charts, at) {
                        div.sub #{ (at.id(section.id)) } { h4 { (section.title) } (section.body) }
                    }
                },
            }
            p.up { a href="#answers" { "all questions" } }
        }
    }
}
