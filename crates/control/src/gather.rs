//! Aligns what the workers report, each in its own time, into ticks of the whole run. Pure: reports in, ticks
//! out.
//!
//! A tick is complete when every worker has reported it or has ended before it. Reports may come in any order
//! and the ticks are the same, because adding up intervals is commutative and associative.
//!
//! What programs open during the run has a number of its own on each worker. Here it gets one for the run: by family,
//! name and labels, in the order in which the first reports of them come.

use plimsoll_plan::metric::RunSum;
use plimsoll_plan::series::SeriesKey;
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_record::event::{SeriesOpened, Tick, WorkerTimes};
use plimsoll_record::record::Opened;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// How many ticks the fastest worker may be ahead of a silent one before its tick is handed on without it. A
/// worker that died would otherwise hold back all ticks to come, and the memory for them.
pub const PATIENCE_TICKS: u32 = 10;

/// See the module.
pub struct Gather {
    workers: Vec<Worker>,
    /// Ticks that are still open, by number; each holds the sum of what has come in so far.
    open: BTreeMap<u32, Open>,
    /// The next tick to hand on.
    next: u32,
    /// The highest tick that anybody reported.
    newest: u32,
    /// Series that are there from the start.
    fixed: usize,
    /// Those that were opened, over all workers.
    book: SeriesBook,
    /// Those that were told.
    opened: Arc<[Opened]>,
}

#[derive(Default)]
struct Worker {
    /// All ticks below were taken.
    taken_below: u32,
    /// Ticks taken beyond that, out of order.
    taken: BTreeSet<u32>,
    /// Its last tick, once it has said so.
    last: Option<u32>,
    /// Of the series that it has opened, the number in the run; `None`: there are too many.
    places: Vec<Option<u32>>,
}

struct Open {
    sum: Interval,
    pulses: Vec<WorkerTimes>,
    /// Series that found no place of their own in the run.
    refused: u64,
}

/// A report that cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// This worker reported this tick before: adding it again would count its requests twice.
    Duplicate { worker: u32, tick: u32 },
    /// There is no such worker in this run.
    UnknownWorker { worker: u32 },
    /// The worker had said that an earlier tick was its last.
    AfterTheLast { worker: u32, tick: u32 },
    /// It counts under numbers of series that it never opened.
    UnknownSeries { worker: u32, tick: u32 },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Duplicate { worker, tick } => {
                write!(f, "worker {worker} reported tick {tick} twice; the second report was left out")
            }
            Refused::UnknownWorker { worker } => {
                write!(f, "a worker {worker} reported that is not of this run; its report was left out")
            }
            Refused::AfterTheLast { worker, tick } => {
                write!(f, "worker {worker} reported tick {tick} after its last; the report was left out")
            }
            Refused::UnknownSeries { worker, tick } => {
                write!(
                    f,
                    "worker {worker} reported series in tick {tick} that it never opened; the report was left out"
                )
            }
        }
    }
}

impl std::error::Error for Refused {}

impl Gather {
    /// `fixed`: series that are there from the start; `most`: series that may be opened.
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

    /// Takes one worker's report of one tick, with the series that it has opened since the one before; `last` says that
    /// it will send no more.
    ///
    /// A report for a tick that was handed on without its worker is not lost: it is added to the oldest open
    /// tick, so the totals stay exact and only the second to which it is booked is off.
    ///
    /// # Errors
    /// When counting the report would make the totals wrong; nothing of it is counted then.
    pub fn take(
        &mut self,
        worker: u32,
        interval: &Interval,
        opened: &[Arc<SeriesKey>],
        last: bool,
    ) -> Result<(), Refused> {
        let tick = interval.tick;
        let count = self.workers.len();
        let state = self.workers.get_mut(worker as usize).ok_or(Refused::UnknownWorker { worker })?;
        if tick < state.taken_below || state.taken.contains(&tick) {
            return Err(Refused::Duplicate { worker, tick });
        }
        if state.last.is_some_and(|end| tick > end) {
            return Err(Refused::AfterTheLast { worker, tick });
        }
        if interval.series.len() > self.fixed + state.places.len() + opened.len() {
            return Err(Refused::UnknownSeries { worker, tick });
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
        open.sum.merge_placed(interval, self.fixed, &state.places);
        open.refused += self.book.take_refused();
        // Indexing holds: the worker's number was looked up above and there is a pulse for each worker.
        open.pulses[worker as usize].add(&pulse(&interval.run));
        Ok(())
    }

    /// Series that were opened since this was asked, with their numbers: ask before [`Gather::ready`], whose
    /// ticks count under them.
    pub fn opened(&mut self) -> Vec<SeriesOpened> {
        let told = self.opened.len();
        if self.book.opened().len() == told {
            return Vec::new();
        }
        // The book bounds them to far below 2^32.
        let all = self.book.opened().iter().enumerate();
        let all = all.map(|(at, key)| Opened::new((self.fixed + at) as u32, Arc::clone(key)));
        self.opened = all.collect();
        let fresh = self.opened[told..].iter();
        fresh.map(|one| SeriesOpened { series: one.series, key: Arc::clone(&one.key) }).collect()
    }

    /// The next tick in order, if it is complete (or has waited too long for somebody).
    pub fn ready(&mut self) -> Option<Tick> {
        if !self.open.contains_key(&self.next) {
            return None;
        }
        let complete = self.workers.iter().all(|w| w.has(self.next) || w.last.is_some_and(|l| l < self.next));
        if complete || self.newest >= self.next + PATIENCE_TICKS { self.hand_on() } else { None }
    }

    /// What is left when no worker will report any more, in order; complete or not.
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
    /// Starts without cells: merging takes over the layout of whatever comes in.
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
