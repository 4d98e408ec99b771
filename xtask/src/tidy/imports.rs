//! Imports run strictly downward. This is checked in the manifests, where cargo would allow every direction except for
//! a cycle, and in the sources that use the dependencies.

use super::tables::{LEVELS, TEST_IMPORTS, is_test_path};
use super::{Problem, source, tree::Package, tree::Tree};

const RULE: &str = "imports";
/// Packages of chores, which import each other and no other package of this workspace.
const CHORES: &[&str] = &["bench", "chore", "jmeterdiff", "k6diff", "lab"];

pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &tree.packages {
        manifest(package, &mut problems);
    }
    for file in tree.rust() {
        for (crate_name, at) in used(&file.code) {
            let test = is_test_path(&file.path);
            if let Some(why) = refusal(owner(&file.path), &crate_name, test) {
                problems.push(Problem::new(RULE, &file.path, source::line_of(&file.code, at), why));
            }
        }
    }
    problems
}

fn manifest(package: &Package, problems: &mut Vec<Problem>) {
    let path = format!("{}/Cargo.toml", package.folder);
    let path = path.trim_start_matches('/');
    if let Some(short) = package.folder.strip_prefix("crates/") {
        if !LEVELS.iter().any(|row| row.0 == short) {
            let why = format!("crate `{short}` has no row in the level table of xtask");
            problems.push(Problem::new(RULE, path, 0, why));
        }
        if package.name != format!("plimsoll-{short}") {
            problems.push(Problem::new(
                RULE,
                path,
                0,
                format!("the package of this folder must have the name `plimsoll-{short}`"),
            ));
        }
    }
    for dependency in &package.dependencies {
        if let Some(name) = short_name(&dependency.name)
            && let Some(why) = refusal(owner(path), &name, dependency.dev)
        {
            problems.push(Problem::new(RULE, path, 0, why));
        }
    }
}

/// Returns the short name of a crate of this workspace, from its package or crate name.
fn short_name(name: &str) -> Option<String> {
    let name = name.replace('-', "_");
    match name.as_str() {
        "ruler" | "plimsoll" => Some(name),
        chore if CHORES.contains(&chore) => Some(name),
        _ => name.strip_prefix("plimsoll_").map(str::to_string),
    }
}

/// Returns the owner of a file: a crate's short name, `ruler`, `testkit`, `xtask` (with all packages of chores), or the
/// root package.
fn owner(path: &str) -> &str {
    if let Some(rest) = path.strip_prefix("crates/") {
        return rest.split('/').next().unwrap_or_default();
    }
    if path.starts_with("testbed/testkit/") {
        return "testkit";
    }
    if ["testbed/jmeterdiff/", "testbed/k6diff/", "testbed/lab/"]
        .iter()
        .any(|folder| path.starts_with(folder))
    {
        return "xtask";
    }
    match path.split('/').next() {
        Some("testbed") => "ruler",
        Some("xtask" | "bench") => "xtask",
        _ => "plimsoll",
    }
}

/// Returns the reason why `owner` must not import `name`, if there is one.
fn refusal(owner: &str, name: &str, test: bool) -> Option<String> {
    if owner == name {
        return None; // a crate's own tests import it by name
    }
    match owner {
        "xtask" if CHORES.contains(&name) => None,
        _ if name == "testkit" && !test => Some("only tests may import `testkit`".into()),
        _ if CHORES.contains(&name) => Some(format!("only xtask may import `{name}`")),
        "plimsoll" => None,
        "ruler" => Some(format!(
            "the ruler must not import `{name}`: it must not share mistakes with the crates that it tests"
        )),
        "xtask" => {
            Some(format!("xtask must not import `{name}`: chores must run even if the crates do not compile"))
        }
        _ if name == "plimsoll" => Some("no crate may import the binary".into()),
        _ if name == "ruler" => (!test).then(|| "only the binary and tests may import `ruler`".into()),
        _ if test && TEST_IMPORTS.iter().any(|row| (row.0, row.1) == (owner, name)) => None,
        _ if name == "testkit" => None,
        _ => {
            let allowed = LEVELS.iter().find(|row| row.0 == owner).map_or(&[][..], |row| row.1);
            let list = if allowed.is_empty() { "none".into() } else { allowed.join(", ") };
            (!allowed.contains(&name))
                .then(|| format!("`{owner}` must not import `{name}` (allowed: {list})"))
        }
    }
}

