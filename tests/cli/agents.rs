//! Loads from agents: one result with exact counts, for every kind of load and for failures on the way.

mod doctor;
mod faults;
mod files;
mod kubernetes;
mod links;
mod monitors;
mod safety;
mod signed;
mod tools;
mod unequal;
mod weather;

use crate::support::{Ruler, Scratch, Tool, nats as server};
use serde_json::Value;
use server::{Server, ends};

fn requests(json: &Value) -> u64 {
    json["totals"]["requests"].as_u64().unwrap()
}

#[test]
fn a_number_of_requests_is_sent_exactly_once_by_all_agents_together() {
    let ruler = Ruler::start(&[]);
    let args = [&ruler.url("/"), "-n", "1001", "-c", "6", "--agents", "local:3", "--json"];
    let json = Tool::run(&args).expect_code(0).json();
    assert_eq!((requests(&json), ruler.requests()), (1_001, 1_001));
    let rows = json["generators"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["agent"]["name"].as_str().unwrap()).collect();
    assert_eq!(rows.len(), 3, "{names:?}");
    for name in ["local-1", "local-2", "local-3"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(rows.iter().map(|row| row["requests"].as_u64().unwrap()).sum::<u64>(), 1_001);
}

#[test]
fn agents_of_one_command_need_no_server_and_leave_nothing() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let tmp = scratch.folder().join("tmp");
    // One that a process has left that was killed, and one of a process that lives.
    let (left, alive) = (tmp.join("plimsoll-local-left"), tmp.join("plimsoll-local-alive"));
    for folder in [&left, &alive] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("lock"), "").unwrap();
    }
    let lock = std::fs::File::open(alive.join("lock")).unwrap();
    lock.lock().unwrap();
    let args = [&ruler.url("/"), "-n", "100", "-c", "2", "--agents", "local:2", "--json"];
    // No other program can be found.
    let tool = Tool::new(&args).env("PATH", "/nonexistent").env("TMPDIR", &tmp.display().to_string());
    let output = tool.start().wait().expect_code(0);
    assert_eq!((requests(&output.json()), ruler.requests()), (100, 100));
    let names: Vec<_> = std::fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["plimsoll-local-alive"]);
}

/// As many as there are: ten tenths are a whole.
#[test]
fn ten_agents_have_a_complete_record() {
    let ruler = Ruler::start(&[]);
    let args = [&ruler.url("/"), "-r", "200", "-d", "1s", "--agents", "local:10", "--json"];
    let json = Tool::run(&args).expect_code(0).json();
    assert_eq!((requests(&json), json["generators"].as_array().map(Vec::len)), (200, Some(10)));
    let cautions = json["cautions"].as_array().unwrap();
    assert!(cautions.iter().all(|caution| caution["code"] != "incomplete_record"), "{}", json["verdict"]);
}

#[test]
fn every_arrival_of_the_schedule_is_sent_by_exactly_one_agent() {
    let ruler = Ruler::start(&[]);
    let args = [&ruler.url("/"), "-r", "300", "-d", "3s", "--agents", "local:2", "--json"];
    let json = Tool::run(&args).expect_code(0).json();
    assert_eq!((requests(&json), ruler.requests()), (900, 900));
    for row in json["generators"].as_array().unwrap() {
        let agent = &row["agent"];
        let bound_ns = agent["clock_bound_ns"].as_u64().unwrap();
        assert!(bound_ns < 50_000_000, "the bound of the clocks is {bound_ns} ns");
    }
}

#[test]
fn setup_and_teardown_run_once_and_unique_rows_are_dealt_out() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let rows: String = (0..40).map(|n| format!("user{n}\n")).collect();
    std::fs::create_dir(scratch.folder().join("data")).unwrap();
    scratch.file("data/users.csv", &format!("name\n{rows}"));
    let file = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\n\
             data: {{ users: {{ file: data/users.csv, sharing: unique, on_end: stop }} }}\n\
             setup:\n  - get: /setup\n    extract: {{ length: {{ header: content-length }} }}\n\
             teardown:\n  - get: /teardown\n\
             scenarios:\n  s:\n    - get: /${{users.name}}?${{length}}\n\
             load: {{ users: 4, duration: 20s }}\n",
            ruler.url("").trim_end_matches('/')
        ),
    );
    let args = ["run", &file, "--agents", "local:2", "--json"];
    let json = Tool::run(&args).json();
    assert_eq!(requests(&json), 40, "each row once");
    assert_eq!(ruler.requests(), 42, "and one setup and one teardown");
}

