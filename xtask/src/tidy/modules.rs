//! Dead files: a `.rs` that no `mod` reaches is neither compiled nor checked. The walk starts at cargo's targets and
//! follows `mod name;`, nested inline modules, and `#[path]`.
//!
//! Also, one name for a module: `x.rs` with its parts in `x/`. Only a module that is shared by `#[path]` is a `mod.rs`,
//! because the compiler looks for its parts in the same folder.

use super::{Problem, source, tree::Tree};
use std::collections::{BTreeMap, BTreeSet};

/// One `mod name;`.
struct Declaration {
    /// Possible files; the first existing one is used.
    candidates: Vec<String>,
    /// A `#[path]` names it.
    is_given: bool,
    /// It follows `#[cfg(test)]`.
    test: bool,
}

pub fn check(tree: &Tree) -> Vec<Problem> {
    let reached = reach(tree);
    let folders: Vec<String> = tree.packages.iter().map(|p| p.folder.clone()).collect();
    // Separate workspaces: cargo's metadata of this one does not contain them.
    const OTHERS: [&str; 2] = ["fuzz/", "bench/tonic/"];
    let ours = |path: &str| {
        !OTHERS.iter().any(|other| path.starts_with(other))
            && folders.iter().any(|folder| folder.is_empty() || path.starts_with(&format!("{folder}/")))
    };
    let dead = tree.rust().filter(|file| ours(&file.path) && !reached.contains_key(&file.path));
    let dead = dead.map(|file| {
        let message = "no `mod` reaches this file".to_string();
        Problem::new("dead file", &file.path, 0, message)
    });
    let shared = shared(tree);
    let misnamed = tree.rust().filter(|file| file.path.ends_with("/mod.rs") && !shared.contains(&file.path));
    let misnamed = misnamed.map(|file| {
        let better = file.path.trim_end_matches("/mod.rs");
        Problem::new("dead file", &file.path, 0, format!("name this module `{better}.rs`"))
    });
    dead.chain(misnamed).collect()
}

/// Returns the files that a `#[path]` names.
fn shared(tree: &Tree) -> BTreeSet<String> {
    let all = tree.rust().flat_map(|file| declarations(&file.path, &file.text, &file.code, false));
    all.filter(|found| found.is_given).flat_map(|found| found.candidates).collect()
}

/// Returns the files that are compiled only for tests.
pub fn test_files(tree: &Tree) -> BTreeSet<String> {
    reach(tree).into_iter().filter(|&(_, test)| test).map(|(path, _)| path).collect()
}

/// Returns every file that a target reaches, and whether it does so only through test modules.
fn reach(tree: &Tree) -> BTreeMap<String, bool> {
    let mut reached: BTreeMap<String, bool> = BTreeMap::new();
    let mut open: Vec<(String, bool, bool)> = Vec::new();
    for package in &tree.packages {
        open.extend(package.roots.iter().map(|root| (root.clone(), true, false)));
    }
    while let Some((path, is_root, test)) = open.pop() {
        // Already reached in the same way, or as ordinary code.
        if reached.get(&path).is_some_and(|&known_test| !known_test || test) {
            continue;
        }
        let Some(file) = tree.file(&path) else { continue };
        reached.insert(path.clone(), test);
        for declaration in declarations(&file.path, &file.text, &file.code, is_root) {
            if let Some(child) = declaration.candidates.into_iter().find(|c| tree.file(c).is_some()) {
                open.push((child, false, test || declaration.test));
            }
        }
    }
    reached
}

