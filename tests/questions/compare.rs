//! `plimsoll compare`: two sides, baselines, gates, and the documents for a pull request.

use crate::support::{Ruler, Scratch, Tool, alone, alongside_first, run_alongside};

/// Repeats of one load, in a folder, through a sweep without axes.
fn repeats(ruler: &Ruler, scratch: &Scratch, name: &str, path: &str, repeat: u32) -> String {
    let text = format!(
        "name: {name}\ntarget: {}\nscenarios: {{ s: [ {{ get: \"{path}\", name: page }} ] }}\n\
         load: {{ users: 4, duration: 1s }}\nrepeat: {repeat}\n",
        ruler.url("").trim_end_matches('/')
    );
    let (file, folder) = (scratch.file(&format!("{name}.yaml"), &text), scratch.path(name));
    Tool::run(&["run", &file, "--out", &folder, "-q"]);
    folder
}

#[test]
fn a_slower_side_is_called_slower_and_misses_its_gate() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let quick = repeats(&ruler, &scratch, "quick", "/?delay=5ms", 4);
        let slow = repeats(&ruler, &scratch, "slow", "/?delay=8ms", 4);
        let junit = scratch.path("junit.xml");
        let output = Tool::run(&["compare", &quick, &slow, "--json", "--junit", &junit]).expect_code(99);
        let said = output.json();
        let one = &said["comparisons"][0];
        assert_eq!(one["verdict"], "slower", "{}", one["sentence"]);
        let p50 =
            one["figures"].as_array().unwrap().iter().find(|f| f["figure"] == "response_time p50").unwrap();
        let (low, high) = (p50["low"].as_f64().unwrap(), p50["high"].as_f64().unwrap());
        assert!(low < 0.6 && 0.5 < high, "60% slower, seen between {low} and {high}");
        let xml = std::fs::read_to_string(&junit).unwrap();
        assert!(xml.starts_with("<?xml") && xml.contains("<failure"), "{xml}");

        // A few seconds on a shared machine cannot decide about a p99, so the gate names p50.
        let back = Tool::run(&["compare", &slow, &quick, "--gate", "response_time p50 < +5%"]).expect_code(0);
        assert!(back.stdout.contains("is faster than"), "{}", back.stdout);
        for form in ["--markdown", "--github"] {
            assert!(Tool::run(&["compare", &quick, &slow, form]).stdout.contains("| "), "{form}");
        }
        // Custom gates: a change within the allowed limit passes, a larger one fails.
        Tool::run(&["compare", &quick, &slow, "--gate", "response_time p50 < +90%"]).expect_code(0);
        Tool::run(&["compare", &quick, &slow, "--gate", "response_time p50 < +20%"]).expect_code(99);
    });
}

#[test]
fn one_run_a_side_does_not_pretend_to_know_other_runs() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "5ms"]);
        let scratch = Scratch::new();
        let (a, b) = (scratch.path("a.plim"), scratch.path("b.plim"));
        for path in [&a, &b] {
            Tool::run(&[&ruler.url("/"), "-c", "4", "-d", "2s", "-q", "--out", path]);
        }
        let said = Tool::run(&["compare", &a, &b, "--json"]).json();
        let one = &said["comparisons"][0];
        let doubts: Vec<&str> =
            one["doubts"].as_array().unwrap().iter().filter_map(|d| d["code"].as_str()).collect();
        assert!(doubts.contains(&"one_run"), "{doubts:?}");
        assert!(!["faster", "slower"].contains(&one["verdict"].as_str().unwrap()), "{}", one["sentence"]);
    });
}

#[test]
fn a_baseline_is_saved_by_name_and_compared_with_later_runs() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let before = repeats(&ruler, &scratch, "before", "/?delay=5ms", 3);
        let after = repeats(&ruler, &scratch, "after", "/?delay=9ms", 3);
        let baselines = scratch.path("baselines");
        Tool::run(&["compare", &before, "--save", "main", "--baseline-dir", &baselines]).expect_code(0);
        // The runs may go: the baseline has its own.
        std::fs::remove_dir_all(&before).unwrap();
        let said =
            Tool::run(&["compare", &after, "--baseline", "main", "--baseline-dir", &baselines, "--json"]);
        let said = said.expect_code(99).json();
        assert_eq!(said["comparisons"][0]["verdict"], "slower", "{}", said["comparisons"][0]["sentence"]);
        // It is never overwritten, and a missing baseline is an error.
        let again =
            Tool::run(&["compare", &after, "--save", "main", "--baseline-dir", &baselines]).expect_code(2);
        assert!(again.stderr.contains("main.json"), "{}", again.stderr);
        assert!(again.stderr.contains("--save") && !again.stderr.contains("--out"), "{}", again.stderr);
        let none = Tool::run(&["compare", &after, "--baseline", "release", "--baseline-dir", &baselines])
            .expect_code(1);
        assert!(none.stderr.contains("--save release"), "{}", none.stderr);
    });
}

