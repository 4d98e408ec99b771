//! Loads that are started, watched and steered in a browser.

use crate::client::Console;
use crate::support::{Ruler, Scratch, Tool, alone};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn form(ruler: &Ruler, seconds: u32) -> Value {
    json!({ "kind": "form", "url": ruler.url("/"), "load": "clients_per_second", "clients": 50, "duration_s": seconds,
            "threshold": "p99 < 5s", "name": "by form" })
}

fn started(console: &Console, order: &Value) -> String {
    let reply = console.change("POST", "/api/start", order);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["job"].as_str().expect("an id").to_owned()
}

fn job(console: &Console, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let own = |all: &Value| all["jobs"].as_array().unwrap().iter().find(|job| job["id"] == id).cloned();
    let all = console.until("/api/jobs", |all| own(all).is_some_and(|job| is_so(&job)));
    own(&all).expect("it was there")
}

fn is_over(job: &Value) -> bool {
    job["state"] == "ended" || job["state"] == "failed"
}

#[test]
fn two_watchers_see_the_same_and_what_the_report_says() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let id = started(&console, &form(&ruler, 4));
    let refused = console.change("POST", "/api/start", &form(&ruler, 1));
    assert_eq!(refused.status, 409);
    assert!(!refused.text().contains("true"), "words for people: {}", refused.text());
    let watchers = [console.watch(&id), console.watch(&id)];
    let seen = watchers.map(|watcher| std::thread::spawn(move || watcher.all()));
    let seen = seen.map(|thread| thread.join().expect("the watcher has seen the end"));
    let ended = job(&console, &id, is_over);
    assert_eq!(ended["state"], "ended", "{ended}");
    let run = ended["run"].as_str().expect("there is a run");
    assert_eq!(seen[0].last().unwrap().1["run"], run);

    let entry = console.entries().into_iter().find(|entry| entry["id"] == run).expect("it is listed");
    assert_eq!(entry["name"], "by form");
    let report = Tool::run(&["report", entry["path"].as_str().unwrap(), "--json"]).json();
    let rows = |events: &[(String, Value)]| -> Vec<Value> {
        let rows = events.iter().filter(|(name, _)| name == "row").map(|(_, row)| row.clone());
        let mut rows: Vec<Value> = rows.collect();
        rows.dedup();
        rows
    };
    assert!(rows(&seen[0]).len() >= 3, "{:?}", seen[0]);
    for row in rows(&seen[0]) {
        let x = row["x"].as_f64().unwrap();
        let second = report["timeline"].as_array().unwrap().iter().find(|second| {
            let from_s = second["from_s"].as_f64().unwrap();
            (from_s..from_s + second["length_s"].as_f64().unwrap()).contains(&x)
        });
        let second = second.expect("the report has the second");
        let timeline = &row["values"]["timeline"];
        assert_eq!(timeline["achieved"], second["achieved_rate_per_s"]);
        // A second with too few samples for it has none on the page; the report's JSON has the value and a mark.
        match timeline["p99"].as_f64() {
            Some(p99) => assert_eq!(Some(p99), second["p99_ns"].as_f64()),
            None => assert!(
                second["few_samples"].to_string().contains("p99") || second["p99_ns"].is_null(),
                "{second}"
            ),
        }
    }
    let last = |events: &[(String, Value)]| rows(events).last().cloned();
    assert_eq!(last(&seen[0]), last(&seen[1]));
    // A viewer that connects after the end gets all of it, too.
    let late = console.watch(run).all();
    let charts = &late.iter().find(|(name, _)| name == "charts").expect("the whole course").1["charts"];
    let timeline = report["timeline"].as_array().unwrap().len();
    assert_eq!(charts[0]["xs"].as_array().unwrap().len(), timeline);
}

