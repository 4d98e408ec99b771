//! One cause is one finding over all rules: a figure that is wrong contradicts several others by several rules.
//! Contradictions that rest on the same figure are one finding, with the calculation of each.

use crate::{Finding, Grade, Quote, rules};
use std::collections::{BTreeMap, BTreeSet};

/// Contradictions of one grade that share a figure, as the first of them with the others behind it. Doubts of other
/// kinds (few samples, failures) use the same figures and have causes of their own.
pub fn join(findings: Vec<Finding>) -> Vec<Finding> {
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
