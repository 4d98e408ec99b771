//! `plimsoll audit` as its users type it.

use crate::support::{Scratch, Tool};

/// A p95 above the p99 cannot be true in any definition.
const IMPOSSIBLE: &str = "\
# How the shop held

| test   | connections | requests/s | mean latency | p95    | p99     | errors |
|--------|------------:|-----------:|-------------:|-------:|--------:|-------:|
| /items |          40 |      200.0 |       190 ms | 800 ms |  600 ms |      0 |
";

#[test]
fn what_cannot_be_true_is_said_with_its_arithmetic_and_its_line() {
    let scratch = Scratch::new();
    let file = scratch.file("shop.md", IMPOSSIBLE);
    let said = Tool::run(&["audit", &file]).expect_code(99).stdout;
    assert!(said.contains("p95 800 ms > p99 600 ms"), "{said}");
    assert!(said.contains("shop.md:5"), "{said}");
    let json = Tool::run(&["audit", &file, "--json"]).expect_code(99).json();
    assert!(json["findings"].as_array().unwrap().iter().any(|f| f["grade"] == "impossible"));
    assert!(Tool::run(&["audit", &file, "--markdown"]).expect_code(99).stdout.contains("600 ms"));
}

/// 200/s at a mean of 800 ms are 160 requests in flight. Nothing says whether the 40 are all connections, so this is a
/// doubt.
#[test]
fn what_a_table_of_unknown_origin_may_mean_otherwise_is_a_doubt() {
    let scratch = Scratch::new();
    let doubtful = IMPOSSIBLE.replace("190 ms | 800 ms |  600 ms", "800 ms | 900 ms | 1200 ms");
    let output = Tool::run(&["audit", &scratch.file("shop.md", &doubtful)]).expect_code(0);
    let said = output.stdout;
    assert!(said.contains("160 in flight > 40 users") && said.contains("Implausible"), "{said}");
}

#[test]
fn a_corrected_number_is_not_a_finding() {
    let scratch = Scratch::new();
    let corrected = IMPOSSIBLE.replace("800 ms", "598 ms");
    let output = Tool::run(&["audit", &scratch.file("shop.md", &corrected), "--json"]);
    let json = output.json();
    let impossible: Vec<&serde_json::Value> =
        json["findings"].as_array().unwrap().iter().filter(|f| f["grade"] == "impossible").collect();
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

/// A text without results is not a sound report.
#[test]
fn a_text_without_results_says_so() {
    let scratch = Scratch::new();
    let said = Tool::run(&["audit", &scratch.file("poem.md", "Shall I compare thee\nto a summer's day?\n")]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(said.stderr.contains("found no results"), "{}", said.stderr);
}
