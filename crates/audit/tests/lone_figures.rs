//! Results without a table or a known tool around them: lists of figures, the end of an output, the report of a period.

use plimsoll_audit::foreign::{Document, Measure, Tool, read};

const MEDIAN: Measure = Measure::Percentile(5_000);
const P99: Measure = Measure::Percentile(9_900);

fn first(document: &Document, measure: Measure) -> Option<f64> {
    document.rows.first()?.figures.get(&measure).map(|figure| figure.value)
}

fn assert_near(document: &Document, expected: &[(Measure, f64)]) {
    for (measure, value) in expected {
        let found = first(document, *measure).unwrap_or_else(|| panic!("{measure:?} is read"));
        assert!((found - value).abs() <= 1e-9 * value.abs(), "{measure:?}: {found}, not {value}");
    }
}

#[test]
fn a_list_of_figures_is_one_row() {
    let columns = "Time taken for tests      0.4 seconds\nTotal requests            24\nFailed requests           0\n\
                   Requests per second       56.52 [#/sec]\nMedian time per request   3ms\n\
                   Average time per request  17ms\nSample standard deviation 24ms\n99.0'th percentile        65ms\n";
    let document = read("report.md", columns);
    assert_eq!((document.rows.len(), document.rows[0].tool), (1, None));
    let expected = [
        (Measure::Duration, 0.4),
        (Measure::Requests, 24.0),
        (Measure::Errors, 0.0),
        (Measure::Rate, 56.52),
        (MEDIAN, 0.003),
        (Measure::Mean, 0.017),
        (Measure::StdDev, 0.024),
        (P99, 0.065),
    ];
    assert_near(&document, &expected);
    // Each figure is quoted from its own line.
    assert_eq!(document.rows[0].figures[&P99].line, 8);
    let colons =
        "Hits: 823\nApproximate Average RPS: 7\nAverage request time: 0.25s\n\nSuccess: 300\nErrors: 2\n";
    let document = read("report.md", colons);
    assert_near(&document, &[(Measure::Requests, 823.0), (Measure::Rate, 7.0), (Measure::Errors, 2.0)]);
    assert!(document.rows[0].others.is_empty(), "what `Success` counts is unknown");
    assert_near(
        &read("report.md", "Fastest: 91ms\nSlowest: 315ms\nAvg    : 249ms\n"),
        &[(Measure::Min, 0.091), (Measure::Max, 0.315), (Measure::Mean, 0.249)],
    );
    assert_near(
        &read(
            "report.md",
            "Requests per second: 12.5 [#/sec] (mean)\n50% response time: 278.75 [ms] (mean)\n\
                            90% response time: 2833.0 [ms] (mean)\n",
        ),
        &[(Measure::Rate, 12.5), (MEDIAN, 0.27875), (Measure::Percentile(9_000), 2.833)],
    );
}

#[test]
fn other_lists_are_no_results() {
    let lists = [
        // A plan has no time that was measured.
        "Users: 600\nDuration: 60 min\nRamp-up: 30 s\nLoops: 1\n",
        // The unit is unknown.
        "Average: 17\nMedian: 12\nMax: 250\nMin: 3\n",
        // Two figures are a remark.
        "Average: 17 ms\nMax: 250 ms\n",
        // What stands between them ends a list.
        "Average: 17 ms\nThis was the first server.\nMax: 250 ms\nThis was the second.\nMin: 3 ms\n",
        "10:15:02 started\n10:15:03 average 17 ms\n10:15:04 max 250 ms\n10:15:05 min 3 ms\n",
    ];
    for list in lists {
        assert!(read("report.md", list).rows.is_empty(), "{list}");
    }
}

