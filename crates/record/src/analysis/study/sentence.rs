//! What a sweep found, in one sentence: the highest rate and where, where it bends and stays flat, what gives way
//! first, and from which cell on a threshold is missed. Clauses stand in the order in which somebody who plans a
//! capacity asks for them; what the runs have nothing for is left out.

use super::{AxisKind, CellRow, Curve, CurvePoint, Scaling, knee, level_text, settings_text};
use crate::phrase::{count, counted, quantity, rate_per_s, ratio as percent};

/// So many curves have a clause each; of more the best and the worst are told.
const CURVES: usize = 3;
/// So many thresholds are named when all of them hold.
const NAMED: usize = 2;

pub(super) fn sentence(table: &[CellRow], curves: &[Curve], scaling: &[Scaling]) -> String {
    let valid: Vec<&CellRow> = table.iter().filter(|row| row.valid).collect();
    if valid.is_empty() {
        return String::new();
    }
    let mut clauses = match curves {
        [] => bare(&valid),
        [one] => vec![format!("{}{}", summit(one), course(one, table))],
        few if few.len() <= CURVES => few.iter().map(|one| named(one, table)).collect(),
        many => vec![range(many)],
    };
    if let [one] = curves {
        clauses.extend(bend(one));
        clauses.extend(limiting(one));
    }
    clauses.extend(servers(scaling));
    let single = if let [one] = curves { Some(one) } else { None };
    clauses.extend(failures(&valid, table, single));
    clauses.join("; ")
}

/// `8 users`, `500/s offered`, `payload 1,000`.
fn place(curve: &Curve, x: f64) -> String {
    match curve.kind {
        AxisKind::Concurrency if x == 1.0 => format!("1 {}", curve.axis.trim_end_matches('s')),
        AxisKind::Concurrency => format!("{} {}", level_text(x), curve.axis),
        AxisKind::Rate => format!("{} offered", rate_per_s(x)),
        AxisKind::Other => format!("{} {}", curve.axis, level_text(x)),
    }
}

fn ends<'a>(
    points: impl Iterator<Item = &'a CurvePoint> + Clone,
) -> Option<(&'a CurvePoint, &'a CurvePoint)> {
    let by = |a: &&CurvePoint, b: &&CurvePoint| a.rate_per_s.total_cmp(&b.rate_per_s);
    Some((points.clone().min_by(by)?, points.max_by(by)?))
}

fn summit(curve: &Curve) -> String {
    let Some((low, top)) = ends(curve.points.iter()) else { return "no rate".into() };
    let highest = format!("highest rate {} at {}", rate_per_s(top.rate_per_s), place(curve, top.x));
    match curve.kind {
        AxisKind::Other => {
            format!("{highest}, lowest {} at {}", rate_per_s(low.rate_per_s), place(curve, low.x))
        }
        _ => highest,
    }
}

/// What becomes of the rate as the load rises.
fn course(curve: &Curve, table: &[CellRow]) -> String {
    if let Some(flat) = &curve.saturation {
        let cause = if flat.is_link { ": the link is full" } else { "" };
        return format!(", flat from {} on{cause}", place(curve, flat.from));
    }
    if let (Some(_), Some(last)) = (curve.falls_from, curve.points.last()) {
        return format!(", only {} at {}", rate_per_s(last.rate_per_s), place(curve, last.x));
    }
    match curve.kind {
        AxisKind::Concurrency if knee::rises_to_the_end(&curve.points) => ", and still rising there".into(),
        AxisKind::Rate => match knee::unserved(&curve.points, table) {
            Some(point) => format!(", short of what was offered from {} on", rate_per_s(point.x)),
            None => ", as offered".into(),
        },
        _ => String::new(),
    }
}

fn bend(curve: &Curve) -> Option<String> {
    let at = curve.knee.at?;
    Some(match curve.kind {
        AxisKind::Rate => format!("times turn upwards at {}", rate_per_s(at)),
        _ => format!("knee at {} {}", quantity(at), curve.axis),
    })
}

/// What stood at its limit there, where monitors saw it.
fn limiting(curve: &Curve) -> Option<String> {
    let told = curve.limiting.as_deref()?;
    let (what, _) = told.split_once(" (").unwrap_or((told, ""));
    let is_known = !["none of", "not known"].iter().any(|start| told.starts_with(start));
    is_known.then(|| format!("{what} at its limit there"))
}

fn named(curve: &Curve, table: &[CellRow]) -> String {
    format!("{}: {}{}", settings_text(&curve.fixed), summit(curve), course(curve, table))
}

fn range(curves: &[Curve]) -> String {
    let top = |curve: &Curve| ends(curve.points.iter()).map_or(0.0, |(_, top)| top.rate_per_s);
    let by = |a: &&Curve, b: &&Curve| top(a).total_cmp(&top(b));
    let (Some(best), Some(worst)) = (curves.iter().max_by(by), curves.iter().min_by(by)) else {
        return String::new();
    };
    format!(
        "{} curves: {} ({}), {} in the slowest ({})",
        count(curves.len() as u64),
        summit(best),
        settings_text(&best.fixed),
        rate_per_s(top(worst)),
        settings_text(&worst.fixed)
    )
}

