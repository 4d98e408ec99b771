//! What a tool counts and times by its source, where a reader would take it for a mistake: each doubt from both sides.

use plimsoll_audit::foreign::read;
use plimsoll_audit::{Finding, audit};

fn findings(text: &str) -> Vec<Finding> {
    audit(&[read("report.md", text)]).findings
}

fn doubts(rule: &str, text: &str) -> bool {
    findings(text).iter().any(|finding| finding.rule == rule || finding.also.contains(&rule))
}

fn wrk(errors: &str, rate: &str, mean: &str) -> String {
    format!(
        "Running 60s test @ http://10.0.0.7/tea\n  2 threads and 100 connections\n\
         \u{20} Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
         \u{20}   Latency   {mean}  115.95ms   1.45s    65.64%\n    Req/Sec   297.98    193.03     1.82k    65.83%\n\
         \u{20} 35047 requests in 60.00s, 11.80MB read\n{errors}Requests/sec:    {rate}\nTransfer/sec:    200.60KB\n"
    )
}

#[test]
fn connections_that_are_opened_again_were_live() {
    let rule = "connections_never_came_about";
    // 584 x 0.179 = 105 in flight: not over the 5 connections that would be left.
    let again = "  Socket errors: connect 95, read 57, write 0, timeout 0\n";
    assert!(!doubts(rule, &wrk(again, "584.12", "178.97ms")));
    assert!(doubts(rule, &wrk(&again.replace("57", "0"), "584.12", "178.97ms")), "none was opened again");
    assert!(doubts(rule, &wrk(again, "24.12", "178.97ms")), "4 in flight fit 5 connections");
}

fn bombardier(above: &str, deviation: &str) -> String {
    format!(
        "{above}\nBombarding http://10.0.0.7:8080/now for 20s using 100 connection(s)\n\
         [==========================] 20s\nDone!\nStatistics        Avg      Stdev        Max\n\
         \u{20} Reqs/sec      3636.00     200.52    3950.99\n  Latency       27.48ms     {deviation}   116.01ms\n\
         \u{20} Latency Distribution\n     50%    27.00ms\n     75%    28.00ms\n     90%    29.00ms\n\
         \u{20}    95%    30.00ms\n\u{20}    99%    36.00ms\n  HTTP codes:\n\
         \u{20}   1xx - 0, 2xx - 72805, 3xx - 0, 4xx - 0, 5xx - 0\n\
         \u{20}   others - 0\n  Throughput:   663.97KB/s\n"
    )
}

#[test]
fn the_deviation_of_bombardier_is_that_of_distinct_times() {
    let rule = "deviation_too_small";
    assert!(!doubts(rule, &bombardier("", "0.14ms")));
    let table = |above: &str| {
        format!(
            "{above}\n\n\
            | run | avg (ms) | stdev (ms) | p50 (ms) | p75 (ms) | p90 (ms) | p95 (ms) | p99 (ms) | max (ms) |\n\
             |---|---|---|---|---|---|---|---|---|\n\
             | now | 27.48 | 0.14 | 27.00 | 28.00 | 29.00 | 30.00 | 36.00 | 116.01 |\n"
        )
    };
    assert!(!doubts(rule, &table("Measured with bombardier.")));
    assert!(doubts(rule, &table("Measured twice.")));
}

#[test]
fn users_that_are_paced_by_the_command_are_not_idle() {
    let idle = |command: &str| {
        let slow = bombardier(command, "1.14ms").replace("3636.00", "49.41").replace("72805", "988");
        doubts("users_idle", &slow)
    };
    assert!(idle("bombardier -c 100 -d 20s http://10.0.0.7:8080/now"));
    assert!(!idle("bombardier -c 100 -d 20s --rate 50 http://10.0.0.7:8080/now"));
    assert!(!idle(
        "$ docker run -ti --rm alpine/bombardier -c 100 -d 20s --rate 50 http://10.0.0.7:8080/now"
    ));
    assert!(!idle("> bombardier-windows-amd64.exe -c 100 -d 20s -r 50 http://10.0.0.7:8080/now"));
}

