//! A bit that a disk or a copy has flipped is reported: readers get what was written, or an error.

use plimsoll_plan::failure_example::FailureExample;
use plimsoll_record::RunRecord;
use plimsoll_record::event::{RunEvent, Sink};
use plimsoll_record::run_file::{RunFile, Span, Tail, read, read_spans};
use plimsoll_testkit::made_up::watching::{seconds, watched_opening};
use plimsoll_testkit::made_up::{Folder, Random, ending, events, gathered, interval, note, opening, tick};
use rusqlite::Connection;
use std::path::Path;

/// A run with something in every table.
fn full(path: &Path) {
    let mut writer = RunFile::create(path, &watched_opening("a", &["api", "db"])).unwrap();
    let mut random = Random::new(7);
    for number in 0..23u32 {
        seconds(number, 2, 6, &mut random).iter().for_each(|event| writer.event(event));
        writer.event(&tick(interval(number, 1, 40, &mut random)));
    }
    for check in ["is paid", "is even"] {
        writer.event(&RunEvent::FailureRecorded(FailureExample {
            at_ns: 7,
            request: "request 0".into(),
            check: check.into(),
            observed: "expected `1`, found `2`".into(),
            status: 200,
            excerpt: "{}".into(),
        }));
    }
    writer.event(&note(20, "deployed"));
    writer.event(&ending(23));
    assert!(writer.finish().trouble.is_none());
}

/// All data that reports use.
fn all(path: &Path) -> Result<(RunRecord, Vec<Span>, Vec<Span>), plimsoll_record::Error> {
    Ok((read(path)?, read_spans(path, "a", None)?, read_spans(path, "a", Some(0))?))
}

#[test]
fn a_flipped_bit_is_reported_or_changes_nothing() {
    let folder = Folder::new("turned");
    let (whole, turned) = (folder.file("whole.plim"), folder.file("turned.plim"));
    full(&whole);
    let expected = all(&whole).unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let mut random = Random::new(11);
    // Most of a small file is empty, so every second flip hits a byte that is in use.
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let mut named = 0;
    let rounds = 600;
    for round in 0..rounds {
        let anywhere = random.below(bytes.len() as u64) as usize;
        let at = if round % 2 == 0 { anywhere } else { used[random.below(used.len() as u64) as usize] };
        let bit = random.below(8);
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << bit;
        std::fs::write(&turned, &bytes).unwrap();
        match all(&turned) {
            Ok(found) => assert!(found == expected, "bit {bit} of byte {at} changes the record"),
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(&format!("`{}`", turned.display())), "byte {at}: {said}");
                named += 1;
            }
        }
    }
    println!("{named} of {rounds} were reported; the others hit unused bytes");
    assert!(named > rounds / 8, "{named}");
}

#[test]
fn changed_or_removed_rows_are_reported() {
    let folder = Folder::new("changed");
    for (name, sql, said) in [
        ("tick", "UPDATE tick SET body = (SELECT body FROM tick ORDER BY id LIMIT 1)", "a row of `tick`"),
        ("total", "UPDATE total SET body = (SELECT body FROM total) || X'00'", "a row of `total`"),
        ("worker", "UPDATE worker SET busy_ns = busy_ns + 1", "a row of `worker`"),
        ("text", "UPDATE note SET text = 'x'", "a row of `note`"),
        ("ending", "UPDATE origin SET ending = NULL", "a row of `origin`"),
        ("limit", "UPDATE channel SET limit_value = 7.5", "a row of `channel`"),
        ("less", "DELETE FROM tick WHERE id % 10 = 3", "its table `tick` differs from the end of the run"),
        ("none", "DELETE FROM sample", "its table `sample` differs from the end of the run"),
        ("table", "DROP TABLE sample", "its table `sample` differs from the end of the run"),
        ("spans", "DELETE FROM series", "its table `series` differs from the end of the run"),
        (
            "forgotten",
            "ALTER TABLE sight DROP COLUMN crc",
            "its table `sight` differs from the end of the run",
        ),
    ] {
        let path = folder.file(&format!("{name}.plim"));
        full(&path);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("is damaged: ") && error.contains(said), "{name}: {error}");
    }
    let path = folder.file("span.plim");
    full(&path);
    Connection::open(&path).unwrap().execute_batch("UPDATE series SET last_tick = last_tick + 1").unwrap();
    assert!(read_spans(&path, "a", None).unwrap_err().to_string().contains("a row of `series`"));
}

#[test]
fn a_flipped_bit_in_a_running_run_is_reported_too() {
    let folder = Folder::new("turned-live");
    let path = folder.file("run.plim");
    let events = events(&opening("a", 1), 9, 30);
    let mut writer = RunFile::create(&path, &opening("a", 1)).unwrap();
    events[..7].iter().for_each(|event| writer.event(event));
    assert_eq!(read(&path).unwrap(), gathered(&events[..7]));
    Connection::open(&path).unwrap().execute_batch("UPDATE tick SET crc = crc + 1").unwrap();
    let error = Tail::open(&path).and_then(|mut tail| tail.more()).unwrap_err().to_string();
    assert!(error.contains("a row of `tick` does not match its checksum"), "{error}");
}
