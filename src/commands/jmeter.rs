//! Test plans of JMeter: `plimsoll run plan.jmx`, `plimsoll check plan.jmx`, and `plimsoll jmeter`.

mod line;
mod results;
mod samples;
mod statistics;

pub use line::command;

use super::campaign::Again;
use super::{load, run};
use crate::exit::{Exit, Failure};
use crate::flags::agents::AgentFlags;
use crate::flags::load::LoadFlags;
use crate::flags::tool::PlanFlags;
use crate::flags::verbs::Run;
use crate::{say, wall};
use plimsoll_front::Located;
use plimsoll_jmeter::{JmeterCode, Level, Log, Options};
use plimsoll_jmx::plan::{Group, GroupLoad, Node, NodeKind, Phase, Threads};
use plimsoll_jmx::{Given, Reading, code};
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::{counted, duration_ns};
use plimsoll_plan::{Diagnostic, Plan};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Returns whether a file is a test plan.
pub fn is_plan(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
}

/// Refuses flags of test plans for other files.
pub fn refuse_flags(file: &str, own: &PlanFlags) -> Result<(), Failure> {
    let flag = match own {
        PlanFlags { properties, .. } if !properties.is_empty() => "--property",
        PlanFlags { skip_scripts: true, .. } => "--skip-scripts",
        _ => return Ok(()),
    };
    let message = format!("`{flag}` has no effect: `{file}` is not a test plan of JMeter");
    let hint = match own.properties.first().and_then(|text| text.split_once('=')) {
        Some((name, value)) => {
            format!("write `--set {name}={value}`, with `{name}` under `vars` of the experiment file")
        }
        None => "omit it".to_owned(),
    };
    Err(Diagnostic::new("U018", Place::Flag(flag.into()), message, hint).into())
}

/// Reads a plan for plimsoll's own flags.
pub fn reading(file: &str, flags: &LoadFlags, own: &PlanFlags) -> Result<Reading, Failure> {
    if !flags.manner.keep_to.is_empty() {
        // A plan reads and writes any file.
        let hint = "run it from a command line";
        let message = format!("`{file}` is a test plan, and this console runs only experiment files");
        return Err(Diagnostic::new("U015", Place::Whole, message, hint).into());
    }
    let given = Given {
        set: pairs("--set", &flags.set)?,
        properties: pairs("--property", &own.properties)?.into_iter().collect::<BTreeMap<_, _>>(),
        system: BTreeMap::new(),
        has_certificate: !flags.connect.certificates.is_empty(),
        skips_scripts: own.skip_scripts,
    };
    plimsoll_jmx::read(Path::new(file), &given).map_err(Failure::Text)
}

fn pairs(flag: &str, texts: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |text: &String| {
        plimsoll_jmx::flags::pair(text)
            .map_err(|problem| Failure::Text(vec![Diagnostic::of("U011", Place::Flag(flag.into()), problem)]))
    };
    texts.iter().map(pair).collect()
}

/// `plimsoll run plan.jmx`.
pub fn run_plan(file: &str, given: &Run) -> Result<Exit, Failure> {
    if let Some(part) = given.parts.first() {
        let message = format!("`--part {part}` has no effect: a test plan has no parts");
        return Err(Diagnostic::new("U019", Place::Flag("--part".into()), message, "omit it").into());
    }
    let reading = reading(file, &given.flags, &given.plan)?;
    refuse_writers(&reading, &given.flags.manner.agents)?;
    let is_quiet = given.flags.manner.quiet;
    if !is_quiet {
        tell_notes(&reading);
    }
    let log = Log::new(move |level, text| {
        if level >= Level::Info && (!is_quiet || level == Level::Error) {
            say::talk(&format!("{text}\n"));
        }
    });
    let options = Options {
        log,
        skips_scripts: given.plan.skip_scripts,
        unix_ns: wall::now_unix_ns(),
        ..Options::default()
    };
    let words = vec!["run".to_owned(), file.to_owned()];
    let manner = run::manner_with(Again::plain(words, &given.flags), &given.flags);
    load::command(planned(&reading, options, &given.flags)?, &manner)
}

/// Returns the plan of a test plan without values of the command line.
///
/// # Errors
/// Returns every mistake in the test plan.
pub fn plan(file: &str) -> Result<Plan, Failure> {
    let flags = LoadFlags::default();
    planned(&reading(file, &flags, &PlanFlags::default())?, Options::default(), &flags)
}

/// Returns the plan with its users as code.
fn planned(reading: &Reading, options: Options, flags: &LoadFlags) -> Result<Plan, Failure> {
    let mut draft = plimsoll_jmx::draft(&reading.plan, &reading.files).map_err(Failure::Text)?;
    refuse_unsupported(reading, options.skips_scripts)?;
    draft.code = Some(JmeterCode::new(Arc::new(reading.plan.clone()), options));
    run::sealed(Located { draft, ..Located::default() }, flags, true)
}

