//! Prints an experiment from its folder: at the end of its runs, and whenever somebody asks again.

use crate::exit::{Exit, Failure};
use crate::flags::judge::Find;
use crate::flags::verbs::{Form as ReportForm, Run};
use crate::say;
use plimsoll_output::{experiment as render, find, json};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::experiment::{Conclusion, conclude};
use plimsoll_record::folder;
use plimsoll_record::summary::Outcome;
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
    pub fn of_report(form: &ReportForm) -> Result<Form, Failure> {
        if form.ndjson {
            return Err(Diagnostic::new(
                "U030",
                Place::Flag("--ndjson".into()),
                "an experiment has no one timeline",
                "name one of its run files, or use `--csv` for one line per cell or step",
            )
            .into());
        }
        Ok(Form {
            json: form.json,
            markdown: form.markdown,
            csv: form.csv,
            quiet: false,
            no_color: form.no_color,
        })
    }
}

/// Reads the folder, prints it, and says how the command ends.
///
/// # Errors
/// When it cannot be read, or holds no run of an experiment.
pub fn print(path: &Path, form: &Form) -> Result<Exit, Failure> {
    let read = folder::read(path)?;
    let conclusion = match read.runs.is_empty() {
        true => None,
        false => conclude(read),
    };
    let Some(conclusion) = conclusion else {
        return Err(folder::Error::Empty { path: path.into() }.into());
    };
    let shown = path.display().to_string();
    let text = if form.json {
        match single(&conclusion) {
            Some(answer) => json::document(answer)?,
            None => json::document(&conclusion)?,
        }
    } else if form.markdown {
        render::markdown(&conclusion)
    } else if form.csv {
        match single(&conclusion) {
            Some(answer) => find::csv(answer),
            None => render::csv(&conclusion),
        }
    } else if form.quiet {
        if conclusion.result != Outcome::Pass {
            say::talk(&format!("{}\n", conclusion.sentence));
        }
        String::new()
    } else {
        render::terminal(&conclusion, &say::look_of_results(form.no_color), Some(&shown))
    };
    say::result(&text)?;
    Ok(conclusion.result.into())
}

/// The answer of an experiment that is one finished search: the document that scripts expect of `find`.
fn single(conclusion: &Conclusion) -> Option<&plimsoll_record::analysis::search::Answer> {
    match conclusion.searches.as_slice() {
        [one] => one.answer.as_deref(),
        _ => None,
    }
}
