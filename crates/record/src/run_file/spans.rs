//! Timeline data that is coarser than ticks: per series, and with the histograms that ticks lack.

use super::sums;
use crate::record::RUN_LAYOUT;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use rusqlite::{Connection, Result};

/// Minimum number of ticks per row.
const SPAN_TICKS: u32 = 10;

/// Maximum number of rows per second; with many series, rows cover more time.
const ROWS_PER_TICK: usize = 2;

/// Gathers ticks until a row is due.
pub struct Spans {
    /// The run-wide tally, then the series.
    cells: Vec<Tally>,
    width: u32,
    first: Option<u32>,
    last: u32,
}

fn width_of(series: usize) -> u32 {
    u32::try_from(series / ROWS_PER_TICK).unwrap_or(u32::MAX).max(SPAN_TICKS)
}

/// One cell over several ticks, ready to be written.
pub struct Span {
    /// -1 is the whole run.
    pub series: i64,
    pub first_tick: u32,
    pub last_tick: u32,
    pub body: Vec<u8>,
}

impl Spans {
    pub fn new(layouts: impl Iterator<Item = Layout>) -> Self {
        let run = std::iter::once(RUN_LAYOUT);
        let cells: Vec<Tally> = run.chain(layouts).map(Tally::on_demand).collect();
        let width = width_of(cells.len() - 1);
        Self { cells, width, first: None, last: 0 }
    }

    /// Adds a series after the others.
    pub fn open(&mut self, layout: Layout) {
        self.cells.push(Tally::on_demand(layout));
        self.width = width_of(self.cells.len() - 1);
    }

    pub fn add(&mut self, interval: &Interval) {
        let theirs = std::iter::once(&interval.run).chain(&interval.series);
        self.cells.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
        self.first.get_or_insert(interval.tick);
        self.last = interval.tick;
    }

    /// Returns the rows to write now: none, or one per used cell.
    pub fn due(&self) -> Vec<Span> {
        let is_due = self.first.is_some_and(|first| self.last.saturating_sub(first) + 1 >= self.width);
        if is_due { self.rest() } else { Vec::new() }
    }

    /// Returns the data gathered so far.
    pub fn rest(&self) -> Vec<Span> {
        let Some(first_tick) = self.first else { return Vec::new() };
        let used = (-1..).zip(&self.cells).filter(|(_, tally)| !tally.is_empty());
        used.map(|(series, tally)| {
            let mut body = Vec::new();
            tally.encode(&mut body);
            Span { series, first_tick, last_tick: self.last, body }
        })
        .collect()
    }

    /// Starts over after `spans` were committed.
    pub fn written(&mut self, spans: &[Span]) {
        if !spans.is_empty() {
            self.cells.iter_mut().for_each(Tally::clear);
            self.first = None;
        }
    }
}

pub fn put(db: &Connection, at: i64, spans: &[Span]) -> Result<()> {
    let mut put = sums::SERIES.put(db)?;
    for span in spans {
        put.row(&[&at, &span.series, &span.first_tick, &span.last_tick, &span.body])?;
    }
    Ok(())
}
