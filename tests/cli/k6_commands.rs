//! The command line of k6 besides a run: help, templates, options of a script; and what errors and logs show.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn k6_new_writes_a_template_and_replaces_files_only_by_force() {
    let scratch = Scratch::new();
    let new = scratch.path("new.js");
    for template in ["minimal", "protocol"] {
        Tool::run(&["k6", "new", "--template", template, "-f", &new]).expect_code(0);
        Tool::run(&["check", &new]).expect_code(0);
    }
    let output = Tool::run(&["k6", "new", &new]).expect_code(2);
    assert!(output.stderr.contains("already exists"), "{}", output.stderr);
    assert!(std::fs::read_to_string(&new).unwrap().contains("teardown"), "the file is as before");
    for (words, message) in [
        (&["--template", "browser"][..], "the template `browser` is not supported"),
        (&["--template=nope"], "unknown template `nope`"),
        (&["--froce"], "unknown flag `--froce`"),
        (&["a.js", "b.js"], "unexpected argument `b.js`"),
    ] {
        let output = Tool::run(&[&["k6", "new"], words].concat()).expect_code(2);
        assert!(output.stderr.contains(message), "{}", output.stderr);
    }
}

#[test]
fn k6_has_help_for_itself_and_each_action() {
    for (words, part) in [
        (&["--help"][..], "Actions:"),
        (&["help"], "Actions:"),
        (&["run", "--help"], "--http-debug"),
        (&["inspect", "-h"], "--execution-requirements"),
        (&["new", "--help"], "--template"),
    ] {
        let output = Tool::run(&[&["k6"], words].concat()).expect_code(0);
        assert!(output.stdout.contains(part), "{words:?}: {}", output.stdout);
    }
    let output = Tool::run(&["k6", "run", "--help"]).expect_code(0);
    let (supported, refused) = output.stdout.split_once("Not supported:").unwrap();
    assert!(!supported.contains("--paused") && refused.contains("--paused"), "{}", output.stdout);
}

#[test]
fn k6_takes_the_flags_of_all_actions_before_the_action() {
    let scratch = Scratch::new();
    let file = scratch.file("a.js", "export default () => { console.log('hello'); };");
    let output = Tool::run(&["k6", "-q", "--log-output", "stdout", "run", &file]).expect_code(0);
    assert!(output.stdout.contains("hello"), "{}", output.stdout);
    let output = Tool::run(&["k6", "-u", "2", "run", &file]).expect_code(2);
    assert!(output.stderr.contains("`-u` precedes the action"), "{}", output.stderr);
}

#[test]
fn k6_inspect_tells_how_long_a_test_lasts_and_how_many_users_it_has() {
    let scratch = Scratch::new();
    let script = "export const options = { vus: 2, iterations: 4 };\nexport default () => {};";
    let file = scratch.file("a.js", script);
    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_str(&Tool::run(words).expect_code(0).stdout).unwrap()
    };
    let plain = json(&["k6", "inspect", &file]);
    assert_eq!((&plain["vus"], &plain["scenarios"]), (&2.into(), &serde_json::Value::Null));
    assert!(plain.as_object().unwrap().contains_key("noVUConnectionReuse"), "{plain}");
    assert!(plain.get("maxVUs").is_none() && plain.get("noThresholds").is_none(), "{plain}");
    let all = json(&["k6", "inspect", "--execution-requirements", &file]);
    assert_eq!((&all["totalDuration"], &all["maxVUs"]), (&"10m30s".into(), &2.into()));
    assert_eq!(all["scenarios"]["default"]["executor"], "shared-iterations");
    Tool::run(&["k6", "inspect", "-u", "3", &file]).expect_code(2);
}

#[test]
fn a_stack_that_a_script_reads_has_places_in_its_source() {
    let scratch = Scratch::new();
    let script = "interface A {\n  x: number;\n}\ntype B = A & { y: string };\n\n\
        export default function (): void {\n  try {\n    (undefined as unknown as B).x;\n  } catch (e) {\n    \
        console.log((e as Error).stack);\n  }\n}\n";
    let file = scratch.file("t.ts", script);
    let output = Tool::run(&["k6", "run", "-q", "--no-color", &file]).expect_code(0);
    assert!(output.stderr.contains("msg=\"TypeError: "), "{}", output.stderr);
    assert!(output.stderr.contains("t.ts:8:"), "{}", output.stderr);
}

#[test]
fn an_exception_in_a_cycle_of_imports_has_the_place_of_the_access() {
    let scratch = Scratch::new();
    scratch.file("second.js", "import { a } from './first.js';\nexport const b = a;\n");
    let first = "import './second.js';\nexport const a = 1;\nexport default function () {}\n";
    let file = scratch.file("first.js", first);
    let output = Tool::run(&["k6", "run", &file]).expect_code(107);
    assert!(output.stderr.contains("second.js:2:18"), "{}", output.stderr);
}

#[test]
fn http_debug_full_shows_bodies_that_the_script_does_not_read() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nexport default () => { http.get(`${__ENV.BASE}/`); };";
    let file = scratch.file("load.js", script);
    let set = format!("BASE={}", server.url("").trim_end_matches('/'));
    let read = |script: &str| {
        let file = scratch.file("other.js", script);
        Tool::run(&["k6", "run", "-q", "-e", &set, &file]).expect_code(0).stderr
    };
    let body = read(
        "import http from 'k6/http';\nexport default () => console.log(`<${http.get(`${__ENV.BASE}/`).body}>`);",
    );
    let body = body.split('<').nth(1).and_then(|rest| rest.split('>').next()).expect("a body").to_owned();
    assert!(!body.is_empty());
    let output = Tool::run(&["k6", "run", "-q", "--http-debug=full", "-e", &set, &file]).expect_code(0);
    assert!(output.stderr.contains(&body), "{}", output.stderr);
}
