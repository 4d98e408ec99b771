//! What the load generator says of itself, so that nobody takes a limit of the client for one of the server.

use crate::document::{Block, Edge, On, Role, Section, Tone, Vital, sentence};
use crate::{trust, words};
use plimsoll_analysis::summary::Summary;

pub fn section(s: &Summary) -> Section {
    let vital = |row: trust::Row| Vital {
        tone: row.weight.map_or(Tone::Pass, Tone::from),
        word: row.weight.map_or("ok", words::weight),
        label: row.label,
        bar: row.bar,
        facts: row.facts,
    };
    let all: Vec<Vital> = trust::rows(s).into_iter().map(vital).collect();
    let marked = match all.iter().any(|one| one.tone != Tone::Pass) {
        true => "A mark repeats the heaviest caution about its line.",
        false => "",
    };
    let lead = format!("What the machine that made the load says of itself. {marked}");
    let blocks = vec![sentence(Role::Lead, lead).only(On::HTML), Block::Health(all)];
    Section::new("generator", "Load generator", blocks).brief("the load generator").edge(Edge::Frame)
}
