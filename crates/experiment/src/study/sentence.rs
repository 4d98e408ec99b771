//! The result of a sweep in one sentence: the highest throughput and its level, the knee and the saturation, the
//! first failure, and the first cell that misses a threshold. Clauses are in the order in which a capacity planner
//! asks for them; those without data are omitted.

use super::{AxisKind, CellRow, CellThreshold, Curve, CurvePoint, Scaling, knee, level_text, settings_text};
use plimsoll_analysis::summary::Bottleneck;
use plimsoll_plan::phrase::{count, counted, quantity, rate_per_s, ratio as percent};

/// Number of curves with a clause each; of more, only the best and the worst are named.
const CURVES: usize = 3;
/// Number of thresholds that are named if all are met.
const NAMED: usize = 2;

pub(super) fn sentence(table: &[CellRow], curves: &[Curve], scaling: &[Scaling]) -> String {
    let valid: Vec<&CellRow> = table.iter().filter(|row| row.is_valid).collect();
    if valid.is_empty() {
        return String::new();
    }
    // A cell outside of every curve may be the best or the worst of all; then the sentence is about cells, not
    // curves.
    let is_whole = curves.iter().map(|curve| curve.points.len()).sum::<usize>() == valid.len();
    let mut clauses = match curves {
        _ if !is_whole => bare(&valid),
        [] => bare(&valid),
        [one] => vec![describe(one, table)],
        few if few.len() <= CURVES => few.iter().map(|one| named(one, table)).collect(),
        many => vec![range(many, table)],
    };
    let single = if let [one] = curves { Some(one).filter(|_| is_whole) } else { None };
    if let Some(one) = single {
        clauses.extend(bend(one));
        clauses.extend(limiting(one));
    }
    clauses.extend(servers(scaling));
    clauses.extend(failures(&valid, table, single));
    clauses.join("; ")
}

/// `8 users`, `500/s offered`, `payload 1,000`.
fn place(curve: &Curve, x: f64) -> String {
    match curve.kind {
        AxisKind::Concurrency if x == 1.0 => format!("1 {}", curve.parameter.trim_end_matches('s')),
        AxisKind::Concurrency => format!("{} {}", level_text(x), curve.parameter),
        AxisKind::Rate => format!("{} offered", rate_per_s(x)),
        AxisKind::Other => format!("{} {}", curve.parameter, level_text(x)),
    }
}

fn ends<'a>(
    points: impl Iterator<Item = &'a CurvePoint> + Clone,
) -> Option<(&'a CurvePoint, &'a CurvePoint)> {
    let by = |a: &&CurvePoint, b: &&CurvePoint| a.rate_per_s.total_cmp(&b.rate_per_s);
    Some((points.clone().min_by(by)?, points.max_by(by)?))
}

/// From this share of failures up, a throughput is marked.
const FAILING: f64 = 0.01;
/// A knee within this share of the start of the saturation is the same fact.
const SAME: f64 = 0.10;

/// The highest throughput, and the course beyond it as the load rises.
fn describe(curve: &Curve, table: &[CellRow]) -> String {
    match (&curve.saturation, ends(curve.points.iter())) {
        (Some(flat), Some((_, top))) => {
            let limit = if flat.is_link { "network saturated" } else { "saturated" };
            let (rate, from) = (rate_per_s(top.rate_per_s), place(curve, flat.from_level));
            format!("highest throughput {rate}{}, {limit} from {from} up", failing(top, table))
        }
        _ => format!("{}{}", summit(curve, table), course(curve, table)),
    }
}

/// Failures are often fast, so they are mentioned.
fn failing(point: &CurvePoint, table: &[CellRow]) -> &'static str {
    let share = table.get(point.row).and_then(|row| row.error_ratio.value).unwrap_or(0.0);
    if share > FAILING { " (failures included)" } else { "" }
}

fn summit(curve: &Curve, table: &[CellRow]) -> String {
    let Some((low, top)) = ends(curve.points.iter()) else { return "no throughput".into() };
    let (rate, at) = (rate_per_s(top.rate_per_s), place(curve, top.parameter_value));
    let highest = format!("highest throughput {rate}{} at {at}", failing(top, table));
    match curve.kind {
        AxisKind::Other if rate == rate_per_s(low.rate_per_s) => {
            format!("throughput {rate} at every {}", curve.parameter)
        }
        AxisKind::Other => {
            format!(
                "{highest}, lowest {} at {}",
                rate_per_s(low.rate_per_s),
                place(curve, low.parameter_value)
            )
        }
        AxisKind::Concurrency | AxisKind::Rate => highest,
    }
}

