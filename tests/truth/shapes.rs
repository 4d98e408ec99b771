//! Load that changes over time: ramps and jumps of users and of arrivals, a warm-up, a spike and the way back
//! from it. The timeline and the ruler's log tell the same story.

use crate::help::{self, Seen, count, log, number, timeline};
use crate::support::{Ruler, Tool, alongside_first};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// From 0 to 20 users in 2 s: user k (from 0) starts when the level passes k, so there are ceil(10 t) of them
/// at t; then 1 s with 20; then at once 5, for 2 s.
#[test]
fn users_come_and_go_as_commanded() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "10ms"]);
        let args = [&ruler.url("/"), "--stages", "2s:20,1s:20,0s:5,2s:5", "--json"];
        let mut open = Vec::new();
        let running = Tool::new(&args).start();
        let output = running.watch(Duration::from_millis(50), Duration::from_secs(30), |_| {
            open.push(count(&ruler.counters(), "/open"));
        });
        let said = output.json();
        // Means over the seconds: of 1..10, of 11..20, 20, 5, 5.
        let users = timeline(&said, "users");
        for (said, truth) in users.iter().zip([5.5, 15.5, 20.0, 5.0, 5.0]) {
            assert!((said - truth).abs() <= 0.1, "{users:?}");
        }
        assert_eq!(users.len(), 5);
        // The server held 20 connections for a second and 5 for two, seen every 50 ms (or less often on a
        // busy machine).
        let held = |n: u64| open.iter().filter(|seen| **seen == n).count();
        assert_eq!(open.iter().max(), Some(&20), "{open:?}");
        assert!(held(20) >= 10 && held(5) >= 20, "{open:?}");
        // One connection for each user, and the trial connection.
        assert_eq!(ruler.accepted(), 21);
        users_of_the_log(&log(&ruler));
    });
}

/// Each active user sends every 10 ms or so: the connections that speak within 50 ms are the active users.
fn users_of_the_log(seen: &[Seen]) {
    const WINDOW_NS: u64 = 50_000_000;
    let begin_ns = seen[0].arrive_ns;
    let level = |t_ns: u64| match t_ns {
        t if t < 2 * SECOND_NS => (t as f64 * 10.0 / 1e9).ceil() as usize,
        t if t < 3 * SECOND_NS => 20,
        _ => 5,
    };
    for window in 0..(5 * SECOND_NS / WINDOW_NS) {
        let (from, to) = (window * WINDOW_NS, (window + 1) * WINDOW_NS);
        let inside = seen.iter().filter(|s| (from..to).contains(&(s.arrive_ns - begin_ns)));
        let speakers = inside.map(|s| s.connection).collect::<BTreeSet<_>>().len();
        // A window may see the user that starts in it; at the jump it sees those that leave. A stolen core
        // may keep one from speaking for a moment.
        let most = level(from).max(level(to)) + 1;
        let least = level(from).min(level(to)).saturating_sub(1);
        let is_jump = to == 3 * SECOND_NS || from == 3 * SECOND_NS;
        assert!(
            is_jump || (least..=most).contains(&speakers),
            "at {from} ns: {speakers}, not {least}..={most}"
        );
    }
}

/// From 0 to 1,000/s in 2 s: L(t) = 250 t^2 arrivals until t, so arrival k is due at sqrt(k / 250) s; then 1
/// s at 1,000/s; then at once 100/s for 1 s. In all 1,000 + 1,000 + 100.
#[test]
fn arrivals_follow_a_ramp_and_a_jump_each_on_its_instant() {
    help::patiently_alongside_first("arrivals on a ramp", || {
        let ruler = Ruler::start(&[]);
        let args =
            [&ruler.url("/"), "--stages", "2s:1000/s,1s:1000/s,0s:100/s,1s:100/s", "-t", "2", "--json"];
        let said = Tool::run(&args).json();
        assert_eq!(count(&said, "/offered/arrivals"), 2_100);
        assert_eq!(ruler.requests(), 2_100);
        let offered = timeline(&said, "offered_rate_per_s");
        for (said, truth) in offered.iter().zip([250.0, 750.0, 1000.0, 100.0]) {
            // The arrival on the edge itself belongs to either side, one for each worker.
            assert!((said - truth).abs() <= 2.0, "{offered:?}");
        }
        let due_ns = |k: u64| match k {
            0..1000 => ((k as f64 / 250.0).sqrt() * 1e9) as i64,
            1000..2000 => (2.0e9 + (k - 1000) as f64 * 1e6) as i64,
            _ => (3.0e9 + (k - 2000) as f64 * 1e7) as i64,
        };
        let seen = log(&ruler);
        let mut deviations: Vec<i64> =
            seen.iter().zip(0..).map(|(s, k)| (s.arrive_ns - seen[0].arrive_ns) as i64 - due_ns(k)).collect();
        deviations.sort_unstable();
        let middle = deviations[deviations.len() / 2];
        let mut off: Vec<u64> = deviations.iter().map(|d| d.abs_diff(middle)).collect();
        let p50_ns = help::quantile(&mut off, 0.5);
        eprintln!("ramp: p50 {} us off its curve", p50_ns / 1_000);
        if p50_ns > 100_000 { Err(format!("p50 {p50_ns} ns off the curve")) } else { Ok(()) }
    });
}

