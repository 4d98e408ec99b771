//! `plimsoll run script.js`: users as JavaScript. The load itself is in [`super::load`].

pub mod remote;
mod sweep;

use super::campaign::Again;
use super::{agents, load, run};
use crate::exit::{Exit, Failure};
use crate::flags::load::LoadFlags;
use crate::flags::verbs::Run;
use crate::say;
use plimsoll_bundle::{Entry, Isolation};
use plimsoll_engine::machine;
use plimsoll_front::proto::Proto;
use plimsoll_front::{Located, Study, StudyCell};
use plimsoll_js::{Given, Level, Log, Ready, RemoteModules, SchemaSource, ScriptCode, Secret};
use plimsoll_k6::Overrides;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Experiment, Setting};
use plimsoll_plan::grpc::Schemas;
use plimsoll_plan::phrase::{counted, duration_ns};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Draft, Plan};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sweep::Variables;

/// Endings of files that are scripts.
const ENDINGS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/// Returns whether a file is a script, or an archive of one; `-` is standard input.
pub fn is_script(file: &str) -> bool {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    file == "-" || ending == "tar" || ENDINGS.contains(&ending)
}

/// `plimsoll run script.js`.
pub fn command(file: &str, given: &Run) -> Result<Exit, Failure> {
    if let Some(part) = given.parts.first() {
        let message = format!("`--part {part}` has no effect: a script has no parts");
        return Err(Diagnostic::new("U019", Place::Flag("--part".into()), message, "omit it").into());
    }
    let flags = &given.flags;
    agents::tools::refuse_stdin(file, &flags.manner.agents)?;
    let mut all = combinations(file, flags, console(flags.manner.quiet))?;
    if let Some((_, first)) = all.first() {
        tell_notes(first, flags);
    }
    let codes: Vec<Arc<ScriptCode>> = all.iter().map(|(_, ready)| Arc::clone(&ready.code)).collect();
    let is_single = all.len() == 1 && run::repeat_of(given)?.is_none_or(|repeat| repeat == 1);
    let exit = match all.pop().filter(|_| is_single) {
        Some((_, only)) => {
            let words = vec!["run".to_owned(), file.to_owned()];
            let manner = run::manner_with(Again::plain(words, flags), flags);
            load::command(planned(only, flags)?, &manner)?
        }
        None if given.single_run => {
            let message =
                "the values of `--set` and `--repeat` make several runs, and `--single-run` allows one";
            let hint = "set one value for each name, and omit `--repeat`";
            return Err(Diagnostic::new("U036", Place::Flag("--single-run".into()), message, hint).into());
        }
        // The last combination was taken from the list.
        None => run::all(file, sweep(file, given)?, given)?,
    };
    Ok(codes.iter().find_map(|code| own_end(code)).unwrap_or(exit))
}

/// Returns the exit code of a test that its script has ended or declared failed, with a message.
pub fn own_end(code: &ScriptCode) -> Option<Exit> {
    let shared = code.shared()?;
    let (why, exit) = match (shared.aborted(), shared.failed()) {
        (Some(why), _) => (why, Exit::K6Aborted),
        (None, Some(why)) => (format!("the script has declared the test failed: {why}"), Exit::K6Failed),
        (None, None) => return None,
    };
    say::talk(&format!("{why}\n"));
    Some(exit)
}

fn tell_notes(ready: &Ready, flags: &LoadFlags) {
    if !flags.manner.quiet {
        for note in &ready.test.notes {
            say::talk(&format!("note: {note}\n"));
        }
    }
}

