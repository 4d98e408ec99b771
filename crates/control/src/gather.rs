//! Aligns the reports of the workers, which each keep their own time, into ticks of the whole run. A pure function
//! from reports to ticks. A tick is complete when every worker has reported it or has ended before it. The order of
//! the reports does not matter, because adding intervals is commutative and associative. A series that a program
//! opens during the run has its own number on each worker; here it gets one for the run, by family, name, and labels,
//! in the order of the first reports.

use plimsoll_plan::metric::RunSum;
use plimsoll_plan::series::SeriesKey;
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_record::event::{SeriesOpened, Tick, WorkerTimes};
use plimsoll_record::record::{EncodedTick, Opened};
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Number of ticks that the fastest worker may be ahead of a silent one before a tick is emitted without it.
/// Otherwise a dead worker would hold back all later ticks and the memory for them.
pub const PATIENCE_TICKS: u32 = 10;

/// State of the alignment; see the module for the rules.
pub struct Gather {
    workers: Vec<Worker>,
    /// Incomplete ticks by number; each holds the sum of the reports so far.
    open: BTreeMap<u32, Open>,
    /// Next tick to emit.
    next: u32,
    /// Highest tick that any worker reported.
    newest: u32,
    /// Number of series that exist from the start.
    fixed: usize,
    /// Series that were opened, over all workers.
    book: SeriesBook,
    /// Series that were announced.
    opened: Arc<[Opened]>,
}

#[derive(Default)]
struct Worker {
    /// All ticks below this number were taken.
    taken_below: u32,
    /// Ticks above it that were taken out of order.
    taken: BTreeSet<u32>,
    /// Last tick of the worker, once it has announced it.
    last: Option<u32>,
    /// Whether nothing more is expected of it.
    is_gone: bool,
    /// Numbers in the run of the series that it opened; `None` if there are too many.
    places: Vec<Option<u32>>,
}

struct Open {
    sum: Interval,
    pulses: Vec<WorkerTimes>,
    /// Series for which the run had no place left.
    refused: u64,
}

/// A report that cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The worker already reported this tick; adding it again would count its requests twice.
    Duplicate { worker: u32, tick: u32 },
    /// The run has no such worker.
    UnknownWorker { worker: u32 },
    /// The worker announced an earlier tick as its last.
    AfterTheLast { worker: u32, tick: u32 },
    /// The worker counts under series that it never opened.
    UnknownSeries { worker: u32, tick: u32 },
    /// The interval is damaged.
    Unreadable { worker: u32, tick: u32 },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Duplicate { worker, tick } => {
                write!(f, "worker {worker} reported tick {tick} twice; the second report was ignored")
            }
            Refused::UnknownWorker { worker } => {
                write!(f, "unknown worker {worker} sent a report, which was ignored")
            }
            Refused::AfterTheLast { worker, tick } => {
                write!(f, "worker {worker} reported tick {tick} after its last; the report was ignored")
            }
            Refused::UnknownSeries { worker, tick } => {
                write!(f, "worker {worker} reported unknown series in tick {tick}; the report was ignored")
            }
            Refused::Unreadable { worker, tick } => {
                write!(f, "the report of worker {worker} about tick {tick} is damaged")
            }
        }
    }
}

impl std::error::Error for Refused {}

impl Gather {
    /// Creates the state. `fixed` is the number of initial series, `most` the number that may be opened.
    pub fn new(workers: u32, fixed: usize, most: u64) -> Self {
        Self {
            fixed,
            book: SeriesBook::new(fixed, most),
            opened: Arc::default(),
            workers: (0..workers).map(|_| Worker::default()).collect(),
            open: BTreeMap::new(),
            next: 0,
            newest: 0,
        }
    }

    /// Takes one worker's report of one tick, with the series that it has opened since the previous one; `last` marks
    /// its final report. A report for a tick that was already emitted is added to the oldest open tick, so totals
    /// stay exact and only the second is wrong.
    ///
    /// # Errors
    /// Returns an error, and counts nothing, if counting the report would make the totals wrong.
    pub fn take(
        &mut self,
        worker: u32,
        interval: &Interval,
        opened: &[Arc<SeriesKey>],
        last: bool,
    ) -> Result<(), Refused> {
        let tick = interval.tick;
        let state = self.workers.get(worker as usize).ok_or(Refused::UnknownWorker { worker })?;
        if interval.series.len() > self.fixed + state.places.len() + opened.len() {
            return Err(Refused::UnknownSeries { worker, tick });
        }
        let first = self.fixed;
        self.add(worker, tick, opened, last, &pulse(&interval.run), |sum, places| {
            sum.merge_placed(interval, first, places);
            Ok(())
        })
    }

