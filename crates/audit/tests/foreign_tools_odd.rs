//! Outputs as they come in reports: several after each other, quoted, cut off, with commas, damaged. A reader may say
//! that it could not read something; it may not stop, invent, or mix two runs.

use plimsoll_audit::foreign::{self, Document, Measure, Row, Tool};
use plimsoll_stats::random::SplitMix64;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn read(text: &str) -> Document {
    foreign::read("report.md", text)
}

fn sample(name: &str) -> String {
    let bytes = std::fs::read(data().join(name)).expect("a committed file");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign")
}

fn value(row: &Row, measure: Measure) -> Option<f64> {
    row.figures.get(&measure).map(|figure| figure.value)
}

#[test]
fn runs_in_a_report_are_told_apart_and_keep_their_headings() {
    let (wrk, ab, k6) =
        (sample("sound/wrk-404.txt"), sample("sound/ab-plain.txt"), sample("sound/k6-legacy.txt"));
    let text = format!(
        "# Shop\n\nSome words.\n\n## Without cache\n\n```bash\n$ wrk -t1 -c5 -d5s http://127.0.0.1/missing\n{wrk}\
         {wrk}```\n\nBetter is:\n\n## With cache\n\n```\n{ab}\n{ab}```\n\n> quoted\n\n\
         {}\n\n# Browser\n\n{k6}\nThe end.\n",
        wrk.lines().map(|line| format!("> {line}\n")).collect::<String>()
    );
    let document = read(&text);
    let tools: Vec<Tool> = document.rows.iter().filter_map(|row| row.tool).collect();
    assert_eq!(tools, [Tool::Wrk, Tool::Wrk, Tool::Ab, Tool::Ab, Tool::Wrk, Tool::K6]);
    let headings: Vec<String> = document.rows.iter().map(|row| row.headings.join(" / ")).collect();
    assert_eq!(headings[0], "Shop / Without cache");
    assert_eq!(headings[2], "Shop / With cache");
    assert_eq!(headings[5], "Browser");
    assert!(document.unread.is_empty(), "{:?}", document.unread);
    let command = document.rows[0].words.get("command").expect("the command stands above");
    assert_eq!(command.text, "wrk -t1 -c5 -d5s http://127.0.0.1/missing");
    // Each row has its own lines, and all its figures stand in them.
    for pair in document.rows.windows(2) {
        assert!(pair[0].lines.1 < pair[1].lines.0, "{:?} {:?}", pair[0].lines, pair[1].lines);
    }
    for row in &document.rows {
        for figure in row.figures.values() {
            let line = text.lines().nth(figure.line as usize - 1).unwrap_or("");
            assert!(
                line.contains(&figure.written),
                "{:?} is not in line {}: {line}",
                figure.written,
                figure.line
            );
        }
    }
    // The second run's address is its own and not a second one of the first.
    let url = document.rows[1].words.get("url").expect("wrk names its address");
    assert!(url.line > document.rows[0].lines.1, "{} {:?}", url.line, document.rows[0].lines);
    // Prose is left to others.
    let prose = text.lines().position(|line| line == "Better is:").expect("it is there") as u32 + 1;
    assert!(!document.taken.contains(&prose));
}

#[test]
fn a_comma_for_a_point_is_read_and_noted() {
    let text = sample("sound/wrk-spread.txt").replace("17.06ms", "17,06ms").replace("86.05ms", "1,35s");
    let document = read(&text);
    let row = document.rows.first().expect("one run");
    assert_eq!(value(row, Measure::Mean), Some(17.06e-3));
    assert_eq!(value(row, Measure::Percentile(9_900)), Some(1.35));
    assert!(row.words.contains_key("decimal_comma"));
    // Groups of thousands are no decimals.
    let grouped = read(&sample("sound/wrk-spread.txt").replace("8455 requests", "8,455 requests"));
    let row = grouped.rows.first().expect("one run");
    assert_eq!(value(row, Measure::Requests), Some(8_455.0));
    assert!(!row.words.contains_key("decimal_comma"));
}

