//! An experiment as a whole: expectations, results of the runs, and each comparison.

mod cells;
pub mod parts;
mod progress;
mod report;
mod search;

pub use progress::run_line;
pub(crate) use report::{answer, report};

use crate::csv::quoted;
use crate::document::{self, Cell, Value};
use crate::html::Page;
use crate::next::NextRows;
use crate::style::Look;
use crate::{study, words};
use plimsoll_analysis::summary::Outcome;
use plimsoll_chart::Chart;
use plimsoll_experiment::conclusion::{Conclusion, Next, Searched};
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::phrase::{quantity, rate_per_s};
use serde::Serialize;
use std::fmt::Write;

/// A run file of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    pub settings: Vec<Setting>,
    /// Starting at 0.
    pub repeat: u32,
    /// Its name in the folder.
    pub name: String,
    /// Its path relative to the page; `None` if it is elsewhere.
    pub href: Option<String>,
}

impl RunFile {
    /// Returns the name, as a link if the file is next to the page.
    pub(crate) fn cell(&self) -> Cell {
        Cell::from(Value::Code(self.name.clone())).linked(self.href.clone())
    }
}

/// Returns the conclusion for programs, and, for a sweep, its reasons and next steps under `next`.
///
/// # Errors
/// Returns an error if it contains something that JSON cannot express.
pub fn json(c: &Conclusion) -> Result<String, crate::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(flatten)]
        conclusion: &'a Conclusion,
        next: NextRows<Next<'a>, Next<'a>>,
    }
    crate::json::document(&Document { conclusion: c, next: cells::rows(c) })
}

/// Returns the report for a terminal; `folder` contains the runs.
pub fn terminal(c: &Conclusion, look: &Look, folder: Option<&str>) -> String {
    document::terminal(&report(c, &[], folder), look)
}

/// Returns the report for pull requests and READMEs.
pub fn markdown(c: &Conclusion) -> String {
    document::markdown(&report(c, &[], None))
}

/// Returns the page of an experiment's results. `charts` are those of [`crate::figure::of_conclusion`], `json` is the
/// output of `--json`.
pub fn page(c: &Conclusion, files: &[RunFile], charts: Vec<Chart>, json: serde_json::Value) -> Page {
    let kind = if c.searches.is_empty() { "experiment" } else { "search" };
    let title = format!("{}: {}", outcome(c), c.name);
    document::page(kind, title, &report(c, files, None), told_once(charts, c), json)
}

/// A separate picture needs the result as a subtitle; on a page, it is already above.
pub(crate) fn told_once(mut charts: Vec<Chart>, c: &Conclusion) -> Vec<Chart> {
    let answers = c.searches.iter().filter_map(|one| one.answer.as_ref()).map(|answer| &answer.sentence);
    let told: Vec<&String> = answers.chain(c.comparisons.iter().map(|one| &one.sentence)).collect();
    charts
        .iter_mut()
        .filter(|chart| told.contains(&&chart.subtitle))
        .for_each(|chart| chart.subtitle.clear());
    // The curves of rate and times have their own charts, so only the other ones remain over the axis.
    let has = |stem: &str| charts.iter().any(|chart| chart.id.starts_with(stem));
    if has("capacity-") && has("latency-") {
        for chart in charts.iter_mut().filter(|chart| chart.id.starts_with("over-")) {
            chart.panels.retain(|panel| !["rate", "p50", "p99"].contains(&panel.id.as_str()));
        }
        charts.retain(|chart| !chart.panels.is_empty());
    }
    charts
}

/// Returns the word for the result. PASS is used only if something could have failed.
fn outcome(c: &Conclusion) -> &'static str {
    if c.result == Outcome::Pass && !c.is_judged() { MEASURED } else { words::outcome(c.result) }
}

/// Everything ran, and nothing could have failed.
const MEASURED: &str = "MEASURED";

/// Returns the level that a search found and its interval, or why there is none.
fn capacity(one: &Searched) -> (String, String) {
    let Some(answer) = &one.answer else { return ("-".into(), "stopped before its end".into()) };
    let Some(capacity) = &answer.capacity else {
        let why = answer.refusal.as_ref().map_or("", |refusal| refusal.kind.code());
        return ("-".into(), why.replace('_', " "));
    };
    let describe = |level: f64| match answer.is_users {
        true => format!("{} users", quantity(level)),
        false => rate_per_s(level),
    };
    let least = if capacity.is_lower_bound { ">= " } else { "" };
    let [low, high] = capacity.interval;
    (format!("{least}{}", describe(capacity.level())), format!("{} to {}", quantity(low), quantity(high)))
}

/// Returns `node, users 10`.
fn name(settings: &[Setting]) -> String {
    let word = |s: &Setting| match s.parameter.as_str() {
        "variant" => s.value.clone(),
        axis => format!("{axis} {}", s.value),
    };
    settings.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// Returns one line per combination of a sweep, or one per search.
pub fn csv(c: &Conclusion) -> String {
    if let Some(study) = &c.study {
        return study::csv(study);
    }
    let mut out = String::new();
    for axis in &c.parameters {
        let _ = write!(out, "{},", quoted(axis.name.clone()));
    }
    out.push_str("capacity,low,high,at_least,unit,steps\n");
    for one in &c.searches {
        for setting in &one.settings {
            let _ = write!(out, "{},", quoted(setting.value.clone()));
        }
        match one.answer.as_ref().and_then(|a| a.capacity.as_ref().map(|capacity| (a, capacity))) {
            Some((answer, capacity)) => {
                let unit = if answer.is_users { "users" } else { "per_s" };
                let [low, high] = capacity.interval;
                let _ = write!(out, "{},{low},{high},{},{unit}", capacity.level(), capacity.is_lower_bound);
            }
            None => out.push_str(",,,,"),
        }
        let _ = writeln!(out, ",{}", one.steps);
    }
    out
}
