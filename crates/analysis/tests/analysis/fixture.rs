//! Runs made of numbers: healthy by default, and changed by a test in exactly one way.

use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Caution, Summary, ThresholdResult};
use plimsoll_plan::load::{Profile, Share, Stage};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum, fault_id, status_id};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::watch::{MonitorOutline, Unit};
use plimsoll_plan::{Draft, Fault, Outline, Request, Side, Target, threshold};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{
    Ending, Environment, Fact, MissedSample, MonitorSample, Note, NoteKind, Opening, Reading, RunEvent, Sink,
    StoppedBy, Tick, WorkerTimes,
};
use plimsoll_record::record::{Gatherer, RUN_LAYOUT, SERIES_LAYOUT};
use plimsoll_stats::{Interval, Tally};
use std::sync::Arc;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// A builder of runs.
#[derive(Clone)]
pub struct Run {
    pub origin: String,
    pub outline: Outline,
    pub environment: Environment,
    pub ticks: Vec<Interval>,
    /// Each second's use of one worker.
    pub pulse: WorkerTimes,
    pub ending: Option<Ending>,
    pub notes: Vec<Note>,
    /// Readings of monitors, in any order.
    pub told: Vec<RunEvent>,
    pub started_unix_ns: u64,
}

impl Run {
    /// Ten users for `seconds`, with responses within 4 to 6 ms: 2,000 requests per second.
    pub fn closed(seconds: u64) -> Run {
        Run::closed_with(seconds, |_| {})
    }