/// The course of throughput as the load rises.
fn course(curve: &Curve, table: &[CellRow]) -> String {
    if let (Some(_), Some(last)) = (curve.retrograde_from, curve.points.last()) {
        return format!(
            ", falling to {} at {}",
            rate_per_s(last.rate_per_s),
            place(curve, last.parameter_value)
        );
    }
    match curve.kind {
        AxisKind::Concurrency if is_rising(curve) => " and still rising".into(),
        AxisKind::Rate => match knee::unserved(&curve.points, table) {
            Some((point, true)) => {
                format!(", below the offered rate from {} up", rate_per_s(point.parameter_value))
            }
            Some((point, false)) => {
                format!(", below the offered rate at {}", rate_per_s(point.parameter_value))
            }
            None => ", as offered".into(),
        },
        AxisKind::Concurrency | AxisKind::Other => String::new(),
    }
}

/// Whether the last level has the highest throughput, and throughput still rose there.
fn is_rising(curve: &Curve) -> bool {
    let ends = ends(curve.points.iter()).zip(curve.points.last());
    let is_last = ends
        .is_some_and(|((_, top), last)| top.parameter_value == last.parameter_value && top.rate_per_s > 0.0);
    is_last && knee::rises_to_the_end(&curve.points)
}

fn bend(curve: &Curve) -> Option<String> {
    let at = curve.knee.level?;
    let is_flat_there = |from: f64| (at / from - 1.0).abs() <= SAME;
    if curve.saturation.is_some_and(|flat| is_flat_there(flat.from_level)) {
        return None;
    }
    Some(match curve.kind {
        AxisKind::Rate => format!("latency bends upward at {}", rate_per_s(at)),
        AxisKind::Concurrency | AxisKind::Other => format!("knee at {} {}", level_text(at), curve.parameter),
    })
}

/// The bottleneck there, if monitors show it.
fn limiting(curve: &Curve) -> Option<String> {
    match curve.bottleneck.as_ref()? {
        Bottleneck::Saturated { what, .. } => Some(format!("bottleneck {what}")),
        Bottleneck::NoneWatched | Bottleneck::NotKnown => None,
    }
}

fn named(curve: &Curve, table: &[CellRow]) -> String {
    format!("{}: {}", settings_text(&curve.settings), describe(curve, table))
}

fn range(curves: &[Curve], table: &[CellRow]) -> String {
    let top = |curve: &Curve| ends(curve.points.iter()).map_or(0.0, |(_, top)| top.rate_per_s);
    let by = |a: &&Curve, b: &&Curve| top(a).total_cmp(&top(b));
    let (Some(best), Some(worst)) = (curves.iter().max_by(by), curves.iter().min_by(by)) else {
        return String::new();
    };
    format!(
        "{} curves: {} ({}), {} in the slowest ({})",
        count(curves.len() as u64),
        summit(best, table),
        settings_text(&best.settings),
        rate_per_s(top(worst)),
        settings_text(&worst.settings)
    )
}

/// For cells that do not form a curve.
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
        return vec![format!("throughput {highest}")];
    }
    // Compares the printed values: two that look alike are neither highest nor lowest.
    if rate_per_s(rate(best)) == rate_per_s(rate(worst)) {
        let all = count(valid.len() as u64);
        return vec![format!("throughput {} in all {all} combinations", rate_per_s(rate(best)))];
    }
    vec![format!("highest throughput {highest}, lowest {}{}", rate_per_s(rate(worst)), of(worst))]
}

/// The effect of more servers; of several series, the worst.
fn servers(scaling: &[Scaling]) -> Option<String> {
    let last = |one: &Scaling| one.steps.last().copied();
    let worst = scaling.iter().min_by(|a, b| {
        let of = |one: &Scaling| last(one).map_or(f64::INFINITY, |step| step.efficiency);
        of(a).total_cmp(&of(b))
    })?;
    let (first, step) = (worst.steps.first()?, last(worst)?);
    (step.parameter_value > first.parameter_value).then(|| {
        format!(
            "{} {} reach {}× the throughput of {} (efficiency {})",
            level_text(step.parameter_value),
            worst.parameter,
            quantity(step.speedup),
            level_text(first.parameter_value),
            percent(step.efficiency)
        )
    })
}