    /// Takes a report like [`Gather::take`] whose interval is encoded, of a worker that has opened no series.
    ///
    /// # Errors
    /// Returns the errors of [`Gather::take`], and one if the interval is damaged. A part of it may be in the sum.
    pub fn take_encoded(&mut self, worker: u32, tick: &EncodedTick) -> Result<(), Refused> {
        let (first, number) = (self.fixed, tick.number());
        let mut times = WorkerTimes::default();
        tick.pulses.iter().for_each(|pulse| times.add(pulse));
        self.add(worker, number, &[], false, &times, |sum, places| {
            let mut bytes = tick.interval();
            match sum.merge_encoded(&mut bytes, first, places) {
                Ok(series) if series <= first + places.len() => Ok(()),
                Ok(_) => Err(Refused::UnknownSeries { worker, tick: number }),
                Err(_) => Err(Refused::Unreadable { worker, tick: number }),
            }
        })
    }

    fn add(
        &mut self,
        worker: u32,
        tick: u32,
        opened: &[Arc<SeriesKey>],
        last: bool,
        times: &WorkerTimes,
        merge: impl FnOnce(&mut Interval, &[Option<u32>]) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let count = self.workers.len();
        let state = self.workers.get_mut(worker as usize).ok_or(Refused::UnknownWorker { worker })?;
        if tick < state.taken_below || state.taken.contains(&tick) {
            return Err(Refused::Duplicate { worker, tick });
        }
        if state.last.is_some_and(|end| tick > end) {
            return Err(Refused::AfterTheLast { worker, tick });
        }
        for key in opened {
            let labels: Vec<(&str, &str)> =
                key.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            state.places.push(self.book.find(key.family, &key.name, &labels));
        }
        state.taken.insert(tick);
        while state.taken.remove(&state.taken_below) {
            state.taken_below += 1;
        }
        if last {
            state.last = Some(tick);
        }
        self.newest = self.newest.max(tick);
        let booked = tick.max(self.next);
        let open = self.open.entry(booked).or_insert_with(|| Open::new(booked, count));
        merge(&mut open.sum, &state.places)?;
        open.refused += self.book.take_refused();
        // The index is valid: the worker's number was looked up above, and each worker has an entry.
        open.pulses[worker as usize].add(times);
        Ok(())
    }

    /// Does not wait for more reports of a worker: it has ended, or is lost. If one comes all the same, it counts.
    pub fn end(&mut self, worker: u32) {
        if let Some(state) = self.workers.get_mut(worker as usize) {
            state.is_gone = true;
        }
    }

    /// Returns the series opened since the last call, with their numbers. Call it before [`Gather::ready`], whose
    /// ticks use them.
    pub fn opened(&mut self) -> Vec<SeriesOpened> {
        let told = self.opened.len();
        if self.book.opened().len() == told {
            return Vec::new();
        }
        // The book limits them to far below 2^32.
        let all = self.book.opened().iter().enumerate();
        let all = all.map(|(at, key)| Opened::new((self.fixed + at) as u32, Arc::clone(key)));
        self.opened = all.collect();
        let fresh = self.opened[told..].iter();
        fresh.map(|one| SeriesOpened { series: one.series, key: Arc::clone(&one.key) }).collect()
    }

    /// Returns the next tick in order if it is complete, or has waited too long for a worker.
    pub fn ready(&mut self) -> Option<Tick> {
        if !self.open.contains_key(&self.next) {
            return None;
        }
        let complete = self
            .workers
            .iter()
            .all(|w| w.has(self.next) || w.is_gone || w.last.is_some_and(|l| l < self.next));
        if complete || self.newest >= self.next + PATIENCE_TICKS { self.hand_on() } else { None }
    }

    /// Returns the remaining ticks in order, complete or not, when no more reports will come.
    pub fn rest(&mut self) -> Vec<Tick> {
        let mut rest = Vec::new();
        while let Some(first) = self.open.keys().next() {
            self.next = *first;
            rest.extend(self.hand_on());
        }
        rest
    }

    fn hand_on(&mut self) -> Option<Tick> {
        let mut open = self.open.remove(&self.next)?;
        if open.refused > 0 && open.sum.run.sums.len() > RunSum::SeriesRejected.id() {
            open.sum.run.add(RunSum::SeriesRejected.id(), open.refused);
        }
        self.next += 1;
        Some(Tick { interval: Arc::new(open.sum), pulses: open.pulses, opened: Arc::clone(&self.opened) })
    }
}

impl Worker {
    fn has(&self, tick: u32) -> bool {
        tick < self.taken_below || self.taken.contains(&tick)
    }
}

impl Open {
    /// Starts without cells; merging adopts the layout of the first report.
    fn new(tick: u32, workers: usize) -> Self {
        let mut sum = Interval::new(Layout::default(), Layout::default(), 0);
        sum.tick = tick;
        Self { sum, pulses: vec![WorkerTimes::default(); workers], refused: 0 }
    }
}

fn pulse(run: &Tally) -> WorkerTimes {
    let of = |sum: RunSum| run.sums.get(sum.id()).copied().unwrap_or(0);
    WorkerTimes {
        wall_ns: of(RunSum::WallNs),
        busy_ns: of(RunSum::BusyNs),
        busy_poll_ns: of(RunSum::BusyPollNs),
        idle_ns: of(RunSum::IdleNs),
        cpu_wait_ns: of(RunSum::CpuWaitNs),
    }
}
