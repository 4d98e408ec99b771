//! Pictures of results: what a table shows digit for digit, for the eye. Every figure is a function to a
//! [`Chart`], and one drawer makes SVG of it: a file that stands alone, or a part of a page.
//!
//! The renderer is our own because charts of a load test have needs that plotting libraries leave to their users: every
//! axis is labelled with its unit, axes of times and rates begin at 0 unless they are logarithmic and say so, intervals
//! are drawn wherever they are known, and a second without a value is a gap and never a line through it.

pub mod audit;
mod compare;
mod live;
mod run;
mod search;
mod study;

pub use live::{Row, SIGHT_AGE_MAX_S, live, live_row};
pub use run::of_run;

use plimsoll_chart::Chart;
use plimsoll_experiment::compare::Comparison;
use plimsoll_experiment::conclusion::Conclusion;
use plimsoll_experiment::search::Answer;
use plimsoll_experiment::study::Study;

/// Pictures of an experiment: those of each curve of a sweep's axis, one for each search, one for each comparison.
pub fn of_conclusion(c: &Conclusion) -> Vec<Chart> {
    let mut out = Vec::new();
    if let Some(study) = &c.study {
        out.extend(of_study(study));
    }
    for (at, searched) in c.searches.iter().enumerate() {
        let Some(answer) = &searched.answer else { continue };
        let values: Vec<&str> = searched.settings.iter().map(|s| s.value.as_str()).collect();
        let mut chart = of_answer(&c.name, &values.join(", "), answer);
        if !values.is_empty() {
            chart.id = format!("search-{}-{}", at + 1, plain(&values.join("-")));
        }
        out.push(chart);
    }
    for (at, comparison) in c.comparisons.iter().enumerate() {
        let mut charts = of_comparison(comparison);
        if c.comparisons.len() > 1 {
            charts.iter_mut().for_each(|chart| chart.id = format!("{}-{}", chart.id, at + 1));
        }
        out.extend(charts);
    }
    out
}

/// Rate, times, errors and what was watched over the numeric axes of a sweep; where the axis is one of load also the
/// capacity over it, with the fitted law and the knee.
pub fn of_study(study: &Study) -> Vec<Chart> {
    study::figures(study)
}

/// The steps of a search and its answer. `settings`: of its cell, empty where there is only one.
pub fn of_answer(name: &str, settings: &str, answer: &Answer) -> Chart {
    search::figure(name, settings, answer)
}

/// What changed from A to B, with intervals, and their distributions over each other.
pub fn of_comparison(c: &Comparison) -> Vec<Chart> {
    compare::figures(c)
}

/// A chart under the name of its run, for a file that stands alone.
pub fn titled(chart: &Chart, name: &str) -> Chart {
    let mut chart = chart.clone();
    if !name.is_empty() {
        chart.title = format!("{name}: {}", chart.title);
    }
    chart
}

/// Letters, digits and dashes: a file's name on any system.
pub fn plain(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let dashed: String = text.chars().map(keep).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(60).collect()
}
