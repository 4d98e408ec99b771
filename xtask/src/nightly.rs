//! `cargo xtask nightly`: the tests that are too long for every push. Some tests run longer with `PLIMSOLL_NIGHTLY=1`
//! (the 15-minute memory run). Every other command ignores the tests that make sense only as long runs, and tidy checks
//! that each of those names this command.

use crate::{browser, suites};
use chore::{Outcome, shell};
use std::process::Command;

/// A hundred times as many as on every push.
const FUZZ_CASES: &str = "1000000";

/// The tests that feed generated and mutated inputs to parsers; a failure prints its seed.
const FUZZED: &[(&str, &[&str])] = &[
    ("plimsoll-wire", &["fuzz_h1", "fuzz_sse", "h2::cuts", "hpack"]),
    ("plimsoll-script", &["feed_fuzz", "answer_fuzz"]),
    ("plimsoll-front", &["texts"]),
];

pub fn command(arguments: &[String]) -> Outcome {
    if let Some(unknown) = arguments.first() {
        return Err(format!("unknown argument `{unknown}`"));
    }
    println!("== real loads, long");
    suites::nightly()?;
    println!("== the release build: browser and lab");
    browser::command(&[])?;
    lab::command(&["test".into()])?;
    println!("== crates: hundreds of simulated searches and comparisons");
    let crates = ["test", "--release", "--workspace", "--exclude", "plimsoll", "--", "--include-ignored"];
    shell::run(shell::cargo().args(crates).env("PLIMSOLL_NIGHTLY", "1"))?;
    println!("== parsers, {FUZZ_CASES} cases each");
    for (package, tests) in FUZZED {
        let mut line = vec!["test", "--release", "--package", package, "--test", "surface", "--"];
        line.extend(*tests);
        shell::run(shell::cargo().args(line).env("PLIMSOLL_FUZZ_CASES", FUZZ_CASES))?;
    }
    println!("== bench, full");
    bench::command(&["all".into(), "--note".into(), "nightly".into()])?;
    println!("== licenses, bans, sources");
    deny()
}

/// cargo-deny is installed below target/tools: a chore installs nothing into a user's home.
fn deny() -> Outcome {
    let tools = shell::target_folder()?.join("tools");
    let program = tools.join("bin/cargo-deny");
    if !program.is_file() {
        shell::run(shell::cargo().args(["install", "cargo-deny", "--locked", "--root"]).arg(&tools))?;
    }
    shell::run(
        Command::new(&program).current_dir(shell::root()).args(["check", "licenses", "bans", "sources"]),
    )
}
