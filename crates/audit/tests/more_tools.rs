//! Tools that print less common layouts: each is read, and never as another tool. Outputs in files were printed by the
//! tools themselves; those in the text follow formats of older versions, with made-up figures.

use plimsoll_audit::foreign::{Document, Measure, Tool, read};
use plimsoll_audit::{Grade, audit};
use std::path::Path;

const P99: Measure = Measure::Percentile(9_900);

fn file(name: &str) -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign/sound").join(name);
    read(name, &std::fs::read_to_string(path).expect("the file is committed"))
}

fn value(document: &Document, row: usize, measure: Measure) -> Option<f64> {
    document.rows.get(row)?.figures.get(&measure).map(|f| f.value)
}

fn impossible(text: &str) -> Vec<&'static str> {
    rules(text, Grade::Impossible)
}

fn rules(text: &str, grade: Grade) -> Vec<&'static str> {
    let found = audit(&[read("run.txt", text)]).findings.into_iter().filter(|f| f.grade == grade);
    found.flat_map(|f| [f.rule].into_iter().chain(f.also)).collect()
}

/// Contradictions, also those of an excerpt.
fn wrong(text: &str) -> Vec<&'static str> {
    [impossible(text), rules(text, Grade::Implausible)].concat()
}

/// A file, its tool, and figures of its first row.
type Case = (&'static str, Tool, &'static [(Measure, f64)]);

#[test]
fn each_tool_is_read_as_itself() {
    let cases: &[Case] = &[
        ("siege-text.txt", Tool::Siege, &[(Measure::Requests, 49_715.0), (Measure::Duration, 2.65)]),
        ("siege-object.txt", Tool::Siege, &[(Measure::Requests, 9_073.0), (Measure::Rate, 3_275.45)]),
        ("siege-404.txt", Tool::Siege, &[(Measure::Requests, 100.0), (Measure::Non2xx, 100.0)]),
        ("h2load-count.txt", Tool::H2load, &[(Measure::Users, 10.0), (Measure::Mean, 5.64e-3)]),
        ("h2load-seconds.txt", Tool::H2load, &[(Measure::Requests, 5_005.0), (Measure::Errors, 5.0)]),
        (
            "autocannon.txt",
            Tool::Autocannon,
            &[(Measure::Users, 5.0), (P99, 0.028), (Measure::Rate, 2_868.34)],
        ),
        ("autocannon-pipeline.txt", Tool::Autocannon, &[(Measure::Users, 20.0)]),
        ("autocannon-404.txt", Tool::Autocannon, &[(Measure::Non2xx, 80_630.0)]),
        ("autocannon.json", Tool::Autocannon, &[(Measure::Requests, 6_277.0), (P99, 0.026)]),
        ("bombardier.txt", Tool::Bombardier, &[(Measure::Requests, 184_319.0), (P99, 225e-6)]),
        ("bombardier-404.txt", Tool::Bombardier, &[(Measure::Non2xx, 500.0)]),
        (
            "locust-summary.txt",
            Tool::Locust,
            &[(Measure::Requests, 329.0), (Measure::Errors, 329.0), (P99, 0.011)],
        ),
        ("vegeta-plain.txt", Tool::Vegeta, &[(Measure::OfferedRate, 200.47), (Measure::Rate, 200.46)]),
        ("vegeta-plain.json", Tool::Vegeta, &[(Measure::Requests, 400.0)]),
        ("hey-old.txt", Tool::Hey, &[]),
    ];
    for (name, tool, figures) in cases {
        let document = file(name);
        assert!(document.unread.is_empty(), "{name}: {:?}", document.unread);
        assert_eq!(document.rows[0].tool, Some(*tool), "{name}");
        for (measure, expected) in *figures {
            let found = value(&document, 0, *measure);
            assert!(
                found.is_some_and(|v| (v - expected).abs() <= expected * 1e-9),
                "{name}: {measure:?} {found:?}"
            );
        }
    }
    assert_eq!(file("locust-summary.txt").rows.len(), 3, "each name once");
}

