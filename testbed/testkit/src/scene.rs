//! Generates a run from a plan, second by second.

use crate::made_up::Random;
use plimsoll_plan::metric::{
    PHASE_UNIT_NS, RunFloor, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, fault_id, status_id,
};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::{Fault, Side};
use plimsoll_record::Error;
use plimsoll_record::event::{
    Ending, Environment, Note, NoteKind, Opening, RunEvent, Sink, StoppedBy, Tick, WorkerTimes,
};
use plimsoll_record::record::{RUN_LAYOUT, SERIES_LAYOUT};
use plimsoll_record::run_file::RunFile;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// The events of a second other than its counts: failure examples, monitor samples, notes.
pub type OtherEvents = Box<dyn Fn(u64, &mut Random) -> Vec<RunEvent>>;

/// Fills one second; the argument is its number.
pub type Fill = Box<dyn FnMut(&mut Second, u64)>;

/// A run to generate.
pub struct Scene {
    pub opening: Opening,
    pub seconds: u64,
    pub fill: Fill,
    pub other_events: OtherEvents,
    /// Seconds that are missing in the record.
    pub lost: std::ops::Range<u64>,
    pub ending: Option<Ending>,
    pub seed: u64,
}

/// A run that can be written to a file.
pub trait Made {
    fn write(self, out: &Path) -> Result<(), Error>;
}

impl Scene {
    pub fn new(opening: Opening, seconds: u64, seed: u64, fill: Fill) -> Scene {
        let ending =
            Ending { stopped_by: StoppedBy::Duration, elapsed_ns: seconds * S, lost_workers: Vec::new() };
        let other_events: OtherEvents = Box::new(|_, _| Vec::new());
        Scene { opening, seconds, fill, other_events, lost: 0..0, ending: Some(ending), seed }
    }
}

impl Made for Scene {
    fn write(mut self, out: &Path) -> Result<(), Error> {
        let mut random = Random::new(self.seed);
        let mut writer = RunFile::create(out, &self.opening)?;
        writer.event(&RunEvent::Opened(Arc::new(self.opening.clone())));
        let mut carried = Carried::default();
        for number in 0..self.seconds {
            let mut second = Second::blank(&self.opening.outline, number, random, carried);
            (self.fill)(&mut second, number);
            second.settle(u64::from(self.opening.outline.workers.max(1)));
            if number + 1 == self.seconds && self.ending.is_some() {
                second.stop();
            }
            let Second { mut interval, random: after, busy_ns, carried: left, .. } = second;
            (random, carried) = (after, left);
            interval.run.add(RunSum::BusyNs.id(), busy_ns);
            for event in (self.other_events)(number, &mut random) {
                writer.event(&event);
            }
            if !self.lost.contains(&number) {
                let pulses = pulses(self.opening.outline.workers, busy_ns);
                writer.event(&RunEvent::Ticked(Tick {
                    interval: Arc::new(interval),
                    pulses,
                    opened: Arc::default(),
                }));
            }
        }
        if let Some(ending) = self.ending {
            writer.event(&RunEvent::Ended(ending));
        }
        writer.finish().trouble.map_or(Ok(()), Err)
    }
}

fn pulses(workers: u32, busy_ns: u64) -> Vec<WorkerTimes> {
    let busy_ns = (busy_ns / u64::from(workers.max(1))).min(S);
    let one = WorkerTimes {
        wall_ns: S,
        busy_ns,
        busy_poll_ns: 0,
        idle_ns: (S - busy_ns).saturating_sub(MS),
        cpu_wait_ns: MS / 2,
    };
    vec![one; workers as usize]
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Status(u16),
    /// After this many ns.
    Timeout(u64),
    Broken(Fault),
}

/// State that continues from one second to the next.
#[derive(Default)]
struct Carried {
    /// Number of requests of each open connection, oldest first.
    served: VecDeque<u64>,
    /// Requests that get no response.
    hung: Vec<Hung>,
}

/// A request that waits for its timeout.
struct Hung {
    at: usize,
    /// Wait before its send.
    wait_ns: u64,
    /// From the send to the timeout, and the remaining part of that.
    after_ns: u64,
    left_ns: u64,
}

/// A second that is being generated.
pub struct Second {
    pub interval: Interval,
    pub random: Random,
    busy_ns: u64,
    carried: Carried,
    /// Requests, connections opened for them, and connections closed by a failure.
    requests: u64,
    opened: u64,
    broken: u64,
}

impl Second {
    fn blank(outline: &Outline, number: u64, random: Random, carried: Carried) -> Second {
        let series = (0..outline.series_count()).map(|_| Tally::on_demand(SERIES_LAYOUT)).collect();
        let mut run = Tally::on_demand(RUN_LAYOUT);
        run.add(RunSum::WallNs.id(), u64::from(outline.workers) * S);
        run.add(RunSum::LoopIterations.id(), 4_000);
        let interval = Interval { tick: number as u32, run, series };
        let mut second =
            Second { interval, random, busy_ns: 20 * MS, carried, requests: 0, opened: 0, broken: 0 };
        second.time_out();
        second
    }

