//! The run file: what is written is read back, even if the writer is killed.

use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::metric::{RunHist, SeriesHist, SeriesSum};
use plimsoll_record::event::{Note, NoteKind, RunEvent, Sink};
use plimsoll_record::run_file::{RunFile, Tail, Writer, read, read_spans, write};
use plimsoll_record::steered::{Level, Steered};
use plimsoll_record::{Error, RunRecord};
use plimsoll_stats::Tally;
use plimsoll_testkit::made_up::{Folder, events, forget_checksums, gathered, names, opening};
use rusqlite::Connection;
use std::path::Path;

fn written(path: &Path, events: &[RunEvent]) -> Writer {
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    let mut writer = RunFile::create(path, opening).unwrap();
    events.iter().for_each(|event| writer.event(event));
    writer
}

#[test]
fn a_written_run_is_read_back() {
    let folder = Folder::new("read-back");
    for (series, ticks) in [(1, 1), (1, 9), (1, 10), (1, 37), (3, 28)] {
        let path = folder.file(&format!("{series}-{ticks}.plim"));
        let events = events(&opening("a", series), ticks, 50);
        let finished = written(&path, &events).finish();
        assert!(finished.trouble.is_none(), "{:?}", finished.trouble);
        assert_eq!(finished.record, gathered(&events), "{series} series, {ticks} ticks");
        assert_eq!(read(&path).unwrap(), gathered(&events), "{series} series, {ticks} ticks");
    }
}

fn sample(at_ns: u64, check: &str) -> RunEvent {
    RunEvent::FailureRecorded(FailureExample {
        at_ns,
        request: "request 0".into(),
        check: check.into(),
        observed: "expected `1`, found `2`".into(),
        status: 200,
        excerpt: "{\"a\": 2}\n".repeat(40),
    })
}

#[test]
fn failure_examples_are_read_back_in_order_and_only_a_few_of_each_kind() {
    let folder = Folder::new("samples");
    let path = folder.file("run.plim");
    let mut events = events(&opening("a", 1), 20, 50);
    for at in 0..8u64 {
        let check = if at % 2 == 0 { "is even" } else { "is odd" };
        events.insert(4 + at as usize, sample(at, check));
    }
    let finished = written(&path, &events).finish();
    assert!(finished.trouble.is_none(), "{:?}", finished.trouble);
    let kept: Vec<u64> =
        finished.record.generators["a"].failure_examples.iter().map(|one| one.at_ns).collect();
    assert_eq!(kept, [0, 1, 2, 3, 4, 5], "three of each");
    assert_eq!(finished.record, gathered(&events));
    assert_eq!(read(&path).unwrap(), gathered(&events));
    let other = gathered(&[&three_seconds("b")[..], &[sample(3, "is even")]].concat());
    let both = RunRecord::merge(read(&path).unwrap(), other).unwrap();
    let merged = folder.file("merged.plim");
    write(&merged, &both).unwrap();
    assert_eq!(read(&merged).unwrap(), both);
    assert_eq!(both.generators["b"].failure_examples.len(), 1);
}

/// Writes a run with these notes and returns the notes that are read back.
fn notes_of(name: &str, notes: &[Note]) -> Vec<Note> {
    let folder = Folder::new(name);
    let path = folder.file("run.plim");
    let mut events = three_seconds("a");
    events.splice(2..2, notes.iter().cloned().map(RunEvent::Noted));
    assert!(written(&path, &events).finish().trouble.is_none());
    let mut kept = read(&path).unwrap().generators["a"].notes.clone();
    // Every run has the note of its end.
    kept.retain(|note| note.text != "interrupted");
    kept
}

fn steps() -> [Steered; 4] {
    let level = |to, is_open, share| Steered::Level(Level { to, is_open, share });
    [Steered::Paused, Steered::Resumed, level(1_100.0, true, 1.1), level(5.0, false, 0.5)]
}

#[test]
fn manual_changes_are_kept_with_their_numbers() {
    let notes: Vec<Note> = steps().into_iter().zip(1..).map(|(step, at_ns)| step.note(at_ns)).collect();
    assert_eq!(notes_of("steps", &notes), notes);
}

