//! Origins that are found during the run: written, read back, copied, merged, and followed.

use plimsoll_plan::{Target, origin};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{OriginOpened, RunEvent, Sink, WayThere};
use plimsoll_record::run_file::{RunFile, Tail, read, write};
use plimsoll_testkit::made_up::{Folder, Random, ending, gathered, interval, opening, tick};
use std::path::Path;

fn found(number: u16) -> RunEvent {
    let target = Target { host: format!("host-{number}.test"), port: 80, tls: number % 2 == 1 };
    let way = WayThere { addresses: vec!["127.0.0.1".into()], dns_ns: 5, ..WayThere::default() };
    RunEvent::OriginOpened(OriginOpened { number, origin: origin::found(&target, None), way })
}

/// A run of some seconds that finds an origin before each.
fn run(name: &str, seconds: u32) -> Vec<RunEvent> {
    let mut random = Random::new(3);
    let mut events = vec![RunEvent::Opened(opening(name, 2).into())];
    for number in 0..seconds {
        events.extend([found(number as u16 + 1), tick(interval(number, 2, 20, &mut random))]);
    }
    events.push(ending(u64::from(seconds)));
    events
}

fn written(path: &Path, events: &[RunEvent]) -> RunRecord {
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    let mut writer = RunFile::create(path, opening).unwrap();
    events.iter().for_each(|event| writer.event(event));
    let finished = writer.finish();
    assert!(finished.trouble.is_none(), "{:?}", finished.trouble);
    finished.record
}

fn names(record: &RunRecord) -> Vec<String> {
    let machine = record.generators.values().next().unwrap();
    machine.opening.outline.origins.iter().map(|origin| origin.name.clone()).collect()
}

#[test]
fn found_origins_are_read_back_after_those_of_the_plan() {
    let folder = Folder::new("found");
    let path = folder.file("run.plim");
    let mut events = run("a", 3);
    // Events that come again, or without their predecessors, change nothing.
    events.insert(5, found(1));
    events.insert(5, found(9));
    let record = written(&path, &events);
    assert_eq!(record, gathered(&events));
    assert_eq!(read(&path).unwrap(), record);
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    let found = ["https://host-1.test:80", "http://host-2.test", "https://host-3.test:80"];
    assert_eq!(names(&record)[0], opening.outline.target);
    assert_eq!(names(&record)[1..], found);
    let copy = folder.file("copy.plim");
    write(&copy, &record).unwrap();
    assert_eq!(read(&copy).unwrap(), record, "a copy lists each of them once");
}

#[test]
fn a_killed_run_has_the_origins_found_until_its_last_second() {
    let folder = Folder::new("found-killed");
    let path = folder.file("run.plim");
    let events = run("a", 5);
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    let mut writer = RunFile::create(&path, opening).unwrap();
    let mut tail = Tail::open(&path).unwrap();
    assert_eq!(tail.more().unwrap().opening.map(|opening| opening.outline.origins.len()), Some(0));
    // Three seconds, and an origin that no second counts yet.
    events[..8].iter().for_each(|event| writer.event(event));
    let followed = tail.more().unwrap().ticks;
    assert_eq!(names(&followed).len(), 4, "a reader of the growing file learns of them");
    for suffix in ["", "-wal"] {
        std::fs::copy(folder.file(&format!("run.plim{suffix}")), folder.file(&format!("left.plim{suffix}")))
            .unwrap();
    }
    assert_eq!(names(&read(&folder.file("left.plim")).unwrap()).len(), 4);
}

#[test]
fn one_run_with_different_origins_is_a_conflict() {
    let (a, mut other) = (gathered(&run("a", 3)), gathered(&run("a", 3)));
    assert_eq!(RunRecord::merge(a.clone(), other.clone()).unwrap(), a);
    let last = other.generators.values_mut().next().unwrap().found.pop();
    assert!(last.is_some());
    let error = RunRecord::merge(a, other).unwrap_err();
    assert!(error.to_string().contains("different origins"), "{error}");
}
