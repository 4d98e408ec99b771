//! Examples of failures, those that say the same as one; secrets were taken out when they were kept.

use crate::document::{Block, Example, Examples, Section};
use crate::format::chosen_ns;
use plimsoll_analysis::summary::{FailureExampleRow, Summary};

/// For the text outputs: a page has them among its errors.
pub fn section(s: &Summary) -> Section {
    let section = Section::new("examples", "Failure examples", block(s).into_iter().collect());
    section.aside("one of each kind").indented()
}

pub fn block(s: &Summary) -> Option<Block> {
    let all: Vec<Example> =
        group_identical(&s.failure_examples).iter().map(|alike| example(s, alike)).collect();
    (!all.is_empty()).then_some(Block::Examples(Examples { all }))
}

/// The first of them, how many there are, and when the last was.
struct Alike<'a> {
    first: &'a FailureExampleRow,
    count: usize,
    last_ns: u64,
    /// Nothing of its kind stands before it.
    is_new: bool,
}

fn group_identical(all: &[FailureExampleRow]) -> Vec<Alike<'_>> {
    let mut out: Vec<Alike> = Vec::new();
    let is_kin = |a: &FailureExampleRow, b: &FailureExampleRow| {
        a.sample.check == b.sample.check && a.sample.request == b.sample.request
    };
    let is_alike = |a: &FailureExampleRow, b: &FailureExampleRow| {
        let (one, other) = (&a.sample, &b.sample);
        is_kin(a, b)
            && (a.generator == b.generator && one.status == other.status)
            && (one.observed == other.observed && one.excerpt == other.excerpt)
    };
    for row in all {
        let at_ns = row.sample.at_ns;
        let is_new = !out.iter().any(|one| is_kin(one.first, row));
        match out.iter_mut().find(|one| is_alike(one.first, row)) {
            Some(one) => (one.count, one.last_ns) = (one.count + 1, one.last_ns.max(at_ns)),
            None => out.push(Alike { first: row, count: 1, last_ns: at_ns, is_new }),
        }
    }
    out
}

fn example(s: &Summary, alike: &Alike) -> Example {
    let FailureExampleRow { sample, generator: origin } = alike.first;
    // The machine that it comes from.
    let host = || s.generators.iter().find(|row| row.id == *origin).map_or(origin, |row| &row.host);
    Example {
        failure: sample.check.clone(),
        request: sample.request.clone(),
        at: chosen_ns(sample.at_ns),
        status: sample.status,
        host: if s.generators.len() > 1 { host().clone() } else { String::new() },
        found: sample.observed.clone(),
        excerpt: sample.excerpt.clone(),
        alike: (alike.count > 1).then(|| (alike.count, chosen_ns(alike.last_ns))),
        is_first: alike.is_new,
    }
}
