//! Each rule: a row on which it speaks, the same row fixed, on which nothing of it is left, and a second row of
//! another origin. All figures are made up.

use crate::row::fixture::{codes, fixed};

/// (rule, row that fires, fix, second row that fires)
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "vegeta_times_differ",
        "vegeta requests=100 offered=70.57 duration=3.837 other:duration_attack=1.977 other:duration_wait=1.860",
        "offered=50.57",
        "vegeta duration=3.837 other:duration_attack=1.977 other:duration_wait=1.360",
    ),
    (
        "histogram_differs",
        "hey requests=100 errors=0 max=0.050 bucket:0.010=1 bucket:0.030=80 bucket:0.050=29",
        "bucket:0.050=19",
        "oha requests=1000 p50=0.040 bucket:0.010=1 bucket:0.030=998 bucket:0.050=1",
    ),
    (
        "size_per_request_wrong",
        "hey requests=100 errors=0 bytes=1300 body=14",
        "body=13",
        "oha requests=10 errors=0 bytes=3000 body=250",
    ),
    (
        "success_rate_wrong",
        "oha requests=100 errors=10 other:answered=95%",
        "errors=5",
        "oha requests=50 errors=0 other:answered=98%",
    ),
    (
        "jmeter_intervals_differ",
        "jmeter requests=100 mean=9ms other:samples_of_all_intervals=100 other:interval_mean=5ms",
        "mean=5ms",
        "jmeter requests=100 other:samples_of_all_intervals=99 other:active=0 other:started=20 other:finished=10",
    ),
    ("jmeter_part_of_a_millisecond", "jmeter min=0.5ms max=9ms", "min=1ms", "jmeter max=47.5ms"),
    (
        "offered_not_reached",
        "loadtest requests=998 rate=200 offered=400",
        "offered=210",
        "oha rate=70.0 offered=100",
    ),
    (
        "client_rates_differ",
        "h2load users=5 rate=7438.01 other:rate_of_a_client_mean=828.01",
        "users=10",
        "h2load users=10 rate=9438.01 other:rate_of_a_client_mean=828.01",
    ),
    (
        "ab_bodies_differ",
        "ab users=10 requests=500 errors=0 body=150 other:html_transferred=150000",
        "body=300",
        "ab users=10 requests=500 errors=0 body=600 other:html_transferred=150000",
    ),
    (
        "iteration_counts_differ",
        "k6 users=10 requests=1000 rate=100.0 iterations=1000 other:iteration_duration=150ms",
        "other:iteration_duration=90ms",
        "k6 requests=1000 rate=100.0 iterations=500 other:iterations_per_second=70.0",
    ),
    (
        "siege_figures_differ",
        "siege requests=1000 rate=100.00 mean=0.20 other:concurrency=29.00",
        "other:concurrency=20.00",
        "siege requests=900 errors=100 other:availability=99.00%",
    ),
    (
        "groups_differ_from_whole",
        "gatling requests=1000 other:all_groups=900",
        "other:all_groups=1000",
        "ghz requests=100 other:count=100 other:status_OK=110",
    ),
    (
        "groups_differ_from_whole",
        "h2load requests=960 other:errored=0 other:started=970 other:status_2xx=980",
        "other:status_2xx=961",
        "h2load requests=960 other:errored=0 other:started=970 other:status_2xx=950",
    ),
    (
        "phases_differ",
        "ab first=90ms processing=50ms mean=120ms",
        "first=40ms",
        "ab connect.max=10ms other:processing_max=50ms max=90ms",
    ),
    (
        "subset_differs",
        "k6 errors=0 mean=20ms other:http_req_duration{expected_response:true}_avg=30ms",
        "mean=30ms",
        "k6 errors=0 max=90ms other:http_req_duration{expected_response:true}_max=80ms",
    ),
    (
        "within_deviation_wrong",
        "wrk mean=10.00ms sd=2.00ms within=95.00% p50=9.00ms p75=14.00ms p99=20.00ms",
        "within=60.00%",
        "wrk mean=10.00ms sd=9.00ms within=20.00% p50=9.00ms p75=14.00ms p99=20.00ms",
    ),
    (
        "ab_lists_differ",
        "ab max=4160ms other:listed_p100=5160ms",
        "other:listed_p100=4160ms",
        "ab p50=191ms p66=157ms other:listed_p50=190ms",
    ),
    (
        "command_differs",
        "wrk users=50 word:command=wrk_-c100_http://127.0.0.1:8080/",
        "users=100",
        "ab users=20 word:command=ab_-n_100_-c_10_http://127.0.0.1:8080/",
    ),
    ("negative_figure", "hey mean=-12.0ms", "mean=12.0ms", "table requests=-5"),
    ("share_out_of_range", "jmeter share=130%", "share=13.0%", "table share=1.2"),
    ("share_out_of_range", "k6 p120=3s", "", "table p101=20ms"),
    (
        "percentiles_out_of_order",
        "jmeter p95=4444ms p99=588ms",
        "p99=5880ms",
        "table p50=12ms p90=9ms max=20ms",
    ),
    (
        "percentiles_out_of_order",
        "oha p50=20.0ms p99=31.0ms max=30.0ms",
        "max=33.0ms",
        "hey min=4.0ms p50=3.0ms",
    ),
    (
        "connect_times_out_of_order",
        "k6 connect.min=2.0ms connect.median=1.0ms",
        "connect.min=0.2ms",
        "ab connect.median=30ms connect.max=8ms",
    ),
    ("mean_outside_extremes", "hey mean=52.0ms max=48.0ms", "max=480ms", "table min=30ms mean=21ms"),
    (
        "mean_outside_extremes",
        "wrk threads=2 thread_rate=900.0 thread_max=700.0",
        "thread_max=1100.0",
        "table connect=9ms connect.max=5ms",
    ),
    ("longer_than_the_run", "oha max=31.0s duration=10.0s", "max=3.1s", "k6 max=75s duration=30.0s"),
    (
        "part_longer_than_whole",
        "jmeter first=230ms mean=210ms",
        "first=205ms",
        "ab processing=44ms mean=31ms",
    ),
    (
        "more_in_flight_than_users",
        "hey rate=612.50 mean=201.30ms users=90",
        "mean=141.30ms",
        "loadtest rate=386.1 mean=1002ms users=200",
    ),
    (
        "more_in_flight_than_threads",
        "jmeter rate=386.1 mean=1002ms users=200",
        "mean=412ms",
        "k6 rate=876.41 mean=13.26ms users=10",
    ),
    (
        "made_up_samples",
        "wrk rate=612.50 mean=201.30ms users=90",
        "mean=141.30ms",
        "wrk rate=92.0 mean=3.1s users=160",
    ),
    (
        "more_in_flight_than_users",
        "table rate=92.0 mean=3.1s users=160",
        "users=310",
        "oha rate=800.0 mean=30.0ms users=10",
    ),
    (
        "mean_above_its_bound",
        "hey requests=100000 mean=400.0ms p50=10.0ms p99=30.0ms max=900.0ms",
        "mean=24.0ms",
        "table requests=50000 mean=900ms p95=20ms p99=40ms duration=60s",
    ),
    (
        "mean_below_its_bound",
        "oha requests=5000 mean=8.0ms min=1.0ms p50=20.0ms p90=40.0ms",
        "mean=18.0ms",
        "jmeter requests=90000 mean=50ms p50=140ms p95=300ms",
    ),
    (
        "deviation_too_large",
        "wrk requests=9000 mean=20.00ms sd=90.00ms max=200.00ms",
        "sd=50.00ms",
        "table min=10ms mean=20ms sd=40ms max=50ms",
    ),
    (
        "deviation_too_small",
        "wrk requests=1000 mean=20.00ms sd=1.00ms max=900.00ms",
        "sd=40.00ms",
        "ab requests=4000 mean=10ms sd=0.5ms p90=40ms",
    ),
    (
        "rate_is_not_count_over_time",
        "wrk requests=15000 duration=15.00s rate=1310.20",
        "rate=1000.10",
        "ab requests=800 duration=4.000s rate=260.11",
    ),
    (
        "bytes_are_not_rate_times_time",
        "wrk bytes=36.70KB duration=10.00s bytes_s=9.10KB",
        "bytes_s=3.67KB",
        "ab bytes=900000 duration=3.000s bytes_s=90000",
    ),
    (
        "error_share_is_wrong",
        "jmeter errors=46 requests=5400 share=8.50%",
        "share=0.85%",
        "table errors=3 requests=100 share=0.3%",
    ),
    (
        "error_share_is_wrong",
        "k6 passed=60000 failed=0 other:checks_ratio=80.00%",
        "passed=48000 failed=12000",
        "k6 passed=30 failed=10 other:checks_value=0.5",
    ),
    ("part_exceeds_requests", "wrk non2xx=120 requests=110", "non2xx=11", "table errors=900 requests=800"),
    (
        "successes_and_errors_differ",
        "table requests=1000 errors=20 other:successful=960",
        "other:successful=980",
        "loadtest requests=50 errors=1 other:ok=40",
    ),
    (
        "time_per_request_wrong",
        "ab requests=1000 duration=5.000s each=7.300ms",
        "each=5.000ms",
        "ab requests=50 duration=2.000s each=400.000ms",
    ),
    (
        "time_per_request_wrong",
        "ab users=10 requests=5000 duration=11.775s per_user=55.500ms each=2.355ms",
        "per_user=23.550ms",
        "ab users=4 requests=100 duration=1.000s per_user=10.000ms",
    ),
    (
        "vegeta_figures_differ",
        "vegeta requests=1000 share=10.00% other:status_200=1000",
        "share=0.00%",
        "vegeta requests=1000 bytes=19000 body=25",
    ),
    (
        "vegeta_figures_differ",
        "vegeta requests=1000 share=40.00% other:status_200=400 other:status_301=200 other:status_0=300",
        "other:status_0=400",
        "vegeta requests=10 share=0.00% other:status_404=10",
    ),
    (
        "ab_failures_differ",
        "ab requests=900 errors=31 refused=0 received=0 lengths=30 exceptions=0",
        "errors=30",
        "ab requests=70 errors=2 refused=1 received=1 lengths=1 exceptions=0",
    ),
    (
        "ab_phases_exceed_total",
        "ab connect=30ms processing=40ms mean=60ms",
        "mean=70ms",
        "ab connect=100ms processing=20ms mean=110ms",
    ),
    (
        "mean_above_high_percentile",
        "jmeter requests=3000000 mean=312ms p95=240ms p99=410ms",
        "p95=340ms",
        "table mean=88ms p99=71ms",
    ),
    (
        "mean_far_above_median",
        "ab requests=60000 rate=900.0 users=400 mean=362ms p50=30ms p99=5000ms",
        "mean=62ms",
        "hey mean=90.0ms p50=4.0ms p99=1200.0ms",
    ),
    (
        "users_idle",
        "hey rate=900.0 mean=20.0ms users=60",
        "mean=62.0ms",
        "table rate=100 mean=200ms users=90",
    ),
    (
        "connections_never_came_about",
        "wrk users=500 refused=261 rate=900.00 mean=240.00ms",
        "refused=0",
        "ab users=80 refused=3",
    ),
    (
        "timeouts_left_out",
        "wrk requests=17000 timeouts=170 p99=1.80s max=2.00s",
        "timeouts=0",
        "loadtest requests=400 timeouts=9 p95=900ms",
    ),
    (
        "percentile_of_few_samples",
        "wrk requests=1300 p99=300.00ms",
        "requests=13000",
        "k6 requests=60 p95=80.1ms",
    ),
    (
        "rate_per_thread_differs",
        "wrk threads=8 thread_rate=102.00 rate=560.20",
        "thread_rate=70.10",
        "wrk threads=2 thread_rate=50.00 rate=180.00",
    ),
    (
        "table_rate_differs",
        "table requests=60000 duration=60s rate=1400",
        "rate=1010",
        "table requests=900 duration=30s rate=12",
    ),
    (
        "bodies_missing",
        "ab body=700 bytes=500000 requests=1000",
        "bytes=900000",
        "table body=2000 bytes=10000 requests=50",
    ),
    ("every_answer_failed", "jmeter requests=4000 errors=4000", "errors=0", "wrk requests=90 non2xx=90"),
    (
        "failures_in_the_times",
        "hey requests=1000 errors=0 non2xx=200 mean=9.0ms rate=90.0",
        "non2xx=2",
        "table share=12% p95=80ms",
    ),
    (
        "ab_length_failures",
        "ab requests=1000 lengths=90 body=76 other:html_transferred=69160",
        "lengths=0",
        "ab requests=300 lengths=7 body=50 other:html_transferred=18000",
    ),
    ("keep_alive_without_effect", "ab requests=220 kept=0", "kept=218", "ab requests=9000 kept=80"),
    (
        "connects_at_whole_seconds",
        "k6 connect.min=20.0ms connect.median=1.03s connect.p90=3.05s",
        "connect.median=0.03s connect.p90=0.05s",
        "table connect.p50=31ms connect.p95=1040ms connect.max=7090ms",
    ),
    (
        "two_kinds_of_requests",
        "k6 min=20.0ms mean=15.0s p50=15.0s p90=30.0s max=30.0s",
        "p90=20.0s p50=11.0s mean=12.0s",
        "table min=1ms mean=100ms p50=101ms p90=199ms max=200ms",
    ),
    (
        "requests_exceed_iterations",
        "k6 requests=900 mean=2.0s iterations=300 other:iteration_duration=4.0s",
        "mean=1.2s",
        "k6 requests=50 mean=300ms iterations=10 other:iteration_duration=400ms",
    ),
    (
        "samples_are_no_loops",
        "jmeter users=60 loops=100 requests=5990",
        "requests=6000",
        "table users=7 loops=10 requests=64",
    ),
    ("more_than_offered", "vegeta offered=100 rate=140.0", "rate=99.9", "k6 offered=50 rate=75.1"),
    ("below_the_resolution", "jmeter mean=0ms requests=900", "mean=2ms", "ab p50=0ms requests=50000"),
    (
        "fifty_thousand",
        "ab requests=50000 word:command=ab_-t_60_-c_9",
        "requests=49000",
        "ab requests=50000 word:command=ab_-n_100_-t60",
    ),
    (
        "ended_early",
        "ab requests=28239 word:command=ab_-t_60_-n_1000000",
        "requests=1000000",
        "ab requests=7 word:command=ab_-n100_-c2",
    ),
    (
        "checks_are_no_multiple",
        "k6 iterations=600 passed=1799 failed=0",
        "failed=1",
        "k6 iterations=7 passed=20 failed=2",
    ),
    (
        "answers_without_bytes",
        "k6 requests=90000 bytes=1000",
        "bytes=90000000",
        "table requests=40 errors=2 bytes=60",
    ),
    ("no_percentiles", "hey mean=20.0ms max=90.0ms", "p99=80.0ms", "table mean=1.2s sd=300ms"),
    ("only_a_mean", "table mean=20ms rate=40", "p95=80ms", "loadtest mean=1.4ms"),
    ("no_errors", "table rate=800 users=40", "errors=0", "loadtest rate=90 requests=900"),
    ("no_duration", "table rate=800 users=40", "duration=60s", "k6 requests=80 mean=10ms"),
    ("no_load", "table rate=800 duration=60s", "users=40", "jmeter requests=800 mean=20ms"),
    ("no_tool_version", "ab rate=800", "word:version=2.3", "k6 mean=20ms"),
];

