//! Expectations such as `bcrypt lowers capacity by 2x`: confirmed, refuted, or inconclusive.
//!
//! An amount is the least that is claimed. On the logarithmic scale of the comparison, let L be the claim, and let the
//! measured change in the claimed direction lie between `low` and `high`. The expectation is confirmed if low >= L, or
//! if L lies within the interval and the interval is at most as wide as the claim (low >= L / 2). It is refuted if
//! high < L, and inconclusive otherwise. `keeps ... within 5%` is confirmed if the whole interval lies within 5%, and
//! refuted if the whole interval lies outside.

use super::cells::{by_other, value};
use super::sentence::{cell_name, change, evidence, figure_phrase};
use super::types::{CompareOptions, Comparison, Scale, Side, Verdict};
use super::{Pair, compare_all};
use plimsoll_analysis::digest::Digest;
use plimsoll_plan::experiment::{By, Direction, Expectation, Figure, Setting};
use plimsoll_plan::phrase::quantity;
use serde::Serialize;

/// The answer to an expectation.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The expectation as written.
    pub text: String,
    pub verdict: Borne,
    /// A sentence that can be quoted on its own.
    pub sentence: String,
    /// One line for each pair of cells that was compared.
    pub evidence: Vec<String>,
}

/// Whether the runs confirm an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Borne {
    Confirmed,
    Refuted,
    Inconclusive,
}

/// Judges an expectation. `capacities` are the results of searches, by the value of their parameter, with intervals. If
/// either name has none, the capacity is the highest level of the sweep at which every repeat met its thresholds.
pub fn judge(
    expectation: &Expectation,
    digests: &[Digest],
    capacities: &[(String, f64, (f64, f64))],
    asked: &CompareOptions,
) -> Answer {
    let answer = |verdict, sentence: String, evidence| Answer {
        text: expectation.text.clone(),
        verdict,
        sentence: format!("`{}` {sentence}", expectation.text),
        evidence,
    };
    let looked = match expectation.figure {
        Figure::Capacity => of_capacities(expectation, digests, capacities),
        Figure::Throughput | Figure::ErrorRate | Figure::Mean | Figure::Percentile { .. } => {
            of_runs(expectation, digests, asked)
        }
    };
    let looked = match looked {
        Ok(looked) => looked,
        Err(why) => return answer(Borne::Inconclusive, format!("is inconclusive: {why}"), Vec::new()),
    };
    let evidence: Vec<String> = looked.iter().map(|one| one.evidence.clone()).collect();
    let find = |borne: Borne| looked.iter().find(|one| one.borne == borne);
    // The expectation must hold in every pair: one refutation is enough.
    if let Some(one) = find(Borne::Refuted) {
        return answer(Borne::Refuted, format!("is refuted: {}", one.evidence), evidence);
    }
    if let Some(one) = find(Borne::Inconclusive) {
        return answer(Borne::Inconclusive, format!("is inconclusive: {}", one.evidence), evidence);
    }
    match looked.first() {
        Some(one) => answer(Borne::Confirmed, format!("is confirmed: {}", one.evidence), evidence),
        None => answer(Borne::Inconclusive, "is inconclusive: nothing was compared".into(), evidence),
    }
}

/// The result of one pair of cells.
struct Looked {
    borne: Borne,
    evidence: String,
}

/// A change as an interval: logarithmic, or a difference for errors. `is_certain`: it is statistically significant.
struct Change {
    low: f64,
    high: f64,
    is_certain: bool,
    is_none: bool,
}

fn of_runs(
    expectation: &Expectation,
    digests: &[Digest],
    asked: &CompareOptions,
) -> Result<Vec<Looked>, String> {
    let (axis, against) = axis_of(expectation, digests)?;
    let of = |name: &str| by_other(digests.iter().filter(|run| value(run, &axis) == Some(name)), &axis);
    let side = |name: &str, runs: &[&Digest]| Side {
        name: name.into(),
        runs: runs.iter().copied().cloned().collect(),
    };
    let first = of(&against);
    let sides: Vec<(Vec<Setting>, Side, Side)> = of(&expectation.who)
        .into_iter()
        .filter_map(|(cell, runs)| {
            let (_, others) = first.iter().find(|(other, _)| *other == cell)?;
            Some((cell, side(&against, others), side(&expectation.who, &runs)))
        })
        .collect();
    let mut asked = asked.clone();
    if let Figure::Percentile { q, .. } = expectation.figure {
        asked.quantiles = vec![q];
    }
    let pairs: Vec<Pair<'_>> = sides.iter().map(|(cell, a, b)| Pair { cell: cell.clone(), a, b }).collect();
    Ok(compare_all(&pairs, &asked).iter().map(|comparison| look(expectation, comparison)).collect())
}

