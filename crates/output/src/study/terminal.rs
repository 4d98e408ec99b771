//! A study on the terminal: a table and two small courses for each curve, then what the runs say together.

use super::{Group, doubt, errors, extent, groups, intervals, plus_minus, rate, sentences, time, watched};
use crate::format::{duration_f64_ns, quantity, rate_per_s, ratio};
use crate::line::{Line, width, wrap, write_all};
use crate::style::{Ink, Look};
use crate::terminal::chart::{Pool, resample, spark, top};
use crate::terminal::table::{Align, Table};
use plimsoll_experiment::study::{
    CellRow, Curve, CurvePoint, Finding, Scaling, Study, level_text, settings_text,
};

const LABEL: usize = 6;
const INDENT: usize = 2;
/// From so many columns on there is room for the mean and the requests in flight, and for the p90.
const WITH_MEAN: usize = 80;
const WITH_MORE: usize = 104;

/// The report, as wide as `look` says.
pub fn terminal(study: &Study, look: &Look) -> String {
    let columns = look.columns();
    let mut lines = vec![
        Line::of(Ink::Strong, &study.name).ink(Ink::Dim, &format!("  {}", extent(study))).cut(columns, look),
    ];
    lines.extend(wrap(&intervals(study), columns).iter().map(|part| Line::of(Ink::Dim, part)));
    let groups = groups(study);
    // Rates of all curves are to be compared: one scale.
    let rates: Vec<Option<f64>> =
        study.curves.iter().flat_map(|c| &c.points).map(|p| Some(p.rate_per_s)).collect();
    let times: Vec<Option<f64>> =
        study.curves.iter().flat_map(|c| &c.points).map(|p| p99(study, p)).collect();
    let scale = (top(&rates), top(&times));
    for group in &groups {
        lines.push(Line::new());
        let title = settings_text(&group.fixed);
        if !title.is_empty() {
            lines.push(Line::of(Ink::Strong, &title).cut(columns, look));
        }
        lines.extend(table(group, columns, look));
        lines.extend(seen(group, columns, look));
        if let Some(curve) = group.curve {
            lines.push(Line::new());
            lines.extend(courses(study, curve, scale, columns, look));
            for (what, text) in sentences(curve) {
                lines.extend(told(what, Ink::Plain, &text, columns));
            }
        }
    }
    for scaling in &study.scaling {
        lines.push(Line::new());
        lines.extend(scaled(scaling, columns, look));
    }
    findings(&study.findings, columns, look, &mut lines);
    write_all(&lines, look)
}

fn indented(line: Line) -> Line {
    Line::new().pad(INDENT).line(line)
}

fn table(group: &Group, columns: usize, look: &Look) -> Vec<Line> {
    let sign = if look.unicode { "±" } else { "+-" };
    let axis = group.curve.map_or("cell", |curve| curve.axis.as_str());
    let (mean, more) = (columns >= WITH_MEAN, columns >= WITH_MORE);
    let mut heads = vec![axis, "rate", "", "p50"];
    if mean {
        heads.push("");
    }
    if more {
        heads.push("p90");
    }
    heads.extend(["p99", ""]);
    if mean {
        heads.push("mean");
    }
    heads.push("errors");
    if more {
        heads.extend(["in flight", "X R"]);
    }
    let pairs = |at: usize| heads[at].is_empty();
    let numbers = group.rows.iter().all(|(name, _)| name.parse::<f64>().is_ok());
    let aligns: Vec<Align> = (0..heads.len())
        .map(|at| if pairs(at) || (at == 0 && !numbers) { Align::Left } else { Align::Right })
        .collect();
    let mut table = Table::new(&aligns);
    table.row(heads.iter().map(|head| Line::of(Ink::Dim, head)).collect());
    for (name, row) in &group.rows {
        let dim = |text: String| Line::of(Ink::Dim, &text);
        let figure =
            |text: String| if row.valid { Line::new().text(&text) } else { Line::of(Ink::Dim, &text) };
        let mut cells = vec![Line::of(if row.valid { Ink::Strong } else { Ink::Dim }, name)];
        cells.extend([figure(rate(&row.rate_per_s)), dim(plus_minus(&row.rate_per_s, sign))]);
        cells.push(figure(time(&row.p50_ns)));
        if mean {
            cells.push(dim(plus_minus(&row.p50_ns, sign)));
        }
        if more {
            cells.push(figure(time(&row.p90_ns)));
        }
        cells.extend([figure(time(&row.p99_ns)), dim(plus_minus(&row.p99_ns, sign))]);
        if mean {
            cells.push(figure(time(&row.mean_ns)));
        }
        let failed = errors(&row.error_ratio);
        cells.push(if row.errors > 0 { Line::of(Ink::Bad, &failed) } else { dim(failed) });
        if more {
            cells.extend([figure(quantity(row.in_flight)), figure(quantity(row.little.rate_times_time))]);
        }
        table.row(cells);
    }
    let mut lines: Vec<Line> = table.lines(columns - INDENT, look).into_iter().map(indented).collect();
    for (name, row) in group.rows.iter().filter(|(_, row)| !row.left_out.is_empty()) {
        lines.extend(doubts(axis, name, row, columns, look));
    }
    lines
}

