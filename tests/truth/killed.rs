//! A killed run loses at most its last second. The file is correct and readable, and marked as incomplete.

use crate::help::{caution, count, number, timeline};
use crate::support::{Ruler, Scratch, Tool, alongside_first};

#[test]
fn a_killed_run_is_there_up_to_its_last_second_and_proves_nothing() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "2ms"]);
        let scratch = Scratch::new();
        let file = scratch.path("run.plim");
        let running = Tool::new(&[&ruler.url("/"), "-r", "500", "-d", "6s", "--out", &file]).start();
        // After 3.4 s of 6, three ticks are complete.
        ruler.wait_for_requests(1_700);
        running.signal("KILL");
        assert_eq!(running.wait().code, -9);
        let came = ruler.requests();

        let said = Tool::run(&["report", &file, "--json"]).expect_code(3).json();
        assert_eq!(said["verdict"]["result"], "INCONCLUSIVE");
        let reasons = said["verdict"]["reasons"].as_array().unwrap();
        assert!(reasons.iter().any(|code| code == "incomplete_record"), "{reasons:?}");
        assert_eq!(caution(&said, "incomplete_record")["severity"], "inconclusive");
        assert_eq!(said["is_complete"], false);
        assert!(said["stopped_by"].is_null());
        // Every complete second is in the file, with its offered load.
        let seconds = timeline(&said, "offered_rate_per_s");
        assert!(seconds.len() >= 3, "{seconds:?}");
        for rate in &seconds {
            assert!((rate - 500.0).abs() <= 2.0, "{seconds:?}");
        }
        let whole = seconds.len() as u64 * 500;
        assert!(count(&said, "/totals/requests").abs_diff(whole) <= 10, "{}", said["totals"]);
        // At most the second in which it died is missing.
        assert!(came - count(&said, "/totals/requests") <= 600, "{came} came: {}", said["totals"]);
        assert!((2e6..6e6).contains(&number(&said, "/response_time/p50_ns")));
        // Reading has merged the write-ahead log of the killed run: a run is one file, and another read returns the
        // same.
        let left: Vec<_> =
            std::fs::read_dir(scratch.folder()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["run.plim"]);
        assert_eq!(Tool::run(&["report", &file, "--json"]).json(), said);
    });
}

#[test]
fn a_run_killed_in_its_first_second_is_a_run_of_nothing_and_not_an_error() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let file = scratch.path("run.plim");
        let running = Tool::new(&[&ruler.url("/"), "-r", "100", "-d", "6s", "--out", &file]).start();
        ruler.wait_for_requests(10);
        running.signal("KILL");
        assert_eq!(running.wait().code, -9);
        let said = Tool::run(&["report", &file, "--json"]).expect_code(3).json();
        assert_eq!(said["verdict"]["result"], "INCONCLUSIVE");
        assert_eq!(count(&said, "/totals/requests"), 0);
        assert_eq!(said["is_complete"], false);
        // As text, too.
        assert!(Tool::run(&["report", &file]).expect_code(3).stdout.contains("INCONCLUSIVE"));
    });
}

/// Reading the file of a run in progress shows the seconds so far, and does not disturb the run.
#[test]
fn reading_the_file_of_a_run_in_progress_changes_nothing() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let file = scratch.path("run.plim");
        let running =
            Tool::new(&[&ruler.url("/"), "-r", "500", "-d", "3s", "--out", &file, "--json"]).start();
        ruler.wait_for_requests(800);
        let early = Tool::run(&["report", &file, "--json"]).expect_code(3).json();
        assert!((490..=510).contains(&count(&early, "/totals/requests")), "{}", early["totals"]);
        let said = running.wait().json();
        assert_eq!(count(&said, "/totals/requests_sent"), 1_500, "{}", said["totals"]);
        assert_eq!(said["is_complete"], true);
        assert_eq!(Tool::run(&["report", &file, "--json"]).json(), said);
        let left: Vec<_> =
            std::fs::read_dir(scratch.folder()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["run.plim"]);
    });
}
