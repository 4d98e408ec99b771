//! The forms of a series: lines, areas, columns, points, and the intervals of each.

use super::super::svg::{Path, Svg};
use super::pool::Values;
use crate::{Form, Series};

/// Maps values to positions.
pub struct Places<'a> {
    pub x: &'a dyn Fn(f64) -> f64,
    pub y: &'a dyn Fn(f64) -> f64,
    /// Whether a value lies on the y axis; others are drawn at its end.
    pub holds: &'a dyn Fn(f64) -> bool,
    /// Left and right end of the plot.
    pub ends: (f64, f64),
}

/// Points beyond this number are drawn small.
const MANY: usize = 60;

pub fn draw(svg: &mut Svg, series: &Series, values: &Values, is_layer: bool, places: &Places) {
    let color = series.color % 8;
    let line = format!("l s{color}");
    if is_layer {
        return match series.form {
            Form::Bars => columns(svg, values, places, &format!("bars f{color}")),
            _ => svg.path(between(values, places), &format!("f{color} layer")),
        };
    }
    match series.form {
        Form::Range => {
            svg.path(between(values, places), &format!("f{color} area"));
            lines(svg, values, &line, false, places);
        }
        Form::Area => {
            svg.path(between(&grounded(values), places), &format!("f{color} area"));
            lines(svg, values, &line, false, places);
        }
        Form::Bars => columns(svg, &grounded(values), places, &format!("bars f{color}")),
        Form::Line => lines(svg, values, &line, false, places),
        Form::Dashed => lines(svg, values, &format!("{line} dash"), false, places),
        Form::Step => lines(svg, values, &line, true, places),
        Form::Marked => lines(svg, values, &line, false, places),
        Form::Dots | Form::Crosses | Form::Rings => {}
    }
    if series.form != Form::Range {
        whiskers(svg, values, &format!("l thin s{color}"), places);
    }
    if matches!(series.form, Form::Marked | Form::Dots | Form::Crosses | Form::Rings) {
        let points =
            values.x.iter().zip(&values.y).filter_map(|(x, y)| Some(((places.x)(*x), (places.y)((*y)?))));
        points_of(svg, series.form, color, &points.collect::<Vec<_>>());
    }
}

/// Draws the markers of a form in one color; each color also has its own shape.
pub fn points_of(svg: &mut Svg, form: Form, color: u8, points: &[(f64, f64)]) {
    let (fill, stroke) = (format!("f{color}"), format!("l s{color}"));
    if form == Form::Dots && points.len() > MANY {
        let mut path = Path::default();
        // A line without length still has round ends.
        for (x, y) in points {
            path.move_to(*x, *y);
            path.across_to(*x);
        }
        return svg.path(path, &format!("{stroke} dots"));
    }
    for &(x, y) in points {
        match (form, color % 3) {
            (Form::Crosses, _) => {
                let mut path = Path::default();
                for (from, to) in [((-3.5, -3.5), (3.5, 3.5)), ((-3.5, 3.5), (3.5, -3.5))] {
                    path.move_to(x + from.0, y + from.1);
                    path.line_to(x + to.0, y + to.1);
                }
                svg.path(path, &stroke);
            }
            (Form::Rings, _) => svg.circle((x, y), 3.2, &format!("ring s{color}")),
            (Form::Marked, 1) => svg.rect(x - 2.9, y - 2.9, 5.8, 5.8, &fill),
            (Form::Marked, 2) => {
                let mut path = Path::default();
                path.move_to(x, y - 3.9);
                path.line_to(x + 3.9, y + 2.9);
                path.line_to(x - 3.9, y + 2.9);
                path.close();
                svg.path(path, &fill);
            }
            _ => svg.circle((x, y), 3.2, &fill),
        }
    }
}

/// Returns the values with intervals from 0 to each.
fn grounded(values: &Values) -> Values {
    let low = values.y.iter().map(|y| y.map(|_| 0.0)).collect();
    Values { low, high: values.y.clone(), ..values.clone() }
}

/// Returns the runs of indexes without a gap.
fn parts(values: &Values, is_there: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new()];
    for at in 0..values.x.len() {
        match (is_there(at), out.last_mut()) {
            (true, Some(part)) => part.push(at),
            _ => out.push(Vec::new()),
        }
    }
    out.retain(|part| !part.is_empty());
    out
}

fn lines(svg: &mut Svg, values: &Values, class: &str, is_step: bool, places: &Places) {
    let mut path = Path::default();
    let place = |at: usize| values.y[at].map(|y| ((places.x)(values.x[at]), (places.y)(y)));
    for part in parts(values, |at| values.y[at].is_some()) {
        let points: Vec<(f64, f64)> = part.iter().filter_map(|at| place(*at)).collect();
        match points.as_slice() {
            // A single second between two gaps becomes a short line; otherwise it would be invisible.
            [(x, y)] => path.polyline(&[(x - 1.0, *y), (x + 1.0, *y)]),
            more if is_step => {
                let corners = more.windows(2).flat_map(|two| [two[0], (two[1].0, two[0].1)]);
                path.polyline(&corners.chain(more.last().copied()).collect::<Vec<_>>());
            }
            more => path.polyline(more),
        }
    }
    svg.path(path, class);
}

