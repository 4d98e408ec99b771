//! Failed tests, according to the output of their program, and the command that repeats only them.

use crate::suites::results;
use chore::bounded::End;
use std::process::Command;

/// How a test program ends when tests have failed.
const TESTS_FAILED: i32 = 101;
/// The failed tests of one program.
pub struct Failed {
    pub name: String,
    /// The command of the program.
    pub command: Command,
    pub tests: Vec<String>,
}

/// Returns the failed tests of a program that reported all of its tests: their names are at the end of its output.
pub fn names(end: &End, text: &str) -> Vec<String> {
    let counted: Option<usize> =
        results(text).last().and_then(|line| line.split("; ").nth(1)?.strip_suffix(" failed")?.parse().ok());
    let has_failures = matches!(end, End::Itself(status) if status.code() == Some(TESTS_FAILED));
    let (true, 1, Some(counted), Some((_, list))) =
        (has_failures, results(text).count(), counted, text.rsplit_once("\nfailures:\n"))
    else {
        return Vec::new();
    };
    let names = list.lines().map_while(|line| line.strip_prefix("    "));
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() == counted { names } else { Vec::new() }
}

/// Returns an error if the program did not run exactly this number of tests: it may not know their names.
pub fn skipped(text: &str, tests: usize) -> Option<String> {
    let passed = results(text)
        .last()
        .and_then(|line| line.strip_prefix("ok. ")?.split_once(" passed")?.0.parse().ok());
    (passed != Some(tests)).then(|| format!("did not run exactly the {tests} failed tests"))
}

impl Failed {
    /// Returns the command of the same program with only these tests, sequentially.
    pub fn alone(&self) -> Command {
        let mut command = Command::new(self.command.get_program());
        command.args(self.command.get_args()).arg("--exact").args(&self.tests);
        for (key, value) in self.command.get_envs() {
            value.map(|value| command.env(key, value));
        }
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        command.env("RUST_TEST_THREADS", "1");
        command
    }
}