#[test]
fn runs_with_errors_become_no_baseline() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--error_rate", "0.2"]);
    let scratch = Scratch::new();
    let run = scratch.path("bad.plim");
    Tool::run(&[&ruler.url("/"), "-c", "4", "-d", "1s", "-q", "--out", &run]);
    let refused =
        Tool::run(&["compare", &run, "--save", "main", "--baseline-dir", &scratch.path("b")]).expect_code(2);
    assert!(refused.stderr.contains("failed"), "{}", refused.stderr);
    assert!(!std::path::Path::new(&scratch.path("b")).exists());
}

#[test]
fn an_invalid_comparison_is_rejected_with_a_valid_form() {
    for args in [&["compare"][..], &["compare", "a.plim"], &["compare", "a", "b", "c"]] {
        let refused = Tool::run(args).expect_code(2);
        assert!(
            refused.stderr.contains("U031") && refused.stderr.contains("--baseline"),
            "{}",
            refused.stderr
        );
    }
    let wrong =
        Tool::run(&["compare", "a", "b", "--gate", "p99 <", "--min-difference", "x", "--percentiles", "q9"]);
    let said = wrong.expect_code(2).stderr;
    for part in ["--gate", "--min-difference", "`q9`"] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}

/// Two names for the same service, interleaved: the comparison may only rarely report a difference.
#[test]
#[ignore = "twenty comparisons of half a minute: `cargo xtask nightly`"]
fn a_service_is_hardly_ever_told_from_itself() {
    let _alone = alone();
    let ruler = Ruler::start(&["--workers", "4", "--service", "exponential:4ms", "--queue", "5000"]);
    let mut told_apart = Vec::new();
    for trial in 0..20 {
        let scratch = Scratch::new();
        let text = format!(
            "name: twins\ntarget: {}\nscenarios: {{ s: [ {{ get: / }} ] }}\nvariants: {{ a: {{}}, b: {{}} }}\n\
             load: {{ rate: 500/s, arrivals: poisson, duration: 3s }}\nrepeat: 4\n",
            ruler.url("").trim_end_matches('/')
        );
        let args = ["run", &scratch.file("t.yaml", &text), "--out", &scratch.path("out"), "--json"];
        let said = Tool::run(&args).json();
        let verdict = said["comparisons"][0]["verdict"].as_str().unwrap().to_owned();
        if !["inconclusive", "equivalent"].contains(&verdict.as_str()) {
            told_apart.push((trial, said["comparisons"][0]["sentence"].to_string()));
        }
    }
    assert!(told_apart.len() <= 3, "{told_apart:?}");
}

/// A sweep with variants and without a gate: `run` and `compare` exit with the same code, levels are in ascending
/// order, and no gate is mentioned.
#[test]
fn a_sweep_without_a_gate_ends_as_its_run_did() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let text = format!(
            "name: sweep\ntarget: {0}\nscenarios: {{ s: [ {{ get: /, name: page }} ] }}\n\
             load: {{ users: [8, 4, 1], duration: 1s }}\nvariants:\n  before: {{ target: \"{0}\" }}\n  \
             after: {{ target: \"{0}\" }}\n",
            ruler.url("").trim_end_matches('/')
        );
        let (file, folder) = (scratch.file("sweep.yaml", &text), scratch.path("sweep"));
        let ran = Tool::run(&["run", &file, "--out", &folder]);
        let compared = Tool::run(&["compare", &folder]);
        assert_eq!(ran.code, compared.code, "{}\n{}", ran.stdout, compared.stdout);
        for said in [&ran.stdout, &compared.stdout] {
            assert!(!said.contains("gate"), "{said}");
        }
        let said = Tool::run(&["compare", &folder, "--json"]).json();
        let cells = said["comparisons"].as_array().unwrap().iter();
        let users: Vec<&str> = cells.map(|one| one["settings"][0]["value"].as_str().unwrap()).collect();
        assert_eq!(users, ["1", "4", "8"]);
    });
}
