//! Words that are allowed only in certain places: clocks, prints, panics, `unsafe`, machine paths, marks of unfinished
//! work. Each rule is one row: the words, the places where they are allowed, and what to do instead.

use super::tables::{self, is_test_path, listed, within};
use super::{Problem, modules, source, tree::File, tree::Tree};

/// A rule for the masked code of a Rust file. `permitted` returns whether a path may use the words.
struct CodeRule {
    rule: &'static str,
    words: &'static [&'static str],
    permitted: fn(&str) -> bool,
    /// Test modules and test files are exceptions.
    tests_may: bool,
    /// A comment `// proof: ...` on the line, or alone on the line above, is an exception.
    proof: bool,
    advice: &'static str,
}

const CODE: &[CodeRule] = &[
    CodeRule {
        rule: "clock",
        words: &["Instant::now", "SystemTime::now", ".elapsed()"],
        permitted: |path| within(path, tables::CLOCKS),
        tests_may: true,
        proof: false,
        advice: "time is an argument: only engine/src/clock.rs reads the clock",
    },
    CodeRule {
        rule: "clock",
        words: &["clock_gettime", "_rdtsc"],
        permitted: |path| within(path, tables::KERNEL_CLOCKS),
        tests_may: true,
        proof: false,
        advice: "time is an argument: only engine/src/clock.rs reads the clock",
    },
    CodeRule {
        rule: "print",
        words: &["println!", "eprintln!", "print!", "eprint!", "dbg!"],
        // A build script prints its instructions for cargo.
        permitted: |path| within(path, tables::PRINTS) || path.ends_with("/build.rs") || path == "build.rs",
        tests_may: true,
        proof: false,
        advice: "numbers become text only in `output`: return a value or an event",
    },
    CodeRule {
        rule: "panic",
        words: &[".unwrap()", ".expect(", "panic!", "todo!", "unimplemented!", "unreachable!"],
        permitted: |path| !within(path, &["crates/", "src/"]),
        tests_may: true,
        proof: true,
        advice: "return an error, or prove on the line that it cannot happen: `// proof: ...`",
    },
    CodeRule {
        rule: "unsafe",
        words: &["unsafe"],
        permitted: |path| within(path, tables::UNSAFE) || listed(path, tables::COUNTING_ALLOCATORS),
        tests_may: false,
        proof: false,
        advice: "`unsafe` is allowed in crates/engine/src/sys and crates/quickjs (a test's counting allocator: a row \
                 in xtask's tables)",
    },
    CodeRule {
        rule: "ignored test",
        words: &["#[ignore"],
        permitted: |_| false,
        tests_may: false,
        proof: false,
        advice: "a test that no command runs guards nothing: shorten it, or name `cargo xtask nightly` in the reason",
    },
    CodeRule {
        rule: "sleep",
        words: &["thread::sleep"],
        permitted: |path| {
            !(path.starts_with("tests/") || path.contains("/tests/")) || listed(path, tables::SLEEPERS)
        },
        tests_may: false,
        proof: false,
        advice: "wait for an event with a deadline",
    },
];

/// A rule for the raw text of every file, including comments and strings.
struct TextRule {
    rule: &'static str,
    words: &'static [&'static str],
    advice: &'static str,
}

// Concatenated, so that these rows do not match themselves.
const TEXT: &[TextRule] = &[
    TextRule {
        rule: "machine path",
        words: &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")],
        advice: "a path of one machine: use a path relative to the checkout",
    },
    TextRule {
        rule: "unfinished",
        words: &[
            concat!("FIX", "ME"),
            concat!("XX", "X"),
            concat!("TO", "DO"),
            concat!("HA", "CK"),
            concat!("TB", "D"),
        ],
        advice: "finish it, or open an issue",
    },
];

/// Names without a role: a function must be a verb, a type or a module a noun.
const VAGUE: &[&str] = &[
    // Concatenated for the rule of banned patterns.
    concat!("be", "hind"),
    concat!("be", "side"),
    concat!("a", "new"),
    "told",
    "said",
    "asked",
    "alike",
    "apart",
    "least",
    "most",
    "odd",
    "ran",
    "given",
    "seen",
    "shown",
    "Told",
    "Said",
    "Asked",
    "Wrong",
    "Desk",
    "Helm",
    "Hand",
    "Crowd",
    "Nap",
    "Mood",
    "Pot",
    "Seat",
    "Nature",
    "Trouble",
    "Notebook",
    "Pulse",
];
const DEFINED_BY: &[&str] = &["fn", "struct", "enum", "trait", "mod", "type"];

