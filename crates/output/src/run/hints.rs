//! Why the result is what it is, and what to do next: the same sentences in every output.

use super::anchors::Anchors;
use crate::anchor::Anchor;
use crate::document::{Block, Hint, Section};
use crate::next::hints;
use plimsoll_analysis::summary::{Outcome, Summary};

/// `Why` and `Next steps`.
pub fn sections(s: &Summary, anchors: &Anchors, run_file: Option<&str>) -> [Section; 2] {
    let link = |wanted: &[Anchor]| {
        let anchor = anchors.first(wanted)?;
        Some((anchor.id().to_owned(), anchor.title()))
    };
    let linked = |all: Vec<crate::next::Hint>| -> Vec<Hint> {
        all.into_iter()
            .map(|hint| {
                let link = link(hint.shown);
                hint.into_block(link)
            })
            .collect()
    };
    let (reasons, steps) = hints(s, run_file);
    let reasons = Block::Reasons(linked(reasons));
    // If the load generator is in doubt, the results prove nothing, so a page puts the reasons above them.
    let reasons = match s.verdict.result {
        Outcome::Inconclusive => Block::Overruling("These results are inconclusive", vec![reasons]),
        Outcome::Pass | Outcome::Fail | Outcome::Interrupted => reasons,
    };
    let section = |id, title, block| Section::new(id, title, vec![block]).indented();
    [section("why", "Why", reasons), section("next", "Next steps", Block::Steps(linked(steps)))]
}
