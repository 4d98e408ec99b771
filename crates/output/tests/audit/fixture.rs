//! A made-up report with two runs, judged by the real rules.

use plimsoll_audit::foreign::model::Unread;
use plimsoll_audit::foreign::{Document, Figure, Measure, Row, Tool};
use plimsoll_audit::{Audit, Certainty, Finding, Grade, audit};

const TEXT: &str = "\
## Baskets

Running 10s test @ http://shop.test/basket
  12 threads and 90 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   201.30ms  248.00ms   2.41s    90.10%
    Req/Sec    71.20     30.10   160.00     61.00%
  Latency Distribution
     50%  101.00ms
     99%    1.42s
  6131 requests in 10.01s, 1.71MB read
  Socket errors: connect 0, read 0, write 0, timeout 93
Requests/sec:    612.50

| request of the checkout with everything that belongs to it | count | mean | p95 |
|---|---|---|---|
| basket | 900000 | 312.40 | 240.00 |
| payment by card and by voucher | 900000 | 288.10 | 231.00 |
| stock | 900000 | 88.10 | 331.00 |

The search took 95 ms at 700/s from 40 users.
";

/// The first occurrence of the value in the line.
fn figure(line: u32, written: &str, value: f64, digits: i32, unit: f64) -> Figure {
    if digits < 0 {
        Figure::exact(value, written, line)
    } else {
        Figure::rounded(value, digits, unit, written, line)
    }
}

pub fn report() -> Audit {
    use Measure as M;
    let run = [
        (M::GeneratorThreads, figure(4, "12", 12.0, -1, 1.0)),
        (M::Users, figure(4, "90", 90.0, -1, 1.0)),
        (M::Mean, figure(6, "201.30ms", 201.30, 2, 1e-3)),
        (M::StdDev, figure(6, "248.00ms", 248.00, 2, 1e-3)),
        (M::Max, figure(6, "2.41s", 2.41, 2, 1.0)),
        (M::ThreadRateMean, figure(7, "71.20", 71.20, 2, 1.0)),
        (M::Percentile(5_000), figure(9, "101.00ms", 101.0, 2, 1e-3)),
        (M::Percentile(9_900), figure(10, "1.42s", 1.42, 2, 1.0)),
        (M::Requests, figure(11, "6131", 6131.0, -1, 1.0)),
        (M::Duration, figure(11, "10.01s", 10.01, 2, 1.0)),
        (M::TimeoutErrors, figure(12, "93", 93.0, -1, 1.0)),
        (M::Rate, figure(13, "612.50", 612.50, 2, 1.0)),
    ];
    let run = Row {
        label: "/basket, 90 connections".into(),
        is_whole: true,
        tool: Some(Tool::Wrk),
        lines: (3, 13),
        figures: run.into_iter().collect(),
        ..Row::default()
    };
    let part = |line: u32, label: &str, mean: f64, p95: f64| Row {
        is_whole: true,
        label: label.into(),
        lines: (line, line),
        figures: [
            (M::Requests, figure(line, "900000", 900_000.0, -1, 1.0)),
            (M::Mean, figure(line, &format!("{mean:.2}"), mean, 2, 1e-3)),
            (M::Percentile(9_500), figure(line, &format!("{p95:.2}"), p95, 2, 1e-3)),
        ]
        .into_iter()
        .collect(),
        ..Row::default()
    };
    let search = Row {
        is_whole: true,
        label: "search".into(),
        lines: (21, 21),
        figures: [
            (M::Mean, figure(21, "95 ms", 95.0, 0, 1e-3)),
            (M::Rate, figure(21, "700", 700.0, 0, 1.0)),
            (M::Users, figure(21, "40", 40.0, -1, 1.0)),
        ]
        .into_iter()
        .collect(),
        ..Row::default()
    };
    let rows = vec![
        run,
        part(17, "basket", 312.40, 240.0),
        part(18, "payment by card and by voucher", 288.10, 231.0),
        part(19, "stock", 88.10, 331.0),
        search,
    ];
    let unread = vec![Unread { line: 3, what: "Running 10s test".into(), why: "no such line".into() }];
    audit(&[Document { name: "report.md".into(), rows, unread, text: TEXT.into(), ..Document::default() }])
}

/// A minimal finding.
pub fn finding(grade: Grade, sentence: &str) -> Finding {
    Finding {
        rule: "some_rule",
        grade,
        certainty: Certainty::Likely,
        sentence: sentence.into(),
        arithmetic: Vec::new(),
        explanation: String::new(),
        advice: "do better".into(),
        quotes: Vec::new(),
        also: Vec::new(),
    }
}
