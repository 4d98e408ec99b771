//! `plimsoll URL` and `plimsoll run FILE`: from text to plan. The load itself is in [`super::load`].

use super::campaign::Again;
use super::campaign::level::Level;
use super::grpc::Reflector;
use super::load::Shared;
use super::page::Wanted;
use super::{agents, campaign, find, folder_report, jmeter, junit, load, parts, script};
use crate::exit::{Exit, Failure};
use crate::flags::load::{LoadFlags, MannerFlags};
use crate::flags::{self, draft};
use crate::{say, wall};
use plimsoll_control::session;
use plimsoll_engine::machine;
use plimsoll_front::{Kind, Located, Overrides, Part, Study, detect, parse_set};
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::request::redacted_url;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::unit;
use plimsoll_plan::{Diagnostic, Draft, Plan};
use std::io::Read;
use std::path::Path;

/// `plimsoll URL`.
pub fn url(load: &flags::Load) -> Result<Exit, Failure> {
    // A bad URL must not hide bad flags: all errors are reported together.
    let (draft, mut wrong) = match of_urls(load) {
        Ok(draft) => (draft, Vec::new()),
        Err(wrong) => (Default::default(), wrong),
    };
    if let Some(set) = load.flags.set.first() {
        let message = format!("`--set {}` has no effect: a URL has no variables", name_of(set));
        wrong.push(Diagnostic::new("U019", Place::Flag("--set".into()), message, "omit it"));
    }
    if load.flags.target.is_some() {
        let message = "the URL already names the target";
        let hint = "put the other origin into the URL; `--target` is for `plimsoll run FILE`";
        wrong.push(Diagnostic::new("U042", Place::Flag("--target".into()), message, hint));
    }
    let known = wrong.is_empty();
    let located = Located { draft, ..Located::default() };
    let mut words = load.urls.clone();
    words.extend(load.list.iter().map(|list| format!("--urls={list}")));
    match sealed(located, &load.flags, known) {
        Ok(plan) if known => load::command(plan, &manner_with(Again::plain(words, &load.flags), &load.flags)),
        Ok(_) => Err(Failure::Text(wrong)),
        Err(Failure::Text(more)) => {
            wrong.extend(more);
            Err(Failure::Text(wrong))
        }
        Err(other) => Err(other),
    }
}

/// Returns the flags with the command line for other processes.
pub fn manner_with(again: Again, flags: &LoadFlags) -> MannerFlags {
    MannerFlags { command: Some(again), ..flags.manner.clone() }
}

/// Returns the requests of the URLs on the command line, or of the list that `--urls` names.
fn of_urls(load: &flags::Load) -> Result<Draft, Vec<Diagnostic>> {
    if let Some(list) = &load.list {
        if let Some(url) = load.urls.first() {
            let message =
                format!("unexpected URL `{}`: the list already names the requests", redacted_url(url));
            let hint = "add it to the list, or omit `--urls`";
            return Err(vec![Diagnostic::new("U040", Place::Flag("--urls".into()), message, hint)]);
        }
        let path = Path::new(list);
        let text = plimsoll_front::text_of(path)?;
        return plimsoll_lines::urls::parse(&text, list, path.parent().unwrap_or(Path::new("")));
    }
    if load.urls.is_empty() {
        return Err(vec![Diagnostic::new(
            "U012",
            Place::Whole,
            "missing URL",
            "add one, such as `plimsoll http://127.0.0.1:8080/ -c 100 -d 15s`",
        )]);
    }
    let files: Vec<Diagnostic> = load.urls.iter().filter_map(|text| file_in_place_of_url(text)).collect();
    match files.is_empty() {
        true => draft::of_urls(&load.urls),
        false => Err(files),
    }
}

/// Returns the name in `NAME=VALUE`; the value may be a secret.
fn name_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default()
}

/// `plimsoll run FILE`: one run, an experiment of several runs in a folder, or several experiments in a folder of
/// folders.
pub fn file(run: &flags::verbs::Run) -> Result<Exit, Failure> {
    let file = named("run", run.file.as_deref())?;
    if jmeter::is_plan(file) {
        if run.repeat.is_some() {
            let message = "`--repeat` has no effect: a test plan is one run";
            return Err(Diagnostic::new("U019", Place::Flag("--repeat".into()), message, "omit it").into());
        }
        return jmeter::run_plan(file, run);
    }
    jmeter::refuse_flags(file, &run.plan)?;
    if script::is_script(file) {
        return script::command(file, run);
    }
    let mut all = parts_of(file, &run.flags, &run.parts, Asks::Servers)?;
    if let Some(repeat) = repeat_of(run)? {
        all.iter_mut().for_each(|part| part.study.experiment.repeat = repeat);
    }
    junit::refuse_taken(run.flags.manner.junit.as_deref())?;
    if run.single_run {
        return once(all, run);
    }
    let mut study = match all.pop() {
        Some(Part { name: None, study, .. }) => study,
        last => {
            all.extend(last);
            refuse_full(run)?;
            return parts::run(file, all, run);
        }
    };
    if is_single(&study) {
        let located = study.cells.pop().map(|cell| cell.located).unwrap_or_default();
        let manner = manner_with(Again::new(file, None, &run.flags), &run.flags);
        return load::command(sealed(located, &run.flags, true)?, &manner);
    }
    self::all(file, study, run)
}

