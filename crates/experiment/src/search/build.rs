//! Builds the result from the trials: the capacity, the limits of what is known, and a sentence with both.
//!
//! There may be a capacity together with a refusal: if the time or the load generator was the limit, the highest
//! known load is still useful.

use super::answer::{
    Answer, Capacity, Deciding, IntervalKind, Raised, Refusal, RefusalKind, Rise, Shape, StepRow, Style,
};
use super::capacity_search::CapacitySearch;
use super::confirm::estimate;
use super::crossing::Crossing;
use super::curve::{curve, knee, reading, wilson};
use super::probe::Probe;
use super::shape::shape;
use super::standing::{SAME, contradiction};
use super::trial::{Trial, decides, is_inside, is_outage};
use super::view::{Choice, View};
use super::{MOST_TRIALS, confirm, ladder, refuse, spent_ns};
use plimsoll_analysis::bottleneck_of;
use plimsoll_analysis::summary::{Bottleneck, Standing, ThresholdResult};
use plimsoll_plan::experiment::{Purpose, Until};
use plimsoll_plan::phrase::{
    count, counted, duration_ns, figure_against, quantity, rate_of, rate_per_s, ratio,
};

/// Returns the result of these trials; a capacity may accompany a refusal.
pub(super) fn answer(quest: &CapacitySearch, history: &[Trial], refusal: Option<Refusal>) -> Answer {
    let view = View::new(quest, history);
    let style = if quest.step.is_some() { Style::Ladder } else { Style::Search };
    let curve = curve(&view);
    let (capacity, refusal) = match style {
        Style::Ladder => (of_ladder(quest, history, &view, refusal.as_ref()), refusal),
        Style::Search => consistent(quest, &view, of_search(quest, &view, refusal.as_ref()), refusal),
    };
    let (floor_ns, level) = (view.floor_ns, capacity.as_ref().map(Capacity::level));
    let knee = knee(&curve, floor_ns);
    let (shape, rise) = shape(&curve, level);
    // A ladder with its own rule continues after missed thresholds, so they did not decide it.
    let is_judged = style == Style::Search || ladder::rule(quest) == Until::Missed;
    let judged =
        || history.iter().rev().find(|t| t.probe.purpose != Purpose::Baseline).map(|t| t.judged.as_slice());
    let texts = |wanted: bool| -> Vec<String> {
        let all = judged().unwrap_or_default().iter();
        // The default threshold on outages is not listed.
        let is_told = |j: &&ThresholdResult| !(j.is_default && is_outage(j));
        all.filter(is_told).filter(|j| is_judged && decides(j) == wanted).map(|j| j.text.clone()).collect()
    };
    let mut answer = Answer {
        style,
        is_users: quest.users,
        capacity,
        refusal,
        sentence: String::new(),
        shape,
        rise,
        knee,
        unloaded_p50_ns: floor_ns,
        precision_ratio: quest.precision,
        thresholds: texts(true),
        skipped_thresholds: texts(false),
        missed_thresholds: level.filter(|_| !is_judged).map_or_else(Vec::new, |at| missed(history, at)),
        bottleneck: bottleneck(history, &view, level),
        deciding_runs: deciding(&view, level),
        curve,
        steps: history.iter().map(|trial| step(trial, &view)).collect(),
        elapsed_s: spent_ns(quest, history) as f64 / 1e9,
    };
    answer.sentence = sentence(&answer, history.last().map(|last| ended(quest, last, is_judged)));
    answer
}

/// Returns the author's thresholds that this level of a ladder misses.
fn missed(history: &[Trial], level: f64) -> Vec<String> {
    let trial = history.iter().find(|t| t.probe.purpose == Purpose::Ladder && t.probe.level == level);
    let judged = trial.map(|t| t.judged.as_slice()).unwrap_or_default();
    let is_missed = |j: &&ThresholdResult| !j.is_default && decides(j) && !is_inside(j);
    judged.iter().filter(is_missed).map(|j| j.text.clone()).collect()
}

/// Runs of a level after which it is not repeated.
const REPEATS: usize = 4;

