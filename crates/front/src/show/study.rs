//! Shows an experiment of several runs as text: its settings, what all cells have in common, and what differs in each.
//!
//! It is built from the texts of single plans, so that a cell is described like a single run, and completely.

use super::words::{Lines, count, level, time};
use plimsoll_plan::Plan;
use plimsoll_plan::experiment::{Bound, Experiment, Find, Limit, Setting, Step, Until};

/// Maximum number of cells shown.
const MOST_CELLS: usize = 24;

/// Returns the experiment as text, which ends with a line end. `cells` are the sealed plans of its cells, in their
/// order.
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
    out.section(if others.is_empty() { "each run" } else { "all combinations" });
    common.iter().for_each(|line| out.line(usize::from(!line.is_empty()), line));
    if others.is_empty() {
        return out.finish();
    }
    for ((settings, _), text) in cells.iter().zip(&texts).take(MOST_CELLS) {
        out.section(&format!("combination {}", name(settings)));
        let own = text.iter().filter(|line| !line.is_empty() && !common.contains(line));
        own.for_each(|line| out.line(1, line));
    }
    if cells.len() > MOST_CELLS {
        out.section(&format!("and {}", count((cells.len() - MOST_CELLS) as u64, "more combination")));
    }
    out.finish()
}

/// Returns the name of a cell, such as `variant=go users=10`, in the form that `--set` takes.
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
        out.fact("combinations", &format!("{cells}: {}", axes.join(" x ")));
    }
    // 0 means the default, 1.
    let repeat = u64::from(experiment.repeat.max(1));
    let noun = if experiment.find.is_some() { "searches" } else { "runs" };
    let each = if repeat > 1 { format!(", {repeat} of each combination") } else { String::new() };
    out.fact(noun, &format!("{}{each}", repeat.saturating_mul(cells as u64)));
}

fn terms(experiment: &Experiment, out: &mut Lines) {
    if experiment.generators > 1 {
        out.fact("generators", &format!("{} processes share the load of each run", experiment.generators));
    }
    if experiment.cooldown_ns > 0 {
        out.fact("cooldown", &format!("{} between runs", time(experiment.cooldown_ns)));
    }
    if experiment.min_duration_ns > 0 {
        out.fact("min duration", &format!("{} (shorter runs are invalid)", time(experiment.min_duration_ns)));
    }
    if experiment.trim_to_steady_state {
        out.fact("steady state", "each run is judged only from its steady state");
    }
    if experiment.stop_on_miss {
        out.fact("stop on miss", "no level runs above one that misses its thresholds in every repeat");
    }
}

fn search(find: &Find) -> String {
    let (what, unit) = if find.users { ("number of users", " users") } else { ("arrival rate", "/s") };
    let mut text = match find.step {
        None => format!("highest {what} that meets the thresholds"),
        Some(Step::Times(factor)) => {
            format!("{what} in steps, each level {} times the previous one", level(factor))
        }
        Some(Step::Plus(more)) => {
            format!("{what} in steps, each level {}{unit} above the previous one", level(more))
        }
    };
    if let Some(from) = find.from {
        text.push_str(&format!(", from {}{unit}", level(from)));
    }
    if let Some(to) = find.to {
        text.push_str(&format!(", at most {}{unit}", level(to)));
    }
    if let Some(step_duration_ns) = find.step_duration_ns {
        text.push_str(&format!(", {} per level", time(step_duration_ns)));
    }
    match find.stop_when {
        None => {}
        Some(Until::Missed) => text.push_str(", until a threshold is missed"),
        Some(Until::SocketErrors(errors)) => {
            text.push_str(&format!(", until there are more than {}", count(errors, "socket error")));
        }
        Some(Until::Shortfall(Bound { limit, inclusive })) => {
            let least = match limit {
                Limit::Ratio(ratio) => format!("{}%", level(100.0 * ratio)),
                Limit::PerSecond(rate) => format!("{}/s", level(rate)),
            };
            let words = match (limit.is_none(), inclusive) {
                // `> 0`: any difference.
                (true, _) => "below offered".to_owned(),
                (_, true) => format!("at least {least} below offered"),
                (_, false) => format!("more than {least} below offered"),
            };
            text.push_str(&format!(", until achieved falls {words}"));
        }
    }
    if let Some(within) = find.precision {
        text.push_str(&format!(", precision {}%", level(100.0 * within)));
    }
    if let Some(max_time_ns) = find.max_time_ns {
        text.push_str(&format!(", for at most {}", time(max_time_ns)));
    }
    if let Some(confirm) = find.confirm {
        let runs = count(u64::from(confirm), "run");
        text.push_str(&format!(", confirmed by {runs} each below, at, and above"));
    }
    text
}

/// Returns the lines of a cell's plan, without those of the experiment.
fn lines(plan: &Plan, experiment: &Experiment) -> Vec<String> {
    let mut is_first = true;
    let text = super::show(plan);
    let is_told = |line: &&str| ["experiment ", "question "].iter().any(|fact| line.starts_with(fact));
    let kept = text.lines().filter(|line| !is_told(line));
    let Some(_) = &experiment.find else { return kept.map(str::to_owned).collect() };
    // The search sets the level and its duration.
    let kept = kept.filter(|line| !line.starts_with("ends "));
    kept.map(|line| match line.strip_prefix("load ") {
        // The level in the plan is a placeholder for those of the search. Loads of single scenarios stay.
        Some(load) if std::mem::take(&mut is_first) => {
            let rest = load.split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap_or_default();
            format!("load         set by the search{rest}")
        }
        _ => line.to_owned(),
    })
    .collect()
}
