//! What looks like a mistake by its figures and is none by the tool's own definitions: each doubt from both sides.

use plimsoll_audit::audit;
use plimsoll_audit::foreign::read;

fn rules(text: &str) -> Vec<&'static str> {
    audit(&[read("report.md", text)]).findings.iter().map(|finding| finding.rule).collect()
}

fn ab(length: u32, failed: u32, bodies: u32) -> String {
    format!(
        "Document Path:          /\nDocument Length:        {length} bytes\n\nConcurrency Level:      5\n\
         Time taken for tests:   20.000 seconds\nComplete requests:      1000\nFailed requests:        {failed}\n\
         \u{20}  (Connect: 0, Receive: 0, Length: {failed}, Exceptions: 0)\nHTML transferred:       {bodies} bytes\n\
         Requests per second:    50.00 [#/sec] (mean)\n"
    )
}

#[test]
fn pages_that_vary_in_length_are_no_failures() {
    let doubted = |text: &str| rules(text).contains(&"ab_length_failures");
    // 400 pages of 7,800 bytes where the first had 8,800: a page with a token or a date.
    assert!(!doubted(&ab(8_800, 400, 600 * 8_800 + 400 * 7_800)));
    assert!(doubted(&ab(8_800, 400, 600 * 8_800 + 400 * 150)), "150 bytes are no such page");
    assert!(doubted(&ab(40, 3, 997 * 40 + 317)), "nor are 106 bytes instead of 40");
    assert!(doubted(&ab(8_800, 400, 600 * 8_800)), "nor is none");
    // The first answer was empty, or the number of bytes is unknown: nothing to compare with.
    assert!(!doubted(&ab(0, 189, 20_790)));
    let without =
        ab(8_800, 400, 1).lines().filter(|line| !line.starts_with("HTML")).collect::<Vec<_>>().join("\n");
    assert!(!doubted(&without));
}

#[test]
fn fifty_thousand_requests_may_be_asked_for() {
    let output = ab(40, 0, 40 * 50_000).replace("1000\n", "50000\n").replace("50.00", "2500.00");
    let doubted = |command: &str| rules(&format!("{command}\n{output}")).contains(&"fifty_thousand");
    assert!(!doubted("Results:"));
    assert!(!doubted("$ ab -c 5 -n 50000 http://localhost/"));
    assert!(!doubted("$ ab -t 60 -c 5 -n 50000 http://localhost/"), "a later `-n` counts");
    assert!(doubted("$ ab -n 100 -c 5 -t 60 http://localhost/"));
    assert!(doubted("$ ab -t60 -c 5 http://localhost/"));
}

#[test]
fn requests_without_a_response_have_no_time() {
    let h2load = |requests: &str, codes: &str| {
        format!(
            "finished in 4.65s, 5956.86 req/s, 30.54MB/s\nrequests: {requests}, 0 timeout\nstatus codes: {codes}\n\
             \u{20}                    min         max         mean         sd        +/- sd\n\
             time for request:     3.92ms    106.90ms     14.17ms     10.23ms    86.44%\n"
        )
    };
    let doubted = |text: &str| rules(text).contains(&"failures_in_the_times");
    let errored = "200000 total, 27826 started, 200000 done, 27726 succeeded, 172274 failed, 172274 errored";
    assert!(!doubted(&h2load(errored, "27726 2xx, 0 3xx, 0 4xx, 0 5xx")));
    let refused = "27726 total, 27726 started, 27726 done, 17726 succeeded, 10000 failed, 0 errored";
    assert!(doubted(&h2load(refused, "17726 2xx, 0 3xx, 0 4xx, 10000 5xx")));
    // Requests that are abandoned with their connection failed, and are not done.
    let impossible = ["successes_and_errors_differ", "groups_differ_from_whole", "part_exceeds_requests"];
    let contradicts = |text: &str| rules(text).iter().any(|rule| impossible.contains(rule));
    let abandoned = "30000 total, 27727 started, 27726 done, 27726 succeeded, 2274 failed, 2274 errored";
    assert!(!contradicts(&h2load(abandoned, "27726 2xx, 0 3xx, 0 4xx, 0 5xx")));
    let lost = "30000 total, 27727 started, 27726 done, 27726 succeeded, 2275 failed, 2275 errored";
    assert!(contradicts(&h2load(lost, "27726 2xx, 0 3xx, 0 4xx, 0 5xx")));
    let artillery = |latency: &str, codes: &str| {
        format!(
            "Complete report @ 2018-03-07T04:03:38.796Z\n  Scenarios launched:  30\n  Scenarios completed: 0\n\
             \u{20} Requests completed:  {codes}\n  RPS sent: 0.24\n  Request latency:\n    min: {latency}\n\
             \u{20}   max: {latency}\n    median: {latency}\n  Errors:\n    ETIMEDOUT: 58\n"
        )
    };
    let found = rules(&artillery("NaN", "0"));
    assert!(!found.contains(&"timeouts_left_out") && !found.contains(&"every_answer_failed"), "{found:?}");
    let found = rules(&artillery("12.5", "10"));
    assert!(found.contains(&"timeouts_left_out"), "58 of 68 have no time: {found:?}");
}

#[test]
fn a_run_without_answers_is_not_idle_and_not_fast() {
    let wrk = |requests: u32, rate: &str, mean: &str| {
        format!(
            "Running 5s test @ http://localhost:8081\n  2 threads and 2 connections\n\
             \u{20} Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
             \u{20}   Latency     {mean}    1.00us   {mean}    80.00%\n\
             \u{20}   Req/Sec     1.00      0.00     1.00    100.00%\n  {requests} requests in 5.00s, 15.11KB read\n\
             Requests/sec:      {rate}\nTransfer/sec:      3.02KB\n"
        )
    };
    assert!(!rules(&wrk(0, "0.00", "0.00us")).contains(&"users_idle"));
    assert!(rules(&wrk(10, "2.00", "5.00ms")).contains(&"users_idle"));
    let autocannon = |rate: &str| {
        format!(
            "┌─────────┬──────┬──────┬───────┬──────┬──────┬───────┬──────┐\n\
             │ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg  │ Stdev │ Max  │\n\
             ├─────────┼──────┼──────┼───────┼──────┼──────┼───────┼──────┤\n\
             │ Latency │ 0 ms │ 0 ms │ 0 ms  │ 0 ms │ 0 ms │ 0 ms  │ 0 ms │\n\
             └─────────┴──────┴──────┴───────┴──────┴──────┴───────┴──────┘\n\
             ┌───────────┬─────┬──────┬─────┬───────┬─────┬───────┬─────┐\n\
             │ Stat      │ 1%  │ 2.5% │ 50% │ 97.5% │ Avg │ Stdev │ Min │\n\
             ├───────────┼─────┼──────┼─────┼───────┼─────┼───────┼─────┤\n\
             │ Req/Sec   │ {rate}   │ {rate}    │ {rate}   │ {rate}     │ {rate}   │ 0     │ {rate}   │\n\
             └───────────┴─────┴──────┴─────┴───────┴─────┴───────┴─────┘\n"
        )
    };
    assert!(!rules(&autocannon("0")).contains(&"below_the_resolution"));
    assert!(rules(&autocannon("900")).contains(&"below_the_resolution"));
}
