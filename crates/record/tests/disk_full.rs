//! A full disk keeps the totals and names the gap. Each test fills its own small disk.

use plimsoll_plan::failure_example::FailureExample;
use plimsoll_record::RunRecord;
use plimsoll_record::event::{NoteKind, Opening, RunEvent, Sink};
use plimsoll_record::record::Gatherer;
use plimsoll_record::run_file::{RunFile, Writer, read, write};
use plimsoll_testkit::made_up::disk::on_a_disk;
use plimsoll_testkit::made_up::watching::{seconds, watched_opening};
use plimsoll_testkit::made_up::{Folder, Random, ending, interval, names, note, opening, tick};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Fills the disk except for `left_bytes` with another file.
fn hog(disk: &Path, left_bytes: usize) -> PathBuf {
    let path = disk.join("hog");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut size = 0u64;
    for piece in [65_536, 4096] {
        while file.write_all(&vec![1; piece]).is_ok() {
            size += piece as u64;
        }
        // The last piece may have been written partly.
        file.set_len(size).unwrap();
    }
    file.set_len(size.saturating_sub(left_bytes as u64)).unwrap();
    path
}

/// A run that is being written into a file, and its expected record.
struct Run {
    writer: Writer,
    whole: Gatherer,
    random: Random,
    series: usize,
    next: u32,
}

impl Run {
    fn new(path: &Path, opening: &Opening) -> Self {
        let writer = RunFile::create(path, opening).unwrap();
        let series = opening.outline.requests.len();
        let mut run = Self { writer, whole: Gatherer::default(), random: Random::new(1), series, next: 0 };
        run.event(&RunEvent::Opened(std::sync::Arc::new(opening.clone())));
        run
    }

    fn event(&mut self, event: &RunEvent) {
        self.whole.event(event);
        self.writer.event(event);
    }

    fn ticks(&mut self, count: u32) {
        for _ in 0..count {
            let event = tick(interval(self.next, self.series, 500, &mut self.random));
            self.event(&event);
            self.next += 1;
        }
    }

    fn end(mut self) -> (RunRecord, RunRecord) {
        self.event(&ending(u64::from(self.next)));
        let finished = self.writer.finish();
        assert!(finished.trouble.is_none(), "{:?}", finished.trouble);
        (finished.record, self.whole.into_record())
    }
}

/// The seconds missing in `record`, as ranges.
fn missing(record: &RunRecord, ticks: u32) -> Vec<(u32, u32)> {
    let mut gaps: Vec<(u32, u32)> = Vec::new();
    for number in (0..ticks).filter(|number| !record.generators["a"].ticks.contains_key(number)) {
        match gaps.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => gaps.push((number, number)),
        }
    }
    gaps
}

/// Checks that only ticks are missing, that every gap has its note, and that the file agrees with the record.
fn assert_only_ticks_are_missing(path: &Path, finished: &RunRecord, whole: &RunRecord, ticks: u32) {
    let (mine, full) = (&finished.generators["a"], &whole.generators["a"]);
    assert_eq!(mine.totals, full.totals);
    assert_eq!(mine.workers, full.workers);
    assert_eq!(mine.ending, full.ending);
    assert!(mine.ticks.iter().all(|(number, row)| full.ticks[number] == *row));
    let outline = &mine.opening.outline;
    let noted: Vec<u64> = mine.notes.iter().filter(|n| n.kind == NoteKind::Gap).map(|n| n.at_ns).collect();
    let gaps = missing(finished, ticks);
    let begun: Vec<u64> = gaps.iter().map(|(first, _)| outline.tick_bounds_ns(*first).0).collect();
    assert_eq!(noted, begun);
    assert_eq!(&read(path).unwrap(), finished);
}

#[test]
fn a_disk_that_the_run_itself_fills_keeps_the_totals_and_names_the_gap() {
    on_a_disk(
        "disk_full::a_disk_that_the_run_itself_fills_keeps_the_totals_and_names_the_gap",
        5120,
        |disk| {
            let path = disk.join("run.plim");
            let mut run = Run::new(&path, &opening("a", 1));
            run.ticks(2000);
            run.event(&note(2000, "interrupted"));
            let (finished, whole) = run.end();
            assert_only_ticks_are_missing(&path, &finished, &whole, 2000);
            let gaps = missing(&finished, 2000);
            println!("gaps: {gaps:?}, file: {} KiB", path.metadata().unwrap().len() / 1024);
            assert_eq!(gaps.len(), 1, "{gaps:?}");
            assert!(gaps[0].0 > 200, "most of the disk was used");
            let notes = &finished.generators["a"].notes;
            assert_eq!(
                notes[0].text,
                format!(
                    "the file lacks the seconds from {}.5 s to 1999.5 s: the disk was full; the totals include them",
                    gaps[0].0 - 1
                )
            );
            assert_eq!(notes[1].text, "interrupted");
            assert_eq!(names(disk), ["run.plim"], "the log was folded into the file");
        },
    );
}