/// Returns a run that must be repeated before there is a result: its level was certainly missed below the result, or
/// certainly met above its interval.
pub(super) fn again(quest: &CapacitySearch, history: &[Trial]) -> Option<Probe> {
    let view = View::new(quest, history);
    let capacity = of_search(quest, &view, None)?;
    let rung = contradiction(&view.rungs, capacity.level(), capacity.interval[1])?;
    let is_broken = rung.trials.iter().any(|t| t.is_runaway());
    let forbidden =
        [view.runaway, view.ceiling.map(|c| c.0)].into_iter().flatten().any(|stop| rung.level >= stop);
    let full = rung.trials.iter().filter(|t| t.probe.purpose != Purpose::Bracket).count();
    if is_broken || forbidden || full >= REPEATS || history.len() >= MOST_TRIALS {
        return None;
    }
    match confirm::full(quest, &view, rung.level, Purpose::Bisect, history.last(), history.len() as u32) {
        Choice::Try(probe) => Some(probe),
        Choice::Done(_) => None,
    }
}

/// Keeps the result consistent: a capacity never lies above a level that was certainly missed, and its interval
/// includes every level that was met. If runs contradict this and cannot be repeated, the known range ends below the
/// contradiction.
fn consistent(
    quest: &CapacitySearch,
    view: &View,
    found: Option<Capacity>,
    refusal: Option<Refusal>,
) -> (Option<Capacity>, Option<Refusal>) {
    let Some(mut capacity) = found else { return (None, refusal) };
    let sure = |standing: Standing| view.rungs.iter().filter(move |rung| rung.standing == standing);
    let highest = sure(Standing::Met).filter(|rung| rung.is_full).map(|rung| rung.level).reduce(f64::max);
    if let Some(highest) = highest.filter(|level| *level > capacity.interval[1]) {
        capacity.interval[1] = highest;
    }
    let at = capacity.level();
    let Some(missed) = sure(Standing::Missed).map(|rung| rung.level).find(|level| level * SAME < at) else {
        return (Some(capacity), refusal);
    };
    let met_above =
        sure(Standing::Met).map(|rung| rung.level).filter(|level| *level > missed).reduce(f64::max);
    let why = refuse::contradicted(quest, missed, met_above);
    let refusal = Some(refusal.filter(|known| known.kind != RefusalKind::MaxTimeReached).unwrap_or(why));
    let below = sure(Standing::Met).map(|rung| rung.level).filter(|level| *level < missed).reduce(f64::max);
    let Some(below) = below else { return (None, refusal) };
    let (rate_per_s, users) = if quest.users { (None, Some(below)) } else { (Some(below), None) };
    let capacity = Capacity {
        rate_per_s,
        users,
        interval: [below, capacity.interval[1]],
        interval_kind: IntervalKind::Bracket,
        is_lower_bound: false,
        basis: "the highest met level below the lowest missed one".into(),
        limiting_threshold: None,
    };
    (Some(capacity), refusal)
}

/// Runs within this factor of the capacity determine it.
const DECIDES: f64 = 1.15;

/// Returns the runs near the capacity, including the levels just below and above it; without a capacity, those of the
/// lowest missed level.
fn deciding(view: &View, level: Option<f64>) -> Option<Deciding> {
    let levels = || view.rungs.iter().map(|rung| rung.level);
    let from = level.unwrap_or(0.0);
    let below = levels().filter(|at| *at <= from).reduce(f64::max);
    let above = levels().filter(|at| *at > from).reduce(f64::min);
    let is_near = |at: f64| {
        Some(at) == below
            || Some(at) == above
            || (level.is_some() && at < from * DECIDES && at > from / DECIDES)
    };
    let runs: Vec<&Trial> = view
        .rungs
        .iter()
        .filter(|rung| is_near(rung.level))
        .flat_map(|rung| rung.trials.iter().copied())
        .collect();
    let first = runs.first()?;
    let worst = runs.iter().fold(first.generator, |sum, t| sum.worst(&t.generator));
    let mut cautions: Vec<Raised> = Vec::new();
    for caution in runs.iter().flat_map(|t| &t.cautions) {
        match cautions.iter_mut().find(|known| known.kind == caution.kind) {
            Some(known) => known.runs += 1,
            None => cautions.push(Raised {
                kind: caution.kind,
                severity: caution.severity,
                title: caution.title(),
                evidence: caution.evidence_text(),
                runs: 1,
            }),
        }
    }
    cautions.sort_by(|a, b| a.severity.cmp(&b.severity).then(b.runs.cmp(&a.runs)));
    Some(Deciding { runs: runs.len(), generator: worst, cautions })
}

