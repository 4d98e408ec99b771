//! Little's law over tables, windows, servers, parts.

use super::Case;
use super::levels::table;

fn describe(sentences: &str, header: &str, rows: &[&str]) -> String {
    format!("{sentences}\n\n{}\n", table(header, rows))
}

const ROWS: &str = "path | samples | errors | avg (ms) | p95 (ms) | rps";
const PLAIN: &str = "path | samples | avg (ms) | rps";

/// Two tables of one section, with a sentence for both.
fn parts(sentence: &str, header: &str, names: [&str; 2], first: &[&str], second: &[&str]) -> String {
    let [a, b] = names;
    format!(
        "**1. Both**\n\n{sentence}\n\n**{a}**\n\n{}\n**{b}**\n\n{}\n",
        table(header, first),
        table(header, second)
    )
}

/// A table above the output that its row was copied from.
fn above_its_output(rows: &[&str], output: &str) -> String {
    format!("# Results\n\n{}\n```\n{output}```\n", table("server | rps | avg (ms) | p99 (ms)", rows))
}

const OUTPUT: &str = "\
Running 10s test @ http://127.0.0.1:8787/
  4 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.19ms  472.50us   9.65ms   70.08%
    Req/Sec    21.01k     3.24k   84.67k    98.75%
  Latency Distribution
     50%    1.19ms
     75%    1.49ms
     90%    1.79ms
     99%    2.36ms
  837983 requests in 10.10s, 688.88MB read
