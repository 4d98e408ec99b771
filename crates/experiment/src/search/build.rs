//! From the trials to the answer: what was found, what stands against it, and a sentence that says both.
//!
//! A capacity may stand beside a refusal. Whoever ran out of time, or of a load generator, still wants to know how far
//! the service was known to carry.

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
use super::trial::{Trial, decides, is_outage};
use super::view::{Choice, View};
use super::{MOST_TRIALS, confirm, ladder, refuse, spent_ns};
use plimsoll_analysis::bottleneck_of;
use plimsoll_analysis::summary::{Bottleneck, Standing, ThresholdResult};
use plimsoll_plan::experiment::{Purpose, Until};
use plimsoll_plan::phrase::{count, counted, duration_ns, figure, quantity, rate_per_s, ratio};

/// The answer after these trials; a capacity stands beside a refusal when something was found all the same.
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
    // A ladder with a rule of its own goes on although thresholds are missed: it was not held against them.
    let is_judged = style == Style::Search || ladder::rule(quest) == Until::Missed;
    let judged =
        || history.iter().rev().find(|t| t.probe.purpose != Purpose::Baseline).map(|t| t.judged.as_slice());
    let texts = |wanted: bool| -> Vec<String> {
        let all = judged().unwrap_or_default().iter();
        // That there is no outage goes without saying.
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
        bottleneck: bottleneck(history, &view, level),
        deciding_runs: deciding(&view, level),
        curve,
        steps: history.iter().map(|trial| step(trial, &view)).collect(),
        elapsed_s: spent_ns(quest, history) as f64 / 1e9,
    };
    answer.sentence = sentence(&answer, history.last().map(|last| ended(quest, last, is_judged)));
    answer
}

/// Repeats after which a level has said what it says.
const REPEATS: usize = 4;

/// A run that has to be made again before there is an answer: its level was missed for certain below what the search
/// would say, or met above all that it may be.
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

/// An answer never lies above a level that was missed for certain, and its interval holds each that was met: where runs
/// contradict that and could not be made again, what is known ends below the contradiction.
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
        basis: "the highest level met below the lowest one missed".into(),
        limiting_threshold: None,
    };
    (Some(capacity), refusal)
}

/// How far from the answer a run may be to decide it, as a factor.
const DECIDES: f64 = 1.15;

/// The runs near the answer with those of the levels just below and above it; of a search without an answer the
/// lowest level that was missed.
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

/// What stood at its limit in the runs just above the answer, which is where something gave out; when nothing did
/// there, in those just below it. Runs that something else than the service limited say nothing.
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
    // One level holds several runs; those of the next one above it show the same, only more of it.
    let near: Vec<_> = at(above).collect();
    let under: Vec<_> = at(below).collect();
    bottleneck_of(&[near, under])
}

fn of_search(quest: &CapacitySearch, view: &View, refusal: Option<&Refusal>) -> Option<Capacity> {
    let make = |at: f64, interval: [f64; 2], at_least: bool, basis: String, limited_by: Option<String>| {
        // A line tells a threshold; all else is only enclosed.
        let interval_kind =
            if limited_by.is_some() { IntervalKind::Confidence95 } else { IntervalKind::Bracket };
        // The last whole user inside the line: rounding up would promise what was not met.
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
        return make(quest.to, [quest.to, quest.to], true, "met at the highest level allowed".into(), None);
    }
    // A miss below the ceiling is the service's own: then the ceiling never mattered.
    let limited = view.ceiling.filter(|c| view.missed.is_none_or(|missed| c.0 < missed));
    if let (Some(met), Some((level, by))) = (met, limited) {
        let basis = format!("highest level met before {} limited the load", by.kind.code());
        return make(met, [met, level], true, basis, None);
    }
    if let Some(c) = estimate(quest, view) {
        let Crossing { at, low, high, steps, threshold, .. } = c;
        let (at, low, high) = (at.min(quest.to), low.max(quest.min_level()), high.min(quest.to));
        let basis = format!("a line through {steps} runs near the crossing");
        return make(at, [low.min(at), high.max(at)], false, basis, Some(threshold));
    }
    // Only enclosed, or not even that: better than nothing when the time was over.
    let met = met.filter(|_| refusal.is_some())?;
    if view.missed.is_none() {
        return make(met, [met, met], true, "the highest level that was run; none was missed".into(), None);
    }
    // What is not sure of itself bounds nothing.
    let sure = |standing: Standing| {
        view.rungs.iter().filter(move |rung| rung.standing == standing).map(|rung| rung.level)
    };
    let low = sure(Standing::Met).filter(|level| *level <= met).reduce(f64::max).unwrap_or(met);
    let Some(high) = sure(Standing::Missed).find(|level| *level > low) else {
        return make(
            low,
            [low, low],
            true,
            "the highest level met for certain; none was missed".into(),
            None,
        );
    };
    make(low, [low, high], false, "the last level met; the first missed ends what is known".into(), None)
}

fn of_ladder(
    quest: &CapacitySearch,
    history: &[Trial],
    view: &View,
    refusal: Option<&Refusal>,
) -> Option<Capacity> {
    let steps: Vec<&Trial> = history.iter().filter(|t| t.probe.purpose == Purpose::Ladder).collect();
    // What held a step back without spoiling it (all connections busy, and each of them slow) is the service's own.
    let counts = |t: &Trial| view.usable.iter().any(|usable| std::ptr::eq(*usable, t));
    let good = |t: &&&Trial| !ladder::ends(quest, t) && counts(t);
    // Only levels below the first bad one count: what was met above it was luck, or the bad one was.
    let last = steps.iter().take_while(good).last()?.probe.level;
    let first_bad = steps.iter().find(|t| !good(t)).filter(|_| refusal.is_none()).map(|t| t.probe.level);
    let (rate_per_s, users) = if quest.users { (None, Some(last)) } else { (Some(last), None) };
    Some(Capacity {
        rate_per_s,
        users,
        interval: [last, first_bad.unwrap_or(last)],
        interval_kind: IntervalKind::Bracket,
        is_lower_bound: first_bad.is_none(),
        basis: "a ladder of one run a level: the last before its end rule".into(),
        limiting_threshold: None,
    })
}