fn declarations(path: &str, text: &str, code: &str, is_root: bool) -> Vec<Declaration> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.trim_end_matches(".rs");
    // `a.rs` has its children in `a/`; a root and `mod.rs` have them in their own folder.
    let home = if is_root || stem == "mod" { folder.to_string() } else { join(folder, stem) };
    let tests = source::test_ranges(code);
    let mut found = Vec::new();
    let inline = inline_modules(code);
    for at in source::find_words(code, "mod") {
        let rest = code[at + 3..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.is_empty() || !rest[name.len()..].trim_start().starts_with(';') {
            continue;
        }
        let mut inside = home.clone();
        for (range, module) in &inline {
            if range.contains(&at) {
                inside = join(&inside, module);
            }
        }
        let given = path_attribute(text, code, at);
        let is_given = given.is_some();
        let candidates = match given {
            Some(given) => vec![join(folder, &given)],
            None => vec![join(&inside, &format!("{name}.rs")), join(&inside, &format!("{name}/mod.rs"))],
        };
        found.push(Declaration { candidates, is_given, test: tests.iter().any(|range| range.contains(&at)) });
    }
    found
}

fn inline_modules(code: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut found = Vec::new();
    for at in source::find_words(code, "mod") {
        let rest = &code[at + 3..];
        let Some(brace) = rest.find(['{', ';']).filter(|&i| rest.as_bytes()[i] == b'{') else { continue };
        let name = rest[..brace].trim();
        if !name.is_empty() && name.bytes().all(source::is_word) {
            let open = at + 3 + brace;
            found.push((open..source::block_end(code, open), name.to_string()));
        }
    }
    found
}

/// Returns the path of `#[path = "..."]` directly above a declaration, from the raw text, because the mask hides
/// strings.
fn path_attribute(text: &str, code: &str, at: usize) -> Option<String> {
    let begin = code[..at].rfind([';', '}', '{']).map_or(0, |i| i + 1);
    let head = &text[begin..at];
    let after = &head[head.find("#[path")? + 6..];
    after.split('"').nth(1).map(str::to_string)
}

fn join(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_mod_reaches_fails() {
        let tree = Tree::of(&[
            (
                "crates/plan/src/lib.rs",
                "//! x\nmod load;\nmod a { mod b; }\n#[path = \"odd/name.rs\"]\nmod c;",
            ),
            ("crates/plan/src/load.rs", "//! x\nmod ramp;"),
            ("crates/plan/src/load/ramp.rs", "//! x"),
            ("crates/plan/src/a/b.rs", "//! x"),
            ("crates/plan/src/odd/name.rs", "//! x"),
            ("crates/plan/src/dead.rs", "//! x"),
            ("crates/plan/tests/units.rs", "//! x\nmod common;"),
            ("crates/plan/tests/common/mod.rs", "//! x"),
        ])
        .with_package(
            "plimsoll-plan",
            "crates/plan",
            &["crates/plan/src/lib.rs", "crates/plan/tests/units.rs"],
            &[],
        );
        let paths: Vec<String> = check(&tree).into_iter().map(|p| p.path).collect();
        assert_eq!(paths, ["crates/plan/src/dead.rs", "crates/plan/tests/common/mod.rs"]);
    }

    #[test]
    fn a_mod_rs_fails_unless_it_is_shared() {
        let tree = Tree::of(&[
            ("src/main.rs", "//! x\nmod load;"),
            ("src/load/mod.rs", "//! x"),
            ("tests/cli/main.rs", "//! x\n#[path = \"../support/mod.rs\"]\nmod support;"),
            ("tests/support/mod.rs", "//! x"),
        ])
        .with_package("plimsoll", "", &["src/main.rs", "tests/cli/main.rs"], &[]);
        let paths: Vec<String> = check(&tree).into_iter().map(|p| p.path).collect();
        assert_eq!(paths, ["src/load/mod.rs"]);
    }

    #[test]
    fn a_mod_in_a_comment_or_a_string_is_ignored() {
        let tree = Tree::of(&[
            ("src/main.rs", "//! mod dead;\nfn main() { let s = \"mod dead;\"; }"),
            ("src/dead.rs", "//! x"),
        ])
        .with_package("plimsoll", "", &["src/main.rs"], &[]);
        assert_eq!(check(&tree).len(), 1);
    }
}
