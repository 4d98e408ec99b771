//! `plimsoll URL` and `plimsoll run FILE`: text to plan; the load itself is in [`super::load`].

use super::load::Shared;
use super::page::Wanted;
use super::{campaign, find, folder_report, junit, load, parts};
use crate::exit::{Exit, Failure};
use crate::flags::load::LoadFlags;
use crate::flags::{self, draft};
use crate::{say, wall};
use plimsoll_control::session;
use plimsoll_engine::machine;
use plimsoll_front::{Kind, Located, Overrides, Part, Study, detect, parse_set};
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::request::redacted_url;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Diagnostic, Draft, Plan};
use std::io::Read;
use std::path::Path;

/// `plimsoll URL`.
pub fn url(load: &flags::Load) -> Result<Exit, Failure> {
    // A bad URL does not hide bad flags: all mistakes come at once.
    let (draft, mut wrong) = match of_urls(load) {
        Ok(draft) => (draft, Vec::new()),
        Err(wrong) => (Default::default(), wrong),
    };
    if let Some(set) = load.flags.set.first() {
        let message = format!("`--set {}` changes nothing: a URL has no variables", name_of(set));
        wrong.push(Diagnostic::new("U019", Place::Flag("--set".into()), message, "leave it out"));
    }
    if load.flags.target.is_some() {
        let message = "a URL names its target already";
        let hint = "write the other origin into the URL; `--target` is for `plimsoll run FILE`";
        wrong.push(Diagnostic::new("U042", Place::Flag("--target".into()), message, hint));
    }
    let known = wrong.is_empty();
    let located = Located { draft, ..Located::default() };
    match sealed(located, &load.flags, known) {
        Ok(plan) if known => load::command(plan, &load.flags.manner),
        Ok(_) => Err(Failure::Text(wrong)),
        Err(Failure::Text(more)) => {
            wrong.extend(more);
            Err(Failure::Text(wrong))
        }
        Err(other) => Err(other),
    }
}

/// The requests of the URLs on the command line, or of the list that `--urls` names.
fn of_urls(load: &flags::Load) -> Result<Draft, Vec<Diagnostic>> {
    if let Some(list) = &load.list {
        if let Some(url) = load.urls.first() {
            let message = format!("the list says what is loaded, and `{}` is one more", redacted_url(url));
            let hint = "write it into the list, or leave out `--urls`";
            return Err(vec![Diagnostic::new("U040", Place::Flag("--urls".into()), message, hint)]);
        }
        let path = Path::new(list);
        let text = plimsoll_front::text_of(path)?;
        return plimsoll_front::urls::parse(&text, list, path.parent().unwrap_or(Path::new("")));
    }
    if load.urls.is_empty() {
        return Err(vec![Diagnostic::new(
            "U012",
            Place::Whole,
            "there is no URL to load",
            "name one, such as `plimsoll http://127.0.0.1:8080/ -c 100 -d 15s`",
        )]);
    }
    let files: Vec<Diagnostic> = load.urls.iter().filter_map(|text| file_in_place_of_url(text)).collect();
    match files.is_empty() {
        true => draft::of_urls(&load.urls),
        false => Err(files),
    }
}

/// The name in `NAME=VALUE`; the value may be a secret.
fn name_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default()
}

/// `plimsoll run FILE`: one run, an experiment of several in a folder, or several experiments in a folder of folders.
pub fn file(run: &flags::verbs::Run) -> Result<Exit, Failure> {
    let file = named("run", run.file.as_deref())?;
    let mut all = parts_of(file, &run.flags, &run.parts)?;
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
        return load::command(sealed(located, &run.flags, true)?, &run.flags.manner);
    }
    refuse_full(run)?;
    let manner = &run.flags.manner;
    let wanted = Wanted::of(&manner.page, manner.json.then_some("--json"))?;
    let again = campaign::Again::new(file, None, &run.flags);
    let (experiment, cells) = find::cells(study, &run.flags)?;
    let ran = campaign::run(experiment, cells, &run.flags.manner, &Shared::new(false)?, Some(&again))?;
    let exit = ran.print(&folder_report::Form::of_run(run), wanted.as_ref())?;
    junit::of_folder(manner.junit.as_deref(), &ran.folder, exit)?;
    Ok(exit)
}

