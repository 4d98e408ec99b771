//! Panels below each other on one x axis: lines or points, intervals, marked stretches, a legend for each.

use super::scale::{Scale, mark};
use super::svg::{Anchor, Svg};

/// Colours that colour-blind readers can tell apart (Okabe & Ito 2008), dark enough for a light ground; each has a
/// marker of its own, too.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#56b4e9", "#333333"];
/// More lines in one panel cannot be told apart.
pub const LINES: usize = COLOURS.len();

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const HEAD: f64 = 70.0;
const PANEL: f64 = 150.0;
const BETWEEN: f64 = 46.0;
const FOOT: f64 = 44.0;
/// About the width of a letter of 11 px.
const LETTER: f64 = 6.1;

/// A whole picture.
pub struct Chart {
    pub title: String,
    pub subtitle: String,
    /// With its unit.
    pub x_label: String,
    pub x: Scale,
    pub panels: Vec<Panel>,
}

/// One y axis with what is drawn on it.
pub struct Panel {
    /// With its unit.
    pub label: String,
    pub y: Scale,
    pub series: Vec<Series>,
    /// Stretches of x with a word: the warm-up.
    pub stretches: Vec<(f64, f64, String)>,
    /// Stretches of y: an interval.
    pub bands: Vec<(f64, f64)>,
}

pub struct Series {
    pub name: String,
    /// Place in the palette; the same thing has the same colour in all panels.
    pub colour: usize,
    pub form: Form,
    pub points: Vec<Dot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Line,
    Dashed,
    /// Joined, each point marked.
    Marked,
    /// Not joined.
    Dots,
    Crosses,
    Rings,
}

/// A point, its interval, and whether it is joined to the one before.
#[derive(Debug, Clone, Copy)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    pub interval: Option<(f64, f64)>,
    pub is_joined: bool,
}

impl Chart {
    pub fn draw(&self) -> String {
        let mut svg = Svg::new();
        let height = HEAD + self.panels.len() as f64 * (PANEL + BETWEEN) - BETWEEN + FOOT;
        svg.text((LEFT, 22.0), Anchor::Start, "h", &cut(&self.title, 78));
        svg.text((LEFT, 39.0), Anchor::Start, "s", &cut(&self.subtitle, 108));
        for (at, panel) in self.panels.iter().enumerate() {
            let top = HEAD + at as f64 * (PANEL + BETWEEN);
            self.panel(&mut svg, panel, top);
            if at + 1 == self.panels.len() {
                let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
                svg.text((middle, top + PANEL + 34.0), Anchor::Middle, "y", &self.x_label);
            }
        }
        svg.finish(WIDTH, height, &format!("{}: {}", self.title, self.subtitle))
    }

