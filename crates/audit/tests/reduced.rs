//! Results as people publish them, reduced to the figures that were once misread: where the audit has to speak, and
//! where it has to stay silent. All figures are retyped or made up.

use plimsoll_audit::foreign::{Document, Measure, Tool, read, read_from};
use plimsoll_audit::{Grade, audit};

fn rules(name: &str, text: &str, grade: Grade) -> Vec<&'static str> {
    let found = audit(&[read(name, text)]).findings.into_iter().filter(|f| f.grade == grade);
    found.flat_map(|f| [f.rule].into_iter().chain(f.also)).collect()
}

fn impossible(name: &str, text: &str) -> Vec<&'static str> {
    rules(name, text, Grade::Impossible)
}

fn doubts(name: &str, text: &str) -> Vec<&'static str> {
    rules(name, text, Grade::Implausible)
}

fn value(document: &Document, row: usize, measure: Measure) -> Option<f64> {
    document.rows.get(row)?.figures.get(&measure).map(|f| f.value)
}

const AGGREGATE: &str = "Label,# Samples,Average,Median,90% Line,Min,Max,Error %,Throughput,Received KB/sec
Login,60,301,290,400,201,512,0.000%,.07771,0.32
Search,60,250,240,300,101,412,0.000%,3.87,0.32
TOTAL,120,275,250,380,101,512,0.000%,3.95,0.64
";

#[test]
fn a_leading_decimal_point_is_a_point() {
    let document = read("aggregate.csv", AGGREGATE);
    assert_eq!(value(&document, 0, Measure::Rate), Some(0.07771));
    assert!(!doubts("aggregate.csv", AGGREGATE).contains(&"parts_exceed_total"));
    let shifted = AGGREGATE.replace(".07771", "7771");
    assert!(doubts("aggregate.csv", &shifted).contains(&"parts_exceed_total"));
    let comma = "Label;# Samples;Average;Min;Max;Error %;Throughput\nLogin;60;301;201;512;0,00%;\",16005\"\n";
    assert_eq!(value(&read("a.csv", comma), 0, Measure::Rate), Some(0.16005));
}

#[test]
fn users_around_a_table_meet_rates_below_one() {
    let text = |rate: &str| {
        format!(
            "Load: 10 users.\n\n| Label | # Samples | Average | Min | Max | Error % | Throughput |\n\
             |---|---|---|---|---|---|---|\n| Login | 60 | 301 | 201 | 512 | 0.000% | {rate} |\n"
        )
    };
    assert_eq!(impossible("r.md", &text(".50000")), Vec::<&str>::new());
    assert!(doubts("r.md", &text("50.000")).contains(&"more_in_flight_than_stated"));
}

#[test]
fn thousands_are_separated_in_many_ways() {
    let table = |cell: &str| {
        let text = format!("| users | requests | mean (ms) |\n|---|---|---|\n| 10 | {cell} | 12 |\n");
        value(&read("t.md", &text), 0, Measure::Requests)
    };
    for (cell, expected) in [
        ("12 345", 12_345.0),
        ("1\u{a0}234\u{a0}567", 1_234_567.0),
        ("1\u{202f}234", 1_234.0),
        ("1'234'567", 1_234_567.0),
        ("12,34,567", 1_234_567.0),
        ("13.2万", 132_000.0),
        ("1.2M", 1_200_000.0),
    ] {
        assert_eq!(table(cell), Some(expected), "{cell}");
    }
    // Two numbers in one cell are not one grouped number.
    assert_eq!(table("12 34"), Some(12.0));
}

#[test]
fn durations_are_read_in_other_languages_and_never_guessed() {
    let table = |cell: &str| {
        let text = format!(
            "| users | duration | requests | rate |\n|---|---|---|---|\n| 10 | {cell} | 19300 | 100 |\n"
        );
        (value(&read("t.md", &text), 0, Measure::Duration), read("t.md", &text).unread.len())
    };
    for cell in [
        "3 menit 13 detik",
        "3 Minuten 13 Sekunden",
        "3 мин 13 с",
        "3 minutos y 13 segundos",
        "3分13秒",
        "193 s",
    ] {
        assert_eq!(table(cell), (Some(193.0), 0), "{cell}");
    }
    // What is not known is not read, and said.
    assert_eq!(table("3 lunas"), (None, 1));
}

