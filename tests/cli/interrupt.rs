//! Ctrl-C and its like: once ends the run with a report that says so, twice ends the program.

use crate::support::{BINARY, Output, Ruler, Scratch, Tool};

/// Returns the output of a run of 60 s that gets this signal after about 200 requests.
fn cut_short(ruler: &Ruler, signal: &str, more: &[&str]) -> Output {
    ruler.get("/_test-server/clear");
    let running = Tool::new(&[&[&ruler.url("/"), "-r", "500", "-d", "60s", "--json"], more].concat()).start();
    ruler.wait_for_requests(200);
    running.signal(signal);
    running.wait()
}

#[test]
fn once_ends_the_run_with_a_report_that_says_that_it_was_cut_short() {
    let ruler = Ruler::start(&[]);
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let output = cut_short(&ruler, signal, &["--threshold", "response_time p50 < 10s"]);
        assert_eq!(output.code, code, "{signal}: {}", output.stderr);
        let json = output.json();
        assert_eq!(
            (&json["stopped_by"], &json["is_complete"]),
            (&"interrupt".into(), &true.into()),
            "{signal}"
        );
        assert!(json["totals"]["requests"].as_u64().unwrap() >= 100);
        assert_eq!(json["verdict"]["result"], "INTERRUPTED");
        let sentence = json["verdict"]["sentence"].as_str().unwrap();
        assert!(sentence.starts_with("INTERRUPTED: after "), "{sentence}");
        assert!(sentence.contains(" of 60 s: ") && sentence.contains(" thresholds met so far"), "{sentence}");
    }
}

#[test]
fn nohup_protects_a_run_from_sighup() {
    let ruler = Ruler::start(&[]);
    let mut shell = std::process::Command::new("sh");
    let line = format!("trap '' HUP; exec {BINARY} {} -r 500 -n 800 -q --out \"$0\"", ruler.url("/"));
    let scratch = Scratch::new();
    let mut child = shell.args(["-c", &line, &scratch.path("a.plim")]).spawn().expect("`sh` is there");
    ruler.wait_for_requests(200);
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-HUP", &pid]).status();
    assert!(sent.expect("`kill` is there").success());
    assert_eq!(child.wait().expect("a child").code(), Some(0));
    assert_eq!(ruler.requests(), 800);
}

#[test]
fn what_was_missed_for_certain_stays_a_fail() {
    let ruler = Ruler::start(&["--status", "500"]);
    let output = cut_short(&ruler, "INT", &[]);
    assert_eq!(output.code, 99, "{}", output.stderr);
    let sentence = output.json()["verdict"]["sentence"].as_str().unwrap().to_owned();
    assert!(sentence.starts_with("FAIL: ") && sentence.contains("interrupted after"), "{sentence}");
    // Too few requests so far do not decide a verdict, because more would have followed.
    let ruler = Ruler::start(&[]);
    let rules = ["--threshold", "requests >= 10000", "--threshold", "achieved > 10%"];
    let output = cut_short(&ruler, "INT", &rules);
    assert_eq!(output.code, 130, "{}", output.json()["verdict"]);
}

#[test]
fn a_run_that_may_end_early_passes() {
    let ruler = Ruler::start(&[]);
    for signal in ["INT", "TERM"] {
        let output = cut_short(&ruler, signal, &["--stop-early-ok", "--threshold", "error_rate < 1%"]);
        let json = output.json();
        assert_eq!(json["stopped_by"], "interrupt_allowed");
        assert!([0, 3].contains(&output.code), "{signal}: {} {}", output.code, json["verdict"]);
    }
}

