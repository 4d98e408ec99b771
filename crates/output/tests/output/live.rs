//! The view of a running test, and the plain lines without a terminal.

use crate::output::fixtures;
use crate::output::screen::Screen;
use plimsoll_output::Look;
use plimsoll_output::line::write_all;
use plimsoll_output::terminal::{LiveState, Painter, Plain, live};
use plimsoll_plan::metric::{
    RunHist, RunPeak, RunSum, SERIES_SUMS, SeriesHist, SeriesSum, StreamHist, StreamSum, fault_id,
};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::{Fault, Side};
use plimsoll_record::event::{Ending, Note, NoteKind, Opening, RunEvent, Sink, StoppedBy, Tick, WorkerTimes};
use plimsoll_stats::{Interval, Layout};
use std::sync::{Arc, atomic::AtomicU16, atomic::Ordering};

const LOOK: Look = Look { color: true, width: 100, unicode: true };

fn opening(outline: Outline) -> Arc<Opening> {
    Arc::new(Opening {
        origin: "a1".into(),
        outline,
        environment: fixtures::environment("lab-1"),
        started_unix_ns: 0,
    })
}

fn tick(number: u32, requests: u64, latency_ns: u64, faults: &[(Fault, u64)]) -> RunEvent {
    let run =
        Layout { sums: RunSum::COUNT, peaks: RunPeak::COUNT, floors: 2, hists: RunHist::COUNT, lasts: 0 };
    let series = Layout { sums: SERIES_SUMS, peaks: 0, floors: 0, hists: StreamHist::COUNT, lasts: 0 };
    let mut interval = Interval::new(run, series, 1);
    interval.tick = number;
    interval.run.add(RunSum::Arrivals.id(), requests + 3);
    interval.run.add(RunSum::ConnOpened.id(), 10);
    interval.run.add(RunSum::ClosedByServer.id(), 1);
    interval.run.add(RunSum::InFlightNs.id(), 98_500_000_000);
    interval.run.record(RunHist::ScheduleLag.id(), 14_000);
    let one = &mut interval.series[0];
    one.add(SeriesSum::Finished.id(), requests);
    one.hists[SeriesHist::Response.id()].record_n(latency_ns, requests);
    for (fault, n) in faults {
        one.add(fault_id(*fault), *n);
        if fault.side() != Side::Client {
            one.add(SeriesSum::Failed.id(), *n);
        }
    }
    let pulse = |busy_ns| WorkerTimes {
        wall_ns: 1_000_000_000,
        busy_ns,
        busy_poll_ns: 100_000_000,
        ..WorkerTimes::default()
    };
    RunEvent::Ticked(Tick {
        opened: Arc::default(),
        interval: Arc::new(interval),
        pulses: vec![pulse(420_000_000), pulse(250_000_000)],
    })
}

fn ended() -> RunEvent {
    ended_at(u64::MAX)
}

fn ended_at(elapsed_ns: u64) -> RunEvent {
    RunEvent::Ended(Ending { stopped_by: StoppedBy::Duration, elapsed_ns, lost_workers: Vec::new() })
}

fn describe(state: &LiveState, look: &Look) -> String {
    write_all(&state.lines(look), look)
}

/// The note about dashes, which a plain line has once.
const DASH: &str = "-: too few samples for this percentile (p50 needs 20, p90 100, p99 1,000)";

const PLAIN: Look = Look { color: false, ..LOOK };

