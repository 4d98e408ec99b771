//! The test programs of the workspace: built by one call of cargo and then run by us, because cargo runs them one after
//! the other, and most of them wait. Those of the crates go two at a time; those that load sockets go alone and see to
//! their own neighbours (`tests/support/turn.rs`). Says how long each took.

use crate::{Outcome, shell};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Test programs of crates at once. They use one CPU each, if any.
const AT_ONCE: usize = 2;
/// Lines of the list of the slowest.
const SLOWEST: usize = 10;

/// Programs that load real sockets, in this order, and how many of their tests may be begun at once. Where tests wait
/// for their turn a thread costs nothing, and with one for each those that go side by side are not kept apart.
const LOADING: &[(&str, &str)] =
    &[("cli", "4"), ("console", "4"), ("scenarios", "4"), ("questions", "64"), ("truth", "64")];
/// Those of them that look at times: nothing else may run beside them.
const TIMED: &[&str] = &["questions", "truth"];

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
        programs.push(Program { package, target: target.into(), file: file.into(), folder });
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
pub fn run(programs: &[Program], meanwhile: impl FnOnce() -> Outcome) -> Outcome {
    let (loading, of_crates): (Vec<&Program>, Vec<&Program>) = programs.iter().partition(|p| p.is_loading());
    let mut ended = side_by_side(&of_crates)?;
    let (timed, coarse): (Vec<_>, Vec<_>) = LOADING.iter().partition(|row| TIMED.contains(&row.0));
    let mut loading = |row: &(&str, &str)| -> Outcome {
        for program in loading.iter().filter(|program| program.target == row.0) {
            let list = shell::target_folder()?.join(format!("made-again-{}", row.0));
            if list.exists() {
                std::fs::remove_file(&list).map_err(|e| format!("cannot remove {}: {e}", list.display()))?;
            }
            let mut command = program.command();
            command.env("PLIMSOLL_TESTS_MADE_AGAIN", &list);
            ended.push(one(program.name(), command)?);
            print!("{}", made_again(&list)?);
        }
        Ok(())
    };
    coarse.into_iter().try_for_each(&mut loading)?;
    // What goes wrong in it is said even when tests fail as well.
    let other = meanwhile();
    timed.into_iter().try_for_each(&mut loading)?;
    println!("\n{}", slowest(&ended));
    let failed: Vec<&str> = ended.iter().filter(|e| !e.passed).map(|e| e.name.as_str()).collect();
    if failed.is_empty() { other } else { Err(format!("tests failed: {}, see above", failed.join(", "))) }
}

/// The tests in documentation are one more program: rustdoc makes and runs them.
fn side_by_side(programs: &[&Program]) -> Result<Vec<Ended>, String> {
    let next = AtomicUsize::new(0);
    let ended = Mutex::new(Vec::new());
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
            let one = one(name, command)?;
            // A worker that panicked has ended the whole already.
            ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(one);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a worker of the tests panicked".to_string())?)
    })?;
    Ok(ended.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Runs one to its end and prints what it has to say in one piece: of one that passed the last line.
fn one(name: String, mut command: Command) -> Result<Ended, String> {
    let begin = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start the tests of {name}: {e}"))?;
    let seconds = begin.elapsed().as_secs_f64();
    let passed = output.status.success();
    print!("{}", said(&name, seconds, passed, &output));
    Ok(Ended { name, seconds, passed })
}

fn said(name: &str, seconds: f64, passed: bool, output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let results = stdout.lines().filter_map(|line| line.strip_prefix("test result: "));
    let counts = results.filter_map(|line| line.split("; 0 measured").next());
    let counts = counts.filter(|line| !line.contains(" 0 passed; 0 failed")).collect::<Vec<_>>().join(", ");
    let line = format!("{name}: {seconds:.1} s, {}\n", if counts.is_empty() { "no tests" } else { &counts });
    match passed {
        true => line,
        false => format!("\n{stdout}{stderr}\nFAILED {line}"),
    }
}

/// What the tests of one program wrote about those that they made again: worth reading in a run that passed, too.
fn made_again(list: &Path) -> Result<String, String> {
    match std::fs::read_to_string(list) {
        Ok(text) => Ok(text.lines().map(|line| format!("    made again: {line}\n")).collect()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(format!("cannot read {}: {e}", list.display())),
    }
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
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn programs_are_what_cargo_built_for_tests_and_nothing_else() {
        let messages = r#"
WIRE,"target":{"name":"h1"},"profile":{"test":true},"executable":"/t/h1-1"}
WIRE,"target":{"name":"plimsoll"},"profile":{"test":false},"executable":"/t/plimsoll"}
WIRE,"target":{"name":"wire"},"profile":{"test":true},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let wire = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/wire/Cargo.toml""#;
        let found = programs(&messages.replace("WIRE", wire)).unwrap();
        assert_eq!(found.len(), 1);
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

    #[test]
    fn a_failure_is_shown_whole_and_a_success_in_one_line() {
        let output = |code: i32| {
            Output {
            status: std::process::ExitStatus::from_raw(code << 8),
            stdout: b"test a ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
                .to_vec(),
            stderr: b"why\n".to_vec(),
        }
        };
        assert_eq!(said("x", 1.25, true, &output(0)), "x: 1.2 s, ok. 3 passed; 0 failed; 0 ignored\n");
        let failed = said("x", 1.25, false, &output(101));
        assert!(failed.contains("test a ... ok") && failed.contains("why") && failed.contains("FAILED x"));
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
