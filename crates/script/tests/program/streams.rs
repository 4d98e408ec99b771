//! Streams: their ends, concurrent steps, and their counts.

use super::engine::{Engine, MS, Served};
use super::plans::*;
use plimsoll_plan::Fault;
use plimsoll_plan::answer::{Check, Rule, Subject};
use plimsoll_plan::metric::{RunSum, SeriesSum, StreamHist, StreamSum};
use plimsoll_plan::program::BodyUse;
use plimsoll_plan::script::{Node, Script};
use plimsoll_plan::stream::{Closer, Place, Stream};

/// A stream, then `/next`; further requests are `/2`, `/3`.
fn streaming(stream: Stream) -> Script {
    let mut open = ask("/events");
    open.stream = Some(Box::new(stream));
    script(vec![open, ask("/next"), ask("/2"), ask("/3")], vec![Node::Ask(0), Node::Ask(1)])
}

/// A stream with an event every 10 ms, numbered from 1.
fn ticking(events: u64, end_ns: Option<u64>) -> Served {
    let event = |i: u64| (i * 10 * MS, i.to_string(), format!("{{\"n\": {i}}}"));
    Served { events: (1..=events).map(event).collect(), end_ns, ..Served::ok("") }
}

fn before(stream: Served) -> impl FnMut(&str) -> Served + 'static {
    move |request| if request.starts_with("GET /events") { stream.clone() } else { Served::ok("") }
}

fn run(stream: Stream, served: Served) -> Engine {
    let mut engine = play(streaming(stream), before(served));
    engine.iterate();
    engine
}

#[test]
fn a_stream_stays_open_for_its_duration() {
    let engine = run(Stream { for_ns: Some(35 * MS), ..Stream::default() }, ticking(100, None));
    assert_eq!(engine.steps[0].body, BodyUse::Stream);
    assert_eq!(engine.lines(), ["GET /events", "GET /next"]);
    assert_eq!(engine.sent[1].0, 36 * MS, "measured from the head");
    assert_eq!(engine.hist(0, StreamHist::StreamLife), [35 * MS]);
    assert_eq!(engine.hist(0, StreamHist::StreamEvents), [3]);
    assert!(engine.failures.is_empty());
}

#[test]
fn a_stream_is_closed_after_its_number_of_events() {
    let stream =
        Stream { events: Some(4), for_ns: Some(900 * MS), idle_ns: Some(50 * MS), ..Stream::default() };
    let engine = run(stream, ticking(100, None));
    assert_eq!(engine.sent[1].0, 41 * MS);
    assert_eq!(engine.hist(0, StreamHist::StreamEvents), [4]);
    assert!(engine.failures.is_empty(), "its timers are cancelled too, or the engine would panic");
}

#[test]
fn a_stream_may_be_ended_by_the_server() {
    let engine = run(Stream::default(), ticking(2, Some(25 * MS)));
    assert_eq!((engine.sent[1].0, engine.failures.len()), (26 * MS, 0));
}

#[test]
fn a_stream_ended_by_the_wrong_side_is_a_failure() {
    let long = || Stream { for_ns: Some(30 * MS), ..Stream::default() };
    let cases = [
        (Some(Closer::Server), None, true),
        (Some(Closer::Client), None, false),
        (None, None, false),
        (Some(Closer::Client), Some(20 * MS), true),
        (Some(Closer::Server), Some(20 * MS), false),
    ];
    for (closed_by, end_ns, fails) in cases {
        let engine = run(Stream { closed_by, ..long() }, ticking(9, end_ns));
        let expected: Vec<_> = fails.then_some((0, Fault::StreamFailed)).into_iter().collect();
        assert_eq!(engine.failures, expected, "{closed_by:?}, {end_ns:?}");
        assert_eq!(engine.sent.len(), if fails { 1 } else { 2 });
    }
}

#[test]
fn too_long_a_silence_is_a_failure() {
    // Events at 10, 20, and 30 ms after the head, then none.
    let stream = Stream { idle_ns: Some(25 * MS), for_ns: Some(900 * MS), ..Stream::default() };
    let engine = run(stream, ticking(3, None));
    assert_eq!(engine.failures, [(0, Fault::StreamIdleTimeout)]);
    assert_eq!(engine.now_ns, MS + 30 * MS + 25 * MS, "counted from the last event, to the nanosecond");
    assert_eq!((engine.sent.len(), engine.run_sum(RunSum::IterationsAbandoned)), (1, 1));
    assert_eq!(engine.samples[0].check, "stream_idle_timeout");
}

