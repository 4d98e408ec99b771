//! One panel: its backgrounds, grid, values, limits, and axes.

use super::super::scale::Scale;
use super::super::svg::{Anchor, Svg};
use super::super::text;
use super::forms::{self, Places};
use super::pool::{self, pooled};
use super::{LEFT, RIGHT, WIDE, WIDTH, heat};
use crate::{Band, Chart, Panel, StretchKind};

/// A panel and its position.
pub struct Frame<'a> {
    pub chart: &'a Chart,
    pub panel: &'a Panel,
    pub x: &'a Scale,
    pub y: Scale,
    pub top: f64,
    pub height: f64,
    /// Most points of a line.
    pub points: usize,
}

/// Distance of the background labels from the top of a plot.
const WORDS: f64 = 12.0;

/// Returns whether a band can contain its label: a label taller than its band would seem to belong to something else.
pub fn has_room(band: &Band, y: &Scale, height: f64) -> bool {
    !band.word.is_empty() && height * (y.place(band.high) - y.place(band.low)) > 16.0
}

/// Returns whether a point is covered by a label of this width at `at`.
fn hits((x, y): (f64, f64), at: (f64, f64), wide: f64) -> bool {
    x > at.0 - 4.0 && x < at.0 + wide + 4.0 && y > at.1 - 12.0 && y < at.1 + 4.0
}

