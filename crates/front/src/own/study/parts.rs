//! `parts:`, several experiments in one file. Each sees the whole file with its own keys merged over it, as a variant
//! does, and is then read as a file of its own.

use super::cells::{File, of_tree};
use super::matrix::{Matrix, entries, merge};

use crate::located::Part;
use crate::nearest::nearest;
use crate::overrides::Overrides;
use crate::own::key::{OF_THE_FILE, Section, find};
use crate::own::reader::{Reader, is_null};
use crate::own::yaml::{Entry, Node, Value};
use crate::sentence::quoted;
use crate::source::ordered;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// More parts than that are a slip, not a plan; two digits number them.
const MOST: usize = 99;
/// Longest name of a part, bytes: it is part of a folder's name.
const LONGEST: usize = 60;

/// All experiments of a text, or those of these names. `file` and `folder` as for [`super::study`].
///
/// # Errors
/// Every mistake in any of them, in the order of the text, each once; and each name that no part has.
pub fn parts(
    text: &str,
    file: &str,
    folder: &Path,
    given: &Overrides,
    only: &[String],
) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let file = File { text, name: file, folder, keep_to: given.keep_to.as_deref() };
    let mut r = file.reader();
    let tree = file.tree(&mut r.wrong)?;
    let Some(entry) = parts_of(&tree) else {
        let mut wrong: Vec<Diagnostic> =
            only.iter().map(|name| unknown(name, &[], "the file has no `parts`; leave it out")).collect();
        return match of_tree(tree, file, given, r, &[]) {
            Ok((study, _)) if wrong.is_empty() => Ok(vec![Part { name: None, number: 1, study }]),
            Ok(_) => Err(wrong),
            Err(all) => {
                wrong.extend(all);
                Err(wrong)
            }
        };
    };
    let all = read_parts(entry, &mut r);
    let trees: Vec<(&str, Node)> = all.iter().map(|part| (part.key.as_str(), tree_of(&tree, part))).collect();
    let names: Vec<&str> = trees.iter().map(|(name, _)| *name).collect();
    let mut wrong: Vec<Diagnostic> = only
        .iter()
        .filter(|name| !names.contains(&name.as_str()))
        .map(|name| unknown(name, &names, &format!("there are {}", quoted(names.iter().copied()))))
        .collect();
    wrong.append(&mut r.wrong);
    // A name that only another part knows is no slip, whether or not that part is run.
    let settable: Vec<String> = trees.iter().flat_map(|(_, tree)| settable(tree, file)).collect();
    let mut parts = Vec::new();
    for (number, (name, tree)) in (1..).zip(trees) {
        if !only.is_empty() && !only.iter().any(|one| one == name) {
            continue;
        }
        match of_tree(tree, file, given, file.reader(), &settable) {
            Err(more) => wrong.extend(more),
            Ok((mut study, _)) => {
                study.experiment.name = format!("{} / {name}", study.experiment.name);
                parts.push(Part { name: Some(name.to_owned()), number, study });
            }
        }
    }
    if wrong.is_empty() { Ok(parts) } else { Err(ordered(wrong)) }
}

/// Why a file with parts is no single experiment; `None` where it has none.
pub fn refused(tree: &Node, r: &Reader<'_>) -> Option<Diagnostic> {
    let entry = parts_of(tree)?;
    let names = entries(&entry.value).iter().map(|part| part.key.as_str());
    let message =
        format!("`parts` makes several experiments of this file, {}, and one is asked for", quoted(names));
    let hint = "all of them are run by `plimsoll run FILE`, one of them by `plimsoll run FILE --part NAME`";
    Some(r.source.wrong("F036", entry.pos, message, hint))
}

fn parts_of(tree: &Node) -> Option<&Entry> {
    entries(tree).iter().find(|entry| entry.key == "parts")
}

fn unknown(name: &str, names: &[&str], otherwise: &str) -> Diagnostic {
    let hint = match nearest(name, names.iter().copied()) {
        Some(right) => format!("did you mean `{right}`?"),
        None => otherwise.to_owned(),
    };
    Diagnostic::new("F036", Place::Flag("--part".into()), format!("there is no part `{name}`"), hint)
}

/// The parts that can be read; what is wrong with the others goes into the reader.
fn read_parts<'n>(entry: &'n Entry, r: &mut Reader<'_>) -> Vec<&'n Entry> {
    let Some(all) = find(Section::Top, "parts").and_then(|row| r.map(&entry.value, row)) else {
        return Vec::new();
    };
    if all.is_empty() {
        r.complain("F016", entry.value.pos, "there is no part", "name at least one, or leave `parts` out");
    }
    if all.len() > MOST {
        let message = format!("these are {} parts; there may be {MOST}", all.len());
        r.complain("F036", entry.pos, message, "split the file in two");
    }
    all.iter().filter(|part| is_right(part, r)).collect()
}

fn is_right(part: &Entry, r: &mut Reader<'_>) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if part.key.is_empty() || part.key.len() > LONGEST || !part.key.chars().all(is_plain) {
        let message = format!("`{}` is no name for a part: its folder is called so", part.key);
        let hint = format!("take letters, digits, `-` and `_`, at most {LONGEST} of them");
        r.complain("F036", part.pos, message, hint);
    }
    match &part.value.value {
        Value::Map(entries) => {
            for entry in entries.iter().filter(|entry| OF_THE_FILE.contains(&entry.key.as_str())) {
                let message = match entry.key.as_str() {
                    "parts" => "a part has no parts of its own".to_owned(),
                    key => format!("`{key}` is one for all parts"),
                };
                let hint = format!("move it out to the left edge: `{}: ...`", entry.key);
                r.complain("F018", entry.pos, message, hint);
            }
            true
        }
        // The file as it stands.
        Value::Scalar(scalar) if scalar.plain && is_null(&scalar.text) => true,
        _ => {
            let message = format!("the part `{}` is no mapping", part.key);
            let hint = "write what is different there, such as `{ load: { users: [1, 10] } }`, or nothing";
            r.complain("F014", part.value.pos, message, hint);
            false
        }
    }
}

/// The file with a part's keys over it.
fn tree_of(tree: &Node, part: &Entry) -> Node {
    let mut own = tree.clone();
    if let Value::Map(entries) = &mut own.value {
        entries.retain(|entry| entry.key != "parts");
    }
    merge(&mut own, entries(&part.value).iter().filter(|entry| !OF_THE_FILE.contains(&entry.key.as_str())));
    own
}

/// What `--set` may name in a part. Its mistakes are told when it is read.
fn settable(tree: &Node, file: File<'_>) -> Vec<String> {
    let mut r = file.reader();
    let nothing = Overrides { set: Vec::new(), env: Box::new(|_| None), keep_to: None };
    Matrix::of(tree, &nothing, &mut r);
    r.settable
}
