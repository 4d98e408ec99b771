//! Following a run file while it grows: everything, once, and without changing it.

use plimsoll_analysis::summary::Second;
use plimsoll_analysis::{Follow, Fresh, summarise};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{SeriesSum, fault_id};
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::{Ending, NoteKind, RunEvent, Sink};
use plimsoll_record::run_file::{RunFile, Writer, read, write};
use plimsoll_record::{Error, RunRecord};
use plimsoll_testkit::made_up;
use plimsoll_testkit::made_up::watching::{reading, sight, watched_opening};
use plimsoll_testkit::made_up::{Folder, ending, events, gathered, interval, names, note, opening, tick};
use std::path::Path;
use std::time::Instant;

/// A file in which nothing has happened yet, and its follower.
fn begun(path: &Path, events: &[RunEvent]) -> (Writer, Follow) {
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    (RunFile::create(path, opening).unwrap(), Follow::open(path).unwrap())
}

fn text(seconds: &[Second]) -> Vec<String> {
    seconds.iter().map(|second| serde_json::to_string(second).unwrap()).collect()
}

#[test]
fn the_seconds_of_a_follower_are_the_timeline_of_the_report() {
    let folder = Folder::new("tail-all");
    for (series, step) in [(1, 1), (3, 1), (2, 7)] {
        let path = folder.file(&format!("{series}-{step}.plim"));
        let events = events(&opening("a", series), 23, 50);
        let (mut writer, mut tail) = begun(&path, &events);
        let first = tail.more().unwrap();
        assert_eq!(first.opening.as_deref(), Some(&opening("a", series)));
        assert!(first.seconds.is_empty() && first.ending.is_none());
        let mut told = Vec::new();
        let mut all = Fresh::default();
        for (count, event) in events.iter().enumerate() {
            writer.event(event);
            if count % step != 0 && count + 1 != events.len() {
                continue;
            }
            let fresh = tail.more().unwrap();
            assert!(fresh.opening.is_none(), "once");
            assert_eq!(fresh.seconds.len(), fresh.failures.len());
            told.extend(fresh.seconds);
            all.notes.extend(fresh.notes);
            all.ending = all.ending.or(fresh.ending);
            assert!(tail.more().unwrap().seconds.is_empty(), "nothing happened in between");
        }
        assert!(writer.finish().trouble.is_none());
        assert_eq!(text(&told), text(&summarise(&read(&path).unwrap()).timeline), "{series} series");
        assert_eq!(all.notes, gathered(&events).generators["a"].notes);
        assert_eq!(all.ending, gathered(&events).generators["a"].ending);
        assert!(tail.has_ended() && tail.more().unwrap().ending.is_none(), "the ending is reported once");
    }
}

#[test]
fn the_last_second_is_resent_if_the_ending_shortens_it() {
    let folder = Folder::new("tail-short");
    let path = folder.file("run.plim");
    let mut events = events(&opening("a", 1), 5, 50);
    events.pop();
    events.push(RunEvent::Ended(Ending {
        stopped_by: plimsoll_record::event::StoppedBy::Interrupt,
        elapsed_ns: 4_250_000_000,
        lost_workers: vec![],
    }));
    let (mut writer, mut tail) = begun(&path, &events);
    events[..6].iter().for_each(|event| writer.event(event));
    let early = tail.more().unwrap().seconds;
    assert_eq!(early.last().map(|s| (s.tick, s.length_s)), Some((4, 1.0)));
    events[6..].iter().for_each(|event| writer.event(event));
    let late = tail.more().unwrap();
    let timeline = summarise(&gathered(&events)).timeline;
    assert_eq!(text(&late.seconds), text(&timeline[4..]));
    assert_eq!(text(&early[..4]), text(&timeline[..4]));
    // The warm-up ends at 2.5 s, where the following seconds begin.
    assert_eq!(late.seconds[0].length_s, 0.75);
}

