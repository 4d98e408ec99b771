//! A column is taken for a quantity only when every word of its name is understood: a limit, a spread or the share of a
//! processor that passes for a time turns a sound table into one that cannot be true.

use plimsoll_audit::foreign::model::{Measure, Row};
use plimsoll_audit::foreign::read;
use plimsoll_audit::{Grade, audit};

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
    found.into_iter().filter(|f| f.grade == Grade::Impossible).map(|f| f.sentence).collect()
}

fn is_doubted(text: &str, rule: &str) -> bool {
    let found = audit(&[read("r.md", text)]).findings;
    found.iter().any(|f| f.grade == Grade::Implausible && f.rule == rule)
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
    let jmeter = "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,\
             Throughput,Received KB/sec\n\
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

#[test]
fn several_requests_on_one_connection_are_no_contradiction() {
    for text in [
        "| clients | streams | req/s | mean (ms) | p99 (ms) |\n|--|--|--|--|--|\n| 10 | 100 | 50000 | 19 | 60 |\n",
        "| server | HTTP version | connections | req/s | mean | p99 |\n|--|--|--|--|--|--|\n\
         | a | HTTP/2 | 10 | 50000 | 1.9 ms | 6 ms |\n",
        "| connections | RPS | avg (ms) | pipelining |\n|--|--|--|--|\n| 100 | 76541 | 12.5 | 10 |\n",
        "| clients | req/s | mean (ms) |\n|--|--|--|\n| 10 | 50000 | 19 |\n\nh2load over HTTP/2 made the load.\n",
        "It ran with 10 connections, pipelined.\n\n| path | req/s | mean (ms) |\n|--|--|--|\n| / | 50000 | 19 |\n",
    ] {
        assert!(impossible("r.md", text).is_empty(), "{text}{:?}", impossible("r.md", text));
    }
    let many = row("clients | streams | req/s | mean (ms)", "10 | 100 | 50000 | 19");
    assert_eq!(many.figures[&Measure::Users].value, 1_000.0);
    // Three times what ten connections with a hundred streams hold.
    let text = "| clients | streams | req/s | mean (ms) |\n|--|--|--|--|\n| 10 | 100 | 150000 | 20 |\n";
    assert!(is_doubted(text, "more_in_flight_than_users"));
    let plain = "| clients | req/s | mean (ms) |\n|--|--|--|\n| 10 | 50000 | 19 |\n";
    assert!(is_doubted(plain, "more_in_flight_than_users"));
}

#[test]
fn locusts_percentiles_are_rounded_to_two_digits_and_named_by_path() {
    let header = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min (ms),\
         Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,90%,95%,99%,100%\n";
    let text = |max: &str| {
        format!(
            "{header}GET,/,10000,3,1200,1210.2,112.1,{max},1200,166.6,0.05,1200,1200,1400,1400,1500,1500\n"
        )
    };
    assert!(
        impossible("stats.csv", &text("1452.5")).is_empty(),
        "{:?}",
        impossible("stats.csv", &text("1452.5"))
    );
    assert!(!impossible("stats.csv", &text("1402.5")).is_empty(), "1500 is at least 1450");
    let d = read("stats.csv", &text("1452.5"));
    assert_eq!(d.rows[0].label, "/");
    assert!(!d.rows[0].figures.contains_key(&Measure::ErrorRatio));
}

#[test]
fn commas_are_read_one_way_in_a_table() {
    let decimal =
        row("users | req/s | mean (ms) | p95 (ms) | max (ms)", "10 | 80,125 | 120,250 | 200,125 | 999,5");
    assert!((decimal.figures[&Measure::Rate].value - 80.125).abs() < 1e-9, "{decimal:?}");
    assert!((decimal.figures[&Measure::Mean].value - 0.12025).abs() < 1e-9, "{decimal:?}");
    let groups = row("users | requests | req/s | mean (ms)", "10 | 12,345 | 1,250 | 7");
    assert_eq!(
        (groups.figures[&Measure::Rate].low, groups.figures[&Measure::Rate].value),
        (1_249.5, 1_250.0)
    );
    let points = row("users | req/s | mean (ms)", "10 | 1.250 | 7,25");
    assert_eq!(points.figures[&Measure::Rate].value, 1_250.0);
    let open = row("users | req/s | mean (ms)", "10 | 1,250 | 7");
    let rate = &open.figures[&Measure::Rate];
    assert!(rate.low <= 1.25 && rate.high >= 1_250.0, "{rate:?}");
    let text = "| users | mean (s) | p99 (s) | req/s |\n|--|--|--|--|\n| 10 | 1,234 | 2,345 | 6,1 |\n";
    assert!(impossible("r.md", text).is_empty());
    let sound = "| users | mean (s) | p99 (s) |\n|--|--|--|\n| 10 | 1,234 | 2,345 |\n";
    assert!(impossible("r.md", sound).is_empty());
}

#[test]
fn a_unit_in_a_sentence_is_known_and_a_guessed_one_proves_nothing() {
    for said in [
        "Latencies in µs.",
        "Latencies in us:",
        "All times (μs)",
        "## Latencies in µs",
        "Response times in usec",
    ] {
        let d = read(
            "r.md",
            &format!("{said}\n\n| a | rps | mean | p99 |\n|--|--|--|--|\n| x | 900 | 250 | 410 |\n"),
        );
        assert!((d.rows[0].figures[&Measure::Mean].value - 250e-6).abs() < 1e-12, "{said}: {d:?}");
    }
    let below = read("r.md", "| a | mean |\n|--|--|\n| x | 250 |\n\nAll latencies are in microseconds.\n");
    assert!((below.rows[0].figures[&Measure::Mean].value - 250e-6).abs() < 1e-12);
    let bare = "| users | req/s | mean | p99 |\n|--|--|--|--|\n| 10 | 40000 | 240 | 900 |\n";
    assert!(impossible("r.md", bare).is_empty(), "240 may be microseconds");
    let sentence = "It ran with 10 connections.\n\n| path | req/s | mean | p99 |\n\
             |--|--|--|--|\n| / | 40000 | 240 | 900 |\n";
    assert!(impossible("r.md", sentence).is_empty(), "240 may be microseconds");
    let stated = "| users | req/s | mean (ms) | p99 |\n|--|--|--|--|\n| 10 | 40000 | 240 | 900 |\n";
    assert!(is_doubted(stated, "more_in_flight_than_users"));
}

/// Figures of a Markdown report of plimsoll's own, from a run against a server that answers after 5 ms.
const OWN: &str = include_str!("data/published/own-report.md");

#[test]
fn a_report_of_our_own_is_audited_like_any_other() {
    assert!(impossible("own.md", OWN).is_empty(), "{:?}", impossible("own.md", OWN));
    let d = read("own.md", OWN);
    let times =
        d.rows.iter().find(|r| r.label == "response time").expect("its quantities stand down the side");
    let p99 = &times.figures[&P99];
    assert!(
        (p99.value - 0.00739).abs() < 1e-9
            && OWN.lines().nth(p99.line as usize - 1).is_some_and(|l| l.contains("p99 "))
    );
    for (from, to) in [
        ("| p99 | 7.39 ms |", "| p99 | 1.00 ms |"),
        ("| mean | 5.16 ms |", "| mean | 51.6 ms |"),
        ("| max | 8.94 ms |", "| max | 3.00 ms |"),
    ] {
        let planted = OWN.replace(from, to);
        assert!(planted != OWN && !impossible("own.md", &planted).is_empty(), "{to}");
    }
}

#[test]
fn several_times_in_one_column_are_taken_apart() {
    let apart = |header: &str, cells: &str| row(header, cells).figures;
    for (header, cells) in [
        ("a | P50/P95/P99 | Errors", "x | 1.2/3.4/5.6 ms | 0"),
        ("a | p50 / p95 / p99 (ms) | Errors", "x | 1.2 / 3.4 / 5.6 | 0"),
        ("a | P50/P95/P99 latency | Errors", "x | 1.2ms/3.4ms/5.6ms | 0"),
    ] {
        let figures = apart(header, cells);
        let found = [P50, Measure::Percentile(9_500), P99].map(|p| figures[&p].value);
        for (value, expected) in found.into_iter().zip([0.0012, 0.0034, 0.0056]) {
            assert!((value - expected).abs() < 1e-9, "{header}: {figures:?}");
        }
        assert_eq!(figures[&Measure::Errors].value, 0.0);
    }
    // Three numbers of something else are not three times, and neither are two numbers below three names.
    assert!(!apart("a | rps | ok/failed", "x | 5 | 10/2").contains_key(&P50));
    assert!(
        !apart("a | rps | P50/P95/P99 (ms)", "x | 5 | 1.2/3.4").contains_key(&Measure::Percentile(9_500))
    );
}

#[test]
fn goals_are_no_results() {
    let rows = |text: &str| read("r.md", text).rows;
    for goals in [
        "| Metric | Target |\n|---|---|\n| p95 latency | < 300 ms |\n| p99 latency | < 500 ms |\n",
        "| Requirement | SLO |\n|---|---|\n| p95 latency | 300 ms |\n| p99 latency | 500 ms |\n",
        "| 指标 | 说明 | 目标值 |\n|---|---|---|\n| median (P50) | 中位数，50%请求的响应时间 | < 200ms |\n\
         | p95 | 95%请求的响应时间 | < 500ms |\n",
        "| endpoint | p95 | p99 |\n|---|---|---|\n| /a | < 20 ms | < 50 ms |\n| /b | < 30 ms | < 90 ms |\n",
    ] {
        assert!(rows(goals).is_empty(), "{goals}: {:?}", rows(goals));
    }
    let tiers = |title: &str| {
        rows(&format!(
            "## {title}\n\n| tier | P50 | P99 |\n|---|---|---|\n| small | 800ms | 2.0s |\n| large | 2.0s | 6.0s |\n"
        ))
    };
    assert!(tiers("Latency targets by tier").is_empty());
    assert_eq!(tiers("Latency by tier, measured against the targets").len(), 2);
    assert_eq!(tiers("Latency by tier").len(), 2);
    let both = "| Metric | Target | Achieved |\n|---|---|---|\n| p99 | < 50 ms | 61 ms |\n\
                | Throughput | 1,000 req/s | 950 req/s |\n";
    let found = rows(both);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].figures[&P99].value - 0.061).abs() < 1e-9, "{found:?}");
    assert_eq!(found[0].figures[&Measure::Rate].value, 950.0);
    let rated =
        rows("| step | target rate | rps | mean (ms) |\n|---|---|---|---|\n| 1 | 100 | 99.8 | 5.0 |\n");
    assert_eq!(rated[0].figures[&Measure::OfferedRate].value, 100.0, "an offered rate is not a goal");
}

#[test]
fn a_command_below_a_table_is_how_to_run_it_again() {
    let table = "| endpoint | req/s | mean (ms) |\n|---|---|---|\n| /a | 1000 | 990 |\n| /b | 2000 | 490 |\n";
    let rule = "more_in_flight_than_stated";
    let above = format!("Made with `wrk -t4 -c400 -d30s http://localhost/a`, 400 connections.\n\n{table}");
    let below = format!("{table}\nTry it: `wrk -t4 -c400 -d30s http://localhost/a` with 400 connections.\n");
    assert!(is_doubted(&above, rule), "{:?}", audit(&[read("r.md", &above)]).findings);
    assert!(!is_doubted(&below, rule));
}
