//! The page of several experiments of one file: every question with its answer, then the report of each.

use super::bits::At;
use super::piece::{badge, prose};
use super::{Page, Section as Rest};
use crate::document::{
    self, Block, Cell, Column, Document, Heading, Role, Section, Sentence, Table, Tile, Tone, Value, Verdict,
};
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
    /// `None` if there is no report of it; the row then has the reason.
    pub conclusion: Option<Conclusion>,
    pub files: Vec<RunFile>,
    /// The charts of this experiment, with their own ids.
    pub charts: Vec<Chart>,
}

/// Returns the page; `document` is the output of `--json`.
pub fn page(name: &str, parts: Vec<Part>, document: Json) -> Page {
    let mut charts = Vec::new();
    let mut reports = Vec::new();
    let questions = questions(name, &parts);
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
    let title = format!("{name}: {} questions", count(reports.len() as u64));
    let mut page = document::page("parts", title, &questions, charts, document);
    page.sections.push(Rest { id: "parts", title: "Parts".into(), body: each });
    page
}

/// Returns the content above the parts: the worst answer, and all answers.
fn questions(name: &str, parts: &[Part]) -> Document {
    // A part without expectations cannot be the worst of those with expectations.
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
    let told = [1, 0, 3, 2, 4].into_iter().filter(|rank| of(*rank) > 0);
    let tiles = told.map(|rank| Tile::new(words[rank], Value::Count(of(rank)))).collect();
    let verdict = worst.map(|worst| Verdict {
        tone: worst.row.tone(),
        word: worst.row.result().into(),
        sentence: format!(
            "{} questions; the worst answer decides: {}",
            count(parts.len() as u64),
            worst.row.name
        ),
        form: Heading::Lead,
    });
    Document {
        tone: worst.map_or(Tone::Doubt, |worst| worst.row.tone()),
        name: Sentence::new(Role::Title, name),
        head: verdict.map(Block::Verdict).into_iter().chain([Block::Tiles(tiles)]).collect(),
        sections: vec![Section::new("answers", "Questions and answers", vec![Block::Table(overview(parts))])],
    }
}

fn overview(parts: &[Part]) -> Table {
    let rows: Vec<(usize, &Part)> = (1..).zip(parts).collect();
    let sentence = |(_, part): &(usize, &Part)| {
        let cell = Cell::from(Value::Prose(part.row.sentence.clone()));
        part.conclusion.iter().flat_map(answer).fold(cell, |cell, more| cell.aside(Tone::Note, more))
    };
    Table::of("parts", "Questions and answers", &rows)
        .column(Column::text("part"), |(number, part)| {
            Cell::text(&part.row.name).linked(Some(format!("#part-{number}")))
        })
        .column(Column::text("question"), |(_, part)| Cell::text(&part.question))
        .column(Column::text("result"), |(_, part)| Cell::status(part.row.tone(), part.row.result()))
        .column(Column::text("answer"), sentence)
        .done()
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
