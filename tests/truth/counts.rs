//! Exact counts: plimsoll's counts are compared with the ruler's, to the last request, and the times of the sends, as
//! the ruler saw them, with the grid.

use crate::help::{self, continue_process, count, floor, number};
use crate::support::{Output, Ruler, Tool, alone, alongside_first, provokes, run_alongside};
use serde_json::Value;
use std::time::Duration;

/// Checks that the ruler received all sent requests, and that every arrival was sent or is counted as not started.
#[track_caller]
pub fn adds_up(said: &Value, ruler: &Ruler) {
    let at = |place: &str| count(said, place);
    let (sent, finished) = (at("/totals/requests_sent"), at("/totals/requests"));
    assert_eq!(ruler.requests(), sent, "the ruler's requests against those sent: {}", said["totals"]);
    assert_eq!(sent, finished + at("/totals/in_flight_at_end"), "{}", said["totals"]);
    if said["offered"].is_object() {
        assert_eq!(at("/offered/arrivals"), sent + at("/totals/arrivals_not_started"), "{}", said["totals"]);
    }
}

#[test]
fn constant_arrivals_are_rate_times_duration_and_all_arrive() {
    let _turn = run_alongside();
    for workers in ["1", "2", "5"] {
        let ruler = Ruler::start(&["--delay", "2ms"]);
        // A rate whose step is not a whole number of ns: arrival k is due at k / 997 s, which is before 1.2 s for
        // k = 0 .. 1,196.
        let args = [&ruler.url("/"), "-r", "997", "-d", "1200ms", "-t", workers, "--json"];
        let said = Tool::run(&args).json();
        assert_eq!(count(&said, "/offered/arrivals"), 1_197, "with {workers} workers");
        adds_up(&said, &ruler);
    }
}

#[test]
fn a_seed_makes_the_same_poisson_arrivals_however_many_share_them() {
    let _turn = run_alongside();
    let whole: Vec<u64> = ["1", "3"].map(|workers| poisson(workers, "1/1")).to_vec();
    // 2,000 are expected, and four deviations are 179; with a fixed seed, the result is always the same.
    assert!((1_821..=2_179).contains(&whole[0]), "{whole:?}");
    assert_eq!(whole[0], whole[1], "the number of workers changes the arrivals");
    assert_eq!(whole[0], poisson("2", "1/2") + poisson("1", "2/2"), "the shares do not add up");
}

fn poisson(workers: &str, share: &str) -> u64 {
    let ruler = Ruler::start(&[]);
    let args =
        ["-r", "2000", "-d", "1s", "--arrivals", "poisson", "--seed", "11", "-t", workers, "--shard", share];
    let said = Tool::run(&[&args[..], &[&ruler.url("/"), "--json"]].concat()).json();
    adds_up(&said, &ruler);
    // Two arrivals are due in the last 1.1 ms of this schedule. A worker without a CPU does not start them.
    assert!(count(&said, "/totals/arrivals_not_started") <= 2, "{}", said["totals"]);
    count(&said, "/offered/arrivals")
}

#[test]
fn two_machines_at_once_offer_what_one_would() {
    let _turn = run_alongside();
    for spread in ["constant", "poisson"] {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let start = |share| {
            let args =
                ["-r", "2000", "-d", "1s", "--arrivals", spread, "--seed", "5", "-t", "2", "--shard", share];
            Tool::new(&[&args[..], &[&ruler.url("/"), "--json"]].concat()).start()
        };
        let both = [start("1/2"), start("2/2")];
        let said = both.map(|running| running.wait().json());
        let sum = |place: &str| said.iter().map(|json| count(json, place)).sum::<u64>();
        let arrivals = sum("/offered/arrivals");
        assert_eq!(ruler.requests(), sum("/totals/requests_sent"));
        assert_eq!(arrivals, sum("/totals/requests_sent") + sum("/totals/arrivals_not_started"));
        if spread == "constant" {
            assert_eq!(arrivals, 2_000);
        }
    }
}

