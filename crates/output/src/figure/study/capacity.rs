//! Capacity over load: measured values with their intervals, the fitted law with its band and residuals, the knee, and
//! the range in which more load yields fewer responses; and the response times next to it.

use super::{Of, Page, describe_intervals, has_intervals, panel};
use crate::format::quantity;
use plimsoll_chart::{Axis, Chart, Form, Limit, Mark, MarkKind, Panel, Series, Stretch, StretchKind, Unit};
use plimsoll_experiment::study::{AxisKind, Curve, CurvePoint, Estimate, UslFit, UslPoint, level_text};

/// The axis of users or arrivals; any other is not a load.
pub fn figures(page: &Page) -> Vec<Chart> {
    match page.curves.first() {
        Some(curve) if curve.kind != AxisKind::Other && curve.points.len() > 1 => {
            vec![capacity(page), latency(page)]
        }
        _ => Vec::new(),
    }
}

fn capacity(page: &Page) -> Chart {
    let mut chart = page.chart("capacity", "Capacity");
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
    chart.panels.push(panel("capacity", Axis::new("requests", Unit::PerSecond), series));
    let points = match has_intervals(&chart) {
        true => "Points are measured rates with their intervals",
        false => "Points are measured rates",
    };
    let is_one = page.curves.len() == 1;
    let law = match (has_law, is_one) {
        (true, true) => {
            "; the dashed line is the universal scalability law (USL) fitted to them, with its 95% band. The panel \
             below shows the residuals: if the law fits, they are close to 0 on both sides"
        }
        (true, false) => "; the dashed line is the universal scalability law (USL) fitted to them",
        (false, _) => "",
    };
    chart.help =
        format!("{points}{law}. Above the knee, more load increases waiting time instead of throughput.");
    if let [one] = page.curves {
        chart.panels.extend(left_over(page, one));
    }
    describe_intervals(&mut chart);
    chart.subtitle = std::iter::once(chart.subtitle.clone()).chain(told).collect::<Vec<_>>().join("; ");
    chart
}

/// Returns the law as a smooth line over the measured levels only; for a single curve, with its band.
fn fit(curve: &Curve, at: usize, is_one_of_many: bool) -> Vec<Series> {
    let UslFit::Fit { line, .. } = &curve.usl else { return Vec::new() };
    let of = |value: fn(&UslPoint) -> f64| -> Vec<Option<f64>> {
        line.iter().map(|point| Some(value(point)).filter(|y| y.is_finite())).collect()
    };
    let x: Vec<f64> = line.iter().map(|point| point.users).collect();
    let (name, color) = if is_one_of_many { ("", at as u8) } else { ("fitted law (USL)", 1) };
    let law = of(|point| point.rate_per_s);
    let law = Series::new(&format!("law-{}", at + 1), name, color, Form::Dashed, law).at(x.clone());
    if is_one_of_many {
        return vec![law];
    }
    let band = Series::new("law-band", "95% band of the law", color, Form::Range, vec![None; x.len()])
        .at(x)
        .within(of(|point| point.low), of(|point| point.high));
    vec![band, law]
}

