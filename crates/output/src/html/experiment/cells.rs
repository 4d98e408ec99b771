//! A sweep: its curves as pictures, its cells as one table, what they say together, and what stood at its limit.

use super::super::bits::{At, data, facts, finding, said};
use super::super::piece::{Tone, figure as copied, prose};
use super::super::table::{Cell, Column, number, text};
use super::{RunFile, drawn, shown};
use crate::format::{counted, quantity, rate_per_s, ratio};
use crate::study;
use maud::{Markup, html};
use plimsoll_analysis::summary::Outcome;
use plimsoll_chart::Chart;
use plimsoll_experiment::conclusion::Conclusion;
use plimsoll_experiment::study::{
    AxisKind, CellRow, Curve, Estimate, Scaling, Study, level_text, settings_text,
};
use plimsoll_plan::experiment::Setting;

/// Throughput first: that is where the capacity is seen.
const PICTURES: [&str; 3] = ["capacity-", "latency-", "over-"];

/// The curves and, below them, what each follows.
pub fn pictures(c: &Conclusion, charts: &[Chart], at: &At) -> Option<Markup> {
    let study = c.study.as_ref()?;
    let all: Vec<&Chart> = PICTURES.iter().flat_map(|stem| drawn(charts, at, stem)).collect();
    if all.is_empty() && study.curves.is_empty() && study.scaling.is_empty() {
        return None;
    }
    Some(html! {
        (shown(&all))
        @for curve in study.curves.iter().filter(|_| !is_told_above(study)) { (told(curve, at)) }
        @for (number, scaling) in study.scaling.iter().enumerate() { (scaled(scaling, number, at)) }
    })
}

/// More curves than one would bury the verdict.
fn is_told_above(study: &Study) -> bool {
    study.curves.len() == 1
}

/// Findings that tell why a curve ends, what is surest first; of others the first is taken.
const CAUSES: [&str; 4] = ["link_full", "limiting_resource", "retrograde", "saturated"];

/// Why it is so, and what to do next: what keeps a result open, else the finding that says most.
pub fn next(c: &Conclusion, at: &At) -> Option<Markup> {
    let study = c.study.as_ref()?;
    let lines = |why: &Markup, next: &Markup| {
        html! { dl.next { dt { "Why" } dd { (why) } dt { "Next" } dd { (next) } } }
    };
    let is_open = c.result == Outcome::Inconclusive;
    if is_open && c.missing > 0 {
        let left = counted(c.missing as u64, "run");
        return Some(lines(
            &html! { (left) " of the experiment are still to be made." },
            &html! { "The same command with the same " code { "--out" } " goes on where it was stopped." },
        ));
    }
    let find = |code: &str| study.findings.iter().find(|finding| finding.code == code);
    let is_flawed = study.table.iter().any(|row| !row.valid);
    if is_open && !is_flawed && c.doubtful_cells > 0 {
        let cells = counted(c.doubtful_cells as u64, "cell");
        return Some(lines(
            &html! { "In " (cells) " a threshold names a percentile that needs more samples than there are." },
            &html! { "Run each cell longer, or hold it against a lower percentile." },
        ));
    }
    let open = if is_open && is_flawed { find("runs_left_out") } else { None };
    let told = open.or_else(|| CAUSES.iter().find_map(|code| find(code))).or(study.findings.first())?;
    Some(lines(
        &html! {
            (prose(&told.sentence)) " (" (prose(&told.evidence)) "). "
            a href={ "#" (at.id("findings")) } { "All findings" }
        },
        &html! { (prose(&told.advice)) "." },
    ))
}

/// The answer that the picture shows, for the head of the page.
pub fn answer(c: &Conclusion, at: &At) -> Option<Markup> {
    let study = c.study.as_ref().filter(|study| is_told_above(study))?;
    Some(html! { @for curve in &study.curves { (told(curve, at)) } })
}

/// Highest measured rate, knee and where the rate no longer rises, as far as the study knows them.
pub fn tiles(c: &Conclusion) -> Vec<(&'static str, Markup)> {
    let Some([curve]) = c.study.as_ref().map(|study| study.curves.as_slice()) else { return Vec::new() };
    if curve.kind == AxisKind::Other {
        return Vec::new();
    }
    let mut out = Vec::new();
    let highest = curve.points.iter().max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    if let Some(point) = highest {
        let at = format!("at {} {}", level_text(point.x), curve.axis);
        let rate = copied(&rate_per_s(point.rate_per_s), Some(point.rate_per_s));
        out.push(("highest rate", html! { (rate) small { (at) } }));
    }
    let is_flat_there = curve.saturation.as_ref().is_some_and(|flat| study::is_knee(curve, flat));
    if let Some(knee) = curve.knee.at.filter(|_| !is_flat_there) {
        out.push(("knee", html! { (copied(&level_text(knee), Some(knee))) small { (curve.axis) } }));
    }
    if let Some(flat) = &curve.saturation {
        let rate = format!("{}, at {}", curve.axis, rate_per_s(flat.rate_per_s));
        out.push(("flat from", html! { (copied(&level_text(flat.from), Some(flat.from))) small { (rate) } }));
    }
    out
}

