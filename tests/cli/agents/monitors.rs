//! Monitors of a load from agents: where each runs, and that its data say so.

use super::server::{Server, ends};
use crate::support::{Ruler, Scratch, Tool};
use serde_json::Value;

fn file(scratch: &Scratch, ruler: &Ruler, monitors: &str) -> String {
    let target = ruler.url("").trim_end_matches('/').to_owned();
    let load = "scenarios:\n  s:\n    - get: /\nload: { rate: 20/s, duration: 3s }\n";
    scratch.file("a.yaml", &format!("target: {target}\nmonitors:\n{monitors}{load}"))
}

/// Prints a variable of its process as a metric.
const WHERE: &str = "command: [sh, -c, \"echo place $(printenv PLACE)\"]";

#[test]
fn monitors_run_on_the_coordinator_or_on_the_agents_that_they_name() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let agents = [server.agent("a", &["--labels", "zone=1"]), server.agent("b", &["--labels", "zone=2"])];
    server.wait_for(2);
    let monitors = format!(
        "  - {{ name: own, {WHERE} }}\n  - {{ name: box, host: true, on: zone=1 }}\n  \
         - {{ name: one, host: true, on: b }}\n"
    );
    let file = file(&scratch, &ruler, &monitors);
    let saved = scratch.path("run.plim");
    let words = ["run", &file, "--nats", &server.url(), "--agents", "2", "--out", &saved, "--json"];
    let json = Tool::new(&words).env("PLACE", "7").start().wait().expect_code(0).json();
    let rows = json["monitors"].as_array().unwrap();
    let mut names: Vec<(&str, Option<&str>)> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), row["agent"].as_str())).collect();
    names.sort_unstable();
    assert_eq!(names, [("box@a", Some("a")), ("one@b", Some("b")), ("own", None)]);
    for row in rows {
        assert!(row["samples"].as_u64().unwrap() >= 1, "{row}");
    }
    let own = rows.iter().find(|row| row["name"] == "own").unwrap();
    assert_eq!(own["rows"][0]["max"], 7.0, "{own}");
    // The same from the file, for people.
    let text = Tool::run(&["report", &saved, "--full"]).stdout;
    assert!(text.contains("box@a"), "{text}");
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

#[test]
fn a_monitor_whose_agents_are_not_there_is_refused_before_the_load() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let agent = server.agent("a", &["--labels", "zone=1"]);
    server.wait_for(1);
    let run = |monitors: &str, more: &[&str]| {
        let file = file(&scratch, &ruler, monitors);
        Tool::run(&[&["run", &file], more].concat()).expect_code(2).stderr
    };
    let monitor = "  - { name: box, host: true, on: zone=9 }\n";
    let said = run(monitor, &["--nats", &server.url(), "--agents", "1"]);
    assert!(said.contains("the monitor `box` runs on `zone=9`"), "{said}");
    let said = run(monitor, &[]);
    assert!(said.contains("runs on agents (`zone=9`), and this load has none"), "{said}");
    let said = run("  - { name: box, host: true, on: zone= }\n", &["--agents", "local:1"]);
    assert!(said.contains("invalid agents `zone=`"), "{said}");
    assert_eq!((ruler.requests(), ends(agent).code), (0, 0));
}

#[test]
fn values_of_a_local_load_do_not_change() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = file(&scratch, &ruler, &format!("  - {{ name: own, {WHERE} }}\n"));
    let json = Tool::new(&["run", &file, "--json"]).env("PLACE", "3").start().wait().expect_code(0).json();
    assert_eq!((&json["monitors"][0]["name"], &json["monitors"][0]["agent"]), (&"own".into(), &Value::Null));
    assert_eq!(json["monitors"][0]["rows"][0]["max"], 3.0);
}