#[test]
fn users_that_ended_before_the_slowest_request_are_not_idle() {
    let hey = |total: &str, rate: &str| {
        format!(
            "hey -n 1000 -c 200 http://10.0.0.7/\n\nSummary:\n  Total:        {total} secs\n\
            \u{20} Slowest:      13.8850 secs\n\
             \u{20} Fastest:      0.1635 secs\n  Average:      1.7753 secs\n  Requests/sec: {rate}\n\n\
             Status code distribution:\n  [200] 1000 responses\n"
        )
    };
    assert!(!doubts("users_idle", &hey("15.3399", "65.1894")));
    assert!(doubts("users_idle", &hey("15.0003", "66.6653")), "a run of 15 s ends by the clock");
    assert!(doubts("users_idle", &hey("45.3399", "22.0556")), "13.9 s of 45 s do not explain it");
}

#[test]
fn scripts_may_pause_for_any_time() {
    let table = |users: &str| {
        format!(
            "| {users} | avg (ms) | rps |\n|---|---|---|\n| 50 | 9.98 | 1601.72 |\n| 2 | 7.94 | 68.93 |\n"
        )
    };
    assert!(!doubts("users_idle", &table("Virtual Users (VUs)")), "21 ms may be a pause");
    assert!(doubts("users_idle", &table("Connections")));
}

#[test]
fn pages_of_other_lengths_are_no_failures() {
    let ab = |other: &str, bodies: u32| {
        format!(
            "Document Path:          /\nDocument Length:        72030 bytes\n\nConcurrency Level:      10\n\
             Time taken for tests:   27.685 seconds\nComplete requests:      1000\nFailed requests:        723\n\
             \u{20}  (Connect: 0, Receive: 0, Length: 723, Exceptions: 0)\n\
             {other}HTML transferred:       {bodies} bytes\n\
             Requests per second:    36.12 [#/sec] (mean)\n\nConnection Times (ms)\n\
             \u{20}             min  mean[+/-sd] median   max\nTotal:        150  273 107.3    246     904\n"
        )
    };
    let rule = "failures_in_the_times";
    assert!(!doubts(rule, &ab("", 72_028_981)));
    assert!(doubts(rule, &ab("Non-2xx responses:      723\n", 72_028_981)));
    assert!(doubts(rule, &ab("", 277 * 72_030 + 723 * 150)), "150 bytes are no such page");
}

#[test]
fn made_up_samples_below_the_fastest_response_are_lost() {
    let run = |command: &str, users: &str| {
        format!(
            "{command}\nRunning 30s test @ http://10.0.0.7:8080\n  4 threads and {users} connections\n\
             \u{20} Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
             \u{20}   Latency     1.34ms    5.61ms 170.00ms   94.85%\n\
             \u{20}   Req/Sec     0.95M   133.67k    1.23M    92.76%\n  Latency Distribution\n     50%  278.00us\n\
             \u{20}    75%  517.00us\n     90%    3.23ms\n     99%  126.69ms\n\
             \u{20} 113247792 requests in 30.10s, 9.70GB read\n\
             Requests/sec: 3762376.24\nTransfer/sec:    330.10MB\n"
        )
    };
    let rules = ["mean_below_its_bound", "within_deviation_wrong", "deviation_too_small"];
    let pipelined = "wrk -t4 -c128 -d30s http://10.0.0.7:8080 -s pipeline.lua --latency -- / 16";
    let found = findings(&run(pipelined, "128"));
    assert!(!found.iter().any(|f| rules.contains(&f.rule)), "{found:?}");
    assert!(doubts("mean_below_its_bound", &run("wrk -t4 -c5000 --latency http://10.0.0.7:8080", "5000")));
}

#[test]
fn a_stall_raises_one_finding() {
    let text = wrk("", "384.12", "478.97ms");
    let of_stalls = ["made_up_samples", "rate_per_thread_differs"];
    let found: Vec<Finding> = findings(&text).into_iter().filter(|f| of_stalls.contains(&f.rule)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].also.len(), 1, "{found:?}");
}

#[test]
fn a_median_of_two_samples_lies_in_the_middle() {
    let row = |samples: u32| {
        format!(
            "| label | # samples | average | median | 90% line | min | max |\n|---|---|---|---|---|---|---|\n\
             | book | {samples} | 9025 | 9025 | 17372 | 678 | 17372 |\n"
        )
    };
    assert!(!doubts("two_kinds_of_requests", &row(2)));
    assert!(doubts("two_kinds_of_requests", &row(400)));
}

