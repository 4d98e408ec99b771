//! `plimsoll URL` and `plimsoll run FILE`: text to plan; the load itself is in [`super::load`].

use super::load;
use crate::exit::{Exit, Failure};
use crate::flags::load::LoadFlags;
use crate::flags::{self, draft};
use crate::wall;
use plimsoll_engine::machine;
use plimsoll_front::{Kind, Located, detect};
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

/// `plimsoll run FILE`.
pub fn file(run: &flags::verbs::Run) -> Result<Exit, Failure> {
    let Some(file) = &run.file else {
        return Err(Diagnostic::new(
            "U013",
            Place::Whole,
            "there is no file to run",
            "name one, such as `plimsoll run experiment.yaml`",
        )
        .into());
    };
    if file.contains("://") {
        let hint = format!("leave out `run`: `plimsoll {file}`");
        return Err(Diagnostic::new("U014", Place::Whole, format!("`{file}` is a URL, no file"), hint).into());
    }
    let located = plimsoll_front::read(Path::new(file)).map_err(Failure::Text)?;
    let plan = sealed(located, &run.flags, true)?;
    load::command(plan, &run.flags.manner)
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
