//! Loads: how many requests come, from how many users, and when.

use super::{Case, case};
use crate::bench::{Seen, Trial, trial};
use std::collections::{BTreeMap, BTreeSet};

/// A load of the whole file.
fn load(load: &str, query: &str) -> Trial {
    trial(format!("load: {load}\nscenarios: {{ one: [ {{ get: \"/x?u=${{user}}&{query}\" }} ] }}"))
}

/// The same load for one of two scenarios; the other has a different one.
fn workload(load: &str, query: &str) -> Trial {
    trial(format!(
        "scenarios:\n  one: {{ load: {load}, steps: [ {{ get: \"/x?u=${{user}}&{query}\" }} ] }}\n  \
         two: {{ load: {{ users: 1, iterations_per_user: 1 }}, steps: [ {{ get: /two }} ] }}"
    ))
}

fn users(s: &Seen) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    for asked in s.of("/x") {
        *all.entry(asked.query("u").expect("a user")).or_default() += 1;
    }
    all
}

/// Checks the exact number of requests of the load under test.
#[track_caller]
fn exactly(s: &Seen, number: usize) {
    s.expect_run(0);
    assert_eq!(s.count("/x"), number, "{}", s.brief());
}

/// Checks the number of due arrivals of the load under test.
#[track_caller]
fn due(s: &Seen, number: u64) {
    s.expect_run(0);
    s.arrived("/x", number);
}

/// The beginning of each connection's requests, and their end, ms from the first of all.
fn spans(s: &Seen) -> Vec<(f64, f64)> {
    let begin = s.asked.iter().map(|asked| asked.arrive_ns).min().expect("some came");
    let mut all: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for asked in s.of("/x") {
        let at = (asked.arrive_ns - begin) as f64 / 1e6;
        all.entry(asked.connection).or_insert((at, at)).1 = at;
    }
    all.into_values().collect()
}

/// Poisson gaps are short far more often than even ones: of 200 with a mean of 5 ms, 52 are expected below 1.5 ms.
fn is_poisson(s: &Seen) {
    s.expect_run(0);
    let due = s.told_count("/offered/arrivals");
    s.arrived("/x", due);
    // 200 with a deviation of 14.
    assert!((130..=270).contains(&due), "{due}");
    let of: Vec<u64> = s.of("/x").iter().map(|asked| asked.arrive_ns).collect();
    let short = of.windows(2).filter(|two| two[1] - two[0] < 1_500_000).count();
    assert!(short >= 20, "{short} short gaps");
}

fn queued(s: &Seen) {
    s.ended(&[0, 3, 99], 0);
    let connections: BTreeSet<u64> = s.of("/x").iter().map(|asked| asked.connection).collect();
    assert_eq!(connections.len(), 2, "{connections:?}");
    assert!(s.told_count("/offered/arrivals_queued") > 0);
}

fn rows(s: &Seen) {
    s.expect_run(0);
    let mut begins: Vec<f64> = spans(s).iter().map(|span| span.0).collect();
    begins.sort_by(f64::total_cmp);
    assert_eq!(begins.len(), 5, "2 users and 3 more: {begins:?}");
    // Late starts can only shorten the distance; 500 ms were planned.
    assert!(begins[2] > 200.0, "the second row begins later: {begins:?}");
}

fn stages(s: &Seen) {
    due(s, 20);
}

fn spike(s: &Seen) {
    // 50/s for 600 ms are 30; 150/s more for 200 ms and half of it for 2 x 100 ms are 45.
    due(s, 75);
}

fn ladder(s: &Seen) {
    // 200 ms each of 20/s, 40/s and 60/s.
    due(s, 24);
}

fn recorded(s: &Seen) {
    exactly(s, 3);
    let of = s.of("/x");
    let span_ms = (of[2].arrive_ns - of[0].arrive_ns) as f64 / 1e6;
    // 6 s as recorded, 20 times as fast: 300 ms.
    assert!((100.0..4_000.0).contains(&span_ms), "{span_ms} ms");
}

