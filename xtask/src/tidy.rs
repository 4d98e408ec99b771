//! `cargo xtask tidy`: checks the house rules. A rule is a function from the tree to a list of problems, and its test
//! has an example that fails. Exceptions are data in `tables`, each with its reason.

mod imports;
mod language;
mod licenses;
mod links;
mod modules;
mod shape;
mod source;
mod tables;
pub mod tree;
mod words;

use chore::{Outcome, shell};
use std::collections::BTreeSet;
use tree::Tree;

/// One broken rule at one place. `line` is 0 for the whole file (or for no file).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub path: String,
    pub line: usize,
    pub rule: &'static str,
    pub message: String,
}

impl Problem {
    fn new(rule: &'static str, path: &str, line: usize, message: String) -> Problem {
        Problem { path: path.to_string(), line, rule, message }
    }
}

type Rule = fn(&Tree) -> Vec<Problem>;

const RULES: &[(&str, Rule)] = &[
    ("imports", imports::check),
    ("words", words::check),
    ("language", language::check),
    ("modules", modules::check),
    ("shape", shape::check),
    ("licenses", licenses::check),
    ("links", links::check),
    ("tables", tables::check),
];

pub fn command(arguments: &[String]) -> Outcome {
    match arguments {
        [] => {}
        [only] if only == "words" => return language::command(&Tree::read(&shell::root())?),
        [unknown, ..] => return Err(format!("unknown argument `{unknown}`")),
    }
    let tree = Tree::read(&shell::root())?;
    let problems: BTreeSet<Problem> = RULES.iter().flat_map(|(_, rule)| rule(&tree)).collect();
    for problem in &problems {
        let Problem { path, line, rule, message } = problem;
        let line = if *line == 0 { String::new() } else { format!(":{line}") };
        eprintln!("{path}{line}: [{rule}] {message}");
    }
    if problems.is_empty() {
        println!("{} files follow {} groups of rules", tree.files.len(), RULES.len());
        return Ok(());
    }
    Err(format!("{} problems", problems.len()))
}