#[test]
fn a_temporarily_full_disk_only_makes_a_gap() {
    on_a_disk("disk_full::a_temporarily_full_disk_only_makes_a_gap", 16_384, |disk| {
        let path = disk.join("run.plim");
        let mut run = Run::new(&path, &opening("a", 1));
        run.ticks(20);
        let hog = hog(disk, 0);
        run.ticks(600);
        // After this, only the end of the run retries.
        run.event(&RunEvent::FailureRecorded(FailureExample {
            at_ns: 7,
            request: "request 0".into(),
            check: "is paid".into(),
            observed: "expected `true`, found `false`".into(),
            status: 200,
            excerpt: "{}".into(),
        }));
        std::fs::remove_file(&hog).unwrap();
        run.ticks(50);
        let (finished, whole) = run.end();
        assert_only_ticks_are_missing(&path, &finished, &whole, 670);
        assert_eq!(finished.generators["a"].failure_examples.len(), 1);
        let gaps = missing(&finished, 670);
        println!("gaps: {gaps:?}");
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        assert!(gaps[0].0 >= 20 && gaps[0].1 == 619, "{gaps:?}");
        assert_eq!(names(disk), ["run.plim"]);
    });
}

#[test]
fn a_kill_while_the_disk_is_full_keeps_the_totals_up_to_the_last_second() {
    on_a_disk(
        "disk_full::a_kill_while_the_disk_is_full_keeps_the_totals_up_to_the_last_second",
        8192,
        |disk| {
            let path = disk.join("run.plim");
            let mut run = Run::new(&path, &opening("a", 3));
            run.ticks(20);
            hog(disk, 0);
            run.ticks(400);
            // A kill would leave the files that are on the disk now.
            let left = Folder::new("killed-in-a-gap");
            for name in ["run.plim", "run.plim-wal"] {
                std::fs::copy(disk.join(name), left.file(name)).unwrap();
            }
            let record = read(&left.file("run.plim")).unwrap();
            let (_, whole) = run.end();
            let (killed, full) = (&record.generators["a"], &whole.generators["a"]);
            assert_eq!(killed.totals, full.totals);
            assert_eq!(killed.workers, full.workers);
            assert_eq!(killed.ending, None);
            assert!(!missing(&record, 420).is_empty());
        },
    );
}

#[test]
fn the_totals_are_safe_with_any_amount_of_free_space() {
    on_a_disk("disk_full::the_totals_are_safe_with_any_amount_of_free_space", 16_384, |disk| {
        for left_kib in (0..4096).step_by(172) {
            let path = disk.join("run.plim");
            let mut run = Run::new(&path, &opening("a", 4));
            run.ticks(30);
            let hog = hog(disk, left_kib * 1024);
            run.ticks(120);
            let (finished, whole) = run.end();
            assert_only_ticks_are_missing(&path, &finished, &whole, 150);
            println!("{left_kib} KiB left: gaps {:?}", missing(&finished, 150));
            assert_eq!(names(disk), ["hog", "run.plim"], "{left_kib} KiB left");
            std::fs::remove_file(hog).unwrap();
            std::fs::remove_file(path).unwrap();
        }
    });
}

/// A transaction that finds no space is always rolled back, with the log at every length.
#[test]
fn the_totals_are_safe_when_the_disk_fills_with_the_log_at_any_length() {
    on_a_disk(
        "disk_full::the_totals_are_safe_when_the_disk_fills_with_the_log_at_any_length",
        8192,
        |disk| {
            for ticks in 4..28 {
                let path = disk.join("run.plim");
                let mut run = Run::new(&path, &opening("a", 1));
                run.ticks(ticks);
                let hog = hog(disk, 0);
                run.ticks(60);
                // A reader opens the file while the disk is full.
                let seen = read(&path).unwrap();
                let (finished, whole) = run.end();
                assert_eq!(seen.generators["a"].totals, whole.generators["a"].totals);
                assert_only_ticks_are_missing(&path, &finished, &whole, ticks + 60);
                std::fs::remove_file(hog).unwrap();
                std::fs::remove_file(path).unwrap();
            }
        },
    );
}