#[test]
fn a_load_is_annotated_paused_resumed_and_stopped_with_its_report() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let id = started(&console, &form(&ruler, 30));
    ruler.wait_for_requests(20);
    let steer = |what: &str, body: Value| {
        let reply = console.change("POST", &format!("/api/jobs/{id}/{what}"), &body);
        assert_eq!(reply.status, 200, "{what}: {}", reply.text());
        reply.json()
    };
    steer("annotate", json!({ "text": "</script><script>alert(1)</script>" }));
    let mut watching = console.watch(&id);
    // The next second of the live view, and how many were answered in it.
    let mut rate = |series: &str| loop {
        let (name, row) = watching.next().expect("the stream continues");
        if name == "row" {
            break row["values"]["timeline"][series].as_f64().unwrap_or_default();
        }
    };
    let asked = steer("pause", json!({}));
    assert_eq!(
        (&asked["state"], &asked["pending_action"]),
        (&json!("running"), &json!("pause")),
        "it was only asked"
    );
    let paused = job(&console, &id, |job| job["state"] == "paused");
    assert_eq!((&paused["pending_action"], &paused["rejection"]), (&json!(null), &json!(null)));
    while rate("achieved") > 0.0 {}
    let still = ruler.requests();
    assert_eq!((rate("achieved"), ruler.requests()), (0.0, still), "the server gets no requests, either");
    steer("pause", json!({}));
    let refused = job(&console, &id, |job| job["rejection"].is_string());
    assert_eq!(refused["rejection"], "the load is already paused");
    assert_eq!(refused["state"], "paused");
    assert_eq!(steer("resume", json!({}))["pending_action"], "resume");
    assert_eq!(job(&console, &id, |job| job["state"] == "running")["rejection"], json!(null));
    ruler.wait_for_requests(still + 20);
    steer("level", json!({ "factor": 2.0 }));
    while rate("offered") < 99.0 {}
    for factor in [0.0, -1.0, 1e9] {
        let body = json!({ "factor": factor });
        assert_eq!(console.change("POST", &format!("/api/jobs/{id}/level"), &body).status, 400, "{factor}");
    }
    assert_eq!(steer("stop", json!({}))["state"], "ending");
    let ended = job(&console, &id, is_over);
    assert_eq!(ended["state"], "ended", "{ended}");
    let run = ended["run"].as_str().unwrap();
    let entry = console.entries().into_iter().find(|entry| entry["id"] == run).unwrap();
    let report = Tool::run(&["report", entry["path"].as_str().unwrap(), "--json"]).json();
    assert_eq!(report["stopped_by"], "interrupt");
    let events: Vec<&str> =
        report["events"].as_array().unwrap().iter().filter_map(|event| event["text"].as_str()).collect();
    for expected in [
        "</script><script>alert(1)</script>",
        "paused manually",
        "resumed manually",
        "load changed manually to 100/s (200% of the plan)",
    ] {
        assert_eq!(events.iter().filter(|text| **text == expected).count(), 1, "{expected}: {events:?}");
    }
    assert!(!console.get(&format!("/runs/{run}")).text().contains("<script>alert(1)"));
    assert_eq!(console.change("POST", &format!("/api/jobs/{id}/stop"), &json!({})).status, 409);
}

/// Each run of an experiment starts at full load, regardless of manual changes to the previous one.
#[test]
fn a_pause_ends_with_its_run() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let text = format!(
        "target: {}\nscenarios: {{ one: [ get: / ] }}\nload: {{ users: [1, 2], duration: 8s }}\n",
        ruler.url("")
    );
    let id = started(&console, &json!({ "kind": "text", "text": text }));
    job(&console, &id, |job| job["run_number"] == 1 || is_over(job));
    assert_eq!(console.change("POST", &format!("/api/jobs/{id}/pause"), &json!({})).status, 200);
    let paused = job(&console, &id, |job| job["state"] == "paused" || is_over(job));
    assert_eq!((&paused["state"], &paused["run_number"]), (&json!("paused"), &json!(1)), "{paused}");
    let next = job(&console, &id, |job| job["run_number"] == 2 && job["state"] != "paused" || is_over(job));
    assert_eq!(next["state"], "running", "{next}");
    let before = ruler.requests();
    ruler.wait_for_requests(before + 20);
    let said = job(&console, &id, |_| true);
    assert_eq!((&said["state"], &said["run_number"]), (&json!("running"), &json!(2)), "{said}");
    assert_eq!(job(&console, &id, is_over)["state"], "ended");
}