#[test]
fn the_end_of_an_output_of_ab_is_read() {
    let phases = "Connection Times (ms)\n              min  mean[+/-sd] median   max\n\
                  Connect:       40   43   2.2     42      48\nProcessing:    40   45   4.1     44      55\n\
                  Waiting:       40   44   4.2     43      55\n";
    let document = read("report.md", phases);
    assert_eq!(document.rows.first().and_then(|row| row.tool), Some(Tool::Ab));
    assert_near(&document, &[(Measure::ConnectMean, 0.043), (Measure::ProcessingMean, 0.045)]);
    let with_rate = format!("Transfer rate:          155.66 [Kbytes/sec] received\n\n{phases}");
    assert_near(&read("report.md", &with_rate), &[(Measure::BytesPerS, 155.66 * 1024.0)]);
    let other =
        read("report.md", "Transfer rate:          155.66 [Kbytes/sec] received\n\nThat is little.\n");
    assert!(other.rows.is_empty(), "a rate alone may be of any tool");
}

#[test]
fn a_period_of_artillery_counts_where_nothing_else_is_reported() {
    let period = "Report for the previous 10s @ 2016-12-05T18:41:01.850Z\n  Scenarios launched:  90\n\
                  \u{20} Scenarios completed: 30\n  Requests completed:  1085\n  RPS sent: 120.55\n\
                  \u{20} Request latency:\n    min: 2.4\n    max: 148.8\n    median: 42.5\n  Codes:\n    200: 1085\n";
    let document = read("report.txt", period);
    assert_eq!((document.rows.len(), document.rows[0].is_part), (1, true));
    assert_near(&document, &[(Measure::Requests, 1_085.0), (MEDIAN, 0.0425)]);
    let summary = period.replace("Report for the previous 10s", "Summary report").replace("1085", "9000");
    let document = read("report.txt", &format!("{period}\n{summary}"));
    assert_eq!(document.rows.len(), 1);
    assert_near(&document, &[(Measure::Requests, 9_000.0)]);
    let newer = "--------------------------------------\nMetrics for period to: 16:16:50(-0500) (width: 3.206s)\n\
                 --------------------------------------\n\nhttp.requests: ......... 60\nhttp.response_time:\n\
                 \u{20} min: ......... 3\n  max: ......... 225\n  median: ......... 4\n";
    let document = read("report.txt", newer);
    assert_eq!((document.rows.len(), document.rows[0].is_part), (1, true));
    assert_near(&document, &[(Measure::Requests, 60.0), (Measure::Max, 0.225)]);
}

#[test]
fn the_first_layout_of_k6_is_read() {
    let text = "   duration: 0s, iterations: 50\n        vus: 20, max: 20\n\n\
                \u{20}   http_req_connecting...: avg=4.18ms, max=214.97ms, med=0s, min=0s, p90=0s, p95=0s\n\
                \u{20}   http_req_duration.....: avg=322.68ms, max=2.05s, med=208.5ms, \
                min=191.67ms, p90=764.04ms, p95=834.86ms\n";
    let document = read("report.md", text);
    assert_eq!(document.rows.first().and_then(|row| row.tool), Some(Tool::K6));
    let expected = [
        (Measure::Mean, 0.32268),
        (Measure::Max, 2.05),
        (MEDIAN, 0.2085),
        (Measure::Percentile(9_000), 0.76404),
        (Measure::Percentile(9_500), 0.83486),
        (Measure::ConnectMax, 0.21497),
    ];
    assert_near(&document, &expected);
}

#[test]
fn what_a_command_of_autocannon_offers_is_known() {
    let output = |flags: &str| {
        let text = format!(
            "$ autocannon {flags} http://localhost:8080\nRunning 10s test @ http://localhost:8080\n10 connections\n\n\
             Stat         Avg     Stdev  Max\nLatency (ms) 2.2     26.18  1009\nReq/Sec      2140.81 1057.4 3305\n\
             Bytes/Sec    242 kB  119 kB 374 kB\n\n21k requests in 10.05s, 2.42 MB read\n"
        );
        let document = read("report.md", &text);
        let found = plimsoll_audit::audit(std::slice::from_ref(&document));
        (first(&document, Measure::OfferedRate), found.findings.iter().any(|f| f.rule == "more_than_offered"))
    };
    assert_eq!(output("--overallRate 5"), (Some(5.0), true));
    assert_eq!(output("-R 5"), (Some(50.0), true));
    assert_eq!(output("-r 3000"), (Some(3_000.0), false));
    assert_eq!(output("-c 10"), (None, false));
}
