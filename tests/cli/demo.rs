//! The demo: what a newcomer sees in the first minute.

use crate::support::{Scratch, Tool};

#[test]
fn the_demo_tells_its_story_and_keeps_its_runs() {
    let scratch = Scratch::new();
    let begin = std::time::Instant::now();
    let output = Tool::run(&["demo", "--out", &scratch.path("runs")]).expect_code(0);
    assert!(begin.elapsed().as_secs() < 40, "the demo takes {:?}", begin.elapsed());
    for word in ["closed model", "open model", "above capacity", "Side by side", "response p99"] {
        assert!(output.stdout.to_lowercase().contains(&word.to_lowercase()), "`{word}`:\n{}", output.stdout);
    }
    let runs = std::fs::read_dir(scratch.folder().join("runs")).unwrap().count();
    assert_eq!(runs, 3);
    let words = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in output.stdout.lines().filter_map(|line| line.trim().strip_prefix("plimsoll report ")) {
        let json = Tool::run(&["report", line, "--json"]).json();
        assert!(json["totals"]["requests"].as_u64().unwrap() > 1_000, "{line}");
        if line.contains("demo-closed") {
            what_the_pauses_hid_is_counted(&json, &words);
        }
    }
}

/// The story of the closed load holds the run's own numbers.
fn what_the_pauses_hid_is_counted(json: &serde_json::Value, words: &str) {
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let (before, after) = words.split_once(" responses took longer than 100 ms").unwrap();
    let [all, _, slow] = before.rsplitn(4, ' ').take(3).collect::<Vec<_>>()[..] else { panic!("{before}") };
    let bands = json["buckets"].as_array().unwrap();
    let slower: u64 = bands[1..].iter().map(|band| band["count"].as_u64().unwrap()).sum();
    assert_eq!((number(slow), number(all)), (slower, json["totals"]["requests"].as_u64().unwrap()));
    // Two pauses of 0.4 s in 8 s; the load is quick enough that hundreds are missing in each.
    let missed = number(after.split_once(" about ").unwrap().1.split(' ').next().unwrap());
    assert!(missed > 20 * slower, "{missed} arrivals against {slower} slow answers");
}