/// Runs every combination of an experiment, and prints the result.
///
/// # Errors
/// Returns an error if a plan, a folder, or a target is invalid.
pub fn all(file: &str, study: Study, run: &flags::verbs::Run) -> Result<Exit, Failure> {
    refuse_full(run)?;
    let manner = &run.flags.manner;
    let wanted = Wanted::of(&manner.page, manner.json.then_some("--json"))?;
    let again = campaign::Again::new(file, None, &run.flags);
    let (experiment, cells) = find::cells(study, &run.flags)?;
    let ran = campaign::run(experiment, cells, &run.flags.manner, &Shared::new(false)?, &again)?;
    let exit = ran.print(&folder_report::Form::of_run(run), wanted.as_ref())?;
    junit::of_folder(manner.junit.as_deref(), &ran.folder, exit)?;
    Ok(exit)
}

/// Returns the runs of each combination that `--repeat` asks for.
///
/// # Errors
/// Returns an error if the number is invalid.
pub fn repeat_of(run: &flags::verbs::Run) -> Result<Option<u32>, Failure> {
    let Some(text) = &run.repeat else { return Ok(None) };
    match unit::count(text).ok().and_then(|count| u32::try_from(count).ok()) {
        Some(count @ 1..=REPEAT_MAX) => Ok(Some(count)),
        _ => {
            let message = format!("invalid number of runs `{text}`: expected 1–{REPEAT_MAX}");
            Err(Diagnostic::new("U011", Place::Flag("--repeat".into()), message, "").into())
        }
    }
}

/// Most runs of a combination.
const REPEAT_MAX: u32 = 1_000;

fn refuse_full(run: &flags::verbs::Run) -> Result<(), Failure> {
    folder_report::full_refused(run.flags.manner.full).map_or(Ok(()), |refused| Err(refused.into()))
}

/// `--single-run`: runs one combination once, regardless of the repeats and generators of the file.
fn once(parts: Vec<Part>, run: &flags::verbs::Run) -> Result<Exit, Failure> {
    let refuse = |message: String, hint: String| -> Result<Exit, Failure> {
        Err(Diagnostic::new("U036", Place::Flag("--single-run".into()), message, hint).into())
    };
    let count = parts.len();
    let Some(part) = parts.into_iter().next().filter(|_| count == 1) else {
        return refuse(
            format!("the file has {count} parts, and `--single-run` runs one"),
            "select one with `--part NAME`".into(),
        );
    };
    let mut study = part.study;
    if study.experiment.find.is_some() && run.flags.manner.search_level.is_none() {
        return refuse("a search needs more than a single run".into(), "omit it".into());
    }
    if let Some(axis) = study.experiment.axes.iter().find(|axis| axis.values.len() > 1) {
        let message = format!(
            "the parameter `{}` makes {} runs, and `--single-run` allows one",
            axis.name,
            study.cells.len()
        );
        return refuse(message, format!("select one value with `--set {}=...`", axis.name));
    }
    let located = study.cells.pop().map(|cell| cell.located).unwrap_or_default();
    load::command(settled(applied(located, &run.flags)?, true)?, &run.flags.manner)
}

/// Returns true if the experiment is one cell that runs once, so that the result is a run file, not a folder.
pub fn is_single(study: &Study) -> bool {
    let experiment = &study.experiment;
    study.cells.len() == 1
        && experiment.repeat <= 1
        && experiment.generators <= 1
        && experiment.find.is_none()
        && experiment.expects.is_empty()
}

