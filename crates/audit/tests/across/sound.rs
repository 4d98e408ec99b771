//! Sound texts on which a rule once spoke, each beside the text on which it has to speak.

use super::findings;
use super::levels::table;

const WRK: &str = "\n```\nRunning 4s test @ http://127.0.0.1:45869/slow\n  2 threads and 20 connections\n  \
     Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    25.14ms   22.14ms 176.67ms   76.45%\n    \
     Req/Sec   462.74     90.67   656.00     80.00%\n  Latency Distribution\n     50%   20.14ms\n     \
     75%   36.00ms\n     90%   54.73ms\n     99%   96.93ms\n  3711 requests in 4.04s, 492.87KB read\n\
     Requests/sec:    919.06\nTransfer/sec:    122.06KB\n```\n";

fn speaks(rule: &str, text: &str) -> bool {
    findings(text).iter().any(|f| f.rule == rule)
}

#[test]
fn goals_warm_ups_and_users_of_all_machines_contradict_no_output() {
    for heading in [
        "## Threshold: p99 < 250 ms",
        "## Warm-up: 500 requests",
        "## Users: 40 (2 machines)",
        "## 20 connections, p99 below 300 ms",
        "## 2 machines of 20 users\n\nTotal users: 40\nRequests: 3 per iteration",
        "# Users: 500 (25 machines)\n\nThreads: 500",
        "## Test 3: the 10 threads server\n\nServer threads: 10",
    ] {
        assert!(!speaks("label_contradicts_row", &format!("{heading}\n{WRK}")), "{heading}");
    }
    for heading in ["## Users: 50 (2 machines)", "## 200 connections", "## p99: 250 ms"] {
        assert!(speaks("label_contradicts_row", &format!("{heading}\n{WRK}")), "{heading}");
    }
}

#[test]
fn a_second_type_in_the_sentence_may_own_the_memory() {
    let rule = "hardware_differs_from_type";
    let two = "The database db.r5.large has 2 vCPU and 16 GiB; one m5.large runs the client with 2 of 8 GiB.";
    assert!(!speaks(rule, two));
    assert!(!speaks(rule, "An m5.large with 2 vCPU stands before an x9.large with 64 GiB of memory."));
    assert!(speaks(rule, "The database db.r5.large has 4 vCPU and 16 GiB of memory."));
}

#[test]
fn other_settings_are_no_repeats() {
    let rule = "noise_between_equal_runs";
    for header in ["pool size", "servers", "cache entries"] {
        let header = format!("{header} | users | req/s | mean (ms)");
        let rows = ["5 | 100 | 1000 | 99", "10 | 100 | 1900 | 52"];
        assert!(!speaks(rule, &table(&header, &rows)), "{header}");
    }
    assert!(speaks(
        rule,
        &table("run | users | req/s | mean (ms)", &["1 | 100 | 1000 | 99", "2 | 100 | 1900 | 52"])
    ));
}

#[test]
fn the_total_of_one_row_is_no_copy() {
    let header = "Label | samples | avg (ms) | max (ms) | p95 (ms) | rps";
    let home = "Home | 1000 | 121 | 902 | 255 | 16.612";
    for total in ["TOTAL", "Aggregated", "All requests"] {
        let text = table(header, &[home, &format!("{total} | 1000 | 121 | 902 | 255 | 16.612")]);
        assert!(!speaks("copied_row", &text), "{total}");
    }
    assert!(speaks("copied_row", &table(header, &[home, "Search | 1000 | 121 | 902 | 255 | 16.612"])));
}

#[test]
fn phases_that_state_their_length_may_differ() {
    let rule = "rows_of_unequal_length";
    let rows = ["ramp | 60 | 6000 | 100.0", "hold | 600 | 120000 | 200.0"];
    assert!(!speaks(rule, &table("phase | duration (s) | requests | rps", &rows)));
    let bare = ["ramp | 6000 | 100.0", "hold | 120000 | 200.0"];
    assert!(!speaks(rule, &table("phase | requests | rps", &bare)), "no length is stated for all");
    let compared = ["read (direct) | 6000 | 100.0", "read (proxy) | 120000 | 200.0"];
    assert!(speaks(rule, &table("request | requests | rps", &compared)), "one request, compared");
    let few = ["create | 100 | 15.2", "list | 1 | 1.0"];
    assert!(!speaks(rule, &table("request | requests | rps", &few)));
}

#[test]
fn the_time_for_a_table_grows_with_its_rows() {
    let text = |count: u32| {
        let mut rows = String::from("| run | users | rps | mean (ms) | p95 (ms) |\n|---|---|---|---|---|\n");
        for i in 0..count {
            rows += &format!("| {i} | {} | {}.5 | 12.{} | 31.5 |\n", 10 + i % 7, 100 + i % 977, i % 97);
        }
        rows
    };
    let time = |text: &str| {
        let one = || {
            let start = std::time::Instant::now();
            findings(text);
            start.elapsed().as_secs_f64()
        };
        (0..3).map(|_| one()).fold(f64::INFINITY, f64::min)
    };
    let (part, whole) = (time(&text(3_000)), time(&text(27_000)));
    // 9 times the rows: a rule that goes through all of them for each takes 81 times as long.
    assert!(whole < 27.0 * part, "{part} s for 3,000 rows, {whole} s for 27,000");
}

#[test]
fn thousands_of_rows_are_judged_in_one_pass() {
    let mut rows = String::from("second,users,rps,mean_ms,p95_ms,p99_ms\n");
    for i in 0..20_000u32 {
        let x = 100.0 + f64::from(i % 977) / 100.0;
        rows += &format!(
            "{i},{},{x:.2},{:.2},{:.2},{:.2}\n",
            10 + i % 500,
            9.0 + x / 50.0,
            19.0 + x / 40.0,
            30.0 + x / 30.0
        );
    }
    let start = std::time::Instant::now();
    let found = findings(&rows);
    // Pair by pair this took minutes; a busy machine takes some times the two seconds of an idle one.
    assert!(start.elapsed().as_secs_f64() < 15.0, "{:?}, {} findings", start.elapsed(), found.len());
}
