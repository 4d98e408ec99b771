//! The test programs of the workspace: built by one call of cargo and then run by us, because cargo runs them one after
//! the other, and most of them wait. Those of the crates go two at a time; those that load sockets go alone and see to
//! their own neighbours (`tests/support/turn.rs`). Each has a deadline and a file for what it says. A test that failed
//! is made again when all have ended, alone, and that counts. Says how long each took, and which tests were made again.

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

/// Test programs of crates at once. They use one CPU each, if any.
const AT_ONCE: usize = 2;
/// Name of the tests in documentation.
const DOCUMENTATION: &str = "documentation";
/// Lines of the list of the slowest.
const SLOWEST: usize = 10;
/// Beyond these a program hangs: the slowest takes a third of it.
const WITHIN: Duration = Duration::from_secs(15 * 60);
const WITHIN_TRUTH: Duration = Duration::from_secs(20 * 60);
/// With tests that lengthen themselves, one of them to a quarter of an hour.
const WITHIN_NIGHTLY: Duration = Duration::from_secs(3 * 60 * 60);
/// Tests of one run that may be made again, of more than two thousand. More of them mean that the machine is too busy
/// for an answer, or that tests have begun to fail at random; neither may pass for green.
const MADE_AGAIN: usize = 3;

/// Programs that load real sockets, in this order, and how many of their tests may be begun at once. Where tests wait
/// for their turn a thread costs nothing, and with one for each those that go side by side are not kept apart.
const LOADING: &[(&str, &str)] = &[
    ("cli", "4"),
    ("console", "4"),
    ("scenarios", "4"),
    ("questions", "64"),
    ("incidents", "64"),
    ("truth", "64"),
];
/// Those of them that look at times: nothing else may run beside them.
const TIMED: &[&str] = &["questions", "incidents", "truth"];

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    package: String,
    /// Of the target: `cli`; of a library's own tests the library's.
    target: String,
    file: PathBuf,
    /// Where its package lies, which is where cargo would start it.
    folder: PathBuf,
}

/// How one ended.
struct Ended {
    name: String,
    seconds: f64,
    passed: bool,
}

/// Programs that are run one after the other or side by side, and what is known of those that have ended.
struct Round {
    /// For what they say.
    folder: PathBuf,
    is_nightly: bool,
    ended: Mutex<Vec<Ended>>,
    failed: Mutex<Vec<Failed>>,
    /// Names of tests.
    made_again: Mutex<BTreeSet<String>>,
}

/// Builds what the arguments of `cargo test` select.
pub fn build(arguments: &[String]) -> Result<Vec<Program>, String> {
    let mut command = shell::cargo();
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]).args(arguments);
    let programs = programs(&shell::output(&mut command)?)?;
    if programs.is_empty() { Err("cargo built no test program".into()) } else { Ok(programs) }
}

/// Out of cargo's messages, one document a line.
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
        // A package may call its program as its library; each has a file of its own for what it says.
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
        // As cargo would: some tests read files of their package.
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        if let Some((_, threads)) = LOADING.iter().find(|row| self.is_loading() && row.0 == self.target) {
            command.env("RUST_TEST_THREADS", threads);
        }
        command
    }
}

/// Runs all of them; `meanwhile` is waited for before the first that looks at times.
pub fn run(programs: &[Program], folder: PathBuf, meanwhile: impl FnOnce() -> Outcome) -> Outcome {
    let (loading, of_crates): (Vec<&Program>, Vec<&Program>) = programs.iter().partition(|p| p.is_loading());
    let (timed, coarse): (Vec<_>, Vec<_>) = LOADING.iter().partition(|row| TIMED.contains(&row.0));
    let round = Round::new(folder, false);
    let in_order = |rows: Vec<&(&str, &str)>| {
        let programs = rows.into_iter().flat_map(|row| loading.iter().filter(move |p| p.target == row.0));
        programs.into_iter().try_for_each(|program| round.loading(program))
    };
    let before = round.side_by_side(&of_crates).and_then(|()| in_order(coarse));
    // Whatever happened before: it would go on when this program has ended.
    let other = meanwhile();
    let tested = before.and_then(|()| in_order(timed)).and_then(|()| round.again());
    all_of([round.verdict(), tested, other])
}

/// Those that load sockets, as long as they can be, against the build that people use: of the timed ones all tests, of
/// the others those that every other command ignores.
pub fn nightly() -> Outcome {
    let mut line: Vec<String> = ["--release", "--package", "plimsoll"].map(String::from).into();
    line.extend(LOADING.iter().flat_map(|row| ["--test".to_string(), row.0.to_string()]));
    let programs = build(&line)?;
    let round = Round::new(bounded::folder()?, true);
    let _listening = interrupt::listen()?;
    let tested = programs.iter().try_for_each(|program| round.loading(program)).and_then(|()| round.again());
    all_of([round.verdict(), tested])
}

