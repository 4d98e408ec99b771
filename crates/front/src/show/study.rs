//! An experiment of several runs as it was understood: what is asked of it, what all cells have in common, and what
//! each has of its own.
//!
//! Made out of the words of single plans, so that a cell is told as the run that it is, and nothing can be forgotten.

use super::words::{Lines, count, level, time};
use plimsoll_plan::Plan;
use plimsoll_plan::experiment::{Bound, Experiment, Find, Limit, Setting, Step, Until};

/// Cells that are told one by one.
const MOST_CELLS: usize = 24;

/// The experiment in words; `cells` are the sealed plans of its cells, in their order. Ends with a line end.
pub fn show_study(experiment: &Experiment, cells: &[(&[Setting], &Plan)]) -> String {
    let mut out = Lines::default();
    out.fact("experiment", &experiment.name);
    if !experiment.question.is_empty() {
        out.fact("question", &experiment.question);
    }
    matrix(experiment, cells.len(), &mut out);
    terms(experiment, &mut out);
    if let Some(find) = &experiment.find {
        out.fact("search", &search(find));
    }
    for expectation in &experiment.expects {
        out.fact("expected", &expectation.text);
    }
    let texts: Vec<Vec<String>> = cells.iter().map(|(_, plan)| lines(plan, experiment)).collect();
    let Some((first, others)) = texts.split_first() else { return out.finish() };
    let is_common = |line: &String| others.iter().all(|text| text.contains(line));
    let common: Vec<&String> = first.iter().filter(|line| is_common(line)).collect();
    out.section(if others.is_empty() { "each run" } else { "in all cells" });
    common.iter().for_each(|line| out.line(usize::from(!line.is_empty()), line));
    if others.is_empty() {
        return out.finish();
    }
    for ((settings, _), text) in cells.iter().zip(&texts).take(MOST_CELLS) {
        out.section(&format!("cell {}", name(settings)));
        let own = text.iter().filter(|line| !line.is_empty() && !common.contains(line));
        own.for_each(|line| out.line(1, line));
    }
    if cells.len() > MOST_CELLS {
        out.section(&format!("and {} more", count((cells.len() - MOST_CELLS) as u64, "cell")));
    }
    out.finish()
}

/// `variant=go users=10`: as `--set` takes its parts.
fn name(settings: &[Setting]) -> String {
    let all: Vec<String> = settings.iter().map(|s| format!("{}={}", s.parameter, s.value)).collect();
    all.join(" ")
}

fn matrix(experiment: &Experiment, cells: usize, out: &mut Lines) {
    if !experiment.axes.is_empty() {
        let axes: Vec<String> = experiment
            .axes
            .iter()
            .map(|axis| format!("{} ({})", axis.name, axis.values.join(", ")))
            .collect();
        out.fact("cells", &format!("{cells}: {}", axes.join(" x ")));
    }
    // None is written where one is meant.
    let repeat = u64::from(experiment.repeat.max(1));
    let noun = if experiment.find.is_some() { "searches" } else { "runs" };
    let each = if repeat > 1 { format!(", {repeat} of each cell") } else { String::new() };
    out.fact(noun, &format!("{}{each}", repeat.saturating_mul(cells as u64)));
}

fn terms(experiment: &Experiment, out: &mut Lines) {
    if experiment.generators > 1 {
        out.fact("generators", &format!("{} processes share the load of each run", experiment.generators));
    }
    if experiment.cooldown_ns > 0 {
        out.fact("rest", &format!("{} between two runs", time(experiment.cooldown_ns)));
    }
    if experiment.min_duration_ns > 0 {
        out.fact(
            "least",
            &format!("a run shorter than {} is no valid cell", time(experiment.min_duration_ns)),
        );
    }
    if experiment.trim_to_steady_state {
        out.fact("judged", "from the steady state of each run on");
    }
    if experiment.stop_on_miss {
        out.fact("rows end", "at a level that misses its thresholds in every repeat: no higher one runs");
    }
}

fn search(find: &Find) -> String {
    let (what, unit) = if find.users { ("users", " users") } else { ("arrivals per second", "/s") };
    let mut text = match find.step {
        None => format!("the most {what} within the thresholds"),
        Some(Step::Times(factor)) => {
            format!("a ladder of {what}, each level {} times the one before", level(factor))
        }
        Some(Step::Plus(more)) => {
            format!("a ladder of {what}, each level {}{unit} above the one before", level(more))
        }
    };
    if let Some(from) = find.from {
        text.push_str(&format!(", from {}{unit}", level(from)));
    }
    if let Some(to) = find.to {
        text.push_str(&format!(", never above {}{unit}", level(to)));
    }
    if let Some(step_duration_ns) = find.step_duration_ns {
        text.push_str(&format!(", {} a level", time(step_duration_ns)));
    }
    match find.stop_when {
        None => {}
        Some(Until::Missed) => text.push_str(", until a threshold is missed"),
        Some(Until::SocketErrors(errors)) => {
            text.push_str(&format!(", until more than {} failed below HTTP", count(errors, "request")));
        }
        Some(Until::Shortfall(Bound { limit, inclusive })) => {
            let least = match limit {
                Limit::Ratio(ratio) => format!("{}%", level(100.0 * ratio)),
                Limit::PerSecond(rate) => format!("{}/s", level(rate)),
            };
            let words = match (limit.is_none(), inclusive) {
                // `> 0`: any arrival that is not served.
                (true, _) => "any of the arrivals are not served".to_owned(),
                (_, true) => format!("{least} of the arrivals or more are not served"),
                (_, false) => format!("more than {least} of the arrivals are not served"),
            };
            text.push_str(&format!(", until {words}"));
        }
    }
    if let Some(within) = find.precision {
        text.push_str(&format!(", within {}%", level(100.0 * within)));
    }
    if let Some(max_time_ns) = find.max_time_ns {
        text.push_str(&format!(", for at most {}", time(max_time_ns)));
    }
    if let Some(confirm) = find.confirm {
        text.push_str(&format!(", confirmed by {} below, at and above", count(u64::from(confirm), "run")));
    }
    text
}

/// The plan of a cell without what the experiment says.
fn lines(plan: &Plan, experiment: &Experiment) -> Vec<String> {
    let mut is_first = true;
    let text = super::show(plan);
    let is_told = |line: &&str| ["experiment ", "question "].iter().any(|fact| line.starts_with(fact));
    let kept = text.lines().filter(|line| !is_told(line));
    let Some(_) = &experiment.find else { return kept.map(str::to_owned).collect() };
    // How long a level is and how high are the search's business.
    let kept = kept.filter(|line| !line.starts_with("ends "));
    kept.map(|line| match line.strip_prefix("load ") {
        // The level in the plan stands in for those to come; workloads of single scenarios stay as they are.
        Some(load) if std::mem::take(&mut is_first) => {
            let rest = load.split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap_or_default();
            format!("load         as the search sets it{rest}")
        }
        _ => line.to_owned(),
    })
    .collect()
}