#[test]
fn units_are_the_tools_own() {
    let wrk = |latency: &str, size: &str| {
        let head = "Running 2m test @ http://a/b\n2 threads and 8 connections\n";
        let text = format!(
            "{head}Latency   {latency}   1.00us   1.20m   50.00%\n  10 requests in 2.00m, {size} read\n\
             Requests/sec: 1.5k\nTransfer/sec: 2.00GB\n"
        );
        let document = read(&text);
        let row = document.rows.first().expect("one run").clone();
        (
            value(&row, Measure::Mean),
            value(&row, Measure::BytesTotal),
            value(&row, Measure::Duration),
            document.unread.len(),
        )
    };
    // wrk prints its rate without a unit, so `1.5k` was written by somebody.
    assert_eq!(wrk("12.00us", "3.00MB"), (Some(12e-6), Some(3.0 * 1_048_576.0), Some(120.0), 1));
    assert_eq!(wrk("1.50h", "3.00KB"), (Some(5_400.0), Some(3_072.0), Some(120.0), 1));
    // An unknown unit is no figure, and is said.
    assert_eq!(wrk("12.00xs", "3.00KB"), (None, Some(3_072.0), Some(120.0), 2));
}

#[test]
fn coloured_output_is_read_like_plain_one() {
    let plain = sample("sound/oha-404.txt");
    let coloured: String =
        plain.lines().map(|line| format!("\u{1b}[32m\u{1b}[1m{line}\u{1b}[0m\n")).collect();
    let (plain, coloured) = (read(&plain), read(&coloured));
    assert_eq!(plain.rows[0].figures, coloured.rows[0].figures);
}

#[test]
fn an_output_that_stops_in_the_middle_is_said_and_what_is_there_is_read() {
    for (name, keep) in [
        ("sound/wrk-404.txt", 7),
        ("sound/ab-plain.txt", 17),
        ("sound/k6-legacy.txt", 40),
        ("sound/loadtest-new.txt", 8),
        ("sound/hey-404.txt", 7),
        ("made/vegeta.txt", 3),
    ] {
        let cut: String = sample(name).lines().take(keep).map(|line| format!("{line}\n")).collect();
        let document = read(&cut);
        assert_eq!(document.rows.len(), 1, "{name}");
        assert_eq!(document.unread.len(), 1, "{name}: {:?}", document.unread);
        assert!(document.unread[0].why.contains("stops before"), "{name}: {:?}", document.unread);
    }
    for name in
        ["sound/k6-export.json", "sound/jmeter-statistics.json", "sound/oha-spread.json", "made/vegeta.json"]
    {
        let whole = sample(name);
        let document = read(&whole[..whole.len() * 2 / 3]);
        assert!(document.rows.is_empty(), "{name}");
        assert!(document.unread.iter().any(|unread| unread.why.contains("cannot be parsed")), "{name}");
    }
}

#[test]
fn a_run_that_stops_gives_nothing_to_the_next() {
    let (first, second) = (sample("sound/wrk-404.txt"), sample("sound/wrk-plain.txt"));
    let cut: String = first.lines().take(4).map(|line| format!("{line}\n")).collect();
    let document = read(&format!("{cut}{second}"));
    let urls: Vec<&str> = document.rows.iter().map(|row| row.words["url"].text.as_str()).collect();
    assert_eq!(urls, ["http://127.0.0.1:18471/missing", "http://127.0.0.1:18471/page"]);
    assert_eq!(document.rows[1].lines.0, 5);
    assert_eq!(value(&document.rows[0], Measure::Rate), None);
    // A line of samples that was cut off can still begin with two good numbers.
    let jtl = read("timeStamp,elapsed,label,success\n1000,40,a,true\n1040,50,a");
    assert_eq!(value(&jtl.rows[0], Measure::Requests), Some(1.0));
    assert_eq!(jtl.unread.len(), 1);
}

