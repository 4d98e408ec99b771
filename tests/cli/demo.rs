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
    for line in output.stdout.lines().filter_map(|line| line.trim().strip_prefix("plimsoll report ")) {
        let json = Tool::run(&["report", line, "--json"]).json();
        assert!(json["totals"]["requests"].as_u64().unwrap() > 1_000, "{line}");
    }
}
