//! Command lines of other tools: what they send, and that their texts have the layout of the tools.

mod codes;

use crate::support::{Output, Ruler, Scratch, Tool};

/// What the tools themselves printed.
fn text_of(name: &str) -> String {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/audit/tests/data/foreign/sound");
    std::fs::read_to_string(folder.join(name)).expect("the file is committed")
}

/// Replaces or omits what differs from run to run: numbers with their units, addresses, bars, and the width of gaps.
fn masked(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| "[]()|\"".contains(c));
        match bare {
            bare if bare.starts_with("http://") => "URL".to_owned(),
            "ns" | "us" | "ms" | "sec" | "B" | "KiB" | "MiB" => "U".to_owned(),
            "ns," | "us," | "ms," | "sec," => "U,".to_owned(),
            bare if bare.starts_with(|c: char| c.is_ascii_digit()) => word.replace(bare, "N"),
            _ => word.to_owned(),
        }
    };
    let line = |line: &str| line.replace('■', "").split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    // Warnings of ab about its own table depend on the times.
    let is_warning = |text: &str| {
        text.contains(": The median and mean for ")
            || text.contains("probably not that reliable.")
            || text.contains("These results are NOT reliable.")
    };
    text.lines().filter(|text| !is_warning(text)).map(line).collect()
}

/// Runs a line of words after `plimsoll`; `URL` is that of the server.
fn run(line: &str, url: &str) -> Output {
    let words: Vec<String> = line.split_whitespace().map(|word| word.replace("URL", url)).collect();
    Tool::run(&words.iter().map(String::as_str).collect::<Vec<_>>()).expect_code(0)
}

#[track_caller]
fn has_layout_of(output: &Output, name: &str) {
    let (printed, original) = (masked(&output.stdout), masked(&text_of(name)));
    assert_eq!(printed, original, "{}", output.stdout);
}

#[test]
fn wrk_prints_the_text_of_wrk() {
    let ruler = Ruler::start(&[]);
    let line = "wrk -t2 -c4 -d1s --latency --timeout 2s -H X-A:b URL";
    let output = run(line, &ruler.url("/small"));
    has_layout_of(&output, "wrk-latency.txt");
    assert!(ruler.last_request().contains("X-A: b\r\n"), "{}", ruler.last_request());
    assert!(
        output.stderr.contains("PASS: ") && output.stderr.contains("plimsoll report "),
        "{}",
        output.stderr
    );
    let output = run("wrk -t1 -c5 -d1s --latency URL", &ruler.url("/?status=404"));
    has_layout_of(&output, "wrk-404.txt");
    assert!(output.stderr.starts_with("FAIL: "), "{}", output.stderr);
}

#[test]
fn columns_of_wrk_align() {
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let output = run("wrk -t1 -c1 -d1s URL", &ruler.url("/"));
    let original = text_of("wrk-plain.txt");
    for (printed, original) in output.stdout.lines().zip(original.lines()).skip(2).take(3) {
        assert_eq!(printed.len(), original.len(), "`{printed}`, `{original}`");
    }
}

#[test]
fn ab_sends_exactly_the_requests_and_prints_the_text_of_ab() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let (csv, tsv) = (scratch.path("percent.csv"), scratch.path("samples.tsv"));
    let line = format!("ab -n 1000 -c 10 -e {csv} -g {tsv} URL");
    let output = run(&line, &ruler.url("/page"));
    assert_eq!(ruler.requests(), 1_000);
    assert!(ruler.last_request().starts_with("GET /page HTTP/1.0\r\n"), "{}", ruler.last_request());
    assert!(ruler.last_request().contains("Connection: close\r\n"));
    // The banner says who has measured, and the record has no header of the server.
    let body = |text: &str| masked(text).split_off(4);
    let original = body(&text_of("ab-plain.txt")).join("\n").replace("nginx/1.22.1", "");
    assert_eq!(
        body(&output.stdout).join("\n"),
        original.replace("Software: ", "Software:"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("\nComplete requests:      1000\nFailed requests:        0\n"));
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert_eq!((read(&csv).lines().count(), read(&tsv).lines().count()), (102, 1_001));
    assert!(read(&tsv).starts_with("starttime\tseconds\tctime\tdtime\tttime\twait\n"));
}