#[test]
fn what_wrk_prints_when_nothing_was_answered_is_no_figure() {
    let text = "Running 1s test @ http://127.0.0.1:1/\n  1 threads and 2 connections\n\
                Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
                Latency     0.00us    0.00us   0.00us    -nan%\n\
                Req/Sec     0.00      0.00     0.00      -nan%\n\
                0 requests in 1.10s, 0.00B read\n  Socket errors: connect 0, read 40, write 3, timeout 0\n\
                Requests/sec:      0.00\nTransfer/sec:       0.00B\n";
    let document = read(text);
    let row = document.rows.first().expect("one run");
    assert_eq!(value(row, Measure::Requests), Some(0.0));
    assert_eq!(value(row, Measure::ReadErrors), Some(40.0));
    assert_eq!(value(row, Measure::WithinStdDev), None);
    assert_eq!(document.unread.len(), 2, "{:?}", document.unread);
}

#[test]
fn a_jtl_is_read_by_the_names_of_its_columns() {
    let text = "label,success,elapsed,timeStamp,Latency,responseCode,responseMessage,threadName,allThreads\n\
                home,true,100,1000,90,200,OK,g 1-1,2\n\
                \"say \"\"hi\"\", twice\",false,50,1020,60,500,\"line one\nline two, still\",g 1-2,2\n\
                home,true,30,1100,20,200,OK,g 1-1,2\n\
                broken,true,abc,1100,20,200,OK,g 1-1,2\n\
                half,true,3";
    let document = read(text);
    let labels: Vec<&str> = document.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["all samples", "home", "say \"hi\", twice"]);
    let total = &document.rows[0];
    assert_eq!(value(total, Measure::Requests), Some(3.0));
    assert!(value(total, Measure::Mean).is_some_and(|mean| (mean - 0.06).abs() < 1e-12));
    assert_eq!(value(total, Measure::Duration), Some(0.13));
    let samples = total.samples.as_ref().expect("it has samples");
    assert_eq!(samples.concurrent_max, 2);
    assert_eq!(samples.kinds.keys().collect::<Vec<_>>(), ["500 line one\nline two, still"]);
    // A latency above the elapsed time cannot be, and only the samples show it.
    assert_eq!(total.others["samples whose latency is above their elapsed time"].value, 1.0);
    let lines: Vec<u32> = document.unread.iter().map(|unread| unread.line).collect();
    assert_eq!(lines, [6, 7], "{:?}", document.unread);
}

#[test]
fn lines_of_a_remote_run_count_the_threads_that_were_there() {
    let text = "summary +   3005 in 00:00:08 =  375.6/s Avg:   119 Min:    16 Max:  3730 Err:     0 (0.00%) \
                Active: 60 Started: 45 Finished: 0\nsomething else\n\
                summary +    995 in 00:00:02 =  497.5/s Avg:   100 Min:    15 Max:   766 Err:     1 (0.10%) \
                Active: 0 Started: 45 Finished: 60\n\
                summary =   4000 in 00:00:10 =  400.0/s Avg:   114 Min:    15 Max:  3730 Err:     1 (0.03%)\n";
    let document = read(text);
    let row = document.rows.first().expect("one run");
    assert_eq!(value(row, Measure::Users), Some(60.0));
    assert_eq!(row.others["samples of all intervals"].value, 4_000.0);
    // A second test in the same log begins with a smaller total.
    let again = read(&format!("{text}{}", text.replace("4000", "4001")));
    assert_eq!(again.rows.len(), 2, "{:?}", again.rows);
}

#[test]
fn runs_appended_to_one_jtl_are_counted() {
    let run = |from: u32, count: u32| -> String {
        (0..count).map(|i| format!("{},{},a,200,true\n", from + i * 100, 80 + i % 7)).collect()
    };
    let header = "timeStamp,elapsed,label,responseCode,success\n";
    let runs = |text: String| {
        let document = read(&text);
        document.rows[0].samples.as_ref().map(|samples| samples.runs)
    };
    assert_eq!(runs(format!("{header}{}", run(1_000, 300))), Some(1));
    assert_eq!(
        runs(format!("{header}{}{}{}", run(1_000, 300), run(900_000, 300), run(2_000_000, 50))),
        Some(3)
    );
    // A plan that thinks for 30 s after each request is one run.
    let thinking: String = (0..50).map(|i| format!("{},90,a,200,true\n", 1_000 + i * 30_000)).collect();
    assert_eq!(runs(format!("{header}{thinking}")), Some(1));
}