fn look(expectation: &Expectation, comparison: &Comparison) -> Looked {
    let place = if comparison.settings.is_empty() {
        String::new()
    } else {
        format!("at {}, ", cell_name(&comparison.settings))
    };
    if let Some(doubt) = comparison.blocking() {
        return Looked { borne: Borne::Inconclusive, evidence: format!("{place}{}", doubt.finding()) };
    }
    let row = comparison.figures.iter().find(|row| row.kind == expectation.figure);
    let Some((row, low, high)) = row.and_then(|row| Some((row, row.low?, row.high?))) else {
        let evidence = format!("{place}there are too few samples of {}", figure_phrase(expectation.figure));
        return Looked { borne: Borne::Inconclusive, evidence };
    };
    let log = |x: f64| if row.scale == Scale::Ratio { x.ln_1p() } else { x };
    let change = Change {
        low: log(low),
        high: log(high),
        is_certain: row.verdict.is_better() || row.verdict.is_worse(),
        is_none: row.verdict == Verdict::Equivalent,
    };
    let mut borne = borne(expectation, &change, row.scale == Scale::Points);
    if row.a_is_lower_bound || row.b_is_lower_bound {
        borne = Borne::Inconclusive;
    }
    let evidence = evidence(row, comparison.confidence);
    Looked { borne, evidence: format!("{place}{} is {evidence}", figure_phrase(row.kind)) }
}

fn borne(expectation: &Expectation, change: &Change, is_points: bool) -> Borne {
    // In the claimed direction, upward.
    let (low, high) = match expectation.direction {
        Direction::Lowers => (-change.high, -change.low),
        Direction::Raises | Direction::Keeps => (change.low, change.high),
    };
    let claim = expectation.by.map(|by| match (by, expectation.direction) {
        (By::Ratio(ratio), _) if is_points => ratio,
        (By::Factor(factor), _) => factor.ln().abs(),
        (By::Ratio(ratio), Direction::Lowers) => -(-ratio.min(1.0)).ln_1p(),
        (By::Ratio(ratio), _) => ratio.ln_1p(),
    });
    match (expectation.direction, claim) {
        (Direction::Keeps, Some(claim)) => match () {
            () if low >= -claim && high <= claim => Borne::Confirmed,
            () if low > claim || high < -claim => Borne::Refuted,
            () => Borne::Inconclusive,
        },
        (_, Some(claim)) => match () {
            () if low >= claim || (low >= claim / 2.0 && high >= claim) => Borne::Confirmed,
            () if high < claim => Borne::Refuted,
            () => Borne::Inconclusive,
        },
        (_, None) => match () {
            () if change.is_certain && low > 0.0 => Borne::Confirmed,
            () if change.is_none || (change.is_certain && high < 0.0) => Borne::Refuted,
            () => Borne::Inconclusive,
        },
    }
}

/// Returns the parameter that has the name as a value, and the value to compare it with.
fn axis_of(expectation: &Expectation, digests: &[Digest]) -> Result<(String, String), String> {
    let settings = || digests.iter().filter_map(|run| run.cell.as_ref()).flat_map(|cell| &cell.settings);
    let axis =
        settings().find(|setting| setting.value == expectation.who).map(|setting| setting.parameter.clone());
    let axis = axis.ok_or_else(|| format!("no parameter has the value `{}`", expectation.who))?;
    let mut values: Vec<&str> = Vec::new();
    for setting in settings().filter(|setting| setting.parameter == axis) {
        if !values.contains(&setting.value.as_str()) {
            values.push(&setting.value);
        }
    }
    let against = other_of(&expectation.who, expectation.against.as_deref(), &values)?;
    Ok((axis, against))
}

/// Returns the named value, or the first one other than `who`.
fn other_of(who: &str, against: Option<&str>, values: &[&str]) -> Result<String, String> {
    match against {
        Some(name) if values.contains(&name) => Ok(name.into()),
        Some(name) => Err(format!("unknown value `{name}`: expected `{}`", values.join("` or `"))),
        None => values
            .iter()
            .find(|value| **value != who)
            .map(|value| (*value).into())
            .ok_or_else(|| format!("there is no value other than `{who}`; name one with `against NAME`")),
    }
}