/// Returns the bottleneck in the runs just above the capacity, or, if nothing was saturated there, just below it.
/// Runs with a limit outside of the service are excluded.
fn bottleneck(history: &[Trial], view: &View, level: Option<f64>) -> Option<Bottleneck> {
    let counted: Vec<&Trial> = history
        .iter()
        .filter(|t| t.probe.purpose != Purpose::Baseline && (is_counted(t, view) || t.met()))
        .collect();
    let levels = || counted.iter().map(|t| t.probe.level);
    let level = level.unwrap_or(0.0);
    let above = levels().filter(|at| *at > level).reduce(f64::min);
    let below = levels().filter(|at| *at <= level).reduce(f64::max);
    let at = |wanted: Option<f64>| {
        counted.iter().filter(move |t| Some(t.probe.level) == wanted).map(|t| &t.watched)
    };
    // A level has several runs; those of the next one above show the same bottleneck more strongly.
    let near: Vec<_> = at(above).collect();
    let under: Vec<_> = at(below).collect();
    bottleneck_of(&[near, under])
}

fn of_search(quest: &CapacitySearch, view: &View, refusal: Option<&Refusal>) -> Option<Capacity> {
    let make = |at: f64, interval: [f64; 2], at_least: bool, basis: String, limited_by: Option<String>| {
        // Only a fitted line identifies a threshold; otherwise there is only a bracket.
        let interval_kind =
            if limited_by.is_some() { IntervalKind::Confidence95 } else { IntervalKind::Bracket };
        // Round down to whole users: rounding up would promise a level that was not met.
        let at = if quest.users { at.floor().max(1.0) } else { at };
        let interval = if quest.users {
            [interval[0].floor().max(1.0).min(at), interval[1].floor().max(at)]
        } else {
            interval
        };
        let (rate_per_s, users) = if quest.users { (None, Some(at)) } else { (Some(at), None) };
        Some(Capacity {
            rate_per_s,
            users,
            interval,
            interval_kind,
            is_lower_bound: at_least,
            basis,
            limiting_threshold: limited_by,
        })
    };
    let met = view.met;
    if met.is_some_and(|met| met >= quest.to) && view.missed.is_none() {
        return make(quest.to, [quest.to, quest.to], true, "the highest allowed level was met".into(), None);
    }
    // A miss below the ceiling comes from the service, so the ceiling had no effect.
    let limited = view.ceiling.filter(|c| view.missed.is_none_or(|missed| c.0 < missed));
    if let (Some(met), Some((level, by))) = (met, limited) {
        let basis = format!("the highest met level before {} limited the load", by.kind.code());
        return make(met, [met, level], true, basis, None);
    }
    if let Some(c) = estimate(quest, view) {
        let Crossing { at, low, high, steps, threshold, .. } = c;
        let (at, low, high) = (at.min(quest.to), low.max(quest.min_level()), high.min(quest.to));
        let basis = format!("a fit through {steps} runs near the crossing");
        return make(at, [low.min(at), high.max(at)], false, basis, Some(threshold));
    }
    // Only a bracket, or less; still useful when the time ran out.
    let met = met.filter(|_| refusal.is_some())?;
    if view.missed.is_none() {
        return make(met, [met, met], true, "the highest tested level; none was missed".into(), None);
    }
    // Uncertain results bound nothing.
    let sure = |standing: Standing| {
        view.rungs.iter().filter(move |rung| rung.standing == standing).map(|rung| rung.level)
    };
    let low = sure(Standing::Met).filter(|level| *level <= met).reduce(f64::max).unwrap_or(met);
    let Some(high) = sure(Standing::Missed).find(|level| *level > low) else {
        return make(
            low,
            [low, low],
            true,
            "the highest level that was certainly met; none was missed".into(),
            None,
        );
    };
    make(low, [low, high], false, "the last met level and the first missed one".into(), None)
}