fn refuse_full(run: &flags::verbs::Run) -> Result<(), Failure> {
    folder_report::full_refused(run.flags.manner.full).map_or(Ok(()), |refused| Err(refused.into()))
}

/// `--single-run`: one cell as a single run, whatever the file says of repeats and generators.
fn once(parts: Vec<Part>, run: &flags::verbs::Run) -> Result<Exit, Failure> {
    let refuse = |message: String, hint: String| -> Result<Exit, Failure> {
        Err(Diagnostic::new("U036", Place::Flag("--single-run".into()), message, hint).into())
    };
    let count = parts.len();
    let Some(part) = parts.into_iter().next().filter(|_| count == 1) else {
        return refuse(
            format!("this is one run, and the file has {count} parts"),
            "choose one: `--part NAME`".into(),
        );
    };
    let mut study = part.study;
    if study.experiment.find.is_some() {
        return refuse("this is one run, and a search is many".into(), "leave it out".into());
    }
    if let Some(axis) = study.experiment.axes.iter().find(|axis| axis.values.len() > 1) {
        let message =
            format!("this is one run, and the axis `{}` makes {} of it", axis.name, study.cells.len());
        return refuse(message, format!("keep one value, such as by `--set {}=...`", axis.name));
    }
    let located = study.cells.pop().map(|cell| cell.located).unwrap_or_default();
    let mut located = applied(located, &run.flags)?;
    if run.unwatched {
        located.draft.watches.clear();
    }
    load::command(settled(located, true)?, &run.flags.manner)
}

/// One cell, run once: the result is a run file, not a folder.
pub fn is_single(study: &Study) -> bool {
    let experiment = &study.experiment;
    study.cells.len() == 1
        && experiment.repeat <= 1
        && experiment.generators <= 1
        && experiment.find.is_none()
        && experiment.expects.is_empty()
}

/// The plans of all experiments of a file with the flags over them, cell by cell. Those of a search are for one user:
/// its levels are not known before it runs.
///
/// # Errors
/// Every mistake in the file, or in the flags.
pub fn plans_of(
    verb: &str,
    file: Option<&str>,
    flags: &LoadFlags,
    only: &[String],
) -> Result<Vec<(Part, Vec<Plan>)>, Failure> {
    let parts = parts_of(named(verb, file)?, flags, only)?;
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

/// What several parts have in common is wrong in each of them, and said once.
pub fn add_new(wrong: &mut Vec<Diagnostic>, more: Vec<Diagnostic>) {
    for diagnostic in more {
        if !wrong.contains(&diagnostic) {
            wrong.push(diagnostic);
        }
    }
}

/// An experiment file, read.
///
/// # Errors
/// Every mistake in it, or in what it is read with.
pub fn study_of(file: &str, flags: &LoadFlags) -> Result<Study, Failure> {
    let given = overrides(flags).map_err(Failure::Text)?;
    let study = plimsoll_front::study_with(Path::new(file), &given).map_err(Failure::Text)?;
    refuse_ambiguous_target(std::iter::once(&study), flags)?;
    Ok(study)
}

/// All experiments of a file, or those of these names.
///
/// # Errors
/// Every mistake in it, or in what it is read with.
pub fn parts_of(file: &str, flags: &LoadFlags, only: &[String]) -> Result<Vec<Part>, Failure> {
    let given = overrides(flags).map_err(Failure::Text)?;
    let parts = plimsoll_front::parts_with(Path::new(file), &given, only).map_err(Failure::Text)?;
    refuse_ambiguous_target(parts.iter().map(|part| &part.study), flags)?;
    Ok(parts)
}

/// `--target` over an experiment that compares targets would compare one with itself.
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
            let hint = "keep one of them, such as by `--set variant=NAME`, or change the file";
            return Err(Diagnostic::new("U042", Place::Flag("--target".into()), message, hint).into());
        }
    }
    Ok(())
}

