//! What tools print, version by version, by the printing code of each: the figures are made up, the layout is theirs.

use plimsoll_audit::foreign::{Measure as M, Tool, read};
use plimsoll_audit::{Grade, audit};

const P50: M = M::Percentile(5_000);
const P95: M = M::Percentile(9_500);
const P99: M = M::Percentile(9_900);

/// Tool and version, text, figures of the first row.
type Shape = (Tool, &'static str, &'static str, &'static [(M, f64)]);

const SHAPES: &[Shape] = &[
    (
        Tool::Wrk,
        "wrk 1",
        "Making 100000 requests to http://10.0.0.1/json\n  4 threads and 256 connections\n  Thread Stats   Avg      S\
         tdev     Max   +/- Stdev\n    Latency     7.81ms    6.15ms  26.54ms   70.00%\n    Req/Sec     3.44k     2.58\
         k    7.00k    66.75%\n  100000 requests in 7.26s, 13.35MB read\nRequests/sec:  13769.23\nTransfer/sec:      \
         1.84MB\n",
        &[(M::Users, 256.0), (M::Requests, 1e5), (M::Mean, 7.81e-3)],
    ),
    (
        Tool::Wrk,
        "the end of wrk",
        "  11708 requests in 10.00s, 2.40MB read\nRequests/sec:   1170.78\nTransfer/sec:    245.82KB\n",
        &[(M::Requests, 11_708.0), (M::Rate, 1_170.78)],
    ),
    (
        Tool::Wrk,
        "wrk below docker compose",
        "bench_1  | Running 5s test @ http://app:5000\nbench_1  |   12 threads and 400 connections\nbench_1  |   380\
         0 requests in 5.00s, 622.84KB read\nbench_1  | Requests/sec:    760.00\nbench_1  | Transfer/sec:    124.57KB\
         \n",
        &[(M::Users, 400.0), (M::Rate, 760.0)],
    ),
    (
        Tool::Oha,
        "oha 0.4 with a ratio",
        "Summary:\n  Success rate:\t1.0000\n  Total:\t2.0000 secs\n  Slowest:\t0.0120 secs\n  Fastest:\t0.0010 secs\
         \n  Average:\t0.0050 secs\n  Requests/sec:\t500.0000\n\n  Total data:\t9.77 KiB\n  Size/request:\t10 B\n  Si\
         ze/sec:\t4.88 KiB\n\nResponse time histogram:\n  0.001 [1] |\n  0.006 [600] |■■■\n  0.012 [399] |■■\n\nStatu\
         s code distribution:\n  [200] 1000 responses\n",
        &[(M::Requests, 1e3), (M::Mean, 5e-3)],
    ),
    (
        Tool::Oha,
        "oha 1 with parts",
        "Summary:\n  Success rate:\t100.00%\n  Total:\t2000.0000 ms\n  Slowest:\t12.0000 ms\n  Fastest:\t1.0000 ms\
         \n  Average:\t5.0000 ms\n  Requests/sec:\t500.0000\n\n  Total data:\t9.77 KiB\n  Size/request:\t10 B\n  Size\
         /sec:\t4.88 KiB\n\nResponse time histogram:\n   1.000 ms [1]   |\n   6.000 ms [600] |■■■\n  12.000 ms [399] \
         |■■\n\nResponse time distribution:\n  50.00% in 4.9000 ms\n  99.00% in 11.0000 ms\n\nResponse time histogra\
         m (2xx only):\n   1.000 ms [1]   |\n   6.000 ms [500] |■■■\n\nResponse time distribution (2xx only):\n  50.0\
         0% in 3.0000 ms\n\n\nDetails (average, fastest, slowest):\n  DNS+dialup:\t0.5000 ms, 0.4000 ms, 0.6000 ms\n\
         \nStatus code distribution:\n  [200] 501 responses\n  [500] 499 responses\n",
        &[(M::Requests, 1e3), (P50, 4.9e-3), (P99, 11e-3), (M::Non2xx, 499.0)],
    ),
    (
        Tool::H2load,
        "h2load 1.66",
        "finished in 2.50s, 400.00 req/s, 62.50KB/s\nrequests: 1000 total, 1000 started, 1000 done, 1000 succeeded, \
         0 failed, 0 errored, 0 timeout\nstatus codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx\ntraffic: 156.25KB (160000) tota\
         l, 9.77KB (10000) headers (space savings 90.00%), 97.66KB (100000) data\n                 min         ma\
         x         median      p95         p99         mean        sd         +/- sd\nrequest     :      1.00ms     3\
         0.00ms      9.00ms     21.00ms     28.00ms     10.00ms      5.00ms    70.00%\nconnect     :      1.00m\
         s      3.00ms      2.00ms      3.00ms      3.00ms      2.00ms       500us    60.00%\nTTFB        :      5.00\
         ms      9.00ms      7.00ms      9.00ms      9.00ms      7.00ms      1.00ms    60.00%\nreq/s       :       40\
         .00       41.00       40.00       41.00       41.00       40.10        0.30    60.00%\n",
        &[(M::Mean, 10e-3), (P50, 9e-3), (P95, 21e-3), (M::StdDev, 5e-3), (M::ConnectMean, 2e-3)],
    ),
    (
        Tool::Siege,
        "siege.log",
        "      Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time,  Trans Rate,  Throughput,  Concurrent,    OK\
         AY,   Failed\n2024-05-01 10:00:00,   1000,       9.98,           2,       0.05,      100.20,        0.20\
         ,        5.01,    1000,       0\n2024-05-01 10:01:00,   2000,      10.00,           4,       0.10,      200.\
         00,        0.40,       20.00,    2000,       0\n",
        &[(M::Requests, 1e3), (M::Duration, 9.98), (M::Mean, 0.05)],
    ),
    (
        Tool::Fortio,
        "fortio",
        "Fortio 1.60.3 running at 8 queries per second, 8->8 procs, for 5s: http://a.example\nStarting at 8 qps with \
         4 thread(s) [gomax 8] for 5s : 10 calls each (total 40)\nEnded after 5.098196115s : 40 calls. qps=7.8459\nSl\
         eep times : count 36 avg 0.46568594 +/- 0.0106 min 0.436353622 max 0.482935658 sum 16.7646938\nAggregated Fu\
         nction Time : count 40 avg 0.08815966 +/- 0.01111 min 0.071791544 max 0.118569671 sum 3.5263864\n# range, mi\
         d point, percentile, count\n>= 0.0717915 <= 0.08 , 0.0758957 , 27.50, 11\n> 0.08 <= 0.09 , 0.085 , 60.00, 13\
         \n> 0.09 <= 0.1 , 0.095 , 87.50, 11\n> 0.1 <= 0.11857 , 0.109285 , 100.00, 5\n# target 50% 0.0869231\n# targ\
         et 99% 0.117084\nError cases : no data\nSockets used: 4 (for perfect keepalive, would be 4)\nCode 200 : 38 (\
         95.0 %)\nCode 503 : 2 (5.0 %)\nResponse Header Sizes : count 40 avg 230 +/- 0 min 230 max 230 sum 9200\nAll \
         done 40 calls (plus 4 warmup) 88.160 ms avg, 7.8 qps\n",
        &[(M::Users, 4.0), (M::OfferedRate, 8.0), (P99, 0.117084), (M::Non2xx, 2.0), (M::Mean, 0.08815966)],
    ),
    (
        Tool::Fortio,
        "the end of fortio",
        "Code 200 : 750 (100.0 %)\nAll done 750 calls, 155.740 ms avg, 25.0 qps\n# target 50% 0.181831\n",
        &[(M::Requests, 750.0), (M::Rate, 25.0), (M::Mean, 0.15574)],
    ),
    (
        Tool::Gatling,
        "Gatling 3.12",
        "---- Global Information -------------------------------------|---Total---|-----OK----|----KO----\n> request \
         count                                               |     1,000 |       990 |        10\n> min response tim\
         e (ms)    |         2 |         2 |         5\n> max response time (ms\
         )                                      |       900 |       900 |       300\n> mean response time (ms\
         )                                     |        45 |        45 |        50\n> response time std deviation (ms\
         )                            |        60 |        60 |        40\n> mean throughput (rps\
         )                                       |      50.5 |        50 |       0.5\n---- Response Time Distributio\
         n ----------------------------------------------------\n> OK: t < 800 ms                                   9\
         80 (98.0%)\n> OK: 800 ms <= t < 1200 ms                             10 (1.0%)\n> OK: t >= 1200 ms    0 (0.0%\
         )\n> KO                                                     10 (1.0%)\n",
        &[(M::Requests, 1e3), (M::Errors, 10.0), (M::Mean, 0.045), (M::Max, 0.9)],
    ),
    (
        Tool::Jmeter,
        "JMeter 2.4",
        "Generate Summary Results +     50 in   5.0s =   10.0/s Avg:    95 Min:    31 Max:   502 Err:     0 (0.00%)\n\
         Generate Summary Results =    100 in  10.0s =   10.0/s Avg:    98 Min:    31 Max:   502 Err:     1 (1.00%)\n\
         ",
        &[(M::Requests, 100.0), (M::Errors, 1.0), (M::Mean, 0.098)],
    ),
    (
        Tool::Autocannon,
        "autocannon with statuses and percentiles",
        "Running 10s test @ http://localhost:3000\n10 connections\n\n┌─────────┬──────┬──────┬───────┬──────┬────────\
         ─┬─────────┬───────┐\n│ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg     │ Stdev   │ Max   │\n├─────────┼─────\
         ─┼──────┼───────┼──────┼─────────┼─────────┼───────┤\n│ Latency │ 1 ms │ 2 ms │ 4 ms  │ 5 ms │ 2.10 ms │ 0.5\
         0 ms │ 20 ms │\n└─────────┴──────┴──────┴───────┴──────┴─────────┴─────────┴───────┘\n┌───────────┬───────┬─\
         ──────┬───────┬───────┬───────┬──────┬───────┐\n│ Stat      │ 1%    │ 2.5%  │ 50%   │ 97.5% │ Avg   │ Stdev\
         │ Min   │\n├───────────┼───────┼───────┼───────┼───────┼───────┼──────┼───────┤\n│ Req/Sec   │ 4,000 │ 4,00\
         0 │ 4,500 │ 4,700 │ 4,500 │ 100  │ 4,000 │\n├───────────┼───────┼───────┼───────┼───────┼───────┼──────┼────\
         ───┤\n│ Bytes/Sec │ 1 MB  │ 1 MB  │ 1 MB  │ 1 MB  │ 1 MB  │ 1 kB │ 1 MB  │\n└───────────┴───────┴───────┴───\
         ────┴───────┴───────┴──────┴───────┘\n┌──────┬───────┐\n│ Code │ Count │\n├──────┼───────┤\n│ 200  │ 45000 │\
         \n└──────┴───────┘\n\nReq/Bytes counts sampled once per second.\n# of samples: 10\n\n45k requests in 10.02s\
         , 10 MB read\n",
        &[(M::Users, 10.0), (P99, 5e-3), (M::Rate, 4_500.0), (M::Requests, 45e3)],
    ),
    (
        Tool::Locust,
        "percentiles of Locust alone",
        "Response time percentiles (approximated)\nType     Name       50%    66%    75%    80%    90%    95%    98\
         %    99%  99.9% 99.99%   100% # reqs\n--------|---------|------|------|------|------|------|------|------|--\
         ----|------|------|------|------\nGET      /a          43     59     76     92    160    320    860   130\
         0   1800   2000   2100  11981\n--------|---------|------|------|------|------|------|------|------|------|--\
         ----|------|------|------\n         Aggregated  33     44     56     68    120    210    440    860   170\
         0   2000   2100  24000\n",
        &[(M::Requests, 11_981.0), (P50, 0.043), (M::Max, 2.1)],
    ),
    (
        Tool::Locust,
        "percentiles of Locust 0.8 alone",
        " Name          # reqs    50%    66%    75%    80%    90%    95%    98%    99%   100%\n----------------------\
         ----\n GET /             139    470    580    650    770   5200   6700   6700   6700   6732\n",
        &[(M::Requests, 139.0), (P50, 0.47), (M::Max, 6.732)],
    ),
    (
        Tool::Ghz,
        "ghz in JSON",
        "{\n  \"count\": 200,\n  \"total\": 181000000,\n  \"average\": 4000000,\n  \"fastest\": 1000000,\n  \"slowest\
         \": 9000000,\n  \"rps\": 1104.97,\n  \"statusCodeDistribution\": { \"OK\": 199, \"Unavailable\": 1 },\n  \"l\
         atencyDistribution\": [ { \"percentage\": 50, \"latency\": 4100000 }, { \"percentage\": 99, \"latency\": 800\
         0000 } ]\n}\n",
        &[(M::Requests, 200.0), (M::Mean, 4e-3), (P99, 8e-3), (M::Errors, 1.0)],
    ),
    (
        Tool::Bombardier,
        "bombardier in JSON",
        "{\"spec\":{\"numberOfConnections\":10,\"testType\":\"timed\",\"testDurationSeconds\":5,\"url\":\"http://a/b\
         \"},\"result\":{\"bytesRead\":1000000,\"bytesWritten\":1000,\"timeTakenSeconds\":5.0,\"req1xx\":0,\"req2xx\"\
         :50000,\"req3xx\":0,\"req4xx\":0,\"req5xx\":0,\"others\":0,\"latency\":{\"mean\":990.1,\"stddev\":400,\"max\
         \":9000,\"percentiles\":{\"50\":950,\"99\":2000}},\"rps\":{\"mean\":10000.5,\"stddev\":100,\"max\":12000}}}\
         \n",
        &[(M::Users, 10.0), (M::Requests, 5e4), (M::Mean, 990.1e-6), (P99, 2e-3)],
    ),
    (
        Tool::Artillery,
        "Artillery 2 in JSON",
        "{\"aggregate\":{\"counters\":{\"vusers.created\":10,\"http.requests\":100,\"http.codes.200\":90,\"http.codes\
         .500\":8,\"errors.ETIMEDOUT\":2,\"http.responses\":98},\"rates\":{\"http.request_rate\":10},\"summaries\":{\
         \"http.response_time\":{\"min\":5,\"max\":900,\"count\":98,\"mean\":60.5,\"median\":40.9,\"p95\":200.5,\"p99\
         \":800.1}}}}\n",
        &[(M::Requests, 100.0), (M::Non2xx, 8.0), (M::Errors, 2.0), (P95, 0.2005)],
    ),
];

#[test]
fn each_shape_is_read_as_its_tool() {
    for (tool, name, text, figures) in SHAPES {
        let document = read("report.md", text);
        let row =
            document.rows.first().unwrap_or_else(|| panic!("{name} is not read: {:?}", document.unread));
        assert_eq!(row.tool, Some(*tool), "{name}");
        assert!(document.unread.is_empty(), "{name}: {:?}", document.unread);
        for (measure, expected) in *figures {
            let found = row.figures.get(measure).map(|figure| figure.value);
            let is_right = found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9);
            assert!(is_right, "{name}: {measure:?} is {found:?}, not {expected}");
        }
    }
}