#[test]
fn failures_are_reported_by_class_and_second() {
    let folder = Folder::new("tail-failures");
    let path = folder.file("run.plim");
    let opening = opening("a", 2);
    let mut random = made_up::Random::new(3);
    let (mut writer, mut tail) = begun(&path, &[RunEvent::Opened(opening.into())]);
    for number in 0..3 {
        let mut one = interval(number, 2, 40, &mut random);
        one.series[1].add(SeriesSum::Failed.id(), 3);
        one.series[1].add(fault_id(Fault::Timeout), u64::from(number) * 2);
        one.series[0].add(fault_id(Fault::ConnectionRefused), 1);
        writer.event(&tick(one));
    }
    let failures = tail.more().unwrap().failures;
    let refused = (Fault::ConnectionRefused, 1);
    let by_second: Vec<Vec<(Fault, u64)>> = failures
        .into_iter()
        .map(|mut second| {
            second.sort_by_key(|(_, n)| *n);
            second
        })
        .collect();
    assert_eq!(
        by_second,
        [vec![refused], vec![refused, (Fault::Timeout, 2)], vec![refused, (Fault::Timeout, 4)]]
    );
}

#[test]
fn notes_monitor_samples_and_worker_times_are_reported_live() {
    let folder = Folder::new("tail-other");
    let path = folder.file("run.plim");
    let events = [RunEvent::Opened(watched_opening("a", &["api", "db"]).into())];
    let (mut writer, mut tail) = begun(&path, &events);
    tail.more().unwrap();
    let mut random = made_up::Random::new(5);
    let cpu = |value| vec![reading("", "cpu", Unit::Count, Some(2.0), value)];
    let rows = |value| vec![reading("lab", "rows", Unit::Count, None, value)];
    for number in 0..6u32 {
        let at_ns = u64::from(number) * 1_000_000_000;
        writer.event(&sight(at_ns, 0, cpu(f64::from(number) / 4.0)));
        writer.event(&sight(at_ns, 1, rows(f64::from(number))));
        if number == 4 {
            writer.event(&note(4, "deployed"));
        }
        writer.event(&tick(interval(number, 1, 10, &mut random)));
        let fresh = tail.more().unwrap();
        let seen: Vec<_> = fresh.sights.iter().map(|s| (s.monitor, s.at_ns, s.readings[0].value)).collect();
        assert_eq!(seen, [(0, at_ns, f64::from(number) / 4.0), (1, at_ns, f64::from(number))]);
        assert_eq!(fresh.sights[0].readings, cpu(f64::from(number) / 4.0));
        assert_eq!(fresh.notes.len(), usize::from(number == 4));
        // The warm-up of 2.5 s is three ticks.
        let busy: Vec<u64> = fresh.pulses.iter().map(|pulse| pulse.busy_ns).collect();
        let one = 400_000_000 + u64::from(number);
        assert_eq!(busy, if number < 3 { vec![] } else { vec![one, one + 1000] });
    }
    assert_eq!(read(&path).unwrap().generators["a"].notes[0].kind, NoteKind::Control);
}

#[test]
fn a_new_run_file_is_followed_and_other_files_are_rejected() {
    let folder = Folder::new("tail-made");
    let missing = Follow::open(&folder.file("none.plim")).err().unwrap();
    assert!(matches!(missing, Error::NoSuchFile { .. }), "{missing}");
    let path = folder.file("run.plim");
    std::fs::write(&path, "").unwrap();
    let mut tail = Follow::open(&path).unwrap();
    assert!(tail.more().unwrap().opening.is_none());
    std::fs::remove_file(&path).unwrap();
    let events = events(&opening("a", 1), 2, 5);
    let (mut writer, _) = begun(&path, &events);
    writer.event(&events[1]);
    let fresh = tail.more().unwrap();
    assert!(fresh.opening.is_some());
    assert_eq!(fresh.seconds.len(), 1);
    let other = folder.file("notes.plim");
    std::fs::write(&other, "no database at all, but long enough to be looked at".repeat(30)).unwrap();
    let wrong = Follow::open(&other).err().unwrap();
    assert!(matches!(wrong, Error::NotARunFile { .. }), "{wrong}");
}

