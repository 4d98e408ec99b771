//! What failed: classes, statuses, requests, and examples; on a page.

use super::{examples, results};
use crate::document::{Block, Cell, Column, Role, Room, Section, Table, Value, sentence};
use plimsoll_analysis::summary::{ErrorRow, SeriesRow, Summary};
use plimsoll_plan::Fault;

pub fn section(s: &Summary) -> Section {
    let failed: Vec<&ErrorRow> =
        s.errors.iter().chain(&s.client.faults).filter(|row| row.count > 0).collect();
    let section = |blocks| Section::new("errors", "Errors", blocks);
    if failed.is_empty() && s.status_codes.len() < 2 && s.failure_examples.is_empty() {
        return section(Vec::new());
    }
    let titled = |title: &str, table| vec![Block::Heading(title.into()), Block::Table(table)];
    let classes = (!failed.is_empty()).then(|| titled("By fault", results::classes(failed)));
    let statuses = (!s.status_codes.is_empty()).then(|| titled("By status", statuses(s)));
    let mut blocks = vec![Block::Pair(Room::Narrow, classes.into_iter().chain(statuses).collect())];
    blocks.extend(by_request(s));
    if s.client.faults.iter().any(|row| row.count > 0) {
        let said = "Failures of the load generator never count as errors.";
        blocks.push(sentence(Role::Faint, said));
    }
    blocks.extend(
        examples::block(s).into_iter().flat_map(|block| [Block::Heading("Failure examples".into()), block]),
    );
    section(blocks)
}

/// Rows of the table below; there may be hundreds of requests, and the table of requests has them all.
const FAILING: usize = 30;

/// Which request failed how, those that failed most first; of a single request the classes say it already.
fn by_request(s: &Summary) -> Vec<Block> {
    let mut all: Vec<&SeriesRow> = s.requests.iter().filter(|row| !row.errors_by_class.is_empty()).collect();
    if s.requests.len() < 2 || all.is_empty() {
        return Vec::new();
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.errors_by_class.values().sum::<u64>()));
    let is_there = |class: &Fault| all.iter().any(|row| row.errors_by_class.contains_key(class));
    let shown = all.iter().copied().take(FAILING);
    let mut table = Table::of("failing", "Errors by request and fault", shown)
        .column(Column::text("request"), |row| Cell::text(&row.name));
    for class in s.errors.iter().map(|row| row.class).filter(|class| is_there(class)) {
        table = table.column(Column::number(class.name()), |row| match row.errors_by_class.get(&class) {
            Some(n) => Cell::count(*n),
            None => Cell::text(""),
        });
    }
    let mut blocks = vec![Block::Heading("By request".into()), Block::Table(table.done())];
    if all.len() > FAILING {
        let more = all.len() - FAILING;
        let said = format!("and {more} more requests: see the table of requests");
        blocks.push(sentence(Role::Faint, said));
    }
    blocks
}

fn statuses(s: &Summary) -> Table {
    let all: u64 = s.status_codes.values().sum();
    let rows: Vec<(&String, &u64)> = s.status_codes.iter().collect();
    Table::of("statuses", "Responses by status", &rows)
        .column(Column::text("status"), |(status, _)| Cell::text(*status))
        .column(Column::number("responses"), |(_, n)| Cell::count(**n))
        .column(Column::number("share"), |(_, n)| Value::Share(**n as f64 / all.max(1) as f64).into())
        .done()
}