fn of_capacities(
    expectation: &Expectation,
    digests: &[Digest],
    capacities: &[(String, f64, (f64, f64))],
) -> Result<Vec<Looked>, String> {
    let names: Vec<&str> = capacities.iter().map(|(name, ..)| name.as_str()).collect();
    let named =
        |name: &str| capacities.iter().find(|(other, ..)| other == name).map(|(_, at, ends)| (*at, *ends));
    let searched = other_of(&expectation.who, expectation.against.as_deref(), &names).ok();
    let is_searched =
        searched.as_deref().is_some_and(|a| named(&expectation.who).is_some() && named(a).is_some());
    let (who, other, against) = match searched.and_then(|a| Some((named(&expectation.who)?, named(&a)?, a))) {
        Some(found) => found,
        None => {
            let (axis, against) = axis_of(expectation, digests)?;
            (of_sweep(&expectation.who, &axis, digests)?, of_sweep(&against, &axis, digests)?, against)
        }
    };
    let change = if is_searched { quotient(who, other) } else { bounds(who, other) };
    let describe = |(at, (low, high)): (f64, (f64, f64))| {
        let bounds = match high.is_finite() {
            true => format!("{}–{}", quantity(low), quantity(high)),
            false => format!("≥ {}", quantity(low)),
        };
        format!("{} ({bounds})", quantity(at))
    };
    let difference = who.0 / other.0 - 1.0;
    let evidence = format!(
        "capacity is {} for `{}` vs. {} for `{against}`, {}",
        describe(who),
        expectation.who,
        describe(other),
        self::change(difference, Scale::Ratio)
    );
    let is_point = expectation.by.is_none() && change.low <= 0.0 && change.high >= 0.0;
    let borne = if is_point { Borne::Inconclusive } else { borne(expectation, &change, false) };
    Ok(vec![Looked { borne, evidence }])
}

/// Returns the quotient of two capacities on the logarithmic scale. The distances of the interval ends add in squares,
/// separately for each end, because the intervals of searches are asymmetric.
fn quotient((who, w): (f64, (f64, f64)), (other, o): (f64, (f64, f64))) -> Change {
    let arm = |from: f64, to: f64| (from / to).ln();
    let at = arm(who, other);
    let low = at - arm(who, w.0).hypot(arm(o.1, other));
    let high = at + arm(w.1, who).hypot(arm(other, o.0));
    let ends = if low.is_nan() || high.is_nan() { (f64::NEG_INFINITY, f64::INFINITY) } else { (low, high) };
    Change { low: ends.0, high: ends.1, is_certain: ends.0 > 0.0 || ends.1 < 0.0, is_none: false }
}

/// Returns the quotient of two capacities between levels of a sweep: everything that their bounds allow.
fn bounds((_, w): (f64, (f64, f64)), (_, o): (f64, (f64, f64))) -> Change {
    let (low, high) = ((w.0 / o.1).ln(), (w.1 / o.0).ln());
    let ends = if low.is_nan() || high.is_nan() { (f64::NEG_INFINITY, f64::INFINITY) } else { (low, high) };
    Change { low: ends.0, high: ends.1, is_certain: ends.0 > 0.0 || ends.1 < 0.0, is_none: false }
}

/// Returns the highest level at which all repeats met the thresholds, as at every lower level, and the lowest level
/// that was missed: the capacity lies between them.
fn of_sweep(name: &str, axis: &str, digests: &[Digest]) -> Result<(f64, (f64, f64)), String> {
    let mut levels: Vec<(f64, bool)> = Vec::new();
    for run in digests.iter().filter(|run| value(run, axis) == Some(name)) {
        let met = run.thresholds.iter().all(|threshold| threshold.is_met)
            && run.outcome != plimsoll_analysis::summary::Outcome::Inconclusive;
        let level = run.level.value();
        match levels.iter_mut().find(|(other, _)| *other == level) {
            Some((_, all)) => *all &= met,
            None => levels.push((level, met)),
        }
    }
    levels.sort_by(|x, y| x.0.total_cmp(&y.0));
    let met = levels.iter().take_while(|(_, met)| *met).last();
    let missed = levels.iter().find(|(_, met)| !met);
    match (met, missed) {
        // A missed level is excluded, by however little.
        (Some((level, _)), missed) => {
            Ok((*level, (*level, missed.map_or(f64::INFINITY, |(level, _)| *level * (1.0 - 1e-9)))))
        }
        (None, _) => Err(format!("`{name}` missed its thresholds at every level")),
    }
}
