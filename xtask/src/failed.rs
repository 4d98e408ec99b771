//! Tests that failed, as their program tells of them, and the program with nothing but those.

use crate::suites::results;
use chore::bounded::End;
use std::process::Command;

/// How a test program ends when tests have failed.
const TESTS_FAILED: i32 = 101;
/// Tests of one program that failed in it.
pub struct Failed {
    pub name: String,
    /// What ran the program.
    pub command: Command,
    pub tests: Vec<String>,
}

/// The tests that failed in a program that told of all of its tests: their names stand at its end.
pub fn names(end: &End, text: &str) -> Vec<String> {
    let counted: Option<usize> =
        results(text).last().and_then(|line| line.split("; ").nth(1)?.strip_suffix(" failed")?.parse().ok());
    let is_told = matches!(end, End::Itself(status) if status.code() == Some(TESTS_FAILED));
    let (true, 1, Some(counted), Some((_, list))) =
        (is_told, results(text).count(), counted, text.rsplit_once("\nfailures:\n"))
    else {
        return Vec::new();
    };
    let names = list.lines().map_while(|line| line.strip_prefix("    "));
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() == counted { names } else { Vec::new() }
}

/// What speaks against a program that ran fewer tests than these: it may not know their names.
pub fn skipped(text: &str, tests: usize) -> Option<String> {
    let passed = results(text)
        .last()
        .and_then(|line| line.strip_prefix("ok. ")?.split_once(" passed")?.0.parse().ok());
    (passed != Some(tests)).then(|| format!("ran other tests than the {tests} that failed"))
}

impl Failed {
    /// The same program with nothing but these tests, one after the other.
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
