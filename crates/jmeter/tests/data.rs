//! Data files, counters, random variables, and user parameters.

use crate::simulator::{Folder, Trace, run, run_in, text};
use crate::xml::{controller, element, get, group, plan};

fn csv(file: &str, more: &[(&str, &str, &str)]) -> String {
    let usual = [
        ("s", "filename", file),
        ("s", "fileEncoding", ""),
        ("s", "variableNames", "a,b"),
        ("b", "ignoreFirstLine", "false"),
        ("s", "delimiter", ","),
        ("b", "quotedData", "false"),
        ("b", "recycle", "true"),
        ("b", "stopThread", "false"),
        ("s", "shareMode", "shareMode.all"),
    ];
    let kept = usual.iter().filter(|(_, name, _)| !more.iter().any(|(_, other, _)| other == name));
    let all: Vec<_> = kept.chain(more).copied().collect();
    element("CSVDataSet", "rows", &all, "")
}

fn with_rows(content: &str, threads: u32, loops: u32, more: &[(&str, &str, &str)]) -> Trace {
    let folder = Folder::new(&[("rows.csv", content)]);
    let below = csv("rows.csv", more) + &get("A", "/${a}-${b}", "");
    run_in(&folder, &plan(&[], &group(threads, loops, &below)), &[], |_| text(200, ""))
}

#[test]
fn all_threads_share_the_rows_of_a_file() {
    let mut paths: Vec<String> =
        with_rows("1,x\n2,y\n3,z\n", 3, 1, &[]).paths().iter().map(|p| (*p).to_owned()).collect();
    paths.sort();
    assert_eq!(paths, ["/1-x", "/2-y", "/3-z"]);
    let trace = with_rows("1,x\n2,y\n", 2, 2, &[("s", "shareMode", "shareMode.thread")]);
    assert_eq!(trace.paths().iter().filter(|path| **path == "/1-x").count(), 2);
}

#[test]
fn a_file_begins_again_ends_the_thread_or_says_so() {
    assert_eq!(with_rows("1,x\n", 1, 3, &[]).paths(), ["/1-x"; 3]);
    let ends = [("b", "recycle", "false"), ("b", "stopThread", "true")];
    assert_eq!(with_rows("1,x\n2,y\n", 1, 9, &ends).paths(), ["/1-x", "/2-y"]);
    let trace = with_rows("1,x\n", 1, 2, &[("b", "recycle", "false")]);
    // JMeter fails a URL with such a character, without a request.
    assert_eq!(trace.paths(), ["/1-x"]);
    assert!(trace.lines[1].contains("java.net.URISyntaxException"));
}

#[test]
fn names_can_be_in_the_first_line() {
    let header = [("s", "variableNames", "")];
    assert_eq!(with_rows("b,a\nx,1\n", 1, 2, &header).paths(), ["/1-x"; 2]);
}

#[test]
fn quotes_and_long_delimiters_are_read() {
    let quoted = [("b", "quotedData", "true")];
    assert_eq!(
        with_rows("\"1,2\",\"q\"\"q\"\n", 1, 1, &quoted).lines[0].split(',').nth(3),
        Some("Non HTTP response code: java.net.URISyntaxException")
    );
    assert_eq!(with_rows("1}}x\n", 1, 1, &[("s", "delimiter", "}}")]).paths(), ["/1-x"]);
    assert_eq!(with_rows("1\tx\n", 1, 1, &[("s", "delimiter", "\\t")]).paths(), ["/1-x"]);
}

#[test]
fn rows_are_read_when_their_controller_starts() {
    let folder = Folder::new(&[("rows.csv", "1,x\n2,y\n3,z\n")]);
    let inner = controller(
        "LoopController",
        &[("s", "LoopController.loops", "2")],
        &(csv("rows.csv", &[]) + &get("A", "/${a}", "")),
    );
    let trace = run_in(&folder, &plan(&[], &group(1, 1, &inner)), &[], |_| text(200, ""));
    assert_eq!(trace.paths(), ["/1", "/2"]);
    // Below a sampler, it belongs to the controller around it.
    let below = get("A", "/${a}", &csv("rows.csv", &[])) + &get("B", "/${a}", "");
    let trace = run_in(&folder, &plan(&[], &group(1, 2, &below)), &[], |_| text(200, ""));
    assert_eq!(trace.paths(), ["/1", "/1", "/2", "/2"]);
}

#[test]
fn counters_count_over_all_threads_or_in_each() {
    let counter = |own: &str| {
        let properties = [
            ("s", "CounterConfig.start", "8"),
            ("s", "CounterConfig.end", "10"),
            ("s", "CounterConfig.incr", "1"),
            ("s", "CounterConfig.name", "n"),
            ("s", "CounterConfig.format", "000"),
            ("b", "CounterConfig.per_user", own),
        ];
        element("CounterConfig", "n", &properties, "")
    };
    let all = |own: &str, threads: u32, loops: u32| {
        let trace = run(&plan(&[], &group(threads, loops, &(counter(own) + &get("A", "/${n}", "")))), |_| {
            text(200, "")
        });
        let mut paths: Vec<String> = trace.paths().iter().map(|path| (*path).to_owned()).collect();
        paths.sort();
        paths
    };
    assert_eq!(all("false", 1, 4), ["/008", "/008", "/009", "/010"]);
    assert_eq!(all("false", 2, 1), ["/008", "/009"]);
    assert_eq!(all("true", 2, 1), ["/008", "/008"]);
}

#[test]
fn a_random_variable_is_within_its_range() {
    let properties = [
        ("s", "maximumValue", "5"),
        ("s", "minimumValue", "3"),
        ("s", "outputFormat", "n0"),
        ("b", "perThread", "false"),
        ("s", "randomSeed", ""),
        ("s", "variableName", "r"),
    ];
    let below = element("RandomVariableConfig", "r", &properties, "") + &get("A", "/${r}", "");
    let trace = run(&plan(&[], &group(1, 60, &below)), |_| text(200, ""));
    let mut found = trace.paths();
    found.sort();
    found.dedup();
    assert_eq!(found, ["/n3", "/n4", "/n5"]);
}
