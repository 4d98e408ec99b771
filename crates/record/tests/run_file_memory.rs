//! Nine hours cost what nine minutes cost: the writer's memory does not grow with the length of a run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test may stop and talk")]

use plimsoll_record::event::Sink;
use plimsoll_record::run_file::RunFile;
use plimsoll_stats::interval::Interval;
use plimsoll_testkit::made_up::watching::{seconds, watched_opening};
use plimsoll_testkit::made_up::{Folder, Random, interval, tick};

/// Resident memory of this process, which runs no other test.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn nine_hours_take_the_memory_of_nine_minutes() {
    let folder = Folder::new("memory");
    let mut random = Random::new(2);
    let templates: Vec<Interval> = (0..5).map(|_| interval(0, 1, 2_000, &mut random)).collect();
    let mut writer =
        RunFile::create(&folder.file("run.plim"), &watched_opening("a", &["api", "db"])).unwrap();
    let mut write = |ticks: std::ops::Range<u32>| {
        for number in ticks {
            let interval = Interval { tick: number, ..templates[number as usize % templates.len()].clone() };
            seconds(number, 2, 8, &mut random).iter().for_each(|event| writer.event(event));
            writer.event(&tick(interval));
        }
    };
    write(0..9 * 60);
    let nine_minutes_kib = resident_kib();
    write(9 * 60..9 * 3600);
    let nine_hours_kib = resident_kib();
    println!("{nine_minutes_kib} KiB after nine minutes, {nine_hours_kib} KiB after nine hours");
    assert!(nine_hours_kib < nine_minutes_kib + 2048, "{nine_minutes_kib} -> {nine_hours_kib} KiB");
}
