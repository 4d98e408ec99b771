//! One cause is one finding: a rule that says the same of many pairs of rows, or of many sentences, is said once.

use crate::Finding;
use std::collections::BTreeMap;

/// So many findings of one rule with one explanation are still said one by one.
const APART: usize = 3;
/// Calculations that a folded finding lists.
const SHOWN: usize = 100;
/// Lines that a folded finding quotes.
const QUOTES: usize = 200;

/// Findings of one rule in one file that differ by their rows only, as one that lists them.
pub fn fold(findings: Vec<Finding>) -> Vec<Finding> {
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    let mut groups: Vec<(Finding, Vec<Finding>)> = Vec::new();
    for finding in findings {
        let file = finding.quotes.first().map(|quote| quote.file.clone());
        let text = (finding.explanation.clone(), finding.advice.clone());
        let key = (finding.rule, finding.grade, finding.certainty, file, text);
        let at = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, rest)) => rest.push(finding),
            None => groups.push((finding, Vec::new())),
        }
    }
    let mut all = Vec::new();
    for (first, rest) in groups {
        if rest.len() < APART {
            all.push(first);
            all.extend(rest);
        } else {
            all.push(merge(first, rest));
        }
    }
    all
}

fn merge(mut whole: Finding, rest: Vec<Finding>) -> Finding {
    let count = rest.len() + 1;
    let mut arithmetic: Vec<String> =
        whole.arithmetic.iter().map(|line| format!("{}: {line}", whole.sentence)).collect();
    for (at, finding) in rest.into_iter().enumerate() {
        if at + 1 < SHOWN {
            let lines = finding.arithmetic.iter().map(|line| format!("{}: {line}", finding.sentence));
            arithmetic.extend(lines);
        }
        let room = QUOTES.saturating_sub(whole.quotes.len());
        let new: Vec<_> =
            finding.quotes.into_iter().filter(|q| !whole.quotes.contains(q)).take(room).collect();
        whole.quotes.extend(new);
    }
    if count > SHOWN {
        arithmetic.push(format!("and {} more", count - SHOWN));
    }
    whole.sentence = format!("{} ({count} such cases)", whole.sentence);
    whole.arithmetic = arithmetic;
    whole
}