impl Frame<'_> {
    /// Draws the panel. The first panel shows the labels of the backgrounds; `label_at` is the y below the panel's
    /// label.
    pub fn draw(&self, svg: &mut Svg, is_first: bool, label_at: f64) {
        let (panel, bottom) = (self.panel, self.top + self.height);
        self.grounds(svg);
        for (value, _) in &self.x.marks {
            let at = LEFT + WIDE * self.x.place(*value);
            svg.line((at, self.top), (at, bottom), "grid");
        }
        for (value, mark) in &self.y.marks {
            let at = self.y_of(*value);
            svg.line((LEFT, at), (WIDTH - RIGHT, at), "grid");
            svg.text((LEFT - 6.0, at + 4.0), Anchor::End, "", mark);
        }
        let drawn = self.values(svg, label_at);
        let x0 = bottom - self.height * self.y.ground();
        svg.line((LEFT, x0), (WIDTH - RIGHT, x0), "axis");
        svg.line((LEFT, self.top), (LEFT, bottom), "axis");
        let words = if is_first { self.words() } else { Vec::new() };
        self.limits(svg, &drawn, &words);
        for band in panel.bands.iter().filter(|band| has_room(band, &self.y, self.height)) {
            let word = text::cut(&band.word, WIDE - 12.0);
            let (y, wide) = (self.y_of(band.high) + 13.0, text::width(&word));
            // Where it covers the fewest values: at the left, the right, or in between.
            let (left, right) = (LEFT + 6.0, WIDTH - RIGHT - 4.0 - wide);
            let places = [0.0, 1.0, 0.5, 0.25, 0.75].map(|share| left + (right - left) * share);
            let covered = |x: &f64| drawn.iter().filter(|point| hits(**point, (*x, y), wide)).count();
            let x = places.into_iter().min_by_key(covered).unwrap_or(left);
            svg.text((x, y), Anchor::Start, "halo", &word);
        }
        for (x, word) in words {
            svg.text((x, self.top + WORDS), Anchor::Start, "halo", word);
        }
    }

    fn x_of(&self, value: f64) -> f64 {
        LEFT + WIDE * self.x.place(value)
    }

    fn y_of(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.place(value))
    }

    fn grounds(&self, svg: &mut Svg) {
        let mut stages = 0;
        for stretch in &self.chart.stretches {
            let class = match stretch.kind {
                StretchKind::Warmup => "warmup",
                StretchKind::Gap => "gap",
                StretchKind::Spike => "spike",
                StretchKind::Stage => {
                    stages += 1;
                    // Every second stage is shaded, which separates adjacent ones.
                    if stages % 2 == 0 { "stage" } else { "" }
                }
            };
            let (from, to) = (self.x_of(stretch.from), self.x_of(stretch.to));
            if !class.is_empty() && from.is_finite() && to >= from {
                svg.rect(from, self.top, (to - from).max(1.0), self.height, class);
            }
        }
        for band in self.panel.bands.iter().filter(|band| band.low.is_finite() && band.high.is_finite()) {
            let (high, low) = (self.y_of(band.high), self.y_of(band.low));
            svg.rect(LEFT, high, WIDE, (low - high).max(1.0), "band");
        }
    }

    /// Draws the values; returns the points that lines pass through, so that labels can avoid them.
    fn values(&self, svg: &mut Svg, label_at: f64) -> Vec<(f64, f64)> {
        let (x, y) = (|value: f64| self.x_of(value), |value: f64| self.y_of(value));
        if let Some(heat) = &self.panel.heat {
            let end = self.chart.x.to.or(self.chart.xs.last().copied()).unwrap_or(0.0);
            let most = heat::draw(svg, heat, &self.chart.xs, end, &x, &y);
            heat::legend(svg, heat, most, WIDTH - RIGHT, label_at - 8.0);
        }
        let holds = |value: f64| self.y.holds(value);
        let places = Places { x: &x, y: &y, holds: &holds, ends: (LEFT, WIDTH - RIGHT) };
        let is_stacked = self.panel.stacked;
        let layers = if is_stacked { pool::layers(self.chart, self.panel, self.points) } else { Vec::new() };
        let mut drawn = Vec::new();
        for (at, series) in self.panel.series.iter().enumerate() {
            let values = match layers.get(at) {
                Some(layer) => layer.clone(),
                None => pooled(self.chart, series, self.x, self.points),
            };
            forms::draw(svg, series, &values, is_stacked, &places);
            let ends = if is_stacked { &values.high } else { &values.y };
            let points: Vec<(f64, f64)> =
                values.x.iter().zip(ends).filter_map(|(at, to)| Some((x(*at), y((*to)?)))).collect();
            // A line also connects distant points.
            for two in points.windows(2) {
                let steps = ((two[1].0 - two[0].0).abs() / 12.0).ceil().clamp(1.0, 40.0);
                let part = |k: f64, a: f64, b: f64| a + (b - a) * k / steps;
                let between = (0..steps as u32).map(f64::from);
                drawn.extend(between.map(|k| (part(k, two[0].0, two[1].0), part(k, two[0].1, two[1].1))));
            }
            drawn.extend(points.last());
        }
        drawn
    }

    /// Draws thresholds. One above all measured values is written at the edge, because it would flatten them. `words`
    /// are the background labels, which thresholds avoid.
    fn limits(&self, svg: &mut Svg, drawn: &[(f64, f64)], words: &[(f64, &str)]) {
        let mut taken: Vec<(f64, f64, f64)> =
            words.iter().map(|(x, word)| (*x, x + text::width(word), self.top + WORDS)).collect();
        for limit in self.panel.limits.iter().filter(|limit| limit.value.is_finite()) {
            let class = match limit.met {
                Some(true) => "met",
                Some(false) => "missed",
                None => "",
            };
            let (y, mut word) = (self.y_of(limit.value), limit.word.clone());
            let is_inside = self.y.holds(limit.value);
            if is_inside {
                svg.line((LEFT, y), (WIDTH - RIGHT, y), format!("limit {class}").trim_end());
            } else {
                let is_above = self.y.place(limit.value) > 0.5;
                word = format!("{} {word}", if is_above { '\u{2191}' } else { '\u{2193}' });
            }
            let word = text::cut(&word, 0.6 * WIDE);
            let wide = text::width(&word);
            // Above or below its line, at the right, the left, or in between: where it covers the least.
            let rows = [y - 4.0, y + 13.0]
                .into_iter()
                .filter(|at| *at - 10.0 >= self.top - 1.0 && *at <= self.top + self.height - 2.0);
            let (left, right) = (LEFT + 5.0, WIDTH - RIGHT - 4.0 - wide);
            let between = |share: f64| left + (right - left) * share;
            let places = rows
                .flat_map(|at| [right, left, between(0.5), between(0.75), between(0.25)].map(|x| (x, at)));
            let covered = |(x, at): &(f64, f64)| {
                let words =
                    taken.iter().filter(|(l, r, t)| *l < x + wide && *r > *x && (t - at).abs() < 12.0);
                drawn.iter().filter(|point| hits(**point, (*x, *at), wide)).count() + 1_000 * words.count()
            };
            let Some((x, at)) = places.min_by_key(covered) else { continue };
            taken.push((x, x + wide, at));
            // A heat map is dark where counts are high.
            if self.panel.heat.is_some() {
                svg.rect(x - 3.0, at - 10.0, wide + 6.0, 13.0, "plate");
            }
            svg.text((x, at), Anchor::Start, format!("halo {class}").trim_end(), &word);
        }
    }

    /// Returns the labels of the backgrounds that are wide enough, and the x at which each begins.
    fn words(&self) -> Vec<(f64, &str)> {
        let mut free_from = f64::NEG_INFINITY;
        let mut out = Vec::new();
        for stretch in self.chart.stretches.iter().filter(|stretch| !stretch.word.is_empty()) {
            let (from, to) = (self.x_of(stretch.from) + 4.0, self.x_of(stretch.to));
            if to - from >= text::width(&stretch.word) && from >= free_from {
                out.push((from, stretch.word.as_str()));
                free_from = from + text::width(&stretch.word) + 4.0;
            }
        }
        out
    }
}