/// Consoles share a state folder: what one has pasted is not what another may clear away.
#[test]
fn pasted_experiments_of_dead_consoles_are_removed_and_no_others() {
    let state = Scratch::new();
    let mut dead = std::process::Command::new("true").spawn().expect("`true` can be started");
    let pasted = |pid: u32| {
        let folder = state.folder().join("plimsoll/console").join(pid.to_string());
        std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
        std::fs::write(folder.join("0.yaml"), "a: 1\n").expect("a file");
        folder
    };
    dead.wait().expect("a child can be waited for");
    let (theirs, left) = (pasted(std::process::id()), pasted(dead.id()));
    let console = Console::with(state);
    assert!(theirs.join("0.yaml").is_file() && !left.exists());
    let text = json!({ "text": "a: 1" });
    assert_eq!(console.change("POST", "/api/check", &text).json()["is_valid"], false);
    let own = theirs.with_file_name(console.pid().to_string());
    assert!(own.is_dir(), "it has its own folder");
    let (_, _, _state) = console.interrupt();
    assert!(!own.exists() && theirs.join("0.yaml").is_file());
}

#[test]
fn notes_have_a_length_that_is_said() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let id = started(&console, &form(&ruler, 30));
    ruler.wait_for_requests(20);
    let note = |length: usize| {
        let text = json!({ "text": "n".repeat(length) });
        console.change("POST", &format!("/api/jobs/{id}/annotate"), &text)
    };
    assert_eq!((note(400).status, note(401).status, note(0).status), (200, 400, 400));
    assert!(note(401).text().contains("400"));
    // It goes to the load by another way than the stop, so it has to be there first.
    let whole = format!("\"{}\"", "n".repeat(400));
    let deadline = Instant::now() + Duration::from_secs(20);
    let runs = console.state.folder().join("plimsoll/runs");
    let is_noted = || {
        let files = std::fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path());
        let mut runs = files.filter(|path| path.extension().is_some_and(|ending| ending == "plim"));
        let report = |path: PathBuf| Tool::run(&["report", path.to_str().unwrap(), "--json"]).stdout;
        runs.any(|path| report(path).contains(&whole))
    };
    while !is_noted() {
        assert!(Instant::now() < deadline, "the note has not arrived");
    }
    console.change("POST", &format!("/api/jobs/{id}/stop"), &json!({}));
    let ended = job(&console, &id, is_over);
    let run = ended["run"].as_str().expect("there is a run");
    let entry = console.entries().into_iter().find(|entry| entry["id"] == run).expect("it is listed");
    let report = Tool::run(&["report", entry["path"].as_str().unwrap(), "--json"]).json();
    assert!(report["events"].to_string().contains(&whole), "{}", report["events"]);
}

#[test]
fn files_and_texts_are_checked_before_they_run() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let wrong = console.change("POST", "/api/start", &json!({ "kind": "text", "text": "lod: 1" }));
    assert_eq!(wrong.status, 422);
    assert!(wrong.json()["diagnostics"].as_str().unwrap().contains("lod"), "{}", wrong.text());
    let text = format!(
        "name: pasted\ntarget: {}\nscenarios:\n  one: [ get: / ]\nload: {{ users: 2, duration: 1s }}\n",
        ruler.url("")
    );
    let id = started(&console, &json!({ "kind": "text", "text": text }));
    assert_eq!(job(&console, &id, is_over)["state"], "ended");
    let file = console.state.file("sweep.yaml", &text.replace("users: 2", "users: [1, 2]"));
    let id = started(&console, &json!({ "kind": "file", "path": file }));
    let ended = job(&console, &id, is_over);
    assert_eq!(ended["state"], "ended", "{ended}");
    let kinds: Vec<Value> = console.entries().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, [json!("experiment"), json!("run")]);
    let page = console.get(&format!("/runs/{}", ended["run"].as_str().unwrap()));
    assert_eq!(page.status, 200, "{}", page.text());
    // Its runs are links to their own pages.
    let text = page.text();
    let mut links: Vec<&str> =
        text.split("href=\"/runs/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    links.sort_unstable();
    links.dedup();
    assert_eq!(links.len(), 2, "{links:?}");
    for id in links {
        let page = console.get(&format!("/runs/{id}"));
        assert!(page.status == 200 && page.text().contains("pasted"), "{id}: {}", page.head);
    }
}

