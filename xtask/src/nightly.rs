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

const JAVASCRIPT: &str = "plimsoll-quickjs";

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
    println!("== JavaScript: garbage collected at every allocation");
    javascript_collected()?;
    println!("== JavaScript: AddressSanitizer");
    javascript_sanitized()?;
    println!("== plimsoll compared with k6 and with JMeter");
    compared("k6", k6diff::k6().is_some(), k6diff::VARIABLE, k6diff::command)?;
    compared("JMeter", jmeterdiff::jmeter().is_some(), jmeterdiff::VARIABLE, jmeterdiff::command)?;
    println!("== bench, full");
    bench::command(&["all".into(), "--note".into(), "nightly".into()])?;
    println!("== licenses, bans, sources");
    deny()
}

/// The tests of the JavaScript machine that let fibers wait, with a collection at each allocation of an object.
fn javascript_collected() -> Outcome {
    // These options are those of every C library, so the build has its own folder.
    let folder = shell::target_folder()?.join("force-gc");
    let line = ["test", "--release", "--package", JAVASCRIPT, "--test", "surface", "--", "collections_while"];
    let options = [("CFLAGS", "-DFORCE_GC_AT_MALLOC".as_ref()), ("CARGO_TARGET_DIR", folder.as_os_str())];
    shell::run(shell::cargo().args(line).envs(options))
}

/// The same under AddressSanitizer, which only a nightly toolchain has. Left out are a test that measures memory, one
/// that compiles the sources itself, and one whose threads are too small for instrumented code.
fn javascript_sanitized() -> Outcome {
    let Some(rustup) = shell::find_program("rustup") else {
        println!("left out: `rustup` is not installed");
        return Ok(());
    };
    let installed = shell::output(Command::new(&rustup).args(["toolchain", "list"]))?;
    if !installed.lines().any(|line| line.starts_with("nightly")) {
        println!("left out: no nightly toolchain is installed (`rustup toolchain install nightly`)");
        return Ok(());
    }
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(rustup);
    command.current_dir(shell::root()).args(["run", "nightly", "cargo", "test", "--package", JAVASCRIPT]);
    command.args(["--features", "sanitizer", "--test", "surface", "--target", &target, "--"]);
    command.args(["--skip", "forty_thousand", "--skip", "offset::", "--skip", "threads_of_any_size"]);
    command.env_remove("CARGO").env("CARGO_TARGET_DIR", shell::target_folder()?.join("asan"));
    command.env("RUSTFLAGS", "-Zsanitizer=address");
    command.env("ASAN_OPTIONS", "detect_stack_use_after_return=0:detect_leaks=0");
    shell::run(&mut command)
}

/// The comparison with another tool, if it is there.
fn compared(name: &str, is_there: bool, variable: &str, compare: fn(&[String]) -> Outcome) -> Outcome {
    if !is_there {
        println!("left out: {name} is not installed ({variable} names its place)");
        return Ok(());
    }
    shell::run(shell::cargo().args(["build", "--release", "--bin", "plimsoll"]))?;
    let tool = shell::target_folder()?.join("release/plimsoll").display().to_string();
    compare(&["--tool".into(), tool])
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
