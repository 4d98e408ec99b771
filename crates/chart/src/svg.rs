//! SVG as text: elements with rounded numbers and escaped text. Style is expressed only by classes, so a file can have
//! one style sheet and a page another, with its dark theme.

use plimsoll_plan::phrase::is_harmful;
use std::fmt::Write;

/// A picture under construction.
#[derive(Default)]
pub struct Svg {
    body: String,
}

/// The side of its point on which a text is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Adds an element without content; attributes are written as they are.
    pub fn element(&mut self, attributes: &str) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.body, "<{attributes}/>");
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(short);
        self.element(&format!(r#"path class="{class}" d="M{x1} {y1}L{x2} {y2}""#));
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(short);
        self.element(&format!(r#"rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}""#));
    }

    pub fn circle(&mut self, at: (f64, f64), radius: f64, class: &str) {
        let [x, y, r] = [at.0, at.1, radius].map(short);
        self.element(&format!(r#"circle class="{class}" cx="{x}" cy="{y}" r="{r}""#));
    }

    pub fn path(&mut self, path: Path, class: &str) {
        if !path.d.is_empty() {
            self.element(&format!(r#"path class="{class}" d="{}""#, path.d));
        }
    }

    /// Adds a path whose stroke is as thick as a row.
    pub fn path_of_width(&mut self, path: Path, class: &str, width: f64) {
        if !path.d.is_empty() {
            let width = short(width);
            self.element(&format!(r#"path class="{class}" stroke-width="{width}" d="{}""#, path.d));
        }
    }

    /// Adds a text with the style sheet's `class`.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let side = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " am",
            Anchor::End => " ae",
        };
        let [x, y] = [at.0, at.1].map(short);
        let class = format!("{class}{side}");
        let class = class.trim_start();
        let _ = writeln!(self.body, r#"<text class="{class}" x="{x}" y="{y}">{}</text>"#, escape(text));
    }

    /// Returns the size so far, in bytes.
    pub fn size(&self) -> usize {
        self.body.len()
    }

    /// Returns the elements drawn.
    pub fn into_body(self) -> String {
        self.body
    }
}

/// The `d` attribute of a path, in whole tenths of a pixel and relative steps, which takes half the space.
#[derive(Default)]
pub struct Path {
    d: String,
    at: (i64, i64),
}

impl Path {
    pub fn d(&self) -> &str {
        &self.d
    }

    pub fn move_to(&mut self, x: f64, y: f64) {
        self.step('m', x, y);
    }

    pub fn line_to(&mut self, x: f64, y: f64) {
        let to = (tenths(x), tenths(y));
        let (dx, dy) = (to.0 - self.at.0, to.1 - self.at.1);
        // Writing to a string cannot fail.
        let _ = match (dx, dy) {
            _ if self.d.is_empty() => return self.step('M', x, y),
            (_, 0) => write!(self.d, "h{}", text(dx)),
            (0, _) => write!(self.d, "v{}", text(dy)),
            _ => return self.step('l', x, y),
        };
        self.at = to;
    }

    /// Draws a horizontal line to `x`.
    pub fn across_to(&mut self, x: f64) {
        let x = tenths(x);
        let _ = write!(self.d, "h{}", text(x - self.at.0));
        self.at.0 = x;
    }

    pub fn close(&mut self) {
        self.d.push('z');
    }

    /// Sets the pen position after [`Path::close`].
    pub fn back_to(&mut self, x: f64, y: f64) {
        self.at = (tenths(x), tenths(y));
    }

    /// Draws points joined by lines, without those that are level with both adjacent points.
    pub fn polyline(&mut self, points: &[(f64, f64)]) {
        for (at, (x, y)) in points.iter().enumerate() {
            let level = |other: Option<&(f64, f64)>| other.is_some_and(|o| tenths(o.1) == tenths(*y));
            if at == 0 {
                self.move_to(*x, *y);
            } else if !(level(points.get(at - 1)) && level(points.get(at + 1))) {
                self.line_to(*x, *y);
            }
        }
    }

    fn step(&mut self, verb: char, x: f64, y: f64) {
        let (x, y) = (tenths(x), tenths(y));
        let (verb, dx, dy) = match self.d.is_empty() {
            true => ('M', x, y),
            false => (verb, x - self.at.0, y - self.at.1),
        };
        let (dx, dy) = (text(dx), text(dy));
        let gap = if dy.starts_with('-') { "" } else { " " };
        let _ = write!(self.d, "{verb}{dx}{gap}{dy}");
        self.at = (x, y);
    }
}

/// Clamps a position far outside any picture. The renderer clamps already; this makes sure of it.
fn tenths(x: f64) -> i64 {
    if x.is_finite() { (x.clamp(-1e6, 1e6) * 10.0).round() as i64 } else { 0 }
}

fn text(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let n = tenths.unsigned_abs();
    match (n / 10, n % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

/// Formats with one decimal, a tenth of a pixel.
pub fn short(x: f64) -> String {
    text(tenths(x))
}

/// Replaces characters that XML forbids, and those that change the direction of the following text, with spaces.
pub fn cleaned(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) || is_unknown(c) { ' ' } else { c }).collect()
}

/// Escapes a string for use in text and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in cleaned(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

fn is_unknown(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
}