/// Returns the crates of this workspace that masked code names, with their places.
fn used(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("plimsoll_") {
        let bytes = code.as_bytes();
        let end = (at..bytes.len()).find(|&i| !source::is_word(bytes[i])).unwrap_or(bytes.len());
        let name = &code[at + "plimsoll_".len()..end];
        // Only names of crates: a variable `plimsoll_path` is not an import.
        let starts = at == 0 || !source::is_word(bytes[at - 1]);
        if starts && LEVELS.iter().any(|row| row.0 == name) {
            found.push((name.to_string(), at));
        }
    }
    found.extend(source::find_words(code, "ruler::").map(|at| ("ruler".to_string(), at)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upward_or_sideways_dependency_fails() {
        let tree = Tree::of(&[])
            .with_package(
                "plimsoll-engine",
                "crates/engine",
                &[],
                &[("plimsoll-record", false), ("plimsoll-wire", false)],
            )
            .with_package("plimsoll-plan", "crates/plan", &[], &[("plimsoll-stats", true)])
            .with_package("plimsoll", "", &[], &[("plimsoll-console", false), ("ruler", false)]);
        let problems = check(&tree);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].message.contains("`engine` must not import `record`"));
        assert!(problems[1].message.contains("`plan` must not import `stats`"));
    }

    #[test]
    fn an_upward_use_in_a_source_fails_and_a_comment_does_not() {
        let text = "//! Mentions plimsoll_output.\nuse plimsoll_plan::Plan;\nuse plimsoll_output::Sink;\n";
        let problems = check(&Tree::of(&[("crates/record/src/lib.rs", text)]));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 3);
    }

    #[test]
    fn only_the_binary_and_tests_import_the_ruler_which_imports_no_crate() {
        let tree = Tree::of(&[
            ("crates/engine/src/pool.rs", "use ruler::main;"),
            ("crates/engine/tests/a.rs", "use ruler::main;"),
        ])
        .with_package("plimsoll-wire", "crates/wire", &[], &[("ruler", true)])
        .with_package("plimsoll-stats", "crates/stats", &[], &[("ruler", false)])
        .with_package("ruler", "testbed/ruler", &[], &[("plimsoll-stats", true)]);
        let paths: Vec<String> = check(&tree).into_iter().map(|p| p.path).collect();
        assert_eq!(
            paths,
            ["crates/stats/Cargo.toml", "testbed/ruler/Cargo.toml", "crates/engine/src/pool.rs"]
        );
    }

    #[test]
    fn only_tests_import_the_testkit_and_only_xtask_imports_chores() {
        let tree = Tree::of(&[
            ("crates/output/src/chart.rs", "use plimsoll_testkit::shop;"),
            ("crates/output/tests/a.rs", "use plimsoll_testkit::shop;"),
            ("src/main.rs", "use plimsoll_testkit::shop;"),
            ("bench/src/lib.rs", "use plimsoll_record::event;"),
            ("testbed/testkit/src/shop.rs", "use plimsoll_record::event;"),
            ("testbed/testkit/src/odd.rs", "use plimsoll_analysis::summarise;"),
        ])
        .with_package("plimsoll-analysis", "crates/analysis", &[], &[("plimsoll-testkit", true)])
        .with_package("plimsoll-engine", "crates/engine", &[], &[("lab", true)])
        .with_package("xtask", "xtask", &[], &[("lab", false), ("bench", false)]);
        let mut paths: Vec<String> = check(&tree).into_iter().map(|p| p.path).collect();
        paths.sort();
        let expected =
            ["bench/src/lib.rs", "crates/engine/Cargo.toml", "crates/output/src/chart.rs", "src/main.rs"];
        assert_eq!(paths[..4], expected);
        assert_eq!(paths[4..], ["testbed/testkit/src/odd.rs"]);
    }

    #[test]
    fn a_new_crate_needs_a_row_in_the_table() {
        let tree = Tree::of(&[]).with_package("plimsoll-misc", "crates/misc", &[], &[]);
        assert!(check(&tree)[0].message.contains("no row"));
    }
}
