//! The list of runs: what it shows, what people write to it, and what it survives.

use crate::client::Console;
use crate::support::{Ruler, Scratch, Tool, alone};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A short run into a state folder; the folder and the run file.
fn one_run(ruler: &Ruler) -> (Scratch, PathBuf) {
    let state = Scratch::new();
    let runs = state.folder().join("plimsoll/runs");
    std::fs::create_dir_all(&runs).expect("the folder for temporary files is writable");
    let file = runs.join("a.plim");
    let args = [
        &ruler.url("/"),
        "-n",
        "50",
        "-c",
        "2",
        "-q",
        "-o",
        file.to_str().unwrap(),
        "--name",
        "<b>first</b>",
    ];
    let _alone = alone();
    Tool::run(&args).expect_code(0);
    (state, file)
}

#[test]
fn a_run_is_listed_searched_tagged_and_shown() {
    let ruler = Ruler::start(&[]);
    let (state, file) = one_run(&ruler);
    let report = Tool::run(&["report", file.to_str().unwrap(), "--json"]).expect_code(0).json();
    let console = Console::with(state);
    let entries = console.entries();
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    let id = entry["id"].as_str().unwrap();
    assert_eq!(entry["name"], "<b>first</b>");
    assert_eq!(entry["verdict"], report["verdict"]["result"]);
    assert_eq!(entry["sentence"], report["verdict"]["sentence"]);
    assert_eq!(entry["requests"], 50);
    assert_eq!(entry["rate_per_s"], report["achieved"]["rate_per_s"]);
    // 50 samples: the report refuses a p99, and so does the list.
    assert!(report["response_time"]["p99_ns"].is_number(), "{}", report["response_time"]);
    assert_eq!((&entry["p99_ns"], &entry["p99_is_lower_bound"]), (&json!(null), &json!(false)));
    assert_eq!(entry["is_running"], false);

    let reply = console.annotate(id, &json!([" before ", "before", "<i>x</i>"]), "with the old\nversion");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.json()["tags"], json!(["before", "<i>x</i>"]));
    let count =
        |query: &str| console.json(&format!("/api/runs?{query}"))["entries"].as_array().unwrap().len();
    assert_eq!(count("search=OLD%20first"), 1);
    assert_eq!(count("search=old%20second"), 0);
    assert_eq!((count("tag=before"), count("tag=bef")), (1, 0));
    assert!(file.with_file_name("a.plim.annotations.json").is_file());

    let page = console.get(&format!("/runs/{id}"));
    assert_eq!(page.status, 200);
    assert!(page.text().contains("&lt;b&gt;first") && !page.text().contains("<b>first"), "names are texts");
    assert!(page.header("content-security-policy").unwrap().contains("sha256-"), "{}", page.head);
    let download = console.get(&format!("/runs/{id}/file"));
    assert_eq!(download.body, std::fs::read(&file).unwrap());
    let two = console.get(&format!("/compare?a={id}&b={id}"));
    assert_eq!(two.status, 200, "{}", two.text());
    let copy = file.with_file_name("copy.plim");
    std::fs::copy(&file, &copy).unwrap();
    let other = console.entries().into_iter().find(|entry| entry["path"] == copy.to_str().unwrap()).unwrap();
    let two = console.get(&format!("/compare?a={id}&b={}", other["id"].as_str().unwrap())).text();
    let head = two.split("<h1").nth(1).and_then(|rest| rest.split("</h1>").next()).expect("a heading");
    assert!(head.contains("copy.plim") && !head.contains("plimsoll/runs"), "{head}");
}

#[test]
fn reads_annotations_under_their_old_name_until_there_are_new_ones() {
    let ruler = Ruler::start(&[]);
    let (state, file) = one_run(&ruler);
    let old = r#"{"version":1,"tags":["kept"],"note":"from before"}"#;
    std::fs::write(file.with_file_name("a.plim.remarks.json"), old).unwrap();
    let console = Console::with(state);
    let entry = &console.entries()[0];
    assert_eq!((&entry["tags"], &entry["note"]), (&json!(["kept"]), &json!("from before")));
    let id = entry["id"].as_str().expect("an id");
    assert_eq!(console.annotate(id, &json!([]), "").status, 200);
    assert_eq!(console.entries()[0]["note"], "", "an old file does not come back");
    assert!(file.with_file_name("a.plim.annotations.json").is_file());
}