/// Returns the plans of all experiments of a file with the flags applied, cell by cell. The plans of a search are for
/// one user, because its levels are not known before it runs.
///
/// # Errors
/// Returns every error in the file or in the flags.
pub fn plans_of(
    verb: &str,
    file: Option<&str>,
    flags: &LoadFlags,
    only: &[String],
) -> Result<Vec<(Part, Vec<Plan>)>, Failure> {
    let parts = parts_of(named(verb, file)?, flags, only, Asks::Nothing)?;
    let mut told = Vec::new();
    let mut wrong = Vec::new();
    for part in parts {
        match campaign::plans(&part.study, flags) {
            Ok(plans) => told.push((part, plans)),
            Err(Failure::Text(more)) => add_new(&mut wrong, more),
            Err(other) => return Err(other),
        }
    }
    if wrong.is_empty() { Ok(told) } else { Err(Failure::Text(wrong)) }
}

/// Adds only new errors, because several parts share the errors of what they have in common.
pub fn add_new(wrong: &mut Vec<Diagnostic>, more: Vec<Diagnostic>) {
    for diagnostic in more {
        if !wrong.contains(&diagnostic) {
            wrong.push(diagnostic);
        }
    }
}

/// Reads an experiment file.
///
/// # Errors
/// Returns every error in the file or in its overrides.
pub fn study_of(file: &str, flags: &LoadFlags) -> Result<Study, Failure> {
    let reflector = Reflector::new(flags);
    let mut given = overrides(flags).map_err(Failure::Text)?;
    given.reflect = Some(reflector.asker());
    let study = plimsoll_front::study_with(Path::new(file), &given).map_err(|all| reflector.failure(all))?;
    refuse_ambiguous_target(std::iter::once(&study), flags)?;
    Ok(study)
}

/// What reading a file may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Servers, for their gRPC schemas.
    Servers,
    Nothing,
}

/// Reads all experiments of a file, or those with the given names.
///
/// # Errors
/// Returns every error in the file or in its overrides.
pub fn parts_of(file: &str, flags: &LoadFlags, only: &[String], asks: Asks) -> Result<Vec<Part>, Failure> {
    let reflector = Reflector::new(flags);
    let mut given = overrides(flags).map_err(Failure::Text)?;
    given.reflect = (asks == Asks::Servers).then(|| reflector.asker());
    let parts = plimsoll_front::parts_with(Path::new(file), &given, only);
    let parts = parts.map_err(|all| reflector.failure(all))?;
    refuse_ambiguous_target(parts.iter().map(|part| &part.study), flags)?;
    Ok(parts)
}

/// Rejects `--target` for an experiment that compares targets, because it would compare one with itself.
fn refuse_ambiguous_target<'a>(
    studies: impl Iterator<Item = &'a Study>,
    flags: &LoadFlags,
) -> Result<(), Failure> {
    if flags.target.is_none() {
        return Ok(());
    }
    for study in studies {
        let mut targets = study.cells.iter().filter_map(|cell| cell.located.draft.target.as_ref());
        if let Some(first) = targets.next()
            && let Some(other) = targets.find(|other| *other != first)
        {
            let message = format!(
                "the file loads several targets, such as `{}` and `{}`",
                first.authority(),
                other.authority()
            );
            let hint = "select one, such as with `--set variant=NAME`, or change the file";
            return Err(Diagnostic::new("U042", Place::Flag("--target".into()), message, hint).into());
        }
    }
    Ok(())
}

/// Returns the file's name unless it is missing or a URL.
fn named<'a>(verb: &str, file: Option<&'a str>) -> Result<&'a str, Failure> {
    let Some(file) = file else {
        return Err(Diagnostic::new(
            "U013",
            Place::Whole,
            format!("missing file to {verb}"),
            format!("add one, such as `plimsoll {verb} experiment.yaml`"),
        )
        .into());
    };
    if file.contains("://") {
        let hint = format!("omit `{verb}`: `plimsoll {file}`");
        return Err(
            Diagnostic::new("U014", Place::Whole, format!("`{file}` is a URL, not a file"), hint).into()
        );
    }
    Ok(file)
}

/// Returns what overrides the file: `--set` and the environment.
fn overrides(flags: &LoadFlags) -> Result<Overrides, Vec<Diagnostic>> {
    let mut given = Overrides::default();
    if !flags.manner.keep_to.is_empty() {
        // A missing folder has no files to allow.
        let folders = flags.manner.keep_to.iter().filter_map(|folder| Path::new(folder).canonicalize().ok());
        given.keep_to = Some(folders.collect());
    }
    let mut wrong = Vec::new();
    for text in &flags.set {
        match parse_set(text) {
            Ok(pair) => given.set.push(pair),
            Err(problem) => wrong.push(Diagnostic::of("U011", Place::Flag("--set".into()), problem)),
        }
    }
    if wrong.is_empty() { Ok(given) } else { Err(wrong) }
}

