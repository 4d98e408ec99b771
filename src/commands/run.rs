//! `plimsoll URL` and `plimsoll run FILE`: text to plan; the load itself is in [`super::load`].

use super::load;
use crate::exit::{Exit, Failure};
use crate::flags::load::LoadFlags;
use crate::flags::{self, draft};
use crate::wall;
use plimsoll_engine::machine;
use plimsoll_front::{Given, Kind, Located, detect, parse_set};
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Diagnostic, Plan};
use std::path::Path;

/// `plimsoll URL`.
pub fn url(load: &flags::Load) -> Result<Exit, Failure> {
    let located = match &load.url {
        None => Err(Diagnostic::new(
            "U012",
            Place::Whole,
            "there is no URL to load",
            "name one, such as `plimsoll http://127.0.0.1:8080/ -c 100 -d 15s`",
        )),
        Some(text) => match file_in_place_of_url(text) {
            Some(diagnostic) => Err(diagnostic),
            None => draft::of_url(text),
        },
    };
    // A bad URL does not hide bad flags: all mistakes come at once.
    let (draft, mut wrong) = match located {
        Ok(draft) => (draft, Vec::new()),
        Err(diagnostic) => (Default::default(), vec![diagnostic]),
    };
    if let Some(set) = load.flags.set.first() {
        let message = format!("`--set {}` changes nothing: a URL has no variables", name_of(set));
        wrong.push(Diagnostic::new("U019", Place::Flag("--set".into()), message, "leave it out"));
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

/// The name in `NAME=VALUE`; the value may be a secret.
fn name_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default()
}

/// `plimsoll run FILE`.
pub fn file(run: &flags::verbs::Run) -> Result<Exit, Failure> {
    let plan = plan_of("run", run.file.as_deref(), &run.flags)?;
    load::command(plan, &run.flags.manner)
}

/// The plan of an experiment file with the flags over it.
///
/// # Errors
/// Every mistake in the file, or in the flags.
pub fn plan_of(verb: &str, file: Option<&str>, flags: &LoadFlags) -> Result<Plan, Failure> {
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
    let given = given(flags).map_err(Failure::Text)?;
    let located = plimsoll_front::read_with(Path::new(file), &given).map_err(Failure::Text)?;
    sealed(located, flags, true)
}

/// What the file is read with: `--set`, and the environment.
fn given(flags: &LoadFlags) -> Result<Given, Vec<Diagnostic>> {
    let mut given = Given::default();
    let mut wrong = Vec::new();
    for text in &flags.set {
        match parse_set(text) {
            Ok(pair) => given.set.push(pair),
            Err(sentence) => {
                wrong.push(Diagnostic::new("U011", Place::Flag("--set".into()), sentence, ""));
            }
        }
    }
    if wrong.is_empty() { Ok(given) } else { Err(wrong) }
}

/// Flags over a draft, then the plan that both mean. `whole` is false when the draft is known to be a
/// stand-in, whose missing parts need no further word.
pub fn sealed(mut located: Located, flags: &LoadFlags, whole: bool) -> Result<Plan, Failure> {
    let applied = draft::apply(flags, &mut located.draft, &mut located.places);
    // 53 bits: other readers of the JSON keep numbers as floats.
    let seed = u64::from_le_bytes(wall::random()?) >> 11;
    // A draft with unreadable parts is not judged as a whole: what is missing would be reported a second
    // time.
    applied.map_err(Failure::Text)?;
    let places = located.places;
    seal(located.draft, Machine { cpus: machine::cpus(), seed }).map_err(|diagnostics| {
        let mut all = plimsoll_front::locate(diagnostics, &places);
        all.retain(|d| whole || !matches!(d.code, "P001" | "P012"));
        for diagnostic in &mut all {
            if let Place::Field(field) = diagnostic.place {
                diagnostic.place = Place::Flag(key::flag(field).to_owned());
            }
        }
        Failure::Text(all)
    })
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
    let (what, hint) = match detect(path, None) {
        Kind::Own => ("an experiment file".to_owned(), format!("run it with `plimsoll run {text}`")),
        Kind::NotYet(name) => (
            format!("a {name}, which cannot be run yet"),
            "what can be run is a URL, an experiment file or a curl line".into(),
        ),
        Kind::Unknown => ("a file, no URL".to_owned(), "a URL begins with `http://`".into()),
    };
    Some(Diagnostic::new("U015", Place::Whole, format!("`{text}` is {what}"), hint))
}

fn run_file(text: &str) -> Diagnostic {
    let hint = format!("read it with `plimsoll report {text}`");
    Diagnostic::new("U015", Place::Whole, format!("`{text}` is a run file: the result of a run"), hint)
}
