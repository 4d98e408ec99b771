//! `--steered`: what a console says to its runs on their standard input. What is waited for is read out of the run file
//! as it grows, as the console does.

use crate::support::{Ruler, Running, Scratch, Tool};
use plimsoll_analysis::Follow;
use plimsoll_analysis::summary::Second;
use plimsoll_record::RunRecord;
use plimsoll_record::event::{Note, NoteKind};
use plimsoll_record::run_file::read;
use plimsoll_record::steered::{Level, Steered};
use std::path::Path;
use std::time::{Duration, Instant};

/// Follows a run file until a second (the last one that is there) is as wanted; returns it.
fn until(tail: &mut Follow, what: &str, mut is_it: impl FnMut(&Second) -> bool) -> Second {
    let deadline = Instant::now() + Duration::from_secs(25);
    loop {
        let fresh = tail.more().expect("it is a run file");
        if let Some(second) = fresh.seconds.into_iter().find(&mut is_it) {
            return second;
        }
        assert!(Instant::now() < deadline && !tail.has_ended(), "{what} did not come");
        std::thread::yield_now();
    }
}

/// The file of a run that has begun.
fn tail(file: &str) -> Follow {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match Follow::open(Path::new(file)) {
            Ok(tail) => return tail,
            Err(e) => assert!(Instant::now() < deadline, "{e}"),
        }
    }
}

fn notes(file: &str) -> Vec<Note> {
    let record = read(Path::new(file)).expect("it is a run file");
    record.generators.into_values().flat_map(|origin| origin.notes).collect()
}

fn steered(args: &[&str]) -> Running {
    Tool::new(&[args, &["--steered", "--json"]].concat()).start_steered()
}

/// When requests arrived at the ruler, s from the first.
fn arrivals_s(ruler: &Ruler) -> Vec<f64> {
    let log = ruler.get("/_test-server/log");
    let at_ns = |row: &[u8]| u64::from_le_bytes(row[..8].try_into().expect("eight bytes"));
    // The asking itself is not logged; the knock before the load is.
    let all: Vec<u64> = log.chunks_exact(40).map(at_ns).collect();
    all.iter().map(|ns| (ns - all[0]) as f64 / 1e9).collect()
}

#[test]
fn a_note_is_recorded_at_its_second() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.path("run.plim");
    let mut running = steered(&[&ruler.url("/"), "-r", "100", "-d", "4s", "--out", &file]);
    let second = until(&mut tail(&file), "the second second", |second| second.tick == 1);
    running.say(r#"{"do":"note","text":"deployed \u001b[31m </script> v2"}"#);
    let output = running.wait();
    assert!([0, 3].contains(&output.code), "{}", output.stderr);
    let found = notes(&file);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, found[0].text.as_str()), (NoteKind::Note, "deployed  [31m </script> v2"));
    let at_s = found[0].at_ns as f64 / 1e9;
    assert!(at_s >= second.from_s + second.length_s && at_s < 4.0, "{at_s} s");
    assert!(output.stderr.contains("deployed"), "the view shows it: {}", output.stderr);
    let said = output.json();
    let events = said["events"].as_array().expect("a list");
    let event = events.iter().find(|event| event["kind"] == "note").expect("the note is an event");
    assert_eq!((event["at_s"].as_f64(), &event["text"]), (Some(at_s), &found[0].text.clone().into()));
    let codes: Vec<_> = said["cautions"].as_array().unwrap().iter().map(|c| c["code"].clone()).collect();
    assert!(!codes.contains(&"load_changed_manually".into()), "words steer nothing");
}

