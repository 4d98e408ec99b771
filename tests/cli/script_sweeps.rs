//! Sweeps over the variables of a script: a run for each combination, in one folder.

use crate::support::{Ruler, Scratch, Tool};

const SCRIPT: &str = "\
import http from 'k6/http';
export const options = { vus: 1, iterations: Number(__ENV.COUNT) };
export default () => { http.get(`${__ENV.BASE}/${__ENV.PAGE}`); };
";

#[test]
fn every_combination_of_the_values_runs_and_is_reported() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let (file, folder) = (scratch.file("load.js", SCRIPT), scratch.path("sweep"));
    let base = format!("BASE={}", server.url("").trim_end_matches('/'));
    let mut words =
        vec!["run", &file, "--set", &base, "--set", "COUNT=2", "--set", "COUNT=5", "--set", "PAGE=a"];
    words.extend(["--set", "PAGE=b", "--repeat", "2", "--out", &folder]);
    let output = Tool::run(&words);
    assert_eq!(server.requests(), 2 * 2 * (2 + 5), "{}", output.stderr);
    assert!(output.stdout.contains("PAGE b"), "{}", output.stdout);
    assert!(output.stdout.contains("COUNT"), "{}", output.stdout);
    let files = std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok);
    let runs = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "plim"));
    assert_eq!(runs.count(), 8);
    // The same command continues; there is nothing left to do.
    Tool::run(&words);
    assert_eq!(server.requests(), 28);
    let json = Tool::run(&["report", &folder, "--json"]).json();
    assert!(json.to_string().contains("\"COUNT\""), "{json}");
}

#[test]
fn one_value_of_each_name_is_one_run() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let file = scratch.file("load.js", SCRIPT);
    let base = format!("BASE={}", server.url("").trim_end_matches('/'));
    let run = ["run", &file, "--set", &base, "--set", "PAGE=a,b", "--set", "COUNT=3"];
    let json = Tool::run(&[&run[..], &["--json"]].concat()).json();
    assert_eq!(json["totals"]["requests"], 3);
    let several = [&run[..], &["--set", "COUNT=4", "--single-run"]].concat();
    let output = Tool::run(&several).expect_code(2);
    assert!(output.stderr.contains("`--single-run` allows one"), "{}", output.stderr);
    let output = Tool::run(&[&run[..], &["--repeat", "0"]].concat()).expect_code(2);
    assert!(output.stderr.contains("invalid number of runs `0`"), "{}", output.stderr);
    assert_eq!(server.requests(), 3);
}

#[test]
fn check_validates_every_combination() {
    let scratch = Scratch::new();
    let file = scratch.file("load.js", SCRIPT);
    let output = Tool::run(&["check", &file, "--set", "COUNT=1", "--set", "COUNT=2"]).expect_code(0);
    assert!(output.stdout.contains("2 combinations of the values of `--set`"), "{}", output.stdout);
    let output = Tool::run(&["check", &file, "--set", "COUNT=1", "--set", "COUNT=-5"]).expect_code(2);
    assert!(output.stderr.contains("iterations"), "{}", output.stderr);
}

#[test]
fn the_repeat_of_a_file_can_be_replaced() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let text = format!(
        "target: {}\nscenarios: {{ one: [ get: / ] }}\nload: {{ users: 1, requests: 2 }}\nrepeat: 5\n",
        server.url("")
    );
    let (file, folder) = (scratch.file("load.yaml", &text), scratch.path("runs"));
    Tool::run(&["run", &file, "--repeat", "2", "--out", &folder]);
    assert_eq!(server.requests(), 4);
}
