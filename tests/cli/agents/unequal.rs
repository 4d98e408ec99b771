//! Loads that are not the same for all agents: few users, few open files, parts that end at different times.

use super::requests;
use super::server::{Server, ends};
use crate::support::{Ruler, Scratch, Tool};
use std::process::{Command, Stdio};

#[test]
fn a_sweep_has_loads_with_fewer_users_than_agents() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.file(
        "sweep.yaml",
        &format!(
            "target: {}\nscenarios:\n  s: [ {{ get: / }} ]\nload: {{ users: [1, 4], iterations: 40 }}\n",
            ruler.url("").trim_end_matches('/')
        ),
    );
    let out = scratch.path("results");
    let output = Tool::run(&["run", &file, "--agents", "local:2", "--out", &out]).expect_code(0);
    assert!(output.stderr.contains("1 user: only 1 agent will send this load"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 80, "{}", output.stderr);
}

#[test]
fn agents_whose_users_end_at_different_times_have_one_result() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    // User 1 is that of one agent, and waits longer.
    let file = scratch.file(
        "a.js",
        &format!(
            "import http from 'k6/http';\n\
             export const options = {{ vus: 2, iterations: 10 }};\n\
             export default () => {{ http.get('{}?delay=' + (__VU === 1 ? '400ms' : '100ms')); }};\n",
            ruler.url("/")
        ),
    );
    let json = Tool::run(&["run", &file, "--agents", "local:2", "--json"]).expect_code(0).json();
    let rows = json["generators"].as_array().unwrap();
    let mut lengths: Vec<f64> = rows.iter().map(|row| row["elapsed_s"].as_f64().unwrap()).collect();
    lengths.sort_by(f64::total_cmp);
    assert!(lengths[0] < 0.8 * lengths[1], "{lengths:?}");
    let rate = json["achieved"]["rate_per_s"].as_f64().unwrap();
    assert!((rate - 10.0 / lengths[1]).abs() < 0.1, "{rate}/s in {lengths:?}");
}

#[test]
fn an_agent_with_too_few_open_files_is_named_before_the_load() {
    let (ruler, server) = (Ruler::start(&[]), Server::start());
    let program = Command::new("prlimit")
        .args(["--nofile=64:64", env!("CARGO_BIN_EXE_plimsoll")])
        .args(["agent", "--nats", &server.url(), "--name", "few"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut few = program.expect("`prlimit` of util-linux");
    let other = server.agent("other", &[]);
    server.wait_for(2);
    let run = |users: &str| {
        let args =
            [&ruler.url("/"), "-c", users, "-n", "200", "--nats", &server.url(), "--agents", "few,other"];
        Tool::run(&[&args[..], &["--json"]].concat())
    };
    let output = run("200").expect_code(1);
    assert!(
        output.stderr.contains("agent `few` can open 64 files, and its part of the load has 100 users"),
        "{}",
        output.stderr
    );
    assert_eq!(ruler.requests(), 0);
    assert_eq!(requests(&run("80").expect_code(0).json()), 200);
    assert_eq!(ends(other).code, 0);
    few.kill().unwrap();
    few.wait().unwrap();
}

#[test]
fn a_load_that_cannot_be_rebalanced_and_files_that_agents_would_delete_are_refused() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let url = ruler.url("/");
    let rebalance = ["--agents", "local:2", "--on-agent-loss", "rebalance"];
    let output = Tool::run(&[&[&url, "-c", "4", "-d", "1s"][..], &rebalance].concat()).expect_code(2);
    assert!(output.stderr.contains("the load has users, and each agent has its own"), "{}", output.stderr);
    let file = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\nscenarios:\n  s:\n    - get: /\n    - append: {{ file: seen.csv, columns: {{ a: \"1\" }} }}\n\
             load: {{ users: 2, iterations: 4 }}\n",
            url.trim_end_matches('/')
        ),
    );
    let output = Tool::run(&["run", &file, "--agents", "local:2"]).expect_code(2);
    assert!(output.stderr.contains("a step writes `"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 0);
    Tool::run(&["run", &file]).expect_code(0);
    assert_eq!(ruler.requests(), 4);
}

#[test]
fn data_that_setup_writes_reach_all_agents() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    std::fs::create_dir(scratch.folder().join("data")).unwrap();
    let file = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\ndata: {{ made: {{ file: data/made.csv, sharing: unique, on_end: stop }} }}\n\
             setup:\n  - generate: {{ rows: 40, file: data/made.csv, columns: {{ id: \"${{counter}}\" }} }}\n\
             scenarios:\n  s: [ {{ get: \"/${{made.id}}\" }} ]\nload: {{ users: 4, duration: 20s }}\n",
            ruler.url("").trim_end_matches('/')
        ),
    );
    let json = Tool::run(&["run", &file, "--agents", "local:2", "--json"]).json();
    let rows = json["generators"].as_array().unwrap();
    let counts: Vec<u64> = rows.iter().map(|row| row["requests"].as_u64().unwrap()).collect();
    assert_eq!((counts.as_slice(), ruler.requests()), (&[20, 20][..], 40), "each row once");
}

#[test]
fn a_load_that_a_threshold_ends_is_not_called_interrupted() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/?status=503");
    let rule = ["--threshold", "error_rate < 10% abort after 1s", "--no-circuit-breaker"];
    let args = [&url, "-r", "200", "-d", "60s", "--agents", "local:2"];
    let output = Tool::run(&[&args[..], &rule].concat()).expect_code(99);
    assert!(output.stderr.contains("stopped by the threshold"), "{}", output.stderr);
    assert!(!output.stderr.contains("interrupted"), "{}", output.stderr);
}

#[test]
fn what_all_agents_say_of_a_load_is_one_line() {
    let ruler = Ruler::start(&[]);
    let running = Tool::new(&[&ruler.url("/"), "-r", "200", "-d", "60s", "--agents", "local:2"]).start();
    ruler.wait_for_requests(300);
    running.signal("INT");
    let output = running.wait();
    assert_eq!(output.stderr.matches(" s  interrupted\n").count(), 1, "{}", output.stderr);
}