#[test]
fn watching_leaves_no_trace() {
    let folder = Folder::new("tail-trace");
    let path = folder.file("run.plim");
    let events = events(&opening("a", 1), 12, 50);
    let (mut writer, mut tail) = begun(&path, &events);
    for event in &events[1..8] {
        writer.event(event);
        tail.more().unwrap();
        assert!(
            names(folder.path()).contains(&"run.plim-wal".to_owned()),
            "it is not folded while it is written"
        );
    }
    for event in &events[8..] {
        writer.event(event);
        tail.more().unwrap();
    }
    // The follower still has it open, but the writer could fold its log.
    assert!(writer.finish().trouble.is_none());
    assert_eq!(names(folder.path()), ["run.plim"]);
    let mut late = Follow::open(&path).unwrap();
    let all = late.more().unwrap();
    assert_eq!((all.seconds.len(), all.ending.is_some()), (12, true), "an ended run is reported at once");
    assert_eq!(names(folder.path()), ["run.plim"]);
}

#[test]
fn the_files_of_a_killed_run_are_reported_and_unchanged() {
    let folder = Folder::new("tail-killed");
    let path = folder.file("run.plim");
    let events = events(&opening("a", 1), 9, 50);
    let (mut writer, _) = begun(&path, &events);
    events[..7].iter().for_each(|event| writer.event(event));
    // A copy of the files that a kill would leave.
    for suffix in ["", "-wal"] {
        std::fs::copy(folder.file(&format!("run.plim{suffix}")), folder.file(&format!("left.plim{suffix}")))
            .unwrap();
    }
    let left = folder.file("left.plim");
    let before = std::fs::read(&left).unwrap();
    let mut tail = Follow::open(&left).unwrap();
    let fresh = tail.more().unwrap();
    assert_eq!(fresh.seconds.len(), 6);
    assert!(fresh.ending.is_none() && !tail.has_ended());
    assert_eq!(std::fs::read(&left).unwrap(), before, "the database was not written to");
    assert_eq!(read(&left).unwrap(), gathered(&events[..7]));
    assert_eq!(
        tail.more().unwrap().seconds.len(),
        0,
        "the follower continues after another process folds the log"
    );
}

#[test]
fn machines_of_a_merged_file_are_added_up() {
    let folder = Folder::new("tail-merged");
    let path = folder.file("both.plim");
    let [a, b] = ["a", "bb"].map(|name| gathered(&events(&opening(name, 1), 6, 30)));
    let both = RunRecord::merge(a, b).unwrap();
    write(&path, &both).unwrap();
    let fresh = Follow::open(&path).unwrap().more().unwrap();
    assert_eq!(text(&fresh.seconds), text(&summarise(&both).timeline));
    assert_eq!(fresh.seconds[0].requests, 60);
}

#[test]
fn a_locked_file_is_retried_later() {
    let folder = Folder::new("tail-locked");
    let path = folder.file("run.plim");
    let events = events(&opening("a", 1), 4, 20);
    let (mut writer, _) = begun(&path, &events);
    events.iter().for_each(|event| writer.event(event));
    drop(writer.finish());
    let mut tail = Follow::open(&path).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(tail.more().unwrap().opening.is_none());
    db.execute_batch("ROLLBACK").unwrap();
    assert_eq!(tail.more().unwrap().seconds.len(), 4);
}

/// Far above the measured time (0.3 ms in a build without optimization), and far below a noticeable one.
#[test]
fn the_cost_of_an_update_does_not_grow_with_the_run() {
    let folder = Folder::new("tail-cost");
    let path = folder.file("run.plim");
    let opening = opening("a", 5);
    let (mut writer, mut tail) = begun(&path, &[RunEvent::Opened(opening.into())]);
    let mut random = made_up::Random::new(9);
    let template = interval(0, 5, 200, &mut random);
    let mut costs_us = Vec::new();
    for number in 0..1200 {
        writer.event(&tick(plimsoll_stats::interval::Interval { tick: number, ..template.clone() }));
        let before = Instant::now();
        assert_eq!(tail.more().unwrap().seconds.len(), 1);
        costs_us.push(before.elapsed().as_secs_f64() * 1e6);
    }
    writer.event(&ending(1200));
    let median = |part: &[f64]| {
        let mut part = part.to_vec();
        part.sort_by(f64::total_cmp);
        part[part.len() / 2]
    };
    let (first, last) = (median(&costs_us[..200]), median(&costs_us[1000..]));
    println!("an update takes {first:.0} us at first and {last:.0} us after 1,000 s");
    assert!(last < first * 3.0 + 200.0, "{first} us, then {last} us");
}