const GATLING: &str = "---- Global Information --------------------------------------------------------
> request count                                      10000 (OK=9990   KO=10    )
> min response time                                     12 (OK=12     KO=15    )
> max response time                                   1234 (OK=1234   KO=900   )
> mean response time                                    84 (OK=84     KO=300   )
> std deviation                                         61 (OK=60     KO=200   )
> response time 50th percentile                         70 (OK=70     KO=250   )
> response time 75th percentile                         99 (OK=99     KO=400   )
> response time 95th percentile                        190 (OK=189    KO=800   )
> response time 99th percentile                        320 (OK=318    KO=890   )
> mean requests/sec                                166.667 (OK=166.5  KO=0.167 )
---- Response Time Distribution ------------------------------------------------
> t < 800 ms                                          9970 (100%)
> 800 ms < t < 1200 ms                                  18 (  0%)
> t > 1200 ms                                            2 (  0%)
> failed                                                10 (  0%)
";

#[test]
fn the_statistics_of_gatling_add_up() {
    let document = read("g.txt", GATLING);
    assert_eq!((document.rows.len(), document.rows[0].tool), (1, Some(Tool::Gatling)));
    assert_eq!((value(&document, 0, Measure::Mean), value(&document, 0, P99)), (Some(0.084), Some(0.32)));
    assert_eq!(impossible(GATLING), Vec::<&str>::new());
    for (from, to, rule) in [
        ("OK=9990 ", "OK=9790 ", "successes_and_errors_differ"),
        ("9970 (100%)", "9790 (100%)", "groups_differ_from_whole"),
        ("190 (OK=189", "390 (OK=389", "percentiles_out_of_order"),
        (
            "mean response time                                    84",
            "mean response time                                  2084",
            "mean_outside_extremes",
        ),
    ] {
        assert!(GATLING.contains(from), "{from}");
        assert!(wrong(&GATLING.replace(from, to)).contains(&rule), "{from} to {to}: {rule}");
    }
    // Without failures, both columns are of one list of times; each draws its percentiles anew.
    let sound = GATLING.replace("OK=9990   KO=10 ", "OK=10000  KO=0  ").replace("failed    ", "> t > 9 s ");
    let sound = sound.lines().map(|line| match (line.split_once("(OK="), line.contains("count")) {
        (Some((all, _)), false) => {
            let figure = all.split_whitespace().last().unwrap_or("");
            format!("{all}(OK={figure:<7}KO=-     )\n")
        }
        _ => format!("{line}\n"),
    });
    let sound: String = sound.collect();
    let later = sound.replace("(OK=320 ", "(OK=319 ");
    assert!(later != sound && impossible(&later).is_empty(), "{:?}", impossible(&later));
    let other = sound.replace("(OK=84 ", "(OK=83 ");
    assert!(other != sound && impossible(&other).contains(&"subset_differs"), "{:?}", impossible(&other));
    // Since 3.10 the values stand in columns between bars.
    let columns = "> request count                                |    10,000 |     9,990 |        10\n\
                   > min response time (ms)                       |        12 |        12 |        15\n\
                   > max response time (ms)                       |     1,234 |     1,234 |       900\n\
                   > mean response time (ms)                      |        84 |        84 |       300\n\
                   > mean throughput (rps)                        |    166.67 |     166.5 |      0.17\n";
    let document = read("g.txt", columns);
    assert_eq!(
        (value(&document, 0, Measure::Requests), value(&document, 0, Measure::Errors)),
        (Some(10_000.0), Some(10.0))
    );
    let line = |name: &str, total: u32, ok: u32, ko: u32| {
        format!("\"{name}\":{{\"total\":{total},\"ok\":{ok},\"ko\":{ko}}}")
    };
    let json = format!(
        "{{\"name\":\"All Requests\",\"stats\":{{{},{},{},{},{}}},\"contents\":{{}}}}",
        line("numberOfRequests", 500, 490, 10),
        line("minResponseTime", 5, 5, 6),
        line("maxResponseTime", 90, 90, 80),
        line("meanResponseTime", 20, 20, 30),
        line("meanNumberOfRequestsPerSecond", 50, 49, 1)
    );
    let document = read("stats.json", &json);
    assert_eq!((document.rows.len(), value(&document, 0, Measure::Max)), (1, Some(0.09)));
}