#[test]
fn no_sound_shape_is_called_impossible() {
    for (_, name, text, _) in SHAPES {
        let found = audit(&[read("report.md", text)]).findings;
        let wrong: Vec<_> = found.iter().filter(|f| f.grade == Grade::Impossible).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
}

/// The result of an unknown program is read by the names of its fields; a time without a unit is not read.
#[test]
fn json_of_unknown_programs_is_read_by_its_names() {
    let text = "{\"name\": \"first\", \"concurrency\": 10, \"requests\": 1000, \"rps\": 500.5, \"latency_ms\": {\"mea\
                n\": 12.5, \"p99\": 40}, \"ratio\": 3}";
    let document = read("run.json", text);
    let value = |m| document.rows[0].figures.get(&m).map(|f| f.value);
    assert_eq!((document.rows.len(), document.rows[0].label.as_str()), (1, "first"));
    assert_eq!(value(M::Rate), Some(500.5));
    assert_eq!((value(M::Mean), value(P99)), (Some(0.0125), Some(0.04)));
    let bare = read("run.json", &text.replace("_ms", ""));
    assert!(bare.rows.is_empty());
}

/// Columns that only spaces separate.
#[test]
fn columns_of_spaces_are_a_table() {
    let text = "```\nServer      Requests/sec   p99 (ms)   Errors\n----------  ------------   --------   ------\nfirs\
                t       1200.5         35         0\nsecond      900            50.5       2\n```\n";
    let document = read("report.md", text);
    assert_eq!(document.rows.len(), 2);
    assert_eq!(document.rows[1].figures[&P99].value, 0.0505);
}

/// vegeta's own rate is what was sent; the command says what was asked for.
#[test]
fn the_rate_of_a_command_of_vegeta_is_reached() {
    let text = "echo GET http://a/ | vegeta attack -rate=6000 -duration=20s | vegeta report\nRequests\t[total]\t12000\
                0\nDuration\t[total, attack, wait]\t1m57.97s, 1m57.92s, 48ms\nLatencies\t[mean, 50, 95, 99, max]\t28m\
                s, 29ms, 43ms, 206ms, 206ms\nBytes In\t[total, mean]\t6940836, 57.84\nSuccess\t[ratio]\t100.00%\nStat\
                us Codes\t[code:count]\t200:120000\n";
    let speaks = |text: &str| {
        audit(&[read("report.md", text)]).findings.iter().any(|f| f.rule == "offered_not_reached")
    };
    assert!(speaks(text));
    assert!(!speaks(&text.replace("rate=6000", "rate=1000")));
}

/// Forks of wrk2 have p99 where wrk has the maximum.
#[test]
fn the_column_of_p99_is_no_maximum() {
    let text = "user@host:~/bench$ ./wrk2/wrk -D exp -t 10 -c 100 -d 10 http://a:5000 -R 10000\nRunning 10s test @ ht\
                tp://a:5000\n  10 threads and 100 connections\n  Thread Stats   Avg      Stdev     99%   +/- Stdev\
                \n    Latency   189.65us   80.56us 319.00us   72.88%\n    Req/Sec     1.04k    83.30     1.22k    81.\
                84%\n  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%  180.00us\n 99.900%  500.00us\
                \n  54504 requests in 9.99s, 22.50MB read\nRequests/sec:   5453.90\nTransfer/sec:      2.25MB\n";
    let document = read("report.md", text);
    let figures = &document.rows[0].figures;
    assert_eq!((figures[&P99].value, figures.get(&M::Max)), (319e-6, None));
    let found = audit(&[document]).findings;
    assert!(found.iter().all(|finding| finding.grade != Grade::Impossible), "{found:?}");
    assert!(found.iter().any(|finding| finding.rule == "offered_not_reached"));
}