#[test]
fn ab_prints_bodies_failures_and_statuses_as_ab() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.file("body.txt", &"x".repeat(500));
    let line = format!("ab -n 200 -c 10 -p {file} -T text/plain URL");
    let output = run(&line, &ruler.url("/post"));
    let printed = masked(&output.stdout).split_off(4);
    let original = masked(&text_of("ab-post.txt").replace("nginx/1.22.1", "")).split_off(4);
    assert_eq!(printed, original, "{}", output.stdout);
    assert!(ruler.last_request().starts_with("POST /post HTTP/1.0\r\n"));
    let output = run("ab -q -n 1000 -c 10 -k URL", &ruler.url("/?fault=close_before&fault_rate=0.03"));
    assert!(output.stdout.contains("   (Connect: 0, Receive: 0, Length: "), "{}", output.stdout);
    assert!(output.stdout.contains("\nKeep-Alive requests:    "), "{}", output.stdout);
    let output = run("ab -S -d -n 200 -c 4 URL", &ruler.url("/?status=404"));
    assert!(output.stdout.contains("\nNon-2xx responses:      200\n"), "{}", output.stdout);
    assert!(output.stdout.contains("              min   avg   max\n"), "{}", output.stdout);
    assert!(!output.stdout.contains("Percentage"), "{}", output.stdout);
}

#[test]
fn ab_prints_the_table_of_ab_in_html() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.file("body.txt", "a=1");
    // Without numbers and the width of gaps; the banner says who has measured.
    let cells = |text: &str| -> Vec<String> {
        let is_kept = |sign: &char| !sign.is_ascii_digit() && !matches!(sign, '.' | ' ');
        text.lines().skip(5).map(|line| line.chars().filter(is_kept).collect()).collect()
    };
    let line = format!("ab -w -x border=1 -y align=left -z bgcolor=red -k -n 100 -c 4 -p {file} URL");
    let output = run(&line, &ruler.url("/p?status=404"));
    let original = include_str!("lines/ab-table.html").replace(">ruler<", "><");
    assert_eq!(cells(&output.stdout), cells(&original), "{}", output.stdout);
    assert!(output.stdout.starts_with("<p>\n This is ApacheBench, Version 2.3 <i>&lt;plimsoll "));
}

#[test]
fn content_types_without_a_body_are_ignored_as_by_the_tools() {
    let ruler = Ruler::start(&[]);
    for line in ["ab -n 2 -T text/plain URL", "loadtest -n 2 -T text/plain URL"] {
        let output = run(line, &ruler.url("/"));
        assert!(output.stderr.contains("note: `-T` without a body has no effect"), "{}", output.stderr);
        assert!(!ruler.last_request().contains("text/plain"), "{}", ruler.last_request());
    }
}

#[test]
fn the_time_limit_of_ab_is_explained() {
    let ruler = Ruler::start(&[]);
    let output = run("ab -t 1 -c 2 -k URL", &ruler.url("/"));
    assert!(output.stderr.contains("sets `-n 50000`"), "{}", output.stderr);
    assert!(ruler.requests() <= 50_000);
}

#[test]
fn hey_prints_the_text_of_hey() {
    let ruler = Ruler::start(&[]);
    has_layout_of(&run("hey -z 1s -c 4 URL", &ruler.url("/small")), "hey-plain.txt");
    let before = ruler.requests();
    run("hey -n 123 -c 5 URL", &ruler.url("/small"));
    assert_eq!(ruler.requests() - before, 123);
}

#[test]
fn oha_prints_the_text_and_the_json_of_oha() {
    let ruler = Ruler::start(&[]);
    has_layout_of(&run("oha --no-tui -n 1000 -c 5 URL", &ruler.url("/?status=404")), "oha-404.txt");
    assert_eq!(ruler.requests(), 1_000);
    let printed = run("oha --output-format json -n 100 -c 5 URL", &ruler.url("/")).json();
    let original: serde_json::Value = serde_json::from_str(&text_of("oha-spread.json")).expect("JSON");
    let keys =
        |value: &serde_json::Value| value.as_object().map(|all| all.keys().cloned().collect::<Vec<_>>());
    assert_eq!(keys(&printed["summary"]), keys(&original["summary"]));
    assert_eq!(keys(&printed["latencyPercentiles"]), keys(&original["latencyPercentiles"]));
    assert_eq!(keys(&printed["details"]), keys(&original["details"]));
    assert_eq!(printed["statusCodeDistribution"]["200"], 100);
}

