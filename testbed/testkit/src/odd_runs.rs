//! Runs with an unusual shape: very many requests, a single one, streams, and hostile texts.

use crate::made_up::opening;
use crate::scene::{MS, S, Scene, Second, Way, machine, note};
use plimsoll_plan::Fault;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::load::{Load, Profile};
use plimsoll_plan::metric::{RunSum, SeriesSum, StreamHist, StreamSum};
use plimsoll_plan::outline::{CheckOutline, RequestOutline};
use plimsoll_plan::watch::{MonitorOutline, Unit};
use plimsoll_record::event::{
    Ending, Fact, MissedSample, MonitorSample, Opening, Reading, RunEvent, StoppedBy,
};
use std::collections::VecDeque;

/// Returns the opening of a closed model with `users` users for `seconds` seconds.
fn users(origin: &str, requests: usize, users: u32, seconds: u64) -> Opening {
    let mut opening = opening(origin, requests);
    let outline = &mut opening.outline;
    outline.name = origin.replace('-', " ");
    outline.load = Load::Closed { users: Profile::constant(f64::from(users)) };
    outline.connections = users;
    outline.warmup_ns = 0;
    outline.stop.duration_ns = Some(seconds * S);
    machine(&mut opening.environment);
    opening
}

/// Users that only wait for responses, so that almost all of their time is in requests.
fn close(second: &mut Second, users: u64) {
    let in_flight_ns = second.interval.run.sums[RunSum::InFlightNs.id()];
    second.run().sums[RunSum::InFlightNs.id()] = in_flight_ns.clamp(users * S - users * MS, users * S);
    second.run().add(RunSum::UsersNs.id(), users * S);
}

/// A tree of groups: ten areas, four parts each, five requests in each part.
pub fn many_requests(seed: u64) -> Scene {
    let mut opening = users("many-requests", 200, 50, 300);
    let outline = &mut opening.outline;
    for (at, request) in outline.requests.iter_mut().enumerate() {
        let (area, part) = (at / 20, at / 5 % 4);
        let long = "with-a-name-that-is-too-long-to-type-but-that-a-generator-of-clients-produces";
        let name = match at % 5 {
            4 => format!("GET /api/v1/area-{area}/part-{part}/{long}/{at}?expand=items,prices,stock&page=1"),
            k => format!("area {area} part {part} step {k}"),
        };
        let group = if at < 190 { Some(format!("area {area} / part {part}")) } else { None };
        *request = RequestOutline { name, group, path: format!("/{at}"), ..request.clone() };
    }
    outline.groups = (0..10).map(|area| format!("area {area}")).collect();
    let fill = |second: &mut Second, number: u64| {
        second.connections(if number == 0 { 50 } else { 0 }, 0);
        for k in 0..600u64 {
            // The first requests are the most frequent.
            let at = (second.random.below(200) * second.random.below(200) / 200) as usize;
            let service_ns = second.random.time_ns(30e6 + 3e6 * (at % 37) as f64, 0.35);
            let way = if at % 50 == 13 && k % 9 == 0 { Way::Status(404) } else { Way::Status(200) };
            second.request(at, service_ns, 0, 500 + 40 * at as u64, way);
        }
        second.run().add(RunSum::Iterations.id(), 3);
        close(second, 50);
    };
    Scene::new(opening, 300, seed, Box::new(fill))
}

/// One request and its response, 12 ms after the start.
pub fn single_request(seed: u64) -> Scene {
    let mut opening = users("single-request", 1, 1, 10);
    opening.outline.stop.requests = Some(1);
    let fill = |second: &mut Second, _: u64| {
        second.connections(1, 0);
        second.request(0, 11_700_000, 0, 1_234, Way::Status(200));
        second.run().add(RunSum::Iterations.id(), 1);
        second.run().add(RunSum::UsersNs.id(), 12 * MS);
    };
    let mut scene = Scene::new(opening, 1, seed, Box::new(fill));
    scene.ending =
        Some(Ending { stopped_by: StoppedBy::Requests, elapsed_ns: 12 * MS, lost_workers: Vec::new() });
    scene
}