fn told(curve: &Curve, at: &At) -> Markup {
    let title = settings_text(&curve.fixed);
    let mut lines: Vec<(&str, Markup)> =
        study::sentences(curve).into_iter().map(|(what, text)| (what, prose(&text))).collect();
    if let Some(limiting) = &curve.limiting {
        lines.push(("at its limit", prose(limiting)));
    }
    html! {
        @if !title.is_empty() { (at.heading(&title)) }
        (facts(&lines))
    }
}

fn scaled(scaling: &Scaling, place: usize, at: &At) -> Markup {
    let fixed = settings_text(&scaling.fixed);
    let title = if fixed.is_empty() { scaling.axis.clone() } else { format!("{}, {fixed}", scaling.axis) };
    let heads = [
        number(scaling.axis.as_str()),
        number("rate"),
        number("speed-up"),
        number("efficiency"),
        text("95 % interval"),
    ];
    let rows: Vec<Vec<Cell>> = scaling
        .steps
        .iter()
        .map(|step| {
            let interval = step.low.zip(step.high).map(|(l, h)| format!("{} to {}", ratio(l), ratio(h)));
            vec![
                Cell::number(level_text(step.n), Some(step.n)),
                Cell::number(rate_per_s(step.rate_per_s), Some(step.rate_per_s)),
                Cell::number(quantity(step.speed_up), Some(step.speed_up)),
                Cell::number(ratio(step.efficiency), Some(step.efficiency)),
                Cell::text(interval.unwrap_or_default()),
            ]
        })
        .collect();
    let caption = format!("Scaling over {title}");
    data(&at.id(&format!("scaling-{}", place + 1)), &caption, &heads, rows)
}

/// One row for each cell, repeats pooled, with its intervals and its run files.
pub fn table(c: &Conclusion, files: &[RunFile], at: &At) -> Option<Markup> {
    let study = c.study.as_ref().filter(|study| !study.table.is_empty())?;
    let mut heads: Vec<Column> =
        study.axes.iter().map(|axis| Column { title: axis, is_number: is_number(study, axis) }).collect();
    if heads.is_empty() {
        heads.push(text("cell"));
    }
    let axes = heads.len();
    for head in
        ["rate", "± rate", "errors", "mean", "p50", "± p50", "p90", "p99", "± p99", "in flight", "X R"]
    {
        heads.push(number(head));
    }
    heads.extend([number("requests"), text("runs")]);
    // A column of intervals that nobody could compute is left out.
    let is_empty =
        |of: fn(&CellRow) -> &Estimate| study.table.iter().all(|row| of(row).half_width_ratio().is_none());
    let empty: Vec<usize> = SPREADS.iter().filter(|(_, of)| is_empty(*of)).map(|(at, _)| axes + at).collect();
    let mut place = 0..heads.len();
    heads.retain(|_| place.next().is_none_or(|place| !empty.contains(&place)));
    let rows: Vec<Vec<Cell>> =
        study.table.iter().map(|row| without(cells(study, row, files), &empty)).collect();
    let doubts: Vec<(String, String)> = study
        .table
        .iter()
        .filter(|row| !row.left_out.is_empty())
        .map(|row| (settings_text(&row.settings), study::doubt(row)))
        .collect();
    let caption =
        format!("{}, {}", counted(study.table.len() as u64, "cell"), counted(study.runs as u64, "run"));
    Some(html! {
        p.lead { (study::intervals(study)) ". X R is rate times mean response time: with users, their number." }
        (data(&at.id("cells"), &caption, &heads, rows))
        @if !doubts.is_empty() {
            ul.doubts { @for (name, why) in &doubts { li {
                (said(Tone::Doubt, if name.is_empty() { &study.name } else { name })) ": " (prose(why))
            } } }
        }
    })
}

/// Columns of intervals, counted behind those of the axes.
type Spread = (usize, fn(&CellRow) -> &Estimate);