/// 100 answers a second for 500 arrivals: by the end of 3 s some 1,150 arrivals have found no connection.
/// They are not skipped: each came due, was not sent, and is said not to have been.
#[test]
fn a_server_that_is_too_slow_loses_no_arrival_of_the_count() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--workers", "2", "--service", "20ms", "--queue", "1000"]);
        let said =
            Tool::run(&[&ruler.url("/"), "-r", "500", "-d", "3s", "--max-connections", "50", "--json"])
                .expect_code(99)
                .json();
        assert_eq!(count(&said, "/offered/arrivals"), 1_500);
        adds_up(&said, &ruler);
        let never = count(&said, "/totals/arrivals_not_started");
        assert!((1_100..=1_200).contains(&never), "{}", said["totals"]);
        // The stop falls on an answer: two connections at most were between an answer and the next request.
        let under_way = count(&said, "/totals/in_flight_at_end");
        assert!((48..=50).contains(&under_way), "every connection was in use: {}", said["totals"]);
        // Each of them was slower than it had lived: in the percentiles they count as that, and as "at least".
        assert_eq!(count(&said, "/response_time/censored"), never + under_way);
        let p99 = &said["response_time"]["percentiles"]
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["q"] == 0.99)
            .unwrap();
        assert_eq!(p99["is_lower_bound"], true, "{p99}");
    });
}

/// The load generator stalls from before the end until after it, as if a host took its CPU (here, a signal stops it).
/// The arrivals due in that time were offered but not sent. They are counted as such, and the service is not blamed.
#[test]
fn a_generator_that_stalls_to_the_end_counts_every_arrival_and_is_blamed() {
    alongside_first(|| {
        provokes(&["client_stalled", "late_sends", "offered_rate_missed"]);
        let ruler = Ruler::start(&[]);
        let running = Tool::new(&[&ruler.url("/"), "-r", "500", "-d", "2s", "--json"]).start();
        ruler.wait_for_requests(400);
        running.signal("STOP");
        let said = running
            .watch(Duration::from_millis(2_200), Duration::from_secs(30), continue_process)
            .expect_code(3)
            .json();
        assert_eq!(count(&said, "/offered/arrivals"), 1_000);
        adds_up(&said, &ruler);
        let never = count(&said, "/totals/arrivals_not_started");
        assert!((400..=600).contains(&never), "{}", said["totals"]);
        assert_eq!(count(&said, "/response_time/censored"), never + count(&said, "/totals/in_flight_at_end"));
        assert_eq!(said["verdict"]["result"], "INCONCLUSIVE");
        let reasons = said["verdict"]["reasons"].as_array().unwrap();
        assert!(reasons.iter().any(|code| code == "offered_rate_missed"), "{reasons:?}");
    });
}

#[test]
fn a_number_of_requests_is_met_exactly() {
    let _alone = alone();
    let cases: [&[&str]; 6] = [
        &["-n", "1", "-c", "1"],
        &["-n", "1000", "-c", "7", "-t", "3"],
        &["-n", "10007", "-c", "64", "-t", "2"],
        &["-n", "500", "-c", "5", "--no-keepalive"],
        &["-n", "777", "-r", "2000", "-t", "3"],
        &["-n", "300", "-r", "1000", "--arrivals", "poisson"],
    ];
    for load in cases {
        let ruler = Ruler::start(&[]);
        let output = Tool::run(&[load, &[&ruler.url("/"), "--json"]].concat());
        let wanted: u64 = load[1].parse().unwrap();
        let said = ends_by_count(output, wanted);
        assert_eq!(ruler.requests(), wanted, "{load:?}");
        adds_up(&said, &ruler);
    }
}

fn ends_by_count(output: Output, wanted: u64) -> Value {
    let said = output.json();
    assert_eq!(count(&said, "/totals/requests"), wanted);
    assert_eq!(said["stopped_by"], "requests");
    said
}

#[test]
fn a_number_of_requests_is_met_exactly_by_machines_that_share_it() {
    let _alone = alone();
    for load in [&["-n", "1001", "-c", "9"][..], &["-n", "1001", "-r", "1500"]] {
        let ruler = Ruler::start(&[]);
        let running = ["1/3", "2/3", "3/3"].map(|share| {
            Tool::new(&[load, &[&ruler.url("/"), "--seed", "3", "--shard", share, "--json"]].concat()).start()
        });
        let parts = running.map(|running| count(&running.wait().json(), "/totals/requests"));
        assert_eq!(parts, [334, 334, 333], "{load:?}");
        assert_eq!(ruler.requests(), 1_001);
    }
}

