//! `cargo xtask jmeter`: runs each plan of `tests/jmeter` with JMeter and with plimsoll against one recording server,
//! and compares what both send and write. A difference is a mistake, unless `tests/jmeter/differences.txt` has its
//! reason; a reason without a difference is a mistake as well.

#![forbid(unsafe_code)]
// Chores print for a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod compare;
mod lines;
mod plan;
mod reasons;
mod results;
mod server;
mod tool;
mod xml;

use chore::{Outcome, shell};
use compare::{ASPECTS, Aspect};
use plan::Plan;
use reasons::Reasons;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tool::{Prepared, Tools};

pub const USAGE: &str = "[--tool FILE] [--jobs N] [--brief] [NAME...]";

/// The variable that names the folder of JMeter, which has `bin` and `lib`.
pub const VARIABLE: &str = "PLIMSOLL_JMETER";

/// The folder of the plans.
const PLANS: &str = "tests/jmeter";

struct Options {
    tools: Tools,
    jobs: usize,
    /// Only names of plans and aspects.
    is_brief: bool,
    /// Parts of names; empty: all.
    names: Vec<String>,
}

/// Returns the folder of JMeter, if the environment names one.
pub fn jmeter() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from)
}

/// Compares, and fails if there is an unexpected difference.
///
/// # Errors
/// Returns a sentence with the number of plans that differ.
pub fn command(arguments: &[String]) -> Outcome {
    let options = options(arguments)?;
    let folder = shell::root().join(PLANS);
    let plans = plan::all(&folder)?;
    let reasons = Reasons::read(&folder, &plans)?;
    let is_chosen = |plan: &&Plan| {
        options.names.is_empty() || options.names.iter().any(|name| plan.name.contains(name.as_str()))
    };
    let chosen: Vec<&Plan> = plans.iter().filter(is_chosen).collect();
    let work = shell::target_folder()?.join("jmeterdiff");
    let problems = Mutex::new(Vec::new());
    // Neighbors last about as long as each other, so they are dealt out.
    let share = |job: usize| chosen.iter().skip(job).step_by(options.jobs).copied().collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let run = |job: usize| {
            let found = compared(&share(job), &folder, &work, &options, &reasons)?;
            problems.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
            Ok(())
        };
        let jobs: Vec<_> = (0..options.jobs).map(|job| scope.spawn(move || run(job))).collect();
        let join = |job: std::thread::ScopedJoinHandle<'_, Outcome>| {
            job.join().unwrap_or_else(|_| Err("a comparison panicked".into()))
        };
        jobs.into_iter().try_for_each(join)
    })?;
    let problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} plans compared, {} with unexpected results", chosen.len(), problems.len());
    if problems.is_empty() { Ok(()) } else { Err(format!("{} plans differ", problems.len())) }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut words = arguments.iter();
    let (mut tool, mut jobs, mut is_brief, mut names) = (None, 2, false, Vec::new());
    while let Some(word) = words.next() {
        let mut value =
            || words.next().ok_or(format!("missing value of `{word}`\nusage: cargo xtask jmeter {USAGE}"));
        match word.as_str() {
            "--tool" => tool = Some(PathBuf::from(value()?)),
            "--jobs" => jobs = value()?.parse().map_err(|_| "`--jobs` is not a number")?,
            "--brief" => is_brief = true,
            flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
            name => names.push(name.to_owned()),
        }
    }
    let home =
        jmeter().ok_or(format!("set {VARIABLE} to the folder of JMeter 5.6.3, which has `bin` and `lib`"))?;
    let tool = match tool {
        Some(tool) => tool,
        None => shell::target_folder()?.join("debug/plimsoll"),
    };
    let absolute =
        |path: &Path| path.canonicalize().map_err(|e| format!("cannot find `{}`: {e}", path.display()));
    let tools = Tools { home: absolute(&home)?, plimsoll: absolute(&tool)? };
    Ok(Options { tools, jobs: jobs.max(1), is_brief, names })
}

/// Runs plans with both tools; returns the names of those with unexpected results.
fn compared(
    plans: &[&Plan],
    files: &Path,
    work: &Path,
    options: &Options,
    reasons: &Reasons,
) -> Result<Vec<String>, String> {
    let prepared: Result<Vec<Prepared>, String> =
        plans.iter().map(|plan| Prepared::new(plan, files, work)).collect();
    let prepared = prepared?;
    let theirs = options.tools.jmeter(&prepared)?;
    let mut problems = Vec::new();
    for ((plan, prepared), theirs) in plans.iter().zip(&prepared).zip(&theirs) {
        let ours = options.tools.plimsoll(prepared)?;
        if let Some(problem) = one(plan, theirs, &ours, reasons, options.is_brief) {
            println!("{problem}");
            problems.push(plan.name.clone());
        }
    }
    Ok(problems)
}

/// Compares two runs of a plan; returns what is unexpected.
fn one(
    plan: &Plan,
    theirs: &tool::Run,
    ours: &tool::Run,
    reasons: &Reasons,
    is_brief: bool,
) -> Option<String> {
    let mut report = String::new();
    for (aspect, name) in ASPECTS {
        if plan.skips.contains(&aspect) {
            continue;
        }
        let (a, b) = (compare::text(aspect, plan, theirs), compare::text(aspect, plan, ours));
        let same_agents = aspect != Aspect::Results || compare::agents(theirs) == compare::agents(ours);
        let (a, b) =
            if same_agents { (a, b) } else { (compare::without_sent(&a), compare::without_sent(&b)) };
        match (a == b, reasons.of(&plan.name, aspect)) {
            (true, Some(reason)) => {
                let _ = writeln!(report, "  {name}: equal, although they should differ: {reason}");
            }
            (false, None) => {
                let _ = writeln!(report, "  {name}");
                if !is_brief {
                    report += &lines::difference(&a, &b);
                }
            }
            _ => {}
        }
    }
    if report.is_empty() {
        return None;
    }
    if !is_brief {
        let log: String = ours.log.lines().take(6).map(|line| format!("      {line}\n")).collect();
        let _ = write!(report, "  log of plimsoll\n{log}");
        if !theirs.log.is_empty() {
            let _ = writeln!(report, "  JMeter: {}", theirs.log);
        }
    }
    Some(format!("{}\n{report}", plan.name))
}
