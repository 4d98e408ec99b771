//! The result: one JSON document, the report, quiet, exit codes, where words go.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn json_is_one_document_with_the_promised_fields() {
    let ruler = Ruler::start(&["--delay", "1ms"]);
    let output = Tool::run(&[&ruler.url("/"), "-r", "200", "-d", "1s", "--json"]);
    let json = output.json();
    assert_eq!(json["schema_version"], 2);
    assert!(["PASS", "FAIL", "INCONCLUSIVE"].contains(&json["verdict"]["result"].as_str().unwrap()));
    for pointer in [
        "/totals/requests",
        "/totals/errors",
        "/response_time/p50_ns",
        "/response_time/p99_ns",
        "/response_time/max_ns",
        "/service_time/p50_ns",
        "/service_time/p99_ns",
        "/service_time/max_ns",
        "/offered/rate_per_s",
        "/achieved/rate_per_s",
        "/client/schedule_lag/count",
        "/client/connections/opened",
    ] {
        assert!(json.pointer(pointer).is_some_and(serde_json::Value::is_number), "{pointer}:\n{json:#}");
    }
    assert_eq!(json["totals"]["requests"], 200);
    assert_eq!(ruler.requests(), 200);
    assert!(json["service_time"]["p50_ns"].as_u64().unwrap() >= 1_000_000);
}

#[test]
fn the_report_goes_to_stdout_and_the_talk_to_stderr() {
    let ruler = Ruler::start(&[]);
    let output = Tool::run(&[&ruler.url("/"), "-n", "2000", "-c", "4"]);
    assert!(output.stdout.contains("2,000"), "{}", output.stdout);
    assert!(
        !output.stdout.contains('\x1b') && !output.stderr.contains('\x1b'),
        "escape codes without a terminal"
    );
    assert_eq!(output.state_files.len(), 1);
    assert!(output.stdout.contains(&output.state_files[0]), "the report says where the run is kept");
}

#[test]
fn colors_follow_the_variables_that_force_or_disable_them() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/");
    let run = |more: &[&str]| {
        let args = [&[url.as_str(), "-n", "10", "-c", "1"], more].concat();
        Tool::new(&args).env("CLICOLOR_FORCE", "1").start().wait().stdout.contains('\x1b')
    };
    assert!(run(&[]) && !run(&["--no-color"]));
}

#[test]
fn quiet_says_nothing_when_all_is_well() {
    let ruler = Ruler::start(&[]);
    let output = Tool::run(&[&ruler.url("/"), "-n", "100", "-c", "2", "--quiet"]).expect_code(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    let json = Tool::run(&[&ruler.url("/"), "-n", "100", "-c", "2", "--quiet", "--json"]);
    assert_eq!((json.json()["totals"]["requests"].as_u64(), json.stderr.as_str()), (Some(100), ""));
}

#[test]
fn quiet_names_the_verdict_when_it_is_not_a_pass() {
    let ruler = Ruler::start(&["--status", "404"]);
    let output = Tool::run(&[&ruler.url("/"), "-n", "50", "-c", "2", "--quiet"]).expect_code(99);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("FAIL"), "{}", output.stderr);
}

#[test]
fn answers_that_are_all_404_are_a_fail_with_code_99() {
    let ruler = Ruler::start(&["--status", "404"]);
    let json = Tool::run(&[&ruler.url("/"), "-n", "50", "-c", "2", "--json"]).expect_code(99).json();
    assert_eq!(json["verdict"]["result"], "FAIL");
    assert_eq!(json["totals"]["errors"], 50);
    assert_eq!(json["status_codes"]["404"], 50);
}

#[test]
fn a_quick_server_that_only_errs_fails_although_it_meets_the_threshold_on_its_time() {
    let ruler = Ruler::start(&["--status", "500"]);
    let rule = "response_time p99 < 10s";
    let args = [&ruler.url("/"), "-n", "2000", "-c", "2", "--json", "--threshold", rule];
    let json = Tool::run(&args).expect_code(99).json();
    let judged: Vec<_> =
        json["thresholds"].as_array().unwrap().iter().map(|t| (&t["text"], &t["is_met"])).collect();
    // 2,000 requests are over before a second is: too short for an outage.
    let [written, errors, outage] = &judged[..] else { panic!("{judged:?}") };
    assert_eq!(*written, (&rule.into(), &true.into()));
    assert_eq!(*errors, (&"error_rate == 0%".into(), &false.into()));
    assert_eq!(outage.0, "longest_outage < 1s");
    assert_eq!(json["verdict"]["reasons"][0], "error_rate == 0%");
    // A threshold on errors replaces the default.
    let args = [&ruler.url("/"), "-n", "50", "-c", "2", "-q", "--threshold", "error_rate <= 100%"];
    Tool::run(&args).expect_code(0);
}

