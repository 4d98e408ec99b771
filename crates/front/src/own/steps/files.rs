//! Steps that set values and write rows: `set`, `append`, `generate`.

use super::{control, known, step};
use crate::own::key::{METHODS, Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value};
use plimsoll_build::draft::{AppendDraft, NameDraft, StepDraft, TextDraft};
use plimsoll_build::source::{Complaint, Pos};
use plimsoll_plan::value::Escape;

/// `set: { x: "..." }`.
pub fn set(entries: &[Entry], r: &mut Reader<'_>) -> Option<StepDraft> {
    let mut pairs = Vec::new();
    for (row, of::Set::Set, entry) in known(entries, r) {
        let values = r.map(&entry.value, row)?;
        if values.is_empty() {
            r.expected(&entry.value, row, "add at least one value");
        }
        for value in values {
            let name = NameDraft { name: value.key.clone(), pos: value.pos };
            pairs.push((name, r.template(&value.value, row, Escape::None)));
        }
    }
    Some(StepDraft::Set(pairs))
}

/// `append: { file: out.csv, columns: { id: "${id}" } }`.
pub fn append(entries: &[Entry], r: &mut Reader<'_>) -> Option<StepDraft> {
    let (row, of::Append::Append, entry) = known(entries, r).into_iter().next()?;
    let (mut file, mut columns) = (None, None);
    let before = r.wrong.len();
    for inner in r.map(&entry.value, row)? {
        match r.key(inner) {
            Some((row, of::AppendTo::File)) => file = file_name(&inner.value, row, r),
            Some((row, of::AppendTo::Columns)) => columns = self::columns(&inner.value, row, r),
            None => {}
        }
    }
    match (file, columns) {
        (Some(file), Some(columns)) => Some(StepDraft::Append(rows(file, columns, false, r))),
        (None, _) | (_, None) => {
            if r.wrong.len() == before {
                r.expected(&entry.value, row, "write both `file` and `columns`");
            }
            None
        }
    }
}

fn file_name(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<(String, Pos)> {
    r.text(node, row).map(|text| (text.to_owned(), node.pos))
}

fn columns(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Vec<(String, TextDraft)>> {
    let entries = r.map(node, row)?;
    if entries.is_empty() {
        r.expected(node, row, "add at least one column");
    }
    let all: Vec<Option<(String, TextDraft)>> = entries
        .iter()
        .map(|entry| r.template(&entry.value, row, Escape::None).map(|text| (entry.key.clone(), text)))
        .collect();
    all.into_iter().collect()
}

fn rows(
    (file, pos): (String, Pos),
    columns: Vec<(String, TextDraft)>,
    anew: bool,
    r: &Reader<'_>,
) -> AppendDraft {
    let path = r.within_folders(&file, pos).and_then(|path| {
        // An untrusted text must not write a file that the console would take for an experiment or a run.
        match r.keep_to.is_some() && path.extension().is_none_or(|ending| ending != "csv") {
            true => {
                let message = format!("`{file}` is not a `.csv` file: the console writes no others");
                Err(Complaint::new("F037", pos, message, "name a file that ends in `.csv`"))
            }
            false => Ok(path),
        }
    });
    AppendDraft { file, pos, path, columns, anew }
}

/// Reads a `generate` step: a file of rows in `setup`, or a repeated request.
pub fn generate(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let (row, of::Generate::Generate, entry) = known(entries, &mut w.r).into_iter().next()?;
    let inner = w.r.map(&entry.value, row)?;
    let is_request = inner.iter().any(|e| METHODS.contains(&e.key.as_str()) || e.key == "request");
    let before = w.r.wrong.len();
    let (mut times, mut file, mut columns) = (None, None, None);
    for part in inner {
        // The other keys belong to the request.
        if is_request && part.key != "rows" {
            continue;
        }
        match w.r.key(part) {
            Some((row, of::GenerateRows::Rows)) => times = control::times(&part.value, row, &mut w.r),
            Some((row, of::GenerateRows::File)) => file = file_name(&part.value, row, &mut w.r),
            Some((row, of::GenerateRows::Columns)) => columns = self::columns(&part.value, row, &mut w.r),
            None => {}
        }
    }
    if is_request {
        let rest = inner.iter().filter(|part| part.key != "rows").cloned().collect();
        let steps = step(&Node { pos: item.pos, value: Value::Map(rest) }, w);
        if times.is_none() {
            lacks_rows(entry, before, &mut w.r);
        }
        return Some(StepDraft::Repeat { times, steps });
    }
    let rows = match (file, columns) {
        (Some(file), Some(columns)) => Some(rows(file, columns, true, &w.r)),
        (None, _) | (_, None) => None,
    };
    if w.in_setup {
        if rows.is_none() && w.r.wrong.len() == before {
            let hint = "write `rows`, `file`, and `columns`, or `rows` and a request";
            w.r.expected(&entry.value, row, hint);
        } else if times.is_none() {
            lacks_rows(entry, before, &mut w.r);
        }
    }
    Some(StepDraft::Generate { pos: entry.pos, times, rows })
}

fn lacks_rows(entry: &Entry, before: usize, r: &mut Reader<'_>) {
    if r.wrong.len() == before {
        let hint = "add a number of rows, such as `rows: 1000`";
        r.complain("F016", entry.pos, "missing `rows` under `generate`", hint);
    }
}
