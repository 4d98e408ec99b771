//! `cargo xtask nightly`: the proofs that are too long for every push. The truth tests lengthen themselves when they
//! see `PLIMSOLL_NIGHTLY=1` (the 15-minute memory run); none is hidden behind an attribute that skips it.

use crate::{Outcome, bench, shell, suites};
use std::process::Command;

/// A hundred times what every push tries.
const FUZZ_CASES: &str = "1000000";

/// Where generated and mutated inputs go through parsers; a failure prints the seed that repeats it.
const FUZZED: &[(&str, &[&str])] = &[
    ("plimsoll-wire", &["fuzz_h1", "fuzz_sse"]),
    ("plimsoll-script", &["feed_fuzz", "answer_fuzz"]),
    ("plimsoll-front", &["texts"]),
];

pub fn command(arguments: &[String]) -> Outcome {
    if let Some(unknown) = arguments.first() {
        return Err(format!("unknown argument `{unknown}`"));
    }
    println!("== truth tests, long");
    suites::nightly("truth")?;
    println!("== questions against real servers, long");
    suites::nightly("questions")?;
    println!("== searches and comparisons, simulated by the hundred");
    let simulated =
        ["test", "--release", "--package", "plimsoll-record", "--test", "search", "--test", "compare"];
    shell::run(shell::cargo().args(simulated).env("PLIMSOLL_NIGHTLY", "1"))?;
    println!("== intervals of laws, how often they hold");
    let laws = ["test", "--release", "--package", "plimsoll-stats", "--test", "usl"];
    shell::run(shell::cargo().args(laws).env("PLIMSOLL_NIGHTLY", "1"))?;
    println!("== parsers, {FUZZ_CASES} cases each");
    for (package, tests) in FUZZED {
        let mut line = vec!["test", "--release", "--package", package];
        tests.iter().for_each(|test| line.extend(["--test", test]));
        shell::run(shell::cargo().args(line).env("PLIMSOLL_FUZZ_CASES", FUZZ_CASES))?;
    }
    println!("== bench, full");
    bench::command(&["all".into(), "--note".into(), "nightly".into()])?;
    println!("== licences, bans, sources");
    deny()
}

/// cargo-deny is kept under target/tools: a chore installs nothing into a person's home.
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
