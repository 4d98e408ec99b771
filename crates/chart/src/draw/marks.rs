//! Labeled points in time. Labels go above the panels if they fit side by side; otherwise, they form a numbered list
//! below.

use super::super::scale::Scale;
use super::super::svg::{Anchor, Svg};
use super::super::text;
use super::{LEFT, RIGHT, ROW, WIDE, WIDTH};
use crate::{Chart, Mark, MarkKind, Unit};
use plimsoll_plan::phrase::{chosen_s, quantity};

/// More lines than this would hide the data; the list gives the number of those left out.
const MOST: usize = 24;
/// Most rows of labels or numbers above the panels.
const ROWS: usize = 2;

pub struct Marks<'a> {
    placed: Vec<Placed<'a>>,
    /// Number of marks beyond [`MOST`].
    left_out: usize,
    is_numbered: bool,
    rows: usize,
    unit: Unit,
}

struct Placed<'a> {
    mark: &'a Mark,
    x: f64,
    /// `None`: no room above the panels.
    row: Option<usize>,
    is_before: bool,
}

impl Marks<'_> {
    pub fn of<'a>(chart: &'a Chart, x: &Scale) -> Marks<'a> {
        let mut all: Vec<&Mark> = chart.marks.iter().filter(|mark| x.holds(mark.at)).collect();
        all.sort_by(|a, b| a.at.total_cmp(&b.at));
        let left_out = all.len().saturating_sub(MOST);
        all.truncate(MOST);
        let place = |mark: &Mark| LEFT + WIDE * x.place(mark.at);
        let words = |mark: &Mark| text::width(&mark.word) + 8.0;
        let (mut placed, fits) = rows(&all, &place, &words);
        let is_numbered = !fits || left_out > 0;
        if is_numbered {
            (placed, _) = rows(&all, &place, &|_| 0.0);
        }
        let rows = placed.iter().filter_map(|one| one.row).max().map_or(0, |row| row + 1);
        Marks { placed, left_out, is_numbered, rows, unit: chart.x.unit }
    }

    /// Returns the height needed above the panels.
    pub fn height(&self) -> f64 {
        if self.placed.is_empty() { 0.0 } else { ROW * self.rows as f64 + 4.0 }
    }

    /// Draws the lines of a plot; in the first plot they begin at their labels, whose area begins at `words`.
    pub fn lines(&self, svg: &mut Svg, words: Option<f64>, (top, bottom): (f64, f64)) {
        for one in &self.placed {
            let class = if one.mark.kind == MarkKind::Answer { "mark answer" } else { "mark" };
            let under = if self.is_numbered { 14.0 } else { 2.0 };
            let from = words.zip(one.row).map_or(top, |(words, row)| words + ROW * row as f64 + under);
            svg.line((one.x, from), (one.x, bottom), class);
        }
    }

    /// Draws the labels above the first plot.
    pub fn words(&self, svg: &mut Svg, top: f64) {
        for (at, one) in self.placed.iter().enumerate() {
            let Some(row) = one.row else { continue };
            let y = top + ROW * row as f64;
            if self.is_numbered {
                badge(svg, (one.x, y + 7.0), at);
                continue;
            }
            let (x, side) =
                if one.is_before { (one.x - 4.0, Anchor::End) } else { (one.x + 4.0, Anchor::Start) };
            svg.text((x, y + 11.0), side, "halo", &one.mark.word);
        }
    }

    /// Draws the numbered list below the axis at `y`; returns the y at which it ends.
    pub fn list(&self, svg: &mut Svg, y: f64) -> f64 {
        if !self.is_numbered || self.placed.is_empty() {
            return y;
        }
        let top = y + ROW + 4.0;
        let entry = |one: &Placed| format!("{}: {}", self.when(one.mark.at), one.mark.word);
        let mut entries: Vec<String> = self.placed.iter().map(entry).collect();
        if self.left_out > 0 {
            entries.push(format!("and {} more", self.left_out));
        }
        // In columns, so that numbers ascend downwards.
        let widest = entries.iter().map(|entry| text::width(entry)).fold(0.0, f64::max);
        let columns = (WIDE / (widest + 32.0)).floor().clamp(1.0, 6.0);
        let wide = WIDE / columns;
        let rows = (entries.len() as f64 / columns).ceil() as usize;
        for (at, entry) in entries.iter().enumerate() {
            let (x, y) = (LEFT + wide * (at / rows) as f64, top + ROW * (at % rows) as f64);
            if at < self.placed.len() {
                badge(svg, (x + 7.0, y - 3.8), at);
            }
            svg.text((x + 19.0, y), Anchor::Start, "", &text::cut(entry, wide - 24.0));
        }
        top + ROW * rows.saturating_sub(1) as f64
    }

    fn when(&self, at: f64) -> String {
        match self.unit {
            // Not `0 ns`: the axis is in seconds.
            Unit::Seconds if at == 0.0 => "0 s".into(),
            Unit::Seconds => chosen_s(at),
            _ => quantity(at),
        }
    }
}

/// Draws the number of a mark, counting from 1.
fn badge(svg: &mut Svg, (x, y): (f64, f64), at: usize) {
    svg.circle((x, y), 7.0, "badge");
    svg.text((x, y + 3.8), Anchor::Middle, "number", &(at + 1).to_string());
}

/// Puts each mark into the first row that has room; also returns whether all of them fit.
fn rows<'a>(
    all: &[&'a Mark],
    x: &dyn Fn(&Mark) -> f64,
    wide: &dyn Fn(&Mark) -> f64,
) -> (Vec<Placed<'a>>, bool) {
    let mut free = [f64::NEG_INFINITY; ROWS];
    let mut placed = Vec::new();
    for mark in all {
        let (at, wide) = (x(mark), wide(mark));
        // A badge is centered on its line; a label is next to it, and on its left at the right edge.
        let is_before = wide > 0.0 && at + wide > WIDTH - RIGHT;
        let (from, to) = match (wide > 0.0, is_before) {
            (false, _) => (at - 8.0, at + 8.0),
            (_, true) => (at - wide, at),
            (_, false) => (at, at + wide),
        };
        let row = free.iter().position(|free| from >= *free);
        if let Some(row) = row {
            free[row] = to;
        }
        placed.push(Placed { mark, x: at, row, is_before });
    }
    let fits = placed.iter().all(|one| one.row.is_some());
    // A line from the upper row must not cross a label in the lower row.
    let crosses = |one: &Placed| {
        let below = placed.iter().filter(|other| other.row > one.row && wide(other.mark) > 0.0);
        below.into_iter().any(|other| {
            let (from, to) = match other.is_before {
                true => (other.x - wide(other.mark), other.x - 2.0),
                false => (other.x + 2.0, other.x + wide(other.mark)),
            };
            one.x > from && one.x < to
        })
    };
    let fits = fits && !placed.iter().any(crosses);
    (placed, fits)
}
