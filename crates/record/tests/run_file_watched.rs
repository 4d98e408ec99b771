//! Monitor samples in the run file: kept in order, up to a kill, and for several machines; files of early versions have
//! none.

use plimsoll_plan::watch::Unit;
use plimsoll_record::RunRecord;
use plimsoll_record::event::{Opening, RunEvent, Sink};
use plimsoll_record::record::{CHANNELS_KEPT, LAPSES_KEPT};
use plimsoll_record::run_file::{RunFile, Writer, read, write};
use plimsoll_testkit::made_up::watching::{lapse, learnt, reading, seconds, sight, watched_opening};
use plimsoll_testkit::made_up::{Folder, Random, ending, forget_checksums, gathered, interval, names, tick};
use rusqlite::Connection;
use std::path::Path;

fn opening() -> Opening {
    watched_opening("a", &["api", "db"])
}

/// Twenty seconds with two monitors, the second of which fails occasionally.
fn run() -> Vec<RunEvent> {
    let mut random = Random::new(4);
    let mut events = vec![RunEvent::Opened(opening().into()), learnt(1, "version", "15.1")];
    for second in 0..20u64 {
        let at_ns = (second + 1) * 1_000_000_000 + 1_234;
        events.push(sight(
            at_ns,
            0,
            vec![
                reading("", "cpu", Unit::Cores, Some(2.0), second as f64 / 7.0),
                reading("node 12", "rss", Unit::Bytes, None, 1e6),
            ],
        ));
        events.push(match second % 5 {
            4 => lapse(at_ns, 1, "no answer within 800 ms"),
            _ => sight(
                at_ns,
                1,
                vec![reading("", "connections", Unit::Count, Some(100.0 + second as f64), -0.5)],
            ),
        });
        events.push(tick(interval(second as u32, 1, 20, &mut random)));
    }
    events.push(learnt(1, "version", "15.2"));
    events.push(ending(20));
    events
}

fn written(path: &Path, events: &[RunEvent]) -> Writer {
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    let mut writer = RunFile::create(path, opening).unwrap();
    events.iter().for_each(|event| writer.event(event));
    writer
}

#[test]
fn monitor_samples_are_read_back() {
    let folder = Folder::new("watched");
    let path = folder.file("run.plim");
    let finished = written(&path, &run()).finish();
    assert!(finished.trouble.is_none(), "{:?}", finished.trouble);
    assert_eq!(finished.record, gathered(&run()));
    assert_eq!(read(&path).unwrap(), gathered(&run()));
    let watched = &finished.record.generators["a"].watched;
    assert_eq!(watched.channels.len(), 3);
    assert_eq!(watched.channels[0].points.len(), 20);
    assert_eq!(watched.channels[2].limit, Some(118.0), "the newest limit");
    assert_eq!(watched.facts[0].value, "15.2");
    assert_eq!((watched.lapses.len(), watched.lapsed[&1]), (4, 4));
}

#[test]
fn a_truncated_run_has_the_samples_up_to_its_last_second() {
    let folder = Folder::new("watched-cut");
    let path = folder.file("run.plim");
    let events = run();
    // The last of these is a tick.
    let writer = written(&path, &events[..2 + 3 * 11]);
    assert_eq!(read(&path).unwrap(), gathered(&events[..2 + 3 * 11]));
    drop(writer);
    let more = written(&folder.file("more.plim"), &events[..2 + 3 * 11 + 1]);
    let so_far = read(&folder.file("more.plim")).unwrap();
    assert_eq!(
        so_far.generators["a"].watched.channels[0].points.len(),
        11,
        "the next sample waits for its tick"
    );
    drop(more);
}

#[test]
fn invalid_and_duplicate_values_are_left_out() {
    let folder = Folder::new("watched-odd");
    let mut events = run();
    let again = events[2].clone();
    events.insert(4, again);
    for value in [f64::NAN, f64::INFINITY] {
        events.insert(4, sight(1_500_000_000, 0, vec![reading("", "cpu", Unit::Cores, Some(value), value)]));
    }
    let finished = written(&folder.file("run.plim"), &events).finish();
    assert_eq!(finished.record, gathered(&run()));
}

#[test]
fn merging_keeps_the_samples_of_each_machine() {
    let folder = Folder::new("watched-merged");
    let other: Vec<RunEvent> = std::iter::once(RunEvent::Opened(watched_opening("b", &["api"]).into()))
        .chain(run().into_iter().skip(1).filter(|event| !matches!(event, RunEvent::SampleMissed(_))))
        .collect();
    let both = RunRecord::merge(gathered(&run()), gathered(&other)).unwrap();
    let path = folder.file("merged.plim");
    write(&path, &both).unwrap();
    assert_eq!(read(&path).unwrap(), both);
    assert_eq!(
        RunRecord::merge(both.clone(), gathered(&run())).unwrap(),
        both,
        "the same file twice counts once"
    );
    let mut changed = gathered(&run());
    changed.generators.get_mut("a").unwrap().watched.channels[0].points[3].1 += 1.0;
    assert!(RunRecord::merge(both, changed).unwrap_err().to_string().contains("monitors"));
}