#[test]
fn a_range_of_levels_is_no_level() {
    for cell in ["100→1000", "100 -> 1000", "100..1000", "100~1000", "100–1000"] {
        let text = format!("| users | rate | mean (ms) |\n|---|---|---|\n| {cell} | 5000 | 100 |\n");
        assert_eq!(value(&read("t.md", &text), 0, Measure::Users), None, "{cell}");
        assert_eq!(impossible("t.md", &text), Vec::<&str>::new(), "{cell}");
    }
    let text = "| users | rate | mean (ms) |\n|---|---|---|\n| 100 | 5000 | 100 |\n";
    assert!(doubts("t.md", text).contains(&"more_in_flight_than_users"));
}

#[test]
fn the_number_of_a_thread_group_is_no_number_of_users() {
    let table = "| Label | # Samples | Average | Min | Max | Throughput |\n|---|---|---|---|---|---|\n\
                 | Login | 6000 | 301 | 201 | 512 | 50.0/sec |\n";
    assert_eq!(impossible("t.md", &format!("# Thread Group - 2\n\n{table}")), Vec::<&str>::new());
    assert!(doubts("t.md", &format!("# 2 users\n\n{table}")).contains(&"more_in_flight_than_stated"));
}

#[test]
fn a_mean_below_a_heading_of_rates_is_a_rate() {
    let two_rows = "| Endpoint | Requests per second | | Latency | |\n|---|---|---|---|---|\n\
                    | | Mean | Max | Mean | p99 |\n| /a | 1200 | 1300 | 41 | 90 |\n| /b | 1500 | 1600 | 33 | 80 |\n";
    let document = read("t.md", two_rows);
    assert_eq!(
        (value(&document, 0, Measure::Rate), value(&document, 0, Measure::Mean)),
        (Some(1_200.0), Some(0.041))
    );
    let section = "# Requests per second\n\n| Framework | Mean | Max |\n|---|---|---|\n| a | 41200 | 51300 |\n\
                   | b | 900 | 800 |\n";
    let document = read("t.md", section);
    assert_eq!(
        (value(&document, 0, Measure::Rate), value(&document, 0, Measure::Mean)),
        (Some(41_200.0), None)
    );
}

const VEGETA: &str = "Requests      [total, rate, throughput]         100, 50.57, 24.76
Duration      [total, attack, wait]             3.837s, 1.977s, 1.86s
Latencies     [min, mean, 50, 90, 95, 99, max]  10.2ms, 500ms, 400ms, 900ms, 1s, 1.7s, 1.86s
Bytes In      [total, mean]                     9500, 95.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           95.00%
Status Codes  [code:count]                      0:5  200:95
Error Set:
Get \"http://127.0.0.1:8080/\": EOF
";

#[test]
fn the_throughput_of_vegeta_counts_successes_only() {
    assert_eq!(impossible("v.txt", VEGETA), Vec::<&str>::new());
    // 100 / 3.837 s: right for a tool that counts failures too.
    assert_eq!(impossible("v.txt", &VEGETA.replace("24.76", "26.06")), ["rate_is_not_count_over_time"]);
    assert_eq!(impossible("v.txt", &VEGETA.replace("50.57", "70.57")), ["vegeta_times_differ"]);
    assert_eq!(
        impossible("v.txt", &VEGETA.replace("1.977s, 1.86s", "1.977s, 1.36s")),
        ["vegeta_times_differ"]
    );
    // Successes per second need nothing taken off.
    let half =
        VEGETA.replace("95.00%", "80.00%").replace("0:5  200:95", "0:20  200:80").replace("24.76", "20.85");
    let found = audit(&[read("v.txt", &half)]);
    let mixture = found.findings.iter().find(|f| f.rule == "failures_in_the_times").expect("20% failed");
    assert!(mixture.arithmetic.is_empty(), "{:?}", mixture.arithmetic);
}

const WRK2: &str = "Running 30s test @ http://127.0.0.1:8080/
  4 threads and 100 connections
  Thread calibration: mean lat.: 10.123ms, rate sampling interval: 50ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.53ms  602.01us   9.96ms   71.43%
    Req/Sec   503.21     95.21     1.10k    78.11%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.52ms
 99.000%    3.12ms
 99.999%    9.97ms
100.000%    9.97ms
----------------------------------------------------------
  59894 requests in 30.00s, 6.97MB read
Requests/sec:   1996.43
Transfer/sec:    237.86KB
";