const GAPS: &str = "# one gap a line\n0\n2000\n\n4000\n";
const SPIKE: &str = "{ spike: { base: 50/s, peak: 200/s, at: 100ms, rise: 100ms, hold: \
    200ms, duration: 600ms } }";
const LADDER: &str = "{ staircase: { from: 20/s, by: 20/s, hold: 200ms, to: 60/s } }";
const ROWS: &str = "{ schedule: [ { users: 2, hold: 1s }, { users: 3, start: 500ms, hold: 300ms } ] }";
const STAGES: &str = "{ stages: [ { duration: 0s, rate: 50/s }, \"400ms:50/s\" ] }";
const RECORDED: &str = "{ replay: { file: gaps.txt, format: intervals, unit: ms, speed: 20 } }";

pub const CASES: &[Case] = &[
    case(
        &["load.users", "load.iterations_per_user"],
        || load("{ users: 3, iterations_per_user: 2 }", ""),
        |s| {
            exactly(s, 6);
            assert_eq!(users(s).into_values().collect::<Vec<_>>(), [2; 3]);
        },
    ),
    case(
        &["load.max_connections"],
        || load("{ rate: 100/s, duration: 300ms, max_connections: 2 }", "delay=60ms"),
        queued,
    ),
    case(
        &["load.rate", "load.duration"],
        || load("{ rate: 100/s, duration: 500ms }", ""),
        |s| {
            due(s, 50);
        },
    ),
    case(&["load.total_arrivals"], || load("{ total_arrivals: 37, duration: 400ms }", ""), |s| due(s, 37)),
    case(
        &[],
        || load("{ total_arrivals: 37, duration: 400ms, arrivals: poisson }", "").args(&["--seed", "6"]),
        |s| due(s, 37),
    ),
    case(&["load.arrivals"], || load("{ rate: 200/s, duration: 1s, arrivals: poisson }", ""), is_poisson),
    case(&["load.stages", "stage.duration", "stage.rate"], || load(STAGES, ""), stages),
    case(
        &["stage.users"],
        || {
            load(
                "{ stages: [ { duration: 0s, users: 1 }, { duration: 500ms, users: 1 }, \
            { duration: 0s, users: 4 }, { duration: 300ms, users: 4 } ] }",
                "delay=10ms",
            )
        },
        |s| {
            s.expect_run(0);
            let mut begins: Vec<f64> = spans(s).iter().map(|span| span.0).collect();
            begins.sort_by(f64::total_cmp);
            assert_eq!(begins.len(), 4, "{begins:?}");
            assert!(begins[1] > 200.0, "{begins:?}");
        },
    ),
    case(
        &["load.schedule", "schedule_row.users", "schedule_row.start", "schedule_row.hold"],
        || load(ROWS, "delay=10ms"),
        rows,
    ),
    case(
        &["schedule_row.ramp_up", "schedule_row.ramp_down"],
        || {
            load(
                "{ schedule: [ { users: 5, ramp_up: 500ms, hold: 200ms, ramp_down: 500ms } ] }",
                "delay=10ms",
            )
        },
        |s| {
            s.expect_run(0);
            let all = spans(s);
            assert_eq!(all.len(), 5, "{all:?}");
            let spread = |of: fn(&(f64, f64)) -> f64| {
                let (least, most) =
                    all.iter().map(of).fold((f64::MAX, 0f64), |(a, b), x| (a.min(x), b.max(x)));
                most - least
            };
            // One joins every 100 ms, and one leaves every 100 ms.
            assert!(spread(|span| span.0) > 200.0, "they join one by one: {all:?}");
            assert!(spread(|span| span.1) > 200.0, "they leave one by one: {all:?}");
        },
    ),
    case(
        &["load.spike", "spike.base", "spike.peak", "spike.at", "spike.rise", "spike.hold", "spike.duration"],
        || load(SPIKE, ""),
        spike,
    ),
    case(
        &["load.staircase", "staircase.from", "staircase.by", "staircase.hold", "staircase.to"],
        || load(LADDER, ""),
        ladder,
    ),
    case(
        &[],
        || load("{ staircase: { from: 1, by: x2, hold: 200ms, to: 4 } }", "delay=10ms"),
        |s| {
            s.expect_run(0);
            assert_eq!(spans(s).len(), 4);
        },
    ),
    case(
        &["load.replay", "replay.file", "replay.format", "replay.unit", "replay.speed"],
        || load(RECORDED, "").file("gaps.txt", GAPS),
        recorded,
    ),
    case(
        &[],
        || load("{ replay: at.txt }", "").file("at.txt", "0s\n100ms\n100ms\n350ms\n"),
        |s| {
            exactly(s, 4);
            assert!(s.at_ms(3) > 200.0, "{}", s.at_ms(3));
        },
    ),
    case(&["load.requests"], || load("{ users: 2, requests: 7 }", ""), |s| exactly(s, 7)),
    case(&["load.iterations"], || load("{ users: 3, iterations: 8 }", ""), |s| exactly(s, 8)),
    case(
        &["load.graceful_stop"],
        || load("{ users: 1, duration: 300ms, graceful_stop: 10s }", "delay=700ms"),
        |s| {
            exactly(s, 1);
            assert_eq!((&s.counters["responses"], &s.counters["abandoned"]), (&1.into(), &0.into()));
        },
    ),
    case(
        &["scenario.load", "scenario_load.users", "scenario_load.iterations_per_user"],
        || workload("{ users: 3, iterations_per_user: 2 }", ""),
        |s| {
            exactly(s, 6);
            assert_eq!((users(s).into_values().collect::<Vec<_>>(), s.count("/two")), (vec![2; 3], 1));
        },
    ),
    case(
        &["scenario_load.max_connections"],
        || workload("{ rate: 100/s, duration: 300ms, max_connections: 2 }", "delay=60ms"),
        queued,
    ),
    case(
        &["scenario_load.rate", "scenario_load.duration"],
        || workload("{ rate: 100/s, duration: 500ms }", ""),
        |s| due(s, 50),
    ),
    case(
        &["scenario_load.total_arrivals"],
        || workload("{ total_arrivals: 37, duration: 400ms }", ""),
        |s| due(s, 37),
    ),
    case(
        &["scenario_load.arrivals"],
        || workload("{ rate: 200/s, duration: 1s, arrivals: poisson }", ""),
        is_poisson,
    ),
    case(&["scenario_load.stages"], || workload(STAGES, ""), stages),
    case(&["scenario_load.schedule"], || workload(ROWS, "delay=10ms"), rows),
    case(&["scenario_load.spike"], || workload(SPIKE, ""), spike),
    case(&["scenario_load.staircase"], || workload(LADDER, ""), ladder),
    case(&["scenario_load.replay"], || workload(RECORDED, "").file("gaps.txt", GAPS), recorded),
    case(&["scenario_load.iterations"], || workload("{ users: 3, iterations: 8 }", ""), |s| exactly(s, 8)),
    case(
        &["scenario.start_delay"],
        || {
            trial(
                "scenarios:\n  one: { load: { users: 1, duration: 800ms }, steps: [ { \
                    get: /x?delay=10ms } ] }\n  \
                 two: { start_delay: 500ms, load: { users: 1, iterations_per_user: 1 }, steps: [ { get: /two } ] }",
            )
        },
        |s| {
            s.expect_run(0);
            let two = s.asked.iter().position(|asked| asked.path() == "/two").expect("it came");
            assert!(s.at_ms(two) > 250.0, "{} ms", s.at_ms(two));
        },
    ),
    case(
        &["scenario.pace"],
        || {
            trial(
                "scenarios: { one: { pace: 200ms, steps: [ { get: /x?delay=50ms } ] } \
            }\nload: { users: 1, iterations: 4 }",
            )
        },
        |s| {
            exactly(s, 4);
            // From begin to begin, the answer's 50 ms included.
            assert!(s.at_ms(3) >= 590.0, "{:?}", s.gaps_ms());
        },
    ),
];
