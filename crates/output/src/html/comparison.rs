//! The page of a comparison: the verdict, the differences as intervals against zero, each figure with what bounds it,
//! what speaks against believing it, and what a gate makes of it.

use super::bits::{At, data, finding, hinted, said, tiles};
use super::experiment::shown;
use super::piece::{Tone, badge, behind, figure as copied, prose};
use super::table::{Cell, number, text};
use super::{Page, Section};
use crate::compare::next::hints;
use crate::compare::{
    footing, gate_word, interval, long_word, maybe_change, overall, p_value, peaks, values,
};
use crate::format::{count, counted, duration_f64_ns, ratio};
use crate::words;
use maud::{Markup, html};
use plimsoll_chart::Chart;
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{
    Compared, Comparison, Moved, Overall, Peaks, Scale, SideFacts, cell_name, change,
};
use serde_json::Value;

/// The page of comparisons, one or several; `gates` are what the gate says of each. `charts` are those of
/// [`crate::figure::of_comparison`], of several with `-1`, `-2` behind their ids; `document` is what `--json` prints.
pub fn page(all: &[Comparison], gates: &[Gated], mut charts: Vec<Chart>, document: Value) -> Page {
    // A picture that stands alone says the sentence; here it stands above.
    let is_said = |chart: &Chart| all.iter().any(|one| one.sentence == chart.subtitle);
    charts.iter_mut().filter(|chart| is_said(chart)).for_each(|chart| chart.subtitle.clear());
    let title = match all {
        [one] => {
            format!("{}: {} against {}", overall(one.verdict), one.short_names()[1], one.short_names()[0])
        }
        many => format!("{} comparisons", count(many.len() as u64)),
    };
    let sections = match all {
        [one] => parts(one, gates.first(), &charts, "", &At::default()),
        many => vec![overview(many, gates), several(many, gates, &charts)],
    };
    Page { kind: "comparison", title, head: head(all, gates), sections, charts, document, bar: None }
}

/// What a verdict about B means to whoever wants to ship it.
fn tone(verdict: Overall) -> Tone {
    match verdict {
        Overall::Faster | Overall::FewerErrors | Overall::NoDifference => Tone::Pass,
        Overall::Slower | Overall::MoreErrors => Tone::Fail,
        Overall::Mixed | Overall::CannotTell => Tone::Doubt,
    }
}

fn gate_tone(passage: Passage) -> Tone {
    match passage {
        Passage::Pass => Tone::Pass,
        Passage::NotCompared | Passage::Inconclusive => Tone::Doubt,
        Passage::Fail => Tone::Fail,
    }
}

fn gate_said(one: &Comparison, gated: &Gated) -> Markup {
    said(gate_tone(gated.passage), &gate_word(gated, one))
}

fn head(all: &[Comparison], gates: &[Gated]) -> Markup {
    let worst = all.iter().zip(gates).max_by_key(|(_, gated)| gated.passage);
    html! {
        div.head.{(worst.map_or(Tone::Doubt, |(_, gated)| gate_tone(gated.passage)).class())} {
            @match all {
                [one] => {
                    h1 { (one.short_names()[1]) span.soft { " against " } (one.short_names()[0]) }
                    div.verdict { (badge(tone(one.verdict), overall(one.verdict))) }
                    p.sentence { (prose(behind(overall(one.verdict), &one.sentence))) }
                },
                many => h1 { (count(many.len() as u64)) " comparisons" },
            }
            @if let Some((one, gated)) = worst {
                // Of several the worst is told, and how the others went.
                @if all.len() > 1 {
                    p.sentence { (prose(&one.sentence)) }
                    p { (tally(all)) }
                }
                p.gate { (gate_said(one, gated)) }
                (hinted(&hints(one, Some(gated))))
            }
            @if let [one] = all {
                @let [a, b] = one.short_names();
                (tiles(&[side("A", a, &one.a), side("B", b, &one.b)]))
            }
        }
    }
}