#[test]
fn the_plan_is_known_without_a_viewer() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let id = started(&console, &form(&ruler, 6));
    let known = job(&console, &id, |job| job["planned_s"].is_number() || is_over(job));
    assert_eq!(known["planned_s"], 6.0, "{known}");
    assert_eq!(known["stages"][0]["label"], "50.0/s arrivals", "{known}");
    assert_eq!(known["state"], "running");
}

/// The plan of each run of an experiment is known, to late viewers as well as to early ones.
#[test]
fn the_plan_of_the_current_run_is_known_without_a_viewer() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let text = format!(
        "target: {}\nscenarios: {{ one: [ get: / ] }}\nload: {{ users: [1, 2], duration: 4s }}\n",
        ruler.url("")
    );
    let id = started(&console, &json!({ "kind": "text", "text": text }));
    let mut seen: Vec<Value> = Vec::new();
    for turn in [1, 2] {
        let known = job(&console, &id, |job| job["run_number"] == turn || is_over(job));
        assert_eq!((&known["run_number"], &known["run_count"]), (&json!(turn), &json!(2)), "{known}");
        assert_eq!(known["planned_s"], 4.0, "{known}");
        seen.push(known["stages"][0]["label"].clone());
    }
    seen.sort_by_key(Value::to_string);
    let labels: Vec<&str> =
        seen.iter().filter_map(Value::as_str).map(|label| label.trim_end_matches('s')).collect();
    assert_eq!(labels, ["1 user", "2 user"]);
    let mut late = console.watch(&id);
    let (event, told) = late.next().expect("the stream continues");
    let listed = job(&console, &id, |_| true);
    assert_eq!((event.as_str(), &told["stages"], &told["run_number"]), ("job", &listed["stages"], &json!(2)));
    drop(late);
    assert_eq!(job(&console, &id, is_over)["state"], "ended");
}

#[test]
fn secrets_of_an_address_are_in_no_list_and_no_file_name() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let url = ruler.url("/").replace("http://", "http://user:TOKENSECRET@");
    let order = json!({ "kind": "form", "url": url, "load": "maintained", "clients": 1, "duration_s": 1 });
    let id = started(&console, &order);
    let ended = job(&console, &id, is_over);
    assert!(!ended.to_string().contains("TOKENSECRET"), "{ended}");
    assert!(!console.json("/api/runs").to_string().contains("TOKENSECRET"));
}

#[test]
fn seconds_have_the_value_that_a_monitor_had_then_also_for_who_comes_late() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let text = format!(
        "target: {}\nscenarios: {{ one: [ get: / ] }}\nload: {{ users: 2, duration: 4s }}\n\
         monitors: [ {{ process: {{ pid: {} }} }} ]\n",
        ruler.url(""),
        console.pid()
    );
    let id = started(&console, &json!({ "kind": "text", "text": text }));
    let ended = job(&console, &id, is_over);
    assert_eq!(ended["state"], "ended", "{ended}");
    let run = ended["run"].as_str().unwrap();
    let late = console.watch(run).all();
    let charts = &late.iter().find(|(name, _)| name == "charts").expect("the whole course").1["charts"];
    let entry = console.entries().into_iter().find(|entry| entry["id"] == run).expect("it is listed");
    let record = plimsoll_record::run_file::read(Path::new(entry["path"].as_str().unwrap())).unwrap();
    let summary = plimsoll_analysis::summarise(&record);
    for (chart, metric) in [("monitors-cpu", "cpu"), ("monitors-memory", "rss")] {
        let course = summary.courses.iter().find(|course| course.metric == metric).expect("it was watched");
        let chart = charts.as_array().unwrap().iter().find(|own| own["id"] == chart).expect("a chart");
        let (xs, ys) = (&chart["xs"], &chart["panels"][0]["series"][0]["y"]);
        let own: Vec<(f64, f64)> = std::iter::zip(xs.as_array().unwrap(), ys.as_array().unwrap())
            .filter_map(|(x, y)| Some((x.as_f64()?, y.as_f64()?)))
            .collect();
        assert!(own.len() >= 3, "{chart}");
        // Rows are whole seconds but for the last one; their x is the middle.
        for (x, y) in &own[..own.len() - 1] {
            let seen = course.points.iter().rfind(|(at_s, _)| *at_s <= x + 0.5).expect("something was seen");
            // JSON has six digits.
            assert!((seen.1 - y).abs() <= 1e-5 * y.abs(), "{metric} at {x} s: {y}, and then it was {seen:?}");
        }
    }
}

