//! The label of a panel and the names of its series, in as many rows as they need.

use super::super::svg::{Anchor, Svg};
use super::super::text;
use super::forms::points_of;
use super::{LEFT, RIGHT, ROW, WIDTH};
use crate::chart::{Form, Panel, Series};

/// Entries with their places.
pub struct Legend<'a> {
    entries: Vec<(&'a Series, String, f64, usize)>,
    rows: usize,
}

const SWATCH: f64 = 20.0;

/// Places the names behind the label; what does not fit goes on in the next row. A single series that is called as its
/// panel needs no entry.
pub fn placed<'a>(panel: &'a Panel, label: &str) -> Legend<'a> {
    let named: Vec<&Series> = panel.series.iter().filter(|series| !series.name.is_empty()).collect();
    let is_told = named.len() == 1 && named.first().is_some_and(|one| one.name == panel.y.label);
    let mut at = LEFT + text::bold(label) + 22.0;
    let mut row = 0;
    let mut entries = Vec::new();
    for series in named.into_iter().filter(|_| !is_told) {
        let name = text::cut(&series.name, WIDTH - LEFT - RIGHT - SWATCH - 8.0);
        let wide = SWATCH + 5.0 + text::width(&name);
        if at + wide > WIDTH - RIGHT && at > LEFT {
            (at, row) = (LEFT, row + 1);
        }
        entries.push((series, name, at, row));
        at += wide + 14.0;
    }
    Legend { entries, rows: row + 1 }
}

impl Legend<'_> {
    pub fn height(&self) -> f64 {
        ROW * self.rows as f64 + 6.0
    }

    /// Above the plot that begins at `top`.
    pub fn draw(&self, svg: &mut Svg, label: &str, top: f64) {
        let first = top - 8.0 - ROW * (self.rows - 1) as f64;
        svg.text((LEFT, first), Anchor::Start, "label", label);
        for (series, name, x, row) in &self.entries {
            let y = first + ROW * *row as f64;
            swatch(svg, series, *x, y - 4.0);
            svg.text((x + SWATCH + 5.0, y), Anchor::Start, "name", name);
        }
    }
}

fn swatch(svg: &mut Svg, series: &Series, x: f64, y: f64) {
    let colour = series.colour % 8;
    match series.form {
        Form::Bars => svg.rect(x + 5.0, y - 4.0, 10.0, 8.0, &format!("f{colour}")),
        Form::Area | Form::Range => svg.rect(x, y - 4.0, SWATCH, 8.0, &format!("f{colour} area")),
        Form::Line | Form::Step | Form::Marked => {
            svg.line((x, y), (x + SWATCH, y), &format!("l s{colour}"));
        }
        Form::Dashed => svg.line((x, y), (x + SWATCH, y), &format!("l dash s{colour}")),
        Form::Dots | Form::Crosses | Form::Rings => {}
    }
    if matches!(series.form, Form::Marked | Form::Dots | Form::Crosses | Form::Rings) {
        points_of(svg, series.form, colour, &[(x + SWATCH / 2.0, y)]);
    }
}