    pub fn closed_with(seconds: u64, change: impl FnOnce(&mut Draft)) -> Run {
        let mut run = Run::planned(|draft| {
            draft.load.users = Some(10);
            draft.load.duration_ns = Some(seconds * S);
            change(draft);
        });
        run.fill(|tick| {
            answers(tick, 0, 2_000, 5 * MS);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S - 5 * MS);
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
        });
        run
    }

    /// 1,000 arrivals per second for `seconds`, with responses within 4 to 6 ms.
    pub fn open(seconds: u64) -> Run {
        Run::open_with(seconds, |_| {})
    }

    pub fn open_with(seconds: u64, change: impl FnOnce(&mut Draft)) -> Run {
        let mut run = Run::planned(|draft| {
            draft.load.rate_per_s = Some(1_000.0);
            draft.load.duration_ns = Some(seconds * S);
            change(draft);
        });
        run.fill(|tick| {
            tick.run.add(RunSum::Arrivals.id(), 1_000);
            answers(tick, 0, 1_000, 5 * MS);
            (0..1_000).for_each(|i| tick.run.record(RunHist::ScheduleLag.id(), 800 + i % 100));
            tick.run.add(RunSum::InFlightNs.id(), 5 * S);
        });
        run
    }

    /// A run of a plan, without any ticks yet.
    pub fn planned(change: impl FnOnce(&mut Draft)) -> Run {
        let mut draft = Draft {
            target: Some(Target { host: "10.0.0.7".into(), port: 8080, tls: false }),
            requests: vec![request("pick", "/pick")],
            workers: Some(1),
            ..Draft::default()
        };
        change(&mut draft);
        let outline = seal(draft, Machine { cpus: 2, seed: 7 }).unwrap().outline;
        let elapsed_ns = outline.stop.duration_ns.unwrap_or(0);
        Run {
            origin: "a".into(),
            outline,
            environment: Environment {
                tool_version: "0.1.0".into(),
                host: "laptop-a".into(),
                cpus: 2,
                nofile_soft_found: 256,
                nofile_soft: 256,
                nofile_hard: 256,
                port_low: 32_768,
                port_high: 60_999,
                addresses: vec!["10.0.0.7".into()],
                dns_ns: 3 * MS,
                ..Environment::default()
            },
            ticks: Vec::new(),
            pulse: WorkerTimes {
                wall_ns: S,
                busy_ns: S / 5,
                busy_poll_ns: S / 10,
                idle_ns: S * 7 / 10,
                cpu_wait_ns: 0,
            },
            ending: Some(Ending { stopped_by: StoppedBy::Duration, elapsed_ns, lost_workers: Vec::new() }),
            notes: Vec::new(),
            told: Vec::new(),
            started_unix_ns: 1_700_000_000 * S,
        }
    }

    /// Creates all ticks of the planned duration.
    pub fn fill(&mut self, each: impl Fn(&mut Interval)) {
        let duration_ns = self.outline.stop.duration_ns.unwrap();
        let mut number = 0;
        while self.outline.tick_bounds_ns(number).0 < duration_ns {
            let mut tick = self.blank(number);
            each(&mut tick);
            self.ticks.push(tick);
            number += 1;
        }
    }

    pub fn blank(&self, number: u32) -> Interval {
        let series = self.outline.series_count();
        Interval {
            tick: number,
            run: Tally::on_demand(RUN_LAYOUT),
            series: (0..series).map(|_| Tally::on_demand(SERIES_LAYOUT)).collect(),
        }
    }

    pub fn tick(&mut self, number: usize) -> &mut Interval {
        &mut self.ticks[number]
    }

    /// Applies the same change to one tick.
    pub fn at(mut self, number: usize, change: impl FnOnce(&mut Interval)) -> Run {
        change(&mut self.ticks[number]);
        self
    }

    pub fn all_ticks(mut self, change: impl Fn(&mut Interval)) -> Run {
        self.ticks.iter_mut().for_each(change);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Run)) -> Run {
        change(&mut self);
        self
    }

    pub fn ends(mut self, stopped_by: StoppedBy, elapsed_ns: u64) -> Run {
        self.ending = Some(Ending { stopped_by, elapsed_ns, lost_workers: Vec::new() });
        self
    }

    pub fn note(mut self, at_ns: u64, kind: NoteKind, text: &str) -> Run {
        self.notes.push(Note { at_ns, kind, text: text.into() });
        self
    }

    /// Sets thresholds instead of the defaults.
    pub fn thresholds(mut self, texts: &[&str]) -> Run {
        self.outline.thresholds = texts.iter().map(|t| threshold::parse(t).unwrap()).collect();
        self
    }

    /// Adds a monitor.
    pub fn watch(mut self, name: &str, kind: &str) -> Run {
        let (name, kind) = (name.into(), kind.into());
        self.outline.monitors.push(MonitorOutline { name, kind, target: "port 4110".into(), agent: None });
        self
    }

    /// Adds readings of the newest monitor at the end of each second of the run.
    pub fn sees(mut self, metric: &str, unit: Unit, limit: Option<f64>, value: impl Fn(u64) -> f64) -> Run {
        let monitor = self.outline.monitors.len() as u32 - 1;
        let seconds = self.outline.stop.duration_ns.unwrap() / S;
        let one = |second: u64| {
            let (part, metric) = metric.split_once('/').unwrap_or(("", metric));
            let value = value(second);
            let reading = Reading { part: part.into(), metric: metric.into(), unit, limit, value };
            RunEvent::MonitorSampled(MonitorSample {
                at_ns: (second + 1) * S,
                monitor,
                readings: vec![reading],
            })
        };
        self.told.extend((0..seconds).map(one));
        self
    }

    /// Adds a fact, or a missed sample, of the newest monitor.
    pub fn learns(mut self, name: &str, value: &str) -> Run {
        let monitor = self.outline.monitors.len() as u32 - 1;
        self.told.push(RunEvent::Learnt(Fact { monitor, name: name.into(), value: value.into() }));
        self
    }

    pub fn lapses(mut self, at_ns: u64, why: &str) -> Run {
        let monitor = self.outline.monitors.len() as u32 - 1;
        self.told.push(RunEvent::SampleMissed(MissedSample { at_ns, monitor, why: why.into() }));
        self
    }

    /// Builds the record through the sink that a live run uses.
    pub fn record(&self) -> RunRecord {
        let mut gatherer = Gatherer::default();
        gatherer.event(&RunEvent::Opened(Arc::new(Opening {
            origin: self.origin.clone(),
            outline: self.outline.clone(),
            environment: self.environment.clone(),
            started_unix_ns: self.started_unix_ns,
        })));
        for interval in &self.ticks {
            let pulses = vec![self.pulse];
            gatherer.event(&RunEvent::Ticked(Tick {
                interval: Arc::new(interval.clone()),
                pulses,
                opened: Arc::default(),
            }));
        }
        self.told.iter().for_each(|event| gatherer.event(event));
        for note in &self.notes {
            gatherer.event(&RunEvent::Noted(note.clone()));
        }
        if let Some(ending) = &self.ending {
            gatherer.event(&RunEvent::Ended(ending.clone()));
        }
        gatherer.into_record()
    }

    pub fn summary(&self) -> Summary {
        summarise(&self.record())
    }
}

