//! A run in the making: what is planned, and second by second what becomes of it.

use crate::made_up::Random;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, fault_id, status_id};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::{Fault, Side};
use plimsoll_record::Error;
use plimsoll_record::event::{Ending, Note, NoteKind, Opening, Pulse, RunEvent, Sink, StoppedBy, Tick};
use plimsoll_record::record::{RUN_LAYOUT, SERIES_LAYOUT};
use plimsoll_record::run_file::RunFile;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;
use std::path::Path;
use std::sync::Arc;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// What happens besides counting in the second that begins at `second`: samples, sights, notes.
pub type Beside = Box<dyn Fn(u64, &mut Random) -> Vec<RunEvent>>;

/// One second: its number, its length in ns.
pub type Fill = Box<dyn FnMut(&mut Second, u64)>;

/// See the module.
pub struct Scene {
    pub opening: Opening,
    pub seconds: u64,
    pub fill: Fill,
    pub beside: Beside,
    /// Seconds that are not handed over.
    pub lost: std::ops::Range<u64>,
    pub ending: Option<Ending>,
    pub seed: u64,
}

/// Writes itself.
pub trait Made {
    fn write(self, out: &Path) -> Result<(), Error>;
}

impl Scene {
    pub fn new(opening: Opening, seconds: u64, seed: u64, fill: Fill) -> Scene {
        let ending =
            Ending { stopped_by: StoppedBy::Duration, elapsed_ns: seconds * S, lost_workers: Vec::new() };
        let beside: Beside = Box::new(|_, _| Vec::new());
        Scene { opening, seconds, fill, beside, lost: 0..0, ending: Some(ending), seed }
    }
}

impl Made for Scene {
    fn write(mut self, out: &Path) -> Result<(), Error> {
        let mut random = Random::new(self.seed);
        let mut writer = RunFile::create(out, &self.opening)?;
        writer.event(&RunEvent::Opened(Arc::new(self.opening.clone())));
        for number in 0..self.seconds {
            let mut second = Second::blank(&self.opening.outline, number, random);
            (self.fill)(&mut second, number);
            let Second { mut interval, random: after, busy_ns } = second;
            random = after;
            interval.run.add(RunSum::BusyNs.id(), busy_ns);
            for event in (self.beside)(number, &mut random) {
                writer.event(&event);
            }
            if !self.lost.contains(&number) {
                let pulses = pulses(self.opening.outline.workers, busy_ns);
                writer.event(&RunEvent::Ticked(Tick { interval: Arc::new(interval), pulses }));
            }
        }
        if let Some(ending) = self.ending {
            writer.event(&RunEvent::Ended(ending));
        }
        writer.finish().trouble.map_or(Ok(()), Err)
    }
}

fn pulses(workers: u32, busy_ns: u64) -> Vec<Pulse> {
    let busy_ns = (busy_ns / u64::from(workers.max(1))).min(S);
    let one = Pulse {
        wall_ns: S,
        busy_ns,
        spin_ns: 0,
        sleep_ns: (S - busy_ns).saturating_sub(MS),
        run_queue_ns: MS / 2,
    };
    vec![one; workers as usize]
}

/// How an answer came, or did not.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Status(u16),
    /// After so many ns.
    Timeout(u64),
    Broken(Fault),
}

/// A second in the making.
pub struct Second {
    pub interval: Interval,
    pub random: Random,
    busy_ns: u64,
}

impl Second {
    fn blank(outline: &Outline, number: u64, random: Random) -> Second {
        let series = (0..outline.series_count()).map(|_| Tally::on_demand(SERIES_LAYOUT)).collect();
        let mut run = Tally::on_demand(RUN_LAYOUT);
        run.add(RunSum::WallNs.id(), u64::from(outline.workers) * S);
        run.add(RunSum::Turns.id(), 4_000);
        Second { interval: Interval { tick: number as u32, run, series }, random, busy_ns: 20 * MS }
    }

    pub fn run(&mut self) -> &mut Tally {
        &mut self.interval.run
    }

