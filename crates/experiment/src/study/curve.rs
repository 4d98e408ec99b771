//! Cells that differ in one numeric setting, as a curve: the law that it follows, its knee, and where it is flat.

use super::cells::Axes;
use super::scaling::is_server_axis;
use super::{
    AxisKind, Basis, CellRow, Curve, CurvePoint, Finding, Saturation, UslFit, UslPeak, UslPoint, knee,
    level_text, settings_text,
};
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::phrase::{duration_f64_ns, quantity, rate_per_s, ratio as percent};
use plimsoll_stats::maths::usl::{self, Unfit, Usl};
use plimsoll_stats::median;

/// Rates of a flat stretch differ by at most this factor ...
const FLAT: f64 = 1.10;
/// ... over at least three levels of which the highest is this many times the lowest.
const WIDE: f64 = 2.0;
/// A law that misses the rates by so many half intervals of them is none.
const MISSES: f64 = 3.0;
/// Stretches that the line of a fitted law is drawn in.
const SMOOTH: usize = 60;
/// Past the summit a rate this much lower is a fall.
const FALLEN: f64 = 0.90;

fn kind(name: &str) -> AxisKind {
    match name {
        "users" | "connections" | "concurrency" | "threads" => AxisKind::Concurrency,
        "rate" | "arrivals" => AxisKind::Rate,
        _ => AxisKind::Other,
    }
}

/// The axis of the curves: load before anything else; servers have their own analysis.
fn axis(axes: &Axes) -> Option<String> {
    let numeric = || axes.all.iter().filter(|axis| axis.is_numeric() && !is_server_axis(&axis.name));
    let load = numeric().find(|axis| kind(&axis.name) != AxisKind::Other);
    load.or_else(|| numeric().next_back()).map(|axis| axis.name.clone())
}

/// One per combination of the other settings, in the order of the table. Cells without a valid run are in none.
pub(super) fn curves(axes: &Axes, table: &[CellRow]) -> Vec<Curve> {
    let Some(axis) = axis(axes) else { return Vec::new() };
    let mut groups: Vec<(Vec<Setting>, Vec<CurvePoint>)> = Vec::new();
    for (cell, row) in table.iter().enumerate().filter(|(_, row)| row.is_valid) {
        let (Some(x), Some(rate)) = (axes.number(row, &axis), row.rate_per_s.value) else { continue };
        let point = CurvePoint {
            parameter_value: x,
            row: cell,
            rate_per_s: rate,
            mean_ns: row.mean_ns.value,
            p99_ns: row.p99_ns.value,
            usl_rate_per_s: None,
        };
        let fixed: Vec<Setting> = row.settings.iter().filter(|s| s.parameter != axis).cloned().collect();
        match groups.iter_mut().find(|(own, _)| *own == fixed) {
            Some((_, points)) => points.push(point),
            None => groups.push((fixed, vec![point])),
        }
    }
    let kind = kind(&axis);
    let curve = |(fixed, mut points): (Vec<Setting>, Vec<CurvePoint>)| {
        points.sort_by(|a, b| a.parameter_value.total_cmp(&b.parameter_value));
        let usl = match kind {
            AxisKind::Concurrency => fit(&mut points, table),
            AxisKind::Rate | AxisKind::Other => {
                UslFit::Unfit { reason: "the law is one of users, not of this axis".into() }
            }
        };
        let saturation = if kind == AxisKind::Concurrency { saturation(&points) } else { None };
        let knee = knee::knee(kind, &points, table);
        let retrograde_from = if kind == AxisKind::Other {
            None
        } else {
            fallen(&points, table).map(|top| top.parameter_value)
        };
        Curve {
            settings: fixed,
            parameter: axis.clone(),
            kind,
            points,
            usl,
            knee,
            saturation,
            retrograde_from,
            bottleneck: None,
        }
    };
    groups.into_iter().filter(|(_, points)| points.len() > 1).map(curve).collect()
}

