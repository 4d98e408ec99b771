//! `--html` wherever there is a result: one file, never over another one, with the exit code of the verdict and the
//! numbers of the document.

use crate::support::{Output, Ruler, Scratch, Tool, run_alongside};
use std::path::Path;

/// Runs an experiment with this text; the folder of its runs is next to its file.
fn experiment(scratch: &Scratch, ruler: &Ruler, name: &str, text: &str) -> String {
    let head = format!("name: {name}\ntarget: {}\n", ruler.url("").trim_end_matches('/'));
    let (file, folder) = (scratch.file(&format!("{name}.yaml"), &(head + text)), scratch.path(name));
    let run = Tool::run(&["run", &file, "--out", &folder, "--quiet"]);
    assert!([0, 3, 99].contains(&run.code), "{}", run.stderr);
    folder
}

/// Returns the page, which is complete and loads no other resources.
#[track_caller]
fn page(path: &str) -> String {
    let text = std::fs::read_to_string(path).expect("the page was written");
    whole(&text);
    text
}

#[track_caller]
fn whole(text: &str) {
    assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"), "{text:.400}");
    assert!(text.contains("default-src 'none'"), "a policy");
    assert!(text.len() < 600_000, "{} bytes", text.len());
}

/// Checks that no incomplete page is left.
#[track_caller]
fn expect_no_partial_page(scratch: &Scratch) {
    for entry in std::fs::read_dir(scratch.folder()).expect("the scratch folder is readable") {
        let name = entry.expect("it is readable").file_name();
        assert!(!name.to_string_lossy().starts_with('.'), "{name:?} was not removed");
    }
}

fn run(scratch: &Scratch, ruler: &Ruler, name: &str) -> String {
    let file = scratch.path(name);
    let run = Tool::run(&[&ruler.url("/"), "-c", "2", "-d", "1s", "--quiet", "--out", &file]);
    assert!([0, 3].contains(&run.code), "{}", run.stderr);
    file
}

#[test]
fn a_page_is_written_in_addition_to_the_text_with_the_same_exit_code() {
    let _turn = run_alongside();
    let (scratch, ruler) = (Scratch::new(), Ruler::start(&["--delay", "1ms"]));
    let out = scratch.path("own.html");
    let missed = Tool::run(&[
        &ruler.url("/"),
        "-c",
        "2",
        "-d",
        "1s",
        "--threshold",
        "response_time p50 < 1us",
        "--html",
        &out,
        "--out",
        &scratch.path("run.plim"),
    ])
    .expect_code(99);
    assert!(missed.stdout.contains("FAIL") && page(&out).contains("FAIL"));
    let file = scratch.path("run.plim");
    let (plain, again) = (scratch.path("again.html"), Tool::run(&["report", &file]));
    let said = Tool::run(&["report", &file, "--html", &plain]).expect_code(99);
    assert_eq!(said.stdout, again.stdout, "a page in a file changes no word of the text");
    page(&plain);
    expect_no_partial_page(&scratch);
}

#[test]
fn a_page_never_takes_the_place_of_something_else() {
    let _turn = run_alongside();
    let (scratch, ruler) = (Scratch::new(), Ruler::start(&[]));
    let file = run(&scratch, &ruler, "run.plim");
    let taken = scratch.file("taken.html", "mine");
    let before = ruler.requests();
    let commands: [&[&str]; 5] = [
        &["report", &file],
        &["compare", &file, &file],
        &["audit", &taken],
        &["find", &ruler.url("/")],
        &[&ruler.url("/"), "-n", "10"],
    ];
    for command in commands {
        let said = Tool::run(&[command, &["--html", &taken]].concat()).expect_code(2);
        assert!(
            said.stderr.contains("U020") && said.stderr.contains("taken.html"),
            "{command:?}: {}",
            said.stderr
        );
        assert_eq!(said.stdout, "", "{command:?}");
    }
    assert_eq!(ruler.requests(), before, "where a page cannot go is known before any load");
    assert_eq!(std::fs::read_to_string(&taken).expect("it is still there"), "mine");
    let link = scratch.folder().join("link.html");
    std::os::unix::fs::symlink("nowhere", &link).expect("the scratch folder is writable");
    Tool::run(&["report", &file, "--html", &link.display().to_string()]).expect_code(2);
    Tool::run(&["report", &file, "--html", &scratch.path("no/such/folder.html")]).expect_code(1);
    expect_no_partial_page(&scratch);
}

