//! Curves over cells that differ in one numeric setting: the fitted law, the knee, and the saturation.

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

/// Rates of a flat range differ by at most this factor ...
const FLAT: f64 = 1.10;
/// ... over at least three levels of which the highest is this many times the lowest.
const WIDE: f64 = 2.0;
/// A law that misses the rates by more half intervals than this is rejected.
const MISSES: f64 = 3.0;
/// Segments of the line of a fitted law.
const SMOOTH: usize = 60;
/// Beyond the peak, a rate below this share of it is a decrease.
const FALLEN: f64 = 0.90;

/// Variables of scripts and tokens of plans are often in capitals.
fn kind(name: &str) -> AxisKind {
    match name.to_ascii_lowercase().as_str() {
        "users" | "vus" | "connections" | "concurrency" | "threads" => AxisKind::Concurrency,
        "rate" | "arrivals" => AxisKind::Rate,
        _ => AxisKind::Other,
    }
}

/// Returns the parameter of the curves: preferably the load. Servers have their own analysis.
fn axis(axes: &Axes) -> Option<String> {
    let numeric = || axes.all.iter().filter(|axis| axis.is_numeric() && !is_server_axis(&axis.name));
    let load = numeric().find(|axis| kind(&axis.name) != AxisKind::Other);
    load.or_else(|| numeric().next_back()).map(|axis| axis.name.clone())
}

/// Returns one curve per combination of the other settings, in the order of the table. Invalid cells are excluded.
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
                UslFit::Unfit { reason: "the law applies only to users".into() }
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
        return UslFit::Unfit { reason: "throughput is the same at all levels".into() };
    }
    // Repeats show the precision of the rates: a law that misses them by far more is the wrong one. (Stretches of one
    // run do not show it, because runs differ by more.)
    let rows = points.iter().map(|p| &table[p.row]).filter(|row| row.basis == Basis::Runs);
    let mut widths: Vec<f64> = rows.filter_map(|row| row.rate_per_s.half_width_ratio()).collect();
    let width = median(&mut widths);
    let missed = |residual_ratio: f64| {
        let width = width.filter(|width| residual_ratio > (MISSES * width).max(usl::PATTERN))?;
        Some(UslFit::Unfit {
            reason: format!(
                "throughput follows another law: repeats agree within {}, the fit misses them by {}",
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
        None => format!("contention {}, no measurable coherency cost, so no peak", percent(law.sigma)),
        Some(peak) => format!(
            "contention {}, peak of {} at {} users ({}–{}){}",
            percent(law.sigma),
            rate_per_s(peak.x),
            quantity(peak.n),
            quantity(peak.n_band[0]),
            quantity(peak.n_band[1]),
            if peak.is_extrapolated { ", extrapolated far beyond the measured range" } else { "" }
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

/// Returns the line over the measured levels, in equal ratios, which suit linear and logarithmic axes.
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
            format!("{levels} levels of the required {}", usl::FEWEST_LEVELS)
        }
        Unfit::NotMeasured => "a level has no throughput".into(),
        Unfit::Undetermined => {
            "the levels do not distinguish contention, coherency cost, and the rate of one user".into()
        }
        Unfit::Pattern { residual_ratio } => format!(
            "throughput follows another law: long sequences of residuals have one sign ({})",
            percent(residual_ratio)
        ),
        Unfit::Noise { residual_ratio } => {
            format!("throughput varies by {} around the best fit", percent(residual_ratio))
        }
    }
}

/// Returns the longest flat range at the upper end. There, Little's law makes times grow with the users; this is
/// checked, because users that wait outside of requests (or are refused) have no such times.
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
                    "{place}throughput is saturated at {} from {} {} up",
                    rate_per_s(flat.rate_per_s),
                    level_text(flat.from_level),
                    curve.parameter
                ),
                evidence: format!(
                    "mean response time {} to {}; doubling the {} multiplies it by {}",
                    first.map_or("-".into(), duration_f64_ns),
                    last.map_or("-".into(), duration_f64_ns),
                    curve.parameter,
                    quantity(flat.time_exponent.exp2())
                ),
                advice: "find the saturated resource; more users only lengthen the queue".into(),
            });
        }
        retrograde(curve, &place, out);
    }
}

/// Returns the peak if the rate certainly falls beyond it although the load rises.
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
            "{place}throughput falls as the load rises: {} at {} {}, {} at {}",
            rate_per_s(top.rate_per_s),
            curve.parameter,
            level_text(top.parameter_value),
            rate_per_s(last.rate_per_s),
            level_text(last.parameter_value)
        ),
        evidence: format!("throughput falls by {}", percent(1.0 - last.rate_per_s / top.rate_per_s)),
        advice: "limit concurrency near the peak, with a pool or a bounded queue".into(),
    });
}
