//! Formats that programs draw or print as objects: Taurus, Gatling's `stats.js`, loadtest's object, Artillery 1, and
//! tables with frames. All figures are made up in the form in which the tools print them.

use plimsoll_audit::audit;
use plimsoll_audit::foreign::{Document, Measure, Tool, read};

fn value(document: &Document, row: usize, measure: Measure) -> f64 {
    let found = document.rows.get(row).and_then(|row| row.figures.get(&measure));
    found.unwrap_or_else(|| panic!("row {row} has no {measure:?}: {:?}", document.rows)).value
}

fn holds(document: &Document, row: usize, expected: &[(Measure, f64)]) {
    for (measure, expected) in expected {
        let found = value(document, row, *measure);
        assert!((found - expected).abs() < 1e-9 * expected.max(1.0), "{measure:?}: {found}, not {expected}");
    }
}

#[test]
fn the_final_statistics_of_taurus_are_read_from_its_console() {
    let text = "\
12:30:01 INFO: Test duration: 0:01:00
12:30:01 INFO: Samples count: 59314, 50.00% failures
12:30:01 INFO: Average times: total 0.010, latency 0.009, connect 0.001
12:30:01 INFO: Percentiles:
┌───────────────┬───────────────┐
│ Percentile, % │ Resp. Time, s │
├───────────────┼───────────────┤
│           0.0 │         0.001 │
│          50.0 │         0.008 │
│          95.0 │         0.022 │
│         100.0 │         0.204 │
└───────────────┴───────────────┘
12:30:01 INFO: Request label stats:
┌────────┬────────┬─────────┬────────┬───────┐
│ label  │ status │    succ │ avg_rt │ error │
├────────┼────────┼─────────┼────────┼───────┤
│ /login │   OK   │ 100.00% │  0.012 │       │
│ /cart  │  FAIL  │   0.00% │  0.008 │  404  │
└────────┴────────┴─────────┴────────┴───────┘
";
    let document = read("run.log", text);
    assert_eq!(document.rows.len(), 3, "{:?}", document.rows);
    assert!(document.rows.iter().all(|row| row.tool == Some(Tool::Taurus)));
    let whole = [
        (Measure::Requests, 59_314.0),
        (Measure::ErrorRatio, 0.5),
        (Measure::Mean, 0.010),
        (Measure::ConnectMean, 0.001),
        (Measure::Min, 0.001),
        (Measure::Percentile(9_500), 0.022),
        (Measure::Max, 0.204),
        (Measure::Duration, 60.0),
    ];
    holds(&document, 0, &whole);
    holds(&document, 2, &[(Measure::Mean, 0.008), (Measure::ErrorRatio, 1.0)]);
    assert!(document.unread.is_empty() && document.tables.is_empty(), "{:?}", document.unread);
}

#[test]
fn throughput_in_the_file_of_taurus_is_a_number_of_samples() {
    let text = "\
label,concurrency,throughput,succ,fail,avg_rt,stdev_rt,avg_ct,avg_lt,perc_0.0,perc_50.0,perc_95.0,perc_100.0,bytes
,10,3000,2990,10,0.01200,0.00400,0.00010,0.01100,0.00200,0.01000,0.03000,0.20000,100
/login,10,3000,2990,10,0.01200,0.00400,0.00010,0.01100,0.00200,0.01000,0.03000,0.20000,100
";
    let document = read("final.csv", text);
    let whole = [
        (Measure::Requests, 3_000.0),
        (Measure::Errors, 10.0),
        (Measure::Max, 0.2),
        (Measure::StdDev, 0.004),
    ];
    holds(&document, 0, &whole);
    assert!(!document.rows[0].figures.contains_key(&Measure::Rate));
    assert_eq!(document.rows.len(), 2);
}

