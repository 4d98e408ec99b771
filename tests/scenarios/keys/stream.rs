//! Keys of streams, against the ruler's own count of events.

use super::{Case, case};
use crate::bench::{Seen, Trial, steps, trial};

fn stream(path: &str, keys: &str) -> Trial {
    trial(steps(&format!("- {{ get: \"{path}\", name: s, stream: {keys} }}")))
}

/// Checks that plimsoll received all events that the ruler sent, and their number.
#[track_caller]
fn events(s: &Seen, number: u64) {
    assert_eq!(s.counters["events_sent"], number, "{}\n{}", s.output.stderr, s.brief());
    assert_eq!(s.row("streams", "s")["events"], number);
}

#[track_caller]
fn expect_number(s: &Seen, field: &str, number: u64) {
    assert_eq!(s.row("streams", "s")[field], number, "`{field}` of {}", s.row("streams", "s"));
}

pub const CASES: &[Case] = &[
    case(
        &["request.stream"],
        || stream("/events?every=20ms&count=5", "true"),
        |s| {
            s.expect_run(0);
            events(s, 5);
            expect_number(s, "closed_by_server", 1);
            expect_number(s, "failures", 0);
        },
    ),
    case(
        &["stream.duration"],
        || stream("/events?every=100ms", "{ duration: 550ms }"),
        |s| {
            s.expect_run(0);
            let sent = s.counters["events_sent"].as_u64().unwrap();
            assert!((2..=6).contains(&sent), "{sent} events within 550 ms");
            expect_number(s, "closed_by_client", 1);
            assert_eq!(s.counters["streams_closed_by_peer"], 1);
            assert!(s.elapsed.as_millis() >= 500);
        },
    ),
    case(
        &["stream.events"],
        || stream("/events?every=50ms", "{ events: 4 }"),
        |s| {
            s.expect_run(0);
            expect_number(s, "events", 4);
            expect_number(s, "closed_by_client", 1);
            assert_eq!(s.counters["streams_closed_by_peer"], 1);
        },
    ),
    case(
        &["stream.idle_timeout"],
        || stream("/events?every=30s", "{ idle_timeout: 200ms }"),
        |s| {
            s.ended(&[99], 0);
            expect_number(s, "failures", 1);
            assert!(s.elapsed.as_secs() < 20, "{:?}", s.elapsed);
        },
    ),
    case(
        &["stream.expected_interval"],
        // Told 100 ms, sent every 500: of some twenty that should have come within 2 s, four did.
        || stream("/events?every=500ms&count=4", "{ expected_interval: 100ms }"),
        |s| {
            let row = s.row("streams", "s");
            let of = |field: &str| row[field].as_u64().unwrap();
            events(s, 4);
            assert!(of("events_expected") >= 18, "{row}");
            assert_eq!(of("events_expected"), of("events") + of("events_lost"), "{row}");
        },
    ),
    case(
        &["stream.sequence"],
        || stream("/events?every=20ms&count=8&drop=3,5&repeat=2&swap=6", "{ sequence: id }"),
        |s| {
            events(s, 7);
            expect_number(s, "events_lost", 2);
            expect_number(s, "events_duplicated", 1);
            expect_number(s, "events_out_of_order", 1);
        },
    ),
    case(
        &["sequence.json"],
        || stream("/events?every=20ms&count=6&id=none&drop=2", "{ sequence: { json: $.seq } }"),
        |s| {
            events(s, 5);
            expect_number(s, "events_lost", 1);
            expect_number(s, "events_unnumbered", 0);
        },
    ),
    case(
        &["sequence.regex"],
        || {
            stream(
                "/events?every=20ms&count=6&id=none&drop=2",
                r#"{ sequence: { regex: '"seq":([0-9]+)' } }"#,
            )
        },
        |s| {
            events(s, 5);
            expect_number(s, "events_lost", 1);
            expect_number(s, "events_unnumbered", 0);
        },
    ),
    case(
        &["stream.timestamp", "timestamp.json", "timestamp.unit"],
        || stream("/events?every=50ms&count=5", "{ timestamp: { json: $.sent_ns, unit: ns } }"),
        ages,
    ),
    case(
        &["timestamp.at"],
        || stream("/events?every=50ms&count=5", "{ timestamp: { at: $.sent_ns, unit: ns } }"),
        ages,
    ),
    case(
        &["timestamp.regex"],
        || {
            stream(
                "/events?every=50ms&count=5",
                r#"{ timestamp: { regex: '"sent_ns":([0-9]+)', unit: ns } }"#,
            )
        },
        ages,
    ),
    case(
        &["stream.reconnect"],
        // Each response ends after sequence number 3, and 204 means that there are no more events.
        || stream("/events?every=20ms&count=3&retry=20", "{ reconnect: 2, sequence: id }"),
        |s| {
            let ids: Vec<_> = s.asked.iter().map(|asked| asked.header("Last-Event-ID")).collect();
            assert_eq!(ids[..2], [None, Some("3")], "{}\n{:?}", s.output.stderr, s.lines());
            events(s, 3);
            expect_number(s, "events_lost", 0);
        },
    ),
    case(
        &["stream.closed_by"],
        || stream("/events?every=20ms&count=3", "{ closed_by: client, events: 100 }"),
        |s| {
            s.ended(&[99], 0);
            expect_number(s, "failures", 1);
            expect_number(s, "closed_by_server", 1);
        },
    ),
    case(
        &["stream.while_open"],
        || {
            let list = "- get: /events?every=20ms\n  name: s\n  stream:\n    closed_by: \
                server\n    while_open:\n      - think: 200ms\n      - post: /events/stop";
            trial(steps(list))
        },
        |s| {
            s.expect_run(0);
            s.came(&["GET /events?every=20ms", "POST /events/stop"]);
            assert_eq!(s.counters["streams_closed_by_server"], 1);
            expect_number(s, "closed_by_server", 1);
            events(s, s.counters["events_sent"].as_u64().unwrap());
        },
    ),
];

/// Ages by the ruler's own stamp: on one machine no event is older than the run, and none comes before it was made.
fn ages(s: &Seen) {
    events(s, 5);
    let age = &s.row("streams", "s")["age"];
    assert_eq!(age["count"], 5, "{age}");
    assert!(age["max_ns"].as_u64().unwrap() < 10_000_000_000, "{age}");
}
