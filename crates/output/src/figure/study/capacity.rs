//! Capacity over load: what was measured with its intervals, the fitted law through it, the knee, and where more load
//! gets fewer answers; and the times beside it.

use super::{Of, Page, has_intervals, tell_intervals};
use crate::chart::{Axis, Chart, Form, Mark, MarkKind, Panel, Series, Stretch, StretchKind, Unit};
use crate::format::quantity;
use plimsoll_record::analysis::study::{AxisKind, Curve, UslFit};

/// Points of a fitted curve.
const SMOOTH: usize = 60;

/// Of an axis of users or arrivals; any other is no load.
pub fn figures(page: &Page) -> Vec<Chart> {
    match page.curves.first() {
        Some(curve) if curve.kind != AxisKind::Other && curve.points.len() > 1 => {
            vec![capacity(page), latency(page)]
        }
        _ => Vec::new(),
    }
}

fn capacity(page: &Page) -> Chart {
    let mut chart = page.chart("capacity", "capacity");
    let mut series = page.lines("rate", |row| row.rate_per_s);
    let mut told = Vec::new();
    for (at, curve) in page.curves.iter().enumerate() {
        if let [one] = page.curves {
            chart.marks.extend(knee(one));
            chart.stretches.extend(retrograde(one));
            series.iter_mut().for_each(|series| series.name = "measured".into());
            told.extend(law(one));
        }
        series.extend(fit(curve, at, page.curves.len() > 1));
    }
    let has_law = series.iter().any(|one| one.form == Form::Dashed);
    chart.panels.push(Panel::new("capacity", Axis::new("requests", Unit::PerSecond), series));
    let points = match has_intervals(&chart) {
        true => "Points are measured rates with their intervals",
        false => "Points are measured rates",
    };
    let law = match has_law {
        true => "; the dashed line is the universal scalability law fitted to them",
        false => "",
    };
    chart.help = format!("{points}{law}. Behind the knee more load buys waiting time instead of answers.");
    tell_intervals(&mut chart);
    chart.subtitle = std::iter::once(chart.subtitle.clone()).chain(told).collect::<Vec<_>>().join("; ");
    chart
}

/// The law as a smooth line over the measured levels; beyond them it is not drawn.
fn fit(curve: &Curve, at: usize, is_one_of_many: bool) -> Option<Series> {
    let UslFit::Fit { lambda, sigma, kappa, .. } = &curve.usl else { return None };
    let (first, last) = (curve.points.first()?.x, curve.points.last()?.x);
    if !(first > 0.0 && last > first) {
        return None;
    }
    // Equal ratios suit both kinds of axes.
    let x: Vec<f64> = (0..=SMOOTH).map(|k| first * (last / first).powf(k as f64 / SMOOTH as f64)).collect();
    // Gunther, Guerrilla Capacity Planning (2007), chapter 4: X(N) = lambda N / (1 + sigma (N-1) + kappa N (N-1)).
    let law = |n: f64| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
    let y = x.iter().map(|n| Some(law(*n)).filter(|y| y.is_finite())).collect();
    let (name, colour) = if is_one_of_many { ("", at as u8) } else { ("fitted law (USL)", 1) };
    Some(Series::new(&format!("law-{}", at + 1), name, colour, Form::Dashed, y).at(x))
}

fn law(curve: &Curve) -> Option<String> {
    let UslFit::Fit { r2, peak, .. } = &curve.usl else { return None };
    let peak = peak.map(|peak| {
        let [low, high] = peak.users_band;
        let band = format!("95 % band {} to {}", quantity(low), quantity(high));
        let beyond = if peak.is_extrapolated { ", beyond what was measured" } else { "" };
        format!(", its peak at {} ({band}{beyond})", quantity(peak.users))
    });
    Some(format!("fit R\u{b2} {r2:.3}{}", peak.unwrap_or_default()))
}

fn knee(curve: &Curve) -> Option<Mark> {
    let at = curve.knee.at.filter(|at| at.is_finite())?;
    Some(Mark { at, word: format!("knee at {}", quantity(at)), kind: MarkKind::Answer })
}

/// From the peak of the law to the last level, where that peak was measured.
fn retrograde(curve: &Curve) -> Option<Stretch> {
    let UslFit::Fit { peak: Some(peak), .. } = &curve.usl else { return None };
    let last = curve.points.last()?.x;
    (!peak.is_extrapolated && peak.users < last).then(|| Stretch {
        from: peak.users,
        to: last,
        word: "more load, fewer answers".into(),
        kind: StretchKind::Spike,
    })
}

fn latency(page: &Page) -> Chart {
    let mut chart = page.chart("latency", "response times over the load");
    chart.help =
        "Times that grow in step with the load tell of a queue; before the knee they stay level.".into();
    let axis = |label: &str| Axis::new(label, Unit::Nanoseconds);
    let all: [(&str, u8, Of); 3] =
        [("p50", 0, |row| row.p50_ns), ("p90", 4, |row| row.p90_ns), ("p99", 1, |row| row.p99_ns)];
    if let [one] = page.curves {
        chart.marks.extend(knee(one));
        let lines = all.map(|(name, colour, of)| page.line(name, name.into(), colour, one, &of));
        chart.panels.push(Panel::new("times", axis("response time"), lines.into()));
        tell_intervals(&mut chart);
        return chart;
    }
    for (name, _, of) in all {
        chart.panels.push(Panel::new(name, axis(&format!("response time {name}")), page.lines(name, of)));
    }
    tell_intervals(&mut chart);
    chart
}