    pub fn chance(&mut self, share: f64) -> bool {
        (self.random.below(1 << 32) as f64) < share * (1u64 << 32) as f64
    }

    /// One request of series `at`, whose service took `service_ns` behind a wait of `wait_ns`.
    pub fn request(&mut self, at: usize, service_ns: u64, wait_ns: u64, body_bytes: u64, way: Way) {
        let late_ns = self.random.time_ns(9_000.0, 0.6);
        self.busy_ns += 11_000 + body_bytes / 8;
        let first_byte_ns = service_ns - (service_ns / 9).min(40_000 + body_bytes * 8);
        let run = &mut self.interval.run;
        run.record(RunHist::Lateness.id(), late_ns);
        run.record(RunHist::Turn.id(), 30_000 + late_ns);
        let held_ns = if let Way::Timeout(after_ns) = way { after_ns } else { service_ns };
        run.add(RunSum::InFlightNs.id(), held_ns);
        run.add(RunSum::ConnReusedRequests.id(), 1);
        if wait_ns > 0 {
            run.record(RunHist::ConnWait.id(), wait_ns);
            run.add(RunSum::Starved.id(), 1);
        }
        let response_ns = service_ns + wait_ns + late_ns;
        let cells = &mut self.interval.series[at];
        cells.add(SeriesSum::Sent.id(), 1);
        cells.add(SeriesSum::BytesOut.id(), 180);
        if let Way::Timeout(after_ns) = way {
            cells.record(SeriesHist::ResponseCensored.id(), after_ns + wait_ns + late_ns);
            cells.record(SeriesHist::ServiceCensored.id(), after_ns);
            return self.fail(at, Fault::Timeout);
        }
        if let Way::Broken(fault) = way {
            cells.record(SeriesHist::FailedService.id(), service_ns);
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

    /// Failures of this side do not end a request.
    pub fn fail(&mut self, at: usize, fault: Fault) {
        let cells = &mut self.interval.series[at];
        cells.add(fault_id(fault), 1);
        if fault.side() != Side::Client {
            cells.add(SeriesSum::Finished.id(), 1);
            cells.add(SeriesSum::Failed.id(), 1);
        }
    }

    /// A check (by its series) that was made and held or not.
    pub fn check(&mut self, at: usize, holds: bool) {
        let cells = &mut self.interval.series[at];
        cells.add(SeriesSum::Finished.id(), 1);
        cells.add(SeriesSum::Failed.id(), u64::from(!holds));
    }

    /// A passage through a group.
    pub fn passage(&mut self, at: usize, time_ns: u64) {
        self.interval.series[at].add(SeriesSum::Finished.id(), 1);
        self.interval.series[at].record(SeriesHist::Response.id(), time_ns);
    }

    /// Connections made and closed.
    pub fn connections(&mut self, opened: u64, closed: u64) {
        for _ in 0..opened {
            let connect_ns = self.random.time_ns(180_000.0, 0.3);
            self.run().record(RunHist::Connect.id(), connect_ns);
            self.run().floor(RunFloor::ConnectNs.id(), connect_ns);
            self.run().record(RunHist::Rtt.id(), connect_ns);
            self.run().floor(RunFloor::RttNs.id(), connect_ns);
        }
        self.run().add(RunSum::ConnAttempts.id(), opened);
        self.run().add(RunSum::ConnOpened.id(), opened);
        self.run().add(RunSum::ClosedByServer.id(), closed);
        if closed > 0 {
            self.run().hists[RunHist::ConnRequests.id()].record_n(900, closed);
        }
    }

    /// The highest number of requests at once, from their sum over time.
    pub fn peaks(&mut self, connections: u64) {
        let mean = self.run().sums[RunSum::InFlightNs.id()] / S;
        self.run().peak(RunPeak::InFlight.id(), mean * 3 / 2 + 1);
        self.run().peak(RunPeak::Connections.id(), connections);
    }
}

pub fn note(at_s: u64, text: &str) -> RunEvent {
    RunEvent::Noted(Note { at_ns: at_s * S, kind: NoteKind::Note, text: text.into() })
}