/// The search drew conclusions from this run, and not only from what else limited it.
fn is_counted(trial: &Trial, view: &View) -> bool {
    trial.limited_by.is_none() || view.usable.iter().any(|usable| std::ptr::eq(*usable, trial))
}

/// A run as the search saw it. Full connections alone do not take it out: in an overload they are the service's own.
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
        // What was met although the machine was busy was met.
        limited_by: trial
            .limited_by
            .clone()
            .filter(|by| !(is_counted(trial, view) || by.may_pass() && trial.is_sure())),
    }
}

/// The thresholds of this standing, each with what was observed.
fn describe(trial: &Trial, standing: Standing) -> Vec<String> {
    let describe = |judged: &ThresholdResult| match judged.observed {
        Some(observed) => {
            let least = if judged.is_lower_bound { ">= " } else { "" };
            let bounds = match (judged.best, judged.worst) {
                (Some(best), Some(worst)) if standing == Standing::Undecided && best != worst => {
                    let [low, high] = [best.min(worst), best.max(worst)].map(|x| figure(x, judged.unit));
                    format!(", between {low} and {high}")
                }
                _ => String::new(),
            };
            format!("{} (observed {least}{}{bounds})", judged.text, figure(observed, judged.unit))
        }
        None => format!("{} (nothing observed)", judged.text),
    };
    let is_so = |judged: &&ThresholdResult| decides(judged) && trial.standing_of(judged) == standing;
    trial.judged.iter().filter(is_so).map(describe).collect()
}

/// What the last step of a ladder did to end it.
fn ended(quest: &CapacitySearch, last: &Trial, is_judged: bool) -> String {
    match ladder::fired(quest, last) {
        Some(until) if !is_judged => format!("`{until}` held at"),
        Some(_) if !last.is_runaway() => "missed at".into(),
        _ => "most of it failed at".into(),
    }
}

/// One sentence that holds when it is quoted alone, and says of no level more than was seen there. `ended`: how the
/// last step of a ladder ended it.
fn sentence(answer: &Answer, ended: Option<String>) -> String {
    let show = |level: f64| match answer.is_users {
        true => counted(level.max(0.0) as u64, "user"),
        false => rate_per_s(level),
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
            Some(why) => format!("no answer: {why}"),
            None => "no answer: nothing was run".into(),
        };
    };
    let [low, high] = capacity.interval;
    let level = show(capacity.level());
    if capacity.is_lower_bound {
        let highest = match answer.is_users {
            true => "more users were not allowed, so where it ends is not known",
            false => "a higher rate was not allowed, so where it ends is not known",
        };
        let end = why.unwrap_or(highest);
        return format!("carries at least {level}{with}; {end}");
    }
    let above = above(answer, &show);
    let why = why.map_or(above, |why| format!("; {why}"));
    match answer.style {
        Style::Ladder => {
            let ended = ended.unwrap_or_else(|| "missed at".into());
            format!("carries {level}{with}; {ended} {}, one run each{why}", show(high))
        }
        Style::Search if answer.refusal.as_ref().is_some_and(|r| r.kind == RefusalKind::Contradicted) => {
            format!("carries {level}{with}{why}, so nothing is known above it")
        }
        Style::Search if capacity.interval_kind == IntervalKind::Bracket => {
            format!(
                "carries {level}{with}; missed at {}, and between the two nothing is known{why}",
                show(high)
            )
        }
        Style::Search => {
            let half = ratio((high - low) / 2.0 / capacity.level().max(f64::MIN_POSITIVE));
            format!("carries {level} (95% interval {} to {}, +-{half}){with}{why}", bare(low), bare(high))
        }
    }
}

fn above(answer: &Answer, show: &impl Fn(f64) -> String) -> String {
    let change = answer.rise.as_ref().map(|rise| rise_text(rise, show));
    let how = match (answer.shape, change) {
        (Shape::Gradual, Some(change)) => format!("; above it times climb gradually ({change})"),
        (Shape::Gradual, None) => "; above it times climb gradually".into(),
        (Shape::Cliff, Some(change)) => format!("; above it the service falls off a cliff ({change})"),
        (Shape::Cliff, None) => "; above it the service falls off a cliff".into(),
        (Shape::Jump, Some(change)) => format!("; above it {change}"),
        (Shape::Retrograde, _) => "; above it more load gets fewer answers".into(),
        (Shape::Jump | Shape::Flat | Shape::Unknown, _) => String::new(),
    };
    match &answer.knee {
        Some(knee) => format!("{how} (knee: median {} at its last calm level)", duration_ns(knee.p50_ns)),
        None => how,
    }
}

/// `p99 goes from 48.1 ms at 160/s to 210 ms at 190/s`.
fn rise_text(rise: &Rise, show: &impl Fn(f64) -> String) -> String {
    let value = |x: f64| if rise.figure == "error_rate" { ratio(x) } else { duration_ns(x as u64) };
    let verb = if rise.figure == "error_rate" { "go" } else { "goes" };
    format!(
        "{} {verb} from {} at {} to {} at {}",
        rise.figure,
        value(rise.from_value),
        show(rise.from_level),
        value(rise.to_value),
        show(rise.to_level)
    )
}
