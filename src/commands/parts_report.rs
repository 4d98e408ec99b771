//! Results of several experiments of one file, at the end of their runs and on request later.

use super::folder_report::{self, Form};
use crate::exit::{Exit, Failure};
use crate::say;
use plimsoll_analysis::summary::Outcome;
use plimsoll_chart::Chart;
use plimsoll_experiment::conclusion::Conclusion;
use plimsoll_experiment::folder::parts::{self as list, Parts};
use plimsoll_output::experiment::RunFile;
use plimsoll_output::experiment::parts::{Row, heading, markdown, table};
use plimsoll_output::figure;
use plimsoll_output::html::Page;
use plimsoll_output::html::parts::{Part, page};
use plimsoll_output::json;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use serde_json::{Value, json};
use std::path::Path;

/// What is known of one part.
pub struct PartResult {
    name: String,
    folder: String,
    question: String,
    conclusion: Option<Conclusion>,
    sentence: String,
    exit: Exit,
}

impl PartResult {
    /// Returns the result of a part that ran. If it stopped early, the reason determines its exit code.
    pub fn of(name: &str, folder: &str, conclusion: Conclusion, stopped: Option<Exit>) -> PartResult {
        PartResult {
            name: name.to_owned(),
            folder: folder.to_owned(),
            question: conclusion.question.clone(),
            sentence: conclusion.sentence.clone(),
            exit: stopped.unwrap_or(conclusion.result.into()),
            conclusion: Some(conclusion),
        }
    }

    /// Returns the result of a part that could not run.
    pub fn failed(name: &str, folder: &str, question: &str, failure: &Failure) -> PartResult {
        let (question, sentence) = (question.to_owned(), failure.sentence());
        PartResult { question, sentence, exit: failure.exit(), ..PartResult::missing(name, folder, "") }
    }

    /// Returns the result of a part without any runs.
    pub fn missing(name: &str, folder: &str, why: &str) -> PartResult {
        PartResult {
            name: name.to_owned(),
            folder: folder.to_owned(),
            question: String::new(),
            conclusion: None,
            sentence: why.to_owned(),
            exit: Exit::Inconclusive,
        }
    }

    fn row(&self) -> Row {
        let result = match self.exit {
            Exit::Pass => Some(Outcome::Pass),
            Exit::ThresholdMissed | Exit::K6Aborted | Exit::K6Failed => Some(Outcome::Fail),
            Exit::Inconclusive => Some(Outcome::Inconclusive),
            Exit::Interrupted | Exit::Terminated | Exit::HungUp | Exit::K6Interrupted => {
                Some(Outcome::Interrupted)
            }
            Exit::CouldNotRun
            | Exit::Usage
            | Exit::Refused
            | Exit::K6SetupTimeout
            | Exit::K6TeardownTimeout
            | Exit::K6Invalid
            | Exit::K6Exception
            | Exit::AbUsage
            | Exit::AbUnresolved
            | Exit::AbRefused
            | Exit::LoadtestUsage => None,
        };
        Row {
            name: self.name.clone(),
            result,
            begun: self.conclusion.is_some(),
            judged: self.conclusion.as_ref().is_none_or(Conclusion::is_judged),
            sentence: self.sentence.clone(),
        }
    }
}

/// Returns the exit code over all parts. A part that could not run outweighs a missed threshold, which outweighs an
/// inconclusive part.
pub fn worst(told: &[PartResult]) -> Exit {
    const ORDER: [Exit; 5] =
        [Exit::CouldNotRun, Exit::Refused, Exit::Usage, Exit::ThresholdMissed, Exit::Inconclusive];
    let has = |exit: Exit| told.iter().any(|one| one.exit == exit);
    // Interrupted parts, which `--stop-early-ok` allows, do not make a PASS.
    let other = if told.iter().all(|one| one.exit == Exit::Pass) { Exit::Pass } else { Exit::Inconclusive };
    ORDER.into_iter().find(|exit| has(*exit)).unwrap_or(other)
}

/// Prints the table below all reports, or in place of them.
///
/// # Errors
/// Returns an error if stdout cannot be written.
pub fn end(name: &str, told: &[PartResult], form: &Form) -> Result<(), Failure> {
    let rows: Vec<Row> = told.iter().map(PartResult::row).collect();
    if form.json {
        return say::result(&document(name, told)?);
    }
    if form.quiet {
        for row in rows.iter().filter(|row| row.result != Some(Outcome::Pass)) {
            say::talk(&format!("{}: {}\n", row.name, row.sentence));
        }
        return Ok(());
    }
    let text = match form.markdown {
        true => markdown(&rows),
        false => table(&rows, &say::look_of_results(form.no_color)),
    };
    say::result(&format!("\n{text}"))
}

