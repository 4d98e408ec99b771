//! Commands about the tool itself, and results in the forms that other programs read.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn completions_name_every_command_and_flag() {
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef plimsoll"), ("fish", "complete -c plimsoll")]
    {
        let output = Tool::run(&["completions", shell]).expect_code(0);
        assert!(output.stdout.contains(sign), "{shell}:\n{}", &output.stdout[..300]);
        for word in ["compare", "completions", "wait-for-ready", "threshold", "prune"] {
            assert!(output.stdout.contains(word), "{shell}: {word}");
        }
        assert!(
            !output.stdout.contains("docs-dump") && !output.stdout.contains(" --with-parent "),
            "{shell}"
        );
    }
}

#[test]
fn the_manual_page_is_roff_and_holds_every_command() {
    let page = Tool::run(&["man"]).expect_code(0).stdout;
    assert!(page.contains(".TH"), "{}", &page[..200]);
    for word in ["PLIMSOLL RUN", "PLIMSOLL COMPARE", "PLIMSOLL RUNS", "PLIMSOLL TEST-SERVER", "Exit codes"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(page.contains("wait\\-for\\-ready"), "flags are missing");
}

#[test]
fn examples_are_listed_and_printed_as_they_are() {
    let list = Tool::run(&["examples"]).expect_code(0).stdout;
    assert!(list.contains("cookies ") && list.contains("data/users.csv"), "{list}");
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data-csv.yaml")).unwrap();
    for name in ["data-csv", "data-csv.yaml", "examples/data-csv.yaml"] {
        let output = Tool::run(&["examples", name]).expect_code(0);
        assert_eq!(output.stdout, text);
        assert!(output.stderr.contains("plimsoll examples data/users.csv"), "{}", output.stderr);
    }
}

#[test]
fn every_failure_class_caution_and_exit_code_is_explained() {
    for name in plimsoll_plan::Fault::ALL.iter().map(|fault| fault.name()) {
        let said = Tool::run(&["explain", name]).expect_code(0).stdout;
        assert!(said.starts_with(name) && said.contains("failure class"), "{said}");
    }
    let both = Tool::run(&["explain", "client_out_of_memory"]).expect_code(0).stdout;
    assert!(both.contains("failure class, client side") && both.contains("tcp_mem"), "{both}");
    for (code, word) in
        [("99", "threshold"), ("3", "inconclusive"), ("late_sends", "delay"), ("f011", "unknown key")]
    {
        let said = Tool::run(&["explain", code]).expect_code(0).stdout.to_lowercase();
        assert!(said.contains(word), "{code}: {said}");
    }
}

#[test]
fn a_run_writes_its_thresholds_as_junit() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.path("result.xml");
    let args =
        [&ruler.url("/"), "-n", "20", "-q", "--junit", &file, "--threshold", "requests >= 1k", "--threshold"];
    Tool::run(&[&args[..], &["error_rate < 1%"]].concat()).expect_code(99);
    let xml = std::fs::read_to_string(&file).unwrap();
    for part in [
        "<testsuites name=\"plimsoll run\" tests=\"3\" failures=\"1\" errors=\"0\">",
        "name=\"requests &gt;= 1k\"><failure type=\"FAIL\" message=\"requests is 20\"/>",
        "name=\"error_rate &lt; 1%\"><system-out>",
    ] {
        assert!(xml.contains(part), "`{part}` is not in:\n{xml}");
    }
    // With too few samples a threshold is an error in CI, neither passed nor failed.
    let open = ["--threshold", "response_time p99 < 1s"];
    Tool::run(&[&[&ruler.url("/"), "-n", "20", "-q", "--junit", &file], &open[..]].concat()).expect_code(3);
    let xml = std::fs::read_to_string(&file).unwrap();
    assert!(xml.contains("name=\"response_time p99 &lt; 1s\"><error type=\"INCONCLUSIVE\""), "{xml}");
    assert!(xml.contains("failures=\"0\" errors=\"2\">"), "{xml}");
    // A run that does not start removes an older result.
    Tool::run(&["http://127.0.0.1:1/", "-n", "1", "--junit", &file]).expect_code(1);
    assert!(!std::path::Path::new(&file).exists());
    // An older result is replaced, anything else is not.
    let yaml = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\nload: {{ users: [1, 2], requests: 20 }}\nscenarios: {{ one: [ {{ get: / }} ] }}\n",
            ruler.url("")
        ),
    );
    let out = scratch.path("runs");
    Tool::run(&["run", &yaml, "--out", &out, "--junit", &file, "-q"]).expect_code(0);
    let xml = std::fs::read_to_string(&file).unwrap();
    assert_eq!(xml.matches("<testsuite name=").count(), 2, "{xml}");
    let taken = Tool::run(&[&ruler.url("/"), "-n", "1", "--junit", &yaml]).expect_code(2);
    assert!(taken.stderr.contains("is not JUnit XML"), "{}", taken.stderr);
}

