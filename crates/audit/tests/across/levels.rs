//! Rows at several loads, sizes of answers, labels.

use super::Case;
use super::made::{WRK, Wrk, outputs};

pub fn table(header: &str, rows: &[&str]) -> String {
    let columns = header.matches('|').count() + 1;
    let rule = vec!["---"; columns].join("|");
    format!("{header}\n{rule}\n{}\n", rows.join("\n"))
}

pub fn cases() -> Vec<Case> {
    let refused =
        |connections: u32, connect_errors: u32, rate: f64| Wrk { connections, connect_errors, rate, ..WRK };
    let level = |connections: u32, rate: f64, mean_ms: f64, p99_ms: f64| Wrk {
        connections,
        rate,
        mean_ms,
        p99_ms,
        ..WRK
    };
    let sized = |url: &'static str, bytes: f64, connections: u32| Wrk {
        url,
        bytes,
        connections,
        rate: 4_000.0 + f64::from(connections) * 20.0,
        ..WRK
    };
    vec![
        Case {
            rule: "same_number_live",
            fires: outputs(&[refused(500, 15, 900.0), refused(1_000, 515, 950.0)]),
            fix: &[("connect 515,", "connect 412,")],
            second: table(
                "connections | connect errors | rps | avg (ms)",
                &["2000 | 992 | 800 | 90", "4000 | 2992 | 810 | 91", "9000 | 7992 | 790 | 92"],
            ),
        },
        Case {
            rule: "noise_between_equal_runs",
            fires: outputs(&[refused(500, 15, 9_000.0), refused(600, 115, 7_500.0)]),
            fix: &[("7500.00", "8900.00")],
            second: outputs(&[level(64, 700.0, 80.0, 200.0), level(64, 900.0, 62.0, 180.0)]),
        },
        Case {
            rule: "worse_at_less_load",
            fires: outputs(&[
                level(10, 900.0, 9.0, 20.0),
                level(50, 2_000.0, 20.0, 900.0),
                level(100, 4_000.0, 22.0, 60.0),
                level(200, 5_000.0, 35.0, 90.0),
            ]),
            fix: &[("900.00ms", "55.00ms")],
            second: outputs(&[
                level(8, 90.0, 80.0, 5_000.0),
                level(16, 170.0, 85.0, 300.0),
                level(32, 200.0, 150.0, 800.0),
            ]),
        },
        Case {
            rule: "flat_from_the_start",
            fires: table("users | rps | avg (ms)", &["5 | 50.1 | 100", "10 | 50.3 | 199", "20 | 49.9 | 401"]),
            fix: &[("5 | 50.1 | 100", "5 | 30.0 | 167")],
            second: table(
                "vus | tps | mean (s)",
                &["1 | 2.01 | 0.5", "2 | 2.02 | 0.99", "4 | 2.00 | 2.0", "8 | 1.99 | 4.02"],
            ),
        },
        Case {
            rule: "median_falls_mean_rises",
            fires: table(
                "clients | rps | median (ms) | avg (ms)",
                &["100 | 900 | 60 | 80", "200 | 910 | 50 | 150", "300 | 905 | 40 | 300"],
            ),
            fix: &[("| 40 |", "| 180 |"), ("| 50 |", "| 110 |")],
            second: table(
                "concurrency | req/s | p50 ms | mean ms",
                &[
                    "16 | 400 | 30.5 | 35.0",
                    "32 | 410 | 29.1 | 70.2",
                    "64 | 405 | 22.0 | 140.9",
                    "128 | 400 | 20.2 | 290.5",
                ],
            ),
        },
        Case {
            rule: "path_not_server_measured",
            fires: format!(
                "{}\nFrom the next rack an average of 2 ms response time was seen.\n",
                outputs(&[
                    level(10, 110.0, 90.0, 99.0),
                    level(20, 220.0, 90.5, 99.0),
                    level(40, 438.0, 91.0, 99.0)
                ])
            ),
            fix: &[("of 2 ms", "of 88 ms")],
            second: format!(
                "{}\nThe monitor reports an average of 15 ms.\n",
                outputs(&[
                    level(1, 5.0, 199.0, 210.0),
                    level(2, 10.0, 200.0, 220.0),
                    level(4, 19.9, 200.5, 221.0),
                    level(8, 39.8, 201.0, 230.0)
                ])
            ),
        },
        Case {
            rule: "one_user_compared",
            fires: table(
                "server | users | rps",
                &["alpha | 1 | 50.1", "alpha | 50 | 900", "beta | 1 | 50.9", "beta | 50 | 1400"],
            ),
            fix: &[("beta | 1 | 50.9", "beta | 1 | 71.3")],
            second: table(
                "build | c | tps | mean (ms)",
                &["old | 1 | 9.9 | 101", "old | 8 | 60 | 133", "new | 1 | 10.1 | 99", "new | 8 | 79 | 101"],
            ),
        },
        Case {
            rule: "answers_differ",
            fires: outputs(&[
                sized("http://a.example/list", 800.0, 10),
                sized("http://a.example/list", 801.0, 20),
                sized("http://a.example/list", 799.0, 40),
                sized("http://a.example/", 310.0, 80),
            ]),
            fix: &[("168000 requests", "65000 requests")],
            second: outputs(&[
                sized("http://b.example/x", 120.0, 10),
                sized("http://b.example/x", 120.0, 20),
                sized("http://b.example/x", 121.0, 40),
                sized("http://b.example/x", 560.0, 80),
                sized("http://b.example/x", 120.0, 160),
            ]),
        },
        Case {
            rule: "bytes_equal_rates_differ",
            fires: table(
                "server | users | req/s | KB/sec",
                &[
                    "a | 50 | 1000 | 400.1",
                    "a | 100 | 1005 | 401.9",
                    "b | 50 | 800 | 399.8",
                    "b | 100 | 802 | 402.2",
                ],
            ),
            fix: &[("399.8", "319.8"), ("402.2", "320.9")],
            second: table(
                "runtime | vus | rps | MB/s",
                &[
                    "x | 8 | 500 | 12.01",
                    "x | 16 | 505 | 12.10",
                    "x | 32 | 501 | 12.04",
                    "y | 8 | 401 | 12.00",
                    "y | 16 | 400 | 12.03",
                    "y | 32 | 402 | 12.05",
                ],
            ),
        },
        Case {
            rule: "label_contradicts_row",
            fires: format!(
                "## First\n\n- Total connections: 46\n\n{}",
                Wrk { connections: 64, ..WRK }.text()
            ),
            fix: &[("connections: 46", "connections: 64")],
            second: format!(
                "## At 100 connections\n\nLatency: 45.00ms for the 99% percentile\n\n{}",
                WRK.text()
            ),
        },
        Case {
            rule: "threads_are_no_users",
            fires: format!(
                "The number of threads (users) is 4.\n\n{}",
                outputs(&[level(100, 900.0, 9.0, 20.0)])
            ),
            fix: &[("threads (users)", "threads")],
            second: format!(
                "Scaling clients (threads) shows more.\n\n{}",
                outputs(&[Wrk { threads: 2, connections: 16, rate: 150.0, ..WRK }])
            ),
        },
        Case {
            rule: "copied_row",
            fires: table(
                "path | rps | avg (ms) | p95 (ms)",
                &["/a | 812.4 | 30.51 | 88.02", "/b | 812.4 | 30.51 | 88.02", "/c | 400.2 | 61.33 | 90.11"],
            ),
            fix: &[("/b | 812.4 | 30.51", "/b | 700.1 | 35.82")],
            second: table(
                "users | tps | mean ms | max ms",
                &["100 | 1234.5 | 77.12 | 204.9", "200 | 1234.5 | 77.12 | 204.9"],
            ),
        },
        Case {
            rule: "figure_pasted",
            fires: table("path | avg (ms) | p95 (ms) | rps", &["/a | 30.51 | 812.4 | 812.4"]),
            fix: &[("| 812.4 | 812.4", "| 88.02 | 812.4")],
            second: table("job | mean ms | max ms | tps", &["sync | 1204.7 | 3000.1 | 1204.7"]),
        },
        Case {
            rule: "slip_of_digits",
            fires: "The index holds 12837 documents.\n\nEach query scans all 12387 documents.\n".into(),
            fix: &[("12387", "12837")],
            second: "It returns 5813 rows.\n\n## Rows\n\nAll 5313 rows are encoded.\n".into(),
        },
        Case {
            rule: "tests_not_shown",
            fires: format!(
                "In total we ran 12 tests.\n\n{}",
                table("users | rps", &["1 | 50", "2 | 90", "4 | 170"])
            ),
            fix: &[("12 tests", "3 tests")],
            second: format!("We conducted 9 benchmarks.\n\n{}", outputs(&[level(4, 90.0, 40.0, 60.0)])),
        },
    ]
}