#[test]
fn a_script_runs_on_agents_with_the_data_of_its_setup() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    scratch.file("lib.js", "export const path = '/item/';\n");
    let url = ruler.url("/");
    let script = scratch.file(
        "a.js",
        &format!(
            "import http from 'k6/http';\nimport {{ check }} from 'k6';\nimport {{ path }} from './lib.js';\n\
             export const options = {{ vus: 4, iterations: 20 }};\n\
             export function setup() {{ http.get('{url}setup'); return {{ key: 'v1' }}; }}\n\
             export default function (data) {{\n  const res = http.get('{url}' + path.slice(1) + data.key);\n  \
             check(data, {{ 'has the key': (d) => d.key === 'v1' }});\n}}\n"
        ),
    );
    let json = Tool::run(&["run", &script, "--agents", "local:2", "--json"]).expect_code(0).json();
    assert_eq!(requests(&json), 20);
    assert_eq!(ruler.requests(), 21, "setup runs once");
}

#[test]
fn agents_on_a_server_are_listed_and_selected_by_name_and_label() {
    let (ruler, server) = (Ruler::start(&[]), Server::start());
    let eu = server.agent("a", &["--labels", "region=eu,zone=1"]);
    let us = server.agent("b", &["--labels", "region=us"]);
    server.wait_for(2);
    let rows = server.agents();
    assert_eq!((&rows[0]["name"], &rows[0]["labels"]["region"]), (&"a".into(), &"eu".into()));
    assert_eq!(rows[1]["run"], Value::Null);
    let list = Tool::run(&["agents", "--nats", &server.url()]).expect_code(0).stdout;
    assert_eq!((list.matches("CLOCK").count(), list.matches("  ±").count()), (1, 2), "{list}");
    let run = |selection: &str, more: &[&str]| {
        let args = [&ruler.url("/"), "-n", "20", "-c", "2", "--nats", &server.url(), "--agents", selection];
        Tool::run(&[&args[..], more].concat())
    };
    let json = run("region=us", &["--json"]).expect_code(0).json();
    assert_eq!(json["generators"].as_array().unwrap().len(), 1);
    assert_eq!(json["generators"][0]["agent"]["name"], "b");
    let json = run("a,b", &["--json"]).expect_code(0).json();
    let labels: Vec<&Value> = json["labels"].as_array().unwrap().iter().map(|row| &row["value"]).collect();
    assert!(labels.contains(&&"eu".into()) && labels.contains(&&"us".into()), "{labels:?}");
    let output = run("a,c", &["--wait-for-agents", "1s"]).expect_code(1);
    assert!(output.stderr.contains("missing agents: `c`"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 40);
    for agent in [eu, us] {
        assert_eq!(ends(agent).code, 0);
    }
}

#[test]
fn an_interrupt_ends_the_load_on_all_agents_with_one_report() {
    let ruler = Ruler::start(&[]);
    // A busy machine must not change the exit code.
    let rule = ["--threshold", "achieved >= 1%"];
    let args = [&ruler.url("/"), "-r", "200", "-d", "60s", "--agents", "local:2", "--json"];
    let running = Tool::new(&[&args[..], &rule].concat()).start();
    ruler.wait_for_requests(300);
    running.signal("INT");
    let output = running.wait();
    assert_eq!(output.code, 130, "{}", output.stderr);
    let json = output.json();
    assert_eq!((&json["stopped_by"], &json["is_complete"]), (&"interrupt".into(), &true.into()));
    assert_eq!(requests(&json) + json["totals"]["in_flight_at_end"].as_u64().unwrap_or(0), ruler.requests());
}

#[test]
fn an_agent_that_is_killed_is_named_and_the_others_continue() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let (first, second) = (server.agent("a", &[]), server.agent("b", &[]));
    server.wait_for(2);
    let out = scratch.path("run.plim");
    let args = [&ruler.url("/"), "-r", "100", "-d", "8s", "--nats", &server.url(), "--agents", "a,b"];
    let running = Tool::new(&[&args[..], &["--json", "--out", &out]].concat()).start();
    ruler.wait_for_requests(150);
    second.signal("KILL");
    let output = running.wait();
    let json = output.json();
    assert!(output.stderr.contains("agent `b` has not been heard for 3 s"), "{}", output.stderr);
    assert_eq!(output.code, 3, "{}", output.stderr);
    let said = json["verdict"]["sentence"].as_str().unwrap();
    assert!(said.starts_with("INCONCLUSIVE: agents were lost during the load (`b`, one of 2"), "{said}");
    let rows = json["generators"].as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["agent"]["name"] == name).unwrap();
    assert_eq!(of("a")["requests"], 400, "its share of 8 s");
    assert_eq!((&of("a")["is_complete"], &of("b")["is_complete"]), (&true.into(), &false.into()));
    assert!(of("b")["requests"].as_u64().unwrap() < 400);
    assert_eq!(ends(first).code, 0);
    drop(second);
}

