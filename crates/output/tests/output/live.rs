//! The view while a run is on, and the plain lines where there is no terminal.

use crate::fixtures;
use crate::screen::Screen;
use plimsoll_output::Look;
use plimsoll_output::line::write_all;
use plimsoll_output::terminal::{LiveState, Painter, Plain, live};
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SERIES_SUMS, SeriesHist, SeriesSum, fault_id};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::{Fault, Side};
use plimsoll_record::event::{Ending, Note, NoteKind, Opening, Pulse, RunEvent, Sink, StoppedBy, Tick};
use plimsoll_stats::{Interval, Layout};
use std::sync::{Arc, atomic::AtomicU16, atomic::Ordering};

const LOOK: Look = Look { colour: true, width: 100, unicode: true };

fn opening(outline: Outline) -> Arc<Opening> {
    Arc::new(Opening {
        origin: "a1".into(),
        outline,
        environment: fixtures::environment("lab-1"),
        started_unix_ns: 0,
    })
}

fn tick(number: u32, requests: u64, latency_ns: u64, faults: &[(Fault, u64)]) -> RunEvent {
    let run = Layout { sums: RunSum::COUNT, peaks: RunPeak::COUNT, floors: 2, hists: RunHist::COUNT };
    let series = Layout { sums: SERIES_SUMS, peaks: 0, floors: 0, hists: SeriesHist::COUNT };
    let mut interval = Interval::new(run, series, 1);
    interval.tick = number;
    interval.run.add(RunSum::Arrivals.id(), requests + 3);
    interval.run.add(RunSum::ConnOpened.id(), 10);
    interval.run.add(RunSum::ClosedByServer.id(), 1);
    interval.run.add(RunSum::InFlightNs.id(), 98_500_000_000);
    interval.run.record(RunHist::Lateness.id(), 14_000);
    let one = &mut interval.series[0];
    one.add(SeriesSum::Finished.id(), requests);
    one.hists[SeriesHist::Response.id()].record_n(latency_ns, requests);
    for (fault, n) in faults {
        one.add(fault_id(*fault), *n);
        if fault.side() != Side::Client {
            one.add(SeriesSum::Failed.id(), *n);
        }
    }
    let pulse = |busy_ns| Pulse { wall_ns: 1_000_000_000, busy_ns, spin_ns: 100_000_000, ..Pulse::default() };
    RunEvent::Ticked(Tick {
        interval: Arc::new(interval),
        pulses: vec![pulse(420_000_000), pulse(250_000_000)],
    })
}

fn ended() -> RunEvent {
    RunEvent::Ended(Ending { stopped_by: StoppedBy::Duration, elapsed_ns: 0, lost_workers: Vec::new() })
}

fn shown(state: &LiveState, look: &Look) -> String {
    write_all(&state.lines(look), look)
}

const PLAIN: Look = Look { colour: false, ..LOOK };