const GATLING: &str = r#"
var stats = {
    type: "GROUP",
name: "All Requests",
path: "",
stats: {
    "name": "All Requests",
    "numberOfRequests": {
        "total": "2,500",
        "ok": "2,490",
        "ko": "10"
    },
    "minResponseTime": {
        "total": "3",
        "ok": "3",
        "ko": "-"
    },
    "maxResponseTime": {
        "total": "904",
        "ok": "904",
        "ko": "12"
    },
    "meanResponseTime": {
        "total": "61",
        "ok": "61",
        "ko": "9"
    },
    "percentiles3": {
        "total": "170",
        "ok": "170",
        "ko": "12"
    },
    "group1": {
    "name": "t < 800 ms",
    "count": 2480,
    "percentage": 99
},
    "group2": {
    "name": "800 ms < t < 1200 ms",
    "count": 10,
    "percentage": 1
},
    "group3": {
    "name": "t > 1200 ms",
    "count": 0,
    "percentage": 0
},
    "group4": {
    "name": "failed",
    "count": 10,
    "percentage": 0
},
    "meanNumberOfRequestsPerSecond": {
        "total": "41.667",
        "ok": "41.5",
        "ko": "0.167"
    }
},
contents: {
"req_login": {
        type: "REQUEST",
        name: "Login",
stats: {
    "name": "Login",
    "numberOfRequests": {
        "total": "2,500",
        "ok": "2,490",
        "ko": "10"
    }
}
    }
}
}
"#;

#[test]
fn gatlings_script_of_figures_is_read_by_groups() {
    let document = read("stats.js", GATLING);
    let whole = [
        (Measure::Requests, 2_500.0),
        (Measure::Errors, 10.0),
        (Measure::Max, 0.904),
        (Measure::Percentile(9_500), 0.170),
        (Measure::Rate, 41.667),
    ];
    holds(&document, 0, &whole);
    assert_eq!((document.rows[0].label.as_str(), document.rows[1].label.as_str()), ("All Requests", "Login"));
    assert!(!document.rows[0].is_part && document.rows[1].is_part);
    let wrong = audit(&[read("stats.js", &GATLING.replace("\"count\": 2480", "\"count\": 1480"))]);
    assert!(wrong.findings.iter().any(|finding| finding.rule == "groups_differ_from_whole"));
    assert!(audit(&[document]).findings.iter().all(|finding| finding.rule != "groups_differ_from_whole"));
}

#[test]
fn an_object_of_loadtest_is_read_with_and_without_quotes() {
    let json = "{\n  \"totalRequests\": 1000,\n  \"totalErrors\": 4,\n  \"totalTimeSeconds\": 4.2,\n  \"rps\": 238,\n  \
                \"meanLatencyMs\": 17.6,\n  \"maxLatencyMs\": 47,\n  \"minLatencyMs\": 11,\n  \"percentiles\": {\n    \
                \"50\": 16,\n    \"99\": 44\n  },\n  \"errorCodes\": {\n    \"500\": 4\n  }\n}\n";
    let script = "Results:\n{\n  totalRequests: 1000,\n  totalErrors: 4,\n  totalTimeSeconds: 4.2,\n  rps: 238,\n  \
                  meanLatencyMs: 17.6,\n  maxLatencyMs: 47,\n  minLatencyMs: 11,\n  percentiles: { '50': 16, '99': 44 \
                  },\n  errorCodes: { '500': 4 },\n  instanceIndex: 8\n}\n";
    for text in [json, script] {
        let document = read("result", text);
        let expected = [
            (Measure::Requests, 1_000.0),
            (Measure::Errors, 4.0),
            (Measure::Rate, 238.0),
            (Measure::Mean, 0.0176),
            (Measure::Percentile(9_900), 0.044),
            (Measure::Max, 0.047),
        ];
        holds(&document, 0, &expected);
        assert_eq!(document.rows[0].others["status 500"].value, 4.0);
        let wrong = read("result", &text.replace("238", "328"));
        assert!(audit(&[wrong]).findings.iter().any(|finding| finding.rule == "rate_is_not_count_over_time"));
    }
}

