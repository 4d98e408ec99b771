//! The test programs of the workspace: built by one call of cargo and then run by us, because cargo runs them one after
//! the other, and most of them wait. Those of the crates go two at a time; those that load sockets go alone and see to
//! their own neighbours (`tests/support/turn.rs`). Each has a deadline and a file for what it says. A test that failed
//! is made again when all have ended, alone, and that counts. Says how long each took, and which tests were made again.

use crate::bounded::{self, End};
use crate::lab::interrupt;
use crate::{Outcome, shell};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Test programs of crates at once. They use one CPU each, if any.
const AT_ONCE: usize = 2;
/// Lines of the list of the slowest.
const SLOWEST: usize = 10;
/// Beyond these a program hangs: the slowest takes a third of it.
const WITHIN: Duration = Duration::from_secs(15 * 60);
const WITHIN_TRUTH: Duration = Duration::from_secs(20 * 60);
/// With tests that lengthen themselves, one of them to a quarter of an hour.
const WITHIN_NIGHTLY: Duration = Duration::from_secs(3 * 60 * 60);
/// Tests of one run that may be made again, of more than two thousand. More of them mean that the machine is too busy
/// for an answer, or that tests have begun to fail at random; neither may pass for green.
const MADE_AGAIN: usize = 6;

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