Requests/sec:  82963.07
Transfer/sec:     68.20MB
";

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            rule: "table_differs_from_output",
            fires: above_its_output(&["one | 82963 | 1.19 | 3.26", "two | 40211 | 2.48 | 5.01"], OUTPUT),
            fix: &[("3.26", "2.36")],
            second: above_its_output(&["one | 28963 | 1.19 | 2.36"], OUTPUT),
        },
        Case {
            rule: "more_in_flight_than_stated",
            fires: describe(
                "Number of threads: 50",
                PLAIN,
                &["/a | 60000 | 80 | 1000.0", "/b | 20000 | 20 | 400.0"],
            ),
            fix: &[("| 80 |", "| 40 |")],
            second: describe(
                "It ran with 20 virtual users.",
                PLAIN,
                &["one | 60000 | 90 | 100.0", "two | 60000 | 80 | 100.0", "three | 60000 | 70 | 100.0"],
            ),
        },
        Case {
            rule: "thread_time_missing",
            fires: describe(
                "Number of threads: 100",
                PLAIN,
                &["/a | 60000 | 300 | 100.0", "/b | 60000 | 400 | 100.0"],
            ),
            fix: &[("| 400 |", "| 690 |")],
            second: describe(
                "We had 40 users.",
                PLAIN,
                &["x | 9000 | 900 | 15.0", "y | 9000 | 800 | 15.0", "z | 9000 | 350 | 15.0"],
            ),
        },
        Case {
            rule: "load_only_implied",
            fires: table(
                PLAIN,
                &[
                    "/a | 60000 | 300 | 100.0",
                    "/b | 60000 | 400 | 100.0",
                    "/c | 60000 | 500 | 100.0",
                    "/d | 60000 | 20 | 100.0",
                ],
            ),
            fix: &[("path |", "Users: 125\n\npath |")],
            second: table("name | tps @ ms", &["a | 50 @ 100", "b | 60 @ 110", "c | 70 @ 90", "d | 80 @ 70"]),
        },
        Case {
            rule: "in_flight_outlier",
            fires: table(
                "api | 1 server (rps @ ms) | 2 servers (rps @ ms)",
                &[
                    "a | 500 @ 200 | 900 @ 105",
                    "b | 400 @ 250 | 790 @ 120",
                    "c | 1000 @ 100 | 1700 @ 55",
                    "d | 300 @ 330 | 590 @ 400",
                ],
            ),
            fix: &[("590 @ 400", "590 @ 165")],
            second: table(
                "job | 2 nodes (tps @ ms) | 4 nodes (tps @ ms)",
                &[
                    "k | 50 @ 400 | 90 @ 220",
                    "l | 40 @ 500 | 75 @ 260",
                    "m | 100 @ 210 | 180 @ 30",
                    "n | 30 @ 660 | 58 @ 340",
                ],
            ),
        },
        Case {
            rule: "gains_more_than_servers",
            fires: table("api | 1 server (rps @ ms) | 2 servers (rps @ ms)", &["a | 500 @ 200 | 1250 @ 80"]),
            fix: &[("1250 @", "970 @")],
            second: table("api | replicas | users | rps", &["a | 2 | 50 | 500", "a | 3 | 50 | 900"]),
        },
        Case {
            rule: "gains_nothing_from_servers",
            fires: table("api | 1 server (rps @ ms) | 2 servers (rps @ ms)", &["a | 500 @ 200 | 503 @ 198"]),
            fix: &[("503 @", "930 @")],
            second: table("api | pods | users | rps", &["a | 2 | 50 | 500", "a | 8 | 50 | 540"]),
        },
        Case {
            rule: "cycle_above_percentile",
            fires: describe(
                "Number of users: 400",
                "path | samples | p95 (ms) | rps",
                &["/a | 90000 | 60 | 2000", "/b | 10000 | 900 | 800"],
            ),
            fix: &[("| 60 |", "| 260 |")],
            second: describe(
                "It ran with 64 threads.",
                "path | requests | 90% (ms) | tps",
                &["x | 5000 | 110 | 320", "y | 9000 | 300 | 400"],
            ),
        },
        Case {
            rule: "window_is_not_the_duration",
            fires: describe(
                "Test duration was 20 minutes.",
                PLAIN,
                &["/a | 60000 | 30 | 100.0", "/b | 60000 | 40 | 100.0"],
            ),
            fix: &[("20 minutes", "10 minutes")],
            second: describe("Duration: 60 s", PLAIN, &["x | 9000 | 30 | 100.0", "y | 9000 | 40 | 100.0"]),
        },
        Case {
            rule: "rows_of_unequal_length",
            fires: describe(
                "Test duration was 10 minutes.",
                PLAIN,
                &["/a | 60000 | 30 | 100.0", "/b | 90000 | 40 | 450.0"],
            ),
            fix: &[("| 450.0", "| 165.0")],
            second: describe(
                "Duration of each run: 100 s.",
                "build | requests | tps",
                &["old | 1000 | 10", "new | 9000 | 30"],
            ),
        },
        Case {
            rule: "rates_of_own_windows",
            fires: table(
                PLAIN,
                &["/a | 60000 | 30 | 100.0", "/b | 60000 | 40 | 100.9", "/c | 60000 | 40 | 100.1"],
            ),
            fix: &[("| 100.9", "| 100.0")],
            second: table(
                "step | requests | tps",
                &["in | 5000 | 50.01", "buy | 5000 | 50.31", "out | 5000 | 50.20"],
            ),
        },
        Case {
            rule: "rates_not_additive",
            fires: parts(
                "Users: 80, on 9 machines",
                PLAIN,
                ["Oslo", "Rome"],
                &["/a | 60000 | 30 | 100.0", "/b | 60000 | 40 | 100.0", "/c | 60000 | 40 | 100.0"],
                &["/a | 60000 | 30 | 80.0", "/b | 60000 | 40 | 80.0", "/c | 60000 | 40 | 80.0"],
            ),
            fix: &[("| 80.0", "| 99.0")],
            second: parts(
                "Two sites with six machines each made the load.",
                "op | requests | tps",
                ["East", "West"],
                &["r | 5000 | 50", "w | 5000 | 50", "d | 5000 | 50"],
                &["r | 5000 | 25", "w | 5000 | 25", "d | 5000 | 25"],
            ),
        },
        Case {
            rule: "percentiles_of_parts",
            fires: parts(
                "Users: 80, on 9 machines",
                "path | p95 (ms) | rps",
                ["Oslo", "Rome"],
                &["/a | 90 | 100", "/b | 80 | 100", "/c | 70 | 100"],
                &["/a | 190 | 100", "/b | 81 | 100", "/c | 71 | 100"],
            ),
            fix: &[("| 190 |", "| 92 |")],
            second: parts(
                "Two sites with six machines each made the load.",
                "op | 99% (ms) | tps",
                ["East", "West"],
                &["r | 500 | 50", "w | 500 | 50", "d | 500 | 50"],
                &["r | 500 | 25", "w | 900 | 25", "d | 500 | 25"],
            ),
        },
        Case {
            rule: "sequence_called_mix",
            fires: format!(
                "## A realistic mix\n\n{}",
                table(
                    PLAIN,
                    &["/a | 60000 | 30 | 100.0", "/b | 120000 | 40 | 200.0", "/c | 180000 | 40 | 300.0"]
                )
            ),
            fix: &[("120000", "119713")],
            second: format!(
                "# Load in the ratio of last week\n\n{}",
                table("op | requests | tps", &["r | 5000 | 50", "w | 1000 | 10", "d | 500 | 5"])
            ),
        },
        Case {
            rule: "samples_do_not_divide",
            fires: describe(
                "Number of threads: 70",
                PLAIN,
                &["/a | 64000 | 30 | 100.0", "/b | 64000 | 40 | 100.0", "/c | 64000 | 40 | 100.0"],
            ),
            fix: &[("64000", "63000")],
            second: describe(
                "It ran with 30 virtual users.",
                "op | requests | tps",
                &["r | 1000 | 50", "w | 1000 | 50", "d | 1000 | 50"],
            ),
        },
        Case {
            rule: "machines_differ",
            fires: parts(
                "Machines: 9 generators (4 from Oslo + 5 from Rome)",
                "path | rps",
                ["Oslo (6 VMs)", "Rome (5 VMs)"],
                &["/a | 100"],
                &["/a | 90"],
            ),
            fix: &[("6 VMs", "4 VMs")],
            second: parts(
                "Load came from 3 in Paris and 2 in Berlin.",
                "op | tps",
                ["Paris (3 machines)", "Berlin (4 machines)"],
                &["r | 50"],
                &["r | 25"],
            ),
        },
        Case {
            rule: "closed_loops_compared",
            fires: format!(
                "**1. Before**\n\nUsers: 50\n\n{}\n**2. After**\n\nUsers: 50\n\n{}",
                table("path | rps", &["/a | 100", "/b | 90", "/c | 80"]),
                table("path | rps", &["/a | 300", "/b | 290", "/c | 280"])
            ),
            fix: &[("**2. After**\n\nUsers: 50", "**2. After**\n\nUsers: 150")],
            second: format!(
                "## Old\n\nIt had 8 clients.\n\n{}\n## New\n\nIt had 8 clients.\n\n{}",
                table("op | tps", &["r | 50", "w | 40", "d | 30"]),
                table("op | tps", &["r | 90", "w | 80", "d | 70"])
            ),
        },
        Case {
            rule: "percentiles_at_whole_seconds",
            fires: table(
                "path | avg (ms) | p99 (ms)",
                &["/a | 40 | 1080", "/b | 90 | 1120", "/c | 200 | 1095", "/d | 55 | 1060", "/e | 30 | 400"],
            ),
            fix: &[("1080", "610"), ("1060", "740")],
            second: table(
                "op | mean ms | p95 ms",
                &["r | 300 | 3100", "w | 900 | 3190", "d | 500 | 3080", "l | 420 | 3055"],
            ),
        },
        Case {
            rule: "column_left_out",
            fires: format!(
                "**1. a**\n\n{}\n**2. b**\n\n{}\n**3. c**\n\n{}",
                table(ROWS, &["/a | 100 | 0 | 30 | 60 | 10"]),
                table(ROWS, &["/a | 100 | 0 | 31 | 61 | 10"]),
                table("path | samples | errors | p95 (ms) | rps", &["/a | 100 | 0 | 60 | 10"])
            ),
            fix: &[(
                "path | samples | errors | p95 (ms) | rps\n---|---|---|---|---\n/a | 100 | 0 | 60 | 10",
                "path | samples | errors | avg (ms) | p95 (ms) | rps\n---|---|---|---|---|---\n/a | \
                     100 | 0 | 30 | 60 | 10",
            )],
            second: format!(
                "## x\n\n{}\n## y\n\n{}\n## z\n\n{}",
                table("op | tps | mean ms | max ms | errors", &["r | 5 | 30 | 60 | 0"]),
                table("op | tps | mean ms | max ms | errors", &["r | 6 | 30 | 60 | 0"]),
                table("op | tps | mean ms | max ms", &["r | 7 | 30 | 60"])
            ),
        },
        Case {
            rule: "errors_without_kind",
            fires: table("path | samples | errors | rps", &["/a | 1000 | 13 | 20"]),
            fix: &[(
                "path | samples | errors | rps\n---|---|---|---\n/a | 1000 | 13 | 20",
                "path | samples | errors | rps | status\n---|---|---|---|---\n/a | 1000 | 13 | 20 | 502",
            )],
            second: table("op | failed | tps", &["r | 2 | 50", "w | 0 | 40"]),
        },
        Case {
            rule: "hardware_differs_from_type",
            fires: table("machine | vCPU | Memory (GiB)", &["m5.large | 4 | 16"]),
            fix: &[("m5.large", "m5.xlarge")],
            second: "The server is a t3.medium with 4 vCPU.\n".into(),
        },
    ]
}
