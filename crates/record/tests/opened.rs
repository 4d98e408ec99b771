//! Series that are opened during the run: written, read back, merged; ten thousand of them.

use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{RunEvent, Sink};
use plimsoll_record::run_file::{RunFile, read, read_spans, write};
use plimsoll_stats::tally::Tally;
use plimsoll_testkit::made_up::metrics::{opened, tick_with, values};
use plimsoll_testkit::made_up::{Folder, Random, ending, gathered, interval, opening};
use std::path::Path;
use std::time::Instant;

fn keys(count: usize) -> Vec<SeriesKey> {
    let key = |number: usize| {
        let family = Family::CUSTOM[number % 4];
        SeriesKey::new(family, &format!("metric {}", number % 7), &[("id", &number.to_string()), ("a", "b")])
    };
    (0..count).map(key).collect()
}

/// A run of some seconds that opens `count` series, some in each second.
fn run(origin: &str, count: usize, seconds: u32) -> Vec<RunEvent> {
    let mut random = Random::new(3);
    let keys = keys(count);
    let mut events = vec![RunEvent::Opened(opening(origin, 2).into())];
    let mut known = 0;
    for number in 0..seconds {
        let until = count * (number as usize + 1) / seconds as usize;
        let fresh = (known..until).map(|at| opened(2 + at as u32, &keys[at]));
        events.extend(fresh);
        known = until;
        let cells: Vec<Tally> = keys[..known]
            .iter()
            .map(|key| values(key.family, f64::from(number), u64::from(number), &mut random))
            .collect();
        events.push(tick_with(interval(number, 2, 20, &mut random), &keys[..known], cells));
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

#[test]
fn opened_series_are_read_back_with_their_numbers() {
    let folder = Folder::new("opened");
    for (count, seconds) in [(1, 4), (9, 6), (40, 25)] {
        let path = folder.file(&format!("{count}.plim"));
        let events = run("a", count, seconds);
        let record = written(&path, &events);
        assert_eq!(record, gathered(&events), "{count}");
        assert_eq!(read(&path).unwrap(), record, "{count}");
        let origin = &record.generators["a"];
        assert_eq!(origin.opened.len(), count);
        assert_eq!(origin.totals.series.len(), 2 + count);
        assert!(origin.totals.series[2..].iter().all(|one| !one.is_empty()), "{count}");
        let copy = folder.file(&format!("{count}-copy.plim"));
        write(&copy, &record).unwrap();
        assert_eq!(read(&copy).unwrap(), record, "{count} as a whole");
    }
    let course = read_spans(&folder.file("40.plim"), "a", Some(2)).unwrap();
    let mut sum = Tally::on_demand(course[0].cells.layout());
    course.iter().for_each(|span| sum.merge(&span.cells));
    assert!(!sum.is_empty(), "the timeline of an opened series is kept like any other");
}

#[test]
fn a_killed_run_has_the_series_opened_until_its_last_second() {
    let folder = Folder::new("opened-killed");
    let events = run("a", 30, 15);
    let path = folder.file("run.plim");
    let RunEvent::Opened(opening) = &events[0] else { panic!("a run begins with its opening") };
    let mut writer = RunFile::create(&path, opening).unwrap();
    // Up to the middle of a second: its new series are announced, but its numbers are not written.
    let until =
        events.iter().position(|event| matches!(event, RunEvent::Ticked(tick) if tick.interval.tick == 12));
    events[..until.unwrap()].iter().for_each(|event| writer.event(event));
    for suffix in ["", "-wal"] {
        std::fs::copy(folder.file(&format!("run.plim{suffix}")), folder.file(&format!("left.plim{suffix}")))
            .unwrap();
    }
    let left = read(&folder.file("left.plim")).unwrap();
    let origin = &left.generators["a"];
    assert_eq!((origin.ticks.len(), origin.opened.len()), (12, 24), "two with each second");
    assert_eq!(origin.totals.series.len(), 26);
}

#[test]
fn runs_with_different_series_merge_and_a_duplicate_counts_once() {
    let (a, b) = (gathered(&run("a", 12, 4)), gathered(&run("b", 5, 4)));
    let both = RunRecord::merge(a.clone(), b.clone()).unwrap();
    assert_eq!(both, RunRecord::merge(b, a.clone()).unwrap());
    assert_eq!(RunRecord::merge(both.clone(), a.clone()).unwrap(), both);
    let mut other = a.clone();
    let last = other.generators.values_mut().next().unwrap().opened.pop();
    assert!(last.is_some());
    let error = RunRecord::merge(a, other).unwrap_err();
    assert!(error.to_string().contains("different series"), "{error}");
}

#[test]
fn ten_thousand_series_fit() {
    let folder = Folder::new("opened-many");
    let path = folder.file("run.plim");
    let events = run("a", 10_000, 5);
    let begin = Instant::now();
    let record = written(&path, &events);
    let wrote = begin.elapsed();
    let bytes = std::fs::metadata(&path).unwrap().len();
    let begin = Instant::now();
    assert_eq!(read(&path).unwrap(), record);
    let took = begin.elapsed();
    let held: usize = record.generators["a"].totals.series.iter().map(held_bytes).sum();
    println!("written in {wrote:?}, read in {took:?}, {bytes} bytes of file, {held} bytes of totals");
    assert!(bytes < 64 << 20, "{bytes} bytes");
    // A histogram of all its buckets would take 38 KiB each.
    assert!(held < 16 << 20, "{held} bytes");
}

fn held_bytes(cells: &Tally) -> usize {
    let hists: usize = cells.hists.iter().map(|hist| size_of_val(hist) + hist.heap_bytes()).sum();
    size_of_val(&*cells.sums) + size_of_val(&*cells.peaks) + size_of_val(&*cells.floors) + hists
}