/// `plimsoll check script.js`: what the script needs, and whether its plans are valid.
pub fn check(file: &str, flags: &LoadFlags) -> Result<Exit, Failure> {
    let mut all = combinations(file, flags, console(false))?;
    let count = all.len();
    let (_, ready) = all.remove(0);
    for (_, other) in all {
        valid(other, flags)?;
    }
    let mut text = format!("{file}: valid; {}\n", counted(ready.test.scenarios.len() as u64, "scenario"));
    for note in &ready.test.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    for one in &ready.test.scenarios {
        let users = counted(u64::from(one.executor.max_vus()), "user");
        let length = one.executor.length_ns().map_or("no end".to_owned(), duration_ns);
        let _ = writeln!(
            text,
            "  scenario {}: {}, {users}, {length}, calls {}",
            one.name,
            one.executor.name(),
            one.exec
        );
    }
    let bundle = &ready.code.script.bundle;
    for used in &bundle.usage.builtins {
        let members: Vec<&str> = used.members.iter().map(|member| member.path.as_str()).collect();
        let what = if members.is_empty() { String::new() } else { format!(": {}", members.join(", ")) };
        let _ = writeln!(text, "  uses {}{what}", used.name);
    }
    let because = |why: &str| format!("the script {}", why.strip_prefix("it ").unwrap_or(why));
    let isolation = match &bundle.isolation {
        Isolation::Shared => "users share global objects".to_owned(),
        Isolation::Context(reason) => {
            format!("each user has its own global objects: {}", because(&reason.why))
        }
        Isolation::Runtime(reason) => format!("each user has its own runtime: {}", because(&reason.why)),
    };
    let _ = writeln!(text, "  {isolation}");
    if count > 1 {
        let _ = writeln!(text, "  {} of the values of `--set`", counted(count as u64, "combination"));
    }
    valid(ready, flags)?;
    say::result(&text)?;
    Ok(Exit::Pass)
}

/// Checks the plan of a test.
fn valid(ready: Ready, flags: &LoadFlags) -> Result<(), Failure> {
    let plan = planned(ready, flags)?;
    if let Some(behavior) = load::behavior(&plan).map_err(Failure::of)? {
        behavior.check_data()?;
    }
    Ok(())
}

/// Returns the plans of a script: one for each combination of the values of `--set`.
///
/// # Errors
/// Returns every mistake in the script or in the flags.
pub fn plans(file: &str, flags: &LoadFlags) -> Result<Vec<Plan>, Failure> {
    let all = combinations(file, flags, console(true))?;
    all.into_iter().map(|(_, ready)| planned(ready, flags)).collect()
}

/// Returns a script as an experiment, whose search sets the load: the default function is called at each level.
///
/// # Errors
/// Returns every mistake in the script or in the flags.
pub fn study(file: &str, flags: &LoadFlags) -> Result<Study, Failure> {
    refuse_console(file, flags)?;
    let variables = Variables::read(&flags.set)?;
    let log = console(flags.manner.quiet);
    let (remote, mut cells) = (remote_modules(file, flags)?, Vec::new());
    for settings in variables.combinations() {
        let env = variables.environment(&settings);
        let ready = read(file, env, one_workload(), Vec::new(), log.clone(), remote.clone())?;
        if cells.is_empty() {
            tell_notes(&ready, flags);
        }
        let located = Located { draft: with_only_workload(ready.draft), ..Located::default() };
        cells.push(StudyCell { settings, located });
    }
    let name = format!("find {}", name_of(file));
    let experiment = Experiment { name, axes: variables.axes, ..Experiment::default() };
    Ok(Study { experiment, cells })
}

