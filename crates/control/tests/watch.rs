//! Thresholds that stop a run: when they do, what they print, and above all when they do not.

use plimsoll_control::breaker::Trip;
use plimsoll_control::watch::Watch;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::metric::{SERIES_SUMS, SeriesHist, SeriesSum};
use plimsoll_plan::outline::CheckOutline;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Outline, Request, Target, threshold};
use plimsoll_record::event::{Tick, WorkerTimes};
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Layout;
use std::sync::Arc;

fn outline(thresholds: &[&str]) -> Outline {
    let draft = Draft {
        target: Some(Target { host: "127.0.0.1".into(), port: 1, tls: false }),
        requests: vec![Request {
            origin: 0,
            name: "pay".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: None,
        }],
        ..Draft::default()
    };
    let mut outline = seal(draft, Machine { cpus: 1, seed: 1 }).unwrap().outline;
    outline.checks = vec![CheckOutline { name: "is paid".into(), request: 0 }];
    outline.thresholds = thresholds.iter().map(|text| threshold::parse(text).unwrap()).collect();
    outline
}

/// One second of the request (finished, failed, time of each) and of its check, which always fails.
fn second(tick: u32, finished: u64, failed: u64, time_ns: u64) -> Tick {
    let layout = Layout { sums: SERIES_SUMS, hists: SeriesHist::COUNT, ..Layout::default() };
    let mut interval = Interval::new(Layout::default(), layout, 2);
    interval.tick = tick;
    interval.series[0].add(SeriesSum::Finished.id(), finished);
    interval.series[0].add(SeriesSum::Failed.id(), failed);
    interval.series[0].hists[SeriesHist::Response.id()].record_n(time_ns, finished);
    interval.series[1].add(SeriesSum::Finished.id(), finished);
    interval.series[1].add(SeriesSum::Failed.id(), finished);
    Tick { interval: Arc::new(interval), pulses: vec![WorkerTimes::default()], opened: Arc::default() }
}

const FAST: u64 = 5_000_000;
const SLOW: u64 = 400_000_000;

/// Processes 40 seconds of (finished, failed, time) and returns the first trip.
fn watch(threshold: &str, of: impl Fn(u32) -> (u64, u64, u64)) -> Option<Trip> {
    let mut watch = Watch::new(&outline(&[threshold])).unwrap();
    (0..40).find_map(|tick| {
        let (finished, failed, time_ns) = of(tick);
        watch.tick(&second(tick, finished, failed, time_ns))
    })
}

#[test]
fn a_threshold_that_stays_missed_stops_the_run_and_names_the_start() {
    let trip = watch("error_rate < 10% abort after 5s", |tick| (100, if tick >= 10 { 100 } else { 0 }, FAST))
        .unwrap();
    // 100 of 1,100 are below 10%, and 200 of 1,200 are not: missed since second 11.
    assert_eq!(trip.at_ns, 16_000_000_000);
    assert_eq!(
        trip.sentence,
        "stopped by the threshold `error_rate < 10% abort after 5s`: missed since 11 s, \
         error_rate 38% of the run so far"
    );
}

#[test]
fn a_window_ignores_earlier_seconds() {
    let bad_from_10 = |tick| (100, 0, if tick >= 10 { SLOW } else { FAST });
    let trip = watch("response_time p50 < 100ms over 4s abort after 3s", bad_from_10).unwrap();
    // In the third bad second, the 201st of 400 is slow.
    assert_eq!(trip.at_ns, 15_000_000_000);
    assert!(trip.sentence.contains("missed since 12 s, response_time p50 40"), "{}", trip.sentence);
    assert!(trip.sentence.ends_with("in the last 4 s"), "{}", trip.sentence);
    let short = |tick| (100, 0, if (10..13).contains(&tick) { SLOW } else { FAST });
    assert_eq!(watch("response_time p50 < 100ms over 4s abort after 3s", short), None);
    // Every good second restarts the count.
    let alternating = |tick| (100, if tick % 3 > 0 { 100 } else { 0 }, FAST);
    assert_eq!(watch("error_rate < 50% over 1s abort after 3s", alternating), None);
    assert!(watch("error_rate < 50% over 1s abort after 2s", alternating).is_some());
}

#[test]
fn abort_after_0_stops_at_the_first_missed_second() {
    let trip = watch("error_rate == 0% abort after 0", |tick| (100, u64::from(tick == 7), FAST)).unwrap();
    assert_eq!(trip.at_ns, 8_000_000_000);
    assert_eq!(watch("error_rate == 0% abort after 0", |_| (100, 0, FAST)), None);
}

#[test]
fn seconds_without_a_sample_neither_miss_nor_meet_a_threshold() {
    assert_eq!(watch("error_rate == 0% over 1s abort after 1s", |_| (0, 0, FAST)), None);
    let gap = |tick| if (11..14).contains(&tick) { (0, 0, FAST) } else { (100, u64::from(tick >= 10), FAST) };
    let trip = watch("error_rate == 0% over 1s abort after 4s", gap).unwrap();
    assert_eq!(trip.at_ns, 14_000_000_000);
}

#[test]
fn checks_of_a_scope_are_watched_separately_from_requests() {
    assert!(watch("checks{request: pay} > 50% abort after 0", |_| (100, 0, FAST)).is_some());
    assert_eq!(watch("error_rate == 0% abort after 0", |_| (100, 0, FAST)), None);
    assert_eq!(watch("throughput < 150/s abort after 0", |_| (100, 0, FAST)), None);
    assert!(watch("throughput < 100/s over 2s abort after 0", |_| (100, 0, FAST)).is_some());
}

#[test]
fn the_warm_up_stops_nothing() {
    let mut outline = outline(&["error_rate == 0% abort after 0"]);
    outline.warmup_ns = 5_000_000_000;
    let mut watch = Watch::new(&outline).unwrap();
    assert!((0..5).all(|tick| watch.tick(&second(tick, 100, 100, FAST)).is_none()));
    assert!(watch.tick(&second(5, 100, 100, FAST)).is_some());
}

#[test]
fn the_workers_determine_the_length_of_a_truncated_tick() {
    let mut watch = Watch::new(&outline(&["throughput > 90/s over 1s abort after 0"])).unwrap();
    assert_eq!(watch.tick(&second(0, 100, 0, FAST)), None);
    let mut short = second(1, 20, 0, FAST);
    short.pulses = vec![WorkerTimes { wall_ns: 200_000_000, ..WorkerTimes::default() }];
    assert_eq!(watch.tick(&short), None);
}

#[test]
fn thresholds_that_stop_nothing_need_no_watch() {
    assert!(Watch::new(&outline(&["error_rate == 0%", "throughput > 5/s over 10s"])).is_none());
}
