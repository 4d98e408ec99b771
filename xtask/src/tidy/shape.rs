//! The shape of a file: it starts with its purpose, it is short, and its lines fit on a screen. That of a crate: its
//! source is not too long for one crate.

use super::tables::{LONG_FILES, listed};
use super::{Problem, tree::Tree};
use std::collections::BTreeMap;

/// Number of lines that are not empty above which a file needs a row with a reason (one table, enum, or state machine).
pub const LONG: usize = 500;
/// rustfmt breaks code at 110, but not strings and comments, so their limit is higher.
const WIDE: usize = 120;
/// Maximum number of lines in `src` of a crate without its tests: a longer one has two purposes.
const LONG_CRATE: usize = 15_000;

pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust() {
        let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !first.starts_with("//!") {
            let message = "a file must start with `//!` and its purpose".to_string();
            problems.push(Problem::new("head", &file.path, 1, message));
        }
        let lines = file.text.lines().filter(|line| !line.trim().is_empty()).count();
        if lines > LONG && !listed(&file.path, LONG_FILES) {
            let message =
                format!("{lines} lines: split it, or add it with a reason to xtask/src/tidy/tables.rs");
            problems.push(Problem::new("long file", &file.path, 0, message));
        }
        for (at, line) in file.text.lines().enumerate() {
            let width = line.chars().count();
            if width > WIDE {
                problems.push(Problem::new(
                    "wide line",
                    &file.path,
                    at + 1,
                    format!("{width} characters (maximum {WIDE})"),
                ));
            }
        }
    }
    problems.extend(long_crates(tree));
    problems
}

fn long_crates(tree: &Tree) -> Vec<Problem> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.rust() {
        let place = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        if let Some((name, rest)) = place
            && !rest.contains("/tests")
        {
            *lines.entry(name).or_default() += file.text.lines().count();
        }
    }
    let long = lines.into_iter().filter(|(_, lines)| *lines > LONG_CRATE);
    let problem = |(name, lines)| {
        let message = format!("{lines} lines of source (maximum {LONG_CRATE}): split the crate");
        Problem::new("long crate", &format!("crates/{name}"), 0, message)
    };
    long.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> Vec<&'static str> {
        check(&Tree::of(&[("src/a.rs", text)])).into_iter().map(|p| p.rule).collect()
    }

    #[test]
    fn a_file_without_a_head_fails() {
        assert_eq!(broken("// not a head\nfn f() {}\n"), ["head"]);
        assert!(broken("//! Why.\nfn f() {}\n").is_empty());
    }

    #[test]
    fn a_long_crate_fails_and_its_tests_do_not_count() {
        let text = format!("//! Why.\n{}", "\n".repeat(LONG_CRATE / 2 - 1));
        let files =
            |last| [("crates/a/src/a.rs", &*text), ("crates/a/src/b.rs", &*text), (last, "//! Why.\n")];
        let rules = |last| check(&Tree::of(&files(last))).into_iter().map(|p| p.rule).collect::<Vec<_>>();
        assert_eq!(rules("crates/a/src/c.rs"), ["long crate"]);
        assert!(rules("crates/a/tests/c.rs").is_empty());
        assert!(rules("crates/a/src/b/tests/c.rs").is_empty());
        assert!(rules("crates/b/src/c.rs").is_empty());
    }

    #[test]
    fn a_long_file_and_a_wide_line_fail() {
        let long = format!("//! Why.\n{}", "x;\n\n".repeat(LONG));
        assert_eq!(broken(&long), ["long file"]);
        let wide = format!("//! Why.\n// {}\n", "é".repeat(WIDE));
        assert_eq!(broken(&wide), ["wide line"]);
        assert!(broken(&format!("//! Why.\n{}", "é".repeat(WIDE))).is_empty());
    }
}