/// Applies the flags to a draft and returns the resulting plan. `whole` is false for a stand-in draft, whose missing
/// parts were reported already.
pub fn sealed(located: Located, flags: &LoadFlags, whole: bool) -> Result<Plan, Failure> {
    // Checks a draft with unreadable parts only in part, so that what is missing is not reported twice.
    let located = applied(located, flags)?;
    let asked = located.draft.load.users;
    let plan = settled(located, whole)?;
    let (users, requests) = (plan.outline.connections, plan.outline.stop.requests);
    if let (Some(asked), Some(requests), true) = (asked, requests, !flags.manner.quiet)
        && users < asked
        && u64::from(asked) > requests
    {
        let (requests, users) = (counted(requests, "request"), counted(users.into(), "connection"));
        say::talk(&format!("note: {requests} need at most {users}, so `-c {asked}` is lowered\n"));
    }
    Ok(plan)
}

/// Applies the flags to a draft.
pub fn applied(mut located: Located, flags: &LoadFlags) -> Result<Located, Failure> {
    draft::apply(flags, &mut located.draft, &mut located.places).map_err(Failure::Text)?;
    // The coordinator runs the monitors that no agent is named for.
    if flags.manner.part_of_agent {
        let (name, labels) = agents::own(flags.manner.as_agent.as_deref().unwrap_or_default());
        located.draft.watches.retain(|watch| watch.on.as_ref().is_some_and(|on| on.covers(&name, &labels)));
    }
    let Some(text) = &flags.manner.search_level else { return Ok(located) };
    let level = Level::parse(text).ok_or_else(|| {
        let message = format!("invalid level of a search `{text}`");
        Diagnostic::new("U011", Place::Flag("--search-level".into()), message, "omit it")
    })?;
    level.of(located)
}

/// Returns the plan of a draft to which the flags have been applied.
pub fn settled(located: Located, whole: bool) -> Result<Plan, Failure> {
    let plan =
        seal(located.draft, Machine { cpus: machine::cpus(), seed: seed()? }).map_err(|diagnostics| {
            let mut all = plimsoll_front::locate(diagnostics, &located.places);
            all.retain(|d| whole || !matches!(d.code, "P001" | "P012"));
            for diagnostic in &mut all {
                if let Place::Field(field) = diagnostic.place {
                    diagnostic.place = Place::Flag(field.flag.to_owned());
                }
            }
            Failure::Text(all)
        })?;
    // Checked here, not only before its load, because the plan may be the last one of many.
    session::check_built(&plan)?;
    Ok(plan)
}

/// Returns a new seed of 53 bits, because other readers of the JSON store numbers as floats.
pub fn seed() -> Result<u64, Failure> {
    Ok(u64::from_le_bytes(wall::random()?) >> 11)
}

/// Detects a file where a URL was expected (`plimsoll script.js`), by its name or because it exists.
fn file_in_place_of_url(text: &str) -> Option<Diagnostic> {
    let path = Path::new(text);
    if text.contains("://")
        || !(path.is_file() || (!text.contains('/') && detect(path, None) != Kind::Unknown))
    {
        // `run.plim` is meant as a run file even if it does not exist.
        let is_run_file = path.extension().is_some_and(|e| e == "plim") && !text.contains("://");
        return is_run_file.then(|| run_file(text));
    }
    if path.extension().is_some_and(|e| e == "plim") {
        return Some(run_file(text));
    }
    let (what, hint) = match detect(path, beginning(path).as_deref()) {
        Kind::Own => ("an experiment file".to_owned(), format!("run it with `plimsoll run {text}`")),
        Kind::Script => ("a k6 script".to_owned(), format!("run it with `plimsoll run {text}`")),
        Kind::TestPlan => ("a test plan of JMeter".to_owned(), format!("run it with `plimsoll run {text}`")),
        Kind::NotYet(name) => (
            format!("a {name}, which is not supported yet"),
            plimsoll_front::rewrite_hint(name)
                .unwrap_or_else(|| "plimsoll runs URLs, experiment files, and curl command lines".into()),
        ),
        Kind::Unknown => ("a file, not a URL".to_owned(), "start a URL with `http://` or `https://`".into()),
    };
    Some(Diagnostic::new("U015", Place::Whole, format!("`{text}` is {what}"), hint))
}

/// Returns the first bytes of a file as text, enough to detect its kind.
fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    // Reading a pipe would block.
    let file = path.is_file().then(|| std::fs::File::open(path).ok())??;
    file.take(64 << 10).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn run_file(text: &str) -> Diagnostic {
    let hint = format!("read it with `plimsoll report {text}`");
    Diagnostic::new("U015", Place::Whole, format!("`{text}` is a run file, the result of a run"), hint)
}
