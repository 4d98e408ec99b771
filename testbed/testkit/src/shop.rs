//! A shop: users browse, and two of five buy. Response times grow with the load, as in a queue, because the CPUs of its
//! database are limited.

use crate::made_up::{Random, opening};
use crate::scene::{Fill, MS, OtherEvents, S, Scene, Second, Way, machine, note};
use plimsoll_plan::Fault;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::load::{Arrivals, Load, Profile, Share, Stage, Workload};
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::outline::{CheckOutline, RequestOutline};
use plimsoll_plan::threshold;
use plimsoll_plan::watch::{MonitorOutline, Unit};
use plimsoll_record::event::{Fact, MissedSample, MonitorSample, Opening, Reading, RunEvent};
use std::ops::Range;

/// Name, group, median service time in ms without load, its spread, body in bytes.
type Page = (&'static str, &'static str, f64, f64, u64);

const PAGES: [Page; 5] = [
    ("home", "browse", 3.0, 0.30, 14_000),
    ("search", "browse", 11.0, 0.55, 6_200),
    ("item", "browse", 5.0, 0.35, 9_100),
    ("basket", "buy", 8.0, 0.40, 1_900),
    ("pay", "buy / till", 38.0, 0.45, 640),
];
const GROUPS: [&str; 3] = ["browse", "buy", "buy / till"];
/// Series of the checks, which follow the requests; the groups follow the checks.
const PRICED: usize = 5;
const ORDERED: usize = 6;
const BROWSE: usize = 7;

/// The conditions of a run.
#[derive(Clone)]
struct Day {
    rate_per_s: Profile,
    seconds: u64,
    /// Arrivals per second that saturate its database.
    capacity_per_s: f64,
    /// Maximum number of connections, all of which are in use during the spike.
    connections: u32,
    /// Seconds of the spike.
    spike: Range<u64>,
    /// Bytes that leak each second.
    leak_bytes: f64,
}

impl Day {
    fn load(&self, second: u64) -> f64 {
        self.rate_per_s.level_at(second * S) / self.capacity_per_s
    }

    /// Returns the factor of the service times.
    fn factor(&self, second: u64) -> f64 {
        let load = self.load(second).min(0.96);
        let queue = 1.0 + 0.25 * load / (1.0 - load);
        let behind = second.saturating_sub(self.spike.end) as f64;
        match second {
            s if self.spike.contains(&s) => queue * 9.0,
            s if s >= self.spike.end && behind < 20.0 => queue * (1.0 + 3.0 * (-behind / 5.0).exp()),
            _ => queue,
        }
    }
}

fn planned(origin: &str, name: &str, day: &Day, warmup_s: u64, texts: &[&str]) -> Opening {
    let mut opening = opening(origin, PAGES.len());
    let outline = &mut opening.outline;
    outline.name = name.into();
    for (request, (name, group, ..)) in outline.requests.iter_mut().zip(PAGES) {
        *request = RequestOutline {
            name: name.into(),
            method: if name == "pay" { "POST".into() } else { "GET".into() },
            path: format!("/{name}"),
            scenario: Some("shop".into()),
            group: Some(group.into()),
            tags: vec![("page".into(), name.into())],
            ..request.clone()
        };
    }
    let check = |name: &str, request| CheckOutline { name: name.into(), request };
    outline.checks = vec![check("has a price", 2), check("order was taken", 4)];
    outline.groups = GROUPS.map(str::to_owned).to_vec();
    outline.load = Load::Open { rate_per_s: day.rate_per_s.clone(), arrivals: Arrivals::Constant };
    let load = outline.load.clone();
    let connections = day.connections;
    outline.workloads = vec![Workload {
        name: "shop".into(),
        load,
        connections,
        iterations: None,
        loops: None,
        rules: Default::default(),
    }];
    outline.stop.duration_ns = Some(day.seconds * S);
    outline.connections = connections;
    outline.warmup_ns = warmup_s * S;
    outline.thresholds =
        texts.iter().map(|text| threshold::parse(text).expect("it is well-formed")).collect();
    outline.system_under_test =
        vec![("version".into(), "2.14.1".into()), ("commit".into(), "9f1c2ab".into())];
    let watch = |name: &str, kind: &str, of: &str| MonitorOutline {
        name: name.into(),
        kind: kind.into(),
        target: of.into(),
        agent: None,
    };
    outline.monitors = vec![
        watch("app", "process", "port 8080"),
        watch("postgres", "process", "name postgres"),
        watch("host", "host", ""),
    ];
    machine(&mut opening.environment);
    opening
}