#[test]
fn vegeta_reports_on_its_attack() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let targets =
        scratch.file("targets.txt", &format!("GET {}\n\nGET {}\n", ruler.url("/a"), ruler.url("/b")));
    let (results, again) = (scratch.path("results.bin"), scratch.path("report.txt"));
    run(&format!("vegeta attack -targets {targets} -rate 100/1s -duration=1s -output {results}"), "");
    // Each arrival sends the next target.
    assert_eq!(ruler.counters()["by_path"], serde_json::json!({ "/a": 50, "/b": 50 }));
    let text = run(&format!("vegeta report {results}"), "").stdout;
    let expected = "Requests      [total, rate, throughput]         100, 101.01, ";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("\nStatus Codes  [code:count]                      200:100  \nError Set:\n"),
        "{text}"
    );
    let json = run(&format!("vegeta report -type=json {results}"), "").json();
    assert_eq!((&json["requests"], &json["status_codes"]["200"]), (&100.into(), &100.into()));
    run(&format!("vegeta report -type=hist[0,1ms,1s] -output {again} {results}"), "");
    assert!(std::fs::read_to_string(&again).expect("it was written").starts_with("Bucket"));
}

#[test]
fn loadtest_prints_the_text_of_loadtest() {
    let ruler = Ruler::start(&[]);
    has_layout_of(&run("loadtest -n 500 -c 10 --cores 1 URL", &ruler.url("/small")), "loadtest-new.txt");
    assert_eq!(ruler.requests(), 500);
    let output = run("loadtest -t 1 -c 10 --cores 1 --rps 100 -k URL", &ruler.url("/"));
    has_layout_of(&output, "loadtest-new-rps.txt");
}

/// Commands whose texts are compared with those of the tools: each with what the tool itself printed.
const TEXTS: [(&str, &str, &str); 6] = [
    ("wrk", "wrk -t2 -c4 -d1s --latency URL", "wrk-latency.txt"),
    ("ab", "ab -n 500 -c 5 -k URL", "ab-keep-alive.txt"),
    ("hey", "hey -n 500 -c 5 URL", "hey-plain.txt"),
    ("oha", "oha -n 500 -c 5 URL?status=404", "oha-404.txt"),
    ("loadtest", "loadtest -n 500 -c 5 --cores 1 URL", "loadtest-new.txt"),
    ("vegeta", "vegeta attack -targets TARGETS -rate 200 -duration 1s -output RESULTS", "vegeta-plain.txt"),
];

/// Returns what plimsoll prints for each of these commands, and what the tool printed.
fn texts(ruler: &Ruler, scratch: &Scratch) -> Vec<(&'static str, String, String)> {
    let targets = scratch.file("targets.txt", &format!("GET {}\n", ruler.url("/")));
    let results = scratch.path("results.bin");
    let texts = TEXTS.map(|(tool, line, file)| {
        let line = line.replace("TARGETS", &targets).replace("RESULTS", &results);
        let mut text = run(&line, &ruler.url("/")).stdout;
        if tool == "vegeta" {
            text = run(&format!("vegeta report {results}"), "").stdout;
        }
        (tool, text, text_of(file))
    });
    texts.into()
}

#[test]
fn an_audit_reads_the_same_figures_in_the_texts_as_in_those_of_the_tools() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let audited = |name: String, text: &str| {
        let file = scratch.file(&name, text);
        Tool::run(&["audit", &file, "--json"]).json()
    };
    for (tool, own, original) in texts(&ruler, &scratch) {
        let (own, original) =
            (audited(format!("{tool}-1.txt"), &own), audited(format!("{tool}-2.txt"), &original));
        // Nothing is left over.
        for found in [&own, &original] {
            assert_eq!(
                (&found["rows_count"], &found["unread"]),
                (&1.into(), &serde_json::json!([])),
                "{found}"
            );
        }
        assert_eq!(own["figures_count"], original["figures_count"], "{tool}: {own}");
        let is_impossible = |finding: &serde_json::Value| finding["grade"] == "impossible";
        assert!(!own["findings"].as_array().expect("findings").iter().any(is_impossible), "{own}");
    }
}

