//! Generated runs with the shape of real ones, for tests of how numbers are processed.

pub mod disk;
pub mod metrics;
pub mod script;
pub mod watching;

use plimsoll_plan::limit::Limits;
use plimsoll_plan::link::Link;
use plimsoll_plan::load::{Load, Profile, Share, Stop};
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, status_id};
use plimsoll_plan::outline::{OUTLINE_VERSION, Outline, RequestOutline};
use plimsoll_plan::threshold;
use plimsoll_record::event::{
    Ending, Environment, Note, NoteKind, Opening, RunEvent, Sink, StoppedBy, Tick, WorkerTimes,
};
use plimsoll_record::record::{Gatherer, RUN_LAYOUT, RunRecord, SERIES_LAYOUT};
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// xorshift64*: the same numbers on every machine and with every version.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a log-normal time, as response times are.
    pub fn time_ns(&mut self, median_ns: f64, sigma: f64) -> u64 {
        let normal = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        (median_ns * (sigma * normal).exp()) as u64
    }
}

pub fn opening(origin: &str, series: usize) -> Opening {
    let request = |k| RequestOutline {
        origin: 0,
        name: format!("request {k}"),
        method: "GET".into(),
        path: format!("/{k}"),
        headers: vec![("Accept".into(), "*/*".into())],
        body_bytes: 0,
        scenario: None,
        group: None,
        tags: Vec::new(),
        is_stream: false,
        is_websocket: false,
        is_grpc: false,
        is_outside_load: false,
        is_redirect_expected: false,
    };
    Opening {
        origin: origin.into(),
        outline: Outline {
            origins: Vec::new(),
            version: OUTLINE_VERSION,
            name: "made up".into(),
            target: "127.0.0.1:8080".into(),
            host: "127.0.0.1".into(),
            port: 8080,
            requests: (0..series).map(request).collect(),
            // A number without a short decimal form.
            load: Load::Closed { users: Profile::constant(0.1 + 0.2) },
            stop: Stop { duration_ns: Some(60_000_000_000), requests: None },
            connections: 100,
            workers: 2,
            warmup_ns: 2_500_000_000,
            timeout_ns: 10_000_000_000,
            keep_alive: true,
            read_bodies: false,
            thresholds: threshold::defaults(false),
            buckets_ns: vec![100_000_000, 1_000_000_000, 10_000_000_000],
            share: Share::default(),
            seed: 7,
            limits: Limits::default(),
            checks: Vec::new(),
            groups: Vec::new(),
            workloads: Vec::new(),
            link: Link::default(),
            graceful_stop_ns: 0,
            deliveries: Vec::new(),
            cell: None,
            monitors: Vec::new(),
            system_under_test: Vec::new(),
            question: None,
            scale: None,
        },
        environment: Environment {
            tool_version: "0.1.0".into(),
            host: format!("host-{origin}"),
            cpus: 2,
            addresses: vec!["127.0.0.1:8080".into()],
            ..Environment::default()
        },
        started_unix_ns: 1_763_694_000_000_000_000,
    }
}

/// Returns a second with `requests` responses in each series.
pub fn interval(number: u32, series: usize, requests: u64, random: &mut Random) -> Interval {
    let mut run = Tally::on_demand(RUN_LAYOUT);
    let total = requests * series as u64;
    for (sum, n) in [
        (RunSum::Iterations, total),
        (RunSum::ConnReusedRequests, total),
        (RunSum::BusyNs, 900_000_000 + random.below(100_000_000)),
        (RunSum::IdleNs, 1_000_000_000 + random.below(100_000_000)),
        (RunSum::WallNs, 2_000_000_000),
        (RunSum::LoopIterations, 10_000 + random.below(1000)),
        (RunSum::InFlightNs, 99_000_000_000 + random.below(1_000_000_000)),
        (RunSum::UsersNs, 100_000_000_000),
    ] {
        run.add(sum.id(), n);
    }
    run.peak(RunPeak::InFlight.id(), 90 + random.below(10));
    run.peak(RunPeak::LoopTimeNs.id(), 100_000 + random.below(1_000_000));
    run.floor(RunFloor::RttNs.id(), 20_000 + random.below(1000));
    for _ in 0..total {
        run.record(RunHist::ScheduleLag.id(), random.time_ns(8_000.0, 0.7));
        run.record(RunHist::LoopTime.id(), random.time_ns(40_000.0, 0.6));
    }
    let series = (0..series).map(|_| busy_series(requests, random)).collect();
    Interval { tick: number, run, series }
}

