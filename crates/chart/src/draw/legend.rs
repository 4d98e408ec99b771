//! The label of a panel and the names of its series, in as many rows as they need.

use super::super::svg::{Anchor, Svg};
use super::super::text;
use super::forms::points_of;
use super::{LEFT, RIGHT, ROW, WIDTH};
use crate::{Band, Form, Panel, Series};

/// Entries with their positions.
pub struct Legend<'a> {
    entries: Vec<(Key<'a>, String, f64, usize)>,
    rows: usize,
}

/// The subject of an entry.
enum Key<'a> {
    Series(&'a Series),
    /// A band that is too low to contain its label.
    Band,
}

const SWATCH: f64 = 20.0;

/// Places the names after the label and wraps them into further rows. No entry is needed for a single series with the
/// panel's own name, or if one of the panels in `above` lists the same series. `low`: bands that cannot contain their
/// label.
pub fn placed<'a>(panel: &'a Panel, label: &str, above: &[Panel], low: &[&Band]) -> Legend<'a> {
    let named = named(panel);
    let is_told = named.len() == 1 && named.first().is_some_and(|one| one.name == panel.y.label);
    let looks = |of: &[&Series]| -> Vec<(String, u8, Form)> {
        of.iter().map(|series| (series.name.clone(), series.color, series.form)).collect()
    };
    let own = looks(&named);
    let is_told = is_told || above.iter().any(|other| looks(&self::named(other)) == own);
    let mut at = LEFT + text::bold(label) + 22.0;
    let mut row = 0;
    let mut entries = Vec::new();
    let series = named.into_iter().filter(|_| !is_told).map(|series| (Key::Series(series), &series.name));
    for (key, name) in series.chain(low.iter().map(|band| (Key::Band, &band.word))) {
        let name = text::cut(name, WIDTH - LEFT - RIGHT - SWATCH - 8.0);
        let wide = SWATCH + 5.0 + text::width(&name);
        if at + wide > WIDTH - RIGHT && at > LEFT {
            (at, row) = (LEFT, row + 1);
        }
        entries.push((key, name, at, row));
        at += wide + 14.0;
    }
    Legend { entries, rows: row + 1 }
}

fn named(panel: &Panel) -> Vec<&Series> {
    panel.series.iter().filter(|series| !series.name.is_empty()).collect()
}

impl Legend<'_> {
    pub fn height(&self) -> f64 {
        ROW * self.rows as f64 + 6.0
    }

    /// Draws the legend above the plot that begins at `top`.
    pub fn draw(&self, svg: &mut Svg, label: &str, top: f64) {
        let first = top - 8.0 - ROW * (self.rows - 1) as f64;
        svg.text((LEFT, first), Anchor::Start, "label", label);
        for (key, name, x, row) in &self.entries {
            let y = first + ROW * *row as f64;
            match key {
                Key::Series(series) => swatch(svg, series, *x, y - 4.0),
                Key::Band => svg.rect(*x, y - 8.0, SWATCH, 8.0, "band"),
            }
            svg.text((x + SWATCH + 5.0, y), Anchor::Start, "name", name);
        }
    }
}

fn swatch(svg: &mut Svg, series: &Series, x: f64, y: f64) {
    let color = series.color % 8;
    match series.form {
        Form::Bars => svg.rect(x + 5.0, y - 4.0, 10.0, 8.0, &format!("f{color}")),
        Form::Area | Form::Range => svg.rect(x, y - 4.0, SWATCH, 8.0, &format!("f{color} area")),
        Form::Line | Form::Step | Form::Marked => {
            svg.line((x, y), (x + SWATCH, y), &format!("l s{color}"));
        }
        Form::Dashed => svg.line((x, y), (x + SWATCH, y), &format!("l dash s{color}")),
        Form::Dots | Form::Crosses | Form::Rings => {}
    }
    if matches!(series.form, Form::Marked | Form::Dots | Form::Crosses | Form::Rings) {
        points_of(svg, series.form, color, &[(x + SWATCH / 2.0, y)]);
    }
}
