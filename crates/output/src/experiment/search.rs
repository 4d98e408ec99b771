//! The searches of an experiment: a chart and the results of each, and a table of several.

use super::{RunFile, capacity, name};
use crate::document::{Block, Cell, Column, On, Role, Section, Table, Tile, Value, sentence};
use crate::find::{self, NamedAnswer};
use crate::format::counted;
use crate::next;
use plimsoll_experiment::conclusion::{Conclusion, Searched};
use plimsoll_experiment::search::IntervalKind;

/// The finished searches with their names and files.
pub fn search_parts<'a>(c: &'a Conclusion, files: &'a [RunFile]) -> Vec<NamedAnswer<'a>> {
    let one = |one: &'a Searched| {
        let files = files.iter().filter(|file| file.settings == one.settings).collect();
        Some(NamedAnswer { name: name(&one.settings), answer: one.answer.as_deref()?, files })
    };
    c.searches.iter().filter_map(one).collect()
}

/// The charts and the results of each search. Several searches start with a table, and each has its own reasons and
/// next steps.
pub fn answers(c: &Conclusion) -> Section {
    let is_single = c.searches.len() == 1;
    let mut blocks = vec![Block::Charts(vec!["search".into(), "search-".into()])];
    if !is_single {
        blocks.push(Block::Table(all(&c.searches)));
    }
    for one in &c.searches {
        if !is_single {
            blocks.push(Block::Heading(name(&one.settings)));
        }
        match &one.answer {
            Some(answer) => {
                if !is_single {
                    blocks.push(sentence(Role::Strong, &answer.sentence));
                    blocks.extend(next::blocks(find::hints(answer)).map(|block| block.only(On::TEXT)));
                }
                blocks.extend(find::describe_steps(answer));
            }
            None => blocks.push(sentence(
                Role::Plain,
                format!(
                    "Stopped after {}. To continue, repeat the command with the same `--out`.",
                    counted(one.steps as u64, "step")
                ),
            )),
        }
    }
    Section::new("search", "Search", blocks).titled(On::HTML)
}

fn all(searches: &[Searched]) -> Table {
    let raw = |one: &Searched| one.answer.as_ref()?.capacity.as_ref().map(|found| found.level());
    Table::of("searches", "All searches", searches)
        .column(Column::text("search"), |one| Cell::text(name(&one.settings)))
        .column(Column::number("capacity").role(Role::Strong), |one| Cell::number(capacity(one).0, raw(one)))
        .column(Column::text("95% CI"), |one| Cell::text(capacity(one).1))
        .column(Column::number("steps"), |one| Cell::count(one.steps as u64))
        .done()
}

/// Reasons and next steps of a single search; several have a table of results.
pub fn next(c: &Conclusion) -> Option<[Block; 2]> {
    let [one] = c.searches.as_slice() else { return None };
    Some(next::blocks(match &one.answer {
        Some(answer) => find::hints(answer),
        None => {
            let text = "To continue where the search stopped, repeat the command with the same `--out`.";
            (Vec::new(), vec![next::step(text.into(), &[])])
        }
    }))
}

/// The result as figures.
pub fn tiles(one: &Searched) -> Vec<Tile> {
    let Some(answer) = &one.answer else { return Vec::new() };
    let mut out = Vec::new();
    if let Some(found) = &answer.capacity {
        let (level, interval) = capacity(one);
        let interval = match found.interval_kind {
            IntervalKind::Confidence95 if !found.is_lower_bound => format!("95% CI {interval}"),
            IntervalKind::Confidence95 | IntervalKind::Bracket => String::new(),
        };
        out.push(Tile::new("capacity", Value::Number(level, Some(found.level()))).with(interval));
    }
    out.extend(answer.knee.as_ref().map(|knee| {
        Tile::new("knee", Value::Number(find::level(knee.level, answer.is_users), Some(knee.level)))
    }));
    out.extend(answer.unloaded_p50_ns.map(|ns| Tile::new("unloaded p50", Value::Nanoseconds(ns as f64))));
    out
}
