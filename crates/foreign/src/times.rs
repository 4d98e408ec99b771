//! Times of single samples in bounded memory: exact as long as there are few different ones, which is so for a clock of
//! whole milliseconds, and within 0.1% beyond that.

use std::collections::BTreeMap;

/// Different times that are kept exactly.
const EXACT: usize = 16_384;
/// Buckets of each doubling beyond that: 0.1%.
const FINE: f64 = 1_000.0;

/// How often each time occurred.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// By whole milliseconds, because almost every file has them.
    dense: Vec<u64>,
    /// By nanoseconds.
    exact: BTreeMap<u64, u64>,
    /// By bucket, once there were too many.
    coarse: BTreeMap<i32, u64>,
    count: u64,
}

impl Times {
    pub fn add(&mut self, seconds: f64) {
        self.count += 1;
        let ms = seconds * 1e3;
        if ms.fract() == 0.0 && (0.0..EXACT as f64).contains(&ms) {
            // proof: whole and below the limit.
            let at = ms as usize;
            if self.dense.len() <= at {
                self.dense.resize(at + 1, 0);
            }
            self.dense[at] += 1;
            return;
        }
        if self.coarse.is_empty() {
            *self.exact.entry((seconds.max(0.0) * 1e9).round() as u64).or_insert(0) += 1;
            if self.exact.len() > EXACT {
                for (ns, times) in std::mem::take(&mut self.exact) {
                    *self.coarse.entry(bucket(ns as f64 / 1e9)).or_insert(0) += times;
                }
            }
        } else {
            *self.coarse.entry(bucket(seconds)).or_insert(0) += 1;
        }
    }

    /// Number of times.
    pub fn len(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The range of the time at this rank, from 0.
    pub fn at(&self, rank: u64) -> Option<(f64, f64)> {
        // Three sorted lists, walked as one.
        let mut dense = self.dense.iter().enumerate().filter(|(_, n)| **n > 0).peekable();
        let mut exact = self.exact.iter().peekable();
        let mut coarse = self.coarse.iter().peekable();
        let mut before = 0;
        loop {
            let values = [
                dense.peek().map(|(ms, _)| *ms as f64 / 1e3),
                exact.peek().map(|(ns, _)| **ns as f64 / 1e9),
                coarse.peek().map(|(at, _)| low_edge(**at)),
            ];
            let least = (0..3).filter(|i| values[*i].is_some()).min_by(|a, b| {
                let value = |i: usize| values[i].unwrap_or(f64::INFINITY);
                value(*a).total_cmp(&value(*b))
            })?;
            let value = values[least]?;
            let (times, high) = match least {
                0 => (dense.next().map(|(_, n)| *n)?, value),
                1 => (exact.next().map(|(_, n)| *n)?, value),
                _ => coarse.next().map(|(at, n)| (*n, low_edge(at + 1)))?,
            };
            before += times;
            if rank < before {
                return Some((value, high));
            }
        }
    }
}

impl FromIterator<f64> for Times {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut times = Self::default();
        values.into_iter().for_each(|value| times.add(value));
        times
    }
}

fn bucket(seconds: f64) -> i32 {
    // proof: a double's logarithm is below 1,100.
    (seconds.max(1e-12).log2() * FINE).floor() as i32
}

fn low_edge(bucket: i32) -> f64 {
    (f64::from(bucket) / FINE).exp2()
}
