//! Several comparisons on one page: the worst one first, a table of all, and the report of each.

use super::next::hints;
use super::report::{gate_badge, gate_tone, line, report, tally, tone};
use super::{gate_word, overall};
use crate::document::{Block, Cell, Column, Document, Parts, Role, Section, Sentence, Table, Tone, Value};
use crate::document::{On, sentence};
use crate::format::count;
use crate::next;
use plimsoll_experiment::compare::gate::Gated;
use plimsoll_experiment::compare::{Comparison, cell_name};

/// If there are more, each is folded.
const OPEN: usize = 3;

pub fn several(all: &[Comparison], gates: &[Gated]) -> Document {
    let worst = all.iter().zip(gates).max_by_key(|(_, gated)| gated.result);
    let mut head = Vec::new();
    let mut sections = Vec::new();
    if let Some((one, gated)) = worst {
        head.push(Block::Sentence(Sentence::new(Role::Strong, &one.sentence)));
        head.push(sentence(Role::Plain, tally(all)));
        head.push(gate_badge(one, gated));
        sections.extend(next::sections(hints(one, Some(gated))));
    }
    let number = |one: &Comparison| all.iter().position(|other| std::ptr::eq(other, one)).unwrap_or(0);
    let name = |one: &Comparison| {
        let place =
            if one.settings.is_empty() { String::new() } else { format!(" at {}", cell_name(&one.settings)) };
        let [a, b] = one.short_names();
        Cell::text(format!("{b} vs. {a}{place}")).linked(Some(format!("#c{}", number(one) + 1)))
    };
    let gate = |one: &Comparison| match gates.get(number(one)) {
        Some(gated) => Cell::status(gate_tone(gated.result), gate_word(gated, one)),
        None => Cell::text(""),
    };
    let table = Table::of("comparisons", "All comparisons", all)
        .column(Column::text("comparison"), name)
        .column(Column::text("verdict"), |one| Cell::status(tone(one.verdict), overall(one.verdict)))
        .column(Column::text("gate"), gate)
        .column(Column::text("result"), |one| Value::Prose(one.sentence.clone()).into());
    let each = all.iter().zip((0..).map(|at| gates.get(at)));
    let each = (1..).zip(each).map(|(n, (one, gated))| (report(one, gated, &format!("-{n}")), line(one)));
    let parts = Parts { all: each.collect(), brief: usize::MAX, open: OPEN, title: "Comparison" };
    let overview = Section::new("overview", "All comparisons", vec![Block::Table(table.done())]).on(On::HTML);
    sections.extend([overview, Section::new("each", "Comparisons", vec![Block::Parts(parts)])]);
    Document {
        tone: worst.map_or(Tone::Doubt, |(_, gated)| gate_tone(gated.result)),
        name: Sentence::new(Role::Plain, format!("{} comparisons", count(all.len() as u64))),
        head,
        sections,
    }
}
