//! The command monitor: what it parses, what it rejects, and that it leaves no process.

use crate::monitor_support::{Folder, second, trouble, value};
use plimsoll_control::monitor::{Command, PATIENCE, Probe};
use plimsoll_plan::watch::Unit;
use std::time::{Duration, Instant};

fn shell(script: &str) -> Command {
    Command::new(&["sh".to_owned(), "-c".to_owned(), script.to_owned()])
}

#[test]
fn lines_of_a_name_and_a_number_are_readings_with_the_unit_of_their_names() {
    let script = "echo queue_depth 7; echo heap_bytes = 4096; echo; echo lag_s\t0.25; echo hit_ratio=1e-1; \
                  echo out_bytes_per_s 5; echo jobs_per_s -3; echo wait_seconds 2";
    let mut command = shell(script);
    let found = command.look(second(1)).unwrap();
    let seen: Vec<_> = found.readings.iter().map(|r| (r.metric.as_str(), r.unit, r.value)).collect();
    let expected = [
        ("queue_depth", Unit::Count, 7.0),
        ("heap_bytes", Unit::Bytes, 4096.0),
        ("lag_s", Unit::Seconds, 0.25),
        ("hit_ratio", Unit::Share, 0.1),
        ("out_bytes_per_s", Unit::BytesPerS, 5.0),
        ("jobs_per_s", Unit::PerS, -3.0),
        ("wait_seconds", Unit::Seconds, 2.0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn arguments_are_passed_to_the_program_unchanged() {
    let words = ["printf", "%s 1\\n", "$HOME;x"].map(str::to_owned);
    assert_eq!(value(&Command::new(&words).look(second(1)).unwrap(), "", "$HOME;x"), 1.0);
}

#[test]
fn an_invalid_number_is_rejected_with_its_line() {
    for (line, shown) in [
        ("depth NaN", "depth NaN"),
        ("depth inf", "depth inf"),
        ("depth many", "depth many"),
        ("depth", "depth"),
        ("the depth 3", "the depth 3"),
        ("=3", "=3"),
    ] {
        // Read from a file: words of the script itself would be hidden.
        let folder = Folder::new();
        let file = folder.path().join("said");
        std::fs::write(&file, format!("good 1\n{line}\n")).unwrap();
        let found = trouble(&mut shell(&format!("cat {}", file.display())), second(1));
        assert_eq!(found, format!("`sh` printed `{shown}`, which is not `name value`"));
    }
    assert_eq!(trouble(&mut shell("echo a 1; echo a 2"), second(1)), "`sh` printed `a` twice");
    assert_eq!(trouble(&mut shell("true"), second(1)), "`sh` printed nothing");
    let many = trouble(&mut shell("seq 300 | sed 's/.*/n& 1/'"), second(1));
    assert_eq!(many, "`sh` printed more than 200 numbers");
}

#[test]
fn a_failure_is_reported_with_the_commands_message() {
    let found = trouble(
        &mut shell("echo depth 7; echo 'no queue' | tr a-z A-Z >&2; echo more >&2; exit 3"),
        second(1),
    );
    assert_eq!(found, "`sh` failed with exit status: 3: NO QUEUE");
    let found = trouble(&mut Command::new(&["no-such-program-here".to_owned()]), second(1));
    assert!(found.starts_with("cannot start `no-such-program-here`: "), "{found}");
    // Text on standard error alongside valid numbers is not a failure.
    assert_eq!(value(&shell("echo warning >&2; echo depth 7").look(second(1)).unwrap(), "", "depth"), 7.0);
}

#[test]
fn arguments_are_never_shown() {
    for script in [
        "echo 'login lab:s3cret-word@db refused' >&2; exit 1",
        "echo 'login s3cret-word refused' >&2; : --password=s3cret-word; exit 1",
        "echo s3cret-word: no number",
        "echo s3cret-word 1; echo s3cret-word 2",
    ] {
        let found = trouble(&mut shell(script), second(1));
        assert!(found.contains("***") && !found.contains("cret"), "{found}");
    }
    let words = ["sh", "-c", "echo \"key $0 unknown\" >&2; exit 1", "s3cret key"].map(str::to_owned);
    let found = trouble(&mut Command::new(&words), second(1));
    assert!(found.contains("***") && !found.contains("cret"), "{found}");
}

/// Waits until a process has ended; returns false if it still exists after 10 s.
fn ends(pid: &str) -> bool {
    let folder = std::path::Path::new("/proc").join(pid);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) {
        let state = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        // A zombie has ended; its new parent may be slow to collect it.
        if state.is_empty() || state.contains(") Z ") {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn a_hanging_command_is_killed_in_time_with_its_children() {
    let folder = Folder::new();
    let pids = folder.path().join("pids");
    let script = format!("sleep 60 & echo $! >{0}; echo $$ >>{0}; echo depth 7; wait", pids.display());
    let begin = Instant::now();
    let found = trouble(&mut shell(&script), second(1));
    assert!(begin.elapsed() < PATIENCE + Duration::from_millis(400), "{:?}", begin.elapsed());
    assert_eq!(found, "`sh` took longer than 700 ms and was killed");
    let pids = std::fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 2);
    assert!(pids.lines().all(ends), "{pids}");
}

#[test]
fn a_child_that_keeps_the_output_open_does_not_delay_the_sample() {
    let folder = Folder::new();
    let pids = folder.path().join("pids");
    let script = format!("sleep 60 & echo $! >{}; echo depth 7", pids.display());
    let begin = Instant::now();
    assert_eq!(value(&shell(&script).look(second(1)).unwrap(), "", "depth"), 7.0);
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    assert!(std::fs::read_to_string(pids).unwrap().lines().all(ends));
}

#[test]
fn excessive_output_is_rejected() {
    let found = trouble(&mut shell("yes"), second(1));
    assert_eq!(found, "`sh` printed more than 1048576 bytes");
}