fn fit(points: &mut [CurvePoint], table: &[CellRow]) -> UslFit {
    let known: Vec<(f64, f64)> = points
        .iter()
        .filter(|p| p.parameter_value > 0.0)
        .map(|p| (p.parameter_value, p.rate_per_s))
        .collect();
    let rates = known.iter().map(|p| p.1);
    if rates.clone().fold(0.0, f64::max) <= FLAT * rates.fold(f64::INFINITY, f64::min) {
        return UslFit::Unfit { reason: "the rate is the same at all levels".into() };
    }
    // Repeats know how exact the rates are: a law that misses them by far more is another one. (Stretches of one run do
    // not know it; runs differ by more than they do.)
    let rows = points.iter().map(|p| &table[p.row]).filter(|row| row.basis == Basis::Runs);
    let mut widths: Vec<f64> = rows.filter_map(|row| row.rate_per_s.half_width_ratio()).collect();
    let width = median(&mut widths);
    let missed = |residual_ratio: f64| {
        let width = width.filter(|width| residual_ratio > (MISSES * width).max(usl::PATTERN))?;
        Some(UslFit::Unfit {
            reason: format!(
                "the rates follow another law: repeats agree within {}, the law misses them by {}",
                percent(width),
                percent(residual_ratio)
            ),
        })
    };
    let law = match usl::fit(&known) {
        Ok(law) => law,
        Err(unfit) => {
            let scatter =
                if let Unfit::Noise { residual_ratio } = unfit { missed(residual_ratio) } else { None };
            return scatter.unwrap_or_else(|| UslFit::Unfit { reason: unfit_text(unfit) });
        }
    };
    if let Some(unfit) = missed(law.residual_ratio) {
        return unfit;
    }
    points.iter_mut().for_each(|p| p.usl_rate_per_s = Some(law.at(p.parameter_value)));
    let sentence = match &law.peak {
        None => format!(
            "contention {}; no coherency cost that the data would show, so no summit is claimed",
            percent(law.sigma)
        ),
        Some(peak) => format!(
            "contention {}, and a summit of {} at {} users ({} to {}){}",
            percent(law.sigma),
            rate_per_s(peak.x),
            quantity(peak.n),
            quantity(peak.n_band[0]),
            quantity(peak.n_band[1]),
            if peak.is_extrapolated { ", far beyond what was measured" } else { "" }
        ),
    };
    let line = line(&law, known[0].0, known[known.len() - 1].0);
    UslFit::Fit {
        line,
        lambda: law.lambda,
        lambda_band: law.lambda_band,
        sigma: law.sigma,
        sigma_band: law.sigma_band,
        kappa: law.kappa,
        kappa_band: law.kappa_band,
        r2: law.r2,
        residual_ratio: law.residual_ratio,
        peak: law.peak.map(|peak| UslPeak {
            users: peak.n,
            users_band: peak.n_band,
            rate_per_s: peak.x,
            is_extrapolated: peak.is_extrapolated,
        }),
        sentence,
    }
}

/// Over the measured levels, no further: in equal ratios, which suit both kinds of axes.
fn line(law: &Usl, first: f64, last: f64) -> Vec<UslPoint> {
    let at = |k: usize| first * (last / first).powf(k as f64 / SMOOTH as f64);
    let point = |users: f64| {
        let [low, high] = law.band_at(users);
        UslPoint { users, rate_per_s: law.at(users), low, high }
    };
    (0..=SMOOTH).map(|k| point(at(k))).collect()
}

fn unfit_text(unfit: Unfit) -> String {
    match unfit {
        Unfit::TooFewLevels { levels } => {
            format!("{levels} levels were measured, a fit needs {}", usl::FEWEST_LEVELS)
        }
        Unfit::NotMeasured => "a level without a rate".into(),
        Unfit::Undetermined => {
            "the levels do not tell contention, coherency and the rate of one user apart".into()
        }
        Unfit::Pattern { residual_ratio } => format!(
            "the rates follow another law: residuals of {} lie on one side for long stretches",
            percent(residual_ratio)
        ),
        Unfit::Noise { residual_ratio } => {
            format!("the rates scatter by {} around any such law", percent(residual_ratio))
        }
    }
}