/// The kernel tells a load when the thread ends that has started it. Threads for work aside end after some idle
/// seconds; the one that serves ends last.
#[test]
fn loads_are_started_by_the_thread_that_lives_as_long_as_the_console() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let text = format!(
        "target: {}\nscenarios: {{ one: [ get: / ] }}\nload: {{ users: 1, duration: 30s }}\n",
        ruler.url("")
    );
    for order in [form(&ruler, 30), json!({ "kind": "text", "text": text })] {
        let id = started(&console, &order);
        let threads = std::fs::read_dir(format!("/proc/{}/task", console.pid())).unwrap().flatten();
        let of = |file: &str, thread: &std::path::Path| {
            std::fs::read_to_string(thread.join(file)).unwrap_or_default().trim().to_owned()
        };
        let parents: Vec<String> = threads
            .map(|thread| thread.path())
            .filter(|thread| !of("children", thread).is_empty())
            .map(|thread| of("comm", &thread))
            .collect();
        assert_eq!(parents, ["console"]);
        console.change("POST", &format!("/api/jobs/{id}/stop"), &json!({}));
        job(&console, &id, is_over);
    }
}

#[test]
fn a_console_that_is_killed_leaves_reports() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let id = started(&console, &form(&ruler, 30));
    ruler.wait_for_requests(20);
    job(&console, &id, |job| job["run"].is_string());
    let run = PathBuf::from(console.entries()[0]["path"].as_str().unwrap());
    let state = console.kill();
    // The write-ahead log is removed when its writer closes the file.
    let mut log = run.clone().into_os_string();
    log.push("-wal");
    let deadline = std::time::Instant::now() + crate::client::PATIENCE;
    while Path::new(&log).exists() {
        assert!(std::time::Instant::now() < deadline, "the load continues without its console");
        std::thread::yield_now();
    }
    let report = Tool::run(&["report", run.to_str().unwrap(), "--json"]).json();
    assert_eq!(report["stopped_by"], "interrupt");
    drop(state);
}

#[test]
fn what_cannot_run_says_so_in_its_own_words() {
    let console = Console::start();
    // The port was free a moment ago: connections to it are refused.
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let order = json!({ "kind": "form", "url": format!("http://{address}/"), "load": "maintained", "clients": 1,
                        "duration_s": 1 });
    let id = started(&console, &order);
    let ended = job(&console, &id, is_over);
    assert_eq!((&ended["state"], &ended["exit_code"]), (&json!("failed"), &json!(1)));
    assert!(ended["output"].as_str().unwrap().contains(&address.to_string()), "{ended}");
    assert_eq!(ended["run"], Value::Null);
    for url in ["--help", "ftp://127.0.0.1/", "run"] {
        let order =
            json!({ "kind": "form", "url": url, "load": "maintained", "clients": 1, "duration_s": 1 });
        assert_eq!(console.change("POST", "/api/start", &order).status, 400, "{url}");
    }
}

#[test]
fn the_end_of_the_console_is_the_end_of_its_loads_with_their_reports() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let id = started(&console, &form(&ruler, 30));
    ruler.wait_for_requests(20);
    let run = job(&console, &id, |job| job["run"].is_string());
    assert_eq!(run["state"], "running");
    let (code, runs, _state) = console.interrupt();
    assert_eq!(code, Some(0));
    let file =
        std::fs::read_dir(&runs).unwrap().flatten().map(|entry| entry.path()).next().expect("a run file");
    let report = Tool::run(&["report", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(report["stopped_by"], "interrupt");
}