#[test]
fn a_paced_run_of_wrk2_is_neither_idle_nor_wrk() {
    assert_eq!(read("w.txt", WRK2).rows[0].tool, Some(Tool::Wrk2));
    assert!(!doubts("w.txt", WRK2).contains(&"users_idle"));
    // Three digits of an HDR histogram lie between these two.
    assert_eq!(impossible("w.txt", WRK2), Vec::<&str>::new());
    assert_eq!(
        impossible("w.txt", &WRK2.replace(" 99.999%    9.97ms", " 99.999%   10.97ms")),
        ["percentiles_out_of_order"]
    );
    let wrk = WRK2.replace("  Thread calibration: mean lat.: 10.123ms, rate sampling interval: 50ms\n", "");
    let wrk = wrk.replace(" (HdrHistogram - Recorded Latency)", "");
    assert_eq!(read("w.txt", &wrk).rows[0].tool, Some(Tool::Wrk));
    assert!(doubts("w.txt", &wrk).contains(&"users_idle"));
}

#[test]
fn rates_that_were_asked_for_are_no_repeats() {
    let run = |rate: u32, achieved: f64| {
        let output = WRK2
            .replace("1996.43", &format!("{achieved:.2}"))
            .replace("59894 requests", &format!("{:.0} requests", achieved * 30.0));
        format!("```\n$ wrk -t4 -c100 -d30s -R{rate} --latency http://127.0.0.1:8080/\n{output}```\n\n")
    };
    let text = run(40_000, 39_964.43) + &run(80_000, 53_298.43);
    assert!(!doubts("w.md", &text).contains(&"noise_between_equal_runs"));
    let text = run(40_000, 39_964.43) + &run(40_000, 33_298.43);
    assert!(doubts("w.md", &text).contains(&"noise_between_equal_runs"));
}

const PIPELINE: &str = "$ wrk -t4 -c128 -d10s -s pipeline.lua http://127.0.0.1:8080/ -- / 16
Running 10s test @ http://127.0.0.1:8080/
  4 threads and 128 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.40ms    1.02ms  29.96ms   91.43%
    Req/Sec   359.21k    15.21k   410.10k    78.11%
  14449377 requests in 10.10s, 1.70GB read
Requests/sec: 1430632.37
Transfer/sec:    172.86MB
";

#[test]
fn a_pipeline_multiplies_what_is_in_flight() {
    assert!(!doubts("w.txt", PIPELINE).contains(&"made_up_samples"));
    // 1,430,632/s x 1.4 ms = 2,003 > 1.25 x 128 x 8
    assert!(doubts("w.txt", &PIPELINE.replace("-- / 16", "-- / 8")).contains(&"made_up_samples"));
    assert!(!doubts("w.txt", &PIPELINE.replace(" -- / 16", "")).contains(&"made_up_samples"));
    let plain = PIPELINE.replace("-s pipeline.lua ", "").replace(" -- / 16", "");
    assert!(doubts("w.txt", &plain).contains(&"made_up_samples"));
}

/// Two labels of one run; `Login` is called at the start and at the end only.
fn samples() -> String {
    let mut rows: Vec<(u64, u64, &str, u32)> =
        (0..600).map(|i| (i * 100, 20 + (i * 7) % 41, "Search", 500)).collect();
    rows.extend([0, 1, 2, 300, 301, 302, 598, 599].map(|i| (i * 100 + 3, 25, "Login", 5_000)));
    rows.sort_unstable();
    let header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,\
                  grpThreads,allThreads,Latency,Connect\n";
    rows.iter().fold(header.to_owned(), |text, (at, took, label, bytes)| {
        let start = 1_600_000_000_000 + at;
        text + &format!("{start},{took},{label},200,OK,Group 1-1,true,{bytes},100,5,5,{took},0\n")
    })
}

#[test]
fn labels_of_one_run_are_neither_repeats_nor_runs() {
    let found = doubts("run.jtl", &samples());
    for rule in ["noise_between_equal_runs", "runs_appended", "answers_differ", "percentile_of_few_samples"] {
        assert!(!found.contains(&rule), "{rule} in {found:?}");
    }
    // The same file twice, an hour apart, is two runs.
    let text = samples();
    let (header, rows) = text.split_once('\n').expect("a header");
    let again = rows.replace("160000", "160004");
    assert!(doubts("run.jtl", &format!("{header}\n{rows}{again}")).contains(&"runs_appended"));
}

const HEY: &str = "Summary:
  Total:\t5.0021 secs
  Slowest:\t0.0894 secs
  Fastest:\t0.0021 secs
  Average:\t0.0101 secs
  Requests/sec:\t4930.1234

  Total data:\t320580 bytes
  Size/request:\t13 bytes

