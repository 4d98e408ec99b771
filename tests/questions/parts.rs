//! Several experiments in one file, and runs that several processes share: what lies in the folder, what is said, and
//! how it ends.

use crate::support::{Ruler, Scratch, Tool, run_alongside};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

fn file(ruler: &Ruler, more: &str) -> String {
    format!(
        "name: shop\nquestion: What does it carry?\ntarget: {}\nscenarios: {{ s: [ {{ get: / }} ] }}\n{more}\n",
        ruler.url("").trim_end_matches('/')
    )
}

/// Names in a folder, sorted.
fn names(folder: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

fn exits(document: &Value) -> Vec<(String, u64)> {
    let parts = document["parts"].as_array().unwrap();
    parts
        .iter()
        .map(|part| (part["name"].as_str().unwrap().to_owned(), part["exit_code"].as_u64().unwrap()))
        .collect()
}

const TWO: &str = "\
load: { users: 2, duration: 20s }
time_scale: 0.05
parts:
  late:
    thresholds: [ 'response_time p50 < 1us' ]
  sweep:
    question: Where does it stop?
    load: { users: [1, 2] }
    thresholds: [ 'error_rate < 1%' ]
";

#[test]
fn parts_run_in_order_and_continue_where_they_were_stopped() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let (text, out) = (scratch.file("p.yaml", &file(&ruler, TWO)), scratch.path("out"));
    let only = Tool::run(&["run", &text, "--out", &out, "--part", "sweep", "--json"]);
    assert_eq!(only.json()["parts"].as_array().unwrap().len(), 1, "{}", only.stdout);
    assert_eq!(names(&out), ["02-sweep", "parts.json"], "a part keeps its number");
    let before = names(Path::new(&out).join("02-sweep"));
    assert_eq!(before.iter().filter(|name| name.ends_with(".plim")).count(), 2, "{before:?}");

    let whole = Tool::run(&["run", &text, "--out", &out]);
    assert_eq!(whole.code, 99, "a missed threshold does not stop the next: {}", whole.stderr);
    assert_eq!(names(&out), ["01-late", "02-sweep", "parts.json"]);
    assert_eq!(names(Path::new(&out).join("02-sweep")), before, "existing runs are not repeated");
    let place = |text: &str| whole.stdout.find(text).unwrap_or_else(|| panic!("{text}: {}", whole.stdout));
    let order = [
        "part 1 of 2  late",
        "What does it carry?",
        "part 2 of 2  sweep",
        "Where does it stop?",
        "all parts",
    ];
    let places: Vec<usize> = order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{places:?}: {}", whole.stdout);
    // The load of this part is a single run, and yet an experiment like any other.
    let late = Tool::run(&["report", &format!("{out}/01-late"), "--json"]).json();
    assert_eq!((late["name"].as_str(), late["runs"].as_u64()), (Some("shop / late"), Some(1)));
    assert_eq!(late["question"], "What does it carry?");
}

#[test]
fn a_folder_of_parts_is_reported_as_all_of_them() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let (text, out) = (scratch.file("p.yaml", &file(&ruler, TWO)), scratch.path("out"));
    let ran = Tool::run(&["run", &text, "--out", &out, "--json"]);
    let told = Tool::run(&["report", &out, "--json"]);
    assert_eq!(told.code, ran.code);
    assert_eq!(told.json(), ran.json(), "the report repeats the result");
    assert_eq!(told.json()["name"], "shop");
    let codes = exits(&told.json());
    assert_eq!((codes[0].clone(), codes[1].0.as_str()), (("late".into(), 99), "sweep"));
    let own = Tool::run(&["report", &format!("{out}/02-sweep"), "--json"]).json();
    assert_eq!(told.json()["parts"][1]["report"], own, "as of the part alone");
    let page = Tool::run(&["report", &out, "--markdown"]).stdout;
    for line in ["# late", "# sweep", "> Where does it stop?", "| part | result | sentence |"] {
        assert!(page.lines().any(|one| one == line), "{line}: {page}");
    }
    let refused = Tool::run(&["report", &out, "--csv"]).expect_code(2);
    assert!(refused.stderr.contains("02-sweep"), "{}", refused.stderr);
    for words in [["compare", &out, &out].as_slice(), &["find", &text], &["run", &text, "--single-run"]] {
        let refused = Tool::run(words);
        assert!([1, 2].contains(&refused.code), "{words:?}");
        let mend = ["01-late", "--part NAME"].iter().any(|mend| refused.stderr.contains(mend));
        assert!(mend, "{words:?}: {}", refused.stderr);
    }
}

#[test]
fn a_part_that_cannot_run_is_reported_and_the_others_run() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let scratch = Scratch::new();
    let more = format!(
        "load: {{ users: 1, duration: 1s }}\nparts:\n  gone: {{ target: \"http://{closed}\" }}\n  there:\n"
    );
    let (text, out) = (scratch.file("p.yaml", &file(&ruler, &more)), scratch.path("out"));
    let ran = Tool::run(&["run", &text, "--out", &out, "--json"]).expect_code(1);
    let told = exits(&ran.json());
    assert_eq!(told[0], ("gone".into(), 1));
    assert!([0, 3].contains(&told[1].1) && told[1].0 == "there", "{told:?}");
    assert!(ran.json()["parts"][0]["sentence"].as_str().unwrap().contains("nothing listens"));
    assert!(ruler.requests() > 10);
}