fn name_of(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns a script as an experiment of several runs: each combination of the values of `--set`.
fn sweep(file: &str, given: &Run) -> Result<Study, Failure> {
    let flags = &given.flags;
    let variables = Variables::read(&flags.set)?;
    let cell = |(settings, ready): (Vec<Setting>, Ready)| {
        let draft = if has_shape(flags) { with_only_workload(ready.draft) } else { ready.draft };
        StudyCell { settings, located: Located { draft, ..Located::default() } }
    };
    // What the init part writes to the console was shown before.
    let cells = combinations(file, flags, Log::new(|_| {}))?.into_iter().map(cell).collect();
    let repeat = run::repeat_of(given)?.unwrap_or_default();
    let experiment =
        Experiment { name: name_of(file), axes: variables.axes, repeat, ..Experiment::default() };
    Ok(Study { experiment, cells })
}

/// Reads a script for plimsoll's own flags, once for each combination of the values of `--set`.
fn combinations(file: &str, flags: &LoadFlags, log: Log) -> Result<Vec<(Vec<Setting>, Ready)>, Failure> {
    refuse_console(file, flags)?;
    let variables = Variables::read(&flags.set)?;
    let (remote, mut all) = (remote_modules(file, flags)?, Vec::new());
    for settings in variables.combinations() {
        let overrides = if has_shape(flags) { one_workload() } else { Overrides::default() };
        let env = variables.environment(&settings);
        let ready = read(file, env, overrides, Vec::new(), log.clone(), remote.clone())?;
        all.push((settings, ready));
    }
    Ok(all)
}

/// Returns what fetches modules from addresses, if `--allow-remote` allows it.
fn remote_modules(file: &str, flags: &LoadFlags) -> Result<Option<Arc<RemoteModules>>, Failure> {
    match flags.allow_remote {
        true => remote::modules(file, &flags.ca, flags.insecure).map(Some),
        false => Ok(None),
    }
}

fn refuse_console(file: &str, flags: &LoadFlags) -> Result<(), Failure> {
    if !flags.manner.keep_to.is_empty() {
        // A script reads any file and any variable.
        let hint = "run it from a command line";
        let message = format!("`{file}` is a script, and this console runs only experiment files");
        return Err(Diagnostic::new("U015", Place::Whole, message, hint).into());
    }
    Ok(())
}

/// As in k6, a load on the command line replaces all scenarios by one that calls the default function. Its users and
/// its duration are replaced later.
fn one_workload() -> Overrides {
    let mut overrides = Overrides::default();
    (overrides.flags.vus, overrides.flags.duration_ns) = (Some(1), Some(SECOND_NS));
    overrides
}

/// Lets the load of the draft call what its only workload calls.
fn with_only_workload(mut draft: Draft) -> Draft {
    if let Some(only) = draft.workloads.pop() {
        draft.entry = Some(only.entry);
    }
    draft
}

/// Returns whether a flag shapes the load.
fn has_shape(flags: &LoadFlags) -> bool {
    let shapes = [&flags.connections, &flags.duration, &flags.requests, &flags.rate, &flags.stages];
    shapes.iter().any(|flag| flag.is_some()) || flags.manner.search_level.is_some()
}

/// Returns the plan of a test, with the flags applied.
pub fn planned(ready: Ready, flags: &LoadFlags) -> Result<Plan, Failure> {
    let draft = if has_shape(flags) { with_only_workload(ready.draft) } else { ready.draft };
    let located = Located { draft, ..Located::default() };
    run::sealed(located, flags, true)
}

/// Reads a script.
///
/// # Errors
/// Returns every mistake, with the name of its file.
pub fn read(
    file: &str,
    env: Vec<(String, String)>,
    overrides: Overrides,
    secrets: Vec<Secret>,
    log: Log,
    remote: Option<Arc<RemoteModules>>,
) -> Result<Ready, Failure> {
    let entry = entry(file)?;
    let given = Given {
        env,
        overrides,
        secrets,
        log,
        remote,
        memory_bytes: Some(memory_of_runtime()),
        compile_schemas: Arc::new(schemas),
    };
    plimsoll_js::read(entry, given).map_err(Failure::Text)
}

/// Returns how much memory one runtime of JavaScript may take, bytes: together, those of all workers leave half of what
/// is free.
fn memory_of_runtime() -> usize {
    const LEAST_BYTES: usize = 256 << 20;
    let share = machine::memory_left_bytes() / (2 * u64::from(machine::cpus()).max(1));
    usize::try_from(share).unwrap_or(usize::MAX).max(LEAST_BYTES)
}

/// Compiles the schemas of gRPC services for a script.
fn schemas(source: SchemaSource<'_>) -> Result<Schemas, String> {
    let proto = match source {
        SchemaSource::Files { names, folders, read } => Proto::of_sources(names, folders, read)?,
        SchemaSource::Set(bytes) => Proto::of_set(bytes).map_err(|problem| problem.message.to_string())?,
    };
    Ok(proto.schemas())
}

fn entry(file: &str) -> Result<Entry, Failure> {
    let unreadable = |e: std::io::Error| Failure::machine(format!("cannot read `{file}`: {e}"), None);
    if file == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map_err(unreadable)?;
        let name = std::env::current_dir().map_err(unreadable)?.join("stdin.js");
        return Ok(Entry::Text { name, text });
    }
    if Path::new(file).extension().is_some_and(|ending| ending == "tar") {
        plimsoll_plan::inputs::note(Path::new(file));
        return Ok(Entry::Archive(std::fs::read(file).map_err(unreadable)?));
    }
    Ok(Entry::Path(PathBuf::from(file)))
}

/// Returns the console of a script: standard error, without debug messages.
pub fn console(is_quiet: bool) -> Log {
    Log::new(move |message| {
        let (level, text) = (message.level, message.text);
        let name = match level {
            Level::Debug => return,
            Level::Info => "INFO",
            Level::Warning => "WARN",
            Level::Error => "ERRO",
        };
        if !is_quiet || level == Level::Error {
            say::talk(&format!("{name} {text}\n"));
        }
    })
}