pub fn request(name: &str, path: &str) -> Request {
    Request {
        origin: 0,
        name: name.into(),
        method: "GET".into(),
        path: path.into(),
        headers: Vec::new(),
        body: None,
    }
}

pub fn part(part: u32, of: u32) -> Share {
    Share { part, of }
}

pub fn profile(start: f64, stages: &[(u64, f64)]) -> Profile {
    let stages = stages.iter().map(|(s, to)| Stage { duration_ns: s * S, to: *to }).collect();
    Profile { start, stages }
}

/// Adds `n` responses with status 200, spread evenly over 0.8 to 1.2 times `middle_ns`.
pub fn answers(tick: &mut Interval, series: usize, n: u64, middle_ns: u64) {
    for i in 0..n {
        let time_ns = middle_ns * 4 / 5 + middle_ns * 2 / 5 * (i % 100) / 100;
        answer(tick, series, time_ns, 200);
    }
    tick.run.add(RunSum::Iterations.id(), n);
}

/// Adds one complete response.
pub fn answer(tick: &mut Interval, series: usize, time_ns: u64, status: u16) {
    let cells = &mut tick.series[series];
    cells.add(SeriesSum::Sent.id(), 1);
    cells.add(SeriesSum::Ended.id(), 1);
    cells.add(SeriesSum::Finished.id(), 1);
    cells.add(SeriesSum::BytesIn.id(), 300);
    cells.add(SeriesSum::BytesOut.id(), 80);
    cells.add(status_id(status), 1);
    if !(200..400).contains(&status) {
        cells.add(SeriesSum::Failed.id(), 1);
        cells.add(fault_id(Fault::Status), 1);
    }
    cells.record(SeriesHist::Response.id(), time_ns);
    cells.record(SeriesHist::Service.id(), time_ns);
    cells.record(SeriesHist::FirstByte.id(), time_ns / 2);
    cells.record(SeriesHist::Body.id(), time_ns - time_ns / 2);
    cells.record(SeriesHist::BodySize.id(), 200);
}

/// Adds `n` failures, counted as the engine counts them: failures of the load generator do not end a request.
pub fn fail(tick: &mut Interval, fault: Fault, n: u64) {
    let cells = &mut tick.series[0];
    cells.add(fault_id(fault), n);
    if fault.side() != Side::Client {
        cells.add(SeriesSum::Finished.id(), n);
        cells.add(SeriesSum::Failed.id(), n);
    }
}

/// Adds `n` timeouts after `after_ns`.
pub fn time_out(tick: &mut Interval, n: u64, after_ns: u64) {
    fail(tick, Fault::Timeout, n);
    let cells = &mut tick.series[0];
    cells.add(SeriesSum::Sent.id(), n);
    cells.add(SeriesSum::Ended.id(), n);
    for _ in 0..n {
        cells.record(SeriesHist::ResponseCensored.id(), after_ns);
        cells.record(SeriesHist::ServiceCensored.id(), after_ns);
    }
}

/// Adds `n` requests in flight at the end, with ages up to `oldest_ns`.
pub fn under_way(tick: &mut Interval, n: u64, oldest_ns: u64) {
    tick.run.add(RunSum::InFlightAtEnd.id(), n);
    let cells = &mut tick.series[0];
    cells.add(SeriesSum::Sent.id(), n);
    for i in 1..=n {
        cells.record(SeriesHist::ResponseCensored.id(), oldest_ns * i / n);
        cells.record(SeriesHist::ServiceCensored.id(), oldest_ns * i / n);
    }
}

pub fn caution<'a>(summary: &'a Summary, code: &str) -> Option<&'a Caution> {
    summary.cautions.iter().find(|c| c.kind.code() == code)
}

pub fn judged<'a>(summary: &'a Summary, text: &str) -> &'a ThresholdResult {
    summary.thresholds.iter().find(|t| t.text == text).unwrap()
}

/// Returns whether two values differ by at most a share of the second.
pub fn close(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= b.abs() * share
}
