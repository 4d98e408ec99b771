//! Which cell of an experiment runs next: a pure function of what was run. Every round holds each cell once, in an
//! order of its own: what drifts with time meets all cells alike, and a stop leaves whole rounds.

use crate::validity::{is_valid, met};
use plimsoll_analysis::Digest;
use plimsoll_plan::experiment::{Axis, Setting, number};
use plimsoll_stats::random::SplitMix64;

/// The matrix and its rules.
#[derive(Debug, Clone, Copy)]
pub struct Schedule<'a> {
    pub axes: &'a [Axis],
    pub cells: &'a [Vec<Setting>],
    /// Rounds.
    pub repeat: u32,
    pub seed: u64,
    /// Levels above one that missed its thresholds are not run.
    pub stop_on_miss: bool,
}

/// A run that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub cell: usize,
    pub repeat: u32,
    /// All thresholds were met; `None`: the run proved nothing.
    pub met: Option<bool>,
}

/// A run to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub cell: usize,
    pub repeat: u32,
}

impl Schedule<'_> {
    /// The next run, or `None` when all that is asked for is there.
    pub fn next(&self, done: &[Done]) -> Option<Turn> {
        let is_done = |turn: &Turn| done.iter().any(|d| d.cell == turn.cell && d.repeat == turn.repeat);
        self.turns().find(|turn| !is_done(turn) && !self.is_answered(turn.cell, done))
    }

    /// All runs in their order, answered or not.
    pub fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        (0..self.repeat.max(1)).flat_map(move |repeat| {
            order(self.cells.len(), self.seed, repeat).into_iter().map(move |cell| Turn { cell, repeat })
        })
    }

    /// A lower level of the same row has missed its thresholds every time it ran.
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

/// What the schedule must know of a run; `None`: it does not count.
pub fn done(digest: &Digest, cells: &[Vec<Setting>]) -> Option<Done> {
    let cell = digest.cell.as_ref().filter(|_| is_valid(digest))?;
    let at = cells.iter().position(|settings| *settings == cell.settings)?;
    Some(Done { cell: at, repeat: cell.repeat, met: met(digest) })
}

/// The numbers below `count` in the order of one round (Fisher and Yates's shuffle).
pub fn order(count: usize, seed: u64, round: u32) -> Vec<usize> {
    // A stream of its own for each round: resuming needs no memory of the rounds before.
    let mut random = SplitMix64::new(seed ^ (u64::from(round) + 1).wrapping_mul(0xd134_2543_de82_ef95));
    let mut cells: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        // The bias of the remainder is below count / 2^64.
        cells.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    cells
}

/// Of the n-th run under a seed that was named: runs of one seed would share one chance, and their spread would say
/// nothing of those of others. 53 bits: other readers of the JSON keep
/// numbers as floats.
pub fn seed_of(seed: u64, n: u32) -> u64 {
    match n {
        0 => seed,
        n => SplitMix64::new(seed ^ u64::from(n).rotate_left(32)).next_u64() >> 11,
    }
}