/// Everything that went wrong, and not only the first of it.
fn all_of<const N: usize>(outcomes: [Outcome; N]) -> Outcome {
    let wrong: Vec<String> = outcomes.into_iter().filter_map(Outcome::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A worker that panicked has ended the whole already.
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
            made_again: Mutex::default(),
        }
    }

    /// The tests in documentation are one more program: rustdoc makes and runs them.
    fn side_by_side(&self, programs: &[&Program]) -> Outcome {
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
        }
        let within = match (self.is_nightly, &*program.target) {
            (true, _) => WITHIN_NIGHTLY,
            (false, "truth") => WITHIN_TRUTH,
            (false, _) => WITHIN,
        };
        self.listed(program.name(), command, within)
    }

    /// One whose tests may make themselves again, and write down that they did.
    fn listed(&self, name: String, mut command: Command, within: Duration) -> Outcome {
        let list = self.folder.join(format!("{name}-again.txt"));
        std::fs::write(&list, "").map_err(|e| format!("cannot write `{}`: {e}", list.display()))?;
        command.env("PLIMSOLL_TESTS_MADE_AGAIN", &list);
        let outcome = self.one(name.clone(), command, within);
        let text = bounded::text(&list)?;
        text.lines().for_each(|line| println!("    {line}"));
        // Programs may have tests of one name.
        locked(&self.made_again).extend(made_again(&text).map(|test| format!("{name} {test}")));
        outcome
    }

    /// Runs one to its end and prints what it has to say in one piece: of one that passed the last line.
    fn one(&self, name: String, mut command: Command, within: Duration) -> Outcome {
        interrupt::check()?;
        let file = self.folder.join(format!("{}.txt", name.replace(' ', "-")));
        println!("{name}: begun, says it in {}", file.strip_prefix(shell::root()).unwrap_or(&file).display());
        let begin = Instant::now();
        let end = bounded::run(&mut command, &file, within)?;
        let seconds = begin.elapsed().as_secs_f64();
        let text = bounded::text(&file)?;
        let wrong = wrong(&end, &text);
        print!("{}", describe(&name, seconds, wrong.as_deref(), &text));
        let tests = failed::names(&end, &text);
        // rustdoc makes the programs of its tests each time, and they use neither sockets nor times.
        if !tests.is_empty() && name != DOCUMENTATION {
            locked(&self.failed).push(Failed { name: name.clone(), command, tests });
        }
        locked(&self.ended).push(Ended { name, seconds, passed: wrong.is_none() });
        interrupt::check()
    }

    /// Makes the tests that failed again, alone and one after the other: a neighbour or a burst of the machine disturbs
    /// at random, a defect is there always. That goes for one that has made itself again, too: bursts last for a while.
    fn again(&self) -> Outcome {
        let all = std::mem::take(&mut *locked(&self.failed));
        let of = |failed: &Failed| -> Vec<String> {
            failed.tests.iter().map(|test| format!("{} {test}", failed.name)).collect()
        };
        let mut names = locked(&self.made_again).clone();
        names.extend(all.iter().flat_map(of));
        if names.len() > MADE_AGAIN {
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
            of(&failed).iter().for_each(|test| println!("    made again: {test}: it failed"));
            locked(&self.made_again).extend(of(&failed));
            interrupt::check()?;
        }
        Ok(())
    }

    fn verdict(&self) -> Outcome {
        let (ended, again) = (locked(&self.ended), locked(&self.made_again));
        println!("\n{}", slowest(&ended));
        println!("made again: {} tests, of {MADE_AGAIN} at most", again.len());
        let failed: Vec<&str> = ended.iter().filter(|e| !e.passed).map(|e| e.name.as_str()).collect();
        all_of([
            if failed.is_empty() {
                Ok(())
            } else {
                Err(format!("tests failed: {}, see above", failed.join(", ")))
            },
            too_many(&again),
        ])
    }
}

/// What speaks against a program, whatever its tests say.
fn wrong(end: &End, text: &str) -> Option<String> {
    if !end.is_well() {
        return Some(end.to_string());
    }
    // A test, or what it calls, may end the whole process, and with 0.
    results(text).next().is_none().then(|| "ended before it had results".into())
}

/// What stands in the lines with which test programs end; one for each crate of the documentation.
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

/// Names of tests in the list that a program's tests wrote. Tries of a fine comparison stand in it, too; they are a
/// part of their test and have a limit of their own.
fn made_again(list: &str) -> impl Iterator<Item = String> {
    let lines = list.lines().filter_map(|line| line.strip_prefix("made again: "));
    lines.filter_map(|line| Some(line.split_once(": ")?.0.to_owned()))
}

fn too_many(again: &BTreeSet<String>) -> Outcome {
    if again.len() <= MADE_AGAIN {
        return Ok(());
    }
    let names: Vec<&str> = again.iter().map(String::as_str).collect();
    Err(format!(
        "{} tests had to be made again, more than {MADE_AGAIN}: {}\n\
         hint: this machine is too busy to be believed, or they have begun to fail at random",
        names.len(),
        names.join(", ")
    ))
}

fn slowest(ended: &[Ended]) -> String {
    let mut all: Vec<&Ended> = ended.iter().collect();
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let sum: f64 = all.iter().map(|e| e.seconds).sum();
    let rows = all.iter().take(SLOWEST).map(|e| format!("  {:7.1} s  {}\n", e.seconds, e.name));
    let head = format!("the slowest of {} test programs ({sum:.0} s of tests in all):\n", all.len());
    head + &rows.collect::<String>()
}

#[cfg(test)]
mod tests;