/// The file's name, if it can be one.
fn named<'a>(verb: &str, file: Option<&'a str>) -> Result<&'a str, Failure> {
    let Some(file) = file else {
        return Err(Diagnostic::new(
            "U013",
            Place::Whole,
            format!("there is no file to {verb}"),
            format!("name one, such as `plimsoll {verb} experiment.yaml`"),
        )
        .into());
    };
    if file.contains("://") {
        let hint = format!("leave out `{verb}`: `plimsoll {file}`");
        return Err(Diagnostic::new("U014", Place::Whole, format!("`{file}` is a URL, no file"), hint).into());
    }
    Ok(file)
}

/// What the file is read with: `--set`, and the environment.
fn overrides(flags: &LoadFlags) -> Result<Overrides, Vec<Diagnostic>> {
    let mut given = Overrides::default();
    if !flags.manner.keep_to.is_empty() {
        // A folder that is not there holds nothing that could be named.
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

/// Flags over a draft, then the plan that both mean. `whole` is false when the draft is known to be a
/// stand-in, whose missing parts need no further word.
pub fn sealed(located: Located, flags: &LoadFlags, whole: bool) -> Result<Plan, Failure> {
    // A draft with unreadable parts is not judged as a whole: what is missing would be reported a second
    // time.
    let located = applied(located, flags)?;
    let asked = located.draft.load.users;
    let plan = settled(located, whole)?;
    let (users, requests) = (plan.outline.connections, plan.outline.stop.requests);
    if let (Some(asked), Some(requests), true) = (asked, requests, !flags.manner.quiet)
        && users < asked
        && u64::from(asked) > requests
    {
        let (requests, users) = (counted(requests, "request"), counted(users.into(), "connection"));
        say::talk(&format!("note: {requests} need at most {users}; `-c {asked}` is lowered\n"));
    }
    Ok(plan)
}

/// Flags over a draft.
pub fn applied(mut located: Located, flags: &LoadFlags) -> Result<Located, Failure> {
    draft::apply(flags, &mut located.draft, &mut located.places).map_err(Failure::Text)?;
    Ok(located)
}

/// The plan that a draft means, flags included.
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
    // Here, and not only before its load: the plan may be the last one of many.
    session::check_built(&plan)?;
    Ok(plan)
}

/// A new seed. 53 bits: other readers of the JSON keep numbers as floats.
pub fn seed() -> Result<u64, Failure> {
    Ok(u64::from_le_bytes(wall::random()?) >> 11)
}

/// `plimsoll script.js`: a file where a URL was expected, by its name or because it is there.
fn file_in_place_of_url(text: &str) -> Option<Diagnostic> {
    let path = Path::new(text);
    if text.contains("://")
        || !(path.is_file() || (!text.contains('/') && detect(path, None) != Kind::Unknown))
    {
        // `run.plim` need not exist to be meant as a run file.
        let is_run_file = path.extension().is_some_and(|e| e == "plim") && !text.contains("://");
        return is_run_file.then(|| run_file(text));
    }
    if path.extension().is_some_and(|e| e == "plim") {
        return Some(run_file(text));
    }
    let (what, hint) = match detect(path, beginning(path).as_deref()) {
        Kind::Own => ("an experiment file".to_owned(), format!("run it with `plimsoll run {text}`")),
        Kind::NotYet(name) => (
            format!("a {name}, which cannot be run yet"),
            "what can be run is a URL, an experiment file or a curl line".into(),
        ),
        Kind::Unknown => ("a file, no URL".to_owned(), "a URL begins with `http://`".into()),
    };
    Some(Diagnostic::new("U015", Place::Whole, format!("`{text}` is {what}"), hint))
}

/// The first bytes of a file as text: enough to see what it is.
fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    // A pipe would be waited for.
    let file = path.is_file().then(|| std::fs::File::open(path).ok())??;
    file.take(64 << 10).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn run_file(text: &str) -> Diagnostic {
    let hint = format!("read it with `plimsoll report {text}`");
    Diagnostic::new("U015", Place::Whole, format!("`{text}` is a run file: the result of a run"), hint)
}