    /// Continues the requests without a response, or times them out.
    fn time_out(&mut self) {
        for mut one in std::mem::take(&mut self.carried.hung) {
            let held_ns = one.left_ns.min(S);
            self.interval.run.add(RunSum::InFlightNs.id(), held_ns);
            one.left_ns -= held_ns;
            if one.left_ns > 0 {
                self.carried.hung.push(one);
                continue;
            }
            self.broken += 1;
            self.phases([one.wait_ns, one.after_ns, 0]);
            let cells = &mut self.interval.series[one.at];
            cells.record(SeriesHist::ResponseCensored.id(), one.after_ns + one.wait_ns);
            cells.record(SeriesHist::ServiceCensored.id(), one.after_ns);
            self.fail(one.at, Fault::Timeout);
        }
    }

    /// Wait, time to first byte, and download of the slowest requests, by their sum.
    fn phases(&mut self, phases_ns: [u64; 3]) {
        let ids = [RunHist::WaitByResponse, RunHist::FirstByteByResponse, RunHist::BodyByResponse];
        let response_ns = phases_ns.iter().sum();
        for (id, phase_ns) in ids.into_iter().zip(phases_ns) {
            let units = (phase_ns + PHASE_UNIT_NS / 2) / PHASE_UNIT_NS;
            self.interval.run.hists[id.id()].record_n(response_ns, units);
        }
    }

    pub fn run(&mut self) -> &mut Tally {
        &mut self.interval.run
    }

    pub fn chance(&mut self, share: f64) -> bool {
        (self.random.below(1 << 32) as f64) < share * (1u64 << 32) as f64
    }

    /// Adds one request of series `at` with a service time of `service_ns` after a wait of `wait_ns`.
    pub fn request(&mut self, at: usize, service_ns: u64, wait_ns: u64, body_bytes: u64, way: Way) {
        let late_ns = self.random.time_ns(9_000.0, 0.6);
        self.busy_ns += 11_000 + body_bytes / 8;
        let first_byte_ns = service_ns - (service_ns / 9).min(40_000 + body_bytes * 8);
        let run = &mut self.interval.run;
        run.record(RunHist::ScheduleLag.id(), late_ns);
        run.record(RunHist::LoopTime.id(), 30_000 + late_ns);
        // On average, it starts in the middle of its second.
        let held_ns = if let Way::Timeout(after_ns) = way { after_ns.min(S / 2) } else { service_ns };
        run.add(RunSum::InFlightNs.id(), held_ns);
        let response_ns = service_ns + wait_ns + late_ns;
        if wait_ns > 0 {
            run.record(RunHist::ConnWait.id(), wait_ns);
            run.add(RunSum::ArrivalsQueued.id(), 1);
        }
        match way {
            Way::Broken(Fault::ConnectionRefused | Fault::HostUnreachable) => {
                run.add(RunSum::ConnAttempts.id(), 1)
            }
            _ => self.requests += 1,
        }
        if matches!(way, Way::Status(_)) {
            self.phases([wait_ns + late_ns, first_byte_ns, service_ns - first_byte_ns]);
        }
        let cells = &mut self.interval.series[at];
        cells.add(SeriesSum::Sent.id(), 1);
        cells.add(SeriesSum::BytesOut.id(), 180);
        if let Way::Timeout(after_ns) = way {
            let left_ns = after_ns - held_ns;
            return self.carried.hung.push(Hung { at, wait_ns: wait_ns + late_ns, after_ns, left_ns });
        }
        if let Way::Broken(fault) = way {
            cells.record(SeriesHist::FailedService.id(), service_ns);
            self.broken += u64::from(!matches!(fault, Fault::ConnectionRefused | Fault::HostUnreachable));
            return self.fail(at, fault);
        }
        cells.record(SeriesHist::Response.id(), response_ns);
        cells.record(SeriesHist::Service.id(), service_ns);
        cells.record(SeriesHist::FirstByte.id(), first_byte_ns);
        cells.record(SeriesHist::Body.id(), service_ns - first_byte_ns);
        cells.record(SeriesHist::BodySize.id(), body_bytes);
        cells.add(SeriesSum::BytesIn.id(), body_bytes + 210);
        cells.add(SeriesSum::BodyBytes.id(), body_bytes);
        let Way::Status(status) = way else { return };
        cells.add(status_id(status), 1);
        if (200..400).contains(&status) {
            cells.add(SeriesSum::Finished.id(), 1);
        } else {
            self.fail(at, Fault::Status);
        }
    }