#[test]
fn every_rule_speaks_and_falls_silent_when_the_figure_is_mended() {
    for (rule, text, fix, second) in CASES {
        assert!(codes(text).contains(rule), "`{rule}` says nothing of `{text}`: {:?}", codes(text));
        assert!(codes(second).contains(rule), "`{rule}` says nothing of `{second}`: {:?}", codes(second));
        if !fix.is_empty() {
            let fixed = fixed(text, fix);
            assert!(!codes(&fixed).contains(rule), "`{rule}` still speaks of `{fixed}`");
        }
    }
}

#[test]
fn every_rule_of_a_single_row_has_a_case() {
    // These look at more than the figures of one row; tests of their own hold them.
    let elsewhere = [
        "total_impossible",
        "parts_exceed_total",
        "total_outside_parts",
        "figures_are_not_of_the_samples",
        "runs_appended",
        "more_at_once_than_users",
        "failed_reads_inverted",
        "no_hardware",
    ];
    for rule in plimsoll_audit::row::RULES {
        let held = CASES.iter().any(|(code, ..)| *code == rule.code) || elsewhere.contains(&rule.code);
        assert!(held, "no case for `{}`", rule.code);
    }
}

#[test]
fn what_rounding_explains_is_no_finding() {
    let silent = [
        // 99.4 ms could be 99.5, and 1.0 s anything up to 1.05.
        ("mean_outside_extremes", "table mean=99.5ms max=99.4ms"),
        // Half of the times at 10 ms and half at 30 ms deviate by 10 ms.
        ("deviation_too_large", "hey requests=1000 mean=20ms min=10ms p50=10ms max=30ms sd=10.0ms"),
        ("error_share_is_wrong", "table requests=3000 errors=7 other:success_rate=99.76%"),
        // Requests that the end cut off have bytes as well.
        ("ab_bodies_differ", "ab users=10 requests=500 errors=0 body=300 other:html_transferred=152000"),
        ("percentiles_out_of_order", "table p95=1.0s p99=980ms"),
        // 50 x 0.2 s, 0.15 to 0.25: 7.5 to 12.5.
        ("more_in_flight_than_users", "oha rate=50.0 mean=0.2s users=9"),
        // k6 with `http.batch` is said once, against its iterations.
        ("more_in_flight_than_users", "k6 rate=876.41 mean=13.26ms users=10"),
        ("more_in_flight_than_users", "jmeter rate=386.1 mean=1002ms users=200"),
        (
            "more_in_flight_than_threads",
            "k6 requests=3610 rate=876.41 mean=13.26ms users=10 iterations=722 other:iteration_duration=56.03ms",
        ),
        // The deviation of one value of 100 and nine of 0, divided by n as JMeter does, and by n - 1.
        ("deviation_too_small", "jmeter requests=10 mean=10ms min=0ms max=100ms sd=30.00ms"),
        ("deviation_too_small", "table requests=10 mean=10ms min=0ms max=100ms sd=30.00ms"),
        ("deviation_too_small", "ab requests=10 mean=10ms min=0ms max=100ms sd=31.62ms"),
        // More than all is said by `part_exceeds_requests`.
        ("every_answer_failed", "table users=10 rate=100 mean=95ms errors=700 requests=600"),
        ("error_share_is_wrong", "jmeter errors=46 requests=540000 share=0.01%"),
        ("rate_is_not_count_over_time", "wrk requests=100 duration=3s rate=31.00"),
        ("deviation_too_large", "table mean=1s sd=1s max=2s"),
        ("ab_phases_exceed_total", "ab connect=10ms processing=20ms mean=29ms"),
        ("below_the_resolution", "jmeter mean=1ms"),
        // One step of a second is a slow network; two are retransmissions.
        ("connects_at_whole_seconds", "k6 connect.min=20.0ms connect.median=1.03s connect.p90=1.05s"),
    ];
    for (rule, text) in silent {
        assert!(!codes(text).contains(&rule), "`{rule}` speaks of `{text}`");
    }
}

