//! Prints an experiment from its folder: at the end of its runs, and whenever somebody asks again.

use super::page::Wanted;
use super::{figures, folder_page, parts_report, template};
use crate::exit::{Exit, Failure};
use crate::flags::judge::Find;
use crate::flags::verbs::{Form as ReportForm, Run};
use crate::say;
use plimsoll_analysis::summary::Outcome;
use plimsoll_experiment::conclusion::{Conclusion, conclude};
use plimsoll_experiment::folder;
use plimsoll_output::{experiment as render, figure, find, json};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// How it is printed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Form {
    pub json: bool,
    pub markdown: bool,
    pub csv: bool,
    pub quiet: bool,
    pub no_color: bool,
}

impl Form {
    pub fn of_find(flags: &Find) -> Form {
        let manner = &flags.flags.manner;
        Form {
            json: manner.json,
            markdown: flags.form.markdown,
            csv: flags.form.csv,
            quiet: manner.quiet,
            no_color: manner.no_color,
        }
    }

    pub fn of_run(flags: &Run) -> Form {
        let manner = &flags.flags.manner;
        Form { json: manner.json, quiet: manner.quiet, no_color: manner.no_color, ..Form::default() }
    }

    /// # Errors
    /// For a form that only a single run has.
    pub fn of_report(form: &ReportForm, quiet: bool) -> Result<Form, Failure> {
        if let Some(refused) = full_refused(form.full) {
            return Err(refused.into());
        }
        if form.ndjson {
            return Err(Diagnostic::new(
                "U030",
                Place::Flag("--ndjson".into()),
                "an experiment has no one timeline",
                "name one of its run files, or use `--csv` for one line per cell or step",
            )
            .into());
        }
        Ok(Form { json: form.json, markdown: form.markdown, csv: form.csv, quiet, no_color: form.no_color })
    }
}

/// An experiment has many runs, and each of them has a report.
pub fn full_refused(is_full: bool) -> Option<Diagnostic> {
    let hint = "leave it out, and print one of its runs with `plimsoll report FILE.plim --full`";
    let flag = Place::Flag("--full".into());
    is_full.then(|| Diagnostic::new("U030", flag, "only the report of a single run has these details", hint))
}

/// Reads the folder, prints it, writes its page where one is wanted, and says how the command ends. A folder of several
/// experiments is printed as all of them.
///
/// # Errors
/// When it cannot be read, or holds no run of an experiment.
pub fn print(path: &Path, form: &Form, wanted: Option<&Wanted>) -> Result<Exit, Failure> {
    // A page on standard output stands in place of the text.
    let quiet = form.quiet || wanted.is_some_and(Wanted::is_result);
    let form = &Form { quiet, ..*form };
    let exit = match parts_report::print(path, form)? {
        Some(exit) => exit,
        None => {
            let conclusion = concluded(path)?;
            say::result(&rendered(&conclusion, path, form)?)?;
            conclusion.result.into()
        }
    };
    if let Some(wanted) = wanted {
        wanted.write(&folder_page::of(path, wanted.file())?)?;
    }
    Ok(exit)
}

/// What the runs of a folder say together.
///
/// # Errors
/// When it cannot be read, or holds no run of an experiment.
pub fn concluded(path: &Path) -> Result<Conclusion, Failure> {
    let read = folder::read(path)?;
    let conclusion = match read.runs.is_empty() {
        true => None,
        false => conclude(read),
    };
    conclusion.ok_or_else(|| folder::Error::Empty { path: path.into() }.into())
}

/// Prints what a template makes of the folder, writes its page where one is wanted, and says how the command ends.
///
/// # Errors
/// When the folder or the template cannot be read, or the template names what is not there.
pub fn fill_in(path: &Path, own: &str, wanted: Option<&Wanted>) -> Result<Exit, Failure> {
    let (text, exit) = match parts_report::document_of(path)? {
        Some((document, charts, exit)) => (template::rendered(own, "parts", &document, &charts)?, exit),
        None => {
            let conclusion = concluded(path)?;
            let charts = figure::of_conclusion(&conclusion);
            // Several searches, and one that was stopped, have the document of an experiment.
            let kind = if single(&conclusion).is_some() { "search" } else { "experiment" };
            (template::rendered(own, kind, &document(&conclusion)?, &charts)?, conclusion.result.into())
        }
    };
    say::result(&text)?;
    if let Some(wanted) = wanted {
        wanted.write(&folder_page::of(path, wanted.file())?)?;
    }
    Ok(exit)
}

/// Draws what there is to see; of several experiments into a folder for each.
///
/// # Errors
/// When a run cannot be read, or a picture cannot be written.
pub fn draw(path: &Path, wish: &figures::ChartOptions) -> Result<(), Failure> {
    let Some(parts) = folder::parts::read(path)? else {
        return figures::of_folder(&concluded(path)?, path, wish);
    };
    for part in &parts.parts {
        let folder = path.join(&part.folder);
        // One that has no runs yet has no pictures: the report says so already.
        if let Ok(conclusion) = concluded(&folder) {
            figures::of_folder(&conclusion, &folder, &wish.within(&part.folder))?;
        }
    }
    Ok(())
}

/// An experiment in the form asked for; in the quiet one its sentence is said where it did not pass.
///
/// # Errors
/// When a document cannot be made of it.
pub fn rendered(conclusion: &Conclusion, path: &Path, form: &Form) -> Result<String, Failure> {
    Ok(if form.json {
        document(conclusion)?
    } else if form.markdown {
        render::markdown(conclusion)
    } else if form.csv {
        match single(conclusion) {
            Some(answer) => find::csv(answer),
            None => render::csv(conclusion),
        }
    } else if form.quiet {
        if conclusion.result != Outcome::Pass {
            say::talk(&format!("{}\n", conclusion.sentence));
        }
        String::new()
    } else {
        let shown = path.display().to_string();
        render::terminal(conclusion, &say::look_of_results(form.no_color), Some(&shown))
    })
}

/// The document for programs: of an experiment that is one finished search, its answer.
///
/// # Errors
/// When it cannot be made.
pub fn document(conclusion: &Conclusion) -> Result<String, Failure> {
    let Some(answer) = single(conclusion) else { return Ok(render::json(conclusion)?) };
    let text = find::json(answer)?;
    if conclusion.question.is_empty() {
        return Ok(text);
    }
    let wrong = |e: serde_json::Error| Failure::machine(format!("the answer is no JSON: {e}"), None);
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
    value["question"] = conclusion.question.clone().into();
    Ok(json::document(&value)?)
}

/// The answer of an experiment that is one finished search: the document that scripts expect of `find`.
fn single(conclusion: &Conclusion) -> Option<&plimsoll_experiment::search::Answer> {
    match conclusion.searches.as_slice() {
        [one] => one.answer.as_deref(),
        _ => None,
    }
}