/// Returns the area between `low` and `high`.
fn between(values: &Values, places: &Places) -> Path {
    let mut path = Path::default();
    let (low, high) = (&values.low, &values.high);
    for part in parts(values, |at| low[at].is_some() && high[at].is_some()) {
        let place =
            |at: &usize, of: &[Option<f64>]| of[*at].map(|y| ((places.x)(values.x[*at]), (places.y)(y)));
        let mut around: Vec<(f64, f64)> = part.iter().filter_map(|at| place(at, high)).collect();
        around.extend(part.iter().rev().filter_map(|at| place(at, low)));
        if let ([first], Some(last)) = (part.as_slice(), around.last().copied()) {
            let x = (places.x)(values.x[*first]);
            around =
                vec![(x - 1.0, around[0].1), (x + 1.0, around[0].1), (x + 1.0, last.1), (x - 1.0, last.1)];
        }
        path.polyline(&around);
        path.close();
    }
    path
}

/// A distance of more than this many usual steps is a gap.
const FAR: f64 = 1.5;

/// Returns the usual step between adjacent values: the median, which gaps do not affect.
fn usual_step(at: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = at.windows(2).map(|two| two[1] - two[0]).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied()
}

/// Draws columns that reach halfway to the adjacent ones but never into a gap: a second without a value has no column.
/// Columns wide enough are separated by thin spaces.
fn columns(svg: &mut Svg, values: &Values, places: &Places, class: &str) {
    let mut path = Path::default();
    let at: Vec<f64> = values.x.iter().map(|x| (places.x)(*x)).collect();
    let n = at.len();
    // The outermost columns are symmetric; a single one takes a tenth of the plot.
    let alone = (places.ends.1 - places.ends.0) / 20.0;
    let half = usual_step(&at).map_or(alone, |step| FAR * step / 2.0);
    for k in 0..n {
        let before = if k > 0 {
            (at[k] - at[k - 1]) / 2.0
        } else if n > 1 {
            (at[1] - at[0]) / 2.0
        } else {
            alone
        };
        let after = if k + 1 < n { (at[k + 1] - at[k]) / 2.0 } else { before };
        let (before, after) = (before.min(half), after.min(half));
        let (Some(low), Some(high)) = (values.low[k], values.high[k]) else { continue };
        let (low, high) = ((places.y)(low), (places.y)(high));
        if (low - high).abs() < 0.05 {
            continue;
        }
        let air = match before + after {
            wide if wide > 40.0 => 0.18 * wide,
            wide if wide > 5.0 => 1.0,
            _ => 0.0,
        };
        let from = (at[k] - before + air / 2.0).max(places.ends.0);
        let to = (at[k] + after - air / 2.0).min(places.ends.1);
        let height = (low - high).abs().max(0.8);
        rectangle(&mut path, (from, low.min(high)), ((to - from).max(0.6), height));
    }
    svg.path(path, class);
}

fn rectangle(path: &mut Path, at: (f64, f64), size: (f64, f64)) {
    path.move_to(at.0, at.1);
    path.across_to(at.0 + size.0);
    path.line_to(at.0 + size.0, at.1 + size.1);
    path.across_to(at.0);
    path.close();
    // Closing the path returns the pen to its start.
    path.back_to(at.0, at.1);
}

/// Half of the arrow that represents an interval taller than the plot, px.
const STUB: f64 = 16.0;

/// Draws intervals. One that extends beyond the plot ends in an arrowhead; one that covers the whole plot is a short
/// double arrow, because a line from top to bottom would look like a mark.
fn whiskers(svg: &mut Svg, values: &Values, class: &str, places: &Places) {
    let mut path = Path::default();
    // Positions outside the axis are at its edge.
    let (bottom, top) = ((places.y)(f64::NEG_INFINITY), (places.y)(f64::INFINITY));
    for (k, x) in values.x.iter().enumerate() {
        let (Some(Some(low)), Some(Some(high))) = (values.low.get(k), values.high.get(k)) else { continue };
        let (at, mut from, mut to) = ((places.x)(*x), (places.y)(*low), (places.y)(*high));
        let goes_on = !(places.holds)(*low) || !(places.holds)(*high);
        let is_whole = goes_on && (from - bottom).abs() < 0.5 && (to - top).abs() < 0.5;
        if let (true, Some(Some(y))) = (is_whole, values.y.get(k)) {
            let y = (places.y)(*y);
            (from, to) = (from.min(y + STUB), to.max(y - STUB));
        }
        path.move_to(at, from);
        path.line_to(at, to);
        for (end, y, inwards) in [(*low, from, -5.0), (*high, to, 5.0)] {
            let by = if is_whole || !(places.holds)(end) { inwards } else { 0.0 };
            path.move_to(at - 3.0, y + by);
            path.line_to(at, y);
            path.line_to(at + 3.0, y + by);
        }
    }
    svg.path(path, class);
}