fn of_ladder(
    quest: &CapacitySearch,
    history: &[Trial],
    view: &View,
    refusal: Option<&Refusal>,
) -> Option<Capacity> {
    let steps: Vec<&Trial> = history.iter().filter(|t| t.probe.purpose == Purpose::Ladder).collect();
    // If all connections were in use and each was slow, the service is the cause.
    let counts = |t: &Trial| view.usable.iter().any(|usable| std::ptr::eq(*usable, t));
    let good = |t: &&&Trial| !ladder::ends(quest, t) && counts(t);
    // Only levels below the first bad one count: either what was met above it was luck, or the bad one was.
    let last = steps.iter().take_while(good).last()?.probe.level;
    let first_bad = steps.iter().find(|t| !good(t)).filter(|_| refusal.is_none()).map(|t| t.probe.level);
    let (rate_per_s, users) = if quest.users { (None, Some(last)) } else { (Some(last), None) };
    Some(Capacity {
        rate_per_s,
        users,
        interval: [last, first_bad.unwrap_or(last)],
        interval_kind: IntervalKind::Bracket,
        is_lower_bound: first_bad.is_none(),
        basis: "a ladder with one run per level: the last level before its stop rule".into(),
        limiting_threshold: None,
    })
}

/// Whether the search used this run despite a limit outside of the service.
fn is_counted(trial: &Trial, view: &View) -> bool {
    trial.limited_by.is_none() || view.usable.iter().any(|usable| std::ptr::eq(*usable, trial))
}

/// Returns a run as the search saw it. Connections in use do not exclude it: in an overload, the service is the
/// cause.
pub(super) fn step(trial: &Trial, view: &View) -> StepRow {
    let probe = &trial.probe;
    let seconds = |ns: u64| ns as f64 / 1e9;
    StepRow {
        run_index: probe.turn,
        level: probe.level,
        purpose: probe.purpose,
        cooldown_s: seconds(probe.rest_ns),
        warmup_s: seconds(probe.warmup_ns),
        length_s: seconds(probe.length_ns),
        offered_rate_per_s: trial.offered_rate_per_s,
        achieved_rate_per_s: trial.iterations_per_s,
        p50: reading(trial.blocks.iter(), 0.5),
        p99: reading(trial.blocks.iter(), 0.99),
        requests: trial.requests,
        errors: trial.errors,
        error_ratio: trial.error_ratio,
        error_interval: wilson(trial.errors, trial.requests),
        is_met: trial.met(),
        standing: trial.standing(),
        missed_thresholds: describe(trial, Standing::Missed),
        undecided_thresholds: describe(trial, Standing::Undecided),
        margin: trial.slack(),
        is_unstable: trial.unstable,
        cautions: trial.cautions.iter().map(|c| c.kind).collect(),
        // A met level counts even if the load generator was busy.
        limited_by: trial
            .limited_by
            .clone()
            .filter(|by| !(is_counted(trial, view) || by.may_pass() && trial.is_sure())),
    }
}

/// Returns the thresholds with this result, each with its observed value.
fn describe(trial: &Trial, standing: Standing) -> Vec<String> {
    let describe = |judged: &ThresholdResult| match judged.observed {
        Some(observed) => {
            let least = if judged.is_lower_bound { "≥ " } else { "" };
            let text = |x: f64| figure_against(x, judged.limit, judged.unit);
            let bounds = match (judged.best, judged.worst) {
                (Some(best), Some(worst)) if standing == Standing::Undecided && best != worst => {
                    let [low, high] = [best.min(worst), best.max(worst)].map(text);
                    format!(", could be {low} to {high}")
                }
                _ => String::new(),
            };
            format!("{} (observed {least}{}{bounds})", judged.text, text(observed))
        }
        None => format!("{} (no samples)", judged.text),
    };
    let is_so = |judged: &&ThresholdResult| decides(judged) && trial.standing_of(judged) == standing;
    trial.judged.iter().filter(is_so).map(describe).collect()
}

/// Describes how the last step of a ladder ended it.
fn ended(quest: &CapacitySearch, last: &Trial, is_judged: bool) -> String {
    match ladder::fired(quest, last) {
        Some(until) if !is_judged => format!("`{until}` was true at"),
        Some(_) if !last.is_runaway() => "missed at".into(),
        _ => "most requests failed at".into(),
    }
}

