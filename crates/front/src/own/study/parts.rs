//! `parts:`: several experiments in one file. Each gets the whole file with its own keys merged over it, as a variant
//! does, and is then read as a separate file.

use super::cells::{File, of_tree};
use super::matrix::{Matrix, entries, merge};

use crate::located::Part;
use crate::overrides::Overrides;
use crate::own::key::{OF_THE_FILE, Section, find};
use crate::own::reader::{Reader, is_null};
use crate::own::yaml::{Entry, Node, Value};
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::{alternatives, quoted};
use plimsoll_build::source::ordered;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// More parts are more likely a typo than a plan, and two digits number them.
const MOST: usize = 99;
/// Longest name of a part, in bytes: it is part of a directory name.
const LONGEST: usize = 60;

/// Reads all experiments of a text, or those with the names in `only`. `file` and `folder` are as for [`super::study`].
///
/// # Errors
/// Returns every mistake in them, in the order of the text, each once, and each name that no part has.
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
            only.iter().map(|name| unknown(name, &[], "remove `--part` (the file has no `parts`)")).collect();
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
        .map(|name| unknown(name, &names, &format!("use one of {}", alternatives(names.iter().copied()))))
        .collect();
    wrong.append(&mut r.wrong);
    // A name that only another part knows is valid, whether or not that part is run.
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

/// Returns why a file with parts is not a single experiment; `None` if it has no parts.
pub fn refused(tree: &Node, r: &Reader<'_>) -> Option<Diagnostic> {
    let entry = parts_of(tree)?;
    let names = entries(&entry.value).iter().map(|part| part.key.as_str());
    let message =
        format!("expected one experiment, but `parts` makes several of this file: {}", quoted(names));
    let hint = "run all of them with `plimsoll run FILE`, or one with `plimsoll run FILE --part NAME`";
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
    Diagnostic::new("F036", Place::Flag("--part".into()), format!("unknown part `{name}`"), hint)
}

/// Reads the parts. Mistakes go into the reader.
fn read_parts<'n>(entry: &'n Entry, r: &mut Reader<'_>) -> Vec<&'n Entry> {
    let Some(all) = find(Section::Top, "parts").and_then(|row| r.map(&entry.value, row)) else {
        return Vec::new();
    };
    if all.is_empty() {
        r.complain("F016", entry.value.pos, "`parts` is empty", "add at least one part, or remove `parts`");
    }
    if all.len() > MOST {
        let message = format!("too many parts: {}, but the maximum is {MOST}", all.len());
        r.complain("F036", entry.pos, message, "split the file");
    }
    all.iter().filter(|part| is_right(part, r)).collect()
}

fn is_right(part: &Entry, r: &mut Reader<'_>) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if part.key.is_empty() || part.key.len() > LONGEST || !part.key.chars().all(is_plain) {
        let message = format!("invalid part name `{}`: its directory has the same name", part.key);
        let hint = format!("write at most {LONGEST} letters, digits, `-`, and `_`");
        r.complain("F036", part.pos, message, hint);
    }
    match &part.value.value {
        Value::Map(entries) => {
            for entry in entries.iter().filter(|entry| OF_THE_FILE.contains(&entry.key.as_str())) {
                let message = match entry.key.as_str() {
                    "parts" => "a part cannot contain `parts`".to_owned(),
                    key => format!("`{key}` applies to all parts"),
                };
                let hint = format!("move it to the top level: `{}: ...`", entry.key);
                r.complain("F018", entry.pos, message, hint);
            }
            true
        }
        // The file without changes.
        Value::Scalar(scalar) if scalar.plain && is_null(&scalar.text) => true,
        _ => {
            let message = format!("invalid part `{}`: expected a mapping", part.key);
            let hint = "write its overrides, such as `{ load: { users: [1, 10] } }`, or nothing";
            r.complain("F014", part.value.pos, message, hint);
            false
        }
    }
}

/// Returns the file with the keys of a part merged over it.
fn tree_of(tree: &Node, part: &Entry) -> Node {
    let mut own = tree.clone();
    if let Value::Map(entries) = &mut own.value {
        entries.retain(|entry| entry.key != "parts");
    }
    merge(&mut own, entries(&part.value).iter().filter(|entry| !OF_THE_FILE.contains(&entry.key.as_str())));
    own
}

/// Returns the names that `--set` accepts in a part. Its mistakes are reported when it is read.
fn settable(tree: &Node, file: File<'_>) -> Vec<String> {
    let mut r = file.reader();
    let nothing = Overrides { set: Vec::new(), env: Box::new(|_| None), keep_to: None, reflect: None };
    Matrix::of(tree, &nothing, &mut r);
    r.settable
}