/// The count wins when it comes first, the time when that does; the report says which.
#[test]
fn the_first_of_time_and_number_stops_the_run() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "1ms"]);
    let url = ruler.url("/");
    let run = |n: &str, d: &str| Tool::run(&[&url, "-c", "4", "-n", n, "-d", d, "--json"]).json();
    assert_eq!(run("200", "20s")["stopped_by"], "requests");
    assert_eq!(run("1000000000", "500ms")["stopped_by"], "duration");
}

/// Every second of the timeline, added up, is the total: no request falls between two ticks.
#[test]
fn the_seconds_of_the_timeline_add_up_to_the_totals() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "exponential:20ms", "--error-rate", "0.05"]);
    let said = Tool::run(&[&ruler.url("/"), "-r", "800", "-d", "2500ms", "--json"]).json();
    let sum = |field| help::timeline(&said, field).iter().sum::<f64>();
    assert_eq!(sum("requests") as u64, count(&said, "/totals/requests"));
    assert_eq!(sum("errors") as u64, count(&said, "/totals/errors"));
    assert_eq!(help::timeline(&said, "length_s"), [1.0, 1.0, 0.5]);
    adds_up(&said, &ruler);
    // The ruler's own count of what it spoilt, less what was still on its way at the stop.
    let spoilt = count(&ruler.counters(), "/by_status/500");
    let errors = count(&said, "/totals/errors");
    assert!(
        errors <= spoilt && spoilt - errors <= count(&said, "/totals/in_flight_at_end"),
        "{errors} of {spoilt}"
    );
}

/// 10,000 arrivals a second, each on its own instant. Half of them lie within 30 us of the best-fitting grid
/// as the server stamps them, wake-up of the server included, and nearly on it by the tool's own record.
#[test]
fn sends_lie_on_the_grid_as_the_server_sees_it() {
    let _alone = alone();
    help::patiently("10,000 sends a second on their grid", || {
        let ruler = Ruler::start(&[]);
        let args =
            [&ruler.url("/"), "-r", "10000", "-d", "2s", "--max-connections", "100", "-t", "1", "--json"];
        let said = Tool::run(&args).json();
        assert_eq!(count(&said, "/offered/arrivals"), 20_000);
        adds_up(&said, &ruler);
        let grid = ruler.json("/_test-server/arrivals?rate=10000");
        let off_us = number(&grid, "/off_grid_p50_us");
        let own_us = number(&said, "/client/schedule_lag/p50_ns") / 1e3;
        eprintln!(
            "grid: off it p50 {off_us:.1} us, p99 {:.0} us; own record p50 {own_us:.2} us, p99 {:.0} us; floor: {}",
            number(&grid, "/off_grid_p99_us"),
            number(&said, "/client/schedule_lag/p99_ns") / 1e3,
            floor()
        );
        if off_us > 30.0 || own_us > 1.0 {
            return Err(format!("p50 {off_us:.1} us off the grid, {own_us:.2} us late by the own record"));
        }
        Ok(())
    });
}

/// The kernel doubles a process's table of file descriptors at 64, 256, 512, and 1,024, which takes 10 to 15 ms in a
/// process with threads, in the middle of a run. plimsoll enlarges the table before the run: none of 1,500 connections
/// takes longer than the loopback and a lost time slice, and sends stay on time.
#[test]
fn opening_more_and_more_connections_causes_no_stall() {
    let _alone = alone();
    help::patiently("1,500 connections opened at 1,000/s", || {
        // No response arrives before the last connection is open, so each arrival opens one.
        let ruler = Ruler::start(&["--delay", "2s"]);
        let said =
            Tool::run(&[&ruler.url("/"), "-r", "1000", "-n", "1500", "--max-connections", "3000", "--json"])
                .json();
        assert_eq!(count(&said, "/client/connections/opened"), 1_500);
        let connect_ms = number(&said, "/phases/connect/max_ns") / 1e6;
        let late_ms = number(&said, "/client/schedule_lag/p99_ns") / 1e6;
        if connect_ms > 6.0 && late_ms > 1.5 {
            return Err(format!("slowest connection {connect_ms:.1} ms, sends late p99 {late_ms:.1} ms"));
        }
        Ok(())
    });
}
