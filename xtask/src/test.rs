//! `cargo xtask test`: everything that CI runs, in order, cheapest checks first. It prints each step and its duration.
//! The first failure ends the run with a summary of the passed, failed, and unreached steps. Everything is built once:
//! browser, lab, and bench use the binary of the tests. `cargo xtask nightly` uses the release build.

use crate::{browser, docs, suites, tidy};
use chore::{Outcome, bounded, needs, shell};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Time limit of the lab's builds, which run with idle priority during the tests.
const BUILDS_WITHIN: Duration = Duration::from_secs(20 * 60);

/// Free disk space that a run from nothing takes, with a margin of about a half, bytes.
const DISK_BYTES: u64 = 12_000_000_000;

struct Step {
    name: &'static str,
    /// Omitted by `--quick`.
    slow: bool,
    run: fn(quick: bool) -> Outcome,
}

const STEPS: &[Step] = &[
    Step { name: "needs", slow: false, run: |_| needed() },
    Step {
        name: "format",
        slow: false,
        run: |_| shell::run(shell::cargo().args(["fmt", "--all", "--check"])),
    },
    Step { name: "clippy", slow: false, run: |_| clippy() },
    Step { name: "tidy", slow: false, run: |_| tidy::command(&[]) },
    Step { name: "build for the tests", slow: false, run: build },
    Step { name: "docs", slow: false, run: |_| docs() },
    Step { name: "tests", slow: false, run: tests },
    Step { name: "browser", slow: true, run: |_| browser::command(&of_the_tests(&[])?) },
    Step { name: "streams of the testbed", slow: true, run: |_| streams() },
    Step { name: "lab", slow: true, run: |_| lab::command(&of_the_tests(&["test"])?) },
    Step { name: "bench, smoke", slow: true, run: |_| bench::command(&of_the_tests(&["all", "--smoke"])?) },
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

/// Runs the tests of the testbed's stream server, for its broadcasts, which the contract cannot check.
fn streams() -> Outcome {
    let folder = shell::root().join("testbed/sse");
    shell::run(Command::new("go").args(["test", "./..."]).current_dir(folder))
}

/// Installs the programs, and looks for disk space: only what an earlier build left out is still needed.
fn needed() -> Outcome {
    needs::command(&[])?;
    let folder = shell::target_folder()?;
    if folder.join("debug/plimsoll").is_file() { Ok(()) } else { needs::space(&folder, DISK_BYTES) }
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

/// Builds everything in one call, so that cargo keeps both CPUs busy to the end.
fn build(quick: bool) -> Outcome {
    suites::build(&selected(quick)?).map(|programs| println!("{} test programs", programs.len()))
}

/// Returns the binary that the tests drive.
fn tested() -> Result<PathBuf, String> {
    Ok(shell::target_folder()?.join("debug/plimsoll"))
}

/// Returns these words, and the option for the binary that the tests drive.
fn of_the_tests(words: &[&str]) -> Result<Vec<String>, String> {
    let tool = tested()?.to_string_lossy().into_owned();
    Ok(words.iter().map(|word| word.to_string()).chain(["--tool".into(), tool]).collect())
}

fn docs() -> Outcome {
    docs::command(&["--check".into(), "--of".into(), tested()?.to_string_lossy().into_owned()])
}

/// Runs the tests; meanwhile, the lab installs and builds with idle priority.
fn tests(quick: bool) -> Outcome {
    // Already built: cargo only lists the programs.
    let programs = suites::build(&selected(quick)?)?;
    let folder = bounded::folder()?;
    // The children below have their own process groups, which a Ctrl-C at the terminal does not reach.
    let _listening = chore::interrupt::listen()?;
    if quick {
        return suites::run(&programs, folder, || Ok(()));
    }
    let begin = Instant::now();
    let said = folder.clone();
    let meanwhile = std::thread::spawn(move || {
        let outcome = lab_builds(&said);
        println!("-- builds of the lab, during the tests: {:.1} s", begin.elapsed().as_secs_f64());
        outcome
    });
    suites::run(&programs, folder, || {
        meanwhile.join().unwrap_or_else(|_| Err("the thread of the builds panicked".into()))
    })
}

/// Installs and builds the systems of the lab, in a separate process, whose children inherit its priority.
fn lab_builds(said: &Path) -> Outcome {
    let xtask = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    // The build for the tests replaces this program: Linux then reports a deleted file, and the new one has its name.
    let xtask = xtask.to_string_lossy().trim_end_matches(" (deleted)").to_string();
    let prepare = &mut idle(Command::new(xtask).args(["lab", "prepare"]));
    bounded::quietly(prepare, &said.join("lab-prepare.txt"), BUILDS_WITHIN)
}

/// Returns the same command with idle CPU priority (SCHED_IDLE).
fn idle(command: &mut Command) -> Command {
    let mut idle = Command::new("chrt");
    idle.args(["--idle", "0"]).arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        idle.current_dir(folder);
    }
    idle
}

/// Returns the arguments that select test targets. `--quick` names every target except for the truth tests, which load
/// sockets for minutes, because cargo can select targets but not exclude one.
fn selected(quick: bool) -> Result<Vec<String>, String> {
    let mut arguments = vec!["--workspace".to_string()];
    if quick {
        arguments.extend(["--lib", "--bins", "--examples"].map(String::from));
        for name in other_test_targets(&shell::metadata(&["--no-deps"])?) {
            arguments.extend(["--test".into(), name]);
        }
    }
    Ok(arguments)
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
    fn quick_selects_every_test_target_except_truth() {
        let metadata = serde_json::json!({"packages": [
            {"targets": [{"kind": ["test"], "name": "truth"}, {"kind": ["test"], "name": "cli"}]},
            {"targets": [{"kind": ["lib"], "name": "stats"}, {"kind": ["test"], "name": "cli"}]}]});
        assert_eq!(other_test_targets(&metadata), ["cli"]);
    }

    #[test]
    fn the_summary_lists_passed_failed_and_unreached_steps() {
        let text = failed(&[("needs", 0.2)], "format", &["clippy", "tidy"]);
        assert_eq!(text, "passed: needs 0 s\nFAILED: format\nnot reached: clippy, tidy");
    }
}