#[test]
fn a_pause_is_a_hole_in_the_arrivals_and_what_came_due_in_it_is_not_made_up_for() {
    for load in [["-r", "200"], ["-c", "2"]] {
        let (ruler, scratch) = (Ruler::start(&["--delay", "10ms"]), Scratch::new());
        let file = scratch.path("run.plim");
        let mut running = steered(&[&[&ruler.url("/"), "-d", "25s", "--out", &file][..], &load].concat());
        ruler.wait_for_requests(150);
        running.say(r#"{"do":"pause"}"#);
        running.say(r#"{"do":"pause"}"#);
        let mut tail = tail(&file);
        until(&mut tail, "a second of rest", |second| second.requests == 0 && second.tick > 0);
        running.say(r#"{"do":"resume"}"#);
        let again = until(&mut tail, "a whole second of load", |second| second.requests > 120);
        running.say(r#"{"do":"stop"}"#);
        let output = running.wait();
        assert!(output.stderr.contains("rejected: the load is already paused"), "{}", output.stderr);
        let steps: Vec<Steered> = notes(&file).iter().filter_map(Steered::of).collect();
        assert_eq!(steps, [Steered::Paused, Steered::Resumed]);

        let arrivals = arrivals_s(&ruler);
        let holes: Vec<f64> = arrivals.windows(2).map(|two| two[1] - two[0]).filter(|s| *s > 0.9).collect();
        assert_eq!(holes.len(), 1, "{load:?}: {holes:?}");
        let first = 1 + arrivals.windows(2).position(|two| two[1] - two[0] > 0.9).expect("it is there");
        // The arrivals due in more than a second of pause would be 200 requests at once.
        let burst = arrivals[first..].iter().filter(|at| **at < arrivals[first] + 0.05).count();
        assert!(burst < 60, "{burst} requests within 50 ms after the pause");
        assert!(again.achieved_rate_per_s < 260.0, "{load:?}: {}", again.achieved_rate_per_s);

        let said = output.json();
        let about = |code: &str| {
            let all = said["cautions"].as_array().expect("a list");
            all.iter().find(|c| c["code"] == code).map(|c| c["evidence"].as_str().unwrap_or("").to_owned())
        };
        assert!(
            about("load_changed_manually").expect("it is said").contains("paused from"),
            "{}",
            said["cautions"]
        );
        assert_eq!(
            (about("offered_rate_missed"), about("littles_law")),
            (None, None),
            "{}",
            said["cautions"]
        );
        let achieved = said["achieved"]["ratio"].as_f64().unwrap_or(1.0);
        assert!(achieved > 0.98, "the paused part does not count as offered: {achieved}");
    }
}

#[test]
fn a_new_level_is_offered_after_the_command() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.path("run.plim");
    let mut running = steered(&[&ruler.url("/"), "-r", "100", "-d", "25s", "--out", &file]);
    ruler.wait_for_requests(50);
    running.say(r#"{"do":"level","factor":1.5}"#);
    running.say(r#"{"do":"level","factor":2}"#);
    running.say(r#"{"do":"level","factor":-2}"#);
    until(&mut tail(&file), "a second at 300/s", |second| {
        second.offered_rate_per_s.is_some_and(|rate| (299.0..=301.0).contains(&rate))
    });
    running.say(r#"{"do":"stop"}"#);
    let output = running.wait();
    assert!(output.stderr.contains("use a number above 0"), "{}", output.stderr);
    let steps: Vec<Steered> = notes(&file).iter().filter_map(Steered::of).collect();
    let level = |to, share| Steered::Level(Level { to, is_open: true, share });
    assert_eq!(steps, [level(150.0, 1.5), level(300.0, 3.0)]);
}

#[test]
fn a_load_that_changes_by_plan_keeps_its_levels() {
    for (load, why) in [
        (&["--stages", "1s:10,3s:20"][..], "the plan changes the level over time"),
        (&["-c", "3", "-d", "4s"][..], "the plan has 3 users"),
    ] {
        let ruler = Ruler::start(&["--delay", "5ms"]);
        let mut running = steered(&[&[ruler.url("/").as_str()], load].concat());
        ruler.wait_for_requests(20);
        running.say(r#"{"do":"level","factor":1.5}"#);
        running.say(r#"{"do":"stop"}"#);
        let output = running.wait();
        assert!(output.stderr.contains(&format!("rejected: cannot change the level: {why}")), "{}", {
            output.stderr
        });
    }
}

#[test]
fn stop_ends_the_run_with_a_report_however_often_it_is_said() {
    let ruler = Ruler::start(&[]);
    let mut running = steered(&[&ruler.url("/"), "-r", "500", "-d", "60s"]);
    ruler.wait_for_requests(200);
    running.say(r#"{"do":"stop"}"#);
    running.say(r#"{"do":"stop"}"#);
    let output = running.wait();
    assert_eq!(output.code, 130, "{}", output.stderr);
    assert_eq!(output.json()["verdict"]["result"], "INTERRUPTED");
}

#[test]
fn an_invalid_command_and_the_end_of_the_input_change_nothing() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.path("run.plim");
    let args = [&ruler.url("/"), "-r", "200", "-n", "400", "--out", &file];
    let mut running = steered(&args);
    let wrong = [
        ("garbage \u{1b}[2J", "`garbage  [2J` is not a JSON object"),
        ("{}", "has no `do`"),
        (r#"{"do":"fly"}"#, "has an unknown `do`"),
        (r#"{"do":"note"}"#, "is a note without a `text`"),
        (r#"{"do":"level","factor":"much"}"#, "is a level without a `factor`"),
        (r#"{"do":"resume"}"#, "the load is not paused"),
        (r#"{"do":"note","text":"  "}"#, "the note is empty"),
        ("[1]", "has no `do`"),
    ];
    ruler.wait_for_requests(20);
    running.say("");
    wrong.iter().for_each(|(line, _)| running.say(line));
    running.hush();
    let output = running.wait();
    for (_, sentence) in wrong {
        assert!(output.stderr.contains(sentence), "`{sentence}` is not in\n{}", output.stderr);
    }
    assert_eq!(output.stderr.matches("rejected: ").count(), wrong.len(), "one sentence each");
    let said = output.json();
    assert_eq!((said["totals"]["requests"].as_u64(), &said["stopped_by"]), (Some(400), &"requests".into()));
    assert_eq!(notes(&file), []);
}

#[test]
fn a_command_applies_to_the_current_run_of_an_experiment() {
    let (ruler, scratch) = (Ruler::start(&["--delay", "2ms"]), Scratch::new());
    let text = format!(
        "target: {}\nscenarios: {{ a: [ {{ get: / }} ] }}\nload: {{ users: [1, 2], duration: 2s }}\n",
        ruler.url("")
    );
    let (file, folder) = (scratch.file("two.yaml", &text), scratch.path("two"));
    let mut running = steered(&["run", &file, "--out", &folder]);
    let files = || -> Vec<String> {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.path().display().to_string());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".plim")).collect();
        names.sort();
        names
    };
    for count in 1..=2 {
        let deadline = Instant::now() + Duration::from_secs(20);
        while files().len() < count {
            assert!(Instant::now() < deadline, "run {count} did not begin");
            std::thread::yield_now();
        }
        until(&mut tail(&files()[count - 1]), "its first second", |_| true);
        running.say(&format!(r#"{{"do":"note","text":"run {count}"}}"#));
    }
    let output = running.wait();
    assert!(!output.stderr.contains("rejected: "), "{}", output.stderr);
    let texts = |file: &String| notes(file).into_iter().map(|note| note.text).collect::<Vec<_>>();
    assert_eq!(files().iter().map(texts).collect::<Vec<_>>(), [["run 1"], ["run 2"]]);
}

/// Each generator gets every command, and reports the ones that it rejects. A note is one of the whole.
#[test]
fn generators_that_share_a_run_are_steered_together() {
    let (ruler, scratch) = (Ruler::start(&["--delay", "5ms"]), Scratch::new());
    let text = format!(
        "target: {}\nscenarios: {{ a: [ {{ get: / }} ] }}\ngenerators: 2\nload: {{ rate: 200/s, duration: 7s }}\n",
        ruler.url("")
    );
    let (file, folder) = (scratch.file("two.yaml", &text), scratch.path("two"));
    let mut running = steered(&["run", &file, "--out", &folder]);
    ruler.wait_for_requests(50);
    let entries = || std::fs::read_dir(&folder).expect("it runs").flatten().map(|entry| entry.path());
    let crew = entries().find(|path| path.extension().is_some_and(|e| e == "agents")).expect("two run");
    let mut tails = [1, 2].map(|part| tail(&crew.join(format!("{part}.plim")).display().to_string()));
    for tail in &mut tails {
        until(tail, "a first second", |_| true);
    }
    for line in [r#"{"do":"note","text":"to both"}"#, r#"{"do":"pause"}"#, r#"{"do":"pause"}"#, "garbage"] {
        running.say(line);
    }
    for tail in &mut tails {
        until(tail, "a second of rest", |second| second.requests == 0);
    }
    running.say(r#"{"do":"resume"}"#);
    running.say(r#"{"do":"level","factor":2}"#);
    let output = running.wait();
    let refused = |part: u32| format!("agent `local-{part}`: rejected: the load is already paused\n");
    for part in [1, 2] {
        assert_eq!(output.stderr.matches(&refused(part)).count(), 1, "{}", output.stderr);
    }
    assert_eq!(output.stderr.matches("is not a JSON object").count(), 1, "{}", output.stderr);
    let run = entries().find(|path| path.extension().is_some_and(|e| e == "plim")).expect("one run");
    let record = read(&run).expect("it is a run file");
    are_notes_of_two(&record, "to both");
    let said = Tool::run(&["report", &run.display().to_string(), "--json"]).json();
    let events = said["events"].as_array().expect("a list");
    assert_eq!(events.iter().filter(|event| event["kind"] == "note").count(), 1, "{}", said["events"]);
}

fn are_notes_of_two(record: &RunRecord, note: &str) {
    assert_eq!(record.generators.len(), 2);
    let level = "load changed manually to 400/s (200% of the plan)";
    let own = ["paused manually", "resumed manually", level];
    for (origin, more) in record.generators.values().zip([&[note][..], &[]]) {
        let mut notes: Vec<&Note> = origin.notes.iter().collect();
        notes.sort_by_key(|note| note.at_ns);
        let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(texts, [more, &own].concat());
    }
}

/// While one generator is still in its setup, another may already send. A line that reached only the second would make
/// their loads differ.
#[test]
fn generators_that_have_not_started_apply_a_command_when_they_start() {
    let (ruler, scratch) = (Ruler::start(&["--delay", "900ms"]), Scratch::new());
    let text = format!(
        "target: {}\nsetup: [ get: /setup, get: /setup ]\nscenarios: {{ a: [ {{ get: / }} ] }}\ngenerators: 2\n\
         load: {{ rate: 200/s, duration: 5s }}\n",
        ruler.url("")
    );
    let (file, folder) = (scratch.file("two.yaml", &text), scratch.path("two"));
    let mut running = steered(&["run", &file, "--out", &folder]);
    ruler.wait_for_requests(1);
    for line in [
        r#"{"do":"note","text":"early"}"#,
        r#"{"do":"pause"}"#,
        r#"{"do":"pause"}"#,
        r#"{"do":"resume"}"#,
        r#"{"do":"level","factor":2}"#,
    ] {
        running.say(line);
    }
    let output = running.wait();
    let refused = |part: u32| format!("agent `local-{part}`: rejected: the load is already paused\n");
    for part in [1, 2] {
        assert_eq!(output.stderr.matches(&refused(part)).count(), 1, "{}", output.stderr);
    }
    assert_eq!(output.stderr.matches("rejected: ").count(), 2, "{}", output.stderr);
    let entries = std::fs::read_dir(&folder).expect("it ran").flatten().map(|entry| entry.path());
    let run =
        entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "plim")).expect("one run");
    let record = read(&run).expect("it is a run file");
    are_notes_of_two(&record, "early");
}