Response time histogram:
  0.002 [1]\t|
  0.011 [16000]\t|■■■■■■■■
  0.020 [7100]\t|■■■
  0.028 [1400]\t|■
  0.037 [100]\t|
  0.046 [30]\t|
  0.055 [10]\t|
  0.063 [10]\t|
  0.072 [5]\t|
  0.081 [2]\t|
  0.089 [2]\t|


Latency distribution:
  10% in 0.0051 secs
  25% in 0.0071 secs
  50% in 0.0091 secs
  75% in 0.0121 secs
  90% in 0.0161 secs
  95% in 0.0201 secs
  99% in 0.0261 secs

Details (average, fastest, slowest):
  DNS+dialup:\t0.0001 secs, 0.0021 secs, 0.0894 secs
  DNS-lookup:\t0.0000 secs, 0.0000 secs, 0.0051 secs
  req write:\t0.0000 secs, 0.0000 secs, 0.0021 secs
  resp wait:\t0.0091 secs, 0.0020 secs, 0.0894 secs
  resp read:\t0.0001 secs, 0.0000 secs, 0.0041 secs

Status code distribution:
  [200]\t24660 responses
";

#[test]
fn the_report_of_hey_agrees_with_itself() {
    // Its line `DNS+dialup` repeats fastest and slowest of the request: a mistake of hey's, and no contradiction.
    assert_eq!(impossible("h.txt", HEY), Vec::<&str>::new());
    for (from, to, rule) in [
        ("0.011 [16000]", "0.011 [19000]", "histogram_differs"),
        ("50% in 0.0091", "50% in 0.0121", "histogram_differs"),
        ("99% in 0.0261", "99% in 0.0761", "histogram_differs"),
        ("Size/request:\t13", "Size/request:\t15", "size_per_request_wrong"),
        ("Slowest:\t0.0894", "Slowest:\t0.0994", "histogram_differs"),
        ("[200]\t24660", "[200]\t26660", "rate_is_not_count_over_time"),
        ("Average:\t0.0101", "Average:\t0.0301", "histogram_differs"),
    ] {
        assert!(HEY.contains(from), "{from}");
        let text = HEY.replace(from, to);
        let found = [impossible("h.txt", &text), doubts("h.txt", &text)].concat();
        assert!(found.contains(&rule), "{from} to {to}: {found:?}");
    }
}

#[test]
fn the_list_of_ab_ascends_to_its_maximum() {
    let text = "Server Software:        nginx\nConcurrency Level:      10\nTime taken for tests:   10.000 seconds\n\
                Complete requests:      1000\nFailed requests:        0\n\nConnection Times (ms)\n\
                \u{20}             min  mean[+/-sd] median   max\nConnect:        0    0   0.1      0       1\n\
                Processing:    90   99  30.1     95    4159\nWaiting:       90   99  30.1     95    4159\n\
                Total:         90   99  30.1     95    4160\n\n\
                Percentage of the requests served within a certain time (ms)\n\
                \u{20} 50%     95\n  66%    100\n  90%    120\n  99%    160\n 100%   4160 (longest request)\n";
    // An excerpt, which leaves a doubt.
    let lists = |text: &str| doubts("ab.txt", text).contains(&"ab_lists_differ");
    assert!(!lists(text));
    assert!(lists(&text.replace("100%   4160", "100%   5160")));
    assert!(lists(&text.replace("  50%     95", "  50%    110")));
}

#[test]
fn a_summary_is_computed_again_from_its_samples() {
    let found = |summary: &str| {
        let documents = [read("run.jtl", &samples()), read("summary.md", summary)];
        let findings = audit(&documents).findings;
        let own: Vec<_> = findings.into_iter().filter(|f| f.rule == "figures_differ_from_samples").collect();
        own.into_iter().flat_map(|f| f.arithmetic).collect::<Vec<String>>()
    };
    let summary = "| Label | # Samples | Average | Min | Max | 99% Line | Error % | Throughput |\n\
                   |---|---|---|---|---|---|---|---|\n| Login | 8 | 25 | 25 | 25 | 25 | 0.00% | 0.1/sec |\n\
                   | Search | 600 | 40 | 20 | 60 | 60 | 0.00% | 10.0/sec |\n";
    assert_eq!(found(summary), Vec::<String>::new());
    for (from, to, line) in [
        ("| 600 |", "| 900 |", "Search: requests of the samples 600, stated 900"),
        ("10.0/sec", "20.0/sec", "Search: rate of the samples 10.01/s, stated 20/s"),
        ("| 60 | 60 |", "| 60 | 30 |", "Search: p99 of the samples 60 ms, stated 30 ms"),
        ("| 25 | 25 | 25 | 25 |", "| 31 | 25 | 31 | 25 |", "Login: mean of the samples 25 ms, stated 31 ms"),
    ] {
        assert!(summary.contains(from), "{from}");
        let lines = found(&summary.replace(from, to));
        assert!(lines.iter().any(|l| l == line), "{line}: {lines:?}");
    }
    // Other labels are another test.
    let other = summary.replace("Login", "Basket").replace("Search", "Pay").replace("| 600 |", "| 900 |");
    assert_eq!(found(&other), Vec::<String>::new());
}