#[test]
fn a_file_of_an_early_version_has_no_monitors() {
    let folder = Folder::new("watched-early");
    let path = folder.file("run.plim");
    drop(written(&path, &run()));
    let db = Connection::open(&path).unwrap();
    forget_checksums(&db);
    db.execute_batch(
        "DROP TABLE channel; DROP TABLE sight; DROP TABLE fact; DROP TABLE lapse; DROP TABLE lapsed",
    )
    .unwrap();
    drop(db);
    let early = read(&path).unwrap();
    assert_eq!(early.generators["a"].watched, Default::default());
    assert_eq!(early.generators["a"].totals, gathered(&run()).generators["a"].totals);
}

#[test]
fn damaged_samples_are_rejected_with_a_message() {
    let folder = Folder::new("watched-damaged");
    for (name, sql) in [
        ("cut", "UPDATE sight SET body = substr(body, 1, 7) WHERE id % 10 = 3"),
        ("text", "UPDATE sight SET body = 'seven'"),
        ("number", "UPDATE sight SET body = X'05' || zeroblob(8)"),
        ("long", "UPDATE sight SET body = X'FFFFFFFF01' || zeroblob(8)"),
        ("nan", "UPDATE sight SET body = X'00FFFFFFFFFFFFFFFF'"),
        ("twice", "UPDATE sight SET at_ns = 7"),
        ("gone", "DELETE FROM channel WHERE id % 10 = 7"),
        ("unit", "UPDATE channel SET unit = '\"pounds\"'"),
        ("table", "DROP TABLE lapse"),
    ] {
        let path = folder.file(&format!("{name}.plim"));
        drop(written(&path, &run()));
        let db = Connection::open(&path).unwrap();
        forget_checksums(&db);
        let changed = db.execute_batch(sql);
        drop(db);
        assert!(changed.is_ok(), "{name}: {changed:?}");
        match read(&path) {
            Err(error) => assert!(error.to_string().contains("is damaged: "), "{name}: {error}"),
            Ok(_) => panic!("{name} was read"),
        }
    }
}

#[test]
fn the_numbers_of_channels_and_missed_samples_are_limited() {
    let mut events = vec![RunEvent::Opened(opening().into())];
    for second in 1..=300u64 {
        let readings =
            (0..20).map(|k| reading(&format!("sh {}", second * 20 + k), "cpu", Unit::Cores, None, 0.1));
        events.push(sight(second * 1_000_000_000, 0, readings.collect()));
        events.push(lapse(second * 1_000_000_000, 1, "refused"));
    }
    let folder = Folder::new("watched-endless");
    let finished = written(&folder.file("run.plim"), &events).finish();
    let watched = &finished.record.generators["a"].watched;
    assert_eq!(finished.record, gathered(&events));
    assert_eq!(watched.channels.len(), CHANNELS_KEPT);
    assert_eq!((watched.lapses.len(), watched.lapsed[&1]), (LAPSES_KEPT, 300));
    assert!(watched.facts[0].value.contains("only the first 1000"), "{:?}", watched.facts);
}

/// The limit is for nine hours; one hour must stay below a ninth of it.
#[test]
fn nine_hours_of_eighty_channels_would_stay_under_60_mb() {
    let folder = Folder::new("watched-size");
    let path = folder.file("run.plim");
    let mut random = Random::new(2);
    let template = interval(0, 1, 20, &mut random);
    let bare = {
        let path = folder.file("bare.plim");
        let mut writer = RunFile::create(&path, &opening()).unwrap();
        for number in 0..3600 {
            writer.event(&tick(plimsoll_stats::interval::Interval { tick: number, ..template.clone() }));
        }
        writer.event(&ending(3600));
        drop(writer);
        path.metadata().unwrap().len()
    };
    let mut writer = RunFile::create(&path, &opening()).unwrap();
    for second in 0..3600 {
        seconds(second, 8, 10, &mut random).iter().for_each(|event| writer.event(event));
        writer.event(&tick(plimsoll_stats::interval::Interval { tick: second, ..template.clone() }));
    }
    writer.event(&ending(3600));
    drop(writer);
    let bytes = path.metadata().unwrap().len();
    println!("an hour: {:.2} MB, without monitors {:.2} MB", bytes as f64 / 1e6, bare as f64 / 1e6);
    assert!((bytes - bare) * 9 < 60_000_000, "{bytes} bytes in an hour, {bare} without monitors");
    assert_eq!(names(folder.path()), ["bare.plim", "run.plim"]);
    let record = read(&path).unwrap();
    assert_eq!(record.generators["a"].watched.channels.len(), 80);
}