/// Cells of which no two differ in a number alone.
fn bare(valid: &[&CellRow]) -> Vec<String> {
    let rate = |row: &&CellRow| row.rate_per_s.value.unwrap_or(0.0);
    let by = |a: &&&CellRow, b: &&&CellRow| rate(a).total_cmp(&rate(b));
    let (Some(best), Some(worst)) = (valid.iter().max_by(by), valid.iter().min_by(by)) else {
        return Vec::new();
    };
    let of = |row: &CellRow| match settings_text(&row.settings) {
        text if text.is_empty() => text,
        text => format!(" ({text})"),
    };
    let highest = format!("{}{}", rate_per_s(rate(best)), of(best));
    if valid.len() == 1 {
        return vec![highest];
    }
    vec![format!("highest rate {highest}, lowest {}{}", rate_per_s(rate(worst)), of(worst))]
}

/// What more servers bring; of several rows the worst.
fn servers(scaling: &[Scaling]) -> Option<String> {
    let last = |one: &Scaling| one.steps.last().copied();
    let worst = scaling.iter().min_by(|a, b| {
        let of = |one: &Scaling| last(one).map_or(f64::INFINITY, |step| step.efficiency);
        of(a).total_cmp(&of(b))
    })?;
    let (first, step) = (worst.steps.first()?, last(worst)?);
    (step.n > first.n).then(|| {
        format!(
            "{} {} carry {} times what {} did (efficiency {})",
            level_text(step.n),
            worst.axis,
            quantity(step.speed_up),
            level_text(first.n),
            percent(step.efficiency)
        )
    })
}

/// Thresholds that are missed and requests that fail, what begins at the lowest level first; or that nothing does.
fn failures(valid: &[&CellRow], table: &[CellRow], curve: Option<&Curve>) -> Vec<String> {
    let order: Vec<(String, &CellRow)> = match curve {
        Some(curve) => curve.points.iter().map(|p| (place(curve, p.x), &table[p.cell])).collect(),
        None => valid.iter().map(|row| (settings_text(&row.settings), *row)).collect(),
    };
    let mut texts: Vec<&str> = Vec::new();
    for threshold in order.iter().flat_map(|(_, row)| &row.thresholds) {
        if !texts.contains(&threshold.text.as_str()) {
            texts.push(&threshold.text);
        }
    }
    let mut begins: Vec<(usize, String)> = Vec::new();
    for text in &texts {
        let is_missed = |row: &CellRow| row.thresholds.iter().any(|one| one.text == *text && one.is_missed());
        if let Some((first, told)) = where_from(&order, curve.is_some(), is_missed) {
            begins.push((first, format!("threshold {text} is missed {told}")));
        }
    }
    let missed = begins.len();
    let failing = where_from(&order, curve.is_some(), |row| row.errors > 0);
    if let Some((first, told)) = &failing {
        let of = |row: &CellRow| row.error_ratio.value.unwrap_or(0.0);
        let most = order.iter().map(|(_, row)| of(row)).fold(0.0, f64::max);
        begins.push((*first, format!("requests fail {told}, up to {}", percent(most))));
    }
    begins.sort_by_key(|(first, _)| *first);
    let mut out: Vec<String> = begins.into_iter().map(|(_, text)| text).collect();
    if out.len() > 1 {
        out[0] = format!("first to give way: {}", out[0]);
    }
    if missed == 0 && !texts.is_empty() {
        out.push(match texts.len() {
            1 => format!("threshold {} holds everywhere", texts[0]),
            n if n <= NAMED => format!("thresholds {} hold everywhere", texts.join(" and ")),
            n => format!("all {n} thresholds hold everywhere"),
        });
    }
    // A threshold on errors that holds says as much.
    if failing.is_none() && !texts.iter().any(|text| text.starts_with("errors")) {
        out.push("no errors".into());
    }
    out
}

/// The place of the first such row, and where they are: `from 16 users on`, `at 4 users`, `in 2 of 6 cells, first at
/// node`. Along a curve only what goes on to its end is said to begin.
fn where_from(
    order: &[(String, &CellRow)],
    is_curve: bool,
    is_it: impl Fn(&CellRow) -> bool,
) -> Option<(usize, String)> {
    let found: Vec<usize> = (0..order.len()).filter(|at| is_it(order[*at].1)).collect();
    let first = *found.first()?;
    let name = &order[first].0;
    let goes_on = found.len() == order.len() - first;
    Some((
        first,
        match found.len() {
            n if n == order.len() && n > 1 && is_curve => "at every level".into(),
            n if n == order.len() && n > 1 => "in every cell".into(),
            1 if is_curve => format!("at {name}"),
            1 if name.is_empty() => "there".into(),
            1 => format!("in {name}"),
            _ if is_curve && goes_on => format!("from {name} on"),
            n => format!(
                "in {n} of {}, first {} {name}",
                counted(order.len() as u64, "cell"),
                if is_curve { "at" } else { "in" }
            ),
        },
    ))
}