#[test]
fn the_view_shows_the_current_state_and_the_rest() {
    let mut state = LiveState::new(&opening(fixtures::open(1_000.0, 15)));
    for number in 0..9 {
        state.on(&tick(number, 997, 2_000_000, &[]));
    }
    state.on(&tick(
        9,
        500,
        400_000_000,
        &[(Fault::Timeout, 8), (Fault::ConnectionReset, 3), (Fault::FdLimit, 44)],
    ));
    let text = describe(&state, &PLAIN);
    for part in [
        "open model, 1,000 arrivals/s, Poisson",
        "5 s left",
        "offered 503/s · achieved 489/s · overall 946/s",
        "p50 400 ms  p99 -  max 400 ms · overall p50 2.00 ms  p99 400 ms  max 400 ms",
        "11 · fd_limit 44 (this machine) · timeout 8 · connection_reset 3",
        "98.5 · 90 connections open · 100 opened so far",
        "58% headroom · busy-polling 10% · lag p99 -",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let wide = describe(&state, &Look { width: 120, ..PLAIN });
    assert!(wide.contains("max 400 ms · -: too few samples"), "{wide}");
}

#[test]
fn the_warm_up_is_named_and_excluded_from_overall_values() {
    let mut state = LiveState::new(&opening(fixtures::closed(100, 20, 2)));
    state.on(&tick(0, 100, 900_000_000, &[]));
    assert!(describe(&state, &PLAIN).contains("warm-up, 19 s left"));
    state.on(&tick(1, 100, 900_000_000, &[]));
    state.on(&tick(2, 100, 2_000_000, &[]));
    let text = describe(&state, &PLAIN);
    assert!(!text.contains("warm-up") && text.contains("overall p50 2.00 ms  p99 -"), "{text}");
}

#[test]
fn a_run_with_a_number_of_requests_counts_down() {
    let mut outline = fixtures::closed(10, 0, 0);
    (outline.stop.duration_ns, outline.stop.requests) = (None, Some(1_000));
    let mut state = LiveState::new(&opening(outline));
    state.on(&tick(0, 400, 2_000_000, &[]));
    assert!(describe(&state, &PLAIN).contains("600 requests left"));
}

#[test]
fn the_view_never_leaves_its_lines_or_its_columns() {
    let mut outline = fixtures::open(1_000.0, 15);
    outline.name = "日本語 ".repeat(40);
    let mut state = LiveState::new(&opening(outline));
    for number in 0..90 {
        state.on(&tick(
            number,
            1_000_000,
            2_000_000,
            &[(Fault::Timeout, 1_000_000), (Fault::MalformedResponse, 7)],
        ));
        for width in [1, 10, 40, 80, 100, 200] {
            let lines = state.lines(&Look { width, ..LOOK });
            assert!(lines.len() <= live::LINES);
            for line in lines {
                assert!(line.width() <= usize::from(width), "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn the_painter_leaves_a_clean_screen() {
    let mut painter = Painter::new(Vec::new(), LOOK, || None);
    painter.event(&RunEvent::Opened(opening(fixtures::open(1_000.0, 15))));
    for number in 0..15 {
        painter.event(&tick(number, 1_000, 2_000_000, &[(Fault::Timeout, u64::from(number))]));
    }
    let mut screen = Screen::new(100);
    screen.write("$ plimsoll http://127.0.0.1:8080/\r\n");
    screen.write(std::str::from_utf8(painter.writer()).unwrap());
    let during = screen.text();
    assert_eq!(during.lines().count(), 1 + live::LINES, "painted over itself, once:\n{during}");
    assert!(during.starts_with("$ plimsoll") && during.contains("headroom"));
    painter.event(&ended());
    let mut screen = Screen::new(100);
    screen.write("$ plimsoll http://127.0.0.1:8080/\r\n");
    screen.write(std::str::from_utf8(painter.writer()).unwrap());
    assert_eq!(screen.text(), "$ plimsoll http://127.0.0.1:8080/");
    assert!(painter.failure().is_none());
}

#[test]
fn a_painter_that_is_dropped_early_cleans_up() {
    let mut written = Vec::new();
    {
        let mut painter = Painter::new(&mut written, LOOK, || None);
        painter.event(&RunEvent::Opened(opening(fixtures::open(1_000.0, 15))));
        painter.event(&tick(0, 1_000, 2_000_000, &[]));
    }
    let mut screen = Screen::new(100);
    screen.write(std::str::from_utf8(&written).unwrap());
    assert_eq!(screen.text(), "");
}

#[test]
fn a_window_that_becomes_narrower_is_repainted_cleanly() {
    static WIDTH: AtomicU16 = AtomicU16::new(100);
    let mut painter = Painter::new(Vec::new(), LOOK, || Some(WIDTH.load(Ordering::Relaxed)));
    painter.event(&RunEvent::Opened(opening(fixtures::open(1_000.0, 15))));
    painter.event(&tick(0, 1_000, 2_000_000, &[]));
    let before = painter.writer().len();
    // The terminal wraps lines that no longer fit; replaying them at the new width has the same effect.
    WIDTH.store(40, Ordering::Relaxed);
    painter.event(&tick(1, 1_000, 2_000_000, &[]));
    let mut screen = Screen::new(100);
    screen.write(std::str::from_utf8(&painter.writer()[..before]).unwrap());
    let old = screen.text();
    let mut narrow = Screen::new(40);
    for line in old.lines() {
        narrow.write(line);
        narrow.write("\r\n");
    }
    narrow.write(std::str::from_utf8(&painter.writer()[before..]).unwrap());
    assert_eq!(narrow.text().lines().count(), live::LINES, "{}", narrow.text());
}

#[test]
fn a_terminal_that_disappears_only_stops_the_painting() {
    struct Gone;
    impl std::io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut painter = Painter::new(Gone, LOOK, || None);
    painter.event(&RunEvent::Opened(opening(fixtures::open(1_000.0, 15))));
    painter.event(&tick(0, 1_000, 2_000_000, &[]));
    assert!(painter.failure().is_some());
}

fn plain_lines(outline: Outline, events: impl IntoIterator<Item = RunEvent>) -> Vec<String> {
    let mut plain = Plain::new(Vec::new());
    plain.event(&RunEvent::Opened(opening(outline)));
    for event in events {
        plain.event(&event);
    }
    let text = String::from_utf8(plain.writer().clone()).unwrap();
    assert!(!text.contains('\x1b'));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn without_a_terminal_there_is_one_line_a_second() {
    let lines = plain_lines(
        fixtures::open(1_000.0, 15),
        [tick(0, 997, 2_000_000, &[]), tick(1, 500, 2_000_000, &[(Fault::ConnectionReset, 3)]), ended()],
    );
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "GET 127.0.0.1:8080/pick: open model, 1,000 arrivals/s, Poisson");
    assert_eq!(
        lines[3].trim_start(),
        "2 s  offered 503/s  achieved 497/s  p50 2.00 ms  p99 -  max 2.00 ms  errors 3  \
         connection_reset 3  in flight 98.5  busy 42%"
    );
    // The first line that omits its p99 explains that, once.
    assert_eq!(lines[2].trim_start(), DASH);
}

#[test]
fn a_long_run_gets_a_line_every_ten_seconds_and_one_for_the_rest() {
    let mut events: Vec<RunEvent> =
        (0..25).map(|n| tick(n, if n < 10 { 100 } else { 300 }, 2_000_000, &[])).collect();
    events.push(RunEvent::Noted(Note {
        at_ns: 25_000_000_000,
        kind: NoteKind::Control,
        text: "stop".into(),
    }));
    events.push(ended());
    let lines = plain_lines(fixtures::open(1_000.0, 600), events);
    assert_eq!(lines.len(), 1 + 2 + 1 + 1, "{lines:#?}");
    assert!(lines[1].contains("10 s  offered 103/s  achieved 100/s"), "{}", lines[1]);
    assert!(lines[2].contains("20 s  offered 303/s  achieved 300/s"));
    assert!(lines[3].ends_with("25 s  stop"));
    assert!(lines[4].contains("25 s  offered 303/s"));
}

/// One second of the shop: its requests, a stream, and after them the series of a check and of a group.
fn shop_tick(number: u32) -> RunEvent {
    let run =
        Layout { sums: RunSum::COUNT, peaks: RunPeak::COUNT, floors: 2, hists: RunHist::COUNT, lasts: 0 };
    let series = Layout { sums: SERIES_SUMS, peaks: 0, floors: 0, hists: StreamHist::COUNT, lasts: 0 };
    let mut interval = Interval::new(run, series, 6);
    interval.tick = number;
    for (at, requests) in [(0, 100), (1, 100), (2, 600), (3, 10), (4, 5_000), (5, 70)] {
        interval.series[at].add(SeriesSum::Finished.id(), requests);
        let time_ns = if at < 3 { 2_000_000 } else { 9_000_000_000 };
        interval.series[at].hists[SeriesHist::Response.id()].record_n(time_ns, requests);
    }
    interval.series[4].add(SeriesSum::Failed.id(), 900);
    let feed = &mut interval.series[3];
    feed.add(StreamSum::Streams.id(), 15);
    feed.add(StreamSum::Events.id(), 396);
    feed.hists[StreamHist::StreamLife.id()].record_n(9_000_000_000, 10);
    let pulse = WorkerTimes { wall_ns: 1_000_000_000, ..WorkerTimes::default() };
    RunEvent::Ticked(Tick { interval: Arc::new(interval), pulses: vec![pulse], opened: Arc::default() })
}

#[test]
fn checks_groups_and_streams_are_not_counted_as_requests() {
    let mut plan = fixtures::shop_plan();
    plan.checks = vec![plimsoll_plan::outline::CheckOutline { name: "is paid".into(), request: 1 }];
    let mut state = LiveState::new(&opening(plan.clone()));
    (0..4).for_each(|number| state.on(&shop_tick(number)));
    let text = describe(&state, &PLAIN);
    for part in [
        "2 load models: buyer (20 users), reader (200/s)",
        "achieved 810/s",
        "overall p50 2.00 ms  p99 2.00 ms  max 2.00 ms",
        "20 streams open, 396 events/s",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(text.lines().any(|line| line.starts_with("errors") && line.trim_end().ends_with(" 0")), "{text}");
    let lines = plain_lines(plan, [shop_tick(0), ended()]);
    assert!(lines[1].contains("events 396/s"), "{lines:#?}");
    let without = plain_lines(fixtures::open(1_000.0, 15), [tick(0, 997, 2_000_000, &[]), ended()]);
    assert!(!without[1].contains("events"));
}

/// A second with this many responses after `latency_ns`, and with this many censored requests at `bound_ns`.
fn censored_tick(number: u32, answers: (u64, u64), cut_off: (u64, u64), wall_ns: u64) -> RunEvent {
    let run =
        Layout { sums: RunSum::COUNT, peaks: RunPeak::COUNT, floors: 2, hists: RunHist::COUNT, lasts: 0 };
    let series = Layout { sums: SERIES_SUMS, peaks: 0, floors: 0, hists: StreamHist::COUNT, lasts: 0 };
    let mut interval = Interval::new(run, series, 1);
    interval.tick = number;
    interval.run.add(RunSum::Arrivals.id(), 20);
    interval.run.add(RunSum::InFlightNs.id(), 20 * wall_ns);
    let one = &mut interval.series[0];
    one.add(SeriesSum::Finished.id(), answers.0);
    one.hists[SeriesHist::Response.id()].record_n(answers.1, answers.0);
    one.hists[SeriesHist::ResponseCensored.id()].record_n(cut_off.1, cut_off.0);
    let pulse = WorkerTimes { wall_ns, busy_ns: wall_ns / 10, ..WorkerTimes::default() };
    RunEvent::Ticked(Tick { interval: Arc::new(interval), pulses: vec![pulse], opened: Arc::default() })
}

/// Returns the value after `name` in a line.
fn figure<'a>(line: &'a str, name: &str) -> &'a str {
    let at = line.find(&format!("  {name} ")).unwrap_or_else(|| panic!("no `{name}` in {line}"));
    line[at + 2 + name.len() + 1..].split("  ").next().unwrap()
}

#[test]
fn the_live_line_of_a_second_matches_the_reports_row() {
    use plimsoll_output::format::{at_least, duration_ns, quantity, rate_per_s};
    let second = 1_000_000_000;
    // At first there are no responses, then few, then many. There is a timeout. At the end, in the middle of the last
    // second, most requests are in flight.
    let events = [
        censored_tick(0, (0, 0), (0, 0), second),
        censored_tick(1, (12, 1_200_000_000), (0, 0), second),
        censored_tick(2, (5_000, 2_000_000), (3, 900_000_000), second),
        censored_tick(3, (30, 3_000_000_000), (25, 10_000_000_000), second),
        censored_tick(4, (25, 3_000_000_000), (30, 2_000_000_000), second * 4 / 10),
        ended_at(4_400_000_000),
    ];
    let outline = fixtures::open(20.0, 15);
    let mut gathered = plimsoll_record::record::Gatherer::default();
    gathered.event(&RunEvent::Opened(opening(outline.clone())));
    events.iter().for_each(|event| gathered.event(event));
    let summary = plimsoll_analysis::summarise(&gathered.into_record());
    let report = plimsoll_output::ndjson::to_string(&summary).unwrap();
    let rows: Vec<serde_json::Value> =
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines = plain_lines(outline, events);
    let lines: Vec<&String> = lines.iter().filter(|line| line.contains("achieved")).collect();
    assert_eq!((rows.len(), lines.len()), (5, 5));
    for (row, line) in rows.iter().zip(lines) {
        let marked = |list: &str, name: &str| {
            row[list].as_array().is_some_and(|names| names.iter().any(|marked| marked == name))
        };
        for name in ["p50", "p99", "max"] {
            let field = format!("{name}_ns");
            let expected = match row[&field].as_u64() {
                None => "-".to_owned(),
                Some(_) if marked("few_samples", &field) => "-".to_owned(),
                Some(ns) if marked("lower_bounds", &field) => at_least(ns),
                Some(ns) => duration_ns(ns),
            };
            assert_eq!(figure(line, name), expected, "{name} of {row} in {line}");
        }
        let number = |name: &str| row[name].as_f64().unwrap();
        assert_eq!(figure(line, "achieved"), rate_per_s(number("achieved_rate_per_s")), "{line}");
        assert_eq!(figure(line, "in flight"), quantity(number("in_flight")), "{line}");
    }
    // No response was faster than 3 s, so the median of the last second is not either, despite the ages of the others.
    let last = &rows[4];
    assert!(last["p50_ns"].as_u64().unwrap() >= 2_980_000_000, "{last}");
}

#[test]
fn a_second_without_a_response_has_no_time() {
    let second = 1_000_000_000;
    let lines = plain_lines(
        fixtures::open(20.0, 2),
        [
            censored_tick(0, (0, 0), (0, 0), second),
            censored_tick(1, (0, 0), (40, 988_000_000), second),
            ended_at(2 * second),
        ],
    );
    assert!(lines[1].contains("p50 -  p99 -  max -"), "{lines:#?}");
    assert!(lines[2].contains("p50 ≥ 98") && lines[2].contains("max ≥ 98"), "{lines:#?}");
}
