//! Why a search ended where it did and what to do next, below its answer: the page, the terminal and Markdown show the
//! same sentences. Nothing is decided here; the order is that in which one would look.

use super::level;
use crate::format::{duration_ns, rate_per_s, ratio};
use crate::next::Hint;
use plimsoll_experiment::search::{Answer, Capacity, IntervalIs, Refusal, Standing, StepRow};
use plimsoll_plan::experiment::Purpose;

/// Fewer answers than this share of what was offered are told.
const SERVED: f64 = 0.98;
/// More answers than this share of what was offered are no chance of the ends of a run.
const MORE: f64 = 1.005;

/// Reasons first, then steps.
pub(crate) fn hints(answer: &Answer) -> Vec<Hint> {
    let why =
        [first_missed(answer), held_back(answer), more_than_offered(answer), limiting(answer), calm(answer)];
    let mut out: Vec<Hint> = why.into_iter().flatten().map(|text| hint(false, text)).collect();
    let steps = match (&answer.refusal, &answer.capacity) {
        (Some(refusal), capacity) => refused(answer, refusal, capacity.as_ref()),
        (None, Some(capacity)) => found(answer, capacity),
        (None, None) => Vec::new(),
    };
    out.extend(steps.into_iter().map(|text| hint(true, text)));
    out
}

fn hint(is_next: bool, text: String) -> Hint {
    Hint { is_next, text, shown: &["steps"] }
}

/// `800/s`, `40 users`.
fn named(answer: &Answer, at: f64) -> String {
    if answer.users { format!("{} users", level(at, true)) } else { level(at, false) }
}

/// As a flag takes it.
fn flag(answer: &Answer, at: f64) -> String {
    if answer.users { format!("{:.0}", at.max(1.0)) } else { format!("{at:.0}/s") }
}

/// Runs of the search that count, the run of one user apart.
fn counted(answer: &Answer) -> impl Iterator<Item = &StepRow> {
    answer.steps.iter().filter(|step| step.purpose != Purpose::Floor && step.limited_by.is_none())
}

/// What was missed at the lowest level above the answer, or at the lowest of all where nothing was met.
fn first_missed(answer: &Answer) -> Option<String> {
    let from = answer.capacity.as_ref().map_or(0.0, Capacity::level);
    let is_missed = |step: &&StepRow| step.standing == Standing::Missed && step.level >= from;
    let above = counted(answer).filter(is_missed);
    let step = above.min_by(|a, b| a.level.total_cmp(&b.level))?;
    let mut told: Vec<String> = Vec::new();
    if !step.missed.is_empty() {
        told.push(format!("missed {}", step.missed.join(" and ")));
    }
    if let Some(offered) = step.offered_rate_per_s.filter(|rate| step.achieved_rate_per_s < SERVED * rate) {
        let (achieved, offered) = (rate_per_s(step.achieved_rate_per_s), rate_per_s(offered));
        told.push(format!("{achieved} of {offered} were answered"));
    }
    if told.is_empty() && step.errors > 0 {
        told.push(format!("{} of the requests failed", ratio(step.error_ratio)));
    }
    if told.is_empty() && step.unstable {
        told.push("what waited grew through the run".into());
    }
    (!told.is_empty()).then(|| format!("At {}: {}.", named(answer, step.level), told.join("; ")))
}

/// What else than the service kept steps from counting.
fn held_back(answer: &Answer) -> Option<String> {
    let held: Vec<&StepRow> = answer.steps.iter().filter(|step| step.limited_by.is_some()).collect();
    let step = held.iter().min_by(|a, b| a.level.total_cmp(&b.level))?;
    let by = step.limited_by.as_ref()?;
    let evidence = if by.evidence.is_empty() { String::new() } else { format!(" ({})", by.evidence) };
    let runs = crate::format::counted(held.len() as u64, "run");
    let verb = if held.len() == 1 { "does" } else { "do" };
    let at = named(answer, step.level);
    Some(format!("{runs} {verb} not count, the lowest at {at}: {}{evidence}.", by.title))
}