/// Missed thresholds and failing requests, by the lowest level first; or that there are none.
fn failures(valid: &[&CellRow], table: &[CellRow], curve: Option<&Curve>) -> Vec<String> {
    let order: Vec<(String, &CellRow)> = match curve {
        Some(curve) => {
            curve.points.iter().map(|p| (place(curve, p.parameter_value), &table[p.row])).collect()
        }
        None => valid.iter().map(|row| (settings_text(&row.settings), *row)).collect(),
    };
    let mut texts: Vec<&CellThreshold> = Vec::new();
    for threshold in order.iter().flat_map(|(_, row)| &row.thresholds) {
        // Errors have their own clause below.
        let is_told = threshold.is_default && threshold.text.starts_with("error_rate");
        if !is_told && !texts.iter().any(|known| known.text == threshold.text) {
            texts.push(threshold);
        }
    }
    let mut begins: Vec<(usize, String)> = Vec::new();
    let mut held: Vec<&str> = Vec::new();
    for threshold in &texts {
        let text = threshold.text.as_str();
        let of = |row: &CellRow| row.thresholds.iter().find(|one| one.text == text).cloned();
        let is_missed = |row: &CellRow| of(row).is_some_and(|one| one.is_missed());
        if let Some((first, told)) = where_from(&order, curve.is_some(), is_missed) {
            begins.push((first, format!("threshold {text} is missed{told}")));
        } else if let Some((first, told)) = in_some_runs(&order, curve.is_some(), of) {
            begins.push((first, format!("threshold {text} is missed{told}")));
        } else if !threshold.is_default {
            held.push(text);
        }
    }
    let failing = where_from(&order, curve.is_some(), |row| row.errors > 0);
    if let Some((first, told)) = &failing {
        let of = |row: &CellRow| row.error_ratio.value.unwrap_or(0.0);
        let most = order.iter().map(|(_, row)| of(row)).fold(0.0, f64::max);
        begins.push((*first, format!("requests fail{told}, up to {}", percent(most))));
    }
    begins.sort_by_key(|(first, _)| *first);
    // Without an order, or if two start at one level, none is the first.
    let has_first = curve.is_some() && matches!(&begins[..], [first, second, ..] if first.0 < second.0);
    let is_any_missed = begins.iter().any(|(_, text)| text.starts_with("threshold"));
    let mut out: Vec<String> = begins.into_iter().map(|(_, text)| text).collect();
    if let Some(first) = out.first_mut().filter(|_| has_first) {
        *first = format!("first to fail: {first}");
    }
    if !is_any_missed && !held.is_empty() {
        out.push(match held.len() {
            1 => format!("threshold {} is met everywhere", held[0]),
            n if n <= NAMED => format!("thresholds {} are met everywhere", held.join(" and ")),
            n => format!("all {n} thresholds are met everywhere"),
        });
    }
    // A threshold on errors that is met says the same.
    if failing.is_none() && !held.iter().any(|text| text.starts_with("error_rate")) {
        out.push("no errors".into());
    }
    out
}

/// The place of the first row where some runs missed a threshold but most did not: `in 1 of 2 runs at 16 users`.
fn in_some_runs(
    order: &[(String, &CellRow)],
    is_curve: bool,
    of: impl Fn(&CellRow) -> Option<CellThreshold>,
) -> Option<(usize, String)> {
    let missed = |at: usize| of(order[at].1).filter(|one| one.missed_runs > 0);
    let found: Vec<usize> = (0..order.len()).filter(|at| missed(*at).is_some()).collect();
    let first = *found.first()?;
    let one = missed(first)?;
    let name = match (is_curve, order[first].0.as_str()) {
        (_, "") => String::new(),
        (true, name) => format!(" at {name}"),
        (false, name) => format!(" in {name}"),
    };
    let more = match found.len() {
        1 => String::new(),
        n => format!(", and in some runs of {}", counted(n as u64 - 1, "other combination")),
    };
    Some((first, format!(" in {} of {}{name}{more}", one.missed_runs, counted(one.runs as u64, "run"))))
}

/// The place of the first such row, and the extent: `from 16 users up`, `at 4 users`, `in 2 of 6 combinations, first
/// at node`. Along a curve, only a state that lasts until its end has a start.
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
            n if n == order.len() && n > 1 && is_curve => " at every level".into(),
            n if n == order.len() && n > 1 => " in every combination".into(),
            1 if is_curve => format!(" at {name}"),
            1 if name.is_empty() => String::new(),
            1 => format!(" in {name}"),
            _ if is_curve && goes_on => format!(" from {name} up"),
            n => format!(
                " in {n} of {}, first {} {name}",
                counted(order.len() as u64, "combination"),
                if is_curve { "at" } else { "in" }
            ),
        },
    ))
}