#[test]
fn a_server_that_is_killed_and_restarted_costs_no_result() {
    let (ruler, mut server) = (Ruler::start(&[]), Server::start());
    let agents = [server.agent("a", &[]), server.agent("b", &[])];
    server.wait_for(2);
    let args = [&ruler.url("/"), "-r", "100", "-d", "8s", "--nats", &server.url(), "--agents", "2", "--json"];
    let running = Tool::new(&args).start();
    ruler.wait_for_requests(200);
    server.kill();
    ruler.wait_for_requests(400);
    server.restart();
    let json = running.wait().expect_code(0).json();
    assert_eq!((requests(&json), ruler.requests()), (800, 800));
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

#[test]
fn a_coordinator_that_is_killed_continues_when_it_is_started_again() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let agents = [server.agent("a", &[]), server.agent("b", &[])];
    server.wait_for(2);
    let out = scratch.path("run.plim");
    let url = ruler.url("/");
    let words =
        [&url, "-r", "100", "-d", "10s", "--nats", &server.url(), "--agents", "2", "--out", &out, "--json"];
    let first = Tool::new(&words).start();
    ruler.wait_for_requests(300);
    // Meanwhile, no other process works on it.
    let second = Tool::run(&words).expect_code(1);
    assert!(second.stderr.contains("another coordinator works on"), "{}", second.stderr);
    first.signal("KILL");
    assert_ne!(first.wait().code, 0);
    let other = Tool::run(&[&words[..2], &["50"], &words[3..]].concat()).expect_code(2);
    assert!(other.stderr.contains("belongs to another load"), "{}", other.stderr);
    let output = Tool::run(&words).expect_code(0);
    assert!(output.stderr.contains("continuing"), "{}", output.stderr);
    let json = output.json();
    assert_eq!((requests(&json), ruler.requests()), (1_000, 1_000));
    assert_eq!(json["is_complete"], true);
    assert!(!scratch.folder().join("run.agents").exists());
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

#[test]
fn a_server_that_requires_a_password_takes_it_from_the_address_and_nothing_shows_it() {
    let (ruler, server) = (Ruler::start(&[]), Server::start_with(&["--user", "ann", "--pass", "right"]));
    let url = |password: &str| format!("nats://ann:{password}@127.0.0.1:{}", server.port);
    let agent = Tool::new(&["agent", "--nats", &url("right"), "--name", "a"]).start();
    let load = |nats: &str| {
        let args = [&ruler.url("/"), "-n", "10", "-c", "1", "--agents", "a", "--wait-for-agents", "20s"];
        Tool::run(&[&args[..], &["--nats", nats, "--json"]].concat())
    };
    assert_eq!(requests(&load(&url("right")).expect_code(0).json()), 10);
    for nats in [url("wrong"), server.url()] {
        let output = load(&nats).expect_code(1);
        assert!(output.stderr.contains("rejected the credentials"), "{}", output.stderr);
        assert!(!output.stderr.contains("wrong"), "{}", output.stderr);
    }
    let output = ends(agent);
    assert!(output.code == 0 && !output.stderr.contains("right"), "{}", output.stderr);
}

#[test]
fn what_cannot_work_is_said_before_any_load() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/");
    let server = Server::start();
    let tls = server.url().replace("nats://", "tls://");
    let cases: [(&[&str], i32, &str); 11] = [
        (&["--agents", "2", "--nats", "nats://127.0.0.1:1"], 1, "cannot connect to the NATS server"),
        (&["--agents", "2", "--nats", "http://127.0.0.1:1"], 2, "invalid address of a NATS server `http:"),
        (&["--agents", "2", "--nats", "nats://a", "--nats-ca", "ca.pem"], 2, "write `tls://` instead"),
        (&["--agents", "2", "--nats", &tls], 1, "the server does not use TLS"),
        (&["--agents", "2"], 2, "missing address of the NATS server"),
        (&["--agents", "a b", "--nats", "nats://127.0.0.1:1"], 2, "invalid agents `a b`"),
        (&["--nats", "nats://127.0.0.1:1"], 2, "`--nats` has no effect without `--agents`"),
        (&["--agents", "local:2", "--nats", "nats://127.0.0.1:1"], 2, "threads of this process"),
        (&["--agents", "local:2", "--on-agent-loss", "panic"], 2, "invalid action `panic`"),
        (&["--agents", "local:2", "--shard", "1/2"], 2, "already a shard"),
        (&["--agents", "local:9", "-c", "4"], 2, "4 users cannot be divided among 9 agents"),
    ];
    for (more, code, said) in cases {
        let output = Tool::run(&[&[url.as_str(), "-d", "1s"], more].concat());
        assert_eq!(output.code, code, "{more:?}: {}", output.stderr);
        assert!(output.stderr.contains(said), "{more:?}: {}", output.stderr);
    }
    assert_eq!(ruler.requests(), 0);
}