/// More answers than arrivals in the measured part: those that the warm-up left waiting.
fn more_than_offered(answer: &Answer) -> Option<String> {
    let more =
        |step: &&StepRow| step.offered_rate_per_s.is_some_and(|rate| step.achieved_rate_per_s > MORE * rate);
    let step = counted(answer).filter(more).max_by(|a, b| a.level.total_cmp(&b.level))?;
    let offered = step.offered_rate_per_s?;
    let waiting = ((step.achieved_rate_per_s - offered) * step.length_s).round().max(1.0) as u64;
    Some(format!(
        "At {} more finished ({}) than was offered ({}): {} that the warm-up had left waiting.",
        named(answer, step.level),
        rate_per_s(step.achieved_rate_per_s),
        rate_per_s(offered),
        crate::format::counted(waiting, "arrival")
    ))
}

fn limiting(answer: &Answer) -> Option<String> {
    let what = answer.limiting_resource.as_deref()?;
    Some(match is_named(what) {
        true => format!("At its limit near the answer: {what}."),
        false => format!("What gave out is open: {what}."),
    })
}

/// Monitors saw something at its limit, and not only that nothing was.
fn is_named(what: &str) -> bool {
    !["none of", "not known"].iter().any(|start| what.starts_with(start))
}

/// What the service did while it was not yet full.
fn calm(answer: &Answer) -> Option<String> {
    let (knee, floor_ns) = (answer.knee.as_ref()?, answer.floor_ns?);
    let (p50, floor) = (duration_ns(knee.p50_ns), duration_ns(floor_ns));
    Some(format!("Up to {} the median stays near the unloaded {floor} ({p50}).", named(answer, knee.level)))
}

fn refused(answer: &Answer, refusal: &Refusal, capacity: Option<&Capacity>) -> Vec<String> {
    let text = match refusal.code {
        "budget" => more_time(answer, capacity),
        "generator_limited" => {
            "Mend what limited the load generator (`plimsoll doctor` looks for it) or load from more machines, then \
             search again."
                .into()
        }
        "link_limited" => {
            "The service was not at its end: search from nearer, or with smaller or compressed answers.".into()
        }
        "nothing_met" | "ended_at_first_step" => match counted(answer).map(|step| step.level).reduce(f64::min) {
            Some(lowest) => format!(
                "Begin lower (`--from {}`), or see in the report of that run where the time goes.",
                flag(answer, lowest / 10.0)
            ),
            None => "Begin lower (`--from`).".into(),
        },
        "floor_failed" => "See in the report of the first run why its requests failed.".into(),
        "run_incomplete" => "See in the report of the last run why it ended early, then search again.".into(),
        "unsettled" | "contradicted" => {
            "Look for what changes between the runs (other load on the service, caches, a neighbour), then search \
             again with more repeats (`--confirm`)."
                .into()
        }
        "until_needs_arrivals" => "End the ladder with `--until missed`, or search for a rate.".into(),
        _ => "Mend that, then search again.".into(),
    };
    vec![text]
}

/// A search that knows where to look needs less time.
fn more_time(answer: &Answer, capacity: Option<&Capacity>) -> String {
    let Some(capacity) = capacity else { return "Give the search more time (`--budget`).".into() };
    let [low, high] = capacity.interval;
    if capacity.interval_is == IntervalIs::Enclosure && !capacity.at_least && high > low {
        let (from, to) = (flag(answer, low), flag(answer, high));
        return format!(
            "Search between the two: the same command with `--from {from} --to {to}` and more time (`--budget`)."
        );
    }
    format!("Give the search more time (`--budget`); it may begin at {}.", flag(answer, low))
}

fn found(answer: &Answer, capacity: &Capacity) -> Vec<String> {
    if capacity.at_least {
        return vec!["Where the service ends was not seen: allow a higher level (`--to`).".into()];
    }
    let first = match answer.limiting_resource.as_deref() {
        Some(what) if is_named(what) => {
            "Relieve what stood at its limit, then search again with the same command."
        }
        Some(_) => "Watch more of the service (`--monitor`) to learn what gives out first.",
        None => "To learn what gives out first, search again with `--monitor` on the service.",
    };
    let keep = match &answer.knee {
        Some(knee) if knee.level < capacity.level() => {
            let knee = named(answer, knee.level);
            format!("In operation stay below {knee}: above it waiting begins, and the answer leaves no room.")
        }
        _ => "In operation leave room below it: a search loads the service evenly, and nothing else does."
            .into(),
    };
    vec![first.into(), keep]
}