/// Lines of shell as in scripts around the tools. Each prints one value.
const GREPS: &[(&str, &str)] = &[
    ("wrk", "grep Requests/sec | awk '{print $2}'"),
    ("wrk", "awk '/Transfer\\/sec/ {print $2}'"),
    ("wrk", "awk '/^ *Latency  / {print $2}'"),
    ("wrk", "grep -E '^ +99%' | tr -s ' ' | cut -d' ' -f3"),
    ("wrk", "grep -oE '[0-9]+ requests in' | cut -d' ' -f1"),
    ("ab", "grep 'Requests per second' | awk '{print $4}'"),
    ("ab", "sed -n 's/^Complete requests: *//p'"),
    ("ab", "awk '/^Failed requests:/ {print $3}'"),
    ("ab", "grep 'Time per request' | head -1 | cut -d: -f2 | awk '{print $1}'"),
    ("ab", "awk '/^Transfer rate:/ {print $3}'"),
    ("ab", "awk '/^Total:/ {print $3}'"),
    ("ab", "grep '  99%' | awk '{print $2}'"),
    ("hey", "grep Requests/sec | awk '{print $2}'"),
    ("hey", "awk '/Average:/ {print $2}'"),
    ("hey", "grep '99%' | awk '{print $3}'"),
    ("hey", "grep -F '[200]' | awk '{print $2}'"),
    ("oha", "grep 'Requests/sec' | awk '{print $2}'"),
    ("oha", "awk '/Success rate:/ {print $3}' | tr -d %"),
    ("oha", "awk '/99.00% in/ {print $3}'"),
    ("oha", "grep -F '[404]' | awk '{print $2}'"),
    ("loadtest", "grep 'Effective rps' | awk '{print $3}'"),
    ("loadtest", "awk -F: '/Mean latency/ {print $2}' | awk '{print $1}'"),
    ("loadtest", "grep '99%' | awk '{print $2}'"),
    ("loadtest", "sed -n 's/^Total errors: *//p'"),
    ("vegeta", "awk '/^Success/ {print $3}' | tr -d %"),
    ("vegeta", "sed -n 's/^Requests.*\\] *//p' | cut -d, -f2 | tr -d ' '"),
    ("vegeta", "grep ^Latencies | awk '{print $(NF-1)}' | tr -d ,"),
    ("vegeta", "grep -o '200:[0-9]*' | cut -d: -f2"),
];

#[test]
fn the_usual_greps_find_a_number_in_the_texts_and_in_those_of_the_tools() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    for (tool, own, original) in texts(&ruler, &scratch) {
        let files = [scratch.file("own.txt", &own), scratch.file("original.txt", &original)];
        for (_, grep) in GREPS.iter().filter(|(of, _)| *of == tool) {
            for file in &files {
                let line = format!("cat {file} | {grep}");
                let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("a shell");
                let value = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                let number = value.trim_end_matches(|sign: char| sign.is_alphabetic());
                assert!(number.parse::<f64>().is_ok(), "`{line}` printed `{value}`:\n{own}");
            }
        }
    }
}

#[test]
fn exit_codes_are_those_of_the_tool_unless_the_verdict_is_asked_for() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let url = ruler.url("/?status=500");
    for line in ["wrk -t1 -c1 -d1s", "ab -n 5", "hey -n 5 -c 1", "oha -n 5 -c 1", "loadtest -n 5 -c 1"] {
        let words: Vec<&str> = line.split_whitespace().chain([url.as_str()]).collect();
        Tool::run(&words).expect_code(0);
        let words: Vec<&str> = line.split_whitespace().chain(["--verdict", url.as_str()]).collect();
        Tool::run(&words).expect_code(99);
    }
    let (save, report) = (scratch.path("run.plim"), scratch.path("report.html"));
    Tool::run(&["ab", "-n", "5", "--save", &save, "--report", &report, &ruler.url("/")]).expect_code(0);
    assert!(std::fs::read_to_string(&report).expect("it was written").contains("<html"));
    Tool::run(&["report", &save, "-q"]).expect_code(0);
    let output = Tool::run(&["ab", "-n", "5", "--report", &report, &ruler.url("/")]).expect_code(2);
    assert!(output.stderr.contains("exists already"), "{}", output.stderr);
}

#[test]
fn flags_that_cannot_be_honored_are_rejected_before_the_run() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/");
    for (line, flag) in [
        ("ab -I", "-I"),
        ("ab -b 4096", "-b"),
        ("hey -o csv", "-o"),
        ("oha --burst-delay 1s", "--burst-delay"),
        ("loadtest --index i", "--index"),
        ("vegeta attack -duration 1s -chunked", "-chunked"),
    ] {
        let words: Vec<&str> = line.split_whitespace().chain([url.as_str()]).collect();
        let output = Tool::run(&words).expect_code(2);
        assert!(output.stderr.contains("C004") && output.stderr.contains(flag), "{}", output.stderr);
    }
    assert_eq!(ruler.requests(), 0);
}