#[test]
fn requests_without_a_response_of_artillery_1_have_no_time() {
    let text = "\
all scenarios completed
Complete report @ 2018-01-01T00:00:00.000Z
  Scenarios launched:  100
  Scenarios completed: 90
  Requests completed:  90
  RPS sent: 9.5
  Request latency:
    min: 2.1
    max: 99.3
    median: 37.4
    p95: 68.6
    p99: 93.4
  Scenario duration:
    min: 2.5
    max: 99.9
  Codes:
    200: 85
    500: 5
  Errors:
    ETIMEDOUT: 10
";
    let document = read("run.txt", text);
    let expected = [
        (Measure::Requests, 100.0),
        (Measure::Errors, 10.0),
        (Measure::TimeoutErrors, 10.0),
        (Measure::Non2xx, 5.0),
        (Measure::Percentile(9_500), 0.0686),
        (Measure::Max, 0.0993),
        (Measure::Rate, 9.5),
    ];
    holds(&document, 0, &expected);
    let period = text.replace("Complete report @", "Report for the previous 10s @");
    let both = read("run.txt", &format!("{period}\n{text}"));
    assert!(both.rows.len() == 1 && both.taken.len() > 25, "{:?}", both.rows);
}

#[test]
fn tables_with_frames_are_tables() {
    let rows = |bar: char| {
        let row = |cells: [&str; 3]| {
            format!("{bar} {} {bar} {:9} {bar} {:8} {bar}\n", cells[0], cells[1], cells[2])
        };
        [row(["one   ", "1,200.5", "12.5"]), row(["two   ", "900.1", "30.1"])]
    };
    let header = |bar: char| format!("{bar} server {bar} req/s     {bar} p99 (ms) {bar}\n");
    let frame = |line: char, [left, middle, right]: [char; 3]| {
        let part = |n: usize| line.to_string().repeat(n);
        format!("{left}{}{middle}{}{middle}{}{right}\n", part(8), part(11), part(10))
    };
    let drawn = |line, top, under, rule, bar, bottom| {
        let [one, two] = rows(bar);
        [frame(line, top), header(bar), frame(rule, under), one, two, frame(rule, bottom)].concat()
    };
    let (light, heavy) = (['├', '┼', '┤'], ['┡', '╇', '┩']);
    let unicode = drawn('─', ['┌', '┬', '┐'], light, '─', '│', ['└', '┴', '┘']);
    let heavy = drawn('━', ['┏', '┳', '┓'], heavy, '━', '┃', ['└', '┴', '┘']);
    let ascii = drawn('-', ['+'; 3], ['+'; 3], '=', '|', ['+'; 3]);
    let rule = format!(
        "{0}\n| server | req/s | p99 (ms) |\n{0}\n| one | 1,200.5 | 12.5 |\n| two | 900.1 | 30.1 |\n{0}\n",
        "-".repeat(30)
    );
    for table in [unicode, ascii, heavy, rule] {
        for text in [format!("# Results\n\n{table}"), format!("# Results\n\n```\n{table}```\n")] {
            let document = read("report.md", &text);
            assert_eq!(document.rows.len(), 2, "{text}: {:?}", document.rows);
            holds(&document, 0, &[(Measure::Rate, 1_200.5), (Measure::Percentile(9_900), 0.0125)]);
            assert_eq!(document.rows[1].label, "two");
        }
    }
}

#[test]
fn columns_of_old_autocannon_may_have_one_space_between_them() {
    let text = "\
Running 10s test @ http://localhost:3000
10 connections

Stat         Avg     Stdev   Max
Latency (ms) 0.6     1.2     9
Req/Sec      12287   4004.95 19184
Bytes/Sec    1.32 MB 429 kB  2.07 MB

0 2xx responses, 122850 non 2xx responses
123k requests in 10s, 13.3 MB read
";
    let document = read("run.txt", text);
    let expected = [
        (Measure::Mean, 0.0006),
        (Measure::Max, 0.009),
        (Measure::Rate, 12_287.0),
        (Measure::BytesPerS, 1.32e6),
    ];
    holds(&document, 0, &expected);
    // 123k may be 122,850: all of them.
    assert!(audit(&[document]).findings.iter().any(|finding| finding.rule == "every_answer_failed"));
}