/// Returns a sentence that can be quoted on its own, and that claims nothing about untested levels. `ended`: how the
/// last step of a ladder ended it.
fn sentence(answer: &Answer, ended: Option<String>) -> String {
    let show = |level: f64| match answer.is_users {
        true => counted(level.max(0.0) as u64, "user"),
        false => rate_of(level, "arrivals"),
    };
    let bare = |level: f64| match answer.is_users {
        true => count(level.max(0.0) as u64),
        false => quantity(level),
    };
    let with = answer.thresholds.join(" and ");
    let with = if with.is_empty() { String::new() } else { format!(" with {with}") };
    let why = answer.refusal.as_ref().map(|r| r.sentence.as_str());
    let Some(capacity) = &answer.capacity else {
        return match why {
            Some(why) => format!("no capacity found: {why}"),
            None => "no capacity found: nothing was run".into(),
        };
    };
    let [low, high] = capacity.interval;
    let level = show(capacity.level());
    if capacity.is_lower_bound {
        let highest = match answer.is_users {
            true => "the highest allowed number of users was met",
            false => "the highest allowed rate was met",
        };
        let end = why.unwrap_or(highest);
        return format!("capacity is at least {level}{with}; {end}");
    }
    let above = above(answer);
    let why = why.map_or(above, |why| format!("; {why}"));
    match answer.style {
        Style::Ladder => {
            let ended = ended.unwrap_or_else(|| "missed at".into());
            let missed = match answer.missed_thresholds.join(" and ") {
                texts if texts.is_empty() => texts,
                texts => format!("; {level} already misses {texts}"),
            };
            format!("capacity is {level}{with}; {ended} {}, with one run per level{missed}{why}", show(high))
        }
        Style::Search if answer.refusal.as_ref().is_some_and(|r| r.kind == RefusalKind::Contradicted) => {
            format!("capacity is at least {level}{with}{why}, so higher levels are inconclusive")
        }
        Style::Search if capacity.interval_kind == IntervalKind::Bracket => {
            format!("capacity is between {level} (met) and {} (missed){with}{why}", show(high))
        }
        Style::Search => {
            let half = ratio((high - low) / 2.0 / capacity.level().max(f64::MIN_POSITIVE));
            format!("capacity is {level} (95% CI {}–{}, ±{half}){with}{why}", bare(low), bare(high))
        }
    }
}

fn above(answer: &Answer) -> String {
    let of = |verb: &str| answer.rise.as_ref().map(|rise| rise_text(rise, verb, answer.is_users));
    let how = match answer.shape {
        Shape::Gradual => of("rises gradually").unwrap_or_else(|| "latency rises gradually".into()),
        Shape::Cliff => {
            of("jumps").unwrap_or_else(|| "latency or errors jump within a few percent of load".into())
        }
        Shape::Jump => of("jumps").unwrap_or_default(),
        Shape::Retrograde => "throughput falls as the load rises".into(),
        Shape::Flat | Shape::Unknown => String::new(),
    };
    let how = if how.is_empty() { how } else { format!("; above it, {how}") };
    match &answer.knee {
        Some(knee) => {
            let (level, p50) = (level_text(knee.level, answer.is_users), duration_ns(knee.p50_ns));
            format!("{how} (knee at {level}, median {p50})")
        }
        None => how,
    }
}

/// `160/s`, `40 users`.
fn level_text(level: f64, is_users: bool) -> String {
    if is_users { counted(level.max(0.0) as u64, "user") } else { rate_per_s(level) }
}

/// `p99 rises from 48.1 ms at 160/s to 210 ms at 190/s`.
fn rise_text(rise: &Rise, verb: &str, is_users: bool) -> String {
    let value = |x: f64| if rise.figure == "error_rate" { ratio(x) } else { duration_ns(x as u64) };
    format!(
        "{} {verb} from {} at {} to {} at {}",
        rise.figure.replace('_', " "),
        value(rise.from_value),
        level_text(rise.from_level, is_users),
        value(rise.to_value),
        level_text(rise.to_level, is_users)
    )
}
