//! Runs with failures.

use crate::made_up::opening;
use crate::scene::{MS, S, Scene, Way, machine};
use crate::shop;
use plimsoll_plan::Fault;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::load::{Load, Profile};
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_record::event::{Opening, RunEvent};

/// Users that send two requests sequentially.
fn users(origin: &str, users: u32, seconds: u64) -> Opening {
    let mut opening = opening(origin, 2);
    let outline = &mut opening.outline;
    outline.name = "trouble".into();
    outline.load = Load::Closed { users: Profile::constant(f64::from(users)) };
    outline.connections = users;
    outline.warmup_ns = 0;
    outline.stop.duration_ns = Some(seconds * S);
    machine(&mut opening.environment);
    opening
}

const WAYS: [(Way, u64); 9] = [
    (Way::Status(500), 30),
    (Way::Status(503), 24),
    (Way::Status(404), 14),
    (Way::Broken(Fault::ConnectionRefused), 10),
    (Way::Broken(Fault::ConnectionReset), 8),
    (Way::Timeout(S), 6),
    (Way::Broken(Fault::ClosedMidResponse), 4),
    (Way::Broken(Fault::MalformedResponse), 3),
    (Way::Broken(Fault::HostUnreachable), 1),
];

pub fn all_errors(seed: u64) -> Scene {
    let fill = |second: &mut crate::scene::Second, number: u64| {
        second.connections(if number == 0 { 40 } else { 12 }, if number == 0 { 0 } else { 12 });
        for k in 0..400 {
            let mut left = second.random.below(100);
            let way = WAYS.iter().find(|(_, weight)| {
                let is_it = left < *weight;
                left = left.saturating_sub(*weight);
                is_it
            });
            let service_ns = second.random.time_ns(4e6, 0.7);
            second.request(k % 2, service_ns, 0, 64, way.map_or(Way::Status(500), |(way, _)| *way));
        }
        second.run().add(RunSum::Iterations.id(), 200);
        second.run().add(RunSum::UsersNs.id(), 40 * S);
    };
    let mut opening = users("all-errors", 40, 60);
    opening.outline.timeout_ns = S;
    let mut scene = Scene::new(opening, 60, seed, Box::new(fill));
    scene.other_events = Box::new(|second, _| {
        let texts = [
            ("http_status", 500, "status 500 where 200-399 was expected", "{\"error\":\"out of memory\"}"),
            ("http_status", 503, "status 503 where 200-399 was expected", "upstream is down"),
            ("connection_refused", 0, "nothing listens on 127.0.0.1:8080", ""),
            ("malformed_response", 0, "the first line is `HTP/1.1 200`", "HTP/1.1 200\r\n"),
        ];
        let sample = |(check, status, found, excerpt): &(&str, u16, &str, &str)| {
            RunEvent::FailureRecorded(FailureExample {
                at_ns: second * S + 77 * MS,
                request: format!("request {}", second % 2),
                check: (*check).into(),
                observed: (*found).into(),
                status: *status,
                excerpt: (*excerpt).into(),
            })
        };
        if second < 3 { texts.iter().map(sample).collect() } else { Vec::new() }
    });
    scene
}

pub fn empty(seed: u64) -> Scene {
    let fill = |second: &mut crate::scene::Second, number: u64| {
        second.run().add(RunSum::UsersNs.id(), 10 * S);
        second.run().add(RunSum::InFlightNs.id(), 10 * S);
        if number == 0 {
            second.connections(10, 0);
            second.interval.series[0].add(SeriesSum::Sent.id(), 10);
        }
        if number == 19 {
            second.run().add(RunSum::InFlightAtEnd.id(), 10);
            for id in [SeriesHist::ResponseCensored, SeriesHist::ServiceCensored] {
                second.interval.series[0].hists[id.id()].record_n(20 * S - MS, 10);
            }
        }
    };
    let mut opening = users("empty", 10, 20);
    opening.outline.timeout_ns = 60 * S;
    Scene::new(opening, 20, seed, Box::new(fill))
}

pub fn gap(seed: u64) -> Scene {
    let mut scene = shop::short(seed, 120);
    scene.lost = 70..85;
    scene
}

pub fn cut_off(seed: u64) -> Scene {
    let mut scene = shop::short(seed, 90);
    scene.opening.outline.stop.duration_ns = Some(300 * S);
    scene.ending = None;
    scene
}
