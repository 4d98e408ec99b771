//! `plimsoll audit` as its users type it.

use crate::support::{Scratch, Tool};

/// 200/s at a mean of 800 ms are 160 requests in flight, and there were 40 connections.
const IMPOSSIBLE: &str = "\
Running 10s test @ http://127.0.0.1:8080/things
  2 threads and 40 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   800.00ms   90.00ms   1.10s    70.00%
    Req/Sec   100.00     10.00   120.00     70.00%
  2000 requests in 10.00s, 400.00KB read
Requests/sec:    200.00
Transfer/sec:     40.00KB
";

#[test]
fn what_cannot_be_true_is_said_with_its_arithmetic_and_its_line() {
    let scratch = Scratch::new();
    let file = scratch.file("wrk.txt", IMPOSSIBLE);
    let said = Tool::run(&["audit", &file]).expect_code(99).stdout;
    assert!(said.contains("160") && said.contains("40 connections"), "{said}");
    assert!(said.contains("wrk.txt:"), "{said}");
    let json = Tool::run(&["audit", &file, "--json"]).expect_code(99).json();
    assert!(json["findings"].as_array().unwrap().iter().any(|f| f["grade"] == "cannot_be_true"));
    assert!(Tool::run(&["audit", &file, "--markdown"]).expect_code(99).stdout.contains("160"));
}

#[test]
fn a_mended_figure_is_no_finding() {
    let scratch = Scratch::new();
    let mended = IMPOSSIBLE.replace("800.00ms", "198.00ms").replace("1.10s ", "600.00ms");
    let output = Tool::run(&["audit", &scratch.file("wrk.txt", &mended), "--json"]);
    let json = output.json();
    let impossible: Vec<&serde_json::Value> =
        json["findings"].as_array().unwrap().iter().filter(|f| f["grade"] == "cannot_be_true").collect();
    assert!(impossible.is_empty(), "{impossible:#?}");
    assert_eq!(output.code, 0);
}

#[test]
fn texts_that_cannot_be_read_end_with_one_sentence() {
    let none = Tool::run(&["audit"]).expect_code(2);
    assert!(none.stderr.contains("U025"), "{}", none.stderr);
    let missing = Tool::run(&["audit", "/nowhere/report.md"]).expect_code(1);
    assert!(missing.stderr.contains("/nowhere/report.md"), "{}", missing.stderr);
}

/// A text without any result is no sound report.
#[test]
fn a_text_without_results_says_so() {
    let scratch = Scratch::new();
    let said = Tool::run(&["audit", &scratch.file("poem.md", "Shall I compare thee\nto a summer's day?\n")]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("no figures were found"), "{}", said.stdout);
}
