//! `cargo xtask nightly`: the tests that are too long for every push. Some tests run longer with `PLIMSOLL_NIGHTLY=1`
//! (the 15-minute memory run). Every other command ignores the tests that make sense only as long runs, and tidy checks
//! that each of those names this command.

use crate::{browser, kubernetes, suites};
use chore::{Outcome, needs, shell};
use std::process::Command;
use std::time::Instant;

/// A hundred times as many as on every push.
const FUZZ_CASES: &str = "1000000";

/// The tests that feed generated and mutated inputs to parsers; a failure prints its seed.
const FUZZED: &[(&str, &[&str])] = &[
    ("plimsoll-wire", &["fuzz_h1", "fuzz_sse", "h2::cuts", "hpack"]),
    ("plimsoll-script", &["feed_fuzz", "answer_fuzz"]),
    ("plimsoll-front", &["texts"]),
];

const JAVASCRIPT: &str = "plimsoll-quickjs";

/// The end of a part that did not fail.
enum Done {
    Passed,
    /// Something is not installed.
    LeftOut(String),
}

struct Part {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<Done, String>,
}

/// Those that measure times first, because they need a machine that does nothing else.
const PARTS: &[Part] = &[
    Part {
        name: "loads",
        about: "real loads, long",
        run: || passed(needs::nightly().and_then(|()| suites::nightly())),
    },
    Part {
        name: "agents",
        about: "agents: faults of the network and of processes, two hundred seeds",
        run: || passed(agents()),
    },
    Part {
        name: "bench",
        about: "bench, full",
        run: || passed(bench::command(&["all".into(), "--note".into(), "nightly".into()])),
    },
    Part {
        name: "browser",
        about: "the release build in a real browser",
        run: || passed(browser::command(&[])),
    },
    Part {
        name: "lab",
        about: "the release build in the lab",
        run: || passed(lab::command(&["test".into()])),
    },
    Part {
        name: "crates",
        about: "crates: hundreds of simulated searches and comparisons",
        run: || passed(crates()),
    },
    Part { name: "parsers", about: "parsers, a million cases each", run: || passed(parsers()) },
    Part { name: "hpack", about: "HPACK: the stories of a public corpus", run: hpack },
    Part {
        name: "collected",
        about: "JavaScript: garbage collected at every allocation",
        run: || passed(javascript_collected()),
    },
    Part { name: "sanitized", about: "JavaScript: AddressSanitizer", run: javascript_sanitized },
    Part {
        name: "k6",
        about: "plimsoll compared with k6",
        run: || compared("k6", k6diff::k6().is_some(), k6diff::VARIABLE, k6diff::command),
    },
    Part {
        name: "jmeter",
        about: "plimsoll compared with JMeter",
        run: || compared("JMeter", jmeterdiff::jmeter().is_some(), jmeterdiff::VARIABLE, jmeterdiff::command),
    },
    Part {
        name: "kubernetes",
        about: "agents in Kubernetes: manifests and chart against the schemas of its API",
        run: in_kubernetes,
    },
    Part { name: "licenses", about: "licenses, bans, sources", run: || passed(deny()) },
];

/// Runs all parts, or those that the arguments name, in the order of the table. A part that fails does not keep the
/// others from running: together, they take hours.
pub fn command(arguments: &[String]) -> Outcome {
    let parts = selected(arguments)?;
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    for part in parts {
        println!("\n== {}: {}", part.name, part.about);
        let begin = Instant::now();
        let outcome = (part.run)();
        let minutes = begin.elapsed().as_secs_f64() / 60.0;
        let said = match outcome {
            Ok(Done::Passed) => "passed".to_owned(),
            Ok(Done::LeftOut(reason)) => format!("left out: {reason}"),
            Err(sentence) => {
                println!("{sentence}");
                failed.push(part.name);
                "FAILED".to_owned()
            }
        };
        println!("-- {}: {said}, {minutes:.1} min", part.name);
        lines.push(format!("  {minutes:6.1} min  {}: {said}", part.name));
        chore::interrupt::check()?;
    }
    println!("\n{}", lines.join("\n"));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn selected(arguments: &[String]) -> Result<Vec<&'static Part>, String> {
    let is_known = |name: &&String| PARTS.iter().any(|part| part.name == **name);
    if let Some(unknown) = arguments.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("unknown part `{unknown}`\nhelp: use some of {}", names.join(", ")));
    }
    let is_selected = |part: &&Part| arguments.is_empty() || arguments.iter().any(|name| name == part.name);
    Ok(PARTS.iter().filter(is_selected).collect())
}

fn passed(outcome: Outcome) -> Result<Done, String> {
    outcome.map(|()| Done::Passed)
}

