//! What a reader sees first: the verdict, and what was run.

use crate::document::{Block, Heading, On, Role, Setting, Verdict, sentence};
use crate::words;
use plimsoll_analysis::summary::Summary;
use plimsoll_plan::phrase::utc;

pub fn blocks(s: &Summary) -> Vec<Block> {
    let verdict = Verdict {
        tone: s.verdict.result.into(),
        word: words::outcome(s.verdict.result).into(),
        sentence: words::sentence(s).into(),
        form: Heading::Lead,
    };
    let question = s.plan.question.iter().map(|text| sentence(Role::Question, text).only(On::HTML));
    [Block::Verdict(verdict)].into_iter().chain(question).chain([Block::Setting(setting(s))]).collect()
}

/// What was loaded, how, when, and from where.
fn setting(s: &Summary) -> Setting {
    let mut more = Vec::new();
    if let Some(first) = s.generators.iter().min_by_key(|origin| origin.started_unix_ns) {
        more.push(utc(first.started_unix_ns));
        more.push(match s.generators.len() {
            1 => format!("from {}", first.host),
            n => format!("from {n} load generators"),
        });
    }
    let (facts, details) = words::setting(s);
    Setting { name: s.name.clone(), target: s.target.clone(), facts, details, more }
}