#[test]
fn outputs_below_other_words_are_no_repeats() {
    let run = |name: &str, rate: &str| format!("{name}\n\n```\n{}```\n\n", wrk("", rate, "178.97ms"));
    let rule = "noise_between_equal_runs";
    assert!(!doubts(
        rule,
        &(run("The threaded server:", "584.12") + &run("The asynchronous server:", "484.12"))
    ));
    assert!(doubts(rule, &(run("Run 1:", "584.12") + &run("Run 2:", "484.12"))));
}

#[test]
fn a_histogram_that_is_cut_off_has_no_outermost_edge() {
    let ghz = |count: &str, more: &str| {
        format!(
            "Summary:\n  Count:        {count}\n  Total:        5.23 s\n  Slowest:      45.12 ms\n\
            \u{20} Fastest:      0.89 ms\n\
             \u{20} Average:      5.02 ms\n  Requests/sec: 1912.45\n\nResponse time histogram:\n  0.890 [1]     |\n\
             \u{20} 5.313 [7234]  |\n  9.736 [2156]  |\n{more}"
        )
    };
    assert!(!doubts("histogram_differs", &ghz("10000", "  ...\n")));
    let whole: String = (0..8).map(|i| format!("  {}.736 [1]  |\n", 10 + i)).collect();
    assert!(doubts("histogram_differs", &ghz("9399", &whole)), "45.12 ms are above 17.736 ms");
}

#[test]
fn labels_of_one_run_have_windows_of_their_own() {
    let table = |counts: [u32; 2], total: &str| {
        format!(
            "| label | samples | rps |\n|---|---|---|\n| find (old) | {} | 3.6 |\n| find (new) | {} | 3.2 |\n{total}",
            counts[0], counts[1]
        )
    };
    let rule = "rows_of_unequal_length";
    assert!(doubts(rule, &table([550, 218], "")));
    assert!(!doubts(rule, &table([550, 218], "| **TOTAL** | 768 | 6.2 |\n")), "a total of these labels");
    assert!(doubts(rule, &table([550, 218], "| **TOTAL** | 1900 | 6.2 |\n")), "a total of others");
    let equal = "| label | samples | rps |\n|---|---|---|\n| small | 500 | 16.62 |\n| large | 500 | 6.90 |\n";
    assert!(!doubts(rule, equal), "equal counts last as long as their rates say");
}

#[test]
fn entries_of_a_log_do_not_begin_the_run() {
    let section = |begin: &str, end: &str| format!("The soak test ran for 1 day.\n\n{begin}\n\n{end}\n");
    let (from, to) = ("2026-09-26T20:58:43", "2026-09-27T08:09:25");
    let log =
        |word: &str, at: &str| format!("{{\"level\":\"info\",\"ts\":\"{at}Z\",\"msg\":\"{word} leading\"}}");
    let rule = "duration_differs_from_dates";
    assert!(!doubts(rule, &section(&log("Started", from), &log("Stopped", to))));
    assert!(doubts(rule, &section(&format!("Start: {from}"), &format!("End: {to}"))));
}

#[test]
fn an_address_of_this_machine_is_a_target_only_in_a_command() {
    let report = |code: &str| {
        format!(
            "This is a load test of the service.\n\nIt had 10 users.\n\nLatency was low.\n\nThroughput was high.\n\n\
             ```\n{code}\n```\n"
        )
    };
    assert!(doubts("one_machine", &report("hey -c 10 http://localhost:8080/")));
    assert!(!doubts("one_machine", &report("curl -X POST http://localhost:8080/auth/login")));
    assert!(!doubts("one_machine", &report("k6 run --out influxdb=http://localhost:8086/k6 script.js")));
}

#[test]
fn names_of_columns_in_other_languages_are_read() {
    use plimsoll_audit::foreign::Measure;
    let rows = |header: &str| {
        let text = format!(
            "{header}\n|---|---|---|---|---|\n| a | 1000 | 88.8 | 12 | 41 |\n| b | 2000 | 98.8 | 14 | 42 |\n"
        );
        read("report.md", &text).rows
    };
    for header in [
        "| 测试 | 总请求 | QPS | 失败 | 平均延迟 (ms) |",
        "| Teste | Requests | Req/s | Falhas | Média (ms) |",
    ] {
        let rows = rows(header);
        let all = [Measure::Requests, Measure::Rate, Measure::Errors, Measure::Mean];
        assert!(rows.len() == 2 && all.iter().all(|m| rows[0].figures.contains_key(m)), "{header}: {rows:?}");
    }
}
