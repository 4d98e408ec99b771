//! Exit codes of command lines of other tools that do not run as meant, as the tools themselves exit.

use crate::support::{Output, Ruler, Scratch, Tool};

/// Nothing listens there: a program must be root to use this port, and none does.
const CLOSED: &str = "http://127.0.0.1:1/";

fn run(line: &str) -> Output {
    Tool::run(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn mistakes_in_a_line_have_the_exit_codes_of_the_tool() {
    for (line, code) in [
        ("wrk", 1),
        ("wrk -Q URL", 1),
        ("wrk -t4 -c1 URL", 1),
        ("ab", 22),
        ("ab -Q URL", 22),
        ("ab -n", 22),
        ("ab -n 2 -c 5 URL", 22),
        ("ab -n 2 URL more", 22),
        ("hey", 1),
        ("hey -Q URL", 2),
        ("hey -n", 2),
        ("oha", 2),
        ("oha --unknown URL", 2),
        ("loadtest", 1),
        ("loadtest --unknown URL", 255),
        ("vegeta", 1),
        ("vegeta fire", 1),
        ("vegeta attack -unknown", 2),
        ("vegeta report -unknown", 2),
        ("vegeta report /nothing/here", 1),
    ] {
        let output = run(&line.replace("URL", CLOSED)).expect_code(code);
        assert!(output.stdout.is_empty() && output.stderr.starts_with("error"), "{line}: {}", output.stderr);
    }
    // Codes of plimsoll, if its verdict is asked for.
    run(&format!("ab -Q --verdict {CLOSED}")).expect_code(2);
}

#[test]
fn wrk_and_ab_end_before_the_load_if_nothing_listens() {
    for (line, code) in [("wrk -d1s", 1), ("ab -n 5", 111)] {
        let output = run(&format!("{line} {CLOSED}")).expect_code(code);
        assert!(output.stdout.is_empty() && output.stderr.contains("nothing listens"), "{}", output.stderr);
        run(&format!("{line} --verdict {CLOSED}")).expect_code(1);
    }
    let output = run("ab -n 5 http://host.invalid/").expect_code(50);
    assert!(output.stderr.contains("cannot resolve host"), "{}", output.stderr);
}

#[test]
fn the_other_tools_print_a_result_of_errors_if_nothing_listens() {
    for (line, expected) in [
        ("hey -n 6 -c 2", "\nError distribution:\n  [6]\t"),
        ("oha --no-tui -n 6 -c 2", "\nError distribution:\n  [6] "),
        ("loadtest -n 6 -c 2 --cores 1", "\n   -1:   6 errors\n"),
    ] {
        let output = run(&format!("{line} {CLOSED}")).expect_code(0);
        assert!(output.stdout.contains(expected), "{line}: {}", output.stdout);
        assert!(output.stderr.starts_with("FAIL: "), "{line}: {}", output.stderr);
        let output = run(&format!("{line} --verdict {CLOSED}")).expect_code(1);
        assert!(output.stdout.is_empty() && output.stderr.contains("nothing listens"), "{}", output.stderr);
    }
}

#[test]
fn vegeta_attacks_an_address_where_nothing_listens() {
    let scratch = Scratch::new();
    let (targets, results) =
        (scratch.file("targets.txt", &format!("GET {CLOSED}\n")), scratch.path("results.bin"));
    run(&format!("vegeta attack -targets {targets} -rate 20 -duration 1s -output {results}")).expect_code(0);
    let text = run(&format!("vegeta report {results}")).expect_code(0).stdout;
    assert!(text.contains("[total, rate, throughput]         20, 21.05, 0.00\n"), "{text}");
    assert!(
        text.contains("\nStatus Codes  [code:count]                      0:20  \nError Set:\n"),
        "{text}"
    );
}

#[test]
fn vegeta_names_statuses_and_itself() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let list = format!("GET {}\nGET {}\n", ruler.url("/?status=404"), ruler.url("/?status=503"));
    let (targets, results) = (scratch.file("targets.txt", &list), scratch.path("results.bin"));
    run(&format!("vegeta -cpus 1 attack -targets {targets} -rate 20 -duration 1s -output {results}"))
        .expect_code(0);
    let text = run(&format!("vegeta report {results}")).expect_code(0).stdout;
    assert!(text.ends_with("\nError Set:\n404 Not Found\n503 Service Unavailable\n"), "{text}");
    assert!(run("vegeta attack -h").expect_code(0).stdout.contains("plimsoll vegeta report"));
    let version = run("vegeta -version").expect_code(0).stdout;
    assert!(version.starts_with("Version: v12.13.0 (plimsoll "), "{version}");
    for action in ["encode", "dump", "plot"] {
        let output = run(&format!("vegeta {action} {results}")).expect_code(2);
        assert!(output.stderr.contains(&format!("`vegeta {action}` is not supported")), "{}", output.stderr);
    }
}
