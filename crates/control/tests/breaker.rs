//! The circuit breaker: what trips it, and above all what does not.

use plimsoll_control::breaker::{Breaker, Trip};
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::load::stages;
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Outline, Request, Target};
use plimsoll_record::event::Tick;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Layout;

fn outline(profile: Option<&str>) -> Outline {
    let draft = Draft {
        target: Some(Target { host: "127.0.0.1".into(), port: 1, tls: false }),
        requests: vec![Request {
            origin: 0,
            name: "GET /".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: None,
        }],
        load: LoadDraft { stages: profile.map(|text| stages(text).unwrap()), ..LoadDraft::default() },
        ..Draft::default()
    };
    seal(draft, Machine { cpus: 1, seed: 1 }).unwrap().outline
}

fn handed(interval: Interval) -> Tick {
    Tick { interval: interval.into(), pulses: vec![], opened: [].into() }
}

fn second(tick: u32, finished: u64, failed: u64) -> Interval {
    let layout = Layout { sums: SeriesSum::COUNT, ..Layout::default() };
    let mut interval = Interval::new(Layout::default(), layout, 1);
    interval.tick = tick;
    interval.series[0].add(SeriesSum::Finished.id(), finished);
    interval.series[0].add(SeriesSum::Failed.id(), failed);
    interval
}

/// Feeds `seconds` ticks of (finished, failed) and returns the first trip.
fn watch(profile: &str, seconds: u32, of: impl Fn(u32) -> (u64, u64)) -> Option<Trip> {
    let mut breaker = Breaker::new(&outline(Some(profile))).unwrap();
    (0..seconds).find_map(|tick| {
        let (finished, failed) = of(tick);
        breaker.tick(&handed(second(tick, finished, failed)))
    })
}

#[test]
fn a_ramp_that_makes_mostly_errors_for_ten_seconds_is_stopped() {
    let trip = watch("60s:600", 60, |_| (100, 51)).unwrap();
    assert_eq!(trip.at_ns, 10_000_000_000);
    assert!(trip.sentence.contains("510 of 1000 requests failed"), "{}", trip.sentence);
    assert!(trip.sentence.contains("--no-circuit-breaker"), "{}", trip.sentence);
}

#[test]
fn exactly_half_is_not_mostly() {
    assert_eq!(watch("60s:600", 60, |_| (100, 50)), None);
}

#[test]
fn one_good_second_begins_the_count_anew() {
    assert_eq!(watch("60s:600", 19, |tick| (100, if tick == 9 { 10 } else { 90 })), None);
    assert!(watch("60s:600", 20, |tick| (100, if tick == 9 { 10 } else { 90 })).is_some());
}

#[test]
fn a_staircase_counts_as_rising_while_a_higher_step_is_to_come() {
    let staircase = "0s:10,30s:10,0s:20,30s:20";
    assert!(watch(staircase, 30, |_| (100, 100)).is_some());
    // On the last step nothing rises any more.
    assert_eq!(watch(staircase, 60, |tick| (100, if tick >= 30 { 100 } else { 0 })), None);
}

#[test]
fn the_way_down_from_a_spike_is_watched_to_its_end() {
    let spike = "5s:100/s,5s:1000/s,60s:100/s";
    assert_eq!(watch(spike, 70, |tick| (100, if tick >= 8 { 100 } else { 0 })), None);
}

#[test]
fn a_second_without_answers_proves_nothing() {
    assert_eq!(watch("60s:600", 60, |tick| if tick % 5 == 0 { (0, 0) } else { (10, 10) }), None);
}

#[test]
fn checks_that_do_not_hold_are_no_failed_requests() {
    let mut breaker = Breaker::new(&outline(Some("60s:600"))).unwrap();
    for tick in 0..60 {
        let mut interval = second(tick, 100, 10);
        let layout = Layout { sums: SeriesSum::COUNT, ..Layout::default() };
        let mut both = Interval::new(Layout::default(), layout, 2);
        both.tick = tick;
        both.series[0] = interval.series[0].clone();
        interval.series[0].add(SeriesSum::Failed.id(), 990);
        both.series[1] = interval.series[0].clone();
        assert_eq!(breaker.tick(&handed(both)), None);
    }
}

#[test]
fn a_constant_load_has_no_breaker() {
    assert!(Breaker::new(&outline(None)).is_none());
}