#[test]
fn steps_alongside_a_stream_start_with_its_head_and_are_awaited() {
    let beside = vec![Node::Ask(2), think(100 * MS), Node::Ask(3)];
    let stream = Stream { for_ns: Some(30 * MS), beside: beside.clone(), ..Stream::default() };
    let engine = run(stream, ticking(9, None).after(5 * MS));
    assert_eq!(engine.lines(), ["GET /events", "GET /2", "GET /3", "GET /next"]);
    let times: Vec<u64> = engine.sent.iter().map(|s| s.0 / MS).collect();
    assert_eq!(times, [0, 5, 106, 107], "the stream has ended at 35 ms, the other branch at 107 ms");
    // In the opposite case, the steps end first, and the stream stays open.
    let stream = Stream { for_ns: Some(300 * MS), beside, ..Stream::default() };
    let engine = run(stream, ticking(9, None));
    assert_eq!(engine.sent[3].0, 301 * MS);
}

#[test]
fn a_failure_alongside_a_stream_closes_it() {
    let stream = Stream {
        idle_ns: Some(25 * MS),
        closed_by: Some(Closer::Server),
        beside: vec![think(20 * MS), Node::Ask(2)],
        ..Stream::default()
    };
    let served = ticking(100, None);
    let mut engine = play(streaming(stream), move |request| match request.split(' ').nth(1) {
        Some("/events") => served.clone(),
        _ => Served::status(500),
    });
    engine.iterate();
    assert_eq!(engine.failures, [(2, Fault::Status)], "a stream that the client closed has not failed");
    assert_eq!(engine.hist(0, StreamHist::StreamEvents), [2], "and its account is settled");
    assert_eq!(engine.run_sum(RunSum::IterationsAbandoned), 1);
}

#[test]
fn a_rejected_head_opens_no_stream() {
    let stream = Stream { for_ns: Some(900 * MS), beside: vec![Node::Ask(2)], ..Stream::default() };
    let engine = run(stream.clone(), Served::status(503));
    assert_eq!(engine.failures, [(0, Fault::Status)]);
    assert_eq!(engine.lines(), ["GET /events"]);
    assert!(engine.hist(0, StreamHist::StreamLife).is_empty());
    // The same if the plan continues after the failure: the steps alongside the stream are skipped.
    let mut script = streaming(stream);
    script.asks[0].go_on_after_failure = true;
    let mut engine = play(script, before(Served::status(503)));
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /events", "GET /next"]);
}

#[test]
fn the_head_of_a_stream_can_be_checked_and_its_body_cannot() {
    let mut script = streaming(Stream { for_ns: Some(30 * MS), ..Stream::default() });
    let on = Subject::Header { name: "Content-Type".into(), rule: Rule::Equals(text("text/event-stream")) };
    script.asks[0].checks = vec![Check { name: "type".into(), on }];
    let mut engine = play(script.clone(), before(ticking(9, None).header("Content-Type", "text/html")));
    engine.iterate();
    assert_eq!(engine.failures, [(0, Fault::Check)]);
    assert_eq!(engine.now_ns, MS, "it is closed at once");
    assert_eq!((engine.sum(4, SeriesSum::Finished), engine.sum(4, SeriesSum::Failed)), (1, 1));
    script.asks[0].checks = vec![equals("$.a", "1")];
    assert!(refused(script).contains("only the status and the headers"));
}