/// Subscribers that connect within 20 s and receive one event per second each; occasionally, the server closes a tenth
/// of them.
pub fn streams(seed: u64) -> Scene {
    const LATEST: u64 = 119;
    let mut opening = users("streams", 2, 400, 120);
    let outline = &mut opening.outline;
    outline.requests[0] =
        RequestOutline { name: "feed".into(), is_stream: true, ..outline.requests[0].clone() };
    outline.requests[1] = RequestOutline { name: "publish".into(), ..outline.requests[1].clone() };
    // Start of each open stream, oldest first.
    let mut begun: VecDeque<u64> = VecDeque::new();
    let fill = move |second: &mut Second, number: u64| {
        let sent_away = if number > 30 && number.is_multiple_of(20) { 40 } else { 0 };
        let back = if number > 30 && number % 20 == 1 { 40 } else { 0 };
        let fresh = if number < 20 { 20 } else { back };
        let ended: Vec<u64> = begun.drain(..sent_away as usize).map(|since| number - since).collect();
        begun.extend((0..fresh).map(|_| number));
        let open = begun.len() as u64;
        second.connections(fresh, sent_away);
        for _ in 0..fresh {
            let (head_ns, first_ns) = (second.random.time_ns(3e6, 0.4), second.random.time_ns(400e6, 0.6));
            second.interval.series[0].record(StreamHist::StreamHead.id(), head_ns);
            second.interval.series[0].record(StreamHist::FirstEvent.id(), first_ns);
        }
        let lost = second.random.below(3);
        for _ in 0..open - lost {
            let (gap_ns, age_ns) = (second.random.time_ns(1e9, 0.02), second.random.time_ns(6e6, 0.7));
            second.interval.series[0].record(StreamHist::EventGap.id(), gap_ns);
            second.interval.series[0].record(StreamHist::EventAge.id(), age_ns);
        }
        let at_stop = if number == LATEST { open } else { 0 };
        let cells = &mut second.interval.series[0];
        for (id, n) in [
            (SeriesSum::Sent.id(), fresh),
            (StreamSum::Streams.id(), fresh),
            (StreamSum::Reconnects.id(), back),
            (StreamSum::ClosedByServer.id(), sent_away),
            (SeriesSum::Finished.id(), sent_away),
            (StreamSum::OpenAtEnd.id(), at_stop),
            (StreamSum::Events.id(), open - lost),
            (StreamSum::EventsExpected.id(), open),
            (StreamSum::EventsLost.id(), lost),
            (SeriesSum::BytesIn.id(), (open - lost) * 140),
        ] {
            cells.add(id, n);
        }
        let standing = begun.iter().filter(|_| number == LATEST).map(|since| number + 1 - since);
        for lived in ended.into_iter().chain(standing) {
            let cells = &mut second.interval.series[0];
            cells.record(StreamHist::StreamLife.id(), lived * S);
            cells.record(StreamHist::StreamEvents.id(), lived);
        }
        for _ in 0..30 {
            let service_ns = second.random.time_ns(4e6, 0.3);
            second.request(1, service_ns, 0, 90, Way::Status(202));
        }
        second.run().add(RunSum::InFlightNs.id(), open * S);
        second.run().add(RunSum::UsersNs.id(), 400 * S);
    };
    Scene::new(opening, 120, seed, Box::new(fill))
}

/// Texts that every report must show as text.
const HOSTILE: [&str; 9] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"onmouseover=\"alert(1)\" x='",
    "\u{202e}txt.exe\u{2066}\u{200f}abc\u{2069}",
    "]]>--><!--<![CDATA[<style>*{display:none}</style>",
    "tab\tline\nnext\r\nbell\u{7}null\u{1}escape\u{1b}[31mred\u{1b}[0m",
    "javascript:alert(1)//%0a${alert(1)}{{7*7}}<%=7%>",
    "&lt;b&gt; &amp; &#0; | `code` **bold** [link](javascript:alert(1)) <!-- -->",
    "=HYPERLINK(\"http://127.0.0.1/\",\"x\"),+1,@x",
];

pub fn hostile(seed: u64) -> Scene {
    let mut opening = users("hostile", HOSTILE.len(), 9, 30);
    let outline = &mut opening.outline;
    outline.name = HOSTILE[0].into();
    outline.question = Some(HOSTILE[1].into());
    for (request, text) in outline.requests.iter_mut().zip(HOSTILE) {
        *request = RequestOutline {
            name: text.into(),
            path: format!("/{text}"),
            headers: vec![("X-Text".into(), text.into()), (text.into(), "value".into())],
            scenario: Some(HOSTILE[1].into()),
            group: Some(format!("{} / {}", HOSTILE[0], text)),
            tags: vec![(text.into(), text.into())],
            ..request.clone()
        };
    }
    outline.checks = vec![CheckOutline { name: HOSTILE[1].into(), request: 0 }];
    outline.groups = vec![HOSTILE[0].into()];
    outline.system_under_test = HOSTILE.map(|text| (text.to_owned(), text.to_owned())).to_vec();
    outline.monitors = vec![MonitorOutline {
        name: HOSTILE[0].into(),
        kind: "process".into(),
        target: HOSTILE[1].into(),
        agent: None,
    }];
    opening.environment.host = HOSTILE[1].into();
    opening.environment.cpu_model = HOSTILE[2].into();
    opening.environment.kernel = HOSTILE[0].into();
    let fill = |second: &mut Second, number: u64| {
        second.connections(if number == 0 { 9 } else { 0 }, 0);
        for k in 0..90u64 {
            let service_ns = second.random.time_ns(95e6, 0.3);
            let way = match k {
                3 => Way::Status(418),
                4 => Way::Broken(Fault::MalformedResponse),
                _ => Way::Status(200),
            };
            second.request(k as usize % HOSTILE.len(), service_ns, 0, 700, way);
        }
        second.check(HOSTILE.len(), !number.is_multiple_of(3));
        second.passage(HOSTILE.len() + 1, 60 * MS);
        second.run().add(RunSum::Iterations.id(), 10);
        close(second, 9);
    };
    let mut scene = Scene::new(opening, 30, seed, Box::new(fill));
    scene.other_events = Box::new(|second, _| {
        let text = HOSTILE[second as usize % HOSTILE.len()].to_owned();
        let reading = |metric: &str, part: &str, value| Reading {
            part: part.into(),
            metric: metric.into(),
            unit: Unit::Cores,
            limit: Some(4.0),
            value,
        };
        let readings =
            vec![reading("cpu", "", 1.5), reading(HOSTILE[0], HOSTILE[1], 1.0 + second as f64 / 30.0)];
        vec![
            note(second, &text),
            RunEvent::Learnt(Fact { monitor: 0, name: text.clone(), value: text.clone() }),
            RunEvent::SampleMissed(MissedSample { at_ns: second * S, monitor: 0, why: text.clone() }),
            RunEvent::MonitorSampled(MonitorSample { at_ns: (second + 1) * S, monitor: 0, readings }),
            RunEvent::FailureRecorded(FailureExample {
                at_ns: second * S,
                request: text.clone(),
                check: HOSTILE[1].into(),
                observed: text.clone(),
                status: 418,
                excerpt: HOSTILE.concat(),
            }),
        ]
    });
    scene
}
