//! A column is taken for a quantity only when every word of its name is understood: a limit, a spread or the share of a
//! processor that passes for a time turns a sound table into one that cannot be true.

// Helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use plimsoll_record::audit::{Grade, audit};
use plimsoll_record::foreign::model::{Measure, Row};
use plimsoll_record::foreign::read;

const P50: Measure = Measure::Percentile(5_000);
const P99: Measure = Measure::Percentile(9_900);

/// The only row of a table with these columns and cells.
fn row(header: &str, cells: &str) -> Row {
    let dashes = vec!["--"; header.split('|').count()].join("|");
    let d = read("r.md", &format!("| {header} |\n|{dashes}|\n| {cells} |\n"));
    assert_eq!(d.rows.len(), 1, "{header}: {:?}", d.unread);
    d.rows[0].clone()
}

fn impossible(name: &str, text: &str) -> Vec<String> {
    let found = audit(&[read(name, text)]).findings;
    found.into_iter().filter(|f| f.grade == Grade::CannotBeTrue).map(|f| f.sentence).collect()
}

#[test]
fn the_least_is_no_number_of_minutes() {
    for header in
        ["a | mean (ms) | min | max", "a | Average | Min | Max", "a | mean (ms) | latency (min) | max"]
    {
        let r = row(header, "x | 50 | 12 | 90");
        assert!((r.figures[&Measure::Min].value - 0.012).abs() < 1e-9, "{header}: {r:?}");
    }
    assert_eq!(row("a | rps | duration (min)", "x | 5 | 10").figures[&Measure::Duration].value, 600.0);
    assert_eq!(row("a | rps | mean (min)", "x | 5 | 10").figures[&Measure::Mean].value, 600.0);
    assert_eq!(row("a | rps | mean latency, min", "x | 5 | 10").figures[&Measure::Mean].value, 600.0);
    let jmeter = "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec\n\
         Home,1000,120,101,200,260,410,30,902,0.000%,16.61240,120.40\n\
         TOTAL,1000,120,101,200,260,410,30,902,0.000%,16.61240,120.40\n";
    assert!(impossible("aggregate.csv", jmeter).is_empty(), "{:?}", impossible("aggregate.csv", jmeter));
}

#[test]
fn a_header_with_a_word_that_is_not_known_is_no_time() {
    for (header, measure) in [
        ("max VUs", Measure::Max),
        ("req/s stdev", Measure::StdDev),
        ("avg requests", Measure::Mean),
        ("max latency SLO (ms)", Measure::Max),
        ("max users", Measure::Max),
        ("mean rate", Measure::Mean),
        ("max rate", Measure::Max),
        ("mean CPU", Measure::Mean),
        ("max queue", Measure::Max),
        ("p99 CPU", P99),
        ("p99 queue length", P99),
        ("95% CI of mean (ms)", Measure::Percentile(9_500)),
        ("threshold p99 (ms)", P99),
        ("95 % interval", Measure::Percentile(9_500)),
        ("max RPS", Measure::Rate),
        ("min users", Measure::Users),
        ("Failures/s", Measure::Errors),
        ("Average Content Size", Measure::Mean),
    ] {
        let r = row(&format!("test | {header} | p75 (ms)"), "x | 250 | 400");
        assert!(!r.figures.contains_key(&measure), "{header}: {r:?}");
    }
    for (header, measure) in [
        ("Average response time (ms)", Measure::Mean),
        ("avg request (ms)", Measure::Mean),
        ("latency_max_ms", Measure::Max),
        ("99th percentile latency [ms]", P99),
        ("p(99) ms", P99),
        ("Median Response Time, ms", P50),
        ("response time p99 in ms", P99),
        ("Std. Dev. (ms)", Measure::StdDev),
    ] {
        let r = row(&format!("test | {header}"), "x | 250");
        assert!((r.figures[&measure].value - 0.25).abs() < 1e-9, "{header}: {r:?}");
    }
}

#[test]
fn sound_tables_with_limits_and_spreads_can_be_true() {
    for (header, cells) in [
        ("max VUs | req/s | mean (ms) | p95 (ms)", "200 | 900 | 180 | 350"),
        ("test | req/s | req/s stdev | mean (ms) | max (ms)", "a | 900 | 350 | 18 | 90"),
        ("test | users | avg requests | p95 (ms) | max (ms)", "a | 9 | 3500 | 180 | 350"),
        ("max latency SLO (ms) | p50 (ms) | p99 (ms) | users", "250 | 100 | 400 | 10"),
        ("test | mean CPU | max CPU | p50 (ms) | p99 (ms)", "a | 20 | 30 | 100 | 400"),
        ("test | p99 CPU | p99 queue length | p50 (ms) | max (ms)", "a | 20 | 9000 | 100 | 400"),
        (
            "test | rate | users | mean (ms) | 95% CI of mean (ms) | p50 (ms) | p99 (ms)",
            "a | 500/s | 10 | 15 | 1.2 | 12 | 30",
        ),
        ("threshold p99 (ms) | p50 (ms) | max (ms)", "250 | 20 | 90"),
    ] {
        let dashes = vec!["--"; header.split('|').count()].join("|");
        let found = impossible("r.md", &format!("| {header} |\n|{dashes}|\n| {cells} |\n"));
        assert!(found.is_empty(), "{header}: {found:?}");
    }
}

#[test]
fn rates_and_bytes_per_second_are_told_apart() {
    for header in ["rate", "achieved", "achieved rate (req/s)", "rate_per_s", "Throughput", "mean rate"] {
        assert_eq!(
            row(&format!("test | {header}"), "x | 250").figures[&Measure::Rate].value,
            250.0,
            "{header}"
        );
    }
    for (header, expected) in [
        ("Throughput (Mbps)", 1_000_000.0),
        ("Throughput (MB/s)", 8_000_000.0),
        ("Throughput [kbit/s]", 1_000.0),
        ("throughput (Mbit/s)", 1_000_000.0),
    ] {
        let r = row(&format!("test | {header}"), "x | 8");
        assert!(!r.figures.contains_key(&Measure::Rate), "{header}: {r:?}");
        assert_eq!(r.figures[&Measure::BytesPerS].value, expected, "{header}");
    }
}