#[test]
fn mistakes_in_any_part_come_before_the_first_packet() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let more = "load: { users: 1, duration: 1s }\nparts: { one: , two: { load: { users: 0 } }, three: { warmup: 2s } }";
    let text = scratch.file("p.yaml", &file(&ruler, more));
    for words in [["run", &text, "--out", &scratch.path("out")].as_slice(), &["check", &text]] {
        let refused = Tool::run(words).expect_code(2);
        let codes: Vec<&str> = ["P006", "P010"].into_iter().filter(|c| refused.stderr.contains(c)).collect();
        assert_eq!(codes, ["P006", "P010"], "{}", refused.stderr);
    }
    assert_eq!(ruler.requests(), 0);
    assert!(!Path::new(&scratch.path("out")).exists(), "the folder was not removed");
}

#[test]
fn a_part_is_checked_and_shown_by_its_name() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let text = scratch.file("p.yaml", &file(&ruler, TWO));
    let said = Tool::run(&["check", &text]).expect_code(0).stdout;
    assert!(said.contains("2 parts\n  late: 1 request\n  sweep: 1 request, 2 cells, 2 runs\n"), "{said}");
    let shown = Tool::run(&["check", &text, "--show", "--part", "sweep"]).expect_code(0).stdout;
    for line in ["part sweep", "question     Where does it stop?", "  ends         after 1s"] {
        assert!(shown.lines().any(|one| one == line), "{line}: {shown}");
    }
    assert!(shown.contains("scale        0.05") && !shown.contains("late"), "{shown}");
}

/// The counts of both generators add up to the requests that the server received.
#[test]
fn generators_share_each_run_and_are_counted_together() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let scratch = Scratch::new();
    let more =
        "generators: 2\nload: { users: [3, 6], duration: 1s }\nmonitors: [ { host: true } ]\nrepeat: 2";
    let (text, out) = (scratch.file("g.yaml", &file(&ruler, more)), scratch.path("out"));
    let words = ["run", &text, "--out", &out, "--json", "--seed", "7", "-H", "X-Own: 1"];
    let ran = Tool::run(&words);
    assert_eq!(
        (ran.json()["runs"].as_u64(), ran.json()["missing_runs"].as_u64()),
        (Some(4), Some(0)),
        "{}",
        ran.stderr
    );
    let files = names(&out);
    assert_eq!(files.len(), 5, "four runs and the index, and nothing of the generators: {files:?}");
    assert!(ruler.last_request().contains("X-Own: 1"), "flags reach the generators");
    let mut counted = 0;
    for name in files.iter().filter(|name| name.ends_with(".plim")) {
        let run = Tool::run(&["report", &format!("{out}/{name}"), "--json"]).json();
        assert_eq!(run["generators"].as_array().map(Vec::len), Some(2), "{name}");
        let users: u64 = if name.contains("users-6") { 6 } else { 3 };
        assert_eq!(run["plan"]["connections"].as_u64(), Some(users), "{name}");
        counted += run["totals"]["requests"].as_u64().unwrap();
        // One looks at the system, whichever comes first in the file.
        assert!(run["plan"]["monitors"].as_array().is_none_or(|all| all.len() == 1), "{name}");
    }
    // The server also counts requests in flight at the end of a run, at most one per user.
    let received = ruler.requests();
    assert!(received >= counted && received <= counted + 18, "{received} received, {counted} counted");
    // The same command has nothing left to do, and another number of generators is another experiment.
    assert_eq!(Tool::run(&words).json()["runs"], 4);
    assert_eq!(ruler.requests(), received);
    let three = scratch.file("g.yaml", &file(&ruler, &more.replace("generators: 2", "generators: 3")));
    let refused = Tool::run(&[&["run", &three], &words[2..]].concat()).expect_code(2);
    assert!(refused.stderr.contains("the generators differ"), "{}", refused.stderr);
}

#[test]
fn generators_that_cannot_share_are_refused_before_the_first_packet() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    for (more, flags, code) in [
        ("generators: 4\nload: { users: 3, duration: 1s }", &[][..], "P019"),
        ("generators: 2\nload: { users: 3, duration: 1s }", &["--shard", "1/2"], "U037"),
        ("generators: 2\nshard: 1/2\nload: { users: 3, duration: 1s }", &[], "U037"),
    ] {
        let text = scratch.file("g.yaml", &file(&ruler, more));
        let refused = Tool::run(&[&["run", &text], flags].concat()).expect_code(2);
        assert!(refused.stderr.contains(code), "{more}: {}", refused.stderr);
    }
    assert_eq!(ruler.requests(), 0);
}