/// Earlier builds wrote only the sentence and the kind `control`.
#[test]
fn manual_changes_of_old_files_are_parsed_from_their_sentences() {
    let level = |level: &str| format!("by hand the load was set to {level} % of the plan)");
    let sentences = [
        "paused by hand".to_owned(),
        "resumed by hand".to_owned(),
        level("1,100/s (110"),
        level("5 users (50"),
    ];
    let old = |text: &str, kind| Note { at_ns: 7, kind, text: text.to_owned() };
    let notes = notes_of("old-steps", &sentences.each_ref().map(|text| old(text, NoteKind::Control)));
    let expected = steps().map(|step| step.note(7));
    assert_eq!(notes.len(), expected.len());
    for ((note, expected), sentence) in notes.iter().zip(&expected).zip(&sentences) {
        assert_eq!(&note.text, sentence);
        let (Some(read), Some(meant)) = (Steered::of(note), Steered::of(expected)) else {
            panic!("no step: {note:?}")
        };
        assert_eq!(read.note(0).text, meant.note(0).text, "the numbers agree");
    }
    // The first note has these words but is not a manual change. The second is a change by plimsoll itself.
    let written =
        [old(&sentences[0], NoteKind::Note), old("stopped by the circuit breaker", NoteKind::Control)];
    assert_eq!(notes_of("no-steps", &written), written);
}

fn three_seconds(origin: &str) -> Vec<RunEvent> {
    events(&opening(origin, 1), 3, 50)
}

#[test]
fn a_failure_example_is_in_the_file_before_the_run_ends() {
    let folder = Folder::new("sample-early");
    let path = folder.file("run.plim");
    let events = three_seconds("a");
    let mut writer = written(&path, &events[..3]);
    writer.event(&sample(7, "is even"));
    assert_eq!(read(&path).unwrap().generators["a"].failure_examples.len(), 1);
}

#[test]
fn a_file_of_an_early_version_has_neither_failure_examples_nor_cells_of_single_requests() {
    let folder = Folder::new("early");
    let path = folder.file("run.plim");
    let events = events(&opening("a", 2), 14, 50);
    drop(written(&path, &events));
    let db = Connection::open(&path).unwrap();
    forget_checksums(&db);
    db.execute("DROP TABLE sample", ()).unwrap();
    let mut all = db.prepare("SELECT id, body FROM tick").unwrap();
    let rows: Vec<(i64, Vec<u8>)> =
        all.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (id, body) in &rows {
        let mut rest = &body[..];
        (0..2).for_each(|_| drop(Tally::decode(&mut rest).unwrap()));
        assert!(!rest.is_empty());
        let early = &body[..body.len() - rest.len()];
        db.execute("UPDATE tick SET body = ?2 WHERE id = ?1", (id, early)).unwrap();
    }
    drop(all);
    drop(db);
    let early = read(&path).unwrap();
    let finished = |record: &RunRecord| -> Vec<u64> {
        record.generators["a"].ticks.values().map(|row| row.all().sums[SeriesSum::Finished.id()]).collect()
    };
    assert_eq!(finished(&early), finished(&gathered(&events)));
    assert!(
        early.generators["a"]
            .ticks
            .values()
            .all(|row| row.alongside(&opening("a", 2).outline).sizes.is_empty())
    );
}

#[test]
fn a_finished_run_is_one_file() {
    let folder = Folder::new("one-file");
    let path = folder.file("run.plim");
    let writer = written(&path, &events(&opening("a", 1), 25, 50));
    assert_eq!(names(folder.path()), ["run.plim"], "even before the writer is closed");
    drop(writer);
    assert_eq!(names(folder.path()), ["run.plim"]);
}