/// Below the figures, because there is one pair of columns for each monitor; what does not fit is cut from the right.
fn seen(group: &Group, columns: usize, look: &Look) -> Vec<Line> {
    let heads = watched::columns(group.rows.iter().map(|(_, row)| *row));
    if heads.is_empty() {
        return Vec::new();
    }
    let axis = group.curve.map_or("cell", |curve| curve.axis.as_str());
    let mut aligns = vec![Align::Right; heads.len() + 1];
    aligns.push(Align::Left);
    let mut table = Table::new(&aligns);
    let dim = |text: &str| Line::of(Ink::Dim, text);
    let names = heads.iter().map(|column| dim(column));
    table.row([dim(axis)].into_iter().chain(names).chain([dim("at its limit")]).collect());
    for (name, row) in &group.rows {
        let mut cells = vec![Line::of(if row.valid { Ink::Strong } else { Ink::Dim }, name)];
        cells.extend(heads.iter().map(|column| Line::new().text(&watched::cell(row, column))));
        cells.push(dim(&watched::limiting(row)));
        table.row(cells);
    }
    let mut lines = vec![Line::new()];
    lines.extend(table.lines(columns - INDENT, look).into_iter().map(indented));
    lines
}

fn doubts(axis: &str, name: &str, row: &CellRow, columns: usize, look: &Look) -> Vec<Line> {
    let text = format!("{axis} {name}: {}", doubt(row));
    let first = look.signs().warn;
    wrap(&text, columns - INDENT - width(first))
        .into_iter()
        .enumerate()
        .map(|(at, part)| {
            let mark = if at == 0 { first.to_owned() } else { " ".repeat(width(first)) };
            indented(Line::of(Ink::Warn, &mark).text(&part))
        })
        .collect()
}

/// p99 where it has enough samples to be drawn.
fn p99(study: &Study, point: &CurvePoint) -> Option<f64> {
    let has_few = study.table.get(point.cell).is_some_and(|row| row.p99_ns.too_few_samples);
    point.p99_ns.filter(|_| !has_few)
}

/// Rate and p99 over the levels, a letter or a few for each level, all curves to one scale.
fn courses(study: &Study, curve: &Curve, scale: (f64, f64), columns: usize, look: &Look) -> Vec<Line> {
    if curve.points.len() < 3 {
        return Vec::new();
    }
    let rates: Vec<Option<f64>> = curve.points.iter().map(|p| Some(p.rate_per_s)).collect();
    let times: Vec<Option<f64>> = curve.points.iter().map(|p| p99(study, p)).collect();
    let room = columns.saturating_sub(INDENT + LABEL + 24);
    let course = |name: &str, ink, values: &[Option<f64>], top: f64, text: String| {
        let drawn = spark(&resample(values, room, Pool::Highest), top, look);
        let line =
            Line::of(Ink::Dim, name).pad(LABEL).ink(ink, &drawn).ink(Ink::Dim, &format!("  0 to {text}"));
        indented(line.cut(columns - INDENT, look))
    };
    vec![
        course("rate", Ink::Accent, &rates, scale.0, rate_per_s(scale.0)),
        course("p99", Ink::Warn, &times, scale.1, duration_f64_ns(scale.1)),
    ]
}

/// A label, and text broken beside it.
fn told(label: &str, ink: Ink, text: &str, columns: usize) -> Vec<Line> {
    let parts = wrap(text, columns.saturating_sub(INDENT + LABEL));
    let line = |(at, part): (usize, String)| {
        let label = if at == 0 { label } else { "" };
        indented(Line::of(Ink::Dim, label).pad(LABEL).ink(ink, &part))
    };
    parts.into_iter().enumerate().map(line).collect()
}

fn scaled(scaling: &Scaling, columns: usize, look: &Look) -> Vec<Line> {
    let fixed = settings_text(&scaling.fixed);
    let title = format!("scaling over {}{}{fixed}", scaling.axis, if fixed.is_empty() { "" } else { ", " });
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Right, Align::Left]);
    let heads = [scaling.axis.as_str(), "rate", "speed-up", "efficiency", ""];
    table.row(heads.iter().map(|head| Line::of(Ink::Dim, head)).collect());
    for step in &scaling.steps {
        let interval = step.low.zip(step.high).map(|(l, h)| format!("{} to {}", ratio(l), ratio(h)));
        table.row(vec![
            Line::of(Ink::Strong, &level_text(step.n)),
            Line::new().text(&rate_per_s(step.rate_per_s)),
            Line::new().text(&format!("{}{}", quantity(step.speed_up), look.signs().times)),
            Line::new().text(&ratio(step.efficiency)),
            Line::of(Ink::Dim, &interval.unwrap_or_default()),
        ]);
    }
    let mut lines = vec![Line::of(Ink::Strong, &title).cut(columns, look)];
    lines.extend(table.lines(columns - INDENT, look).into_iter().map(indented));
    lines
}

fn findings(findings: &[Finding], columns: usize, look: &Look, lines: &mut Vec<Line>) {
    if findings.is_empty() {
        return;
    }
    lines.extend([Line::new(), Line::of(Ink::Strong, "what the runs say together")]);
    let mark = look.signs().warn;
    let hang = INDENT + width(mark);
    for (at, finding) in findings.iter().enumerate() {
        if at > 0 {
            lines.push(Line::new());
        }
        for (part, text) in wrap(&finding.sentence, columns - hang).iter().enumerate() {
            let sign = if part == 0 { mark.to_owned() } else { " ".repeat(width(mark)) };
            lines.push(indented(Line::of(Ink::Warn, &sign).ink(Ink::Strong, text)));
        }
        let more = |ink, text: &str| -> Vec<Line> {
            wrap(text, columns - hang).iter().map(|part| Line::new().pad(hang).ink(ink, part)).collect()
        };
        lines.extend(more(Ink::Plain, &finding.evidence));
        lines.extend(more(Ink::Dim, &format!("{}{}", look.signs().arrow, finding.advice)));
        lines.extend(more(Ink::Dim, finding.code));
    }
}