/// Tests of one program that failed in it.
struct Failed {
    name: String,
    /// What ran the program.
    command: Command,
    tests: Vec<String>,
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
                        ("documentation".to_string(), command)
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
        let outcome = self.one(name, command, within);
        let text = bounded::text(&list)?;
        text.lines().for_each(|line| println!("    {line}"));
        locked(&self.made_again).extend(made_again(&text));
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
        print!("{}", said(&name, seconds, wrong.as_deref(), &text));
        let tests = failed(&end, &text);
        if !tests.is_empty() {
            locked(&self.failed).push(Failed { name: name.clone(), command, tests });
        }
        locked(&self.ended).push(Ended { name, seconds, passed: wrong.is_none() });
        interrupt::check()
    }

    /// Makes the tests that failed again, alone and one after the other: a neighbour or a burst of the machine disturbs
    /// at random, a defect is there always. One that has made itself again already has had its second chance.
    fn again(&self) -> Outcome {
        let all = std::mem::take(&mut *locked(&self.failed));
        let count: usize = all.iter().map(|failed| failed.tests.len()).sum();
        if count + locked(&self.made_again).len() > MADE_AGAIN {
            return Ok(());
        }
        for failed in all {
            if failed.tests.iter().any(|test| locked(&self.made_again).contains(test)) {
                continue;
            }
            let mut command = alone(&failed);
            let file = self.folder.join(format!("{}-alone.txt", failed.name.replace(' ', "-")));
            let begin = Instant::now();
            let end = bounded::run(&mut command, &file, WITHIN)?;
            let text = bounded::text(&file)?;
            let wrong = wrong(&end, &text);
            let seconds = begin.elapsed().as_secs_f64();
            print!("\nalone, {}", said(&failed.name, seconds, wrong.as_deref(), &text));
            for ended in locked(&self.ended).iter_mut().filter(|ended| ended.name == failed.name) {
                ended.passed = wrong.is_none();
            }
            failed
                .tests
                .iter()
                .for_each(|test| println!("    made again: {test}: it failed in {}", failed.name));
            locked(&self.made_again).extend(failed.tests);
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

/// The tests that failed in a program that told of all of its tests: their names stand at its end.
fn failed(end: &End, text: &str) -> Vec<String> {
    let counted: Option<usize> =
        results(text).last().and_then(|line| line.split("; ").nth(1)?.strip_suffix(" failed")?.parse().ok());
    let (End::Itself(_), 1, Some(counted), Some((_, list))) =
        (end, results(text).count(), counted, text.rsplit_once("\nfailures:\n"))
    else {
        return Vec::new();
    };
    let names = list.lines().map_while(|line| line.strip_prefix("    "));
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() == counted { names } else { Vec::new() }
}

/// The same program with nothing but these tests, one after the other.
fn alone(failed: &Failed) -> Command {
    let mut command = Command::new(failed.command.get_program());
    command.args(failed.command.get_args()).arg("--exact").args(&failed.tests);
    for (key, value) in failed.command.get_envs() {
        value.map(|value| command.env(key, value));
    }
    if let Some(folder) = failed.command.get_current_dir() {
        command.current_dir(folder);
    }
    command.env("RUST_TEST_THREADS", "1");
    command
}

/// What stands in the lines with which test programs end; one for each crate of the documentation.
fn results(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("test result: "))
}

fn said(name: &str, seconds: f64, wrong: Option<&str>, text: &str) -> String {
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
mod tests {
    use super::*;

    #[test]
    fn programs_are_what_cargo_built_for_tests_and_nothing_else() {
        let messages = r#"
WIRE,"target":{"name":"h1"},"profile":{"test":true},"executable":"/t/h1-1"}
WIRE,"target":{"name":"plimsoll"},"profile":{"test":false},"executable":"/t/plimsoll"}
WIRE,"target":{"name":"h1","kind":["bin"]},"profile":{"test":true},"executable":"/t/h1-2"}
WIRE,"target":{"name":"wire"},"profile":{"test":true},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let wire = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/wire/Cargo.toml""#;
        let found = programs(&messages.replace("WIRE", wire)).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].name(), "wire h1 bin");
        assert_eq!((found[0].name().as_str(), found[0].file.to_str()), ("wire h1", Some("/t/h1-1")));
        assert_eq!(found[0].folder, Path::new("/w/crates/wire"));
        assert!(programs("{broken").is_err());
    }

    #[test]
    fn each_program_that_loads_is_known_by_its_name() {
        let metadata = shell::metadata(&["--no-deps"]).unwrap();
        let targets =
            metadata["packages"].as_array().unwrap().iter().find(|p| p["name"] == "plimsoll").unwrap();
        let mut names: Vec<&str> = targets["targets"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|t| t["kind"][0] == "test")
            .filter_map(|t| t["name"].as_str())
            .collect();
        names.sort_unstable();
        let mut known: Vec<&str> = LOADING.iter().map(|row| row.0).collect();
        known.sort_unstable();
        assert_eq!(names, known);
        assert!(TIMED.iter().all(|name| known.contains(name)));
    }

    /// A round in a folder of its own.
    fn round(name: &str) -> Round {
        let folder = std::env::temp_dir().join(format!("xtask-suites-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Round::new(folder, false)
    }

    /// What comes of a program that is this shell script.
    fn verdict_of(name: &str, script: &str, within: Duration) -> Outcome {
        let round = round(name);
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let outcome = round.one(name.into(), command, within).and_then(|()| round.verdict());
        std::fs::remove_dir_all(&round.folder).unwrap();
        outcome
    }

    const RESULT: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";

    #[test]
    fn a_program_passes_by_its_results_and_not_by_its_code_alone() {
        let within = Duration::from_secs(60);
        assert_eq!(verdict_of("good", &format!("echo '{RESULT}'"), within), Ok(()));
        let failed = |name: &str| Err(format!("tests failed: {name}, see above"));
        assert_eq!(verdict_of("early", "echo 'running 3 tests'; exit 0", within), failed("early"));
        assert_eq!(verdict_of("bad", &format!("echo '{RESULT}'; exit 101"), within), failed("bad"));
        let hangs = format!("echo '{RESULT}'; sleep 60");
        assert_eq!(verdict_of("hangs", &hangs, Duration::from_millis(200)), failed("hangs"));
    }

    #[test]
    fn a_failure_is_shown_whole_and_a_success_in_one_line() {
        let text = format!("test a ... ok\nwhy\n\n{RESULT}\n");
        assert_eq!(said("x", 1.25, None, &text), "x: 1.2 s, ok. 3 passed; 0 failed; 0 ignored\n");
        let failed = said("x", 1.25, Some("did not end within 900 s"), &text);
        assert!(failed.contains("test a ... ok\nwhy") && failed.contains("FAILED x"), "{failed}");
        assert!(failed.ends_with("0 ignored: did not end within 900 s\n"), "{failed}");
    }

    #[test]
    fn tests_made_again_are_shown_and_too_many_of_them_fail_a_run() {
        let script = |tests: usize| {
            let lines =
                (0..tests).map(|n| format!("made again: m::t{n}: it failed\nmade again: m::t{n}: again\n"));
            let lines = lines.collect::<String>() + "tried again: m::fine: 7 us\n";
            format!("printf '{lines}' >> $PLIMSOLL_TESTS_MADE_AGAIN; echo '{RESULT}'")
        };
        let verdict = |tests: usize| {
            let round = round(&format!("again-{tests}"));
            let mut command = Command::new("sh");
            command.args(["-c", &script(tests)]);
            round.listed("t".into(), command, Duration::from_secs(60)).unwrap();
            let verdict = round.verdict();
            std::fs::remove_dir_all(&round.folder).unwrap();
            verdict
        };
        assert_eq!(verdict(MADE_AGAIN), Ok(()));
        let sentence = verdict(MADE_AGAIN + 1).unwrap_err();
        assert!(sentence.starts_with("7 tests had to be made again, more than 6: m::t0, "), "{sentence}");
        assert!(!sentence.contains("fine"), "{sentence}");
    }

    /// A program of three tests: what it is not asked for by name passes; `a` fails always, `b` the first time.
    const SCRIPT: &str = r#"
named() { [ $# -eq 0 ] && return 0; for name in "$@"; do [ "$name" = "$wanted" ] && return 0; done; return 1; }
[ "$1" = --exact ] && shift
failed=""
for wanted in $ALWAYS; do named "$@" && failed="$failed $wanted"; done
for wanted in $ONCE; do
    named "$@" && [ ! -e "$FOLDER/$wanted" ] && failed="$failed $wanted" && : > "$FOLDER/$wanted"
done
set -- $failed
[ $# -eq 0 ] && echo "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out" && exit 0
printf '\nfailures:\n\n---- x stdout ----\nwhy\n\nfailures:\n'; printf '    %s\n' "$@"
printf '\ntest result: FAILED. 1 passed; %s failed; 0 ignored; 0 measured; 0 filtered out\n' $#
exit 101
"#;

    #[test]
    fn a_test_that_failed_is_made_again_alone_and_a_defect_stays_one() {
        let verdict = |name: &str, always: &str, once: &str| {
            let round = round(name);
            let program = round.folder.join("program");
            std::fs::write(&program, SCRIPT).unwrap();
            let mut command = Command::new("sh");
            command.arg(&program).env("ALWAYS", always).env("ONCE", once).env("FOLDER", &round.folder);
            round.listed("t".into(), command, Duration::from_secs(60)).unwrap();
            let verdict = round.again().and_then(|()| round.verdict());
            let again = locked(&round.made_again).iter().cloned().collect::<Vec<_>>().join(" ");
            std::fs::remove_dir_all(&round.folder).unwrap();
            (verdict, again)
        };
        let failed = || Err("tests failed: t, see above".to_string());
        assert_eq!(verdict("none", "", ""), (Ok(()), String::new()));
        assert_eq!(verdict("once", "", "m::b"), (Ok(()), "m::b".into()));
        assert_eq!(verdict("always", "m::a", "m::b"), (failed(), "m::a m::b".into()));
        // More than may be made again are not tried at all.
        let many = (0..=MADE_AGAIN).map(|n| format!("m::t{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(verdict("many", "", &many), (failed(), String::new()));
    }

    #[test]
    fn what_went_wrong_beside_a_failed_test_is_said_as_well() {
        let outcomes = [Err("tests failed: x".to_string()), Ok(()), Err("the build failed".to_string())];
        assert_eq!(all_of(outcomes), Err("tests failed: x\nthe build failed".into()));
        assert_eq!(all_of([Ok(()), Ok(())]), Ok(()));
    }

    #[test]
    fn the_slowest_come_first_and_only_ten_of_them() {
        let ended: Vec<Ended> =
            (0..12).map(|n| Ended { name: format!("p{n}"), seconds: f64::from(n), passed: true }).collect();
        let text = slowest(&ended);
        assert!(
            text.starts_with("the slowest of 12 test programs (66 s of tests in all):\n     11.0 s  p11\n")
        );
        assert_eq!(text.lines().count(), 11);
    }
}