#[test]
fn threads_of_one_generator_are_not_the_users_of_several() {
    let header = "timeStamp,elapsed,label,threadName,allThreads,success\n";
    let one = |thread: u32, from: u32| format!("{},100,a,g 1-{thread},2,true\n", 1_000 + from);
    let alone = read(&format!("{header}{}{}", one(1, 0), one(2, 50)));
    assert_eq!(value(&alone.rows[0], Measure::Users), Some(2.0));
    // The same two names under way twice: another machine ran the same plan.
    let both = read(&format!("{header}{}{}{}{}", one(1, 0), one(2, 10), one(1, 20), one(2, 30)));
    assert_eq!(value(&both.rows[0], Measure::Users), None);
    assert!(both.rows[0].words.contains_key("generators"));
}

#[test]
fn a_tools_name_in_a_sentence_takes_nothing_away() {
    let text = format!("This is ApacheBench, Version 2.3\nWe ran wrk:\n{}", sample("sound/wrk-404.txt"));
    let document = read(&text);
    assert_eq!(document.rows.len(), 1);
    assert_eq!(document.rows[0].tool, Some(Tool::Wrk));
    assert!(!document.taken.contains(&1) && document.unread.is_empty());
}

#[test]
fn a_transaction_does_not_count_its_requests_twice() {
    let text = "timeStamp,elapsed,label,responseCode,responseMessage,success\n\
                1000,40,login,200,OK,true\n1040,60,cart,200,OK,true\n\
                1000,100,buy,200,\"Number of samples in transaction : 2, number of failing samples : 0\",true\n";
    let document = read(text);
    assert_eq!(value(&document.rows[0], Measure::Requests), Some(2.0));
    assert_eq!(document.rows.len(), 4);
}

#[test]
fn samples_inside_a_sample_belong_to_it() {
    let text = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n\
                <httpSample t=\"90\" lt=\"80\" ts=\"1000\" s=\"true\" lb=\"a &gt; b\" rc=\"200\" \
                rm=\"OK\" tn=\"g 1-1\" by=\"7\">\n\
                <httpSample t=\"40\" lt=\"30\" ts=\"1000\" s=\"true\" lb=\"redirect\" rc=\"302\" rm=\"Found\"/>\n\
                <responseData>x &lt; y</responseData></httpSample>\n<!-- <sample t=\"1\"/> -->\n\
                <sample t='10' ts='1100' s='false' lb='c' \
                rc='Non HTTP response code: java.net.ConnectException' rm='refused'/>\n\
                </testResults>";
    let document = read(text);
    let labels: Vec<&str> = document.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["all samples", "a > b", "c"]);
    assert_eq!(value(&document.rows[0], Measure::Errors), Some(1.0));
    assert!(document.unread.is_empty(), "{:?}", document.unread);
}

#[test]
fn a_jtl_of_200_000_lines_is_read_in_no_time() {
    let mut text = String::from(
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads,Latency\n",
    );
    let mut random = SplitMix64::new(7);
    for i in 0..200_000u64 {
        let elapsed = 5 + random.next_u64() % 90;
        text.push_str(&format!(
            "{},{elapsed},label {},200,OK,group 1-{},true,1234,50,{}\n",
            1_600_000_000_000 + i * 3,
            i % 9,
            i % 50,
            elapsed - 1
        ));
    }
    let begin = Instant::now();
    let document = read(&text);
    let took = begin.elapsed();
    println!("200,000 samples in {took:?}");
    assert_eq!(document.rows.len(), 10);
    assert_eq!(value(&document.rows[0], Measure::Requests), Some(200_000.0));
    // One second is the aim of a release build; a busy machine gets ten times that.
    assert!(took.as_secs() < 10, "{took:?}");
}

