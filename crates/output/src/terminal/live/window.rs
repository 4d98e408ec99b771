//! The figures of a stretch of ticks, for the live view and the plain lines.

use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum, fault_id};
use plimsoll_plan::{Fault, Outline};
use plimsoll_record::event::{Pulse, Tick};
use plimsoll_stats::{Hist, Tally};

/// Sums and distributions of some ticks in a row.
#[derive(Debug, Default)]
pub struct Window {
    pub response: Hist,
    pub lateness: Hist,
    pub arrivals: u64,
    pub finished: u64,
    pub failed: u64,
    pub opened: u64,
    pub closed: u64,
    pub events: u64,
    pub streams_opened: u64,
    pub streams_ended: u64,
    pub length_ns: u64,
    in_flight_ns: u64,
    faults: [u64; Fault::COUNT],
    /// Share of its time that the busiest worker worked, in the last tick.
    pub busiest: f64,
    /// Share of the workers' time spent polling for a due instant, in the last tick.
    pub spin: f64,
}

impl Window {
    pub fn new() -> Window {
        Window::default()
    }

    pub fn clear(&mut self) {
        let (mut response, mut lateness) =
            (std::mem::take(&mut self.response), std::mem::take(&mut self.lateness));
        response.clear();
        lateness.clear();
        *self = Window { response, lateness, ..Window::default() };
    }

    pub fn is_empty(&self) -> bool {
        self.length_ns == 0
    }

    /// Adds a tick.
    pub fn add(&mut self, outline: &Outline, tick: &Tick) {
        let (from_ns, to_ns) = outline.tick_bounds_ns(tick.interval.tick);
        // The last tick is cut short: then the workers' own clocks know its length.
        let walls = tick.pulses.iter().map(|p| p.wall_ns).max().filter(|wall| *wall > 0);
        self.length_ns += walls.unwrap_or(to_ns - from_ns);
        let run = &tick.interval.run;
        self.arrivals += sum(run, RunSum::Arrivals.id());
        self.opened += sum(run, RunSum::ConnOpened.id());
        let ends = [RunSum::ClosedByServer, RunSum::ClosedByUs, RunSum::ClosedByFault];
        self.closed += ends.iter().map(|end| sum(run, end.id())).sum::<u64>();
        self.in_flight_ns += sum(run, RunSum::InFlightNs.id());
        merge(&mut self.lateness, run, RunHist::Lateness.id());
        // Behind the requests lie checks and groups, and some requests are not of the load.
        let requests = outline.requests.iter().zip(&tick.interval.series).filter(|(one, _)| !one.aside);
        for (request, series) in requests {
            self.finished += sum(series, SeriesSum::Finished.id());
            self.failed += sum(series, SeriesSum::Failed.id());
            for fault in Fault::ALL {
                self.faults[*fault as usize] += sum(series, fault_id(*fault));
            }
            self.events += sum(series, SeriesSum::Events.id());
            self.streams_opened += sum(series, SeriesSum::Streams.id());
            let lives = series.hists.get(SeriesHist::StreamLife.id()).map_or(0, Hist::count);
            self.streams_ended += lives;
            if request.stream {
                // Its whole life is no response time.
                continue;
            }
            merge(&mut self.response, series, SeriesHist::Response.id());
            // A time-out belongs into the live picture at the time it took at least; the report tells them apart.
            merge(&mut self.response, series, SeriesHist::ResponseCensored.id());
        }
        self.busiest = tick.pulses.iter().map(|p| share(p, p.busy_ns)).fold(0.0, f64::max);
        let workers = tick.pulses.len().max(1) as f64;
        self.spin = tick.pulses.iter().map(|p| share(p, p.spin_ns)).sum::<f64>() / workers;
    }

    pub fn achieved_per_s(&self) -> f64 {
        self.per_s(self.finished)
    }

    pub fn events_per_s(&self) -> f64 {
        self.per_s(self.events)
    }

    pub fn offered_per_s(&self) -> f64 {
        self.per_s(self.arrivals)
    }

    /// Mean number of requests in flight.
    pub fn in_flight(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { self.in_flight_ns as f64 / self.length_ns as f64 }
    }

    /// The classes that occurred, the commonest first.
    pub fn faults(&self) -> Vec<(Fault, u64)> {
        let mut all: Vec<(Fault, u64)> =
            Fault::ALL.iter().map(|f| (*f, self.faults[*f as usize])).filter(|(_, n)| *n > 0).collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        all
    }

    fn per_s(&self, n: u64) -> f64 {
        if self.length_ns == 0 { 0.0 } else { n as f64 * 1e9 / self.length_ns as f64 }
    }
}

/// A cell, 0 where an older or newer writer has none.
fn sum(tally: &Tally, id: usize) -> u64 {
    tally.sums.get(id).copied().unwrap_or(0)
}

fn merge(into: &mut Hist, tally: &Tally, id: usize) {
    if let Some(hist) = tally.hists.get(id) {
        into.merge(hist);
    }
}

fn share(pulse: &Pulse, part_ns: u64) -> f64 {
    if pulse.wall_ns == 0 { 0.0 } else { part_ns as f64 / pulse.wall_ns as f64 }
}
