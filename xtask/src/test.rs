//! `cargo xtask test`: what CI runs, in order, cheapest complaint first. Every step has a heading and its seconds;
//! the first failure ends the run with a summary of what passed, what failed and what was not reached.

use crate::{Outcome, bench, browser, docs, lab, needs, shell, tidy};
use std::time::Instant;

struct Step {
    name: &'static str,
    /// Left out by `--quick`.
    slow: bool,
    run: fn(quick: bool) -> Outcome,
}

const STEPS: &[Step] = &[
    Step { name: "needs", slow: false, run: |_| needs::command(&[]) },
    Step {
        name: "format",
        slow: false,
        run: |_| shell::run(shell::cargo().args(["fmt", "--all", "--check"])),
    },
    Step { name: "clippy", slow: false, run: |_| clippy() },
    Step { name: "tidy", slow: false, run: |_| tidy::command(&[]) },
    Step { name: "docs", slow: false, run: |_| docs::command(&["--check".into()]) },
    Step { name: "tests", slow: false, run: tests },
    Step {
        name: "release build",
        slow: true,
        run: |_| shell::run(shell::cargo().args(["build", "--release"])),
    },
    Step { name: "browser", slow: true, run: |_| browser::command(&[]) },
    Step { name: "streams of the testbed", slow: true, run: |_| streams() },
    Step { name: "lab", slow: true, run: |_| lab::command(&["test".into()]) },
    Step { name: "bench, smoke", slow: true, run: |_| bench::command(&["all".into(), "--smoke".into()]) },
];

pub fn command(arguments: &[String]) -> Outcome {
    let quick = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--quick"] => true,
        _ => return Err(format!("unknown arguments `{}`", arguments.join(" "))),
    };
    let steps: Vec<&Step> = STEPS.iter().filter(|step| !(quick && step.slow)).collect();
    let mut done: Vec<(&str, f64)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        println!("\n== {}", step.name);
        let begin = Instant::now();
        let outcome = (step.run)(quick);
        let seconds = begin.elapsed().as_secs_f64();
        println!("-- {}: {seconds:.1} s", step.name);
        if let Err(sentence) = outcome {
            let rest: Vec<&str> = steps[at + 1..].iter().map(|s| s.name).collect();
            return Err(format!("{}\n{}", sentence, failed(&done, step.name, &rest)));
        }
        done.push((step.name, seconds));
    }
    let total: f64 = done.iter().map(|(_, seconds)| seconds).sum();
    println!("\nall {} steps passed in {total:.0} s ({})", done.len(), passed(&done));
    Ok(())
}

fn passed(done: &[(&str, f64)]) -> String {
    let parts: Vec<String> = done.iter().map(|(name, seconds)| format!("{name} {seconds:.0} s")).collect();
    if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
}

fn failed(done: &[(&str, f64)], name: &str, rest: &[&str]) -> String {
    let rest = if rest.is_empty() { "nothing".into() } else { rest.join(", ") };
    format!("passed: {}\nFAILED: {name}\nnot reached: {rest}", passed(done))
}

/// The stream server of the testbed has tests of its own: a client that reads one answer at a time sees no rounds.
fn streams() -> Outcome {
    let folder = shell::root().join("testbed/sse");
    shell::run(std::process::Command::new("go").args(["test", "./..."]).current_dir(folder))
}

fn clippy() -> Outcome {
    shell::run(shell::cargo().args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

/// The truth tests load real sockets for minutes; `--quick` names every other test target instead, because cargo
/// can select targets but cannot leave one out.
fn tests(quick: bool) -> Outcome {
    if !quick {
        return shell::run(shell::cargo().args(["test", "--workspace"]));
    }
    let metadata = shell::metadata(&["--no-deps"])?;
    let mut command = shell::cargo();
    command.args(["test", "--workspace", "--lib", "--bins", "--examples"]);
    for name in other_test_targets(&metadata) {
        command.args(["--test", &name]);
    }
    shell::run(&mut command)?;
    shell::run(shell::cargo().args(["test", "--workspace", "--doc"]))
}

fn other_test_targets(metadata: &serde_json::Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_test = target["kind"].as_array().into_iter().flatten().any(|kind| kind == "test");
            if let Some(name) = target["name"].as_str().filter(|name| is_test && *name != "truth") {
                names.push(name.to_string());
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_names_every_test_target_but_truth() {
        let metadata = serde_json::json!({"packages": [
            {"targets": [{"kind": ["test"], "name": "truth"}, {"kind": ["test"], "name": "cli"}]},
            {"targets": [{"kind": ["lib"], "name": "stats"}, {"kind": ["test"], "name": "cli"}]}]});
        assert_eq!(other_test_targets(&metadata), ["cli"]);
    }

    #[test]
    fn the_summary_names_what_failed_and_what_was_not_reached() {
        let text = failed(&[("needs", 0.2)], "format", &["clippy", "tidy"]);
        assert_eq!(text, "passed: needs 0 s\nFAILED: format\nnot reached: clippy, tidy");
    }
}
