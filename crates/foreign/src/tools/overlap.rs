//! How many samples overlap, and the pauses between them, while a file is read: it is written in the order of the ends,
//! so that what lies far back is settled and need not be kept.

use crate::times::Times;
use std::collections::BTreeMap;

/// Instants that are kept; older ones are settled.
const KEPT: usize = 100_000;
/// Pauses that may still be filled by a long sample.
const OPEN: usize = 1_000;
/// Nothing in flight for so long may be the time between two runs, s.
const PAUSE_S: f64 = 10.0;

/// Spans so far. Times in milliseconds on the file's clock.
#[derive(Default)]
pub struct Overlap {
    /// By µs: how many end and how many begin there.
    edges: BTreeMap<i64, (u32, u32)>,
    settled: i64,
    in_flight: i64,
    most: i64,
    until_ms: Option<f64>,
    pauses: Vec<(f64, f64)>,
    lengths: Times,
    long: Vec<f64>,
}

impl Overlap {
    pub fn add(&mut self, start_ms: f64, end_ms: f64) {
        self.pause(start_ms, end_ms);
        let (start, end) = ((start_ms * 1e3) as i64, (end_ms * 1e3) as i64);
        // A sample without length overlaps nothing.
        if end <= start || end <= self.settled && self.settled != 0 {
            return;
        }
        if self.settled != 0 && start <= self.settled {
            self.in_flight += 1;
        } else {
            self.edges.entry(start).or_default().1 += 1;
        }
        self.edges.entry(end).or_default().0 += 1;
        if self.edges.len() > KEPT {
            self.settle(KEPT / 2);
        }
    }

    /// Takes the oldest instants. An end at the instant of a begin comes first: the user that ended began again.
    fn settle(&mut self, instants: usize) {
        for _ in 0..instants {
            let Some((at, (ends, begins))) = self.edges.pop_first() else { break };
            self.settled = at;
            self.in_flight += i64::from(begins) - i64::from(ends);
            self.most = self.most.max(self.in_flight);
        }
    }

    /// Most samples at once.
    pub fn peak(&mut self) -> u64 {
        self.settle(usize::MAX);
        u64::try_from(self.most).unwrap_or(0)
    }

    fn pause(&mut self, start_ms: f64, end_ms: f64) {
        let Some(until) = self.until_ms else {
            self.until_ms = Some(end_ms);
            return;
        };
        if start_ms > until {
            self.pauses.push((until, start_ms));
            if self.pauses.len() > OPEN {
                let settled: Vec<(f64, f64)> = self.pauses.drain(..OPEN / 2).collect();
                settled.into_iter().for_each(|pause| self.close(pause));
            }
        }
        // A sample that began earlier fills what looked like a pause.
        while let Some(last) = self.pauses.last_mut().filter(|last| start_ms < last.1) {
            if start_ms > last.0 {
                last.1 = start_ms;
                break;
            }
            self.pauses.pop();
        }
        self.until_ms = Some(until.max(end_ms));
    }

    fn close(&mut self, (from, to): (f64, f64)) {
        let length = (to - from) / 1e3;
        self.lengths.add(length);
        if length > PAUSE_S && self.long.len() < KEPT {
            self.long.push(length);
        }
    }

    /// Runs that were appended to each other: pauses far longer than the file's others.
    pub fn runs(&mut self) -> u32 {
        let pauses = std::mem::take(&mut self.pauses);
        pauses.into_iter().for_each(|pause| self.close(pause));
        // A plan with think times pauses often and alike.
        let usual = self.lengths.at(self.lengths.len() / 2).map_or(0.0, |(low, _)| low);
        let many = self.lengths.len() > 8;
        let long = self.long.iter().filter(|pause| !many || **pause > 50.0 * usual).count();
        1 + u32::try_from(long).unwrap_or(u32::MAX - 1)
    }
}