#[test]
fn percentiles_bound_a_deviation_more_sharply_than_extremes() {
    let speaks = [
        ("deviation_too_large", "hey requests=1000 mean=20ms min=10ms p50=19ms p99=22ms max=90ms sd=12.0ms"),
        (
            "deviation_too_small",
            "wrk requests=1000 mean=20ms p50=10ms p75=20ms p90=40ms p99=80ms max=90ms sd=5.0ms",
        ),
        // Rounding keeps the order: the tool rounds all of these alike.
        ("mean_outside_extremes", "hey mean=99.5ms max=99.4ms"),
        ("percentiles_out_of_order", "ab p50=2ms p90=1ms"),
        ("error_share_is_wrong", "table requests=1000 errors=50 other:success_rate=99.50%"),
        ("within_deviation_wrong", "wrk mean=1.90ms sd=2.47ms max=23.93ms within=43.59%"),
    ];
    for (rule, text) in speaks {
        assert!(codes(text).contains(&rule), "`{rule}` says nothing of `{text}`: {:?}", codes(text));
    }
}

#[test]
fn a_sound_run_holds_nothing_that_cannot_be_true() {
    let sound = [
        "wrk users=40 threads=2 mean=19.80ms sd=4.10ms max=61.00ms p50=19.10ms p90=24.00ms p99=33.00ms \
         requests=20100 duration=10.01s rate=2008.00 thread_rate=1004.00 thread_max=1200.00",
        "ab users=10 requests=5000 duration=2.500s rate=2000.00 each=0.500ms mean=5ms min=1ms max=40ms \
         connect=0ms processing=5ms sd=2.1ms p50=5ms p90=7ms p99=11ms errors=0 kept=4990",
        "k6 users=20 requests=6000 duration=30.1s rate=199.4 mean=98.20ms min=90.10ms p50=97.70ms p90=104.00ms \
         p95=107.00ms max=201.00ms errors=0 share=0.00% iterations=6000",
        "jmeter users=50 loops=200 requests=10000 rate=812.0 mean=61ms min=3ms max=904ms p50=50ms p90=120ms \
         p95=170ms p99=300ms errors=12 share=0.12%",
    ];
    for text in sound {
        let audit = crate::row::fixture::found(vec![crate::row::fixture::row(text)]);
        let doubts: Vec<_> = audit
            .findings
            .iter()
            .filter(|f| f.rule != "no_tool_version")
            .map(|f| (f.rule, &f.arithmetic))
            .collect();
        assert!(doubts.is_empty(), "{text}: {doubts:?}");
    }
}