/// `2 SLOWER, 1 NO DIFFERENCE`, in the order in which they first come.
fn tally(all: &[Comparison]) -> String {
    let mut of: Vec<(Overall, u64)> = Vec::new();
    for one in all {
        match of.iter_mut().find(|(verdict, _)| *verdict == one.verdict) {
            Some((_, n)) => *n += 1,
            None => of.push((one.verdict, 1)),
        }
    }
    of.iter()
        .map(|(verdict, n)| format!("{} {}", count(*n), overall(*verdict)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The short name is what one looks for; the path of a file stands small below it.
fn side<'a>(name: &'a str, short: &str, side: &SideFacts) -> (&'a str, Markup) {
    let runs = crate::format::counted(side.runs as u64, "run");
    let requests = copied(&count(side.requests), Some(side.requests as f64));
    let path = (short != side.name).then_some(&side.name);
    (
        name,
        html! {
            (short) small { (runs) ", " (requests) " requests, " (side.target) }
            @if let Some(path) = path { small { (path) } }
        },
    )
}

/// One line: for lists of comparisons.
pub(super) fn line(one: &Comparison) -> Markup {
    let word = overall(one.verdict);
    html! { (said(tone(one.verdict), word)) " " (prose(behind(word, &one.sentence))) }
}

fn parts(one: &Comparison, gated: Option<&Gated>, charts: &[Chart], suffix: &str, at: &At) -> Vec<Section> {
    let mut out = Vec::new();
    let mut add = |id, title, body: Option<Markup>| {
        if let Some(body) = body {
            out.push(Section { id, title, body });
        }
    };
    let drawn = |stem: &str| -> Vec<&Chart> {
        let id = format!("{}{stem}{suffix}", at.part);
        charts.iter().filter(|chart| chart.id == id).collect()
    };
    let delta = drawn("delta");
    add("difference", "The difference", (!delta.is_empty()).then(|| shown(&delta)));
    add("figures", "Every figure", figures(one, at));
    let spectra = drawn("spectra");
    add("spectra", "Times of both sides", (!spectra.is_empty()).then(|| shown(&spectra)));
    add("doubts", "What speaks against believing it", doubts(one));
    add("gate", "The gate", gated.map(|gated| gate(one, gated)));
    add("requests", "Request by request", requests(one, at));
    add("watched", "What was watched", watched(one, at));
    add("method", "How it was made", Some(html! { p { (footing(one)) "." } }));
    out
}

/// Everything of one comparison, for pages that show more than that; `suffix` stands behind the ids of its charts.
pub(super) fn body(
    one: &Comparison,
    gated: Option<&Gated>,
    charts: &[Chart],
    suffix: &str,
    at: &At,
) -> Markup {
    html! {
        @for part in parts(one, gated, charts, suffix, at) {
            div #{ (at.id(part.id)) } { @if part.id != "difference" { (at.heading(part.title)) } (part.body) }
        }
    }
}

/// Beyond so many each is folded.
const OPEN: usize = 3;

fn overview(all: &[Comparison], gates: &[Gated]) -> Section {
    let heads = [text("comparison"), text("verdict"), text("gate"), text("sentence")];
    let row = |(at, one): (usize, &Comparison)| {
        let place = if one.cell.is_empty() { String::new() } else { format!(" at {}", cell_name(&one.cell)) };
        let gated = gates.get(at).map(|gated| gate_said(one, gated));
        let [a, b] = one.short_names();
        vec![
            Cell::Markup(html! { a href={ "#c" (at + 1) } { (b) " against " (a) (place) } }),
            Cell::Markup(said(tone(one.verdict), overall(one.verdict))),
            Cell::Markup(html! { @if let Some(gated) = gated { (gated) } }),
            Cell::Markup(prose(&one.sentence)),
        ]
    };
    let rows: Vec<Vec<Cell>> = all.iter().enumerate().map(row).collect();
    Section {
        id: "overview",
        title: "All comparisons",
        body: data("comparisons", "All comparisons", &heads, rows),
    }
}

fn several(all: &[Comparison], gates: &[Gated], charts: &[Chart]) -> Section {
    let open = all.len() <= OPEN;
    let body = html! {
        @for (at, one) in all.iter().enumerate() {
            details.comparison #{ "c" (at + 1) } open[open || at == 0] {
                summary { (line(one)) }
                @let suffix = format!("-{}", at + 1);
                (body(one, gates.get(at), charts, &suffix, &At::default().below(&format!("c{}-", at + 1))))
            }
        }
    };
    Section { id: "each", title: "Each of them", body }
}

fn figures(one: &Comparison, at: &At) -> Option<Markup> {
    if one.figures.is_empty() {
        return None;
    }
    let ends = format!("{} interval", ratio(one.confidence));
    let [a, b] = one.short_names();
    let heads = [
        text("figure"),
        number(a),
        number(b),
        number("change"),
        text(ends.as_str()),
        number("p (Holm)"),
        text("verdict"),
    ];
    let row = |row: &Compared| {
        vec![
            Cell::text(&row.figure),
            Cell::number(values(row)[0].clone(), row.a.filter(|_| !row.has_too_few())),
            Cell::number(values(row)[1].clone(), row.b.filter(|_| !row.has_too_few())),
            Cell::number(maybe_change(row, row.difference), row.difference),
            Cell::text(interval(row)),
            Cell::number(p_value(row.p_adjusted), row.p_adjusted),
            Cell::Markup(said(tone_of(one, row), &long_word(row))),
        ]
    };
    let rows: Vec<Vec<Cell>> = one.figures.iter().map(row).collect();
    let place = if one.cell.is_empty() { String::new() } else { format!(" at {}", cell_name(&one.cell)) };
    let caption = format!("{b} against {a}{place}");
    Some(data(&at.id("figures"), &caption, &heads, rows))
}

fn tone_of(one: &Comparison, row: &Compared) -> Tone {
    use plimsoll_experiment::compare::Verdict;
    match row.verdict {
        // Of runs that cannot be compared nothing is good or bad.
        _ if one.blocking().is_some() => Tone::Doubt,
        verdict if verdict.is_better() => Tone::Pass,
        verdict if verdict.is_worse() => Tone::Fail,
        Verdict::CannotTell => Tone::Doubt,
        _ => Tone::Note,
    }
}

fn doubts(one: &Comparison) -> Option<Markup> {
    if one.doubts.is_empty() {
        return None;
    }
    Some(html! {
        ul.findings { @for doubt in &one.doubts {
            (finding(Tone::from(doubt.weight), None, &html! {
                p.what { b { (words::weight(doubt.weight)) } " " (prose(&doubt.sentence)) " " code { (doubt.code) } }
            }))
        } }
    })
}

/// Every rule with the numbers that decided it.
fn gate(one: &Comparison, gated: &Gated) -> Markup {
    html! {
        p { (gate_said(one, gated)) }
        ul.findings { @for rule in &gated.rules {
            @let (tone, word_of) = match rule.passage {
                Passage::Pass => (Tone::Pass, "holds"),
                Passage::NotCompared => (Tone::Doubt, "not compared"),
                Passage::Inconclusive => (Tone::Doubt, "cannot tell"),
                Passage::Fail => (Tone::Fail, "broken"),
            };
            (finding(tone, None, &html! {
                p.what { b { (word_of) } " " code { (rule.text) } }
                p { (prose(&rule.evidence)) }
            }))
        } }
    }
}

/// Beyond these are requests that hardly moved.
const REQUESTS: usize = 50;

fn requests(one: &Comparison, at: &At) -> Option<Markup> {
    if one.requests.is_empty() {
        return None;
    }
    let [a, b] = one.short_names();
    let heads =
        [text("request"), number(a), number(b), number("change"), number("samples A"), number("samples B")];
    let row = |row: &Moved| {
        let difference = row.difference();
        vec![
            Cell::text(&row.name),
            Cell::number(duration_f64_ns(row.a_mean_ns), Some(row.a_mean_ns)),
            Cell::number(duration_f64_ns(row.b_mean_ns), Some(row.b_mean_ns)),
            Cell::number(change(difference, Scale::Ratio), Some(difference)),
            Cell::count(row.a_samples),
            Cell::count(row.b_samples),
        ]
    };
    let rows: Vec<Vec<Cell>> = one.requests.iter().take(REQUESTS).map(row).collect();
    let left = one.requests.len().saturating_sub(REQUESTS) as u64;
    Some(html! {
        p.lead { "Mean response times, the request that moved furthest first; those with fewer than 100 samples on a \
                  side are left out. They have no interval: they say where to look." }
        (data(&at.id("requests"), "Mean response times by request", &heads, rows))
        @if left > 0 { p.soft { "and " (counted(left, "request")) " that moved less" } }
    })
}

fn watched(one: &Comparison, at: &At) -> Option<Markup> {
    if one.watched.is_empty() {
        return None;
    }
    let [a, b] = one.short_names();
    let heads = [text("peak of"), number(a), number(b)];
    let row = |row: &Peaks| {
        let [of_a, of_b] = peaks(row);
        vec![Cell::text(&row.what), Cell::number(of_a, row.a), Cell::number(of_b, row.b)]
    };
    let rows: Vec<Vec<Cell>> = one.watched.iter().map(row).collect();
    Some(html! {
        p.lead { "A peak is one second of one run: it has no interval, so nothing is said of the difference." }
        (data(&at.id("watched"), "Peaks of what was watched", &heads, rows))
    })
}