#[test]
fn a_quiet_report_says_only_what_is_wrong() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let (good, bad) = (scratch.path("good.plim"), scratch.path("bad.plim"));
    Tool::run(&[&ruler.url("/"), "-n", "5", "-q", "--out", &good]).expect_code(0);
    Tool::run(&[&ruler.url("/?status=500"), "-n", "5", "-q", "--out", &bad]).expect_code(99);
    let said = Tool::run(&["report", "-q", &good]).expect_code(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    let said = Tool::run(&["report", &bad, "--quiet"]).expect_code(99);
    assert!(said.stdout.is_empty() && said.stderr.contains("FAIL"), "{}", said.stderr);
}

#[test]
fn a_text_without_results_does_not_pass_the_audit() {
    let scratch = Scratch::new();
    let prose = scratch.file("prose.md", "# Notes\n\nIt felt quick.\n");
    let said = Tool::run(&["audit", &prose]).expect_code(1);
    assert!(said.stderr.contains("found no results in") && said.stdout.is_empty(), "{}", said.stderr);
    assert!(["wrk2", "fortio", "Markdown"].iter().all(|form| said.stderr.contains(form)), "{}", said.stderr);
    // The output of an unknown tool is not a result either.
    let unknown = scratch.file("unknown.txt", "some tool v1\n  total 1000  fast 3ms\n  slow 9ms\n");
    let said = Tool::run(&["audit", &unknown]).expect_code(1);
    assert!(said.stderr.contains("found no results in"), "{}", said.stderr);
    // A sentence that contradicts itself is one.
    let sentence = scratch.file("sentence.md", "Each client sends 100 / 5 = 25 requests.\n");
    let said = Tool::run(&["audit", &sentence]).expect_code(99);
    assert!(said.stdout.starts_with("1 statement is impossible"), "{}", said.stdout);
}

#[test]
fn a_ragged_data_file_is_a_mistake_with_its_line_for_check_and_for_run() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    scratch.file("users.csv", "name,city\nada,london\nbob\n");
    let file = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\ndata: {{ users: {{ file: users.csv }} }}\nload: {{ users: 1, iterations: 2 }}\nscenarios:\n  \
             one:\n    - get: \"/?n=${{users.name}}\"\n",
            ruler.url("")
        ),
    );
    for verb in ["check", "run"] {
        let said = Tool::run(&[verb, &file]).expect_code(2);
        assert!(
            said.stderr.contains("line 3 of `") && said.stderr.contains("users.csv`"),
            "{verb}: {}",
            said.stderr
        );
    }
    assert_eq!(ruler.requests(), 0);
}

#[test]
fn junit_of_variants_says_what_the_exit_code_says() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    for (threshold, code) in [("requests >= 1", 0), ("requests >= 1000", 99)] {
        let text = format!(
            "target: {}\nscenarios: {{ one: [ {{ get: '/?delay=${{wait}}' }} ] }}\nvars: {{ wait: 1ms }}\n\
             variants: {{ quick: , slow: {{ vars: {{ wait: 20ms }} }} }}\n\
             load: {{ users: 2, duration: 1s }}\nthresholds: [ {threshold} ]\n",
            ruler.url("")
        );
        let (out, file) = (scratch.path(&format!("{code}")), scratch.path(&format!("{code}.xml")));
        Tool::run(&["run", &scratch.file("variants.yaml", &text), "--out", &out, "-q"]).expect_code(code);
        // One is much slower: what the experiment was asked is judged all the same, and nothing else.
        Tool::run(&["compare", &out, "--junit", &file]).expect_code(code);
        let xml = std::fs::read_to_string(&file).unwrap();
        let failures = if code == 99 { 1 } else { 0 };
        assert!(xml.contains(&format!("failures=\"{failures}\" errors=\"0\">\n")), "{xml}");
        assert!(xml.contains("<testsuite name=\"experiment\" tests=\"1\""), "{xml}");
        assert!(xml.contains("response_time p50"), "{xml}");
    }
}
