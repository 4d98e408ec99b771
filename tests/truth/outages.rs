//! Time without service, made by real servers that die, hang, answer errors, or come back: each is said in the first
//! sentence with its time, and nothing else is blamed. The same loads against the same servers alive say nothing of it.

use crate::help::number;
use crate::provoke::{Line, pass};
use crate::support::{Output, Ruler, Running, Scratch, Tool, alongside_first};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

fn signal(ruler: &Ruler, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &ruler.pid().to_string()]).status();
    assert!(sent.unwrap().success(), "the ruler is there");
}

fn sentence(said: &Value) -> &str {
    said["verdict"]["sentence"].as_str().unwrap()
}

/// A FAIL that begins with an outage; the outage.
#[track_caller]
fn down(output: Output) -> (Value, Value) {
    let said = output.expect_code(99).json();
    assert!(sentence(&said).starts_with("FAIL: no request succeeded from "), "{}", said["verdict"]);
    let outages = said["availability"]["outages"].as_array().unwrap();
    assert_eq!(outages.len(), 1, "{}", said["availability"]);
    // An outage does not count as slow.
    let outage = outages[0].clone();
    let (from_s, to_s) = (number(&outage, "/from_s"), number(&outage, "/to_s"));
    for spike in said["spikes"].as_array().unwrap() {
        let (begin_s, end_s) = (number(spike, "/from_s"), number(spike, "/to_s"));
        assert!(end_s <= from_s + 1e-6 || begin_s >= to_s - 1e-6, "{spike} in {outage}");
    }
    (said, outage)
}

/// The same load on a running service reports no outage.
#[track_caller]
fn up(output: Output) {
    let said = output.json();
    let none = said["availability"]["outages"].as_array().is_some_and(Vec::is_empty)
        && said["availability"]["parts"].as_array().is_some_and(Vec::is_empty);
    assert!(none && number(&said, "/availability/uptime_ratio") == 1.0, "{}", said["availability"]);
    assert!(!sentence(&said).contains("succeeded from"), "{}", said["verdict"]);
}

fn open(ruler: &Ruler) -> Running {
    Tool::new(&[&ruler.url("/"), "-r", "100", "-d", "4s", "--json"]).start()
}

fn closed(ruler: &Ruler) -> Running {
    // The thresholds that a service which was dead for most of the time once met.
    let rules = ["--threshold", "error_rate < 1%", "--threshold", "response_time p99 < 200ms"];
    Tool::new(&[&[&ruler.url("/?delay=5ms"), "-c", "10", "-d", "4s", "--json"], &rules[..]].concat()).start()
}

/// Waits until the server has received this many requests, so that the load has started.
fn after(ruler: &Ruler, requests: u64) {
    ruler.wait_for_requests(requests);
}

#[test]
fn a_server_that_dies_is_down_to_the_end_in_both_models() {
    alongside_first(|| {
        let (one, other, alive) = (Ruler::start(&[]), Ruler::start(&[]), Ruler::start(&[]));
        let (first, second) = (open(&one), closed(&other));
        let twins = (open(&alive), closed(&alive));
        // 1 s of 100 a second, and of some 2,000 of ten users.
        after(&one, 100);
        signal(&one, "KILL");
        after(&other, 1_000);
        signal(&other, "KILL");
        let (said, outage) = down(first.wait());
        assert!((0.9..=1.3).contains(&number(&outage, "/from_s")), "{outage}");
        assert_eq!(outage["is_open_ended"], true);
        assert_eq!(outage["failures"][0]["class"], "connection_refused", "{outage}");
        assert!(
            (number(&said, "/availability/uptime_ratio") - number(&outage, "/from_s") / 4.0).abs() < 0.01
        );
        let (said, outage) = down(second.wait());
        assert_eq!((&outage["is_open_ended"], &outage["to_s"]), (&true.into(), &4.0.into()), "{outage}");
        let kept = said["thresholds"].as_array().unwrap();
        let met = |text: &str| kept.iter().find(|t| t["text"] == text).map(|t| t["is_met"] == true);
        assert_eq!(met("longest_outage < 1s"), Some(false), "{kept:?}");
        up(twins.0.wait());
        up(twins.1.wait());
    });
}

#[test]
fn a_server_that_hangs_or_answers_errors_alone_is_down() {
    alongside_first(|| {
        let (hanging, failing) = (Ruler::start(&[]), Ruler::start(&[]));
        let ramp = ["-s", "0:2s:100,100:2s:100", "--json"];
        let (first, second) = (closed(&hanging), closed(&failing));
        let ramped = Tool::new(&[&[failing.url("/ramp").as_str()], &ramp[..]].concat()).start();
        after(&hanging, 400);
        signal(&hanging, "STOP");
        after(&failing, 800);
        failing.set("status=503");
        let (_, outage) = down(first.wait());
        signal(&hanging, "CONT");
        assert_eq!((&outage["is_open_ended"], &outage["failures"]), (&true.into(), &serde_json::json!([])));
        let (_, outage) = down(second.wait());
        assert_eq!(outage["failures"][0]["status"], 503, "{outage}");
        drop(ramped.wait());
    });
}