/// Prints a folder of parts, if it is one.
///
/// # Errors
/// Returns an error if the folder cannot be read, or the form exists for single experiments only.
pub fn print(path: &Path, form: &Form) -> Result<Option<Exit>, Failure> {
    let Some(parts) = list::read(path)? else { return Ok(None) };
    if form.csv {
        return Err(no_table(path, &parts).into());
    }
    let told = all(path, &parts);
    // If the page replaces the text, only headings would remain.
    if !form.json && !form.quiet {
        say::result(&reports(path, &parts, &told, form)?)?;
    }
    end(&parts.name, &told, form)?;
    Ok(Some(worst(&told)))
}

/// Returns the document of all parts, their charts (`p1-capacity-users`), and the exit code. Returns `None` if the
/// folder has no parts.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn document_of(path: &Path) -> Result<Option<(String, Vec<Chart>, Exit)>, Failure> {
    let Some(parts) = list::read(path)? else { return Ok(None) };
    let told = all(path, &parts);
    let of_part = |(number, one): (usize, &PartResult)| -> Vec<Chart> {
        let charts = one.conclusion.iter().flat_map(figure::of_conclusion);
        charts.map(|chart| Chart { id: format!("p{number}-{}", chart.id), ..chart }).collect()
    };
    let charts = (1..).zip(&told).flat_map(of_part).collect();
    Ok(Some((document(&parts.name, &told)?, charts, worst(&told))))
}

/// Returns every part in order, with the results of its runs.
fn all(path: &Path, parts: &Parts) -> Vec<PartResult> {
    let mut told = Vec::new();
    for part in &parts.parts {
        let folder = path.join(&part.folder);
        told.push(match folder.is_dir() {
            false => PartResult::missing(&part.name, &part.folder, "not run yet"),
            true => match folder_report::concluded(&folder) {
                Ok(conclusion) => PartResult::of(&part.name, &part.folder, conclusion, None),
                Err(failure) => PartResult::failed(&part.name, &part.folder, "", &failure),
            },
        });
    }
    told
}

/// Returns the page of a folder of parts, if it is one; `files` returns the run files of a part's folder.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn page_of(path: &Path, files: &dyn Fn(&Path) -> Vec<RunFile>) -> Result<Option<Page>, Failure> {
    let Some(parts) = list::read(path)? else { return Ok(None) };
    let told = all(path, &parts);
    let document = value(&parts.name, &told)?;
    let part = |one: PartResult| Part {
        row: one.row(),
        question: one.question,
        files: files(&path.join(&one.folder)),
        charts: one.conclusion.as_ref().map(figure::of_conclusion).unwrap_or_default(),
        conclusion: one.conclusion,
    };
    Ok(Some(page(&parts.name, told.into_iter().map(part).collect(), document)))
}

/// Returns all reports, each below its heading.
fn reports(path: &Path, parts: &Parts, told: &[PartResult], form: &Form) -> Result<String, Failure> {
    let look = say::look_of_results(form.no_color);
    let mut out = String::new();
    for (at, one) in told.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        match form.markdown {
            true => out.push_str(&format!("# {}\n\n", one.name)),
            false => out.push_str(&heading(at + 1, parts.parts.len(), &one.name, &look)),
        }
        match &one.conclusion {
            Some(conclusion) => {
                out.push_str(&folder_report::rendered(conclusion, &path.join(&one.folder), form)?);
            }
            None => out.push_str(&format!("{}\n", one.sentence)),
        }
    }
    Ok(out)
}

fn no_table(path: &Path, parts: &Parts) -> Diagnostic {
    let folders: Vec<String> =
        parts.parts.iter().map(|part| format!("`{}`", path.join(&part.folder).display())).collect();
    let message = "experiments with different columns have no common table";
    Diagnostic::new(
        "U030",
        Place::Flag("--csv".into()),
        message,
        format!("name one of the directories {}", folders.join(", ")),
    )
}

/// Returns one JSON document of all parts.
fn document(name: &str, told: &[PartResult]) -> Result<String, Failure> {
    Ok(json::document(&value(name, told)?)?)
}

fn value(name: &str, told: &[PartResult]) -> Result<Value, Failure> {
    let mut parts = Vec::new();
    for one in told {
        // The same as `report DIR/NN-NAME --json` prints.
        let report: Value = match &one.conclusion {
            Some(conclusion) => serde_json::from_str(&folder_report::document(conclusion)?).map_err(|e| {
                Failure::machine(format!("invalid JSON in the report of `{}`: {e}", one.name), None)
            })?,
            None => Value::Null,
        };
        parts.push(json!({
            "name": one.name,
            "folder": one.folder,
            "question": one.question,
            "sentence": one.sentence,
            "exit_code": one.exit.code(),
            "report": report,
        }));
    }
    Ok(json!({ "schema_version": 2, "name": name, "parts": parts }))
}