#[test]
fn a_threshold_on_an_agent_applies_to_its_part_of_the_load() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let agents =
        [server.agent("a", &["--labels", "region=eu"]), server.agent("b", &["--labels", "region=us"])];
    server.wait_for(2);
    let file = |thresholds: &str| {
        scratch.file(
            "a.yaml",
            &format!(
                "target: {}\nscenarios:\n  s: [ {{ get: / }} ]\nload: {{ users: 2, iterations: 20 }}\n\
                 thresholds: {thresholds}\n",
                ruler.url("").trim_end_matches('/')
            ),
        )
    };
    let run = |thresholds: &str, more: &[&str]| {
        let nats = ["--nats", &server.url(), "--agents", "a,b", "--json"].map(str::to_owned);
        let nats: Vec<&str> = nats.iter().map(String::as_str).collect();
        Tool::run(&[&["run", &file(thresholds)], &nats[..], more].concat())
    };
    let output = run(
        "['requests{agent: a} >= 1', 'requests{agent: region=us} >= 1', 'requests{agent: b} < 20', \
         'error_rate{agent: a} == 0%']",
        &[],
    );
    let json = output.expect_code(0).json();
    let of = |subject: &str| {
        let rows = json["thresholds"].as_array().unwrap();
        rows.iter().find(|row| row["subject"] == subject).unwrap()["observed"].as_f64().unwrap()
    };
    assert_eq!(of("requests{agent: a}") + of("requests{agent: b}"), 20.0);
    assert_eq!(of("requests{agent: b}"), of("requests{agent: region=us}"));
    let missed = run("['requests{agent: region=eu} > 1000']", &[]).expect_code(99);
    let sentence = missed.json()["verdict"]["sentence"].to_string();
    assert!(sentence.contains("of agents with region=eu"), "{sentence}");
    let sent = ruler.requests();
    for (thresholds, said) in [
        ("['p99{agent: c} < 1s']", "unknown agent `c` in threshold"),
        ("['p99{agent: region=asia} < 1s']", "use `a`, `b`, or one of their labels"),
    ] {
        let output = run(thresholds, &[]).expect_code(2);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
    let alone = Tool::run(&["run", &file("['p99{agent: a} < 1s']")]).expect_code(2);
    assert!(alone.stderr.contains("applies to agents, but this load has none"), "{}", alone.stderr);
    assert_eq!(ruler.requests(), sent);
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

#[test]
fn a_target_that_refuses_is_the_error_of_the_command() {
    let output = Tool::run(&["http://127.0.0.1:1/", "-d", "2s", "--agents", "local:2"]).expect_code(1);
    assert!(output.stderr.contains("agent `local-"), "{}", output.stderr);
    assert!(output.stderr.contains("127.0.0.1:1"), "{}", output.stderr);
}

#[test]
fn a_sweep_runs_every_combination_on_the_same_agents() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.file(
        "sweep.yaml",
        &format!(
            "target: {}\nscenarios:\n  s:\n    - get: /\nload: {{ users: [2, 4], iterations: 100 }}\n",
            ruler.url("").trim_end_matches('/')
        ),
    );
    let out = scratch.path("results");
    let output = Tool::run(&["run", &file, "--agents", "local:2", "--out", &out, "--json"]);
    let runs = std::fs::read_dir(&out).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        path.extension().is_some_and(|end| end == "plim").then_some(path)
    });
    let sum: u64 =
        runs.map(|path| requests(&Tool::run(&["report", path.to_str().unwrap(), "--json"]).json())).sum();
    assert_eq!(sum, ruler.requests(), "{}", output.stderr);
}