/// The service is silent for the first 0.8 s, and that belongs to the warm-up: 1.5 s of it, so the first tick
/// is half a second long. Of 3.5 s at 500/s the last 2 s count: 1,000 arrivals.
#[test]
fn the_warm_up_is_in_the_timeline_and_in_no_total() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "2ms"]);
        ruler.set("pause=800ms/1000s");
        let args = [&ruler.url("/"), "-r", "500", "-d", "3500ms", "--warmup", "1500ms", "-t", "1", "--json"];
        let said = Tool::run(&args).json();
        assert_eq!(ruler.requests(), 1_750, "the warm-up is load like any other");
        // The arrival on the edge itself belongs to either side.
        let arrivals = count(&said, "/offered/arrivals");
        assert!((999..=1_001).contains(&arrivals), "{arrivals}");
        assert_eq!(number(&said, "/totals/measured_s"), 2.0);
        assert_eq!(number(&said, "/totals/warmup_s"), 1.5);
        assert!((998..=1_001).contains(&count(&said, "/totals/requests")), "{}", said["totals"]);
        assert_eq!(timeline(&said, "length_s"), [0.5, 1.0, 1.0, 1.0]);
        let seconds = said["timeline"].as_array().unwrap();
        let flags: Vec<bool> = seconds.iter().map(|s| s["is_warmup"] == true).collect();
        assert_eq!(flags, [true, true, false, false]);
        // The silence is seen where it was, and nowhere else: it ended in the second tick.
        let max_ns = timeline(&said, "max_ns");
        assert!(max_ns[1] > 500e6, "{max_ns:?}");
        assert!(number(&said, "/response_time/max_ns") < 300e6, "{}", said["response_time"]);
        assert!(number(&said, "/response_time/max_ns") >= max_ns[2].max(max_ns[3]));
    });
}

/// Capacity 1,000/s. With 500/s for 3 s, 2,000/s for 1 s, and 500/s afterward, the step leaves a queue of 1,000, which
/// shrinks by 1,000 - 500 per second. So the service has recovered 2 s after the step; the ruler's log has the exact
/// time.
#[test]
fn the_way_back_from_a_spike_of_load_is_reported_to_the_second() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--workers", "10", "--service", "10ms", "--queue", "5000"]);
        let stages = "0s:500/s,3s:500/s,0s:2000/s,1s:2000/s,0s:500/s,5s:500/s";
        let args = [&ruler.url("/"), "--stages", stages, "--max-connections", "3000", "--json"];
        let said = Tool::run(&args).json();
        let seen = log(&ruler);
        let step_end_ns = seen[0].arrive_ns + 4 * SECOND_NS;
        let truth_s = (back_ns(&seen, 15_000_000) as f64 - step_end_ns as f64) / 1e9;
        assert!((1.5..=2.5).contains(&truth_s), "arithmetic says 2 s, the ruler {truth_s:.2} s");
        let spikes = said["spikes"].as_array().unwrap();
        assert_eq!(spikes.len(), 1, "{spikes:?}");
        let said_s = spikes[0]["recovered_after_s"].as_f64().expect("it came back");
        assert!(
            (said_s - truth_s).abs() <= 1.0,
            "reported {said_s:.2} s after the step, in truth {truth_s:.2} s"
        );
        assert_eq!(spikes[0]["from_s"], 3.0, "{spikes:?}");
        assert!((9e6..13e6).contains(&number(&spikes[0], "/baseline_p95_ns")), "{spikes:?}");
    });
}

/// A silence of 1 s in an even load: the service is back when it ends. Five seconds are left after it, because "back"
/// takes two quiet ones in a row, and a busy machine spoils one.
#[test]
fn the_way_back_from_a_pause_is_reported_to_the_second() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "5ms", "--pause", "1s/1000s", "--pause-at", "3300ms"]);
        let said =
            Tool::run(&[&ruler.url("/"), "-r", "500", "-d", "9500ms", "--max-connections", "1000", "--json"])
                .json();
        let seen = log(&ruler);
        let back_s = (back_ns(&seen, 15_000_000) - seen[0].arrive_ns) as f64 / 1e9;
        let spikes = said["spikes"].as_array().unwrap();
        assert_eq!(spikes.len(), 1, "{spikes:?}");
        let said_s = number(&spikes[0], "/from_s") + number(&spikes[0], "/recovered_after_s");
        assert!((said_s - back_s).abs() <= 1.0, "reported back at {said_s:.2} s, in truth at {back_s:.2} s");
    });
}

/// Returns when the service had recovered: the first tenth of a second after the slowest one whose median time in the
/// server is at most `at_most_ns`. Medians have at least 20 values, so that a moment of steal does not count.
fn back_ns(seen: &[Seen], at_most_ns: u64) -> u64 {
    const WINDOW_NS: u64 = SECOND_NS / 10;
    let begin_ns = seen[0].arrive_ns;
    let mut windows: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for s in seen.iter().filter(|s| s.answered_ns > 0) {
        windows.entry((s.answered_ns - begin_ns) / WINDOW_NS).or_default().push(s.answered_ns - s.arrive_ns);
    }
    let enough = windows.iter_mut().filter(|(_, times)| times.len() >= 20);
    let medians: Vec<(u64, u64)> =
        enough.map(|(window, times)| (*window, help::quantile(times, 0.5))).collect();
    let slowest = medians.iter().max_by_key(|(_, median)| *median).expect("some windows have 20 answers").0;
    let back = medians.iter().find(|(window, median)| *window > slowest && *median <= at_most_ns);
    begin_ns + back.expect("the service came back").0 * WINDOW_NS
}