#[test]
fn an_outage_ends_when_the_service_recovers() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let running = open(&ruler);
        after(&ruler, 100);
        let mut line = Line::to(&ruler);
        line.get("/_test-server/set?listen=off&fault=reset_before");
        pass(Duration::from_millis(1_500));
        line.get("/_test-server/set?listen=on&fault=none");
        let (said, outage) = down(running.wait());
        // 100 arrivals a second: the last success before and the first one after are 10 ms from either edge, and each
        // command takes as long as a turn of this machine.
        let length_s = number(&outage, "/to_s") - number(&outage, "/from_s");
        assert!((1.5..=1.8).contains(&length_s), "{outage}");
        assert_eq!(outage["is_open_ended"], false);
        assert!((number(&said, "/availability/longest_outage_ns") / 1e9 - length_s).abs() < 1e-6);
        // A threshold that allows the outage passes, and the report still shows it.
        let scratch = Scratch::new();
        let file = scratch.path("run.plim");
        let rules = [
            "--threshold",
            "longest_outage < 10s",
            "--threshold",
            "error_rate < 90%",
            "--threshold",
            "achieved > 10%",
        ];
        let running = Tool::new(
            &[&[&ruler.url("/"), "-r", "100", "-d", "4s", "--json", "--out", &file], &rules[..]].concat(),
        );
        ruler.get("/_test-server/clear");
        let running = running.start();
        after(&ruler, 100);
        line.get("/_test-server/set?fault=reset_before");
        pass(Duration::from_millis(1_500));
        line.get("/_test-server/set?fault=none");
        let said = running.wait().json();
        assert!(!sentence(&said).starts_with("FAIL"), "{}", said["verdict"]);
        assert!(sentence(&said).contains("; no request succeeded from "), "{}", said["verdict"]);
        let report = Tool::run(&["report", &file]).stdout;
        assert!(report.contains("The service was down from "), "{report}");
    });
}

#[test]
fn one_request_of_five_one_address_of_two_and_streams_that_end() {
    alongside_first(|| {
        let (ruler, streams, scratch) = (Ruler::start(&[]), Ruler::start(&[]), Scratch::new());
        let port = ruler.port();
        let shop = |last: &str| {
            format!(
                "target: http://127.0.0.1:{port}\nscenarios:\n  shop:\n    - get: /a\n    - get: /b\n    - get: /c\n\
                 \x20   - get: /d\n    - {{ get: {last}, name: pay }}\n    - think: 20ms\n\
                 load: {{ users: 4, duration: 3s }}\nthresholds: [ error_rate < 30% ]\n"
            )
        };
        let both = format!(
            "target: http://localhost:{port}\nconnection: {{ addresses: all, reuse: iteration }}\n\
             scenarios: {{ a: [ {{ get: /x }}, {{ think: 20ms }} ] }}\nload: {{ users: 4, duration: 3s }}\n\
             thresholds: [ error_rate < 90% ]\n"
        );
        let feed = format!(
            "target: {}\nscenarios:\n  feed:\n    - get: /events?every=50ms\n      stream: {{ duration: 20s }}\n\
             load: {{ users: 5, duration: 4s }}\n",
            streams.url("")
        );
        let run = |name: &str, text: &str| {
            let file = scratch.file(name, text);
            Tool::new(&["run", &file, "--json", "--out", &scratch.path(&format!("{name}.plim"))]).start()
        };
        let (dead, alive) = (run("dead.yaml", &shop("/pay?status=500")), run("alive.yaml", &shop("/pay")));
        let one = run("one.yaml", &both);
        let watching = run("feed.yaml", &feed);
        streams.wait_for_requests(5);
        pass(Duration::from_millis(1_000));
        signal(&streams, "KILL");
        let said = dead.wait().expect_code(99).json();
        assert!(
            sentence(&said).starts_with("FAIL: no request pay succeeded from 0 s to the end"),
            "{}",
            said["verdict"]
        );
        assert_eq!(said["availability"]["parts"][0]["name"], "pay");
        assert_eq!(said["availability"]["outages"], serde_json::json!([]));
        up(alive.wait());
        // The ruler listens at one of the addresses that `localhost` has; where it has one only, none is dead.
        let one = one.wait();
        match one.json()["environments"][0]["addresses"].as_array().unwrap().len() {
            0 | 1 => up(one),
            _ => {
                let said = one.expect_code(99).json();
                assert_eq!(said["availability"]["parts"][0]["kind"], "address", "{}", said["availability"]);
                assert!(
                    sentence(&said).starts_with("FAIL: no request to address ::1 succeeded from "),
                    "{}",
                    said["verdict"]
                );
            }
        }
        let (_, outage) = down(watching.wait());
        assert!(
            (0.8..=2.0).contains(&number(&outage, "/from_s")) && outage["is_open_ended"] == true,
            "{outage}"
        );
    });
}
