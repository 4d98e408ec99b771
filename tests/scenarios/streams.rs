//! Many streams at once, and an account of every event that the ruler sent, left out, sent twice or swapped.

use crate::bench::{Seen, trial};
use serde_json::Value;

#[track_caller]
fn count(seen: &Seen, field: &str) -> u64 {
    let row = seen.row("streams", "events");
    row[field].as_u64().unwrap_or_else(|| panic!("no count `{field}` in {row}"))
}

fn ruler(seen: &Seen, field: &str) -> u64 {
    seen.counters[field].as_u64().expect("a count")
}

/// Users ramp up, hold a stream each, and one of them has the server close all of them.
fn many(streams: u64, query: &str, stop_after: &str) -> String {
    format!(
        "load: {{ schedule: [ {{ users: {streams}, ramp_up: 2s, hold: 30s }} ] }}
limits: {{ duration_ns: 40s }}
scenarios:
  readers:
    - once_per_user:
        - get: \"/events?{query}\"
          name: events
          stream:
            sequence: id
            closed_by: server
            while_open:
              - if: \"${{user}} == 1\"
                then: [ {{ think: {stop_after} }}, {{ post: /events/stop }} ]
    - think: 60s
"
    )
}

/// A field report as one file, shortened: 1,200 streams with a ramp, an event every second, cut off by the server.
#[test]
fn twelve_hundred_streams_are_accounted_for_to_the_last_event() {
    let text = many(1_200, "every=1s", "4s").replace("hold: 30s", "hold: 4s");
    let seen = trial(text).run();
    assert_eq!((seen.count("/events"), seen.asked.len()), (1_200, 1_201), "{}", seen.output.stderr);
    assert_eq!(ruler(&seen, "streams_opened"), 1_200);
    assert_eq!(ruler(&seen, "streams_closed_by_server"), 1_200, "the stop found all of them open");
    let sent = ruler(&seen, "events_sent");
    assert_eq!((count(&seen, "streams"), count(&seen, "events")), (1_200, sent), "{}", seen.brief());
    assert_eq!(
        (count(&seen, "events_expected"), count(&seen, "events_lost"), count(&seen, "failures")),
        (sent, 0, 0)
    );
    assert_eq!(count(&seen, "closed_by_server"), 1_200);
    // Each was open for at least a second, and none longer than the run.
    assert!((1_200..=1_200 * 7).contains(&sent), "{sent}");
    let first = seen.of("/events")[0].arrive_ns;
    let last = seen.of("/events").last().expect("1,200 came").arrive_ns;
    assert!(last - first > 1_000_000_000, "they came within {} ms", (last - first) / 1_000_000);
    assert_eq!(seen.value_at("/totals/errors"), 0, "{}", seen.brief());
}

/// plimsoll finds all events that the ruler drops, repeats, and swaps, on every stream.
#[test]
fn lost_repeated_and_swapped_events_are_counted_exactly() {
    let query = "every=30ms&count=20&drop=4,9,10&repeat=6,7&swap=14";
    let text = format!(
        "load: {{ users: 50, iterations_per_user: 1 }}\nscenarios:\n  readers:\n    - get: \"/events?{query}\"\n      \
            name: events\n      stream: {{ sequence: $.seq, timestamp: {{ json: $.sent_ns, unit: ns }} }}\n"
    );
    let seen = trial(text).run();
    assert_eq!(ruler(&seen, "events_sent"), 50 * 19, "20 without 3, and 2 twice");
    let told = ["events", "events_lost", "events_duplicated", "events_out_of_order", "events_expected"]
        .map(|field| count(&seen, field));
    assert_eq!(told, [50 * 19, 50 * 3, 50 * 2, 50, 50 * 20], "{}", seen.row("streams", "events"));
    let row = seen.row("streams", "events");
    assert_eq!(row["age"]["count"], 50 * 19);
    let fair = &row["fairness"];
    assert_eq!(
        (&fair["events_min"], &fair["events_max"], fair["index"].as_f64()),
        (&19.into(), &19.into(), Some(1.0)),
        "{fair}"
    );
}

/// Streams that are open at the end are neither lost nor failed.
#[test]
fn streams_that_are_open_at_the_end_are_counted_separately() {
    let text = "load: { users: 20, duration: 1s }\nscenarios: { readers: [ { get: \"/events?every=100ms\", \
        name: events, stream: { sequence: id } } ] }\n";
    let seen = trial(text).run();
    seen.ended(&[0, 3], 0);
    assert_eq!((count(&seen, "open_at_end"), count(&seen, "streams"), count(&seen, "failures")), (20, 20, 0));
    assert_eq!(count(&seen, "events_lost"), 0);
    let (sent, got) = (ruler(&seen, "events_sent"), count(&seen, "events"));
    // Events written after the end were not read.
    assert!(got <= sent && got > 0, "{got} of {sent}");
    assert_eq!(ruler(&seen, "streams_closed_by_peer"), 20);
}

/// A stream that was reset continues after its last event.
#[test]
fn a_stream_that_breaks_continues_after_its_last_event() {
    let text = "load: { users: 4, iterations_per_user: 1 }
scenarios:
  readers:
    - get: \"/events?every=25ms&count=40&retry=10\"
      name: events
      stream:
        sequence: id
        reconnect: 3
        while_open:
          - if: \"${user} == 1\"
            then: [ { think: 500ms }, { post: /events/stop } ]
";
    let seen = trial(text).run();
    let again: Vec<Option<&str>> =
        seen.of("/events").iter().map(|asked| asked.header("Last-Event-ID")).collect();
    assert!(again.iter().filter(|id| id.is_some()).count() >= 4, "{again:?}");
    assert_eq!(count(&seen, "events"), ruler(&seen, "events_sent"), "{}", seen.row("streams", "events"));
    assert_eq!(
        (count(&seen, "events_lost"), count(&seen, "events_duplicated")),
        (0, 0),
        "{}",
        seen.row("streams", "events")
    );
    assert_ne!(seen.row("streams", "events")["reconnects"], Value::from(0));
}
