//! The run file: what `report` prints is what the run printed, and `merge` adds up exactly.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn the_report_of_a_run_file_is_what_the_run_printed() {
    let ruler = Ruler::start(&["--delay", "uniform:1ms-5ms", "--error-rate", "0.1"]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    let live = Tool::run(&[&ruler.url("/"), "-r", "300", "-d", "2s", "--out", &file]);
    let replay = Tool::run(&["report", &file]);
    assert_eq!(live.stdout, replay.stdout);
    assert_eq!(live.code, replay.code);
    assert_eq!(replay.stderr, "");
}

#[test]
fn the_json_of_a_run_file_is_what_the_run_printed() {
    let ruler = Ruler::start(&["--delay", "uniform:1ms-5ms"]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    let live =
        Tool::run(&[&ruler.url("/"), "-c", "8", "-d", "2s", "--warmup", "500ms", "--out", &file, "--json"]);
    let replay = Tool::run(&["report", &file, "--json"]);
    assert_eq!(live.json(), replay.json());
    assert_eq!(live.stdout, replay.stdout);
}

#[test]
fn every_form_of_a_report_comes_from_the_same_file() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    Tool::run(&[&ruler.url("/"), "-r", "100", "-d", "2s", "-q", "--out", &file]);
    let markdown = Tool::run(&["report", &file, "--markdown"]).stdout;
    assert!(markdown.contains("| "), "{markdown}");
    let csv = Tool::run(&["report", "--csv", &file]).stdout;
    let ndjson = Tool::run(&["report", &file, "--ndjson"]).stdout;
    assert_eq!(csv.lines().count(), ndjson.lines().count() + 1, "{csv}\n{ndjson}");
    for line in ndjson.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
    }
    let left: Vec<_> = std::fs::read_dir(scratch.folder()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["run.plim"], "a run is one file");
}

#[test]
fn two_machines_add_up_exactly_and_no_run_counts_twice() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let (a, b, both) = (scratch.path("a.plim"), scratch.path("b.plim"), scratch.path("both.plim"));
    let url = ruler.url("/");
    Tool::run(&[&url, "-n", "301", "-c", "4", "--shard", "1/2", "-q", "--out", &a]).expect_code(0);
    Tool::run(&[&url, "-n", "301", "-c", "4", "--shard", "2/2", "-q", "--out", &b]).expect_code(0);
    let merged = Tool::run(&["merge", &a, &b, &a, "--out", &both, "--json"]).json();
    assert_eq!(merged["totals"]["requests"], 301);
    assert_eq!(merged["generators"].as_array().unwrap().len(), 2);
    let turned = Tool::run(&["merge", &b, &a, "--json"]).json();
    assert_eq!(merged["response_time"], turned["response_time"], "the order changes something");
    // The merged file is a run file like any other.
    let again = Tool::run(&["report", &both, "--json"]).json();
    assert_eq!(again["totals"], merged["totals"]);
    assert_eq!(again["response_time"], merged["response_time"]);
}

#[test]
fn a_killed_run_leaves_a_file_that_reports_up_to_its_last_second() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    let running = Tool::new(&[&ruler.url("/"), "-r", "200", "-d", "60s", "--out", &file]).start();
    // 2.5 s into the run: two ticks are written.
    ruler.wait_for_requests(500);
    running.signal("KILL");
    assert_eq!(running.wait().code, -9);
    let json = Tool::run(&["report", &file, "--json"]).expect_code(3).json();
    assert_eq!(json["is_complete"], false);
    assert!(json["totals"]["requests"].as_u64().unwrap() >= 200, "{:#}", json["totals"]);
}

/// SQLite would apply the log of a deleted run file to the new one.
#[test]
fn a_log_without_its_run_file_is_refused_by_name() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let log = scratch.file("a.plim-wal", "of another run");
    let refused = Tool::run(&[&ruler.url("/"), "-n", "5", "--out", &scratch.path("a.plim")]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("a.plim-wal"), "{}", refused.stderr);
    assert_eq!(ruler.requests(), 0);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "of another run");
}