/// What one generator alone could not know: each of them sends a half.
#[test]
fn generators_are_judged_and_stopped_together() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "20ms"]);
    let scratch = Scratch::new();
    let run = |wanted: &str| {
        let more = format!(
            "generators: 2\nthresholds: [ {{ threshold: 'throughput > {wanted}', abort_after: 1s }} ]\n\
             load: {{ rate: 40/s, duration: 4s }}"
        );
        let text = scratch.file("g.yaml", &file(&ruler, &more));
        Tool::run(&["run", &text, "--out", &scratch.path(&wanted.replace('/', "-")), "--json"])
    };
    let sent = |of: u64| ruler.requests() - of;
    run("30/s").expect_code(0);
    let all = sent(0);
    run("50/s").expect_code(99);
    assert!(all == 160 && sent(all) < 120, "{all}, {}", sent(all));
}

#[test]
fn a_search_varies_the_load_of_its_generators() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let scratch = Scratch::new();
    let more = "generators: 2\nthresholds: [ p99 < 10s ]\n\
                find: { vary: users, from: 2, to: 4, step_duration: 1s, confirm: 1 }";
    let (text, out) = (scratch.file("g.yaml", &file(&ruler, more)), scratch.path("out"));
    let found = Tool::run(&["run", &text, "--out", &out, "--json"]);
    let runs: Vec<String> = names(&out).into_iter().filter(|name| name.ends_with(".plim")).collect();
    assert!(runs.len() > 1, "{}", found.stderr);
    for name in runs {
        let run = Tool::run(&["report", &format!("{out}/{name}"), "--json"]).json();
        assert_eq!(run["generators"].as_array().map(Vec::len), Some(2), "{name}");
    }
}

#[test]
fn a_generator_that_fails_is_the_failure_of_the_run() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let scratch = Scratch::new();
    let text = format!(
        "target: http://{closed}\nscenarios: {{ s: [ {{ get: / }} ] }}\n\
         generators: 2\nload: {{ users: 4, duration: 1s }}\n"
    );
    let (text, out) = (scratch.file("g.yaml", &text), scratch.path("out"));
    let failed = Tool::run(&["run", &text, "--out", &out]).expect_code(1);
    assert!(
        failed.stderr.contains("agent `local-") && failed.stderr.contains("nothing listens"),
        "{}",
        failed.stderr
    );
    assert_eq!(names(&out), ["experiment.json"], "nothing of it is kept");
}

#[test]
fn an_interrupt_reaches_the_generators() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let more = "generators: 2\nload: { users: 4, duration: 60s }";
    let (text, out) = (scratch.file("g.yaml", &file(&ruler, more)), scratch.path("out"));
    let running = Tool::new(&["run", &text, "--out", &out]).start();
    ruler.wait_for_requests(300);
    running.signal("INT");
    let asked = Instant::now();
    let stopped = running.wait();
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_ne!(stopped.code, 0, "{}", stopped.stdout);
    let left: Vec<String> = names(&out).into_iter().filter(|name| name.ends_with(".agents")).collect();
    assert!(left.is_empty(), "{left:?}");
    let then = ruler.requests();
    assert_eq!(ruler.requests(), then, "a generator is still sending");
}

/// A run of a single cell has a bare number for a name, and the next one must not take it again.
#[test]
fn a_single_run_that_was_stopped_is_repeated_in_a_second_file() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let more = "parts: { one: { load: { users: 2, duration: 2s }, min_duration: 2s } }";
    let (text, out) = (scratch.file("p.yaml", &file(&ruler, more)), scratch.path("out"));
    let running = Tool::new(&["run", &text, "--out", &out]).start();
    ruler.wait_for_requests(20);
    running.signal("INT");
    let stopped = running.wait();
    assert_ne!(stopped.code, 0, "{}", stopped.stdout);
    assert!(
        stopped.stderr.contains(&format!("rerun the same command with `--out {out}`")),
        "{}",
        stopped.stderr
    );
    let again = Tool::run(&["run", &text, "--out", &out]).expect_code(0);
    assert!(again.stdout.contains("MEASURED"), "{}", again.stdout);
    let runs = names(Path::new(&out).join("01-one"));
    assert_eq!(runs.iter().filter(|name| name.ends_with(".plim")).count(), 2, "{runs:?}");
}

/// A generator without its parent would send load without control.
#[test]
fn generators_end_with_their_parent() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let more = "generators: 2\nload: { users: 4, duration: 60s }";
    let (text, out) = (scratch.file("g.yaml", &file(&ruler, more)), scratch.path("out"));
    let running = Tool::new(&["run", &text, "--out", &out]).start();
    ruler.wait_for_requests(20);
    running.signal("KILL");
    running.wait();
    // They end with a report each, which takes a moment; a minute of load would take a minute.
    let asked = Instant::now();
    let mut last = ruler.requests();
    loop {
        std::thread::yield_now();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(300) {
            std::hint::spin_loop();
        }
        let now = ruler.requests();
        if now == last {
            break;
        }
        last = now;
        assert!(asked.elapsed() < Duration::from_secs(10), "they still load");
    }
}
