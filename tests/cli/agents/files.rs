//! The files of examples/agents: plimsoll accepts each command line in them, and what they refer to exists.

use crate::support::Tool;
use serde_json::Value;
use std::path::Path;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agents").join(name);
    std::fs::read_to_string(path).expect("the checkout is whole")
}

/// Parses the documents of a YAML file.
pub fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n").map(|text| serde_saphyr::from_str(text).expect("the file is YAML")).collect()
}

pub fn texts(value: &Value) -> Vec<String> {
    let words = value.as_array().into_iter().flatten();
    words.map(|word| word.as_str().expect("a word is text").to_owned()).collect()
}

/// With `--help`, every flag before it must exist.
pub fn accepts(words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let output = Tool::run(&words);
    assert_eq!(output.code, 0, "{words:?}: {}", output.stderr);
}

#[test]
fn the_units_of_systemd_start_an_agent() {
    let unit = read("plimsoll-agent.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("it starts something");
    let words: Vec<String> = start.split(' ').skip(1).map(|word| word.replace('%', "x")).collect();
    assert_eq!(words[0], "agent");
    accepts(&words);
    for unit in [unit, read("plimsoll-nats.service")] {
        for section in ["[Unit]", "[Service]", "[Install]"] {
            assert!(unit.lines().any(|line| line == section), "{unit}");
        }
    }
}

#[test]
fn the_compose_file_starts_a_server_agents_and_a_load() {
    let all = documents(&read("compose.yaml"));
    let services = all[0]["services"].as_object().expect("services by name");
    let mut count = 0;
    for service in services.values().filter(|service| service["image"] == "plimsoll") {
        let mut words: Vec<String> = texts(&service["entrypoint"]).into_iter().skip(1).collect();
        words.extend(texts(&service["command"]));
        if words.first().is_some_and(|word| word != "test-server") {
            accepts(&words);
            count += 1;
        }
        for other in texts(&service["depends_on"]) {
            assert!(services.contains_key(&other), "there is no service `{other}`");
        }
    }
    assert_eq!(count, 3, "two agents and a coordinator");
}