/// Finds definitions with a vague name.
fn vague_names(file: &File, problems: &mut Vec<Problem>) {
    for keyword in DEFINED_BY {
        for at in source::find_words(&file.code, keyword) {
            let rest = file.code[at + keyword.len()..].trim_start();
            let name: &str =
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if VAGUE.contains(&name) {
                let message = format!("`{keyword} {name}`: types and modules are nouns, functions are verbs");
                let line = source::line_of(&file.code, at);
                problems.push(Problem::new("name", &file.path, line, message));
            }
        }
    }
}

pub fn check(tree: &Tree) -> Vec<Problem> {
    let test_files = modules::test_files(tree);
    let mut problems = Vec::new();
    for file in &tree.files {
        text_rules(file, &mut problems);
        if file.is_rust() {
            let whole = is_test_path(&file.path) || test_files.contains(&file.path);
            code_rules(file, whole, &mut problems);
            forbids_unsafe(file, &mut problems);
            vague_names(file, &mut problems);
        }
    }
    problems
}

fn code_rules(file: &File, whole_file_is_test: bool, problems: &mut Vec<Problem>) {
    let tests = source::test_ranges(&file.code);
    let in_test = |at: usize| whole_file_is_test || tests.iter().any(|range| range.contains(&at));
    for row in CODE.iter().filter(|row| !(row.permitted)(&file.path)) {
        for word in row.words {
            for at in source::find_words(&file.code, word) {
                let line = source::line_of(&file.code, at);
                let excused = (row.tests_may && in_test(at))
                    || (row.proof && has_proof(&file.text, line))
                    || (row.rule == "ignored test" && is_nightly(&file.text, line));
                if !excused {
                    problems.push(Problem::new(
                        row.rule,
                        &file.path,
                        line,
                        format!("`{word}`: {}", row.advice),
                    ));
                }
            }
        }
    }
}

/// Returns whether the reason of an ignored test names the command that runs it.
fn is_nightly(text: &str, line: usize) -> bool {
    text.lines().nth(line - 1).is_some_and(|line| line.contains("`cargo xtask nightly`"))
}

fn has_proof(text: &str, line: usize) -> bool {
    let mark = "// proof: ";
    let at = |number: usize| text.lines().nth(number).unwrap_or_default();
    // `line` counts from 1, `lines()` from 0.
    at(line - 1).contains(mark) || (line >= 2 && at(line - 2).trim_start().starts_with(mark))
}

fn text_rules(file: &File, problems: &mut Vec<Problem>) {
    for row in TEXT {
        for word in row.words {
            for at in source::find_words(&file.text, word) {
                let line = source::line_of(&file.text, at);
                problems.push(Problem::new(row.rule, &file.path, line, format!("`{word}`: {}", row.advice)));
            }
        }
    }
}

