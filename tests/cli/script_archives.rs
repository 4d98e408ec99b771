//! Archives that `k6 archive` has made.

use crate::support::{Ruler, Scratch, Tool};

/// Returns a tar file.
fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, content) in files {
        let mut header = [0; 512];
        let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
        put(0, name);
        put(100, "0000644\0");
        put(124, &format!("{:011o}\0", content.len()));
        put(148, "        ");
        put(156, "0ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        all.extend_from_slice(&header);
        all.extend_from_slice(content.as_bytes());
        all.resize(all.len().next_multiple_of(512), 0);
    }
    all.resize(all.len() + 1024, 0);
    all
}

#[test]
fn an_archive_has_the_options_and_the_environment_with_which_it_was_made() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nexport const options = { iterations: 1 };\n\
        export default () => { http.get(`${__ENV.BASE}/${__ENV.WHO}`); };";
    let metadata = serde_json::json!({
        "type": "js", "filename": "file:///x/load.js", "pwd": "file:///x",
        "env": { "BASE": server.url(""), "WHO": "archive" },
        "options": {
            "vus": 2, "iterations": 6, "duration": null, "dns": { "ttl": null, "select": null, "policy": null },
            "scenarios": null, "summaryTrendStats": ["avg"], "systemTags": ["status"],
        },
    });
    let metadata = metadata.to_string();
    let files = [("data", script), ("file/x/load.js", script), ("metadata.json", &metadata)];
    let file = scratch.path("load.tar");
    std::fs::write(&file, tar(&files)).unwrap();
    Tool::run(&["k6", "run", "-q", &file]).expect_code(0);
    assert_eq!(server.requests(), 6);
    Tool::run(&["k6", "run", "-q", "-e", "WHO=command", "-i", "3", &file]).expect_code(0);
    assert_eq!(server.requests(), 9);
    let output = Tool::run(&["k6", "inspect", &file]).expect_code(0);
    let options: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&options["vus"], &options["iterations"]), (&2.into(), &6.into()), "{options}");
    let output = Tool::run(&["run", &file, "--quiet", "--json"]).expect_code(0);
    assert_eq!(output.json()["totals"]["requests"], 6, "{}", output.stdout);
}