/// A kill on a full disk leaves a log, and no space for SQLite's index of it.
#[test]
fn a_run_in_two_files_is_read_on_a_full_disk_and_nothing_is_written() {
    on_a_disk("disk_full::a_run_in_two_files_is_read_on_a_full_disk_and_nothing_is_written", 8192, |disk| {
        let live = disk.join("live.plim");
        let mut run = Run::new(&live, &opening("a", 2));
        run.ticks(30);
        let path = disk.join("run.plim");
        for suffix in ["", "-wal"] {
            let [from, to] = ["live.plim", "run.plim"].map(|name| disk.join(format!("{name}{suffix}")));
            std::fs::copy(from, to).unwrap();
        }
        let whole = read(&live).unwrap();
        drop(run);
        std::fs::remove_file(&live).unwrap();
        hog(disk, 0);
        assert_eq!(read(&path).unwrap(), whole);
        assert_eq!(read(&path).unwrap(), whole);
    });
}

#[test]
fn a_file_that_is_deleted_during_the_run_is_named_and_the_record_is_whole() {
    let folder = Folder::new("deleted-meanwhile");
    let path = folder.file("run.plim");
    let mut run = Run::new(&path, &opening("a", 1));
    run.ticks(12);
    std::fs::remove_file(&path).unwrap();
    run.ticks(12);
    run.event(&ending(24));
    let finished = run.writer.finish();
    let trouble = finished.trouble.unwrap();
    let said = format!("the run file `{}` was deleted or moved during the run", path.display());
    assert_eq!(trouble.to_string(), said);
    assert_eq!(finished.record, run.whole.into_record(), "including all seconds");
    let second = folder.file("second.plim");
    write(&second, &finished.record).unwrap();
    assert_eq!(read(&second).unwrap(), finished.record);
}

#[test]
fn a_disk_without_any_space_is_reported_before_the_run() {
    on_a_disk("disk_full::a_disk_without_any_space_is_reported_before_the_run", 2048, |disk| {
        hog(disk, 100 * 1024);
        let path = disk.join("run.plim");
        let error = RunFile::create(&path, &opening("a", 1)).map(|_| ()).unwrap_err();
        println!("{error}");
        assert!(error.to_string().starts_with(&format!("cannot create run file `{}`: ", path.display())));
        assert!(error.hint().unwrap().contains("df -h"));
        assert_eq!(names(disk), ["hog"], "the attempt leaves no file");
    });
}

/// Another process takes the space between the check and the write.
#[test]
fn another_process_that_takes_the_space_costs_at_most_some_seconds() {
    use std::sync::atomic::{AtomicBool, Ordering};
    on_a_disk("disk_full::another_process_that_takes_the_space_costs_at_most_some_seconds", 12_288, |disk| {
        for round in 0..12 {
            let path = disk.join("run.plim");
            let mut run = Run::new(&path, &opening("a", 3));
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::fs::remove_file(hog(disk, 0)).unwrap();
                    }
                });
                run.ticks(400);
                is_over.store(true, Ordering::Relaxed);
            });
            let (finished, whole) = run.end();
            assert_only_ticks_are_missing(&path, &finished, &whole, 400);
            println!("round {round}: gaps {:?}", missing(&finished, 400));
            std::fs::remove_file(path).unwrap();
        }
    });
}

#[test]
fn a_temporarily_full_disk_loses_monitor_samples_and_reports_it() {
    on_a_disk("disk_full::a_temporarily_full_disk_loses_monitor_samples_and_reports_it", 16_384, |disk| {
        let path = disk.join("run.plim");
        let mut run = Run::new(&path, &watched_opening("a", &["api", "db"]));
        let mut random = Random::new(9);
        let mut go_on = |run: &mut Run, count: u32| {
            for _ in 0..count {
                seconds(run.next, 2, 30, &mut random).iter().for_each(|event| run.event(event));
                run.ticks(1);
            }
        };
        go_on(&mut run, 30);
        let hog = hog(disk, 0);
        go_on(&mut run, 600);
        std::fs::remove_file(&hog).unwrap();
        go_on(&mut run, 60);
        let (finished, whole) = run.end();
        let (mine, full) = (&finished.generators["a"], &whole.generators["a"]);
        assert_eq!(mine.totals, full.totals);
        assert_eq!(mine.watched.channels.len(), 60);
        let points = &mine.watched.channels[0].points;
        println!("{} of 690 samples", points.len());
        assert!((90..680).contains(&points.len()), "{}", points.len());
        let all = &full.watched.channels[0].points;
        assert!(points.iter().all(|point| all.contains(point)));
        assert_eq!(points.last(), all.last(), "after the gap, all samples are kept");
        let gap = mine.notes.last().unwrap();
        assert!(gap.text.starts_with("samples of monitors between "), "{}", gap.text);
        assert!(gap.text.ends_with(" s are missing: the disk was full"), "{}", gap.text);
        assert_eq!(read(&path).unwrap(), finished);
    });
}