/// A crate's root must forbid `unsafe`, so that the compiler finds what this lexer could miss.
fn forbids_unsafe(file: &File, problems: &mut Vec<Problem>) {
    let root = file.path == "src/main.rs" || file.path == "src/lib.rs" || file.path.ends_with("/src/lib.rs");
    let exempt = tables::MAY_BE_UNSAFE.iter().any(|folder| file.path.starts_with(folder));
    if root && !exempt && !file.code.contains("#![forbid(unsafe_code)]") {
        let message = "the crate's root must have `#![forbid(unsafe_code)]`".to_string();
        problems.push(Problem::new("unsafe", &file.path, 0, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rules and lines that a file breaks.
    fn broken(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|p| (p.rule, p.line)).collect()
    }

    #[test]
    fn reading_a_clock_fails_except_in_the_clock_files() {
        let text = "//! x\nfn f() { let t = Instant::now(); }\n";
        assert_eq!(broken("crates/engine/src/turn.rs", text), [("clock", 2)]);
        assert_eq!(broken("src/run.rs", "//! x\nlet t = std::time::SystemTime::now();"), [("clock", 2)]);
        assert_eq!(broken("crates/record/src/env.rs", "//! x\nlibc::clock_gettime(0);"), [("clock", 2)]);
        for home in
            ["crates/engine/src/clock.rs", "src/wall.rs", "tests/truth/main.rs", "testbed/ruler/src/turn.rs"]
        {
            assert_eq!(broken(home, text), [], "{home}");
        }
    }

    #[test]
    fn a_print_outside_output_fails() {
        let text = "//! x\nfn f() { eprintln!(\"x\"); }\n#[cfg(test)]\nmod tests { fn g() { println!(); } }";
        assert_eq!(broken("crates/control/src/run.rs", text), [("print", 2)]);
        assert_eq!(broken("crates/output/src/live.rs", text), []);
        assert_eq!(broken("crates/wire/build.rs", text), []);
    }

    #[test]
    fn a_definition_with_a_vague_name_fails() {
        let text =
            "//! x\nfn told() {}\nstruct Wrong;\nmod odd;\nfn told_apart(seen: u32) { let said = seen; }\n";
        assert_eq!(broken("testbed/lab/src/x.rs", text), [("name", 2), ("name", 3), ("name", 4)]);
    }

    #[test]
    fn a_panic_in_a_crate_fails_without_a_proof_except_in_tests() {
        let text = "//! x\nlet a = b.unwrap();\nlet c = d.expect(\"x\"); // proof: d was checked above\n\
                    // proof: never empty\nlet e = f.unwrap();\npanic!(\"no\");\ny.unwrap_or(3);\n";
        assert_eq!(broken("crates/front/src/yaml.rs", text), [("panic", 2), ("panic", 6)]);
        assert_eq!(broken("crates/front/tests/yaml.rs", text), []);
        assert_eq!(broken("src/commands/run.rs", "//! x\n#[test]\nfn t() { a.unwrap(); }"), []);
    }

    #[test]
    fn a_test_module_in_its_own_file_may_panic() {
        let tree = Tree::of(&[
            ("crates/plan/src/lib.rs", "//! x\n#![forbid(unsafe_code)]\n#[cfg(test)]\nmod tests;\nmod load;"),
            ("crates/plan/src/tests.rs", "//! x\nfn f() { a.unwrap(); }"),
            ("crates/plan/src/load.rs", "//! x\nfn f() { a.unwrap(); }"),
        ])
        .with_package("plimsoll-plan", "crates/plan", &["crates/plan/src/lib.rs"], &[]);
        let paths: Vec<String> = check(&tree).into_iter().map(|p| p.path).collect();
        assert_eq!(paths, ["crates/plan/src/load.rs"]);
    }

    #[test]
    fn unsafe_outside_sys_fails_even_in_tests() {
        let text = "//! x\n#![forbid(unsafe_op_in_unsafe_fn)]\nfn f() { unsafe { g() } }";
        assert_eq!(broken("crates/engine/src/pool.rs", text), [("unsafe", 3)]);
        assert_eq!(broken("crates/engine/tests/pool.rs", text), [("unsafe", 3)]);
        assert_eq!(broken("crates/engine/src/sys/epoll.rs", text), []);
    }

    #[test]
    fn a_crate_root_must_forbid_unsafe() {
        assert_eq!(broken("crates/plan/src/lib.rs", "//! x\n"), [("unsafe", 0)]);
        assert_eq!(broken("src/main.rs", "//! x\n// #![forbid(unsafe_code)]\n"), [("unsafe", 0)]);
        assert_eq!(broken("crates/plan/src/lib.rs", "//! x\n#![forbid(unsafe_code)]\n"), []);
        assert_eq!(broken("crates/engine/src/lib.rs", "//! x\n"), []);
    }

    #[test]
    fn machine_paths_and_marks_of_unfinished_work_fail_in_any_file() {
        let path = format!("see {}someone/x", concat!("/ho", "me/"));
        assert_eq!(broken("README.md", &path), [("machine path", 1)]);
        assert_eq!(broken("deny.toml", &format!("# {}: later", concat!("FIX", "ME"))), [("unfinished", 1)]);
        assert_eq!(
            broken("src/a.rs", &format!("//! {} write this", concat!("TO", "DO"))),
            [("unfinished", 1)]
        );
        assert_eq!(broken("docs/a.md", "mktemp XXXXXX, METHODOLOGY"), []);
    }

    #[test]
    fn skipped_and_sleeping_tests_fail() {
        let text = "//! x\n#[test]\n#[ignore = \"slow\"]\nfn a() { std::thread::sleep(D); }";
        assert_eq!(broken("tests/truth/main.rs", text), [("ignored test", 3), ("sleep", 4)]);
        assert_eq!(broken("crates/control/tests/run.rs", text), [("ignored test", 3), ("sleep", 4)]);
        let nightly = "//! x\n#[test]\n#[ignore = \"an hour: `cargo xtask nightly`\"]\nfn a() {}";
        assert_eq!(broken("tests/truth/main.rs", nightly), []);
    }
}