#[test]
fn the_view_tells_what_happens_now_and_what_is_left() {
    let mut state = LiveState::new(&opening(fixtures::open(1_000.0, 15)));
    for number in 0..9 {
        state.on(&tick(number, 997, 2_000_000, &[]));
    }
    state.on(&tick(9, 500, 400_000_000, &[(Fault::Timeout, 8), (Fault::Reset, 3), (Fault::FdLimit, 44)]));
    let text = shown(&state, &PLAIN);
    for part in [
        "open model, 1,000/s, Poisson",
        "5 s left",
        "offered 503/s · achieved 500/s · overall 947/s",
        "p50 400 ms  p99 400 ms · overall p50 2.00 ms  p99 400 ms  max 400 ms",
        "11 · fd_limit 44 (this machine) · timeout 8 · reset 3",
        "98.5 · 90 connections open · 100 opened so far",
        "58 % headroom · spinning 10 % · late p99 14.0 us",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn the_warm_up_is_named_and_leaves_no_trace_in_the_overall_figures() {
    let mut state = LiveState::new(&opening(fixtures::closed(100, 20, 2)));
    state.on(&tick(0, 100, 900_000_000, &[]));
    assert!(shown(&state, &PLAIN).contains("warm-up, 19 s left"));
    state.on(&tick(1, 100, 900_000_000, &[]));
    state.on(&tick(2, 100, 2_000_000, &[]));
    let text = shown(&state, &PLAIN);
    assert!(!text.contains("warm-up") && text.contains("overall p50 2.00 ms  p99 2.00 ms"), "{text}");
}

#[test]
fn a_run_of_so_many_requests_counts_them_down() {
    let mut outline = fixtures::closed(10, 0, 0);
    (outline.stop.duration_ns, outline.stop.requests) = (None, Some(1_000));
    let mut state = LiveState::new(&opening(outline));
    state.on(&tick(0, 400, 2_000_000, &[]));
    assert!(shown(&state, &PLAIN).contains("600 requests left"));
}

#[test]
fn the_view_never_leaves_its_lines_or_its_columns() {
    let mut outline = fixtures::open(1_000.0, 15);
    outline.name = "日本語 ".repeat(40);
    let mut state = LiveState::new(&opening(outline));
    for number in 0..90 {
        state.on(&tick(number, 1_000_000, 2_000_000, &[(Fault::Timeout, 1_000_000), (Fault::Malformed, 7)]));
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
fn a_painter_that_is_dropped_in_the_middle_cleans_up_too() {
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
    // The terminal itself breaks the lines that no longer fit: replaying them at the new width does the same.
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
fn a_terminal_that_goes_away_stops_the_painting_and_nothing_else() {
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
        [tick(0, 997, 2_000_000, &[]), tick(1, 500, 2_000_000, &[(Fault::Reset, 3)]), ended()],
    );
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], "GET 127.0.0.1:8080/pick: open model, 1,000/s, Poisson");
    assert_eq!(
        lines[2].trim_start(),
        "2 s  offered 503/s  achieved 500/s  p50 2.00 ms  p99 2.00 ms  errors 3  reset 3  in flight 98.5  busy 42 %"
    );
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

/// One second of the shop: its requests, a stream, and behind them the series of a check and of a group.
fn shop_tick(number: u32) -> RunEvent {
    let run = Layout { sums: RunSum::COUNT, peaks: RunPeak::COUNT, floors: 2, hists: RunHist::COUNT };
    let series = Layout { sums: SERIES_SUMS, peaks: 0, floors: 0, hists: SeriesHist::COUNT };
    let mut interval = Interval::new(run, series, 6);
    interval.tick = number;
    for (at, requests) in [(0, 100), (1, 100), (2, 600), (3, 10), (4, 5_000), (5, 70)] {
        interval.series[at].add(SeriesSum::Finished.id(), requests);
        let time_ns = if at < 3 { 2_000_000 } else { 9_000_000_000 };
        interval.series[at].hists[SeriesHist::Response.id()].record_n(time_ns, requests);
    }
    interval.series[4].add(SeriesSum::Failed.id(), 900);
    let feed = &mut interval.series[3];
    feed.add(SeriesSum::Streams.id(), 15);
    feed.add(SeriesSum::Events.id(), 396);
    feed.hists[SeriesHist::StreamLife.id()].record_n(9_000_000_000, 10);
    let pulse = Pulse { wall_ns: 1_000_000_000, ..Pulse::default() };
    RunEvent::Ticked(Tick { interval: Arc::new(interval), pulses: vec![pulse] })
}

#[test]
fn checks_and_groups_are_no_requests_and_streams_are_told_apart() {
    let mut plan = fixtures::shop_plan();
    plan.checks = vec![plimsoll_plan::outline::CheckOutline { name: "is paid".into(), request: 1 }];
    let mut state = LiveState::new(&opening(plan.clone()));
    (0..4).for_each(|number| state.on(&shop_tick(number)));
    let text = shown(&state, &PLAIN);
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
