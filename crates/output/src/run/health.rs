//! Load generator health: whether a limit of the load generator may have been taken for one of the service.

use super::anchors::Anchors;
use super::cautions;
use crate::document::{Block, Edge, Fact, On, Role, Section, Tone, Value, Vital, sentence};
use crate::format::{counted, ratio, rough_quantile};
use crate::health::{Row, rows};
use crate::words;
use plimsoll_analysis::caution::Set;
use plimsoll_analysis::summary::{Severity, Summary};

/// All of it.
pub fn section(s: &Summary) -> Section {
    let lead = "A mark repeats the most severe caution about its row.";
    let all: Vec<Vital> = rows(s).into_iter().map(|row| vital(row, true)).collect();
    let marked = all.iter().any(|one| one.tone != Tone::Pass);
    let lead = marked.then(|| sentence(Role::Lead, lead).only(On::HTML));
    let blocks = lead.into_iter().chain([Block::Health(all)]).collect();
    Section::new("generator", "Load generator health", blocks).edge(Edge::Rule).indented()
}

/// On one screen: a line, the cautions about it, and the rows that these point at.
pub fn screen(s: &Summary, anchors: &Anchors) -> Section {
    let is_doubted = |row: &Row| row.severity.is_some_and(|weight| weight != Severity::Note);
    let doubted = rows(s).into_iter().filter(is_doubted).map(|row| vital(row, false)).collect();
    let lead = Block::Facts(vec![Fact::of("Load generator", Value::Facts(line(s))).led(Tone::Note)]);
    let blocks =
        vec![lead, Block::Indented(vec![cautions::of_generator(s, anchors), Block::Health(doubted)])];
    Section::new("generator", "Load generator health", blocks).brief("").only(On::SCREEN)
}

fn vital(row: Row, has_titles: bool) -> Vital {
    let titles = if has_titles { row.titles } else { Vec::new() };
    Vital {
        tone: row.severity.map_or(Tone::Pass, Tone::from),
        word: row.severity.map_or("ok", words::weight),
        label: row.label,
        facts: [titles, row.facts].concat(),
    }
}

/// `OK, 1 note · schedule lag p99 120 ns · CPU 0.7% · 0 retransmits · files, ports OK`
fn line(s: &Summary) -> Vec<String> {
    let own = || s.cautions.iter().filter(|c| c.kind.set() == Set::Generator);
    let of = |weight: Severity| own().filter(|c| c.severity == weight).count() as u64;
    let (doubts, warnings, notes) = (of(Severity::Inconclusive), of(Severity::Warning), of(Severity::Note));
    let counts = [(doubts, "reason for doubt"), (warnings, "warning"), (notes, "note")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| match (*n, *word) {
        (n, "reason for doubt") if n > 1 => format!("{n} reasons for doubt"),
        (n, word) => counted(n, word),
    });
    let word = match (doubts, warnings) {
        (0, 0) => "OK",
        (0, _) => "usable",
        _ => "unreliable",
    };
    let state: Vec<String> = [word.to_owned()].into_iter().chain(counts).collect();
    let lag = s.client.schedule_lag.quantile(0.99);
    let lag = lag.value_ns().map(|_| format!("schedule lag p99 {}", rough_quantile(lag)));
    let workers = &s.client.workers;
    let busy = workers.iter().map(|w| w.busy_ratio).sum::<f64>() / workers.len().max(1) as f64;
    let limits: u64 = s.client.faults.iter().map(|row| row.count).sum();
    let limits = match limits {
        0 => "files, ports OK".to_owned(),
        n => format!("{} on its side", counted(n, "failure")),
    };
    let facts = [format!("CPU {}", ratio(busy)), counted(s.client.retransmits, "retransmit"), limits];
    [state.join(", ")].into_iter().chain(lag).chain(facts).collect()
}
