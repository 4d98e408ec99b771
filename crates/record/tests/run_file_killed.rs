//! After `kill -9`, a run can be read up to the last second. The test program starts itself as the victim.

use plimsoll_record::event::{RunEvent, Sink};
use plimsoll_record::run_file::{RunFile, read};
use plimsoll_testkit::made_up::{Folder, events, gathered, names, opening};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Set in the victim: the path of its run file.
const FILE: &str = "PLIMSOLL_TEST_VICTIM";
const TICKS: u32 = 200;

fn run(series: usize) -> Vec<RunEvent> {
    events(&opening("a", series), TICKS, 40)
}

/// Writes a run event by event, prints the number of each, and waits for a line on standard input before the next.
fn victim(path: &Path, series: usize) {
    let mut writer = RunFile::create(path, &opening("a", series)).unwrap();
    let mut stdin = std::io::stdin().lines();
    for (index, event) in run(series).iter().enumerate() {
        writer.event(event);
        println!("written {index}");
        stdin.next();
    }
}

/// Kills the victim after `last` events and checks the files that remain.
fn killed_after(test: &str, folder: &Folder, series: usize, last: usize) {
    let path = folder.file("run.plim");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FILE, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut go_on = victim.stdin.take().unwrap();
    for line in BufReader::new(victim.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.ends_with(&format!("written {last}")) {
            break;
        }
        if line.contains("written") {
            std::io::Write::write_all(&mut go_on, b"\n").unwrap();
        }
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(names(folder.path()).contains(&"run.plim-wal".to_string()), "the run was not finished");
    // Event 0 is the opening.
    let record = read(&path).unwrap();
    assert_eq!(record, gathered(&run(series)[..=last]));
    assert_eq!(record.generators["a"].ending, None);
    assert_eq!(record.generators["a"].ticks.len(), last);
    assert_eq!(names(folder.path()), ["run.plim"], "reading folds the log of a killed run");
    assert_eq!(read(&path).unwrap(), record);
}

#[test]
fn a_kill_loses_nothing_that_was_already_written() {
    if let Some(path) = std::env::var_os(FILE) {
        return victim(Path::new(&path), 1);
    }
    for last in [1, 4, 11, 12, 13, 14, 197] {
        let folder = Folder::new(&format!("killed-{last}"));
        killed_after("run_file_killed::a_kill_loses_nothing_that_was_already_written", &folder, 1, last);
    }
}

#[test]
fn a_kill_loses_nothing_of_single_series_either() {
    if let Some(path) = std::env::var_os(FILE) {
        return victim(Path::new(&path), 7);
    }
    let folder = Folder::new("killed-series");
    killed_after("run_file_killed::a_kill_loses_nothing_of_single_series_either", &folder, 7, 59);
}
