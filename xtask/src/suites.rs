//! The test programs of the workspace. One call of cargo builds them, and xtask runs them, because cargo would run them
//! sequentially, and most of them wait. Those of the crates run two at a time. Those that load sockets run alone and
//! schedule their tests themselves (`tests/support/turn.rs`). Each program has a deadline and a file for its output.
//! When all have ended, failed tests are repeated alone, and those results count. The summary has the duration of each
//! program, and the repeated tests.

use crate::failed::{self, Failed};
use chore::bounded::{self, End};
use chore::interrupt;
use chore::{Outcome, shell};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Test programs of crates that run concurrently. Each uses at most one CPU.
const AT_ONCE: usize = 2;
/// Name of the tests in documentation.
const DOCUMENTATION: &str = "documentation";
/// Length of the list of the slowest programs.
const SLOWEST: usize = 10;
/// Time limits: the slowest program takes a third.
const WITHIN: Duration = Duration::from_secs(15 * 60);
const WITHIN_TRUTH: Duration = Duration::from_secs(20 * 60);
/// Time limit with tests that run longer at night, one of them for a quarter of an hour.
const WITHIN_NIGHTLY: Duration = Duration::from_secs(3 * 60 * 60);
/// Maximum number of repeated tests in one run, of more than two thousand. More of them mean that the machine is too
/// busy for a result, or that tests fail randomly. In both cases, the run must fail.
const MAX_REPEATS: usize = 3;

/// Programs that load real sockets, in this order, and their number of test threads. If tests wait for their turn,
/// threads cost nothing, and with one thread per test, all tests that can run concurrently do.
const LOADING: &[(&str, &str)] = &[
    ("cli", "4"),
    ("console", "4"),
    ("scenarios", "4"),
    ("questions", "64"),
    ("incidents", "64"),
    ("truth", "64"),
];
/// Those of them that check times: nothing else may run alongside them.
const TIMED: &[&str] = &["questions", "incidents", "truth"];

/// Tests of `cli` that are another part of `cargo xtask nightly`.
pub const AGENTS: &str = "agents::";

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    package: String,
    /// Name of the target, such as `cli`; for unit tests, the name of the library.
    target: String,
    file: PathBuf,
    /// Folder of its package, in which cargo would start it.
    folder: PathBuf,
}

/// The result of one program.
struct Ended {
    name: String,
    seconds: f64,
    passed: bool,
}

/// A round of programs, which run sequentially or concurrently, and their results so far.
struct Round {
    /// For their output.
    folder: PathBuf,
    is_nightly: bool,
    ended: Mutex<Vec<Ended>>,
    failed: Mutex<Vec<Failed>>,
    /// Names of tests.
    repeated: Mutex<BTreeSet<String>>,
}

/// Builds the test programs that the arguments of `cargo test` select.
pub fn build(arguments: &[String]) -> Result<Vec<Program>, String> {
    let mut command = shell::cargo();
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]).args(arguments);
    let programs = programs(&shell::output(&mut command)?)?;
    if programs.is_empty() { Err("cargo built no test program".into()) } else { Ok(programs) }
}

/// Reads cargo's messages, one JSON document per line.
fn programs(messages: &str) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).map_err(|e| format!("cannot read cargo: {e}"))?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let text = |place: &str| message.pointer(place).and_then(Value::as_str);
        let (Some(file), Some(target), Some(manifest)) =
            (text("/executable").filter(|_| is_test), text("/target/name"), text("/manifest_path"))
        else {
            continue;
        };
        let folder = Path::new(manifest).parent().unwrap_or(Path::new("/")).to_path_buf();
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The program and the library of a package may have the same name, but their outputs need different files.
        let is_program = message.pointer("/target/kind/0").is_some_and(|kind| kind == "bin");
        let target = if is_program { format!("{target} bin") } else { target.to_owned() };
        programs.push(Program { package, target, file: file.into(), folder });
    }
    Ok(programs)
}

impl Program {
    fn is_loading(&self) -> bool {
        self.folder == shell::root() && LOADING.iter().any(|row| row.0 == self.target)
    }

    fn name(&self) -> String {
        if self.is_loading() { self.target.clone() } else { format!("{} {}", self.package, self.target) }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        // As cargo does, because some tests read files of their package.
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        if let Some((_, threads)) = LOADING.iter().find(|row| self.is_loading() && row.0 == self.target) {
            command.env("RUST_TEST_THREADS", threads);
        }
        command
    }
}