#[test]
fn percentiles_of_the_last_samples_are_those_of_a_report_of_jmeter() {
    // 30,000 samples, of which the first 10,000 are slow: JMeter's report keeps 20,000 of each label.
    let rows = (0..30_000u64).map(|i| {
        let took = if i < 10_000 { 900 } else { 10 };
        let start = 1_600_000_000_000 + i * 1_000;
        format!("{start},{took},Pay,200,OK,Group 1-1,true,500,100,1,1,{took},0\n")
    });
    let header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,grpThreads,\
                  allThreads,Latency,Connect\n";
    let file = rows.fold(header.to_owned(), |text, row| text + &row)
        + "1600030000000,10,Go,200,OK,t,true,5,1,1,1,1,0\n";
    let differ = |p99: u32| {
        let summary = format!(
            "| Label | # Samples | Average | 99% Line |\n|---|---|---|---|\n| Go | 1 | 10 | 10 |\n\
             | Pay | 30000 | 307 | {p99} |\n"
        );
        let documents = [read("run.jtl", &file), read("summary.md", &summary)];
        audit(&documents).findings.iter().any(|f| f.rule == "figures_differ_from_samples")
    };
    assert!(!differ(900), "of the whole file");
    assert!(!differ(10), "of the last 20,000");
    assert!(differ(450), "of neither");
}

#[test]
fn a_file_of_samples_is_read_as_a_stream_and_not_kept() {
    let text = samples();
    let mut stream = std::io::BufReader::with_capacity(8_192, text.as_bytes());
    let document = read_from("run.jtl", &mut stream).expect("bytes in memory");
    assert_eq!((document.rows.len(), document.text.len(), document.kept.len()), (3, 0, 2));
    assert_eq!(value(&document, 0, Measure::Requests), Some(608.0));
    // The quoted line is there without the text.
    let twice = text.clone() + &text.replace("160000", "160004");
    let mut stream = std::io::BufReader::with_capacity(8_192, twice.as_bytes());
    let found = audit(&[read_from("run.jtl", &mut stream).expect("bytes in memory")]);
    assert!(found.findings.iter().any(|f| f.rule == "runs_appended"), "{:?}", found.findings);
}

#[test]
fn what_a_command_or_a_heading_states_is_not_missing() {
    let table = "| Endpoint | req/s | mean (ms) | p99 (ms) | errors |\n|---|---|---|---|---|\n\
                 | /a | 1500 | 60 | 210 | 0 |\n";
    let missing = |text: &str| rules("r.md", text, Grade::Missing);
    let bare = missing(&format!("# Report\n\nIt was fast.\n\n{table}"));
    assert!(bare.contains(&"no_load") && bare.contains(&"no_duration"), "{bare:?}");
    let told =
        missing(&format!("# Report\n\nWe ran `autocannon -c 100 -d 40 http://localhost/`.\n\n{table}"));
    assert!(!told.contains(&"no_load") && !told.contains(&"no_duration"), "{told:?}");
    let counted = "| User Count | Requests/s | Average (ms) |\n|---|---|---|\n| 10 | 95.2 | 101 |\n";
    assert_eq!(value(&read("r.md", counted), 0, Measure::Users), Some(10.0));
}

#[test]
fn a_command_quoted_in_a_sentence_is_that_of_the_output() {
    let text = |count: u32| {
        format!(
            "Command: `ab -n 50000 -c 10 http://127.0.0.1/`\n\nConcurrency Level:      10\n\
             Time taken for tests:   10.000 seconds\nComplete requests:      {count}\nFailed requests:        0\n\
             Requests per second:    {}.00 [#/sec] (mean)\n",
            count / 10
        )
    };
    assert!(doubts("r.md", &text(49_920)).contains(&"ended_early"));
    assert!(!doubts("r.md", &text(50_000)).contains(&"ended_early"));
}