#[test]
fn a_run_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("owner-only");
    let path = folder.file("run.plim");
    let writer = RunFile::create(&path, &opening("a", 1)).unwrap();
    for name in names(folder.path()) {
        let mode = std::fs::metadata(folder.file(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    drop(writer);
}

#[test]
fn a_replaced_file_is_reported_and_the_totals_are_complete() {
    let folder = Folder::new("exchanged");
    let (mine, other) = (folder.file("mine.plim"), folder.file("other.plim"));
    let mine_events = events(&opening("a", 1), 5, 10);
    let writer = written(&mine, &mine_events);
    drop(written(&other, &events(&opening("b", 1), 5, 10)));
    std::fs::rename(&other, &mine).unwrap();
    let finished = writer.finish();
    let trouble = finished.trouble.unwrap().to_string();
    assert!(trouble.contains("lacks the run `a`"), "{trouble}");
    assert_eq!(finished.record.generators["a"].totals, gathered(&mine_events).generators["a"].totals);
}

#[test]
fn the_warm_up_is_in_the_ticks_and_not_in_the_totals() {
    let events = events(&opening("a", 1), 10, 50);
    let record = gathered(&events);
    let origin = &record.generators["a"];
    assert_eq!(origin.ticks.len(), 10);
    // 2.5 s of warm-up are ticks 0 (half a second), 1 and 2.
    let sent = SeriesSum::Sent.id();
    assert_eq!(origin.totals.series[0].sums[sent], 7 * 50);
    assert_eq!(origin.workers[0].wall_ns, 7_000_000_000);
    assert_eq!(origin.ticks[&0].all().sums[sent], 50);
}

#[test]
fn a_duplicate_tick_counts_once() {
    let folder = Folder::new("twice");
    let mut events = events(&opening("a", 1), 12, 50);
    let once = gathered(&events);
    events.insert(8, events[7].clone());
    events.insert(12, events[5].clone());
    assert_eq!(gathered(&events), once);
    assert_eq!(written(&folder.file("run.plim"), &events).finish().record, once);
}

#[test]
fn a_run_can_be_read_while_it_is_written() {
    let folder = Folder::new("live");
    let path = folder.file("run.plim");
    let events = events(&opening("a", 1), 30, 50);
    let mut writer = written(&path, &events[..=17]);
    let so_far = read(&path).unwrap();
    assert_eq!(so_far, gathered(&events[..=17]));
    assert_eq!(so_far.generators["a"].ending, None);
    events[18..].iter().for_each(|event| writer.event(event));
    assert_eq!(writer.finish().record, gathered(&events));
    assert_eq!(names(folder.path()), ["run.plim"]);
}

#[test]
fn a_new_file_exists_within_milliseconds() {
    let folder = Folder::new("fast");
    let opening = opening("a", 1);
    let mut times_ms: Vec<f64> = (0..9)
        .map(|k| {
            let path = folder.file(&format!("{k}.plim"));
            let begin_ns = cpu_ns();
            let writer = RunFile::create(&path, &opening).unwrap();
            let time_ms = (cpu_ns() - begin_ns) as f64 / 1e6;
            drop(writer);
            time_ms
        })
        .collect();
    times_ms.sort_by(f64::total_cmp);
    println!("creating: {times_ms:.2?} ms");
    assert!(times_ms[0] < 10.0, "{times_ms:?} ms");
}

/// Returns the CPU time of this thread, which excludes the other work of the machine. The kernel updates it when the
/// thread yields.
fn cpu_ns() -> u64 {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_run_file_appears_under_its_name_only_when_it_is_valid() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = Folder::new("appears");
    let opening = opening("a", 3);
    let is_over = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let looks = [0, 1].map(|who| {
            let (folder, opening, is_over) = (&folder, &opening, &is_over);
            scope.spawn(move || {
                let mut seen = 0;
                while !is_over.load(Ordering::Relaxed) {
                    for name in names(folder.path()).iter().filter(|name| name.ends_with(".plim")) {
                        let path = folder.file(name);
                        let found = match who {
                            0 => read(&path).map(|record| record.generators["a"].opening.clone()),
                            _ => Tail::open(&path).and_then(|mut tail| tail.more()).map(|fresh| {
                                // A locked file yields nothing new.
                                fresh.opening.unwrap_or_else(|| opening.clone().into())
                            }),
                        };
                        match found {
                            Ok(found) => assert_eq!(*found, *opening, "{name}"),
                            Err(gone) => assert!(matches!(gone, Error::NoSuchFile { .. }), "{name}: {gone}"),
                        }
                        seen += 1;
                    }
                }
                seen
            })
        });
        for round in 0..60 {
            let path = folder.file(&format!("{round}.plim"));
            let writer = RunFile::create(&path, &opening).unwrap();
            assert!(folder.file(&format!("{round}.plim-wal")).exists(), "it is written with a log");
            drop(writer);
            if round % 10 == 9 {
                names(folder.path()).iter().for_each(|name| drop(std::fs::remove_file(folder.file(name))));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        looks.map(|look| look.join().unwrap())
    });
    println!("looked at files {seen:?} times");
    assert!(seen.iter().all(|seen| *seen > 0), "{seen:?}");
    // A reader of a run file recreates its log if the directory is cleared at this moment, so those names may remain.
    let is_a_runs = |name: &String| {
        let run = name.trim_end_matches("-wal").trim_end_matches("-shm");
        run.strip_suffix(".plim").is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let mut left = names(folder.path());
    left.retain(|name| !is_a_runs(name));
    assert_eq!(left, [""; 0], "no temporary file remains");
}

#[test]
fn existing_files_are_never_overwritten() {
    let folder = Folder::new("exists");
    let path = folder.file("run.plim");
    std::fs::write(&path, "precious").unwrap();
    let error = RunFile::create(&path, &opening("a", 1)).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        format!("`{}` exists, and run files are never overwritten", path.display())
    );
    assert!(error.hint().unwrap().contains("move the existing one"));
    assert!(matches!(write(&path, &gathered(&events(&opening("a", 1), 3, 5))), Err(Error::Exists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");

    // A dangling link counts as existing: following it would create a file elsewhere.
    let link = folder.file("link.plim");
    std::os::unix::fs::symlink(folder.file("elsewhere"), &link).unwrap();
    assert!(matches!(RunFile::create(&link, &opening("a", 1)), Err(Error::Exists { .. })));
    assert!(!folder.file("elsewhere").exists());
}

#[test]
fn an_unwritable_directory_is_named_before_the_run() {
    let folder = Folder::new("no-folder");
    let path = folder.file("missing/run.plim");
    let error = RunFile::create(&path, &opening("a", 1)).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot create run file `{}`: ", path.display())));
    assert!(error.hint().unwrap().contains("writable directory"));
    // Not even root can write here.
    assert!(matches!(
        RunFile::create(Path::new("/proc/run.plim"), &opening("a", 1)),
        Err(Error::CannotCreate { .. })
    ));
}

#[test]
fn unreadable_files_are_reported_in_a_sentence() {
    let folder = Folder::new("sentences");
    let sentence = |path: &Path| {
        let error = read(path).unwrap_err();
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()));
        error.to_string()
    };
    let name = |path: &Path| path.display().to_string();

    let missing = folder.file("missing.plim");
    assert_eq!(sentence(&missing), format!("no such file: `{}`", name(&missing)));
    assert!(!missing.exists(), "reading must not create it");
    assert_eq!(sentence(folder.path()), format!("`{}` is not a run file", name(folder.path())));

    let text = folder.file("text.plim");
    std::fs::write(&text, "GET / HTTP/1.1\r\n".repeat(1000)).unwrap();
    assert_eq!(sentence(&text), format!("`{}` is not a run file", name(&text)));
    let empty = folder.file("empty.plim");
    std::fs::write(&empty, "").unwrap();
    assert_eq!(sentence(&empty), format!("`{}` is not a run file", name(&empty)));
    assert_eq!(std::fs::read(&empty).unwrap(), b"", "a foreign file stays unchanged");
    let other = folder.file("other.plim");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE origin (id)").unwrap();
    assert_eq!(sentence(&other), format!("`{}` is not a run file", name(&other)));

    let with = |file: &str, sql: &str| {
        let path = folder.file(file);
        drop(written(&path, &events(&opening("a", 1), 12, 50)));
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    };
    let newer = with("newer.plim", "PRAGMA user_version = 4");
    assert_eq!(
        sentence(&newer),
        format!(
            "`{}` has format version `4` of a newer plimsoll; this version reads up to `3`",
            name(&newer)
        )
    );
    let layout = with("layout.plim", "UPDATE meta SET value = '9' WHERE key = 'hist_layout'");
    assert!(sentence(&layout).contains("has histograms of layout `9`"), "{}", sentence(&layout));

    let damage = |file: &str, sql: &str| {
        let path = with(file, sql);
        let said = sentence(&path);
        assert!(said.starts_with(&format!("the run file `{}` is damaged: ", name(&path))), "{said}");
    };
    damage("cut.plim", "UPDATE tick SET body = substr(body, 1, 100) WHERE id % 10 = 3");
    damage("longer.plim", "UPDATE tick SET body = CAST(body || 'x' AS BLOB)");
    damage("text-body.plim", "UPDATE tick SET body = 'seven'");
    damage("no-totals.plim", "DELETE FROM total");
    damage("no-origin.plim", "DELETE FROM origin");
    damage("no-table.plim", "DROP TABLE worker");
    damage("json.plim", "UPDATE origin SET opening = replace(opening, 'outline', 'outlook')");
}

/// Applies `sql` to a file with two series and returns the error.
fn refused(folder: &Folder, sql: &str) -> String {
    let path = folder.file("crafted.plim");
    let _ = std::fs::remove_file(&path);
    drop(written(&path, &events(&opening("a", 2), 12, 50)));
    let db = Connection::open(&path).unwrap();
    forget_checksums(&db);
    db.execute_batch(sql).unwrap();
    drop(db);
    let said = read(&path).unwrap_err().to_string();
    let of_tail = Tail::open(&path).and_then(|mut tail| tail.more()).map(|_| String::new());
    println!("{said}");
    of_tail.unwrap_or_else(|e| e.to_string()) + &said
}

#[test]
fn a_plan_that_contradicts_its_totals_is_rejected() {
    let folder = Folder::new("disagree");
    let without = "UPDATE origin SET opening = json_set(opening, '$.outline.requests', json('[]'))";
    assert!(refused(&folder, without).contains("its totals have 2 series and its plan has 0"));
    let fewer = "UPDATE origin SET opening = json_remove(opening, '$.outline.requests[1]')";
    assert!(refused(&folder, fewer).contains("its totals have 2 series and its plan has 1"));
}

#[test]
fn a_name_of_a_megabyte_is_truncated() {
    let folder = Folder::new("long-names");
    let path = folder.file("run.plim");
    let mut opening = opening("a", 2);
    opening.outline.name = "x".repeat(1_000_000);
    opening.outline.requests[1].name = "\u{e9}".repeat(301);
    opening.outline.requests[0].path = format!("/{}", "p".repeat(2_000));
    drop(written(&path, &events(&opening, 3, 5)));
    let read = read(&path).unwrap();
    let plan = &read.generators["a"].opening.outline;
    assert_eq!(plan.name, "x".repeat(300) + "\u{2026}");
    assert_eq!(plan.requests[1].name, "\u{e9}".repeat(300) + "\u{2026}");
    assert_eq!(
        plan.requests[0], opening.outline.requests[0],
        "a path is kept in full, because a rerun sends it"
    );
}

#[test]
fn sql_code_in_place_of_rows_is_rejected_and_never_run() {
    const ENDLESS: &str = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n)";
    let folder = Folder::new("programs");
    let view = format!("DROP TABLE worker; CREATE VIEW worker AS {ENDLESS} SELECT k AS worker FROM n");
    let said = refused(&folder, &view);
    assert_eq!(said.matches("unexpected \"view worker\"").count(), 2, "{said}");
    let trigger = "CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM tick; END";
    assert!(refused(&folder, trigger).contains("trigger t"));
    let computed = "ALTER TABLE note ADD COLUMN more AS (hex(zeroblob(100000000)))";
    assert!(refused(&folder, computed).contains("column more"));
}

#[test]
fn several_generators_share_a_file() {
    let folder = Folder::new("origins");
    let record = ["a", "b", "c"]
        .map(|name| gathered(&events(&opening(name, 2), 14, 20)))
        .into_iter()
        .reduce(|a, b| plimsoll_record::RunRecord::merge(a, b).unwrap())
        .unwrap();
    let path = folder.file("merged.plim");
    write(&path, &record).unwrap();
    assert_eq!(read(&path).unwrap(), record);
    assert_eq!(names(folder.path()), ["merged.plim"]);
}

#[test]
fn single_series_and_rarer_histograms_are_kept_per_ten_seconds() {
    let folder = Folder::new("spans");
    let path = folder.file("run.plim");
    drop(written(&path, &events(&opening("a", 3), 25, 40)));
    let record = read(&path).unwrap();
    let row = &record.generators["a"].ticks[&7];
    assert_eq!(row.all().hists[SeriesHist::Response.id()].count(), 120);
    assert!(row.all().hists[SeriesHist::FirstByte.id()].is_empty(), "not kept per second");
    assert!(row.run().hists[RunHist::LoopTime.id()].is_empty());

    let spans = read_spans(&path, "a", Some(2)).unwrap();
    let times: Vec<(u32, u32)> = spans.iter().map(|span| (span.first_tick, span.last_tick)).collect();
    assert_eq!(times, [(0, 9), (10, 19), (20, 24)]);
    let counts = spans.iter().map(|span| span.cells.hists[SeriesHist::FirstByte.id()].count());
    assert_eq!(counts.collect::<Vec<_>>(), [400, 400, 200]);
    let run = read_spans(&path, "a", None).unwrap();
    assert_eq!(run[1].cells.hists[RunHist::LoopTime.id()].count(), 10 * 120);
    assert_eq!(read_spans(&path, "a", Some(3)).unwrap(), []);
    assert_eq!(read_spans(&path, "b", None).unwrap(), []);
}