/// Runs all programs; waits for `meanwhile` before the first one that checks times.
pub fn run(programs: &[Program], folder: PathBuf, meanwhile: impl FnOnce() -> Outcome) -> Outcome {
    let (loading, of_crates): (Vec<&Program>, Vec<&Program>) = programs.iter().partition(|p| p.is_loading());
    let (timed, coarse): (Vec<_>, Vec<_>) = LOADING.iter().partition(|row| TIMED.contains(&row.0));
    let round = Round::new(folder, false);
    let in_order = |rows: Vec<&(&str, &str)>| {
        let programs = rows.into_iter().flat_map(|row| loading.iter().filter(move |p| p.target == row.0));
        programs.into_iter().try_for_each(|program| round.loading(program))
    };
    let before = round.run_concurrently(&of_crates).and_then(|()| in_order(coarse));
    // Even after a failure, because it would continue after the end of this process.
    let other = meanwhile();
    let tested = before.and_then(|()| in_order(timed)).and_then(|()| round.repeat_failed());
    all_of([round.verdict(), tested, other])
}

/// Runs the programs that load sockets with long runs and the release build: all tests of the timed ones, and of the
/// others those that every other command ignores.
pub fn nightly() -> Outcome {
    let mut line: Vec<String> = ["--release", "--package", "plimsoll"].map(String::from).into();
    line.extend(LOADING.iter().flat_map(|row| ["--test".to_string(), row.0.to_string()]));
    let programs = build(&line)?;
    let round = Round::new(bounded::folder()?, true);
    let _listening = interrupt::listen()?;
    let tested =
        programs.iter().try_for_each(|program| round.loading(program)).and_then(|()| round.repeat_failed());
    all_of([round.verdict(), tested])
}

/// Returns all errors, not only the first.
fn all_of<const N: usize>(outcomes: [Outcome; N]) -> Outcome {
    let wrong: Vec<String> = outcomes.into_iter().filter_map(Outcome::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A panic of a worker has already ended the run.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Round {
    fn new(folder: PathBuf, is_nightly: bool) -> Self {
        Self {
            folder,
            is_nightly,
            ended: Mutex::default(),
            failed: Mutex::default(),
            repeated: Mutex::default(),
        }
    }

    /// Runs programs concurrently. The documentation tests are one more program, which rustdoc builds and runs.
    fn run_concurrently(&self, programs: &[&Program]) -> Outcome {
        let next = AtomicUsize::new(0);
        let work = || -> Outcome {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let (name, command) = match (at, programs.get(at.wrapping_sub(1))) {
                    (0, _) => {
                        let mut command = shell::cargo();
                        command.args(["test", "--quiet", "--workspace", "--doc"]);
                        (DOCUMENTATION.to_string(), command)
                    }
                    (_, Some(program)) => (program.name(), program.command()),
                    (_, None) => return Ok(()),
                };
                self.one(name, command, WITHIN)?;
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().map_err(|_| "a worker of the tests panicked".to_string())?
            })
        })
    }

    fn loading(&self, program: &Program) -> Outcome {
        let mut command = program.command();
        if self.is_nightly {
            let is_timed = TIMED.contains(&&*program.target);
            command.env("PLIMSOLL_NIGHTLY", "1").arg(if is_timed {
                "--include-ignored"
            } else {
                "--ignored"
            });
            command.args(["--skip", AGENTS]);
        }
        let within = match (self.is_nightly, &*program.target) {
            (true, _) => WITHIN_NIGHTLY,
            (false, "truth") => WITHIN_TRUTH,
            (false, _) => WITHIN,
        };
        self.listed(program.name(), command, within)
    }

    /// Runs a program whose tests may repeat themselves, and reads the list of repeated tests.
    fn listed(&self, name: String, mut command: Command, within: Duration) -> Outcome {
        let list = self.folder.join(format!("{name}-again.txt"));
        std::fs::write(&list, "").map_err(|e| format!("cannot write `{}`: {e}", list.display()))?;
        command.env("PLIMSOLL_REPEATED_TESTS", &list);
        let outcome = self.one(name.clone(), command, within);
        let text = bounded::text(&list)?;
        text.lines().for_each(|line| println!("    {line}"));
        // Two programs may have tests with the same name.
        locked(&self.repeated).extend(repeated(&text).map(|test| format!("{name} {test}")));
        outcome
    }

    /// Runs one program to its end, and prints its output without interleaving, or one line if it passed.
    fn one(&self, name: String, mut command: Command, within: Duration) -> Outcome {
        interrupt::check()?;
        let file = self.folder.join(format!("{}.txt", name.replace(' ', "-")));
        println!(
            "{name}: started, output in {}",
            file.strip_prefix(shell::root()).unwrap_or(&file).display()
        );
        let begin = Instant::now();
        let end = bounded::run(&mut command, &file, within)?;
        let seconds = begin.elapsed().as_secs_f64();
        let text = bounded::text(&file)?;
        let wrong = wrong(&end, &text);
        print!("{}", describe(&name, seconds, wrong.as_deref(), &text));
        let tests = failed::names(&end, &text);
        // Documentation tests use neither sockets nor times, so repeating them would not help.
        if !tests.is_empty() && name != DOCUMENTATION {
            locked(&self.failed).push(Failed { name: name.clone(), command, tests });
        }
        locked(&self.ended).push(Ended { name, seconds, passed: wrong.is_none() });
        interrupt::check()
    }

    /// Repeats the failed tests, alone and sequentially: other processes disturb randomly, a defect fails every time.
    /// This includes tests that have repeated themselves already, because a disturbance may last for a while.
    fn repeat_failed(&self) -> Outcome {
        let all = std::mem::take(&mut *locked(&self.failed));
        let of = |failed: &Failed| -> Vec<String> {
            failed.tests.iter().map(|test| format!("{} {test}", failed.name)).collect()
        };
        let mut names = locked(&self.repeated).clone();
        names.extend(all.iter().flat_map(of));
        if names.len() > MAX_REPEATS {
            return Ok(());
        }
        for failed in all {
            let mut command = failed.alone();
            let file = self.folder.join(format!("{}-alone.txt", failed.name.replace(' ', "-")));
            let begin = Instant::now();
            let end =
                bounded::run(&mut command, &file, if self.is_nightly { WITHIN_NIGHTLY } else { WITHIN })?;
            let text = bounded::text(&file)?;
            let wrong = wrong(&end, &text).or_else(|| failed::skipped(&text, failed.tests.len()));
            let seconds = begin.elapsed().as_secs_f64();
            print!("\nalone, {}", describe(&failed.name, seconds, wrong.as_deref(), &text));
            for ended in locked(&self.ended).iter_mut().filter(|ended| ended.name == failed.name) {
                ended.passed = wrong.is_none();
            }
            of(&failed).iter().for_each(|test| println!("    repeated: {test}: it failed"));
            locked(&self.repeated).extend(of(&failed));
            interrupt::check()?;
        }
        Ok(())
    }

    fn verdict(&self) -> Outcome {
        let (ended, repeated) = (locked(&self.ended), locked(&self.repeated));
        println!("\n{}", slowest(&ended));
        println!("repeated tests: {} (maximum {MAX_REPEATS})", repeated.len());
        let failed: Vec<&str> = ended.iter().filter(|e| !e.passed).map(|e| e.name.as_str()).collect();
        all_of([
            if failed.is_empty() {
                Ok(())
            } else {
                Err(format!("tests failed: {}, see above", failed.join(", ")))
            },
            too_many(&repeated),
        ])
    }
}

