//! Command lines of other tools: what they send, and that their texts have the layout of the tools.

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
    let output = run("ab -w -n 10 URL", &ruler.url("/"));
    assert!(
        output.stdout.contains("<th colspan=2 bgcolor=white>Complete requests:</th>"),
        "{}",
        output.stdout
    );
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
    let expected = "Requests      [total, rate, throughput]         100, 100.00, ";
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

#[test]
fn an_audit_reads_the_texts_as_those_of_the_tools() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    for (line, tool) in [
        ("wrk -t2 -c4 -d1s --latency URL", "wrk"),
        ("ab -n 500 -c 5 -k URL", "ab"),
        ("hey -n 500 -c 5 URL", "hey"),
        ("oha -n 500 -c 5 URL", "oha"),
        ("loadtest -n 500 -c 5 URL", "loadtest"),
    ] {
        let text = run(line, &ruler.url("/")).stdout;
        let file = scratch.file(&format!("{tool}.txt"), &text);
        // Nothing in it is impossible, and nothing is left over.
        let found = Tool::run(&["audit", &file, "--json"]).expect_code(0).json();
        assert_eq!((&found["rows_count"], &found["unread"]), (&1.into(), &serde_json::json!([])), "{found}");
        assert!(found["figures_count"].as_u64() > Some(8), "{tool}: {found}");
    }
}

#[test]
fn the_usual_greps_find_their_numbers() {
    let ruler = Ruler::start(&[]);
    let value = |text: &str, name: &str, at: usize| -> f64 {
        let line = text.lines().find(|line| line.contains(name)).expect("the line is there");
        line.split_whitespace().nth(at).expect("a value").parse().expect("a number")
    };
    let wrk = run("wrk -t1 -c2 -d1s URL", &ruler.url("/")).stdout;
    assert!(value(&wrk, "Requests/sec:", 1) > 0.0, "{wrk}");
    let ab = run("ab -n 100 -c 2 URL", &ruler.url("/")).stdout;
    assert!(value(&ab, "Requests per second:", 3) > 0.0, "{ab}");
    let hey = run("hey -n 100 -c 2 URL", &ruler.url("/")).stdout;
    assert!(value(&hey, "Requests/sec:", 1) > 0.0, "{hey}");
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
        ("wrk -R100", "-R"),
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
    // A server that refuses connections.
    let output = Tool::run(&["wrk", "-d1s", "http://127.0.0.1:1/"]).expect_code(1);
    assert!(output.stdout.is_empty(), "{}", output.stdout);
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
        Tool::run(&["wrk", "-t1", "-c1", "-d2s", "-s", &file, &ruler.url("/")])
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
}