/// Returns the function that fills seconds; `share` of the arrivals are from this load generator.
fn fill(day: &Day, share: f64) -> Fill {
    let day = day.clone();
    let mut owed = 0.0;
    Box::new(move |second, number| {
        let (from_ns, to_ns) = (number * S, (number + 1) * S - 1);
        owed += (day.rate_per_s.level_at(from_ns) + day.rate_per_s.level_at(to_ns)) / 2.0 * share;
        let arrivals = owed as u64;
        owed -= arrivals as f64;
        let mood = second.random.time_ns(1e6, 0.05) as f64 / 1e6;
        let factor = day.factor(number) * mood;
        let is_spike = day.spike.contains(&number);
        for _ in 0..arrivals {
            visit(second, factor, is_spike);
        }
        for id in [RunSum::Arrivals, RunSum::Iterations, RunSum::ArrivalsCompleted] {
            second.run().add(id.id(), arrivals);
        }
        connect(&day, second, number);
        let in_flight_ns = second.interval.run.sums[RunSum::InFlightNs.id()];
        second.run().add(RunSum::UsersNs.id(), in_flight_ns + in_flight_ns / 50);
        second.run().add(RunSum::HostBusyNs.id(), S / 2);
        if number + 1 == day.seconds {
            at_stop(second);
        }
    })
}

/// A part of the connections is enough except during the spike; the additional ones are idle soon after it.
fn connect(day: &Day, second: &mut Second, number: u64) {
    let (most, open) = (u64::from(day.connections), second.open());
    let enough = most * 3 / 8;
    let is_spike = day.spike.contains(&number);
    let wanted = if is_spike { most } else { enough };
    let churn = if is_spike { 9 } else { u64::from(number.is_multiple_of(7)) }.min(open);
    second.connections(churn + wanted.saturating_sub(open), churn);
    second.idle(second.open().saturating_sub(wanted).min(12));
}

/// Adds the requests of one user.
fn visit(second: &mut Second, factor: f64, is_spike: bool) {
    let buys = second.chance(0.4);
    let mut spent = [0u64; 3];
    for (at, (_, group, median_ms, sigma, body)) in PAGES.iter().enumerate().filter(|(at, _)| *at < 3 || buys)
    {
        let service_ns = second.random.time_ns(median_ms * 1e6 * factor, *sigma);
        let wait_ns = match is_spike && second.chance(0.3) {
            true => second.random.time_ns(40e6, 0.5),
            false => 0,
        };
        let way = match second.random.below(1_000_000) {
            n if is_spike && n < 150_000 => Way::Status(503),
            n if is_spike && n < 160_000 => Way::Timeout(10 * S),
            n if n < 150 => Way::Status(500),
            n if n < 170 => Way::Broken(Fault::ConnectionReset),
            _ if at == 4 => Way::Status(201),
            _ => Way::Status(200),
        };
        let body = body * 3 / 4 + second.random.below(body / 2);
        second.request(at, service_ns, wait_ns, body, way);
        let is_good = matches!(way, Way::Status(200 | 201));
        match at {
            2 => second.check(PRICED, is_good),
            4 => second.check(ORDERED, is_good),
            _ => {}
        }
        for (number, _) in GROUPS.iter().enumerate().filter(|(_, name)| group.starts_with(**name)) {
            spent[number] += service_ns + wait_ns;
        }
    }
    for (number, time_ns) in spent.into_iter().enumerate().filter(|(_, time_ns)| *time_ns > 0) {
        second.passage(BROWSE + number, time_ns);
    }
}

