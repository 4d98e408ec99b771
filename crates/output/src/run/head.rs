//! What a reader sees first: the verdict with its reason, what to do, what was run, and the few figures that people ask
//! for.

use super::anchors::Anchors;
use super::tiles::tiles;
use crate::anchor::Anchor;
use crate::document::{Block, Heading, Hint, On, Role, Setting, Verdict, sentence};
use crate::next::hints;
use crate::words;
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_plan::phrase::utc;

pub fn blocks(s: &Summary, anchors: &Anchors, run_file: Option<&str>) -> Vec<Block> {
    let all = hints(s, run_file).into_iter().map(|hint| Hint {
        link: link(anchors, hint.shown),
        is_next: hint.is_next,
        text: hint.text,
    });
    let hints = Block::Hints(all.collect());
    let verdict = Verdict {
        tone: s.verdict.result.into(),
        word: words::outcome(s.verdict.result).into(),
        sentence: words::sentence(s).into(),
        form: Heading::Rule,
    };
    // A load generator in doubt proves nothing, whatever the figures below look like: a page says so above them.
    let hints = match s.verdict.result {
        Outcome::Inconclusive => Block::Overruling("The figures below prove nothing", vec![hints]),
        Outcome::Pass | Outcome::Fail | Outcome::Interrupted => hints,
    };
    let question = s.plan.question.iter().map(|text| sentence(Role::Question, text).only(On::HTML));
    let rest = [Block::Setting(setting(s)), Block::Tiles(tiles(s))];
    [Block::Verdict(verdict), hints].into_iter().chain(question).chain(rest).collect()
}

/// What was loaded, how, when and from where.
fn setting(s: &Summary) -> Setting {
    let mut more = Vec::new();
    if let Some(first) = s.generators.iter().min_by_key(|origin| origin.started_unix_ns) {
        more.push(utc(first.started_unix_ns));
        more.push(match s.generators.len() {
            1 => format!("from {}", first.host),
            n => format!("from {n} machines"),
        });
    }
    Setting { name: s.name.clone(), target: s.target.clone(), facts: words::setting(s), more }
}

fn link(anchors: &Anchors, wanted: &[Anchor]) -> Option<(String, &'static str)> {
    let anchor = anchors.first(wanted)?;
    Some((anchor.id().to_owned(), anchor.title()))
}