#[test]
#[cfg(feature = "lua")]
fn scripts_of_wrk_make_the_requests() {
    let (ruler, scratch) = (Ruler::start(&["--keep-requests", "last:5"]), Scratch::new());
    let run_script = |script: &str, more: &str| {
        let file = scratch.file("script.lua", script);
        run(&format!("wrk -t2 -c4 -d1s -s {file} {more} URL"), &ruler.url("/x"))
    };
    // Fixed before the load.
    let output = run_script("wrk.method = 'POST'\nwrk.body = 'a=1'\nwrk.headers['X-B'] = 'b'", "");
    let sent = ruler.last_request();
    assert!(sent.starts_with("POST /x HTTP/1.1\r\n") && sent.ends_with("\r\n\r\na=1"), "{sent}");
    assert!(sent.contains("X-B: b\r\n") && output.stdout.starts_with("Running 1s test @ "), "{sent}");
    // Made for each request, with the values of responses and a pause before each.
    let script = "local n = 0\nlocal seen\nrequest = function()\n  n = n + 1\n  wrk.headers['X-Seen'] = seen\n\
                  return wrk.format(nil, '/' .. n)\nend\n\
                  response = function(status, headers, body)\n\
                  seen = status .. ' ' .. headers['Server'] .. ' ' .. #body\n\
                  end\ndelay = function() return 10 end\n\
                  done = function(summary, latency)\n\
                  io.write(summary.requests .. ' done, p50 ' .. latency:percentile(50) .. '\\n')\nend";
    let output = run_script(script, "");
    assert!(ruler.last_request().contains("X-Seen: 200 ruler 76\r\n"), "{}", ruler.last_request());
    let count: u64 = {
        let line = output.stdout.lines().find(|line| line.contains(" done, p50 ")).expect("it calls `done`");
        line.split(' ').next().and_then(|word| word.parse().ok()).expect("a count")
    };
    // Four connections with pauses of 10 ms.
    assert!((50..=400).contains(&count), "{}", output.stdout);
    assert!(output.stdout.contains(&format!("\n  {count} requests in ")), "{}", output.stdout);
}

#[test]
#[cfg(feature = "lua")]
fn a_pipeline_of_wrk_sends_all_its_requests() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = "init = function()\n  req = wrk.format(nil, '/a') .. wrk.format(nil, '/b') .. wrk.format(nil, '/c')\n\
                  end\nrequest = function() return req end";
    let file = scratch.file("pipeline.lua", script);
    run(&format!("wrk -t1 -c2 -d1s -s {file} URL"), &ruler.url("/"));
    let by_path = &ruler.counters()["by_path"];
    let count = |path: &str| by_path[path].as_i64().expect("a count");
    assert!(count("/a") > 10 && (count("/a") - count("/c")).abs() <= 6, "{by_path}");
}

#[test]
#[cfg(feature = "lua")]
fn mistakes_of_scripts_are_one_sentence_with_their_place() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let run_script = |script: &str| {
        let file = scratch.file("script.lua", script);
        Tool::run(&["wrk", "-t1", "-c1", "-d30s", "-s", &file, &ruler.url("/")])
    };
    let output = run_script("x = = 1").expect_code(2);
    assert!(output.stderr.contains("script.lua:1: "), "{}", output.stderr);
    assert_eq!(ruler.requests(), 0);
    let output = run_script("response = function()\n  error('wrong')\nend").expect_code(1);
    assert!(output.stderr.contains("script.lua:2: wrong") && output.stdout.is_empty(), "{}", output.stderr);
    // Found before the load, and during it.
    let output = run_script("request = function() while true do end end").expect_code(2);
    assert!(output.stderr.contains("does not end"), "{}", output.stderr);
    let output = run_script("response = function() while true do end end").expect_code(1);
    assert!(output.stderr.contains("script.lua: a call of the script did not end"), "{}", output.stderr);
    // Memory that grows without end: before the load, from call to call, and in one call.
    let grow = "local t = {}\nlocal grow = function() t[#t + 1] = ('x'):rep(4e6) .. #t end\n";
    let large = "script.lua: the script uses more than 1 GiB of memory";
    for (functions, code) in [
        ("init = function() while true do grow() end end", 2),
        ("response = function() grow() end", 1),
        ("response = function() while true do grow() end end", 1),
    ] {
        let output = run_script(&format!("{grow}{functions}")).expect_code(code);
        assert!(output.stderr.contains(large) && output.stdout.is_empty(), "{}", output.stderr);
    }
}