/// Refuses elements that write a file if agents send the load: it would be on their machines, and be deleted with the
/// other files of the load.
pub fn refuse_writers(reading: &Reading, agents: &AgentFlags) -> Result<(), Failure> {
    if agents.selection.is_none() {
        return Ok(());
    }
    let refused = |note: &Diagnostic| Diagnostic {
        code: "U049",
        message: format!("{} on each agent, where it is deleted after the load", note.message),
        hint: "disable the element, or omit `--agents`".into(),
        ..note.clone()
    };
    let writers = reading.notes.iter().filter(|note| note.code == code::note::WRITES);
    let wrong: Vec<Diagnostic> = writers.map(refused).collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Text(wrong)) }
}

/// Refuses what the users cannot run.
fn refuse_unsupported(reading: &Reading, skips_scripts: bool) -> Result<(), Failure> {
    let mut wrong = plimsoll_jmeter::check(&reading.plan);
    wrong.retain(|one| !(skips_scripts && one.code == code::SCRIPT));
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Text(wrong)) }
}

/// `plimsoll check plan.jmx`: what the plan needs, and what runs otherwise than it seems.
pub fn check(file: &str, flags: &LoadFlags, own: &PlanFlags) -> Result<Exit, Failure> {
    let reading = reading(file, flags, own)?;
    planned(&reading, Options { skips_scripts: own.skip_scripts, ..Options::default() }, flags)?;
    let plan = &reading.plan;
    let samplers = plan.groups.iter().map(|group| samplers(&group.nodes)).sum::<u64>();
    let mut text = format!(
        "{file}: valid; {}, {}\n",
        counted(plan.groups.len() as u64, "thread group"),
        counted(samplers, "sampler")
    );
    for group in &plan.groups {
        let _ = writeln!(text, "  {}", describe(group));
    }
    for replaced in reading.replaced.iter().filter(|replaced| replaced.count > 0) {
        let _ = writeln!(text, "  {} replaced in {}", replaced.name, counted(replaced.count as u64, "place"));
    }
    for note in &reading.notes {
        let _ = writeln!(text, "  {}", note_line(note));
    }
    say::result(&text)?;
    Ok(Exit::Pass)
}

/// Returns the number of samplers below nodes.
fn samplers(nodes: &[Node]) -> u64 {
    let count = |node: &Node| match &node.kind {
        NodeKind::Sampler(_) => 1,
        NodeKind::Controller { nodes, .. } => samplers(nodes),
    };
    nodes.iter().map(count).sum()
}

/// `thread group Users: 600 threads in 5 min, 10 loops each`
fn describe(group: &Group) -> String {
    let kind = match group.phase {
        Phase::SetUp => "setUp thread group",
        Phase::Main => "thread group",
        Phase::TearDown => "tearDown thread group",
    };
    let load = match &group.load {
        GroupLoad::Threads(threads) => threads_of(threads),
        GroupLoad::Profile { users, .. } => {
            format!("up to {} in {}", counted(users.peak() as u64, "thread"), duration_ns(users.total_ns()))
        }
        GroupLoad::Arrivals { rate_per_s, .. } => {
            format!("up to {:.3} arrivals/s in {}", rate_per_s.peak(), duration_ns(rate_per_s.total_ns()))
        }
    };
    format!("{kind} {}: {load}, {}", group.title, counted(samplers(&group.nodes), "sampler"))
}

fn threads_of(threads: &Threads) -> String {
    let mut text = counted(u64::from(threads.threads), "thread");
    if threads.ramp_up_ns > 0 {
        let _ = write!(text, " in {}", duration_ns(threads.ramp_up_ns));
    }
    if threads.delay_ns > 0 {
        let _ = write!(text, " after {}", duration_ns(threads.delay_ns));
    }
    match (threads.loops, threads.duration_ns) {
        (Some(loops), None) => {
            let all = loops.saturating_mul(u64::from(threads.threads));
            let _ = write!(text, ", {} each, {} in total", counted(loops, "loop"), counted(all, "iteration"));
        }
        (Some(loops), Some(ns)) => {
            let _ = write!(text, ", {} each, at most {}", counted(loops, "loop"), duration_ns(ns));
        }
        (None, Some(ns)) => {
            let _ = write!(text, ", for {}", duration_ns(ns));
        }
        (None, None) => text.push_str(", until stopped"),
    }
    text
}

/// Prints the remarks that change how results are read.
pub fn tell_notes(reading: &Reading) {
    for replaced in reading.replaced.iter().filter(|replaced| replaced.count > 0) {
        let places = counted(replaced.count as u64, "place");
        say::talk(&format!("note: {} replaced in {places}\n", replaced.name));
    }
    let hidden = [code::note::WINDOW, code::note::WRITES, code::note::ROWS, code::note::UNUSED];
    for note in reading.notes.iter().filter(|note| !hidden.contains(&note.code)) {
        say::talk(&format!("{}\n", note_line(note)));
    }
}

/// `note[J101] 12:3: nothing defines ...; did you mean ...?`
fn note_line(note: &Diagnostic) -> String {
    let place = match &note.place {
        Place::Text { file, line, column, .. } => format!(" {file}:{line}:{column}"),
        _ => String::new(),
    };
    let hint = if note.hint.is_empty() { String::new() } else { format!("; {}", note.hint) };
    format!("note[{}]{place}: {}{hint}", note.code, note.message)
}