/// Returns the failure of a program, which does not depend on its tests alone.
fn wrong(end: &End, text: &str) -> Option<String> {
    if !end.is_well() {
        return Some(end.to_string());
    }
    // A test may exit the whole process, even with 0.
    results(text).next().is_none().then(|| "ended before it had results".into())
}

/// Returns the result lines of a test program; documentation tests have one per crate.
pub fn results(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("test result: "))
}

fn describe(name: &str, seconds: f64, wrong: Option<&str>, text: &str) -> String {
    let counts = results(text).filter_map(|line| line.split("; 0 measured").next());
    let counts = counts.filter(|line| !line.contains(" 0 passed; 0 failed")).collect::<Vec<_>>().join(", ");
    let line = format!("{name}: {seconds:.1} s, {}", if counts.is_empty() { "no tests" } else { &counts });
    match wrong {
        None => line + "\n",
        Some(wrong) => format!("\n{text}\nFAILED {line}: {wrong}\n"),
    }
}

/// Returns the repeated tests in the list that the tests of a program wrote. The list also has further attempts of
/// precise comparisons; these are part of their test and have their own limit.
fn repeated(list: &str) -> impl Iterator<Item = String> {
    let lines = list.lines().filter_map(|line| line.strip_prefix("repeated: "));
    lines.filter_map(|line| Some(line.split_once(": ")?.0.to_owned()))
}

fn too_many(repeated: &BTreeSet<String>) -> Outcome {
    if repeated.len() <= MAX_REPEATS {
        return Ok(());
    }
    let names: Vec<&str> = repeated.iter().map(String::as_str).collect();
    Err(format!(
        "{} tests had to be repeated, more than {MAX_REPEATS}: {}\n\
         help: check whether other processes use the CPU, or whether these tests fail randomly",
        names.len(),
        names.join(", ")
    ))
}

fn slowest(ended: &[Ended]) -> String {
    let mut all: Vec<&Ended> = ended.iter().collect();
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let sum: f64 = all.iter().map(|e| e.seconds).sum();
    let rows = all.iter().take(SLOWEST).map(|e| format!("  {:7.1} s  {}\n", e.seconds, e.name));
    let head = format!("slowest of {} test programs ({sum:.0} s in total):\n", all.len());
    head + &rows.collect::<String>()
}

#[cfg(test)]
mod tests;
