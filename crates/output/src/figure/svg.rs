//! Text that is SVG: elements with rounded numbers and escaped texts.

use std::fmt::Write;

/// A picture in the making.
pub struct Svg {
    body: String,
}

/// Which side of its point a text stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub fn new() -> Svg {
        Svg { body: String::new() }
    }

    /// An element without content; attributes as they are.
    pub fn element(&mut self, attributes: &str) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.body, "<{attributes}/>");
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(short);
        self.element(&format!(r#"line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}"#));
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, style: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(short);
        self.element(&format!(r#"rect x="{x}" y="{y}" width="{width}" height="{height}" {style}"#));
    }

    /// Points joined by lines.
    pub fn path(&mut self, points: &[(f64, f64)], style: &str) {
        let mut d = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if at == 0 { "M" } else { "L" }, short(*x), short(*y));
        }
        self.element(&format!(r#"path d="{d}" fill="none" {style}"#));
    }

    /// `class` is one of the style sheet's.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        self.text_with(at, anchor, class, "", text);
    }

    pub fn text_with(&mut self, at: (f64, f64), anchor: Anchor, class: &str, more: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (short(at.0), short(at.1));
        let _ = writeln!(
            self.body,
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}" class="{class}" {more}>{}</text>"#,
            escape(text)
        );
    }

    /// The file. `title` is what a reader that cannot see is told.
    pub fn finish(self, width: f64, height: f64, title: &str) -> String {
        let (w, h) = (short(width), short(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\">\n<title>{}</title>\n<style>text{{font-family:sans-serif;font-size:11px;fill:#333}}\
             .h{{font-size:15px;font-weight:bold;fill:#111}}.s{{fill:#555}}.y{{font-weight:bold}}</style>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

/// One decimal is a tenth of a pixel.
fn short(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// For text and attributes; characters that XML does not allow become blanks.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