/// Adds a few young requests that are in flight at the end.
fn at_stop(second: &mut Second) {
    second.run().add(RunSum::InFlightAtEnd.id(), 3);
    second.run().add(RunSum::IterationsInterrupted.id(), 3);
    for age_ms in [1, 4, 9] {
        let cells = &mut second.interval.series[1];
        cells.add(SeriesSum::Sent.id(), 1);
        cells.record(SeriesHist::ResponseCensored.id(), age_ms * MS);
        cells.record(SeriesHist::ServiceCensored.id(), age_ms * MS);
    }
}

/// Returns monitor samples, failure examples, and notes.
fn other_readings(day: &Day, notes: Vec<(u64, &'static str)>) -> OtherEvents {
    let day = day.clone();
    Box::new(move |second, random| {
        let mut events = Vec::new();
        if second == 0 {
            for (monitor, name, value) in
                [(0, "program", "node 22.11"), (1, "version", "17.2"), (2, "cpus", "8")]
            {
                events.push(RunEvent::Learnt(Fact { monitor, name: name.into(), value: value.into() }));
            }
        }
        events.extend(notes.iter().filter(|(at_s, _)| *at_s == second).map(|(at_s, text)| note(*at_s, text)));
        if second == day.spike.start + 1 {
            let (at_ns, why) = (second * S, "no answer within 1 s".into());
            events.push(RunEvent::SampleMissed(MissedSample { at_ns, monitor: 1, why }));
        }
        if day.spike.contains(&second) {
            events.extend([("http_status", "home"), ("timeout", "pay")].map(|(check, request)| {
                RunEvent::FailureRecorded(FailureExample {
                    at_ns: second * S + 310 * MS,
                    request: request.into(),
                    check: check.into(),
                    observed: match check {
                        "timeout" => "no complete response within 10 s".into(),
                        _ => "status 503 where 200-399 was expected".into(),
                    },
                    status: if check == "timeout" { 0 } else { 503 },
                    excerpt: if check == "timeout" {
                        String::new()
                    } else {
                        "{\"error\":\"no connection\"}".into()
                    },
                })
            }));
        }
        events.extend(sights(&day, second, random));
        events
    })
}

fn sights(day: &Day, second: u64, random: &mut Random) -> Vec<RunEvent> {
    let mut near = |value: f64| value * random.time_ns(1e6, 0.04) as f64 / 1e6;
    let load = day.load(second);
    let reading = |metric: &str, unit, limit, value| Reading {
        part: String::new(),
        metric: metric.into(),
        unit,
        limit,
        value,
    };
    let gib = f64::from(1u32 << 30);
    let rss = 0.3 * gib + 0.1 * gib * load + day.leak_bytes * second as f64;
    let seen = [
        vec![
            reading("cpu", Unit::Cores, Some(4.0), near(0.15 + 2.2 * load).min(4.0)),
            reading("rss", Unit::Bytes, Some(2.0 * gib), near(rss)),
            reading("fds", Unit::Count, Some(1_024.0), near(80.0).round()),
        ],
        vec![
            reading("cpu", Unit::Cores, Some(2.0), near(0.05 + 2.0 * load).min(2.0)),
            reading("rss", Unit::Bytes, None, near(0.7 * gib)),
        ],
        vec![
            reading("cpu", Unit::Cores, Some(8.0), near(0.5 + 4.4 * load).min(8.0)),
            reading("memory", Unit::Bytes, Some(16.0 * gib), near(3.0 * gib + rss)),
        ],
    ];
    let at_ns = (second + 1) * S;
    let sight = |(monitor, readings)| {
        RunEvent::MonitorSampled(MonitorSample { at_ns: at_ns + u64::from(monitor) * 900, monitor, readings })
    };
    // During the spike, the database does not respond to its monitor either.
    (0u32..)
        .zip(seen)
        .filter(|(monitor, _)| *monitor != 1 || second != day.spike.start + 1)
        .map(sight)
        .collect()
}

fn stages(legs: &[(u64, f64)]) -> Profile {
    let stages = legs.iter().map(|(seconds, to)| Stage { duration_ns: seconds * S, to: *to });
    Profile { start: 0.0, stages: stages.collect() }
}

/// An hour with a ramp, a step that is too high for `pay`, and a spike of half a minute.
pub fn hour(seed: u64) -> Scene {
    let legs = [(300, 250.0), (900, 250.0), (0, 320.0), (1_980, 320.0), (0, 250.0), (420, 250.0)];
    let day = Day {
        rate_per_s: stages(&legs),
        seconds: 3_600,
        capacity_per_s: 333.0,
        connections: 400,
        spike: 900..912,
        leak_bytes: 0.0,
    };
    let texts = [
        "response_time p95 < 400ms",
        "response_time{request: pay} p99 < 500ms",
        "error_rate < 1%",
        "throughput > 900/s",
    ];
    let opening = planned("0123456789abcdef", "shop, an hour", &day, 30, &texts);
    let mut scene = Scene::new(opening, 3_600, seed, fill(&day, 1.0));
    scene.other_events =
        other_readings(&day, vec![(600, "cache switched off"), (1_500, "cache switched on again")]);
    scene
}

/// A soak test with a memory leak.
pub fn nine_hours(seed: u64) -> Scene {
    let day = Day {
        rate_per_s: stages(&[(600, 25.0), (31_200, 25.0), (600, 0.0)]),
        seconds: 32_400,
        capacity_per_s: 38.0,
        connections: 32,
        spike: 20_000..20_015,
        leak_bytes: 30_000.0,
    };
    let texts = ["response_time p99 < 300ms", "error_rate < 1%"];
    let opening = planned("nine-hours", "shop, a soak", &day, 60, &texts);
    let mut scene = Scene::new(opening, 32_400, seed, fill(&day, 1.0));
    scene.other_events = other_readings(&day, vec![(14_400, "log files were rotated")]);
    scene
}

/// Half of the load of a shop: the shard of one load generator.
pub fn half(seed: u64, number: u32) -> Scene {
    let day = Day {
        rate_per_s: stages(&[(20, 200.0), (280, 200.0)]),
        seconds: 300,
        capacity_per_s: 345.0,
        connections: 120,
        spike: 150..156,
        leak_bytes: 0.0,
    };
    let mut opening =
        planned(&format!("machine-{number}"), "shop, two machines", &day, 20, &["response_time p99 < 900ms"]);
    opening.outline.share = Share { part: number, of: 2 };
    opening.environment.host = format!("load-{number}");
    opening.started_unix_ns += u64::from(number) * 3 * MS;
    let mut scene = Scene::new(opening, 300, seed, fill(&day, 0.5));
    scene.other_events = other_readings(&day, vec![(100, "log level lowered")]);
    scene
}

/// A period of it without special events.
pub fn short(seed: u64, seconds: u64) -> Scene {
    let day = Day {
        rate_per_s: Profile::constant(60.0),
        seconds,
        capacity_per_s: 100.0,
        connections: 100,
        spike: 0..0,
        leak_bytes: 0.0,
    };
    let opening =
        planned("short", "shop, a short run", &day, 10, &["response_time p99 < 300ms", "error_rate < 1%"]);
    let mut scene = Scene::new(opening, seconds, seed, fill(&day, 1.0));
    scene.other_events = other_readings(&day, Vec::new());
    scene
}