#[test]
fn a_page_on_standard_output_replaces_the_text() {
    let _turn = run_alongside();
    let (scratch, ruler) = (Scratch::new(), Ruler::start(&["--delay", "1ms"]));
    let (a, b) = (run(&scratch, &ruler, "a.plim"), run(&scratch, &ruler, "b.plim"));
    let report = scratch.file("report.md", "| users | rate |\n|---|---|\n| 10 | 100/s |\n");
    let folder = experiment(
        &scratch,
        &ruler,
        "sweep",
        "scenarios: { a: [ get: / ] }\nload: { users: [1, 2], duration: 1s }\n",
    );
    let parts = experiment(
        &scratch,
        &ruler,
        "parts",
        "scenarios: { a: [ get: / ] }\nparts:\n  one: { load: { users: 2, duration: 1s } }\n  \
         two: { load: { users: [1, 2], duration: 1s } }\n",
    );
    let commands: [&[&str]; 5] = [
        &["report", &a],
        &["compare", &a, &b],
        &["audit", &report],
        &["report", &folder],
        &["report", &parts],
    ];
    for command in commands {
        let plain = Tool::run(command);
        let said = Tool::run(&[command, &["--html", "-"]].concat()).expect_code(plain.code);
        whole(&said.stdout);
        let both = Tool::run(&[command, &["--html", "-", "--json"]].concat()).expect_code(2);
        assert!(both.stderr.contains("U038") && both.stdout.is_empty(), "{command:?}: {}", both.stderr);
        let out = scratch.path(&format!("{}.html", scratch_name(command)));
        let beside = Tool::run(&[command, &["--html", &out, "--json"]].concat()).expect_code(plain.code);
        beside.json();
        page(&out);
    }
}

fn scratch_name(command: &[&str]) -> String {
    command.join("-").chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Checks that a page contains these texts in this order.
#[track_caller]
fn in_order(page: &str, texts: &[&str]) {
    let mut from = 0;
    for text in texts {
        let at = page[from..].find(text);
        from += at.unwrap_or_else(|| panic!("`{text}` is missing after byte {from}"));
    }
}

#[test]
fn a_folder_has_a_page_that_leads_with_its_picture_and_links_its_runs() {
    let _turn = run_alongside();
    let (scratch, ruler) = (Scratch::new(), Ruler::start(&["--delay", "1ms"]));
    let text =
        "question: How many?\nscenarios: { a: [ get: / ] }\nload: { users: [1, 2, 4], duration: 1s }\n";
    let folder = experiment(&scratch, &ruler, "sweep", text);
    let out = scratch.path("sweep.html");
    let said = Tool::run(&["report", &folder, "--html", &out]);
    let made = page(&out);
    in_order(
        &made,
        &["<h1>sweep", "How many?", "id=\"capacity\"", "data-chart=\"capacity-users\"", "id=\"table-cells\""],
    );
    let json = Tool::run(&["report", &folder, "--json"]).expect_code(said.code).json();
    let runs = json["runs"].as_u64().expect("a number of runs") as usize;
    // Each run once in the table of the cells and once in that of the runs, from where the page lies.
    assert_eq!(made.matches("href=\"./sweep/0").count(), 2 * runs);
    assert!(!made.contains(&*scratch.folder().to_string_lossy()), "no path of this machine");
    for row in json["study"]["table"].as_array().expect("rows") {
        let raw = row["p99_ns"]["value"].as_f64().expect("a number");
        assert!(made.contains(&format!("data-v=\"{raw}\"")), "{raw}");
    }
}

#[test]
fn variants_are_compared_with_both_distributions() {
    let _turn = run_alongside();
    let (scratch, ruler) = (Scratch::new(), Ruler::start(&["--delay", "1ms"]));
    let text = "scenarios: { a: [ get: \"${path}\" ] }\nload: { users: 2, duration: 1s }\nrepeat: 2\n\
                variants: { quick: { vars: { path: / } }, slow: { vars: { path: /?delay=9ms } } }\n";
    let folder = experiment(&scratch, &ruler, "two", text);
    for (name, command) in [("a.html", "report"), ("b.html", "compare")] {
        let out = scratch.path(name);
        Tool::run(&[command, &folder, "--html", &out]);
        in_order(&page(&out), &["data-chart=\"delta\"", "data-chart=\"spectra\"", "slow: response time"]);
    }
    let pictures = scratch.path("pictures");
    Tool::run(&["report", &folder, "--charts", &pictures]);
    assert!(
        Path::new(&pictures).join("spectra.svg").is_file()
            && Path::new(&pictures).join("delta.svg").is_file()
    );
}

#[test]
fn an_audit_has_a_page_that_leads_with_what_cannot_be_true() {
    let scratch = Scratch::new();
    let table = "| users | rate (req/s) | mean (ms) | max (ms) |\n|---|---|---|---|\n| 10 | 100 | 100 | 310 |\n\
                 | 10 | 90 | 110 | 95 |\n| 20 | 200 | 100 | 330 |\n<script>alert(1)</script>\n";
    let report = scratch.file("report.md", table);
    let out = scratch.path("audit.html");
    let said: Output = Tool::run(&["audit", &report, "--html", &out]).expect_code(99);
    assert!(said.stdout.contains("impossible"), "{}", said.stdout);
    let made = page(&out);
    in_order(&made, &["impossible", "data-chart=\"audit\"", "id=\"wrong\"", "class=\"quote\""]);
    assert!(!made.contains("<script>alert"));
}
