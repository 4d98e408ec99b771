//! `cargo xtask k6`: runs each script of `tests/k6` with k6 and with plimsoll against one recording server, and
//! compares what both send and report. A difference is a mistake, unless the script names the reason for it, which is a
//! row of the table in `docs/explanation/k6-compatibility.md`.

#![forbid(unsafe_code)]
// Chores print for a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod calls;
mod compare;
mod mask;
mod reasons;
mod script;
mod server;
mod tool;

use calls::Calls;
use chore::{Outcome, shell};
use script::{ASPECTS, Aspect, Script};
use server::Server;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool::Tool;

pub const USAGE: &str = "[--k6 FILE] [--tool FILE] [--jobs N] [--brief] [NAME...]";

/// The variable that names the program k6.
pub const VARIABLE: &str = "PLIMSOLL_K6";

/// The folder of the scripts.
const SCRIPTS: &str = "tests/k6";

struct Options {
    k6: PathBuf,
    tool: PathBuf,
    jobs: usize,
    /// Only names of scripts and aspects.
    is_brief: bool,
    /// Parts of names; empty: all.
    names: Vec<String>,
}

/// Compares, and fails if there is an unexpected difference.
///
/// # Errors
/// Returns a sentence with the number of scripts that differ.
pub fn command(arguments: &[String]) -> Outcome {
    let options = options(arguments)?;
    let root = shell::root();
    let scripts = script::all(&root.join(SCRIPTS))?;
    let keys = reasons::keys(&root)?;
    check_reasons(&scripts, &keys)?;
    let is_chosen = |script: &&Script| {
        options.names.is_empty() || options.names.iter().any(|name| script.name.contains(name.as_str()))
    };
    let chosen: Vec<&Script> = scripts.iter().filter(is_chosen).collect();
    let calls = match chosen.iter().any(|script| script.name.starts_with(calls::FOLDER)) {
        true => Some(Calls::start(&root, &shell::target_folder()?)?),
        false => None,
    };
    let calls = calls.as_ref().map(|calls| calls.address.as_str());
    let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = |job: usize| -> Outcome {
        let server = Server::start()?;
        let folder = shell::target_folder()?.join(format!("k6diff/{job}/run"));
        while let Some(script) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(problem) = one(script, &folder, (&server, calls), &options)? {
                println!("{problem}");
                problems.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(script.name.clone());
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs).map(|job| scope.spawn(move || run(job))).collect();
        let join = |job: std::thread::ScopedJoinHandle<'_, Outcome>| {
            job.join().unwrap_or_else(|_| Err("a comparison panicked".into()))
        };
        jobs.into_iter().try_for_each(join)
    })?;
    let problems = problems.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    println!("{} scripts compared, {} with unexpected results", chosen.len(), problems.len());
    if problems.is_empty() { Ok(()) } else { Err(format!("{} scripts differ", problems.len())) }
}

/// Returns the program k6: that of the variable, or the one on PATH.
pub fn k6() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from).or_else(|| shell::find_program("k6"))
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut words = arguments.iter();
    let (mut k6, mut tool, mut jobs, mut is_brief, mut names) = (k6(), None, 2, false, Vec::new());
    while let Some(word) = words.next() {
        let mut value =
            || words.next().ok_or(format!("missing value of `{word}`\nusage: cargo xtask k6 {USAGE}"));
        match word.as_str() {
            "--k6" => k6 = Some(value()?.into()),
            "--tool" => tool = Some(PathBuf::from(value()?)),
            "--jobs" => jobs = value()?.parse().map_err(|_| "`--jobs` is not a number")?,
            "--brief" => is_brief = true,
            flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
            name => names.push(name.to_owned()),
        }
    }
    let k6 = k6.ok_or(format!("k6 is not installed: set {VARIABLE} to its path, or use `--k6 FILE`"))?;
    let tool = match tool {
        Some(tool) => tool,
        None => shell::target_folder()?.join("debug/plimsoll"),
    };
    let absolute =
        |path: &Path| path.canonicalize().map_err(|e| format!("cannot find `{}`: {e}", path.display()));
    Ok(Options { k6: absolute(&k6)?, tool: absolute(&tool)?, jobs, is_brief, names })
}

/// Each reason has a row, and each row is the reason of a script.
fn check_reasons(scripts: &[Script], keys: &[String]) -> Outcome {
    for script in scripts {
        if let Some((_, key)) = script.differs.iter().find(|(_, key)| !keys.contains(key)) {
            return Err(format!("{}: the reason `{key}` is not a row of {}", script.name, reasons::PAGE));
        }
    }
    let is_used =
        |key: &&String| scripts.iter().any(|script| script.differs.iter().any(|(_, used)| used == *key));
    match keys.iter().find(|key| !is_used(key)) {
        Some(key) => Err(format!("{}: no script differs for the reason `{key}`", reasons::PAGE)),
        None => Ok(()),
    }
}

/// Runs a script with both tools; returns what is unexpected.
fn one(
    script: &Script,
    folder: &Path,
    (server, calls): (&Server, Option<&str>),
    options: &Options,
) -> Result<Option<String>, String> {
    let calls = calls.map(str::to_owned);
    let k6 = Tool { program: options.k6.clone(), words: &[], calls: calls.clone() };
    let own = Tool { program: options.tool.clone(), words: &["k6"], calls };
    let (theirs, ours) = (k6.run(script, folder, server)?, own.run(script, folder, server)?);
    let mut report = String::new();
    for (aspect, name) in ASPECTS {
        let is_left_out = script.skips.contains(&aspect) || aspect == Aspect::Connections && !script.connects;
        if is_left_out {
            continue;
        }
        let (a, b) = (compare::text(aspect, script, &theirs), compare::text(aspect, script, &ours));
        let reason = script.differs.iter().find(|(differs, _)| *differs == aspect);
        match (a == b, reason) {
            (true, Some((_, key))) => {
                let _ = writeln!(report, "  {name}: equal, although `{key}` says why not");
            }
            (false, None) => {
                let _ = writeln!(report, "  {name}");
                if !options.is_brief {
                    report += &difference(&a, &b);
                }
            }
            _ => {}
        }
    }
    if report.is_empty() {
        return Ok(None);
    }
    if !options.is_brief && ours.exit != theirs.exit {
        let _ = writeln!(report, "  stderr of plimsoll\n{}", indented(&ours.stderr));
        let _ = writeln!(report, "  stderr of k6\n{}", indented(&theirs.stderr));
    }
    Ok(Some(format!("{}\n{report}", script.name)))
}

fn indented(text: &str) -> String {
    text.lines().take(12).map(|line| format!("      {line}\n")).collect()
}

/// The lines that only one of two texts has, around their longest common sequence.
fn difference(a: &str, b: &str) -> String {
    const LINES_MAX: usize = 1_000;
    let (a, b): (Vec<&str>, Vec<&str>) =
        (a.lines().take(LINES_MAX).collect(), b.lines().take(LINES_MAX).collect());
    // `longest[i][j]`: of `a[i..]` and `b[j..]`.
    let mut longest = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i] == b[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut out, mut last) = (0, 0, String::new(), None);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            last = Some(a[i]);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        if let Some(last) = last.take() {
            let _ = writeln!(out, "             {last}");
        }
        if j >= b.len() || i < a.len() && longest[i + 1][j] >= longest[i][j + 1] {
            let _ = writeln!(out, "    k6       {}", a[i]);
            i += 1;
        } else {
            let _ = writeln!(out, "    plimsoll {}", b[j]);
            j += 1;
        }
    }
    out
}