/// Returns the residuals of the measured rates, as shares of the law, with the points' own intervals.
fn left_over(page: &Page, curve: &Curve) -> Option<Panel> {
    let against = |rate: Option<f64>, point: &CurvePoint| {
        let law = point.usl_rate_per_s.filter(|law| *law > 0.0)?;
        rate.map(|rate| rate / law - 1.0).filter(|share| share.is_finite())
    };
    let of = |value: fn(&Estimate) -> Option<f64>| -> Vec<Option<f64>> {
        let row = |point: &CurvePoint| page.study.table.get(point.row).map(|row| row.rate_per_s);
        curve.points.iter().map(|point| against(row(point).as_ref().and_then(value), point)).collect()
    };
    let shares = of(|rate| rate.value);
    let most = shares
        .iter()
        .flatten()
        .fold(None, |most: Option<f64>, share| Some(most.unwrap_or(0.0).max(share.abs())))?;
    // Intervals may extend beyond the points, but the points must stay distinguishable.
    let reach = [of(|rate| rate.low), of(|rate| rate.high)].concat();
    let reach = reach.iter().flatten().fold(0.0_f64, |most, share| most.max(share.abs()));
    let end = rounded((1.2 * most).max(reach.min(4.0 * most)).max(0.01));
    let series = Series::new("left-over", "residuals", 0, Form::Dots, shares)
        .at(curve.points.iter().map(|point| point.parameter_value).collect())
        .within(of(|rate| rate.low), of(|rate| rate.high));
    let mut y = Axis::new("difference from the law", Unit::Ratio).between(-end, end);
    y.ticks = vec![-end, -end / 2.0, 0.0, end / 2.0, end];
    let mut left = Panel::new("left-over", y, vec![series]);
    left.limits.push(Limit { value: 0.0, word: "law".into(), met: None });
    Some(left)
}

/// Returns the next of 1, 2, 5, 10, 20 ... percent, so that the axis is symmetric around 0.
fn rounded(share: f64) -> f64 {
    let power = 10f64.powf(share.log10().floor());
    [1.0, 2.0, 5.0].map(|step| step * power).into_iter().find(|end| *end >= share).unwrap_or(10.0 * power)
}

fn law(curve: &Curve) -> Option<String> {
    let UslFit::Fit { r2, peak, .. } = &curve.usl else { return None };
    let peak = peak.map(|peak| {
        let [low, high] = peak.users_band;
        let band = format!("95% band {} to {}", quantity(low), quantity(high));
        let beyond = if peak.is_extrapolated { ", beyond the measurements" } else { "" };
        format!(", peak at {} ({band}{beyond})", quantity(peak.users))
    });
    Some(format!("fit R\u{b2} {r2:.3}{}", peak.unwrap_or_default()))
}

fn knee(curve: &Curve) -> Option<Mark> {
    let at = curve.knee.level.filter(|at| at.is_finite())?;
    Some(Mark { at, word: format!("knee at {}", level_text(at)), kind: MarkKind::Answer })
}

/// Returns the range after the highest rate, if the last rate is certainly lower; otherwise, the range from the peak of
/// the law to the last level, if that peak was measured.
fn retrograde(curve: &Curve) -> Option<Stretch> {
    let of_law = match &curve.usl {
        UslFit::Fit { peak: Some(peak), .. } if !peak.is_extrapolated => Some(peak.users),
        UslFit::Fit { .. } | UslFit::Unfit { .. } => None,
    };
    let last = curve.points.last()?.parameter_value;
    let from = curve.retrograde_from.or(of_law).filter(|from| *from < last)?;
    // A law may fall where the measured rates do not, or not certainly.
    let word = if curve.retrograde_from.is_some() { "throughput falls" } else { "above the peak of the law" };
    Some(Stretch { from, to: last, word: word.into(), kind: StretchKind::Spike })
}

fn latency(page: &Page) -> Chart {
    let mut chart = page.chart("latency", "Response times by load");
    chart.help =
        "Times that grow in proportion to the load indicate a queue; below the knee, they stay level.".into();
    let axis = |label: &str| Axis::new(label, Unit::Nanoseconds);
    let all: [(&str, u8, Of); 3] =
        [("p50", 0, |row| row.p50_ns), ("p90", 4, |row| row.p90_ns), ("p99", 1, |row| row.p99_ns)];
    if let [one] = page.curves {
        chart.marks.extend(knee(one));
        let lines = all.map(|(name, color, of)| page.line(name, name.into(), color, one, &of));
        chart.panels.push(panel("times", axis("response time"), lines.into()));
        describe_intervals(&mut chart);
        return chart;
    }
    for (name, _, of) in all {
        chart.panels.push(panel(name, axis(&format!("response time {name}")), page.lines(name, of)));
    }
    describe_intervals(&mut chart);
    chart
}