#[test]
fn damaged_files_are_sentences_and_the_index_comes_back() {
    let ruler = Ruler::start(&[]);
    let (state, file) = one_run(&ruler);
    std::fs::write(file.with_file_name("b.plim"), "no run").unwrap();
    std::fs::write(file.with_file_name("a.plim.annotations.json"), "{\"version\": 1, \"tags\": 7}").unwrap();
    let index = state.folder().join("plimsoll/index.json");
    let console = Console::with(state);
    let listing = console.json("/api/runs");
    let whys = listing["unreadable"].to_string();
    assert!(whys.contains("is not a run file") && whys.contains("contains no annotations"), "{whys}");
    let id = listing["entries"][0]["id"].as_str().unwrap().to_owned();
    // A file that is not an annotation file is never overwritten.
    let reply = console.annotate(&id, &json!([]), "");
    assert_eq!(reply.status, 409);
    let (code, _, state) = console.interrupt();
    assert_eq!(code, Some(0));
    let kept = std::fs::read(&index).unwrap();
    for damage in ["", "{\"version\": 99, \"known\": {}}", "\u{0}"] {
        std::fs::write(&index, damage).unwrap();
    }
    std::fs::remove_file(&index).unwrap();
    let console = Console::with(state);
    assert_eq!(console.json("/api/runs"), listing);
    assert_eq!(std::fs::read(&index).unwrap(), kept);
    // Deleted while the console runs.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(console.get(&format!("/runs/{id}")).status, 404);
    assert!(console.entries().is_empty());
}

#[test]
fn the_second_look_at_many_runs_reads_none_of_them() {
    const RUNS: usize = 500;
    let ruler = Ruler::start(&[]);
    let (state, file) = one_run(&ruler);
    for at in 1..RUNS {
        std::fs::copy(&file, file.with_file_name(format!("copy-{at}.plim"))).unwrap();
    }
    let console = Console::with(state);
    let look = || {
        let begin = Instant::now();
        let listing = console.until("/api/runs", |listing| listing["unread_count"] == 0);
        (listing["entries"].as_array().unwrap().len(), begin.elapsed().as_secs_f64())
    };
    let (first, second) = (look(), look());
    assert_eq!((first.0, second.0), (RUNS, RUNS));
    assert!(second.1 < 1.0 && second.1 < first.1 / 2.0, "{} s, then {} s", first.1, second.1);
    assert!(Path::new(&console.state.path("plimsoll/index.json")).is_file());
}

#[test]
fn the_second_of_two_concurrent_writes_gets_the_first_one() {
    let ruler = Ruler::start(&[]);
    let (state, file) = one_run(&ruler);
    let console = Console::with(state);
    let entry = console.entries().remove(0);
    let address = format!("/api/runs/{}/annotations", entry["id"].as_str().expect("an id"));
    let put = |tags: Value, note: &str, version: &Value| {
        let body = json!({ "tags": tags, "note": note, "version": version });
        console.change("PUT", &address, &body)
    };
    // Both writers have the version of the same list.
    let seen = &entry["annotations_version"];
    let first = put(json!(["first"]), "by the first", seen);
    assert_eq!(first.status, 200, "{}", first.text());
    let second = put(json!(["second"]), "by the second", seen);
    assert_eq!(second.status, 409, "{}", second.text());
    let told = second.json();
    let sentence = told["error"].as_str().expect("a sentence");
    assert!(sentence.contains("`first`") && sentence.contains("`by the first`"), "{sentence}");
    let kept = |text: &str| {
        let annotations =
            std::fs::read_to_string(file.with_file_name("a.plim.annotations.json")).expect("a file");
        annotations.contains(text)
    };
    assert!(kept("by the first") && !kept("second"));
    assert_eq!(told["version"], first.json()["annotations_version"]);
    assert_eq!(told["version"], console.entries()[0]["annotations_version"]);
    // With the new version, the second write succeeds.
    assert_eq!(put(json!(["second"]), "by the second", &told["version"]).status, 200);
    assert!(kept("by the second") && !kept("first"));
    // Annotations written outside of the console count, too, and a write without a version is rejected.
    std::fs::write(
        file.with_file_name("a.plim.annotations.json"),
        r#"{"version":1,"tags":[],"note":"by hand"}"#,
    )
    .expect("the folder is writable");
    let late = put(json!([]), "", &told["version"]);
    assert!(late.status == 409 && late.text().contains("by hand"), "{}", late.text());
    let blind = console.change("PUT", &address, &json!({ "tags": [], "note": "" }));
    assert_eq!(blind.status, 400, "{}", blind.text());
}
