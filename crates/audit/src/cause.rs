//! One cause is one finding over all rules: a figure that is wrong contradicts several others by several rules.
//! Contradictions that rest on the same figure are one finding, with the calculation of each.

use crate::{Finding, Grade, Quote, rules};
use std::collections::{BTreeMap, BTreeSet};

/// Doubts that one cause raises by several rules, where they share a figure.
const FAMILIES: [&[&str]; 5] = [
    // The service stood still: wrk leaves such samples out of the rate of a thread, and adds made-up times.
    &["made_up_samples", "rate_per_thread_differs"],
    // Connections that were not live carried nothing.
    &["connections_never_came_about", "users_idle"],
    // N = X R of one row, against the users of its column or of the text.
    &["more_in_flight_than_threads", "more_in_flight_than_stated", "in_flight_outlier"],
    &["users_idle", "thread_time_missing", "cycle_above_percentile"],
    // Parts and their total.
    &["parts_exceed_total", "total_outside_parts"],
];

/// Contradictions of one grade that share a figure, as the first of them with the others behind it, and doubts of one
/// family. Doubts of other kinds (few samples, failures) use the same figures and have causes of their own.
pub fn join(findings: Vec<Finding>) -> Vec<Finding> {
    join_families(join_contradictions(findings))
}

/// Doubts of one family that share a figure.
fn join_families(findings: Vec<Finding>) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    for finding in findings {
        let shares = |first: &Finding| {
            let family = |f: &&[&str]| f.contains(&first.rule) && f.contains(&finding.rule);
            first.grade == finding.grade
                && first.rule != finding.rule
                && FAMILIES.iter().any(family)
                && finding.quotes.iter().any(|quote| first.quotes.contains(quote))
        };
        match joined.iter_mut().find(|first| shares(first)) {
            Some(first) => add(first, finding),
            None => joined.push(finding),
        }
    }
    joined
}

fn join_contradictions(findings: Vec<Finding>) -> Vec<Finding> {
    let codes: BTreeSet<&str> = rules().filter(|r| r.grade == Grade::Impossible).map(|r| r.code).collect();
    let mut owner: BTreeMap<(Grade, String, u32, String), usize> = BTreeMap::new();
    let mut joined: Vec<Finding> = Vec::new();
    for finding in findings {
        if !codes.contains(finding.rule) {
            joined.push(finding);
            continue;
        }
        let key = |q: &Quote| (finding.grade, q.file.clone(), q.line, q.text.clone());
        let keys: Vec<_> = finding.quotes.iter().map(key).collect();
        let found = keys.iter().find_map(|key| owner.get(key).copied());
        let at = found.unwrap_or(joined.len());
        keys.into_iter().for_each(|key| {
            owner.entry(key).or_insert(at);
        });
        match joined.get_mut(at) {
            Some(first) => add(first, finding),
            None => joined.push(finding),
        }
    }
    joined
}

fn add(first: &mut Finding, other: Finding) {
    let shared: Vec<&Quote> = first.quotes.iter().filter(|q| other.quotes.contains(q)).collect();
    if first.explanation.is_empty()
        && let [one] = shared[..]
    {
        first.explanation =
            format!("`{}` in line {} is part of each of these contradictions", one.text, one.line);
    }
    first.arithmetic.extend(other.arithmetic.iter().map(|line| format!("{}: {line}", other.sentence)));
    let new: Vec<Quote> = other.quotes.into_iter().filter(|q| !first.quotes.contains(q)).collect();
    first.quotes.extend(new);
    if other.rule != first.rule && !first.also.contains(&other.rule) {
        first.also.push(other.rule);
    }
}
