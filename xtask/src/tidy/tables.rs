//! Exceptions of the rules, as data. An exception is one row with its reason. A row whose file does not exist is a
//! problem, so that the tables stay current.

use super::{Problem, tree::Tree};

/// Import direction: a crate (by its folder below `crates/`), and the crates that it may import. Strictly downward; two
/// crates on one level never import each other. The binary may import all crates and is not listed.
pub const LEVELS: &[(&str, &[&str])] = &[
    ("plan", &[]),
    ("stats", &[]),
    ("wire", &[]),
    ("ui", &[]),
    ("foreign", &[]),
    ("audit", &["foreign"]),
    ("quickjs", &[]),
    ("build", &["plan"]),
    ("bundle", &["plan"]),
    ("chart", &["plan"]),
    ("pace", &["plan", "stats"]),
    ("body", &["plan", "stats"]),
    ("script", &["body", "plan", "stats", "wire"]),
    ("record", &["plan", "stats"]),
    ("engine", &["pace", "plan", "stats", "wire"]),
    ("lua", &["plan"]),
    ("front", &["build", "plan"]),
    ("jmeter", &["body", "jmx", "plan", "script", "stats", "wire"]),
    ("jmx", &["build", "plan"]),
    ("k6", &["build", "plan"]),
    ("lines", &["build", "plan"]),
    ("findings", &["record", "plan"]),
    ("js", &["body", "bundle", "k6", "quickjs", "script", "wire", "plan"]),
    ("analysis", &["findings", "record", "stats", "plan"]),
    ("experiment", &["analysis", "record", "stats", "plan"]),
    // In `testbed/`, for tests.
    ("testkit", &["record", "stats", "plan"]),
    ("control", &["engine", "wire", "analysis", "record", "stats", "plan"]),
    ("cluster", &["control", "record", "stats", "plan"]),
    ("document", &["analysis", "chart", "plan", "ui"]),
    ("output", &["document", "experiment", "analysis", "audit", "chart", "record", "stats", "plan"]),
    ("k6end", &["output", "k6", "analysis", "record", "stats", "plan"]),
    ("toolend", &["lines", "record", "stats", "plan"]),
    ("template", &["output", "analysis", "plan"]),
    ("console", &["control", "output", "chart", "experiment", "analysis", "record", "stats", "plan", "ui"]),
];

/// Additional imports of a crate's tests: the crate, the imported crate, and the reason.
pub const TEST_IMPORTS: &[(&str, &str, &str)] =
    &[("audit", "stats", "random numbers"), ("front", "lines", "mutations of all texts in one test")];

/// Places that may read a clock. A path that ends with `/` includes everything below it.
pub const CLOCKS: &[&str] = &["crates/engine/src/clock.rs", "src/wall.rs", "bench/", "testbed/", "xtask/"];

/// Places that may read the time directly from the kernel.
pub const KERNEL_CLOCKS: &[&str] = &[
    "crates/engine/src/clock.rs",
    "crates/engine/src/sys/",
    // A loop without end takes no argument.
    "crates/quickjs/src/call.rs",
    "bench/",
    "testbed/",
    "xtask/",
];

/// Places that may print.
pub const PRINTS: &[&str] = &["crates/output/", "src/", "bench/", "xtask/", "testbed/"];

/// The places for `unsafe`: the kernel, and the JavaScript machine.
pub const UNSAFE: &[&str] = &["crates/engine/src/sys/", "crates/engine/src/sys.rs", "crates/quickjs/"];

/// Crates whose root need not forbid `unsafe`.
pub const MAY_BE_UNSAFE: &[&str] = &["crates/engine/", "crates/quickjs/"];

/// Test files with a counting allocator: implementing `GlobalAlloc` is unsafe by definition.
pub const COUNTING_ALLOCATORS: &[(&str, &str)] = &[
    ("crates/engine/tests/link_memory.rs", "the memory of an idle TLS link"),
    ("crates/engine/tests/allocation.rs", "a request over a worker allocates nothing in the steady state"),
    ("crates/engine/tests/http2_cost.rs", "a request over HTTP/2 allocates nothing in the steady state"),
    ("crates/script/tests/value_allocation.rs", "filling a template and reading a row allocates nothing"),
    ("crates/script/tests/answer_allocation.rs", "checking a response allocates nothing in the steady state"),
    ("crates/script/tests/program_memory.rs", "an iteration allocates nothing, and a waiting user is small"),
    ("crates/stats/tests/allocation.rs", "recording allocates nothing"),
    ("crates/wire/tests/allocations.rs", "a request in the steady state allocates nothing"),
];

/// Files with more than `shape::LONG` lines that are not empty.
pub const LONG_FILES: &[(&str, &str)] = &[
    ("crates/analysis/tests/analysis/cautions.rs", "one table: a case for and against each caution"),
    ("crates/findings/src/caution/sentences.rs", "one table: the sentences of each caution"),
    ("crates/front/src/explain.rs", "one table: what each code of a mistake means"),
    ("crates/front/src/own/key/table.rs", "one table: the keys of experiment files"),
    ("crates/front/tests/script.rs", "one list: what each key of a scenario means"),
];

/// Tests that sleep, and why they cannot wait for an event instead.
pub const SLEEPERS: &[(&str, &str)] = &[
    ("tests/truth/sleeper.rs", "it measures how late a sleeping thread wakes"),
    ("tests/scenarios/names.rs", "its name server delays answers; the test itself waits for events"),
];

/// Returns whether the path is in a list of files and folders.
pub fn within(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| if place.ends_with('/') { path.starts_with(place) } else { path == *place })
}

pub fn listed(path: &str, table: &[(&str, &str)]) -> bool {
    table.iter().any(|row| row.0 == path)
}

/// Returns whether a file is part of a test, an example, or a benchmark.
pub fn is_test_path(path: &str) -> bool {
    let folder = |name: &str| path.starts_with(&format!("{name}/")) || path.contains(&format!("/{name}/"));
    folder("tests") || folder("benches") || folder("examples")
}

pub fn check(tree: &Tree) -> Vec<Problem> {
    let rows = [COUNTING_ALLOCATORS, LONG_FILES, SLEEPERS].concat();
    stale(&rows, tree)
}

fn stale(rows: &[(&str, &str)], tree: &Tree) -> Vec<Problem> {
    let gone = rows.iter().filter(|row| tree.file(row.0).is_none());
    gone.map(|row| Problem::new("tables", row.0, 0, "is listed in xtask's tables but does not exist".into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_a_missing_file_is_a_problem() {
        let tree = Tree::of(&[("src/main.rs", "//! x")]);
        assert_eq!(stale(&[("src/main.rs", "why"), ("src/gone.rs", "why")], &tree).len(), 1);
    }

    #[test]
    fn folders_end_with_a_slash_and_files_do_not() {
        assert!(within("src/flags.rs", &["src/"]) && !within("crates/plan/src/lib.rs", &["src/"]));
        assert!(within("src/wall.rs", &["src/wall.rs"]) && !within("src/wall.rs.bak", &["src/wall.rs"]));
    }
}
