//! The page of a run: its report, and its data.

use super::Page;
use crate::{Error, document, json, run, words};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;
use serde_json::Value;

/// Returns the page. `run_file` is the name of the file that it was made from, if any; `charts` are those of
/// [`crate::figure::of_run`].
///
/// # Errors
/// Returns an error if the summary contains something that JSON cannot express.
pub fn run_page(
    s: &Summary,
    picture: &Picture,
    run_file: Option<&str>,
    charts: Vec<Chart>,
) -> Result<Page, Error> {
    let data = data(s)?;
    let report = run::document(s, picture, &charts, run_file);
    let title = format!("{}: {}", words::outcome(s.verdict.result), s.name);
    Ok(document::page("run", title, &report, charts, data))
}

/// Returns the output of `--json`; for a long run, without its seconds.
fn data(s: &Summary) -> Result<Value, Error> {
    let mut document = serde_json::to_value(json::Run::of(s))?;
    if let Some(all) = document.as_object_mut().filter(|_| !run::method::has_course(s)) {
        all.remove("timeline");
    }
    Ok(document)
}
