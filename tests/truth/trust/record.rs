//! The record: whole or not, of one experiment or not.

use super::{silent, warns};
use crate::help::{count, number};
use crate::provoke::{json, reasons};
use crate::support::{Ruler, Scratch, Tool, alongside_first, run_alongside};

#[test]
fn a_run_that_was_interrupted_says_so() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let args = [&ruler.url("/"), "-c", "2", "-d", "20s", "--json"];
        let running = Tool::new(&args).start();
        ruler.wait_for_requests(50);
        running.signal("INT");
        let said = running.wait().expect_code(130).json();
        assert!(warns(&said, "stopped_early").contains("of 20 s"), "{}", said["cautions"]);
        assert_eq!(said["stopped_by"], "interrupt");
        silent(&json(&[&ruler.url("/"), "-c", "2", "-d", "200ms"], 0), "stopped_early");
    });
}

#[test]
fn a_run_that_was_killed_is_missing_its_end() {
    alongside_first(|| {
        let (ruler, scratch) = (Ruler::start(&["--delay", "1ms"]), Scratch::new());
        let file = scratch.path("run.plim");
        let running = Tool::new(&[&ruler.url("/"), "-c", "2", "-d", "20s", "--out", &file]).start();
        // Two seconds' worth at least: 2 users, 1 ms each.
        ruler.wait_for_requests(4_500);
        running.signal("KILL");
        running.wait().expect_code(-9);
        let said = Tool::run(&["report", &file, "--json"]).expect_code(3).json();
        assert_eq!(reasons(&said), ["incomplete_record"]);
        assert_eq!(said["is_complete"], false);
        assert!(count(&said, "/totals/requests") > 500, "{}", said["totals"]);

        let whole = scratch.path("whole.plim");
        json(&[&ruler.url("/"), "-c", "2", "-d", "200ms", "--out", &whole], 0);
        let calm = Tool::run(&["report", &whole, "--json"]).expect_code(0).json();
        silent(&calm, "incomplete_record");
        assert_eq!(calm["is_complete"], true);
    });
}

/// The second worker's only user would begin after 20 s; the requests are used up long before, which the idle worker
/// notices at the end of the second.
#[test]
fn a_number_of_requests_ends_a_run_though_users_are_still_to_come() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let said = json(&[&ruler.url("/"), "--stages", "0s:1,20s:1,10s:2", "-n", "100", "-t", "2"], 0);
        assert_eq!((count(&said, "/totals/requests"), ruler.requests()), (100, 100));
        assert_eq!(said["stopped_by"], "requests");
        let elapsed = number(&said, "/generators/0/elapsed_s");
        assert!((0.1..1.1).contains(&elapsed), "{elapsed} s for 100 times 1 ms");
    });
}

#[test]
fn a_machine_that_is_missing_from_a_merge_is_missed() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    for part in 1..=3 {
        let (share, file) = (format!("{part}/3"), scratch.path(&format!("{part}.plim")));
        json(&[&ruler.url("/"), "-n", "300", "-c", "3", "--shard", &share, "--out", &file], 0);
    }
    let [one, two, three] = [1, 2, 3].map(|part| scratch.path(&format!("{part}.plim")));
    let said = Tool::run(&["merge", &one, &three, "--json"]).expect_code(3).json();
    assert!(warns(&said, "incomplete_record").contains("shard 2/3"), "{}", said["cautions"]);
    let calm = Tool::run(&["merge", &one, &two, &three, "--json"]).expect_code(0).json();
    silent(&calm, "incomplete_record");
    assert_eq!(count(&calm, "/totals/requests"), 300);
}

/// Rates add up only while both machines load.
#[test]
fn sequential_runs_are_not_merged_as_one_run() {
    alongside_first(|| {
        let (ruler, scratch) = (Ruler::start(&["--delay", "5ms"]), Scratch::new());
        let start = |name: &str, share: &str| {
            let url = ruler.url("/");
            Tool::new(&[&url, "-c", "4", "-d", "600ms", "-q", "--shard", share, "--out", &scratch.path(name)])
                .start()
        };
        let both = [start("a.plim", "1/2"), start("b.plim", "2/2")];
        for running in both {
            running.wait().expect_code(0);
        }
        start("late.plim", "2/2").wait().expect_code(0);
        let merged =
            |name: &str| Tool::run(&["merge", &scratch.path("a.plim"), &scratch.path(name), "--json"]).json();
        let said = merged("late.plim");
        assert_eq!(reasons(&said), ["merged_runs_not_concurrent"]);
        assert!(warns(&said, "merged_runs_not_concurrent").contains("0 ns overlap"), "{}", said["cautions"]);
        silent(&merged("b.plim"), "merged_runs_not_concurrent");
    });
}

#[test]
fn runs_of_different_targets_do_not_make_one_experiment() {
    let _turn = run_alongside();
    let (one, other, scratch) = (Ruler::start(&[]), Ruler::start(&[]), Scratch::new());
    let run = |ruler: &Ruler, name: &str, share: &str| {
        let file = scratch.path(name);
        json(&[&ruler.url("/"), "-n", "100", "-c", "2", "--shard", share, "--out", &file], 0);
        file
    };
    let a = run(&one, "a.plim", "1/2");
    let (b, c) = (run(&other, "b.plim", "2/2"), run(&one, "c.plim", "2/2"));
    let said = Tool::run(&["merge", &a, &b, "--json"]).json();
    assert!(warns(&said, "merged_targets_differ").contains(&other.address().to_string()));
    silent(&Tool::run(&["merge", &a, &c, "--json"]).json(), "merged_targets_differ");
}
