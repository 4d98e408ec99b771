//! The guide is correct: every complete experiment is accepted, every piece of one is part of an example, and every
//! command exists.

use crate::support::{Scratch, Tool};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages, sorted, and the README, which shows an experiment too.
fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("docs/guide")).expect("the checkout is whole");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    all.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    all.push(root().join("README.md"));
    all.sort();
    all
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the checkout is whole")
}

/// The blocks of one language, each with the number of its first line.
fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut open: Option<(bool, usize, String)> = None;
    for (i, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(word), None) => open = Some((word.trim() == language, i + 2, String::new())),
            (Some(_), Some(_)) => {
                all.extend(open.take().filter(|(wanted, ..)| *wanted).map(|(_, at, text)| (at, text)));
            }
            (None, Some((_, _, block))) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is never closed");
    all
}

/// Lines without the indentation that all of them share, and without empty ones: a piece may stand deeper in its file.
fn outdented(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let depth = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.iter().map(|line| line[depth..].trim_end().to_owned()).collect()
}

fn is_part_of(piece: &str, whole: &str) -> bool {
    let piece = outdented(piece);
    let whole: Vec<&str> = whole.lines().filter(|line| !line.trim().is_empty()).collect();
    whole.windows(piece.len()).any(|lines| outdented(&lines.join("\n")) == piece)
}

fn examples() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("examples")).expect("the checkout is whole");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "yaml")).map(|path| read(&path)).collect()
}

/// `plimsoll check` on a text, in a folder that has the data of the examples.
fn check(text: &str) -> crate::support::Output {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.folder().join("data")).expect("the folder for temporary files is writable");
    for entry in std::fs::read_dir(root().join("examples/data")).expect("the checkout is whole") {
        let path = entry.expect("a folder can be read").path();
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, scratch.folder().join("data").join(name)).expect("there is room");
    }
    let file = scratch.file("experiment.yaml", text);
    Tool::new(&["check", &file]).env("API_KEY", "k-4711").env("REGION", "north").start().wait()
}

#[test]
fn every_experiment_of_the_guide_is_accepted() {
    let mut checked = 0;
    for page in pages() {
        for (line, block) in blocks(&read(&page), "yaml") {
            if !block.lines().any(|line| line.starts_with("scenarios:")) {
                continue;
            }
            checked += 1;
            let output = check(&block);
            assert_eq!(output.code, 0, "{}:{line}: {}", page.display(), output.stderr);
        }
    }
    assert!(checked >= 9, "the guide shows at least one whole experiment a page, not {checked} in all");
}

#[test]
fn every_piece_in_the_guide_is_part_of_an_example() {
    let examples = examples();
    for page in pages() {
        for (line, block) in blocks(&read(&page), "yaml") {
            let is_whole = block.lines().any(|line| line.starts_with("scenarios:"));
            let known = is_whole || examples.iter().any(|example| is_part_of(&block, example));
            assert!(known, "{}:{line}: no example contains this piece:\n{block}", page.display());
        }
    }
}

#[test]
fn the_experiment_of_the_first_page_is_the_example_that_it_names() {
    let blocks = blocks(&read(&root().join("docs/guide/README.md")), "yaml");
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].1, read(&root().join("examples/whole-api.yaml")));
}

#[test]
fn every_command_of_the_guide_exists() {
    let help = Tool::run(&["--help"]).expect_code(0).stdout;
    for page in pages() {
        for (_, block) in blocks(&read(&page), "console") {
            for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                // Variables in front of the command are the shell's.
                let mut words = line.split_whitespace().skip_while(|word| word.contains('='));
                assert_eq!(words.next(), Some("plimsoll"), "{}: {line}", page.display());
                let word = words.next().unwrap_or_default();
                let known = word.starts_with("http") || word.starts_with('-') || word == "test-server";
                assert!(known || help.contains(&format!("plimsoll {word}")), "{}: {line}", page.display());
                for file in words.filter(|word| word.starts_with("examples/")) {
                    assert!(root().join(file).is_file(), "{}: {line}", page.display());
                }
            }
        }
    }
}

#[test]
fn every_page_of_the_guide_is_reachable_from_the_readme() {
    assert!(read(&root().join("README.md")).contains("(docs/guide/README.md)"));
    let index = read(&root().join("docs/guide/README.md"));
    for page in pages().iter().filter(|page| page.starts_with(root().join("docs"))) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("pages have plain names");
        let is_there = name == "README.md" || index.contains(&format!("({name})"));
        assert!(is_there, "docs/guide/README.md does not lead to {name}");
    }
}

#[test]
fn what_is_wrong_would_be_seen() {
    let wrong = "target: http://127.0.0.1:8080\nscenarios: { a: [ { gett: / } ] }\n";
    assert_eq!(check(wrong).code, 2);
    assert!(is_part_of("a: 1\n", "x:\n    a: 1\n") && !is_part_of("a: 1\n", "x:\n    a: 2\n"));
    assert_eq!(blocks("```yaml\nx\n```\n```\ny\n```\n", "yaml"), [(2, "x\n".to_owned())]);
}
