//! The cases of the Autobahn test suite, which needs Python 2 and so cannot be a part of these tests: the same groups,
//! by a server that writes frames by hand (`testbed/peers/node/websocket-cases.mjs`).

use crate::provoke::json;
use crate::support::peers::{Node, exchange};
use crate::support::{Scratch, run_alongside};
use serde_json::Value;
use std::fmt::Write;

#[test]
fn the_client_passes_every_case_of_the_suite() {
    passes_every_case("1.1");
}

/// The same frames in the DATA frames of a stream.
#[test]
fn the_client_passes_every_case_of_the_suite_over_http2() {
    passes_every_case("2");
}

/// Returns every message of each case, and lets the server judge.
#[track_caller]
fn passes_every_case(http: &str) {
    let _beside = run_alongside();
    let node = Node::start("websocket-cases.mjs");
    let cases = exchange(node.address(), "GET /cases HTTP/1.0\r\n\r\n").json();
    let cases = cases.as_array().expect("a list of cases");
    let mut text =
        format!("target: ws://{}\nconnection: {{ http: {http} }}\nscenarios:\n  s:\n", node.address());
    cases.iter().for_each(|case| steps(case, &mut text));
    text.push_str("load: { users: 1, iterations: 1 }\n");
    let scratch = Scratch::new();
    // Some of the cases are failures of the server.
    let said = json(&["run", &scratch.file("plan.yaml", &text), "--no-circuit-breaker"], 99);
    let verdicts = node.stats();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let id = case["id"].as_str()?;
            let verdict = verdicts[id].as_str().unwrap_or("was not run");
            (verdict != "passed").then(|| format!("{id}: {verdict}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} failed:\n{}\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n"),
        said["errors"]
    );
    assert!(cases.len() > 200, "{} cases", cases.len());
}

/// Steps that return each message as it came.
fn steps(case: &Value, text: &mut String) {
    let id = case["id"].as_str().expect("an ID");
    let kinds: Vec<&str> =
        case["kinds"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "    - connect: /case/{id}\n      name: \"{id}\"\n      on_failure: continue\n      closed_by: server\n"
    );
    if case["compression"] == true {
        text.push_str("      compression: true\n");
    }
    let Some(kind) = kinds.first() else { return };
    assert!(kinds.iter().all(|other| other == kind), "one kind for each case");
    let send = if *kind == "text" { "\"${m}\"" } else { "{ binary: \"${m}\" }" };
    let indented = |depth: usize, line: &str| format!("{}{line}\n", " ".repeat(depth));
    text.push_str(&indented(6, "while_open:"));
    text.push_str(&indented(8, &format!("- repeat: {}", kinds.len())));
    text.push_str(&indented(10, "steps:"));
    text.push_str(&indented(12, &format!("- expect: {{ kind: {kind} }}")));
    text.push_str(&indented(14, "within: 20s"));
    text.push_str(&indented(14, "extract: { m: body }"));
    text.push_str(&indented(14, "on_failure: continue"));
    text.push_str(&indented(12, &format!("- send: {send}")));
}
