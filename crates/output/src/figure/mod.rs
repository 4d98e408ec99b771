//! Pictures of results as SVG: what a table shows digit for digit, for the eye. A file stands alone: no scripts, no
//! fonts from elsewhere, a light ground of its own, and below 60 kB.
//!
//! The renderer is our own because charts of a load test have needs that plotting libraries leave to their users: every
//! axis is labelled with its unit, axes of times and rates begin at 0, intervals are drawn wherever they are known, and
//! a second without a value is a gap and never a line through it.

pub mod audit;
mod chart;
mod run;
mod scale;
mod search;
mod study;
mod svg;

use plimsoll_record::analysis::search::Answer;
use plimsoll_record::analysis::study::Study;
use plimsoll_record::experiment::Conclusion;
use plimsoll_record::summary::Summary;

/// Pictures of an experiment, each with the stem of its file's name: one for each curve of a sweep's axis, one for each
/// search.
pub fn of_conclusion(c: &Conclusion) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    if let Some(study) = &c.study {
        out.extend(of_study(study));
    }
    for (at, searched) in c.searches.iter().enumerate() {
        let Some(answer) = &searched.answer else { continue };
        let values: Vec<&str> = searched.settings.iter().map(|s| s.value.as_str()).collect();
        let stem = match values.as_slice() {
            [] => "search".to_owned(),
            some => format!("search-{}-{}", at + 1, plain(&some.join("-"))),
        };
        out.push((stem, of_answer(&c.name, &values.join(", "), answer)));
    }
    out
}

/// Rate and response times over the numeric axis of a sweep.
pub fn of_study(study: &Study) -> Vec<(String, String)> {
    study::figures(study)
}

/// The steps of a search and its answer. `settings`: of its cell, empty where there is only one.
pub fn of_answer(name: &str, settings: &str, answer: &Answer) -> String {
    search::figure(name, settings, answer)
}

/// Pictures of a run: its course, and below it on the same axis that of what was watched. None for a run of fewer than
/// three seconds.
pub fn of_run(s: &Summary) -> Vec<(String, String)> {
    run::figure(s).map(|svg| vec![("timeline".to_owned(), svg)]).unwrap_or_default()
}

/// Letters, digits and dashes: a file's name on any system.
fn plain(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let dashed: String = text.chars().map(keep).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(60).collect()
}
