//! The page of a run, in the order in which it should be read: what came out and whether it can be believed, what was
//! found, how it went over time, where the time went, what failed, what the system did meanwhile, how it was measured.
//!
//! A section appears when the run has something for it. Every number comes from the summary through
//! [`crate::format`], so that page, terminal and JSON say the same.

mod errors;
mod findings;
mod head;
mod method;
mod next;
mod repeat;
mod times;
mod trust;
mod watched;

use super::{Page, Section as Part, piece};
use crate::anchor::Anchor;
use crate::document::{Block, Cell, Column, Section, Table, alone, body};
use crate::{Error, json, run, words};
use maud::{Markup, html};
use plimsoll_analysis::picture::{Moment, MomentKind, Picture};
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;
use serde_json::Value;

/// The page. `run_file` is the name of the file that it was made of, if there is one; `charts` are those of
/// [`crate::figure::of_run`].
///
/// # Errors
/// When the summary holds something that JSON cannot express.
pub fn run_page(
    s: &Summary,
    picture: &Picture,
    run_file: Option<&str>,
    charts: Vec<Chart>,
) -> Result<Page, Error> {
    let anchors = Anchors::of(s, &charts);
    let bodies = [
        ("generator", "Load generator", Some(trust::body(s))),
        ("thresholds", "Thresholds", body(&run::thresholds::section(s), &charts)),
        ("findings", "Findings", findings::body(s, &anchors)),
        ("course", "Over time", course(picture, &charts)),
        ("times", "Response times", times::body(s, &charts)),
        ("requests", "Requests", body(&run::requests::section(s, picture), &charts)),
        ("phases", "Phases", times::phases(s, picture, &charts)),
        ("errors", "Errors", errors::body(s)),
        ("checks", "Checks", body(&run::checks::section(s), &charts)),
        ("system", "System under test", watched::body(s, &charts)),
        ("streams", "Streams", body(&run::streams::section(s), &charts)),
        ("connections", "Connections", connections(s)),
        ("machines", "Machines", body(&run::origins::section(s), &charts)),
        ("method", "Method", Some(method::body(s, run_file))),
    ];
    let document = document(s)?;
    let section = |(id, title, body): (_, &'static str, Option<Markup>)| {
        Some(Part { id, title: title.into(), body: body? })
    };
    Ok(Page {
        kind: "run",
        title: format!("{}: {}", words::outcome(s.verdict.result), s.name),
        head: head::head(s, &next::body(s, run_file, &anchors)),
        sections: bodies.into_iter().filter_map(section).collect(),
        document,
        charts,
        bar: None,
    })
}

/// Seconds whose rows the document in a page may have. Those of an hour would be more than half of the file, and the
/// charts hold them in rows that can be seen.
const SECONDS: usize = 900;

/// Whether the page holds all of the document.
fn has_course(s: &Summary) -> bool {
    s.timeline.len() <= SECONDS
}

/// What `--json` prints, in a long run without its seconds.
fn document(s: &Summary) -> Result<Value, Error> {
    let mut document = serde_json::to_value(json::Run::of(s))?;
    if let Some(all) = document.as_object_mut().filter(|_| !has_course(s)) {
        all.remove("timeline");
    }
    Ok(document)
}

/// What findings can point at: a link that leads nowhere is worse than none.
struct Anchors {
    known: Vec<Anchor>,
}

impl Anchors {
    fn of(s: &Summary, charts: &[Chart]) -> Anchors {
        let has_chart = |id: &str| charts.iter().any(|chart| chart.id == id);
        let is_failing = s.errors.iter().any(|row| row.count > 0);
        let places = [
            (Anchor::Timeline, has_chart("timeline")),
            (Anchor::Spectrum, has_chart("spectrum")),
            (Anchor::Generator, true),
            (Anchor::Times, true),
            (Anchor::Connections, true),
            (Anchor::Method, true),
            (Anchor::System, crate::watched::is_watched(s)),
            (Anchor::Requests, !s.requests.is_empty()),
            (Anchor::Machines, s.origins.len() > 1),
            (Anchor::Errors, is_failing),
            (Anchor::Checks, !s.checks.is_empty()),
            (Anchor::Thresholds, !s.thresholds.is_empty()),
            (Anchor::Findings, !s.cautions.is_empty()),
            (Anchor::Phases, has_chart("phases")),
        ];
        Anchors { known: places.into_iter().filter(|(_, is_there)| *is_there).map(|(one, _)| one).collect() }
    }

    /// The first of these that there is.
    fn first(&self, wanted: &[Anchor]) -> Option<Anchor> {
        wanted.iter().copied().find(|one| self.known.contains(one))
    }
}

/// The run on its axis of time, and what happened on it.
fn course(picture: &Picture, charts: &[Chart]) -> Option<Markup> {
    let drawn = piece::charts(charts, &["timeline", "heat", "heat-service"]);
    if drawn.is_none() && picture.moments.is_empty() {
        return None;
    }
    Some(html! {
        @if let Some(drawn) = drawn { (drawn) }
        @if !picture.moments.is_empty() { (moments(picture)) }
    })
}

/// A long run has hundreds of stages: those are in the chart.
const MOMENTS: usize = 60;

fn moments(picture: &Picture) -> Markup {
    let kind = |moment: &Moment| match moment.kind {
        MomentKind::Stage => "stage",
        MomentKind::Note => "note",
        MomentKind::Control => "control",
        MomentKind::Change => "change",
        MomentKind::Gap => "gap",
        MomentKind::Spike => "spike",
        MomentKind::Outage => "outage",
    };
    let at = |moment: &Moment| {
        // Tenths: a moment is where a second begins, or when somebody pressed a key.
        Cell::number(crate::format::chosen_s((moment.at_s * 10.0).round() / 10.0), Some(moment.at_s))
    };
    let table = Table::of("events", "Events of the run", picture.moments.iter().take(MOMENTS))
        .column(Column::number("at"), at)
        .column(Column::text("kind"), |moment| Cell::text(kind(moment)))
        .column(Column::text("what"), |moment| Cell::text(&moment.text));
    html! {
        h3 { "Events" }
        (alone(&table.done()))
        @if picture.moments.len() > MOMENTS {
            p.faint { "and " (picture.moments.len() - MOMENTS) " more, in the JSON document" }
        }
    }
}

fn connections(s: &Summary) -> Option<Markup> {
    let times = alone(&run::connections::times(s));
    (s.client.connections.attempts > 0).then(|| {
        html! { div.pair {
            div { (describe(run::connections::facts(s))) }
            @if !times.0.is_empty() { div { h3 { "Times" } (times) } }
        } }
    })
}

/// A block that stands below a heading of the page's own.
fn describe(block: Block) -> Markup {
    body(&Section::new("", "", vec![block]), &[]).unwrap_or_default()
}