/// The longest stretch at the upper end where the rate is flat. There N = X R makes R grow with N; that it does is
/// looked at, because users that wait outside (or are refused) do not.
fn saturation(points: &[CurvePoint]) -> Option<Saturation> {
    let (mut low, mut high, mut from) = (f64::INFINITY, 0.0f64, points.len());
    for (at, point) in points.iter().enumerate().rev() {
        (low, high) = (low.min(point.rate_per_s), high.max(point.rate_per_s));
        if high > FLAT * low {
            break;
        }
        from = at;
    }
    let flat = &points[from..];
    let (first, last) = (flat.first()?, flat.last()?);
    let rises = points[..from].iter().all(|p| p.rate_per_s < first.rate_per_s);
    if flat.len() < 3
        || last.parameter_value < WIDE * first.parameter_value
        || first.parameter_value <= 0.0
        || !rises
    {
        return None;
    }
    let (early, late) = (first.mean_ns?, last.mean_ns?);
    let time_exponent = (late / early).ln() / (last.parameter_value / first.parameter_value).ln();
    let mean = flat.iter().map(|p| p.rate_per_s).sum::<f64>() / flat.len() as f64;
    (time_exponent > 0.7).then_some(Saturation {
        from_level: first.parameter_value,
        rate_per_s: mean,
        time_exponent,
        is_link: false,
    })
}

pub(super) fn findings(curves: &[Curve], out: &mut Vec<Finding>) {
    for curve in curves {
        let fixed = settings_text(&curve.settings);
        let place = if fixed.is_empty() { String::new() } else { format!("{fixed}: ") };
        if let Some(flat) = curve.saturation.filter(|flat| !flat.is_link) {
            let (first, last) = (
                curve.points.iter().find(|p| p.parameter_value == flat.from_level).and_then(|p| p.mean_ns),
                curve.points.last().and_then(|p| p.mean_ns),
            );
            out.push(Finding {
                code: "saturated",
                sentence: format!(
                    "{place}from {} {} on the rate stays at {} and times grow with the users: something is full",
                    level_text(flat.from_level),
                    curve.parameter,
                    rate_per_s(flat.rate_per_s)
                ),
                evidence: format!(
                    "mean from {} to {}: with twice the {} a request takes {} times as long",
                    first.map_or("-".into(), duration_f64_ns),
                    last.map_or("-".into(), duration_f64_ns),
                    curve.parameter,
                    quantity(flat.time_exponent.exp2())
                ),
                advice: "more users only make the queue longer; find the resource that is busy all the time".into(),
            });
        }
        retrograde(curve, &place, out);
    }
}

/// The summit, where the rate falls behind it although the load rises, by more than the intervals allow.
fn fallen<'a>(points: &'a [CurvePoint], table: &[CellRow]) -> Option<&'a CurvePoint> {
    let top = points.iter().max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s))?;
    let last = points.last()?;
    let (best, end) = (&table[top.row].rate_per_s, &table[last.row].rate_per_s);
    let is_apart = end.high? < best.low?;
    (last.rate_per_s < FALLEN * top.rate_per_s && is_apart).then_some(top)
}

fn retrograde(curve: &Curve, place: &str, out: &mut Vec<Finding>) {
    let top = curve.points.iter().find(|point| Some(point.parameter_value) == curve.retrograde_from);
    let (Some(top), Some(last)) = (top, curve.points.last()) else { return };
    out.push(Finding {
        code: "retrograde",
        sentence: format!(
            "{place}more load makes it slower: {} at {} {}, {} at {}",
            rate_per_s(top.rate_per_s),
            curve.parameter,
            level_text(top.parameter_value),
            rate_per_s(last.rate_per_s),
            level_text(last.parameter_value)
        ),
        evidence: format!("the rate falls by {}", percent(1.0 - last.rate_per_s / top.rate_per_s)),
        advice: "limit what is let in at once (a pool, a queue with an end) near the summit".into(),
    });
}