#[test]
fn a_stream_is_reopened_after_its_last_event() {
    let stream = Stream {
        reconnects: 2,
        sequence: Some(Place::Id),
        closed_by: Some(Closer::Server),
        beside: vec![Node::Ask(2)],
        ..Stream::default()
    };
    // Numbers 1 to 3, then 5 and 6 (4 is lost), then nothing.
    let mut opened = 0;
    let mut engine = play(streaming(stream), move |request| {
        if !request.starts_with("GET /events") {
            return Served::ok("");
        }
        opened += 1;
        let numbers: &[u64] = [&[1, 2, 3][..], &[5, 6], &[]][opened - 1];
        let events = numbers.iter().map(|n| (n * MS, n.to_string(), String::new())).collect();
        Served { events, end_ns: Some(20 * MS), ..Served::ok("") }
    });
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /events", "GET /2", "GET /events", "GET /events", "GET /next"]);
    let ids: Vec<Option<&str>> = engine
        .sent
        .iter()
        .filter(|(_, text)| text.starts_with("GET /events"))
        .map(|(_, text)| text.lines().find_map(|line| line.strip_prefix("Last-Event-ID: ")))
        .collect();
    assert_eq!(ids, [None, Some("3"), Some("6")]);
    assert_eq!(engine.sum(0, StreamSum::Reconnects), 2);
    assert_eq!((engine.sum(0, StreamSum::EventsExpected), engine.sum(0, StreamSum::EventsLost)), (6, 1));
    assert_eq!(engine.hist(0, StreamHist::StreamEvents), [3, 2, 0]);
    assert!(engine.failures.is_empty());
}

#[test]
fn a_broken_stream_is_reopened_up_to_its_limit() {
    let stream = Stream { reconnects: 1, for_ns: Some(50 * MS), ..Stream::default() };
    let mut opened = 0;
    let mut engine = play(streaming(stream), move |request| {
        opened += 1;
        match (request.starts_with("GET /events"), opened) {
            (true, 1) => Served { end_ns: Some(20 * MS), fault: None, ..ticking(1, None) },
            (true, _) => Served::fault(Fault::ConnectionRefused),
            _ => Served::ok(""),
        }
    });
    engine.iterate();
    assert_eq!(engine.failures, [(0, Fault::ConnectionRefused)], "the second attempt was the last");
    assert_eq!(engine.sum(0, StreamSum::Reconnects), 1);
    assert_eq!(
        engine.hist(0, StreamHist::StreamLife),
        [20 * MS],
        "a stream that never opened has no lifetime"
    );
    assert_eq!((engine.lines().len(), engine.now_ns), (2, 22 * MS), "the timer of the first was cancelled");
}

#[test]
fn a_redirect_to_a_stream_is_followed() {
    let mut script = streaming(Stream { for_ns: Some(30 * MS), ..Stream::default() });
    script.asks[0].redirects = 1;
    let service = |request: &str| match request.split(' ').nth(1) {
        Some("/events") => Served::status(307).header("Location", "/live"),
        Some("/live") => ticking(9, None),
        _ => Served::ok(""),
    };
    let mut engine = play(script.clone(), service);
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /events", "GET /live", "GET /next"]);
    assert_eq!((engine.sum(0, SeriesSum::Redirects), engine.failures.len()), (1, 0));
    assert_eq!(engine.hist(0, StreamHist::StreamEvents), [3]);
    let mut lost = play(script, |_: &str| Served::status(307).header("Location", "/events"));
    lost.iterate();
    assert_eq!(lost.failures, [(0, Fault::Redirects)]);
}

#[test]
fn losses_of_an_open_stream_are_counted_during_the_run() {
    let stream = Stream { sequence: Some(Place::Json("$.n".into())), ..Stream::default() };
    let event = |i: u64| (i * MS, String::new(), format!("{{\"n\": {}}}", i * 2));
    let served = Served { events: (1..=200).map(event).collect(), ..Served::ok("") };
    let mut engine = play(streaming(stream), before(served));
    engine.begin();
    engine.run_until(500 * MS);
    // Every second number is missing: 2, 4, ..., 400.
    assert_eq!(engine.sum(0, StreamSum::EventsExpected), 399);
    let lost = engine.sum(0, StreamSum::EventsLost);
    assert!((199 - 32..199).contains(&lost), "{lost}: all except those that may still arrive");
    let said = engine.failures.len() + engine.samples.len() + engine.sent.len();
    engine.stop();
    assert_eq!(engine.sum(0, StreamSum::EventsLost), 199, "after the end, nothing can arrive");
    assert_eq!(
        engine.failures.len() + engine.samples.len() + engine.sent.len(),
        said,
        "and nothing is started"
    );
    assert_eq!(engine.run_sum(RunSum::IterationsAbandoned), 0);
}
