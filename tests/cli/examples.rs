//! Every example runs as it stands, but for the port of its target.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn every_example_runs_and_passes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "yaml") {
            continue;
        }
        seen += 1;
        let ruler = Ruler::start(&["--delay", "2ms"]);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("127.0.0.1:8080"), "{}: the target of every example", path.display());
        let scratch = Scratch::new();
        let copy =
            scratch.file("example.yaml", &text.replace("127.0.0.1:8080", &ruler.address().to_string()));
        let json = Tool::run(&["run", &copy, "--json"]).json();
        // A noisy machine may miss a time or make the run doubtful; what was sent and answered must be right.
        assert_eq!(json["totals"]["errors"], 0, "{}", path.display());
        assert!(json["totals"]["requests"].as_u64().unwrap() > 100, "{}", path.display());
    }
    assert_eq!(seen, 4, "the examples that the README of the folder lists");
}
