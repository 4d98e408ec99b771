//! Charts of results: the content of a table in visual form. Every figure is a function to a [`Chart`], and one drawer
//! turns it into SVG: a separate file, or a part of a page.
//!
//! plimsoll has its own renderer because charts of a load test have needs that plotting libraries leave to their users:
//! every axis is labeled with its unit, axes of times and rates begin at 0 unless they are labeled as logarithmic,
//! known intervals are always drawn, and a second without a value is a gap that no line crosses.

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

/// Returns the charts of an experiment: those of each curve of a sweep, one per search, and one per comparison.
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

/// Returns rate, times, errors, and monitored metrics over the numeric axes of a sweep. If the axis is one of load,
/// adds the capacity over it, with the fitted law and the knee.
pub fn of_study(study: &Study) -> Vec<Chart> {
    study::figures(study)
}

/// Returns the steps of a search and its result. `settings` are those of its combination, empty if there is only one.
pub fn of_answer(name: &str, settings: &str, answer: &Answer) -> Chart {
    search::figure(name, settings, answer)
}

/// Returns the changes from A to B with their intervals, and both distributions.
pub fn of_comparison(c: &Comparison) -> Vec<Chart> {
    compare::figures(c)
}

/// Returns a chart with the name of its run, for a separate file.
pub fn titled(chart: &Chart, name: &str) -> Chart {
    let mut chart = chart.clone();
    if !name.is_empty() {
        chart.title = format!("{name}: {}", chart.title);
    }
    chart
}

/// Reduces a text to letters, digits, and dashes: a file name on any system.
pub fn plain(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let dashed: String = text.chars().map(keep).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(60).collect()
}