#[test]
fn a_missed_threshold_is_code_99_and_a_met_one_0() {
    let ruler = Ruler::start(&["--delay", "20ms"]);
    let url = ruler.url("/");
    let run = |rule: &str| Tool::run(&[&url, "-n", "40", "-c", "4", "--threshold", rule, "-q"]).code;
    assert_eq!(run("response_time p50 < 1ms"), 99);
    assert_eq!(run("response_time p50 < 10s"), 0);
    assert_eq!(run("requests >= 41"), 99);
}

#[test]
fn a_percentile_with_too_few_samples_proves_nothing_and_is_code_3() {
    let ruler = Ruler::start(&[]);
    let args = [&ruler.url("/"), "-n", "50", "-c", "2", "--threshold", "response_time p99.9 < 10s", "--json"];
    let json = Tool::run(&args).expect_code(3).json();
    assert_eq!(json["verdict"]["reasons"], serde_json::json!(["too_few_samples"]));
}

#[test]
fn the_warm_up_is_in_the_timeline_but_not_in_the_totals() {
    let ruler = Ruler::start(&[]);
    let json = Tool::run(&[&ruler.url("/"), "-r", "100", "-d", "2s", "--warmup", "1s", "--json"]).json();
    assert_eq!(ruler.requests(), 200);
    let counted = json["totals"]["requests"].as_u64().unwrap();
    assert!((99..=101).contains(&counted), "{counted}");
    assert_eq!(json["timeline"][0]["is_warmup"], true);
    assert_eq!(json["timeline"][1]["is_warmup"], false);
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    Tool::run(&[&ruler.url("/"), "-n", "100", "-q", "--out", &file]).expect_code(0);
    // `true` reads nothing: the pipe is closed before the report comes.
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "trap '' PIPE; { \"$0\" report \"$1\"; echo $? >&2; } | true",
        crate::support::BINARY,
        &file,
    ]);
    let output = Tool::of(command).start().wait();
    assert_eq!(output.stderr.trim(), "0");
}

/// Answers take 3 s, and the run ends in the middle of a second: most of its last second is still on its way.
#[test]
fn the_live_line_of_each_second_is_the_reports() {
    let ruler = Ruler::start(&["--delay", "3s"]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    let live = Tool::run(&[&ruler.url("/"), "-r", "20", "-d", "4500ms", "--out", &file]);
    let report = Tool::run(&["report", &file, "--ndjson"]);
    let rows: Vec<serde_json::Value> =
        report.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines: Vec<&str> = live.stderr.lines().filter(|line| line.contains("achieved ")).collect();
    assert_eq!(lines.len(), rows.len(), "{}", live.stderr);
    for (line, row) in lines.iter().zip(&rows) {
        for name in ["p50", "p99", "max"] {
            let shown = line.split(&format!("  {name} ")).nth(1).unwrap().split("  ").next().unwrap();
            let field = format!("{name}_ns");
            let is_in = |list: &str| row[list].as_array().unwrap().iter().any(|one| *one == *field);
            match row[&field].as_f64() {
                Some(ns) if !is_in("few_samples") => {
                    assert_eq!(shown.starts_with(">= "), is_in("lower_bounds"), "{line}\n{row}");
                    let seconds: f64 =
                        shown.trim_start_matches(">= ").trim_end_matches(" s").parse().unwrap();
                    // Three digits are printed.
                    assert!((seconds - ns / 1e9).abs() <= 0.005 * seconds, "{line}\n{row}");
                }
                _ => assert_eq!(shown, "-", "{line}\n{row}"),
            }
        }
    }
    // No response arrived before 3 s, and none was faster than 3 s.
    assert!(lines[1].contains("p50 -  p99 -  max -"), "{}", lines[1]);
    let last = rows.last().unwrap();
    assert!(last["p50_ns"].as_u64().unwrap() >= 2_970_000_000, "{last}");
}