    fn panel(&self, svg: &mut Svg, panel: &Panel, top: f64) {
        let (wide, bottom) = (WIDTH - LEFT - RIGHT, top + PANEL);
        let x = |value: f64| LEFT + wide * self.x.place(value);
        let y = |value: f64| bottom - PANEL * panel.y.place(value);
        for (from, to, word) in &panel.stretches {
            svg.rect(x(*from), top, x(*to) - x(*from), PANEL, r##"fill="#eeeeee""##);
            if x(*to) - x(*from) > word.len() as f64 * LETTER {
                svg.text((x(*from) + 4.0, top + 13.0), Anchor::Start, "s", word);
            }
        }
        for (low, high) in &panel.bands {
            svg.rect(LEFT, y(*high), wide, y(*low) - y(*high), r##"fill="#cfe3f1""##);
        }
        for value in &panel.y.marks {
            let at = y(*value);
            svg.line((LEFT, at), (WIDTH - RIGHT, at), r##"stroke="#dddddd""##);
            svg.text((LEFT - 6.0, at + 4.0), Anchor::End, "s", &mark(*value));
        }
        for value in &self.x.marks {
            let at = x(*value);
            svg.line((at, bottom), (at, bottom + 4.0), r##"stroke="#888888""##);
            svg.text((at, bottom + 16.0), Anchor::Middle, "s", &mark(*value));
        }
        svg.line((LEFT, bottom), (WIDTH - RIGHT, bottom), r##"stroke="#888888""##);
        svg.line((LEFT, top), (LEFT, bottom), r##"stroke="#888888""##);
        let mut at = LEFT + (panel.label.chars().count() as f64 + 3.0) * LETTER * 1.1;
        svg.text((LEFT, top - 7.0), Anchor::Start, "y", &panel.label);
        // A panel with one line that its label names needs no legend.
        let named = || panel.series.iter().filter(|series| !series.name.is_empty());
        // What does not fit in full is cut to the same length.
        let room = (WIDTH - RIGHT - at) / named().count().max(1) as f64 / LETTER - 5.0;
        for series in named() {
            let colour = COLOURS[series.colour % LINES];
            legend(svg, series, (at, top - 11.0), colour);
            let name = cut(&series.name, room.max(4.0) as usize);
            svg.text((at + 24.0, top - 7.0), Anchor::Start, "", &name);
            at += 24.0 + (name.chars().count() as f64 + 2.0) * LETTER;
        }
        for series in &panel.series {
            draw(svg, series, &x, &y);
        }
    }
}

fn legend(svg: &mut Svg, series: &Series, at: (f64, f64), colour: &str) {
    if matches!(series.form, Form::Line | Form::Dashed | Form::Marked) {
        svg.line(at, (at.0 + 20.0, at.1), &stroke(series.form, colour));
    }
    if !matches!(series.form, Form::Line | Form::Dashed) {
        marker(svg, series, (at.0 + 10.0, at.1), colour);
    }
}

fn stroke(form: Form, colour: &str) -> String {
    let dash = if form == Form::Dashed { r#" stroke-dasharray="5 3""# } else { "" };
    format!(r#"stroke="{colour}" stroke-width="1.6"{dash}"#)
}

fn draw(svg: &mut Svg, series: &Series, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) {
    let colour = COLOURS[series.colour % LINES];
    let thin = format!(r#"stroke="{colour}" stroke-width="1""#);
    for dot in &series.points {
        let Some((low, high)) = dot.interval else { continue };
        let (at, low, high) = (x(dot.x), y(low), y(high));
        svg.line((at, low), (at, high), &thin);
        svg.line((at - 3.0, low), (at + 3.0, low), &thin);
        svg.line((at - 3.0, high), (at + 3.0, high), &thin);
    }
    if matches!(series.form, Form::Line | Form::Dashed | Form::Marked) {
        let mut part: Vec<(f64, f64)> = Vec::new();
        for dot in &series.points {
            if !dot.is_joined {
                joined(svg, &part, series.form, colour);
                part.clear();
            }
            part.push((x(dot.x), y(dot.y)));
        }
        joined(svg, &part, series.form, colour);
    }
    if !matches!(series.form, Form::Line | Form::Dashed) {
        series.points.iter().for_each(|dot| marker(svg, series, (x(dot.x), y(dot.y)), colour));
    }
}

/// A single second between two gaps is a short line, or it would not be seen.
fn joined(svg: &mut Svg, part: &[(f64, f64)], form: Form, colour: &str) {
    match part {
        [] => {}
        [(x, y)] if form != Form::Marked => svg.line((x - 1.0, *y), (x + 1.0, *y), &stroke(form, colour)),
        [_] => {}
        more => svg.path(more, &stroke(form, colour)),
    }
}

fn marker(svg: &mut Svg, series: &Series, (x, y): (f64, f64), colour: &str) {
    let round = |fill: &str| format!(r#"circle cx="{x:.1}" cy="{y:.1}" r="3.4" {fill}"#);
    let cross = format!(r#"stroke="{colour}" stroke-width="1.8""#);
    match (series.form, series.colour % 3) {
        (Form::Crosses, _) => {
            svg.line((x - 3.5, y - 3.5), (x + 3.5, y + 3.5), &cross);
            svg.line((x - 3.5, y + 3.5), (x + 3.5, y - 3.5), &cross);
        }
        (Form::Rings, _) => svg.element(&round(&format!(r##"fill="#ffffff" stroke="{colour}""##))),
        (Form::Marked, 1) => svg.rect(x - 3.0, y - 3.0, 6.0, 6.0, &format!(r#"fill="{colour}""#)),
        (Form::Marked, 2) => {
            svg.element(&format!(r#"path d="M{:.1} {:.1}l4 7h-8z" fill="{colour}""#, x, y - 4.0))
        }
        _ => svg.element(&round(&format!(r#"fill="{colour}""#))),
    }
}

/// At most so many letters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect()
}