#[test]
fn thousands_of_outputs_in_one_text_are_read_in_no_time() {
    // Differently labelled, so that no row is another one's.
    let sample = sample("sound/wrk-404.txt");
    let (head, url) = sample.split_once(" @ http://").expect("wrk says what it ran against");
    let (_, rest) = url.split_once('\n').expect("more lines follow");
    let text: String = (0..8_000).map(|i| format!("{head} @ http://127.0.0.1/{i}\n{rest}\n")).collect();
    let begin = Instant::now();
    let document = read(&text);
    assert_eq!(document.rows.len(), 8_000);
    println!("8,000 outputs of wrk, {} bytes: read in {:?}", text.len(), begin.elapsed());
    let (documents, mut findings) = ([document], Vec::new());
    plimsoll_audit::row::RULES.iter().for_each(|rule| (rule.check)(&documents, &mut findings));
    assert!(!findings.is_empty());
    println!("read and judged by row in {:?}", begin.elapsed());
    // An idle machine takes two seconds; each line against each would take minutes.
    assert!(begin.elapsed().as_secs() < 15, "{:?}", begin.elapsed());
}

#[test]
fn a_limit_on_the_rate_is_the_offered_load() {
    let hey = sample("sound/hey-plain.txt");
    let report = &hey[hey.find("Summary:").expect("hey begins so")..];
    let offered = |command: &str| {
        let document = read(&format!("```\n$ {command} http://127.0.0.1/\n\n{report}\n```\n"));
        value(&document.rows[0], Measure::OfferedRate)
    };
    // hey limits each worker, and has 50 unless told otherwise.
    assert_eq!(offered("hey -z 3s -c 20 -q 10"), Some(200.0));
    assert_eq!(offered("hey -q=10 -z 3s"), Some(500.0));
    assert_eq!(offered("hey -z 3s -c 20"), None);
    assert_eq!(offered("hey -z 3s -c 20 -q 0"), None, "0 is no limit");
    // oha limits all of its connections together.
    let oha = report.replacen("Total:", "Success rate:\t100.00%\n  Total:", 1);
    let document = read(&format!("```\n$ oha -z 3s -c 20 -q 150 http://127.0.0.1/\n\n{oha}\n```\n"));
    assert_eq!(document.rows[0].tool, Some(Tool::Oha));
    assert_eq!(value(&document.rows[0], Measure::OfferedRate), Some(150.0));
}

#[test]
fn damaged_files_never_stop_a_reader() {
    let files: Vec<String> = ["sound", "made"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(data().join(folder)).expect("committed"))
        .map(|entry| entry.expect("an entry").path())
        .map(|path| String::from_utf8_lossy(&std::fs::read(path).expect("readable")).into_owned())
        // The beginning of a large file has all that can go wrong in it.
        .map(|text| text.chars().take(2_500).collect())
        .collect();
    let mut random = SplitMix64::new(2_026);
    let mut below = |limit: usize| usize::try_from(random.next_u64() % limit.max(1) as u64).unwrap_or(0);
    const PIECES: [&str; 20] = [
        "",
        "-",
        "1e999",
        "NaN",
        "-nan%",
        "99999999999999999999999999",
        "0",
        ".",
        ",",
        "%",
        "µ",
        "\n",
        "{",
        "\"",
        "<",
        ">",
        "1,35s",
        "\u{1b}[",
        "```\n",
        ": ",
    ];
    let (mut rows, mut unread) = (0, 0);
    for case in 0..20_000 {
        let mut text: Vec<char> = files[case % files.len()].chars().collect();
        for _ in 0..=below(4) {
            let at = below(text.len());
            let end = (at + below(12)).min(text.len());
            let piece = PIECES[below(PIECES.len())];
            match below(4) {
                0 => text.truncate(at),
                _ => drop(text.splice(at..end, piece.chars())),
            }
        }
        let text: String = text.into_iter().collect();
        let document = foreign::read("x", &text);
        rows += document.rows.len();
        unread += document.unread.len();
        let lines = u32::try_from(text.lines().count()).expect("a short text") + 1;
        for row in &document.rows {
            assert!(row.lines.1 <= lines);
            for figure in row.figures.values().chain(row.others.values()) {
                let ordered = figure.low <= figure.value && figure.value <= figure.high;
                assert!(ordered && figure.value.is_finite(), "{figure:?} of\n{text}");
            }
        }
    }
    // Damage is rarely total and often seen.
    assert!(rows > 10_000 && unread > 1_000, "{rows} rows, {unread} unread");
}
