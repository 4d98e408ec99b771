//! `cargo xtask <command>`: the project's chores. Each command is one module and one row of `COMMANDS`. The help is
//! generated from the table, so it lists every command.
#![forbid(unsafe_code)]
// Chores print for a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod browser;
mod docs;
mod failed;
mod kubernetes;
mod nightly;
mod suites;
mod test;
mod tidy;

use chore::{Outcome, needs};
use std::process::ExitCode;

struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command { name: "tidy", usage: "", about: "check the house rules of STYLE.md", run: tidy::command },
    Command {
        name: "test",
        usage: "[--quick]",
        about: "run everything that CI runs; --quick omits the truth tests, browser, lab, and bench",
        run: test::command,
    },
    Command {
        name: "bench",
        usage: bench::USAGE,
        about: "compare plimsoll with its peers in interleaved runs; writes bench/runs/<date>-<machine>/",
        run: bench::command,
    },
    Command {
        name: "lab",
        usage: lab::USAGE,
        about: "start, check, load, and stop the systems of testbed/",
        run: lab::command,
    },
    Command {
        name: "jmeter",
        usage: jmeterdiff::USAGE,
        about: "run the plans of tests/jmeter with JMeter and with plimsoll, and compare what they send and write",
        run: jmeterdiff::command,
    },
    Command {
        name: "k6",
        usage: k6diff::USAGE,
        about: "run the scripts of tests/k6 with k6 and with plimsoll, and compare what they send and report",
        run: k6diff::command,
    },
    Command {
        name: "browser",
        usage: browser::USAGE,
        about: "test report and console in a real browser; --pictures writes docs/images, --shots takes screenshots",
        run: browser::command,
    },
    Command {
        name: "nightly",
        usage: "[PART...]",
        about: "run the long tests, or some parts of them: release build in browser and lab, long truth tests, full \
                bench, cargo-deny",
        run: nightly::command,
    },
    Command {
        name: "docs",
        usage: "[--check]",
        about: "regenerate docs/reference/ from the binary; --check fails if a page is stale",
        run: docs::command,
    },
    Command {
        name: "needs",
        usage: "",
        about: "install the system packages that the tests use, or print the command that does",
        run: needs::command,
    },
];

fn help() -> String {
    let mut text = String::from("usage: cargo xtask <command>\n\n");
    for command in COMMANDS {
        let head = format!("{} {}", command.name, command.usage);
        text.push_str(&format!("  {}\n      {}\n", head.trim_end(), command.about));
    }
    text
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") || rest.iter().any(|a| a == "--help" || a == "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|c| c.name == name) else {
        eprintln!("unknown command `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{name}: {sentence}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_command_with_a_sentence() {
        let text = help();
        for command in COMMANDS {
            assert!(text.contains(command.name) && text.contains(command.about), "{}", command.name);
        }
    }
}
