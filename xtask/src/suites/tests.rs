//! Shell scripts in place of test programs, and the results of a round.

use super::*;

#[test]
fn only_test_programs_are_read_from_cargos_messages() {
    let messages = r#"
WIRE,"target":{"name":"h1"},"profile":{"test":true},"executable":"/t/h1-1"}
WIRE,"target":{"name":"plimsoll"},"profile":{"test":false},"executable":"/t/plimsoll"}
WIRE,"target":{"name":"h1","kind":["bin"]},"profile":{"test":true},"executable":"/t/h1-2"}
WIRE,"target":{"name":"wire"},"profile":{"test":true},"executable":null}
{"reason":"build-finished","success":true}
"#;
    let wire = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/wire/Cargo.toml""#;
    let found = programs(&messages.replace("WIRE", wire)).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].name(), "wire h1 bin");
    assert_eq!((found[0].name().as_str(), found[0].file.to_str()), ("wire h1", Some("/t/h1-1")));
    assert_eq!(found[0].folder, Path::new("/w/crates/wire"));
    assert!(programs("{broken").is_err());
}

#[test]
fn every_test_target_of_the_binary_is_listed() {
    let metadata = shell::metadata(&["--no-deps"]).unwrap();
    let targets = metadata["packages"].as_array().unwrap().iter().find(|p| p["name"] == "plimsoll").unwrap();
    let mut names: Vec<&str> = targets["targets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|t| t["kind"][0] == "test")
        .filter_map(|t| t["name"].as_str())
        .collect();
    names.sort_unstable();
    let mut known: Vec<&str> = LOADING.iter().map(|row| row.0).collect();
    known.sort_unstable();
    assert_eq!(names, known);
    assert!(TIMED.iter().all(|name| known.contains(name)));
}

/// Returns a round in a new folder.
fn round(name: &str) -> Round {
    let folder = std::env::temp_dir().join(format!("xtask-suites-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    Round::new(folder, false)
}

/// Returns the verdict on a program that is this shell script.
fn verdict_of(name: &str, script: &str, within: Duration) -> Outcome {
    let round = round(name);
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let outcome = round.one(name.into(), command, within).and_then(|()| round.verdict());
    std::fs::remove_dir_all(&round.folder).unwrap();
    outcome
}

const RESULT: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";

#[test]
fn a_program_needs_results_and_a_good_exit_code_to_pass() {
    let within = Duration::from_secs(60);
    assert_eq!(verdict_of("good", &format!("echo '{RESULT}'"), within), Ok(()));
    let failed = |name: &str| Err(format!("tests failed: {name}, see above"));
    assert_eq!(verdict_of("early", "echo 'running 3 tests'; exit 0", within), failed("early"));
    assert_eq!(verdict_of("bad", &format!("echo '{RESULT}'; exit 101"), within), failed("bad"));
    let hangs = format!("echo '{RESULT}'; sleep 60");
    assert_eq!(verdict_of("hangs", &hangs, Duration::from_millis(200)), failed("hangs"));
}

#[test]
fn a_failure_is_shown_completely_and_a_success_in_one_line() {
    let text = format!("test a ... ok\nwhy\n\n{RESULT}\n");
    assert_eq!(describe("x", 1.25, None, &text), "x: 1.2 s, ok. 3 passed; 0 failed; 0 ignored\n");
    let failed = describe("x", 1.25, Some("did not end within 900 s"), &text);
    assert!(failed.contains("test a ... ok\nwhy") && failed.contains("FAILED x"), "{failed}");
    assert!(failed.ends_with("0 ignored: did not end within 900 s\n"), "{failed}");
}

#[test]
fn too_many_repeated_tests_fail_a_run() {
    let script = |tests: usize| {
        let lines = (0..tests).map(|n| format!("repeated: m::t{n}: it failed\nrepeated: m::t{n}: again\n"));
        let lines = lines.collect::<String>() + "retried: m::fine: 7 us\n";
        format!("printf '{lines}' >> $PLIMSOLL_REPEATED_TESTS; echo '{RESULT}'")
    };
    let verdict = |tests: usize| {
        let round = round(&format!("repeated-{tests}"));
        let mut command = Command::new("sh");
        command.args(["-c", &script(tests)]);
        round.listed("t".into(), command, Duration::from_secs(60)).unwrap();
        let verdict = round.verdict();
        std::fs::remove_dir_all(&round.folder).unwrap();
        verdict
    };
    assert_eq!(verdict(MAX_REPEATS), Ok(()));
    let sentence = verdict(MAX_REPEATS + 1).unwrap_err();
    assert!(sentence.starts_with("4 tests had to be repeated, more than 3: t m::t0, "), "{sentence}");
    assert!(!sentence.contains("fine"), "{sentence}");
}

/// A program of three tests: `a` always fails, `b` fails the first time, and the third one passes.
const SCRIPT: &str = r#"
named() { [ $# -eq 0 ] && return 0; for name in "$@"; do [ "$name" = "$wanted" ] && return 0; done; return 1; }
asked=3
[ "$1" = --exact ] && shift && asked=$#
[ -n "$FORGETFUL" ] && [ $asked -ne 3 ] && asked=0
failed=""
for wanted in $ALWAYS; do named "$@" && failed="$failed $wanted"; done
for wanted in $ONCE; do
    named "$@" && [ ! -e "$FOLDER/$wanted" ] && failed="$failed $wanted" && : > "$FOLDER/$wanted"
done
set -- $failed
[ $# -eq 0 ] && echo "test result: ok. $asked passed; 0 failed; 0 ignored; 0 measured; 0 filtered out" && exit 0
printf '\nfailures:\n\n---- x stdout ----\nwhy\n\nfailures:\n'; printf '    %s\n' "$@"
printf '\ntest result: FAILED. 1 passed; %s failed; 0 ignored; 0 measured; 0 filtered out\n' $#
exit 101
"#;

#[test]
fn a_failed_test_is_repeated_alone_and_a_defect_fails_again() {
    let verdict = |name: &str, always: &str, once: &str| {
        let round = round(name);
        let forgetful = if name == "forgetful" { "1" } else { "" };
        let program = round.folder.join("program");
        std::fs::write(&program, SCRIPT).unwrap();
        let mut command = Command::new("sh");
        command.arg(&program).env("ALWAYS", always).env("ONCE", once).env("FOLDER", &round.folder);
        command.env("FORGETFUL", forgetful);
        round.listed("t".into(), command, Duration::from_secs(60)).unwrap();
        let verdict = round.repeat_failed().and_then(|()| round.verdict());
        let repeated = locked(&round.repeated).iter().cloned().collect::<Vec<_>>().join(" ");
        std::fs::remove_dir_all(&round.folder).unwrap();
        (verdict, repeated)
    };
    let failed = || Err("tests failed: t, see above".to_string());
    assert_eq!(verdict("none", "", ""), (Ok(()), String::new()));
    assert_eq!(verdict("once", "", "m::b"), (Ok(()), "t m::b".into()));
    assert_eq!(verdict("always", "m::a", "m::b"), (failed(), "t m::a t m::b".into()));
    // A program that does not know the name runs no test and succeeds.
    assert_eq!(verdict("forgetful", "", "m::b"), (failed(), "t m::b".into()));
    // If there are more than the maximum, none is repeated.
    let many = (0..=MAX_REPEATS).map(|n| format!("m::t{n}")).collect::<Vec<_>>().join(" ");
    assert_eq!(verdict("many", "", &many), (failed(), String::new()));
}

#[test]
fn all_errors_are_reported() {
    let outcomes = [Err("tests failed: x".to_string()), Ok(()), Err("the build failed".to_string())];
    assert_eq!(all_of(outcomes), Err("tests failed: x\nthe build failed".into()));
    assert_eq!(all_of([Ok(()), Ok(())]), Ok(()));
}

#[test]
fn the_ten_slowest_programs_are_listed_first() {
    let ended: Vec<Ended> =
        (0..12).map(|n| Ended { name: format!("p{n}"), seconds: f64::from(n), passed: true }).collect();
    let text = slowest(&ended);
    assert!(text.starts_with("slowest of 12 test programs (66 s in total):\n     11.0 s  p11\n"));
    assert_eq!(text.lines().count(), 11);
}
