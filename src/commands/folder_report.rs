//! Prints an experiment from its folder, at the end of its runs and on request later.

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

/// Format of a printed experiment.
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
    /// Returns an error for a format that only single runs have.
    pub fn of_report(form: &ReportForm, quiet: bool) -> Result<Form, Failure> {
        if let Some(refused) = full_refused(form.full) {
            return Err(refused.into());
        }
        if form.ndjson {
            return Err(Diagnostic::new(
                "U030",
                Place::Flag("--ndjson".into()),
                "an experiment has no single timeline",
                "name one of its run files, or use `--csv` for one line per combination or step",
            )
            .into());
        }
        Ok(Form { json: form.json, markdown: form.markdown, csv: form.csv, quiet, no_color: form.no_color })
    }
}

/// Rejects `--full`, because each of an experiment's runs has its own report.
pub fn full_refused(is_full: bool) -> Option<Diagnostic> {
    let hint = "omit it, and print one of the runs with `plimsoll report FILE.plim --full`";
    let flag = Place::Flag("--full".into());
    is_full.then(|| Diagnostic::new("U030", flag, "`--full` is for single runs", hint))
}

/// Reads the folder, prints it, writes the requested page, and returns the exit code. If the folder has several
/// experiments, prints all of them.
///
/// # Errors
/// Returns an error if the folder cannot be read or contains no run of an experiment.
pub fn print(path: &Path, form: &Form, wanted: Option<&Wanted>) -> Result<Exit, Failure> {
    // A page on standard output replaces the text.
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

/// Returns the conclusion from the runs of a folder.
///
/// # Errors
/// Returns an error if the folder cannot be read or contains no run of an experiment.
pub fn concluded(path: &Path) -> Result<Conclusion, Failure> {
    let read = folder::read(path)?;
    let conclusion = match read.runs.is_empty() {
        true => None,
        false => conclude(read),
    };
    conclusion.ok_or_else(|| folder::Error::Empty { path: path.into() }.into())
}

/// Fills in a template from the folder, writes the requested page, and returns the exit code.
///
/// # Errors
/// Returns an error if the folder or the template cannot be read, or the template uses an unknown name.
pub fn fill_in(path: &Path, own: &str, wanted: Option<&Wanted>) -> Result<Exit, Failure> {
    let (text, exit) = match parts_report::document_of(path)? {
        Some((document, charts, exit)) => (template::rendered(own, "parts", &document, &charts)?, exit),
        None => {
            let conclusion = concluded(path)?;
            let charts = figure::of_conclusion(&conclusion);
            // Several searches, or one that was stopped, have the document of an experiment.
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

/// Draws the charts, into one subfolder per experiment if there are several.
///
/// # Errors
/// Returns an error if a run cannot be read or a chart cannot be written.
pub fn draw(path: &Path, wish: &figures::ChartOptions) -> Result<(), Failure> {
    let Some(parts) = folder::parts::read(path)? else {
        return figures::of_folder(&concluded(path)?, path, wish);
    };
    for part in &parts.parts {
        let folder = path.join(&part.folder);
        // A part without runs has no charts; the report says so.
        if let Ok(conclusion) = concluded(&folder) {
            figures::of_folder(&conclusion, &folder, &wish.within(&part.folder))?;
        }
    }
    Ok(())
}

/// Renders an experiment in the requested format. In the quiet format, prints its sentence unless it passed.
///
/// # Errors
/// Returns an error if a document cannot be serialized.
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

/// Returns the JSON document; for an experiment that is one finished search, its answer.
///
/// # Errors
/// Returns an error if the document cannot be serialized.
pub fn document(conclusion: &Conclusion) -> Result<String, Failure> {
    let Some(answer) = single(conclusion) else { return Ok(render::json(conclusion)?) };
    let text = find::json(answer)?;
    if conclusion.question.is_empty() {
        return Ok(text);
    }
    let wrong =
        |e: serde_json::Error| Failure::machine(format!("cannot write the answer as JSON: {e}"), None);
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
    value["question"] = conclusion.question.clone().into();
    Ok(json::document(&value)?)
}

/// Returns the answer of an experiment that is one finished search, the document that scripts expect from `find`.
fn single(conclusion: &Conclusion) -> Option<&plimsoll_experiment::search::Answer> {
    match conclusion.searches.as_slice() {
        [one] => one.answer.as_deref(),
        _ => None,
    }
}