const SPREADS: [Spread; 3] = [(1, |row| &row.rate_per_s), (5, |row| &row.p50_ns), (8, |row| &row.p99_ns)];

fn without(cells: Vec<Cell>, left_out: &[usize]) -> Vec<Cell> {
    let kept = cells.into_iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    kept.map(|(_, cell)| cell).collect()
}

/// Numbers are sorted as such only where all values are.
fn is_number(study: &Study, axis: &str) -> bool {
    let parses = |row: &CellRow| row.setting(axis).is_none_or(|value| value.parse::<f64>().is_ok());
    study.table.iter().all(parses)
}

fn cells(study: &Study, row: &CellRow, files: &[RunFile]) -> Vec<Cell> {
    let mut out: Vec<Cell> = Vec::new();
    for axis in &study.axes {
        let value = row.setting(axis).unwrap_or("-");
        out.push(match is_number(study, axis) {
            true => Cell::number(value.to_owned(), value.parse().ok()),
            false => Cell::text(value),
        });
    }
    if out.is_empty() {
        out.push(Cell::text(&study.name));
    }
    let with = |e: &Estimate, text: String| Cell::number(text, e.value.filter(|_| !e.too_few_samples));
    let width = |e: &Estimate| e.half_width_ratio().filter(|_| !study::says_nothing(e) && !e.too_few_samples);
    let spread = |e: &Estimate| Cell::number(study::plus_minus(e, "±"), width(e));
    let failed = study::errors(&row.error_ratio);
    let failed = match row.errors {
        0 => html! { (failed) },
        _ => html! { span.bad { (failed) } },
    };
    out.extend([
        with(&row.rate_per_s, study::rate(&row.rate_per_s)),
        spread(&row.rate_per_s),
        Cell::Valued(failed, row.error_ratio.value),
        with(&row.mean_ns, study::time(&row.mean_ns)),
        with(&row.p50_ns, study::time(&row.p50_ns)),
        spread(&row.p50_ns),
        with(&row.p90_ns, study::time(&row.p90_ns)),
        with(&row.p99_ns, study::time(&row.p99_ns)),
        spread(&row.p99_ns),
        Cell::number(quantity(row.in_flight), Some(row.in_flight)),
        Cell::number(quantity(row.little.rate_times_time), Some(row.little.rate_times_time)),
        Cell::count(row.requests),
        Cell::Markup(runs(&row.settings, files)),
    ]);
    out
}

/// A short link for each repeat of a cell: its number, and the name of its file for those who point at it.
fn runs(settings: &[Setting], files: &[RunFile]) -> Markup {
    let own: Vec<&RunFile> = files.iter().filter(|file| file.settings == settings).collect();
    html! { span.row { @for (at, file) in own.iter().enumerate() {
        @if at > 0 { " " }
        @match &file.href {
            Some(href) => a href=(href) title=(file.name) { (at + 1) },
            None => span title=(file.name) { (at + 1) },
        }
    } } }
}

/// What the numbers of several runs say.
pub fn findings(c: &Conclusion) -> Option<Markup> {
    let study = c.study.as_ref().filter(|study| !study.findings.is_empty())?;
    Some(html! {
        ul.findings { @for one in &study.findings {
            (finding(Tone::Doubt, None, &html! {
                p.what { b { (prose(&one.sentence)) } " " code { (one.code) } }
                p { (prose(&one.evidence)) }
                p.advice { span.word { "To do: " } (prose(&one.advice)) }
            }))
        } }
    })
}

/// Peaks of what was watched, by cell, and what stood at its limit.
pub fn resources(c: &Conclusion, at: &At) -> Option<Markup> {
    let study = c.study.as_ref()?;
    let columns = study::watched::columns(study.table.iter());
    if columns.is_empty() {
        return None;
    }
    let mut heads = vec![text("cell")];
    heads.extend(columns.iter().map(|column| number(column.as_str())));
    heads.push(text("at its limit"));
    let row = |row: &CellRow| {
        let title = settings_text(&row.settings);
        let mut cells = vec![Cell::text(if title.is_empty() { &study.name } else { &title })];
        for column in &columns {
            let peak = study::watched::peak(row, column);
            cells.push(Cell::number(study::watched::cell(row, column), peak));
        }
        cells.push(Cell::text(study::watched::limiting(row)));
        cells
    };
    let rows: Vec<Vec<Cell>> = study.table.iter().map(row).collect();
    Some(html! {
        p.lead { "Peaks, with their share of the limit in brackets. A peak is one second of one run." }
        (data(&at.id("resources"), "What was watched", &heads, rows))
    })
}
