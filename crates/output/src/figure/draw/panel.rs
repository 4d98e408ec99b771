//! One panel: its grounds, grid, values, limits and axes.

use super::super::scale::Scale;
use super::super::svg::{Anchor, Svg};
use super::super::text;
use super::forms::{self, Places};
use super::pool::{self, pooled};
use super::{LEFT, POINTS, RIGHT, WIDE, WIDTH, heat};
use crate::chart::{Chart, Panel, StretchKind};

/// A panel and its place.
pub struct Frame<'a> {
    pub chart: &'a Chart,
    pub panel: &'a Panel,
    pub x: &'a Scale,
    pub y: Scale,
    pub top: f64,
    pub height: f64,
}

impl Frame<'_> {
    /// The first panel has the words of the grounds.
    pub fn draw(&self, svg: &mut Svg, is_first: bool) {
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
        self.values(svg);
        let x0 = bottom - self.height * self.y.ground();
        svg.line((LEFT, x0), (WIDTH - RIGHT, x0), "axis");
        svg.line((LEFT, self.top), (LEFT, bottom), "axis");
        self.limits(svg);
        for band in panel.bands.iter().filter(|band| !band.word.is_empty()) {
            let word = text::cut(&band.word, WIDE - 12.0);
            svg.text((LEFT + 6.0, self.y_of(band.high) + 13.0), Anchor::Start, "halo", &word);
        }
        if is_first {
            self.words(svg);
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
                    // Neighbours are told apart by every second one having a ground.
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

    fn values(&self, svg: &mut Svg) {
        let (x, y) = (|value: f64| self.x_of(value), |value: f64| self.y_of(value));
        if let Some(heat) = &self.panel.heat {
            let end = self.chart.x.to.or(self.chart.xs.last().copied()).unwrap_or(0.0);
            let most = heat::draw(svg, heat, &self.chart.xs, end, &x, &y);
            heat::legend(svg, heat, most, WIDTH - RIGHT, self.top - 8.0);
        }
        let places = Places { x: &x, y: &y, ends: (LEFT, WIDTH - RIGHT) };
        if self.panel.stacked {
            let layers = pool::layers(self.chart, self.panel);
            for (series, values) in self.panel.series.iter().zip(&layers) {
                forms::draw(svg, series, values, true, &places);
            }
            return;
        }
        for series in &self.panel.series {
            let values = pooled(self.chart, series, self.x, POINTS);
            forms::draw(svg, series, &values, false, &places);
        }
    }

    /// Thresholds. One above everything that was measured is told at the edge instead of pressing the values flat.
    fn limits(&self, svg: &mut Svg) {
        let mut taken: Vec<f64> = Vec::new();
        for limit in self.panel.limits.iter().filter(|limit| limit.value.is_finite()) {
            let class = match limit.met {
                Some(true) => "met",
                Some(false) => "missed",
                None => "",
            };
            let (mut y, mut word) = (self.y_of(limit.value), limit.word.clone());
            if self.y.holds(limit.value) {
                svg.line((LEFT, y), (WIDTH - RIGHT, y), format!("limit {class}").trim_end());
            } else {
                let is_above = self.y.place(limit.value) > 0.5;
                word = format!("{} {word}", if is_above { '\u{2191}' } else { '\u{2193}' });
                y = if is_above { self.top + 16.0 } else { self.top + self.height };
            }
            // Above its line, unless that is where the plot ends; and never on another one.
            let mut at = if y - self.top < 14.0 { y + 12.0 } else { y - 4.0 };
            while taken.iter().any(|other| (other - at).abs() < 11.5) {
                at += 12.0;
            }
            taken.push(at);
            let word = text::cut(&word, WIDE / 2.0);
            svg.text((WIDTH - RIGHT - 4.0, at), Anchor::End, format!("halo {class}").trim_end(), &word);
        }
    }

    /// Words of the grounds, where these are wide enough.
    fn words(&self, svg: &mut Svg) {
        let mut free_from = f64::NEG_INFINITY;
        for stretch in self.chart.stretches.iter().filter(|stretch| !stretch.word.is_empty()) {
            let (from, to) = (self.x_of(stretch.from) + 4.0, self.x_of(stretch.to));
            if to - from >= text::width(&stretch.word) && from >= free_from {
                svg.text((from, self.top + 12.0), Anchor::Start, "halo", &stretch.word);
                free_from = from + text::width(&stretch.word) + 4.0;
            }
        }
    }
}
