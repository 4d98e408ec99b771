//! How large a run file gets, and how long it takes to open.

use plimsoll_record::event::{RunEvent, Sink, Tick};
use plimsoll_record::run_file::{RunFile, read};
use plimsoll_stats::interval::Interval;
use plimsoll_testkit::made_up::{Folder, Random, ending, interval, opening, tick};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Writes `ticks` seconds that take turns with a few templates: to draw every request of an hour would take longer
/// than the hour's numbers are worth. Returns the file's size.
fn long_run(path: &Path, series: usize, ticks: u32, requests_per_series: u64) -> u64 {
    let mut random = Random::new(5);
    let templates: Vec<Interval> =
        (0..12).map(|_| interval(0, series, requests_per_series, &mut random)).collect();
    let mut writer = RunFile::create(path, &opening("a", series)).unwrap();
    let begin = Instant::now();
    let mut slowest_ms = 0f64;
    for number in 0..ticks {
        let interval = Interval { tick: number, ..templates[number as usize % templates.len()].clone() };
        let RunEvent::Ticked(Tick { interval, pulses, opened }) = tick(interval) else { unreachable!() };
        let begin = Instant::now();
        writer.event(&RunEvent::Ticked(Tick { interval: Arc::clone(&interval), pulses, opened }));
        slowest_ms = slowest_ms.max(begin.elapsed().as_secs_f64() * 1e3);
    }
    writer.event(&ending(u64::from(ticks)));
    let mean_ms = begin.elapsed().as_secs_f64() * 1e3 / f64::from(ticks);
    drop(writer);
    let bytes = path.metadata().unwrap().len();
    println!(
        "{series} series, {ticks} ticks: {:.2} MB, {mean_ms:.2} ms a tick, slowest {slowest_ms:.1} ms",
        bytes as f64 / 1e6
    );
    bytes
}

#[test]
fn a_plain_hour_stays_under_20_mb_and_opens_within_a_second() {
    let folder = Folder::new("hour");
    let path = folder.file("hour.plim");
    let bytes = long_run(&path, 1, 3600, 20_000);
    assert!(bytes < 20_000_000, "{bytes} bytes");
    let begin = Instant::now();
    let record = read(&path).unwrap();
    let open_s = begin.elapsed().as_secs_f64();
    println!("opened in {open_s:.3} s");
    assert_eq!(record.generators["a"].ticks.len(), 3600);
    assert!(open_s < 1.0, "{open_s} s");
}

/// 9 hours of 200 series are 54 times these ten minutes, which must therefore stay below 500 / 54 = 9.2 MB.
#[test]
fn nine_hours_of_200_series_would_stay_under_500_mb() {
    let folder = Folder::new("many-series");
    let path = folder.file("many.plim");
    let bytes = long_run(&path, 200, 600, 25);
    assert!(bytes * 54 < 500_000_000, "{bytes} bytes in ten minutes");
}

#[test]
fn a_short_run_is_a_small_file() {
    let folder = Folder::new("short");
    let bytes = long_run(&folder.file("short.plim"), 1, 15, 20_000);
    assert!(bytes < 300_000, "{bytes} bytes");
}
