//! Sending: on time, and all of it.

use super::{dear_to_read, silent, silent_enough, warns};
use crate::help::{count, number, patiently};
use crate::provoke::{Hogs, Then, canned, cpus_of_this_test, json, pass, reasons};
use crate::support::{BINARY, Ruler, Tool, alone, alongside_first};
use std::process::Command;
use std::time::Duration;

/// SIGSTOP for a second: 500 arrivals come due meanwhile, go out late, and not one is dropped.
#[test]
fn a_generator_that_was_stopped_for_a_second_says_that_it_sent_late() {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", "20ms"]);
    let limit = ["--threshold", "response_time p99 < 500ms"];
    let url = ruler.url("/");
    let args = [&[url.as_str(), "-r", "500", "-d", "3s", "--max-connections", "600"], &limit[..]].concat();
    let running = Tool::new(&[&args[..], &["--json"]].concat()).start();
    ruler.wait_for_requests(250);
    running.signal("STOP");
    pass(Duration::from_secs(1));
    running.signal("CONT");
    let said = running.wait().expect_code(3).json();
    assert!(reasons(&said).contains(&"late_sends"), "{}", said["verdict"]);
    let late_ns = count(&said, "/client/schedule_lag/p99_ns");
    assert!((900_000_000..2_000_000_000).contains(&late_ns), "schedule lag p99 {late_ns} ns");
    // From the intended instant: the stop is in the response times, not in the service times.
    assert!(count(&said, "/response_time/p99_ns") >= 900_000_000, "{}", said["response_time"]);
    assert!(count(&said, "/service_time/p50_ns") < 500_000_000, "{}", said["service_time"]);
    assert_eq!(count(&said, "/offered/arrivals"), 1_500);
    assert_eq!(ruler.requests(), 1_500, "late is not lost");

    patiently("sends are late without a cause", || {
        let said = Tool::run(&[&ruler.url("/"), "-r", "500", "-d", "2s", "--json"]).json();
        silent_enough(&said, "late_sends")
    });
}

/// One CPU for the generator and two other programs, and answers of which a third of a CPU can read a few thousand.
#[test]
fn a_rate_beyond_this_machines_cpu_is_not_the_targets_fault() {
    let _alone = alone();
    let port = canned("127.0.0.1", dear_to_read(), Then::KeepOpen);
    let [mine, ..] = cpus_of_this_test()[..] else { panic!("no CPU") };
    let run = |rate: &str| {
        let url = format!("http://127.0.0.1:{port}/");
        let args = [&url, "-r", rate, "--max-connections", "40", "-t", "1", "-d", "1s", "--json"];
        let mut command = Command::new("taskset");
        command.args(["-c", &mine.to_string(), BINARY]).args(args);
        Tool::of(command).start().wait()
    };
    {
        let _hogs = Hogs::on(mine, 2);
        let said = run("30000").expect_code(3).json();
        assert!(reasons(&said).contains(&"offered_rate_missed"), "{}", said["verdict"]);
        let told = warns(&said, "offered_rate_missed");
        assert!(told.contains("busy or waiting for CPU"), "{told}");
        assert_eq!(count(&said, "/offered/arrivals"), 30_000, "arrivals that were not sent are counted");
        assert!(number(&said, "/client/workers/0/cpu_wait_ratio") > 0.3, "{}", said["client"]["workers"]);
        warns(&said, "client_cpu_wait");
    }
    patiently("50/s are too much without a cause", || {
        let said = run("50").json();
        silent_enough(&said, "offered_rate_missed")?;
        silent_enough(&said, "client_cpu_wait")
    });
}

#[test]
fn arrivals_that_find_every_connection_in_use_say_so() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "20ms"]);
        // One connection serves 50/s; 100/s come for a second.
        let said = json(&[&ruler.url("/"), "-r", "100", "--max-connections", "1", "-d", "1s"], 99);
        let told = warns(&said, "connection_limit_reached");
        assert!(told.contains("found all 1 connection in use"), "{told}");
        let never = count(&said, "/totals/arrivals_not_started");
        // About half of the hundred; each turn costs a little more than the 20 ms that were commanded.
        assert!((45..=60).contains(&never), "{never}");
        assert_eq!(ruler.requests() + never, 100);
        // Every one but the first found the connection in use; the queue only grew, but for those that were served
        // between.
        assert_eq!(count(&said, "/offered/arrivals_queued"), count(&said, "/totals/requests_sent") - 1);
        let peak = count(&said, "/client/arrivals_queued_peak");
        assert!((never..=never + 1).contains(&peak), "{peak} waited at most, {never} at the stop");

        let calm =
            Tool::run(&[&ruler.url("/"), "-r", "100", "--max-connections", "50", "-d", "1s", "--json"])
                .json();
        silent(&calm, "connection_limit_reached");
        assert_eq!(
            (count(&calm, "/offered/arrivals_queued"), count(&calm, "/client/arrivals_queued_peak")),
            (0, 0)
        );
    });
}
