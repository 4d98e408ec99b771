//! `cargo xtask nightly`: the proofs that are too long for every push. Some tests lengthen themselves when they see
//! `PLIMSOLL_NIGHTLY=1` (the 15-minute memory run); those that only make sense long are ignored by every other command,
//! and tidy sees to it that each of them says that this one runs it.

use crate::{browser, suites};
use chore::{Outcome, shell};
use std::process::Command;

/// A hundred times what every push tries.
const FUZZ_CASES: &str = "1000000";

/// Where generated and mutated inputs go through parsers; a failure prints the seed that repeats it.
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
    println!("== the release build, which people get: browser and lab");
    browser::command(&[])?;
    lab::command(&["test".into()])?;
    println!("== crates: searches, comparisons and laws, simulated by the hundred");
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
