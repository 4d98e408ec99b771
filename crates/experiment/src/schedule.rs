//! The next cell of an experiment: a pure function of the completed runs. Every round runs each cell once, in its own
//! random order: a drift over time affects all cells equally, and a stop leaves whole rounds.

use crate::validity::{is_valid, met};
use plimsoll_analysis::Digest;
use plimsoll_plan::experiment::{Axis, Setting, number};
use plimsoll_stats::random::SplitMix64;

/// The cells and their rules.
#[derive(Debug, Clone, Copy)]
pub struct Schedule<'a> {
    pub axes: &'a [Axis],
    pub cells: &'a [Vec<Setting>],
    /// Number of rounds.
    pub repeat: u32,
    pub seed: u64,
    /// Skip levels above one that missed its thresholds.
    pub stop_on_miss: bool,
}

/// A completed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub cell: usize,
    pub repeat: u32,
    /// Whether all thresholds were met; `None`: the run is inconclusive.
    pub met: Option<bool>,
}

/// A run to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub cell: usize,
    pub repeat: u32,
}

impl Schedule<'_> {
    /// Returns the next run, or `None` when all requested runs are complete.
    pub fn next(&self, done: &[Done]) -> Option<Turn> {
        let is_done = |turn: &Turn| done.iter().any(|d| d.cell == turn.cell && d.repeat == turn.repeat);
        self.turns().find(|turn| !is_done(turn) && !self.is_answered(turn.cell, done))
    }

    /// Returns all runs in order, including skipped ones.
    pub fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        (0..self.repeat.max(1)).flat_map(move |repeat| {
            order(self.cells.len(), self.seed, repeat).into_iter().map(move |cell| Turn { cell, repeat })
        })
    }

    /// Whether a lower level of the same row missed its thresholds in every run.
    pub fn is_answered(&self, cell: usize, done: &[Done]) -> bool {
        let Some(axis) = self.axes.iter().rposition(|axis| axis.is_numeric).filter(|_| self.stop_on_miss)
        else {
            return false;
        };
        let (Some(level), Some(settings)) = (self.level(cell, axis), self.cells.get(cell)) else {
            return false;
        };
        let same_row = |other: usize| {
            self.cells.get(other).is_some_and(|theirs| {
                theirs.iter().zip(settings).enumerate().all(|(i, (a, b))| i == axis || a == b)
            })
        };
        (0..self.cells.len())
            .filter(|other| same_row(*other) && self.level(*other, axis).is_some_and(|l| l < level))
            .any(|other| {
                let mut runs = done.iter().filter(|d| d.cell == other && d.met.is_some()).peekable();
                runs.peek().is_some() && runs.all(|d| d.met == Some(false))
            })
    }

    fn level(&self, cell: usize, axis: usize) -> Option<f64> {
        number(&self.cells.get(cell)?.get(axis)?.value)
    }
}

/// Reduces a run to what the schedule needs; `None` if the run is not valid.
pub fn done(digest: &Digest, cells: &[Vec<Setting>]) -> Option<Done> {
    let cell = digest.cell.as_ref().filter(|_| is_valid(digest))?;
    let at = cells.iter().position(|settings| *settings == cell.settings)?;
    Some(Done { cell: at, repeat: cell.repeat, met: met(digest) })
}

/// Returns the numbers below `count` in the order of one round (Fisher-Yates shuffle).
pub fn order(count: usize, seed: u64, round: u32) -> Vec<usize> {
    // Each round has its own stream, so resuming does not depend on earlier rounds.
    let mut random = SplitMix64::new(seed ^ (u64::from(round) + 1).wrapping_mul(0xd134_2543_de82_ef95));
    let mut cells: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        // The bias of the remainder is below count / 2^64.
        cells.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    cells
}

/// Returns the seed of the n-th run under a chosen seed. Runs with equal seeds would share their randomness, and
/// their variation would not represent that of other runs. The seed has 53 bits, because other readers of the JSON
/// store numbers as floats.
pub fn seed_of(seed: u64, n: u32) -> u64 {
    match n {
        0 => seed,
        n => SplitMix64::new(seed ^ u64::from(n).rotate_left(32)).next_u64() >> 11,
    }
}
