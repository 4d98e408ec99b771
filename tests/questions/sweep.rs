//! Experiments of several runs: the matrix, its order, its folder, and what is said of it.

use crate::support::{Ruler, Scratch, Tool, alongside_first, run_alongside};
use std::path::Path;

fn experiment(ruler: &Ruler, more: &str) -> String {
    format!(
        "name: a matrix\ntarget: {}\nscenarios: {{ s: [ {{ get: / }} ] }}\n{more}\n",
        ruler.url("").trim_end_matches('/')
    )
}

/// Run files in the order in which they were made.
fn run_files(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".plim"))
        .collect();
    names.sort();
    names
}

#[test]
fn every_cell_runs_once_a_round_in_a_drawn_order() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let text =
        experiment(&ruler, "load: { users: [1, 2, 4], duration: 1s }\nkeep_alive: [true, false]\nrepeat: 2");
    let (file, folder) = (scratch.file("m.yaml", &text), scratch.path("out"));
    let said = Tool::run(&["run", &file, "--out", &folder, "--seed", "5", "--json"]).json();
    assert_eq!((said["combinations"].as_u64(), said["runs"].as_u64()), (Some(6), Some(12)), "{said:#}");
    assert_eq!(said["missing_runs"], 0);
    let files = run_files(&folder);
    assert_eq!(files.len(), 12, "{files:?}");
    let cell = |name: &String| name[5..].to_owned();
    let (mut first, mut second): (Vec<_>, Vec<_>) =
        (files[..6].iter().map(cell).collect(), files[6..].iter().map(cell).collect());
    assert_ne!(first, second, "each round has its own order");
    first.sort();
    second.sort();
    assert_eq!(first, second, "each round holds every cell once");
    first.dedup();
    assert_eq!(first.len(), 6);
}

#[test]
fn a_stopped_sweep_runs_only_what_is_missing() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let text = experiment(&ruler, "load: { users: [1, 2, 3, 4], duration: 1s }");
    let (file, folder) = (scratch.file("m.yaml", &text), scratch.path("out"));
    let running = Tool::new(&["run", &file, "--out", &folder]).start();
    ruler.wait_for_requests(900);
    running.signal("INT");
    let stopped = running.wait();
    assert_eq!(stopped.code, 130, "{}{}", stopped.stdout, stopped.stderr);
    let there = run_files(&folder);
    assert!((1..4).contains(&there.len()), "{there:?}");
    let kept: Vec<Vec<u8>> =
        there.iter().map(|f| std::fs::read(Path::new(&folder).join(f)).unwrap()).collect();

    let partial = Tool::run(&["report", &folder, "--json"]).json();
    let reason = &partial["next"]["reasons"][0];
    assert_eq!(reason["kind"], "runs_missing", "{partial:#}");
    assert_eq!(reason["evidence"]["runs"], partial["missing_runs"]);

    let whole = Tool::run(&["run", &file, "--out", &folder, "--json"]);
    assert_eq!(whole.json()["missing_runs"], 0, "{}", whole.stdout);
    for (name, before) in there.iter().zip(kept) {
        assert_eq!(std::fs::read(Path::new(&folder).join(name)).unwrap(), before, "{name} was touched");
    }
}

/// Four users get 2 / 10 ms. With 8 or more, every response takes longer than 15 ms, so 16 and 32 need no further runs.
#[test]
fn a_row_whose_question_is_answered_ends() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--workers", "2", "--service", "10ms", "--queue", "500"]);
        let scratch = Scratch::new();
        let text = experiment(
            &ruler,
            "load: { users: [1, 8, 16, 32], duration: 1s }\nrepeat: 3\nstop_on_miss: true\n\
         thresholds: [ 'response_time p50 < 25ms' ]",
        );
        let (file, folder) = (scratch.file("m.yaml", &text), scratch.path("out"));
        Tool::run(&["run", &file, "--out", &folder, "-q"]);
        let times = |users: &str| {
            run_files(&folder).iter().filter(|f| f.ends_with(&format!("users-{users}.plim"))).count()
        };
        assert_eq!((times("1"), times("8")), (3, 3));
        assert!(times("16") + times("32") <= 2, "{:?}", run_files(&folder));
    });
}

#[test]
fn expectations_are_answered_and_decide_the_exit() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let more = |expect: &str| {
            format!(
                "variants:\n  quick: {{ vars: {{ path: /?delay=4ms }} }}\n  \
                 slow: {{ vars: {{ path: /?delay=12ms }} }}\n\
             vars: {{ path: / }}\nload: {{ users: 4, duration: 1s }}\nrepeat: 3\nexpect: [ '{expect}' ]"
            )
        };
        for (expect, code, verdict) in [
            ("slow raises response_time p50 by 2x", 0, "confirmed"),
            ("slow lowers throughput by 10x", 99, "refuted"),
        ] {
            let text = experiment(&ruler, &more(expect)).replace("get: /", "get: \"${path}\"");
            let file = scratch.file("e.yaml", &text);
            let output = Tool::run(&["run", &file, "--out", &scratch.path(verdict), "--json"]);
            let said = output.json();
            assert_eq!(said["expectations"][0]["verdict"], verdict, "{:#}", said["expectations"]);
            assert_eq!(output.code, code, "{}", said["sentence"]);
        }
    });
}

#[test]
fn mistakes_in_any_cell_come_before_the_first_packet() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let text = experiment(&ruler, "load: { users: [1, 0], duration: 1s }");
    let refused =
        Tool::run(&["run", &scratch.file("m.yaml", &text), "--out", &scratch.path("out")]).expect_code(2);
    assert!(refused.stderr.contains("m.yaml"), "{}", refused.stderr);
    assert_eq!(ruler.requests(), 0);
    assert!(!Path::new(&scratch.path("out")).exists(), "the folder was not removed");
}

/// Each side is searched, a probe of each in turn, and the sentence about their capacities is answered.
#[test]
fn a_search_in_every_variant_answers_a_sentence_about_capacity() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--workers", "4", "--service", "10ms", "--queue", "5000"]);
        let half = Ruler::start(&["--workers", "2", "--service", "10ms", "--queue", "5000"]);
        let scratch = Scratch::new();
        let text = format!(
            "name: half the workers\ntarget: {}\nscenarios: {{ s: [ {{ get: / }} ] }}\n\
         variants:\n  four: {{}}\n  two: {{ target: {} }}\n\
         find: {{ from: 120, step: x1.25, step_duration: 1s, stop_when: offered - achieved > 10% }}\n\
         expect: [ two lowers capacity by 1.5x ]\n",
            ruler.url("").trim_end_matches('/'),
            half.url("").trim_end_matches('/')
        );
        let output =
            Tool::run(&["run", &scratch.file("f.yaml", &text), "--out", &scratch.path("out"), "--json"]);
        let said = output.json();
        let searches = said["searches"].as_array().unwrap();
        assert_eq!(searches.len(), 2);
        let found: Vec<f64> =
            searches.iter().map(|s| s["answer"]["capacity"]["rate_per_s"].as_f64().unwrap()).collect();
        assert!(found[0] > 1.5 * found[1], "{found:?}");
        assert_eq!(said["expectations"][0]["verdict"], "confirmed", "{:#}", said["expectations"]);
        // Interleaved: neither side was finished before the other started.
        let files = run_files(&scratch.path("out"));
        let first_of = |side: &str| files.iter().position(|f| f.contains(side)).unwrap();
        assert!(first_of("four") < 2 && first_of("two") < 2, "{files:?}");
    });
}