#[test]
fn an_interrupt_before_the_load_is_named_and_has_the_code_of_its_signal() {
    let scratch = Scratch::new();
    let ruler = Ruler::start(&["--status", "503"]);
    let url = ruler.url("/");
    let search = ["find", &url, "--threshold", "response_time p99 < 1s", "--wait-for-ready", "60s"];
    let ruler = [ruler, Ruler::start(&["--delay", "30s"])];
    let text = "setup: [ { get: /first } ]\nscenarios: { a: [ { get: /load } ] }\nload: { rate: 1/s }\n";
    let text = format!("target: {}\n{text}", ruler[1].url(""));
    let file = scratch.file("setup.yaml", &text);
    let text = "generators: 2\nscenarios: { a: [ { get: /load } ] }\nload: { users: 2, duration: 60s }\n";
    let several = scratch.file("several.yaml", &format!("target: {}\n{text}", ruler[0].url("")));
    let cases: [(&Ruler, &[&str], &str); 3] = [
        (
            &ruler[0],
            &["run", &several, "--wait-for-ready", "60s", "--out", &scratch.path("several")],
            "interrupted before the load",
        ),
        (&ruler[0], &search, "interrupted while waiting for `127.0.0.1:"),
        (&ruler[1], &["run", &file], "interrupted during the setup; no load was sent"),
    ];
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for (ruler, args, sentence) in cases {
            ruler.get("/_test-server/clear");
            let running = Tool::new(args).start();
            ruler.wait_for_requests(1);
            running.signal(signal);
            let asked = std::time::Instant::now();
            let output = running.wait().expect_code(code);
            assert!(output.stderr.contains(sentence), "{}", output.stderr);
            // Far from the 60 s of the wait.
            assert!(asked.elapsed() < std::time::Duration::from_secs(20), "{:?}", asked.elapsed());
        }
    }
}

#[test]
fn an_experiment_that_lacks_a_run_does_not_pass_even_where_it_may_end_early() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    // With this seed, the variant with the long setup is the second one.
    let text = format!(
        "target: {}\nseed: 1\nsetup: [ {{ get: '/first?delay=${{wait}}' }} ]\n\
         scenarios: {{ a: [ {{ get: /load }} ] }}\n\
         vars: {{ wait: 0ms }}\nparts: {{ one: {{ variants: {{ quick: , stuck: {{ vars: {{ wait: 30s }} }} }}, \
         load: {{ users: 1, duration: 1s }} }} }}\n",
        ruler.url("")
    );
    let file = scratch.file("parts.yaml", &text);
    let out = scratch.path("out");
    let running = Tool::new(&["run", &file, "--stop-early-ok", "--out", &out]).start();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !ruler.last_request().contains("/first?delay=30s") {
        assert!(std::time::Instant::now() < deadline, "the second setup has not started within 20 s");
    }
    assert!(ruler.counters()["by_path"]["/load"].as_u64() > Some(0), "the other cell comes first");
    running.signal("TERM");
    let output = running.wait().expect_code(3);
    assert!(output.stderr.contains("interrupted during the setup"), "{}", output.stderr);
}

#[test]
fn an_interrupted_load_runs_its_teardown_and_a_second_interrupt_ends_it() {
    for (path, twice) in [("/tidy", false), ("/tidy?delay=30s", true)] {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let text = format!(
            "target: {}\nteardown: [ {{ get: {path} }} ]\nscenarios: {{ a: [ {{ get: /load }} ] }}\n\
             load: {{ rate: 500/s, duration: 60s }}\n",
            ruler.url("")
        );
        let file = scratch.file("tidy.yaml", &text);
        let running = Tool::new(&["run", &file, "--json", "--out", &scratch.path("run.plim")]).start();
        ruler.wait_for_requests(200);
        running.signal("INT");
        if twice {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !ruler.last_request().contains("/tidy") {
                assert!(std::time::Instant::now() < deadline, "the teardown has not started within 20 s");
            }
            running.signal("INT");
            let output = running.wait();
            assert_eq!(output.code, 130, "{}", output.stderr);
            continue;
        }
        let output = running.wait();
        assert_eq!(output.json()["stopped_by"], "interrupt");
        assert!(ruler.last_request().contains("GET /tidy "), "{}", ruler.last_request());
        assert!(!output.stderr.contains("teardown failed"), "{}", output.stderr);
    }
}

#[test]
fn twice_ends_the_program_with_130_and_the_run_file_can_be_read() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    let running = Tool::new(&[&ruler.url("/"), "-r", "200", "-d", "60s", "--out", &file]).start();
    ruler.wait_for_requests(300);
    // Stopped, it takes neither; continued, it finds both: SIGINT and SIGTERM are pending side by side.
    running.signal("STOP");
    running.signal("INT");
    running.signal("TERM");
    running.signal("CONT");
    let output = running.wait();
    assert_eq!(output.code, 130, "{}", output.stderr);
    assert_eq!(output.stdout, "", "a report after the second interrupt");
    let report = Tool::run(&["report", &file, "--json"]);
    assert!(report.json()["totals"]["requests"].is_number());
}
