//! Steps that set values and write rows: `set`, `append`, `generate`.

use super::{known, step};
use crate::own::key::{METHODS, Row, Section};
use crate::own::work::{Phase, Work};
use crate::own::yaml::{Entry, Node, Pos, Value};
use plimsoll_plan::data::OutFile;
use plimsoll_plan::script;
use plimsoll_plan::value::{Escape, Text};

/// `set: { x: "..." }`.
pub fn set(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let mut pairs = Vec::new();
    for (row, entry) in known(Section::Set, entries, w) {
        let values = w.r.map(&entry.value, row)?;
        if values.is_empty() {
            w.r.expected(&entry.value, row, "name at least one value");
        }
        // One after the other: a later value may use an earlier one.
        for value in values {
            let text = w.template(&value.value, row, Escape::None);
            let slot = w.slot(&value.key, value.pos);
            pairs.extend(slot.zip(text));
        }
    }
    (!pairs.is_empty()).then(|| vec![script::Node::Set(pairs)])
}

/// `append: { file: out.csv, columns: { id: "${id}" } }`.
pub fn append(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let (row, entry) = known(Section::Append, entries, w).into_iter().next()?;
    let (mut file, mut columns) = (None, None);
    let before = w.r.wrong.len();
    for inner in w.r.map(&entry.value, row)? {
        match w.r.row(Section::AppendTo, inner) {
            Some(row) if row.name == "file" => file = file_name(&inner.value, row, w),
            Some(row) => columns = self::columns(&inner.value, row, w),
            None => {}
        }
    }
    match (file, columns) {
        (Some(file), Some(columns)) => rows(file, columns, false, w).map(|node| vec![node]),
        _ => {
            if w.r.wrong.len() == before {
                w.r.expected(&entry.value, row, "give both `file` and `columns`");
            }
            None
        }
    }
}

fn file_name(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<(String, Pos)> {
    w.r.text(node, row).map(|text| (text.to_owned(), node.pos))
}

fn columns(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Vec<(String, Text)>> {
    let entries = w.r.map(node, row)?;
    if entries.is_empty() {
        w.r.expected(node, row, "name at least one");
    }
    let all: Vec<Option<(String, Text)>> = entries
        .iter()
        .map(|entry| w.template(&entry.value, row, Escape::None).map(|text| (entry.key.clone(), text)))
        .collect();
    all.into_iter().collect()
}

/// One row behind the others; every place that writes a file writes the same columns.
/// With `anew` a run begins the file anew, whoever else writes to it.
fn rows(
    (file, pos): (String, Pos),
    columns: Vec<(String, Text)>,
    anew: bool,
    w: &mut Work<'_>,
) -> Option<script::Node> {
    let path = w.r.path(&file, pos)?;
    // What a stranger's text writes must be nothing that the console would take for an experiment or a run.
    if w.r.keep_to.is_some() && path.extension().is_none_or(|ending| ending != "csv") {
        w.r.complain("F037", pos, format!("`{file}` would be written"), "name a file that ends in `.csv`");
        return None;
    }
    let (names, texts): (Vec<String>, Vec<Text>) = columns.into_iter().unzip();
    let number = match w.script.files.iter().position(|known| known.path == path) {
        Some(number) if w.script.files[number].columns == names => number,
        Some(number) => {
            let message = format!("`{file}` is written with other columns elsewhere");
            let hint = format!("there they are `{}`", w.script.files[number].columns.join("`, `"));
            w.r.complain("F017", pos, message, hint);
            return None;
        }
        None => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder
                && !folder.is_dir()
            {
                let message = format!("there is no folder `{}`", folder.display());
                w.r.complain("F026", pos, message, "make it, or name another");
                return None;
            }
            if w.known.values().any(|known| known.feeder.path == path && !known.feeder.made_by_setup) {
                let message = format!("`{file}` feeds the users: writing to it would change what they read");
                w.r.complain("F017", pos, message, "write to another file, or write it in the set-up alone");
                return None;
            }
            w.script.files.push(OutFile { path, columns: names, anew });
            w.script.files.len() - 1
        }
    };
    w.script.files[number].anew |= anew;
    Some(script::Node::Append { file: u16::try_from(number).ok()?, columns: texts })
}

/// `generate`: a file of rows in the set-up, or a request so many times.
pub fn generate(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let (row, entry) = known(Section::Generate, entries, w).into_iter().next()?;
    let inner = w.r.map(&entry.value, row)?;
    let is_request = inner.iter().any(|e| METHODS.contains(&e.key.as_str()) || e.key == "request");
    let before = w.r.wrong.len();
    let (mut times, mut file, mut columns) = (None, None, None);
    for part in inner {
        match part.key.as_str() {
            _ if is_request && part.key != "rows" => {}
            _ => match w.r.row(Section::GenerateRows, part) {
                Some(row) if row.name == "rows" => times = super::control::times(&part.value, row, w),
                Some(row) if row.name == "file" => file = file_name(&part.value, row, w),
                Some(row) => columns = self::columns(&part.value, row, w),
                None => {}
            },
        }
    }
    let nodes = if is_request {
        let rest = inner.iter().filter(|part| part.key != "rows").cloned().collect();
        step(&Node { pos: item.pos, value: Value::Map(rest) }, w)
    } else {
        if w.scope.phase != Phase::Setup {
            let hint = "move it under `setup`; rows of the load are written with `append`";
            w.r.complain("F018", entry.pos, "`generate` writes a file for the load, before the load", hint);
            return None;
        }
        match (file, columns) {
            (Some(file), Some(columns)) => rows(file, columns, true, w).into_iter().collect(),
            _ => {
                if w.r.wrong.len() == before {
                    w.r.expected(
                        &entry.value,
                        row,
                        "give `rows`, `file` and `columns`, or `rows` and a request",
                    );
                }
                return None;
            }
        }
    };
    let Some(times) = times else {
        if w.r.wrong.len() == before {
            let hint = "add how many, such as `rows: 1000`";
            w.r.complain("F016", entry.pos, "`generate` does not say how often", hint);
        }
        return None;
    };
    Some(vec![script::Node::Repeat { times, nodes }])
}