    /// Failures on the client's side do not complete a request.
    pub fn fail(&mut self, at: usize, fault: Fault) {
        let cells = &mut self.interval.series[at];
        cells.add(fault_id(fault), 1);
        if fault.side() != Side::Client {
            cells.add(SeriesSum::Finished.id(), 1);
            cells.add(SeriesSum::Failed.id(), 1);
        }
    }

    /// Adds a check (by its series), passed or failed.
    pub fn check(&mut self, at: usize, holds: bool) {
        let cells = &mut self.interval.series[at];
        cells.add(SeriesSum::Finished.id(), 1);
        cells.add(SeriesSum::Failed.id(), u64::from(!holds));
    }

    /// Adds a passage through a group.
    pub fn passage(&mut self, at: usize, time_ns: u64) {
        self.interval.series[at].add(SeriesSum::Finished.id(), 1);
        self.interval.series[at].record(SeriesHist::Response.id(), time_ns);
    }

    /// Returns the number of open connections.
    pub fn open(&self) -> u64 {
        self.carried.served.len() as u64
    }

    /// Opens and closes connections, the oldest first, as a server with a limit on requests per connection does.
    pub fn connections(&mut self, opened: u64, closed: u64) {
        for _ in 0..closed {
            let served = self.carried.served.pop_front();
            self.closed(RunSum::ClosedByServer, served);
        }
        self.made(opened);
    }

    /// Closes the newest connections, because they are idle.
    pub fn idle(&mut self, closed: u64) {
        for _ in 0..closed {
            let served = self.carried.served.pop_back();
            self.closed(RunSum::ClosedByServer, served);
        }
    }

    fn closed(&mut self, by: RunSum, served: Option<u64>) {
        let Some(served) = served else { return };
        self.run().add(by.id(), 1);
        self.run().record(RunHist::ConnRequests.id(), served);
    }

    fn made(&mut self, opened: u64) {
        self.opened += opened;
        for _ in 0..opened {
            self.carried.served.push_back(0);
            let connect_ns = self.random.time_ns(180_000.0, 0.3);
            self.run().record(RunHist::Connect.id(), connect_ns);
            self.run().floor(RunFloor::ConnectNs.id(), connect_ns);
            self.run().record(RunHist::Rtt.id(), connect_ns);
            self.run().floor(RunFloor::RttNs.id(), connect_ns);
        }
        self.run().add(RunSum::ConnAttempts.id(), opened);
        self.run().add(RunSum::ConnOpened.id(), opened);
    }

    /// Adds connections closed by failures, the requests of each connection, and the peaks of each worker; the peak of
    /// requests in flight is computed from their sum over time.
    fn settle(&mut self, workers: u64) {
        for _ in 0..std::mem::take(&mut self.broken) {
            let served = self.carried.served.pop_back();
            self.closed(RunSum::ClosedAfterError, served);
            self.made(1);
        }
        let (requests, open, opened) = (self.requests, self.open(), self.opened);
        self.run().add(RunSum::ConnReusedRequests.id(), requests.saturating_sub(opened));
        for (at, served) in (0u64..).zip(&mut self.carried.served) {
            *served += requests / open + u64::from(at < requests % open);
        }
        let mean = self.run().sums[RunSum::InFlightNs.id()] / S;
        let share = open.div_ceil(workers);
        self.run().peak(RunPeak::Connections.id(), share);
        self.run().peak(RunPeak::InFlight.id(), (mean * 3 / 2 + 1).div_ceil(workers).min(share));
    }

    /// Ends the run: waiting requests are in flight at the end, and connections stay open.
    fn stop(&mut self) {
        let hung = std::mem::take(&mut self.carried.hung);
        self.run().add(RunSum::InFlightAtEnd.id(), hung.len() as u64);
        for one in hung {
            let age_ns = one.after_ns - one.left_ns;
            let cells = &mut self.interval.series[one.at];
            cells.record(SeriesHist::ResponseCensored.id(), age_ns + one.wait_ns);
            cells.record(SeriesHist::ServiceCensored.id(), age_ns);
        }
        let open = self.open();
        self.run().add(RunSum::OpenAtEnd.id(), open);
        for served in std::mem::take(&mut self.carried.served) {
            self.run().record(RunHist::ConnRequests.id(), served);
        }
    }
}

/// Describes the load generator's machine.
pub fn machine(environment: &mut Environment) {
    environment.kernel = "6.12.0".into();
    environment.cpu_model = "made up, 2 cores".into();
    environment.cpus_online = 2;
    environment.memory_bytes = 8 << 30;
    (environment.nofile_soft_found, environment.nofile_soft, environment.nofile_hard) =
        (1_024, 65_536, 65_536);
    (environment.port_low, environment.port_high) = (32_768, 60_999);
    environment.first_connect_ns = 210_000;
}

pub fn note(at_s: u64, text: &str) -> RunEvent {
    RunEvent::Noted(Note { at_ns: at_s * S, kind: NoteKind::Note, text: text.into() })
}