fn busy_series(requests: u64, random: &mut Random) -> Tally {
    let mut series = Tally::on_demand(SERIES_LAYOUT);
    let failed = requests / 1000;
    for (sum, n) in [
        (SeriesSum::Sent.id(), requests),
        (SeriesSum::Finished.id(), requests),
        (SeriesSum::Failed.id(), failed),
        (SeriesSum::BytesIn.id(), requests * 1_234),
        (SeriesSum::BytesOut.id(), requests * 77),
        (SeriesSum::BodyBytes.id(), requests * 1_000),
        (status_id(200), requests - failed),
        (status_id(503), failed),
    ] {
        series.add(sum, n);
    }
    for _ in 0..requests {
        let first_byte = random.time_ns(2_000_000.0, 0.5);
        let body = random.time_ns(20_000.0, 0.4);
        series.record(SeriesHist::FirstByte.id(), first_byte);
        series.record(SeriesHist::Body.id(), body);
        series.record(SeriesHist::Service.id(), first_byte + body);
        series.record(SeriesHist::Response.id(), first_byte + body + random.time_ns(5_000.0, 0.7));
        series.record(SeriesHist::BodySize.id(), 1_000);
    }
    series
}

pub fn tick(interval: Interval) -> RunEvent {
    let pulse = |k: u64| WorkerTimes {
        wall_ns: 1_000_000_000,
        busy_ns: 400_000_000 + 1000 * k + u64::from(interval.tick),
        busy_poll_ns: 1_000 * k,
        idle_ns: 590_000_000,
        cpu_wait_ns: 500 + k,
    };
    RunEvent::Ticked(Tick {
        pulses: vec![pulse(0), pulse(1)],
        interval: Arc::new(interval),
        opened: Arc::default(),
    })
}

pub fn note(at_s: u64, text: &str) -> RunEvent {
    RunEvent::Noted(Note { at_ns: at_s * 1_000_000_000, kind: NoteKind::Control, text: text.into() })
}

pub fn ending(elapsed_s: u64) -> RunEvent {
    RunEvent::Ended(Ending {
        stopped_by: StoppedBy::Duration,
        elapsed_ns: elapsed_s * 1_000_000_000,
        lost_workers: vec![],
    })
}

/// Returns a complete run, in the order in which sinks receive it.
pub fn events(opening: &Opening, ticks: u32, requests: u64) -> Vec<RunEvent> {
    let series = opening.outline.requests.len();
    let mut random = Random::new(u64::from(ticks) + opening.origin.len() as u64);
    let mut events = vec![RunEvent::Opened(Arc::new(opening.clone()))];
    events.extend((0..ticks).map(|number| tick(interval(number, series, requests, &mut random))));
    events.push(note(u64::from(ticks), "interrupted"));
    events.push(ending(u64::from(ticks)));
    events
}

pub fn gathered(events: &[RunEvent]) -> RunRecord {
    let mut gatherer = Gatherer::default();
    events.iter().for_each(|event| gatherer.event(event));
    gatherer.into_record()
}

/// A folder that is removed with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes the checksums from a run file, as in early versions, so that a modified file is read.
pub fn forget_checksums(db: &rusqlite::Connection) {
    let sql = "SELECT s.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE c.name = 'crc'";
    let mut all = db.prepare(sql).unwrap();
    let tables: Vec<String> = all.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.len() >= 8, "{tables:?}");
    for table in tables {
        db.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN crc")).unwrap();
    }
    db.execute_batch("DELETE FROM meta WHERE key = 'seal'").unwrap();
}

/// Returns the names of all files in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
