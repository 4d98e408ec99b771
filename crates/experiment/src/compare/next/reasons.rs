//! The choice of reasons for a comparison.

use super::{Reason, ServiceMoved, TimeMoved, TimeOrigin};
use crate::compare::gate::{Gated, Passage};
use crate::compare::types::{Compared, Comparison, Overall, Peaks, Verdict};
use plimsoll_plan::experiment::Figure;

/// From this share up, a part counts as most of the difference.
const MOST: f64 = 0.8;
/// Peaks that differ by a smaller factor are chance: a peak is one second.
const PEAK: f64 = 1.10;

pub(super) fn reasons<'a>(one: &'a Comparison, gated: Option<&'a Gated>) -> Vec<Reason<'a>> {
    match one.blocking() {
        // If the runs cannot be compared, no figure is a reason.
        Some(row) => vec![Reason::Doubt { doubt: row.code, row }],
        None => {
            let time = time(one).map(Reason::TimeMoved);
            [gated.and_then(broken), time, request(one), peak(one)].into_iter().flatten().collect()
        }
    }
}

/// Returns the first failed rule; the gate shows how many failed.
fn broken(gated: &Gated) -> Option<Reason<'_>> {
    let row = gated.rules.iter().find(|rule| rule.result == Passage::Fail)?;
    Some(Reason::RuleBroken { rule: &row.text, row })
}

/// Returns the change of the time in the headline, and whether it arose in the responses or in the wait before them.
fn time(one: &Comparison) -> Option<TimeMoved<'_>> {
    let is_time = |row: &&Compared| matches!(row.kind, Figure::Percentile { service: false, .. });
    let is_told = |row: &&Compared| row.verdict.is_worse() || row.verdict.is_better();
    let row = one.headline().filter(is_time).filter(is_told)?;
    let service = one.figure(&row.figure.replacen("response", "service", 1)).map(|service| ServiceMoved {
        figure: &service.figure,
        difference: service.difference,
        origin: origin(row, service),
        row: service,
    });
    Some(TimeMoved { figure: &row.figure, difference: row.difference, service, row })
}

fn origin(response: &Compared, service: &Compared) -> TimeOrigin {
    // Of an increase of ten seconds, the responses may explain ten milliseconds: the amounts decide, not that both
    // increased.
    let grown = |row: &Compared| row.a.zip(row.b).map_or(0.0, |(a, b)| (b - a).abs());
    let share = grown(service) / grown(response).max(f64::MIN_POSITIVE);
    let slower = match service.verdict {
        Verdict::Slower | Verdict::Lower | Verdict::More => true,
        Verdict::Faster | Verdict::Higher | Verdict::Fewer => false,
        Verdict::Equivalent => return TimeOrigin::Wait,
        Verdict::Inconclusive => return TimeOrigin::NotKnown,
    };
    if slower != response.verdict.is_worse() {
        TimeOrigin::WaitAgainstService
    } else if share >= MOST {
        if slower { TimeOrigin::ServiceLonger } else { TimeOrigin::ServiceShorter }
    } else if share <= 1.0 - MOST {
        TimeOrigin::MostlyWait
    } else {
        TimeOrigin::WaitAndService
    }
}

/// Returns the request whose mean changed most in the direction of the verdict.
fn request(one: &Comparison) -> Option<Reason<'_>> {
    let up = match one.verdict {
        Overall::Slower | Overall::Mixed => true,
        Overall::Faster => false,
        Overall::FewerErrors | Overall::MoreErrors | Overall::Equivalent | Overall::Inconclusive => {
            return None;
        }
    };
    let moved = one.requests.iter().find(|row| (row.difference() > 0.0) == up)?;
    Some(Reason::request(moved, one.requests.len()))
}

/// Returns the monitored metric whose peaks differ most.
fn peak(one: &Comparison) -> Option<Reason<'_>> {
    if one.verdict == Overall::Equivalent {
        return None;
    }
    let apart = |row: &Peaks| {
        let (a, b) = (row.a.filter(|a| *a > 0.0)?, row.b.filter(|b| *b > 0.0)?);
        Some((b / a).ln().abs()).filter(|far| far.is_finite() && *far >= PEAK.ln())
    };
    let far = one.peaks.iter().filter_map(|row| Some((apart(row)?, row)));
    Reason::peak(far.max_by(|a, b| a.0.total_cmp(&b.0))?.1)
}