/// The tests of agents with faults, which the part `loads` leaves out.
fn agents() -> Outcome {
    let line = ["test", "--release", "--package", "plimsoll", "--test", "cli", "--"];
    let mut command = shell::cargo();
    command.args(line).args(["--ignored", "--nocapture", suites::AGENTS]).env("PLIMSOLL_NIGHTLY", "1");
    shell::run(&mut command)
}

/// The manifests for agents, if the tools that check them can be installed.
fn in_kubernetes() -> Result<Done, String> {
    match kubernetes::NEEDS.iter().find(|program| shell::find_program(program).is_none()) {
        Some(missing) => Ok(Done::LeftOut(format!("`{missing}` is not installed"))),
        None => passed(kubernetes::check()),
    }
}

fn crates() -> Outcome {
    let line = ["test", "--release", "--workspace", "--exclude", "plimsoll", "--no-fail-fast"];
    let mut command = shell::cargo();
    // The corpus of HPACK is another part.
    let rest = ["--", "--include-ignored", "--skip", CORPUS];
    command.args(line).args(rest).env("PLIMSOLL_NIGHTLY", "1");
    shell::run(&mut command)
}

fn parsers() -> Outcome {
    for (package, tests) in FUZZED {
        let mut line = vec!["test", "--release", "--package", package, "--test", "surface", "--"];
        line.extend(*tests);
        shell::run(shell::cargo().args(line).env("PLIMSOLL_FUZZ_CASES", FUZZ_CASES))?;
    }
    Ok(())
}

/// The name of the test of HPACK's corpus, and the variable that names its folder.
const CORPUS: &str = "every_story_of_the_public_corpus_is_understood";
const CORPUS_VARIABLE: &str = "PLIMSOLL_HPACK";

fn hpack() -> Result<Done, String> {
    if std::env::var_os(CORPUS_VARIABLE).is_none() {
        let reason = format!("the corpus is not here ({CORPUS_VARIABLE} names its folder)");
        return Ok(Done::LeftOut(reason));
    }
    let line = ["test", "--package", "plimsoll-wire", "--test", "surface", "--", "--ignored", "--nocapture"];
    passed(shell::run(shell::cargo().args(line).arg(CORPUS)))
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
fn javascript_sanitized() -> Result<Done, String> {
    let Some(rustup) = shell::find_program("rustup") else {
        return Ok(Done::LeftOut("`rustup` is not installed".into()));
    };
    let installed = shell::output(Command::new(&rustup).args(["toolchain", "list"]))?;
    if !installed.lines().any(|line| line.starts_with("nightly")) {
        let reason = "no nightly toolchain is installed (`rustup toolchain install nightly`)";
        return Ok(Done::LeftOut(reason.into()));
    }
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(rustup);
    command.current_dir(shell::root()).args(["run", "nightly", "cargo", "test", "--package", JAVASCRIPT]);
    command.args(["--features", "sanitizer", "--test", "surface", "--target", &target, "--"]);
    command.args(["--skip", "forty_thousand", "--skip", "offset::", "--skip", "threads_of_any_size"]);
    command.env_remove("CARGO").env("CARGO_TARGET_DIR", shell::target_folder()?.join("asan"));
    command.env("RUSTFLAGS", "-Zsanitizer=address");
    command.env("ASAN_OPTIONS", "detect_stack_use_after_return=0:detect_leaks=0");
    passed(shell::run(&mut command))
}

/// The comparison with another tool, if it is there.
fn compared(
    name: &str,
    is_there: bool,
    variable: &str,
    compare: fn(&[String]) -> Outcome,
) -> Result<Done, String> {
    if !is_there {
        return Ok(Done::LeftOut(format!("{name} is not installed ({variable} names its place)")));
    }
    shell::run(shell::cargo().args(["build", "--release", "--bin", "plimsoll"]))?;
    let tool = shell::target_folder()?.join("release/plimsoll").display().to_string();
    passed(compare(&["--tool".into(), tool]))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_run_in_the_order_of_the_table_and_unknown_ones_are_rejected() {
        let names = |words: &[&str]| -> Result<Vec<&str>, String> {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            Ok(selected(&words)?.iter().map(|part| part.name).collect())
        };
        assert_eq!(names(&["licenses", "loads"]), Ok(vec!["loads", "licenses"]));
        assert_eq!(names(&[]).unwrap().len(), PARTS.len());
        let rejected = names(&["loads", "benches"]).unwrap_err();
        assert!(
            rejected.starts_with("unknown part `benches`\nhelp: use some of loads, agents, bench,"),
            "{rejected}"
        );
    }
}