#[test]
fn siege_is_held_against_its_own_definitions() {
    let text = "Transactions:\t\t       21711 hits\nAvailability:\t\t      100.00 %\n\
              Elapsed time:\t\t       59.21 secs\n\
                Data transferred:\t       12.34 MB\nResponse time:\t\t        0.13 secs\n\
                Transaction rate:\t      366.68 trans/sec\n\
                Throughput:\t\t        0.21 MB/sec\nConcurrency:\t\t       47.67\n\
                Successful transactions:       14471\n\
                Failed transactions:\t           0\nLongest transaction:\t        1.23\n\
                Shortest transaction:\t        0.01\n";
    assert_eq!(impossible(text), Vec::<&str>::new());
    // 7,240 transactions are neither successful nor failed: redirects, or errors. None successful is both.
    let speaks = |text: &str, rule| audit(&[read("siege.txt", text)]).findings.iter().any(|f| f.rule == rule);
    assert!(!speaks(text, "failures_in_the_times"));
    assert!(speaks(&text.replace("14471", "0"), "every_answer_failed"));
    for (from, to, rule) in [
        ("366.68", "266.68", "rate_is_not_count_over_time"),
        ("47.67", "97.67", "siege_figures_differ"),
        ("100.00 %", "95.00 %", "siege_figures_differ"),
        ("0.13 secs", "3.13 secs", "mean_outside_extremes"),
        ("0.21 MB/sec", "0.61 MB/sec", "bytes_are_not_rate_times_time"),
    ] {
        assert!(impossible(&text.replace(from, to)).contains(&rule), "{from} to {to}");
    }
}

#[test]
fn artillery_rewrk_and_ghz_are_read() {
    let artillery = "--------------------------------\nSummary report @ 14:49:52(+0000)\n\
              --------------------------------\n\n\
                     http.codes.200: ......... 290\nhttp.codes.503: ......... 10\nhttp.request_rate: ...... 10/sec\n\
                     http.requests: .......... 300\nhttp.response_time:\n  min: .................. 3\n\
                     \u{20} max: .................. 120\n\
                     \u{20} median: ............... 7\n  p95: .................. 40.9\n\
                     \u{20} p99: .................. 80.6\n\
                     http.responses: ......... 300\nvusers.completed: ....... 300\nvusers.created: ......... 300\n";
    let document = read("a.txt", artillery);
    assert_eq!(
        (document.rows[0].tool, value(&document, 0, Measure::Non2xx)),
        (Some(Tool::Artillery), Some(10.0))
    );
    assert_eq!(impossible(artillery), Vec::<&str>::new());
    assert!(
        wrong(&artillery.replace("503: ......... 10", "503: ......... 19"))
            .contains(&"groups_differ_from_whole")
    );
    let rewrk = "Beginning round 1...\nBenchmarking 100 connections @ http://127.0.0.1:8080 for 10 second(s)\n\
              \u{20} Latencies:\n\
                 \u{20}   Avg      Stdev    Min      Max\n    0.80ms   0.12ms   0.03ms   11.20ms\n  Requests:\n\
                 \u{20}   Total: 1234567 Req/Sec: 123456.78\n  Transfer:\n\
                 \u{20}   Total: 123.40 MB Transfer Rate: 12.34 MB/Sec\n";
    let document = read("r.txt", rewrk);
    assert_eq!(
        (document.rows[0].tool, value(&document, 0, Measure::Mean)),
        (Some(Tool::Rewrk), Some(0.8e-3))
    );
    assert_eq!(impossible(rewrk), Vec::<&str>::new());
    assert!(wrong(&rewrk.replace("0.80ms", "1.80ms")).contains(&"more_in_flight_than_users"));
    let ghz = "Summary:\n  Count:\t2000\n  Total:\t345.52 ms\n  Slowest:\t15.41 ms\n  Fastest:\t0.66 ms\n\
              \u{20} Average:\t6.83 ms\n\
               \u{20} Requests/sec:\t5788.35\n\nResponse time histogram:\n  0.664 [1]\t|\n  8.000 [1500]\t|∎∎∎\n\
               \u{20} 15.410 [499]\t|∎\n\n\
               Latency distribution:\n  50 % in 6.78 ms\n  95 % in 10.65 ms\n  99 % in 12.14 ms\n\n\
               Status code distribution:\n  [OK]\t2000 responses\n";
    let document = read("g.txt", ghz);
    assert_eq!((document.rows[0].tool, value(&document, 0, Measure::Errors)), (Some(Tool::Ghz), Some(0.0)));
    assert_eq!(impossible(ghz), Vec::<&str>::new());
    assert!(wrong(&ghz.replace("8.000 [1500]", "8.000 [1700]")).contains(&"histogram_differs"));
}
