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

#[test]
fn clients_of_all_threads_and_cores_are_counted() {
    let h2load = |threads: &[u32]| {
        let spawned: String = threads
            .iter()
            .enumerate()
            .map(|(i, clients)| {
                format!("spawning thread #{i}: {clients} total client(s). 25000 total requests\n")
            })
            .collect();
        format!(
            "starting benchmark...\n{spawned}Application protocol: http/1.1\nprogress: 100% done\n\n\
             finished in 3.07s, 32625.64 req/s, 22.34MB/s\n\
             requests: 100000 total, 100000 started, 100000 done, 100000 succeeded, 0 failed, 0 errored, 0 timeout\n\
             status codes: 100000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
             traffic: 68.47MB (71800000) total, 7.44MB (7800000) headers (space savings 0.00%), 58.08MB (60900000) \
             data\n\
             \u{20}                    min         max         mean         sd        +/- sd\n\
             time for request:       64us     77.42ms       923us      1.78ms    97.06%\n\
             time for connect:      111us      1.01ms       491us       238us    62.50%\n\
             time to 1st byte:     1.11ms     14.08ms      6.77ms      4.50ms    56.25%\n\
             req/s           :    1020.27     1253.16     1084.32       64.02    84.38%\n"
        )
    };
    assert!(!rules(&h2load(&[8, 8, 8, 8])).contains(&"client_rates_differ"));
    assert!(rules(&h2load(&[8])).contains(&"client_rates_differ"), "8 x 1,084/s are less than 32,626/s");
    let loadtest = |cores: &str| {
        format!(
            "Target URL:          http://localhost:3000/heavy\nMax requests:        1200\nConcurrency level:   \
             200\n{cores}\
             Agent:               keepalive\n\nCompleted requests:  1200\nTotal errors:        0\n\
             Total time:          2.486 s\nMean latency:        1100.3 ms\nEffective rps:       483\n\n\
             Percentage of the requests served within a certain time\n  50%      1240 ms\n  90%      1596 ms\n\
             \u{20} 95%      1607 ms\n  99%      1680 ms\n 100%      1723 ms (longest request)\n"
        )
    };
    assert!(!rules(&loadtest("Running on cores:    4\n")).contains(&"more_in_flight_than_users"));
    assert!(rules(&loadtest("")).contains(&"more_in_flight_than_users"), "483/s x 1.1 s are more than 200");
}

#[test]
fn a_line_of_loadtest_that_was_cut_states_no_minutes() {
    let loadtest = |unit: &str, errors: &str, command: &str| {
        format!(
            "{command}\nINFO Completed requests:  8501\nINFO Total errors:        {errors}\n\
             INFO Total time:          90.00388448599999 s\nINFO Requests per second: 94\n\
             INFO Mean latency:        5151.9 ms\nINFO\n\
             INFO Percentage of the requests served within a certain time\nINFO   50%      3095 ms\n\
             INFO   90%      6053 ms\nINFO   95%      10120 {unit}\nINFO   99%      8495 ms\n\
             INFO  100%      66837 ms (longest request)\n"
        )
    };
    assert!(!rules(&loadtest("m", "0", "")).contains(&"percentiles_out_of_order"));
    assert!(rules(&loadtest("ms", "0", "")).contains(&"percentiles_out_of_order"));
    assert!(rules(&loadtest("ms", "8400   \t👈", "")).contains(&"failures_in_the_times"));
    assert!(!rules(&loadtest("ms", "84   \t👈", "")).contains(&"failures_in_the_times"));
    let asked = "> loadtest http://localhost:3000/n0 -t 90 -c 30 --rps";
    assert!(rules(&loadtest("ms", "0", &format!("{asked} 120\n"))).contains(&"offered_not_reached"));
    assert!(!rules(&loadtest("ms", "0", &format!("{asked} 95\n"))).contains(&"offered_not_reached"));
}

fn hey(lookup: &str, dialup: &str, answers: u32, errors: &str) -> String {
    format!(
        "Summary:\n  Total:\t2.0000 secs\n  Slowest:\t0.0174 secs\n  Fastest:\t0.0003 secs\n  Average:\t0.0033 secs\n\
         \u{20} Requests/sec:\t1000.0000\n\nDetails (average, fastest, slowest):\n\
         \u{20} DNS+dialup:\t0.0000 secs, 0.0000 secs, {dialup} secs\n\
         \u{20} DNS-lookup:\t0.0000 secs, 0.0000 secs, {lookup} secs\n\nStatus code distribution:\n\
         \u{20} [200]\t{answers} responses\n\n{errors}"
    )
}

#[test]
fn hey_looks_up_names_for_connections_that_it_does_not_use() {
    assert!(!rules(&hey("0.0041", "0.0023", 2000, "")).contains(&"phases_differ"));
    let oha = hey("0.0041", "0.0023", 2000, "").replace("Summary:\n", "Summary:\n  Success rate:\t100.00%\n");
    assert!(rules(&oha).contains(&"phases_differ"), "oha looks up what it connects to: {:?}", rules(&oha));
}

#[test]
fn timeouts_of_hey_have_no_time() {
    let error = |kind: &str| format!("Error distribution:\n  [400]\tGet \"http://localhost/\": {kind}\n");
    let late = "net/http: request canceled (Client.Timeout exceeded while awaiting headers)";
    assert!(rules(&hey("0.0000", "0.0023", 1600, &error(late))).contains(&"timeouts_left_out"));
    let refused = "dial tcp 127.0.0.1:80: connect: connection refused";
    assert!(!rules(&hey("0.0000", "0.0023", 1600, &error(refused))).contains(&"timeouts_left_out"));
}

#[test]
fn percentiles_of_taurus_are_those_of_a_histogram_of_three_digits() {
    let taurus = |longest: &str| {
        format!(
            "INFO: Test duration: 0:00:28\nINFO: Samples count: 400, 0.00% failures\n\
             INFO: Average times: total 21.402, latency 21.402, connect 0.063\nINFO: Percentiles:\n\
             +---------------+---------------+\n| Percentile, % | Resp. Time, s |\n\
             +---------------+---------------+\n|           0.0 |        21.200 |\n\
             |          50.0 |        {longest} |\n|         100.0 |        {longest} |\n\
             +---------------+---------------+\n"
        )
    };
    let is_outside = |longest: &str| rules(&taurus(longest)).iter().any(|rule| rule.starts_with("mean_"));
    assert!(!is_outside("21.392"));
    assert!(is_outside("21.300"), "{:?}", rules(&taurus("21.300")));
}

#[test]
fn the_last_bucket_of_old_versions_of_oha_has_the_slowest_times() {
    let oha = |success: &str, last: &str| {
        let buckets: String = (1..10).map(|i| format!("  0.00{i} [100] |\n")).collect();
        format!(
            "Summary:\n  Success rate:\t{success}\n  Total:\t5.0000 secs\n  Slowest:\t0.2505 secs\n\
             \u{20} Fastest:\t0.0010 secs\n  Average:\t0.0060 secs\n  Requests/sec:\t200.0000\n\n\
             Response time histogram:\n{buckets}  {last} [100] |\n\n\
             Status code distribution:\n  [200] 1000 responses\n"
        )
    };
    assert!(!rules(&oha("1.0000", "0.010")).contains(&"histogram_differs"));
    assert!(rules(&oha("100.00%", "0.010")).contains(&"histogram_differs"));
    assert!(!rules(&oha("100.00%", "0.251")).contains(&"histogram_differs"));
}
