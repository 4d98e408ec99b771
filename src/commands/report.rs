//! `plimsoll report FILE`: prints the report of a run from its run file, or of an experiment from its folder.

use super::page::{self, Wanted};
use super::{figures, folder_report, load, template};
use crate::exit::{Exit, Failure};
use crate::flags::verbs::{Form, Report};
use crate::say;
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::Summary;
use plimsoll_output::line::clean;
use plimsoll_output::{csv, json, markdown, ndjson, terminal};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::run_file;
use std::path::Path;

pub fn command(flags: &Report) -> Result<Exit, Failure> {
    let Some(file) = &flags.file else {
        return Err(Diagnostic::new(
            "U016",
            Place::Whole,
            "missing run file",
            "add one, such as `plimsoll report run.plim`",
        )
        .into());
    };
    let wish = figures::ChartOptions::of(flags)?;
    let other = flags.template.as_ref().map(|_| "--template").or(flags.form.flag());
    let wanted = Wanted::of(&flags.page, other)?;
    if Path::new(file).is_dir() {
        let exit = match &flags.template {
            Some(own) => folder_report::fill_in(Path::new(file), own, wanted.as_ref())?,
            None => {
                let form = folder_report::Form::of_report(&flags.form, flags.quiet)?;
                folder_report::print(Path::new(file), &form, wanted.as_ref())?
            }
        };
        if let Some(wish) = &wish {
            folder_report::draw(Path::new(file), wish)?;
        }
        return Ok(exit);
    }
    let record = run_file::read(Path::new(file))?;
    let summary = summarise(&record);
    match &flags.template {
        Some(own) => {
            let charts = page::charts_of(&record, &summary, Some(Path::new(file)))?;
            say::result(&template::rendered(own, "run", &json::to_string(&summary)?, &charts)?)?;
        }
        None if wanted.as_ref().is_some_and(Wanted::is_result) => {}
        None if flags.quiet => load::tell_unless_passed(&summary),
        None => print(&summary, &flags.form, Some(file))?,
    }
    if let Some(wish) = &wish {
        let charts = page::charts_of(&record, &summary, Some(Path::new(file)))?;
        figures::of_run(&summary, charts, wish)?;
    }
    page::write_run(wanted.as_ref(), &record, &summary, Some(Path::new(file)))
}

/// Prints a summary in the requested format.
pub fn print(summary: &Summary, form: &Form, run_file: Option<&str>) -> Result<(), Failure> {
    let text = if form.json {
        json::to_string(summary)?
    } else if form.markdown {
        markdown::to_string(summary)
    } else if form.csv {
        csv::to_string(summary)
    } else if form.ndjson {
        ndjson::to_string(summary)?
    } else {
        terminal::summary(summary, &say::look_of_results(form.no_color), load::detail(form.full), run_file)
    };
    say::result(&questioned(&text, summary, form.json || form.csv || form.ndjson, form.markdown))
}

/// Prepends the question of the experiment file to the report. JSON documents contain it in their plan.
pub fn questioned(text: &str, summary: &Summary, is_document: bool, is_markdown: bool) -> String {
    match &summary.plan.question {
        Some(question) if is_markdown => format!("> {}\n\n{text}", markdown::escaped(question)),
        Some(question) if !is_document => format!("{}\n{text}", clean(question)),
        _ => text.to_owned(),
    }
}
