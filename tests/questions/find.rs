//! `plimsoll find` against a service whose capacity is known: workers / service time.

use crate::support::peers::{Nginx, Node, Options};
use crate::support::{Ruler, Scratch, Tool, alone, alongside_first, note_retry, run_alongside};
use serde_json::Value;

#[track_caller]
fn capacity(said: &Value) -> (f64, f64, f64) {
    let of = |place: &str| {
        said.pointer(place).and_then(Value::as_f64).unwrap_or_else(|| panic!("{place}: {said:#}"))
    };
    (of("/capacity/rate_per_s"), of("/capacity/interval/0"), of("/capacity/interval/1"))
}

/// Repeats a search that was disturbed by other programs on the machine: its result does not answer this question.
fn patiently(mut search: impl FnMut() -> Option<Value>) -> Value {
    let mut searched = || {
        let said = search();
        if said.is_none() {
            note_retry("a search was disturbed by other programs");
        }
        said
    };
    (0..3).find_map(|_| searched()).expect("three searches on this machine found no quiet time")
}

fn is_disturbed(said: &Value) -> bool {
    said.pointer("/refusal/code").and_then(Value::as_str) == Some("generator_limited")
}

/// Even arrivals into even service times queue only above the capacity of 4 / 10 ms = 400 a second.
#[test]
fn the_capacity_of_an_even_service_is_found() {
    alongside_first(|| {
        let said = patiently(|| {
            let ruler = Ruler::start(&["--workers", "4", "--service", "10ms", "--queue", "5000"]);
            let output = Tool::run(&[
                "find",
                &ruler.url("/"),
                "--threshold",
                "response_time p99 < 60ms",
                "--from",
                "200/s",
                "--step-duration",
                "3s",
                "--precision",
                "3%",
                "--confirm",
                "1",
                "--max-time",
                "40s",
                "--json",
            ]);
            let said = output.json();
            (!is_disturbed(&said)).then_some(said)
        });
        let (found, low, high) = capacity(&said);
        // Forty seconds on a shared machine: what counts is that the interval holds. 3% are for the long ones.
        assert!((found / 400.0 - 1.0).abs() <= 0.06, "{found} of 400/s: {}", said["sentence"]);
        assert!(low <= 412.0 && high >= 388.0, "{low} to {high}: {}", said["sentence"]);
        assert!(low <= found && found <= high && low > 340.0 && high < 460.0, "{low} {found} {high}");
        let steps = said["steps"].as_array().unwrap();
        assert!(steps.len() >= 5, "{steps:#?}");
        assert_eq!(steps[0]["purpose"], "baseline");
        assert!(steps.iter().any(|s| s["is_met"] == false) && steps.iter().any(|s| s["is_met"] == true));
        let floor_ms = said["unloaded_p50_ns"].as_f64().unwrap() / 1e6;
        assert!((9.9..13.0).contains(&floor_ms), "{floor_ms} ms unloaded");
    });
}

/// Exponential service at 4 workers, Poisson arrivals: an M/M/4, whose p99 theory gives.
#[test]
#[ignore = "a search of five minutes: `cargo xtask nightly`"]
fn the_load_line_of_a_random_service_is_where_theory_puts_it() {
    let _alone = alone();
    let (workers, service_s, limit_s) = (4.0, 0.008, 0.08);
    let truth = mmc_rate_at_p99(workers, 1.0 / service_s, limit_s);
    let said = patiently(|| {
        let ruler = Ruler::start(&["--workers", "4", "--service", "exponential:8ms", "--queue", "5000"]);
        let said = Tool::run(&[
            "find",
            &ruler.url("/"),
            "--arrivals",
            "poisson",
            "--threshold",
            "response_time p99 < 80ms",
            "--json",
        ])
        .json();
        (!is_disturbed(&said)).then_some(said)
    });
    let (found, low, high) = capacity(&said);
    assert!((found / truth - 1.0).abs() <= 0.03, "{found} of {truth}: {}", said["sentence"]);
    assert!(low <= truth && truth <= high, "{truth} outside of {low} to {high}");
}

/// nginx in front of Node, whose four places of 10 ms can do 400 a second.
#[test]
#[ignore = "a search of four minutes: `cargo xtask nightly`"]
fn the_capacity_behind_a_proxy_is_found() {
    let _alone = alone();
    let said = patiently(|| {
        let node = Node::start("station.mjs");
        let nginx = Nginx::start(Options { proxy_to: Some(node.address()), ..Options::default() });
        let url = nginx.http_url("/");
        let said = Tool::run(&["find", &url, "--threshold", "response_time p99 < 60ms", "--json"]).json();
        (!is_disturbed(&said)).then_some(said)
    });
    let (found, low, high) = capacity(&said);
    assert!((found / 400.0 - 1.0).abs() <= 0.03, "{found} of 400/s: {}", said["sentence"]);
    assert!(low <= 400.0 && 400.0 <= high * 1.01, "{low} to {high}");
}

/// The arrival rate at which the p99 of the response time of an M/M/c is `limit_s` (Erlang C; the response time is the
/// sum of an exponential service and, with the probability of waiting, an exponential wait).
fn mmc_rate_at_p99(c: f64, mu: f64, limit_s: f64) -> f64 {
    let beyond = |rate: f64| {
        let a = rate / mu;
        let mut sum = 0.0;
        let mut term = 1.0;
        for k in 0..c as u32 {
            sum += term;
            term *= a / f64::from(k + 1);
        }
        let last = term * c / (c - a);
        let waits = last / (sum + last);
        let delta = c * mu - rate;
        let both = (delta * (-mu * limit_s).exp() - mu * (-delta * limit_s).exp()) / (delta - mu);
        (1.0 - waits) * (-mu * limit_s).exp() + waits * both
    };
    let (mut low, mut high) = (0.0, c * mu * 0.999_999);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if beyond(middle) < 0.01 { low = middle } else { high = middle }
    }
    low
}

/// Steps of a tenth until 50 a second are not answered: the service can do 200.
#[test]
fn a_ladder_ends_with_its_shortfall() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--workers", "2", "--service", "10ms", "--queue", "5000"]);
        let args = [
            "find",
            &ruler.url("/"),
            "--from",
            "160/s",
            "--step",
            "x1.10",
            "--step-duration",
            "2s",
            "--stop-when",
            "offered - achieved >= 50/s",
            "--json",
        ];
        let said = Tool::run(&args).json();
        assert_eq!(said["style"], "ladder");
        let levels: Vec<f64> =
            said["steps"].as_array().unwrap().iter().map(|s| s["level"].as_f64().unwrap()).collect();
        let first = levels.iter().position(|l| (l - 160.0).abs() < 1e-9).expect("it begins at 160/s");
        for pair in levels[first..].windows(2) {
            assert!((pair[1] / pair[0] - 1.1).abs() < 1e-9, "{levels:?}");
        }
        // The capacity is 200: at 250, 50 are missing, and 257.7 is the first step above that.
        let last = levels.last().unwrap();
        assert!((235.0..=285.0).contains(last), "{levels:?}");
        let (found, low, high) = capacity(&said);
        assert!(found < *last && low <= found && high <= *last + 1e-9, "{found} {low} {high} {last}");
    });
}

/// Connections in steps of 20 until the first socket error: the server takes 64.
#[test]
fn a_ladder_of_users_ends_with_the_first_socket_error() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "5ms", "--max_connections", "64"]);
        let args = [
            "find",
            &ruler.url("/"),
            "--vary",
            "users",
            "--from",
            "20",
            "--step",
            "+20",
            "--step-duration",
            "1s",
            "--stop-when",
            "socket_errors > 0",
            "--json",
        ];
        let said = Tool::run(&args).json();
        let levels: Vec<u64> =
            said["steps"].as_array().unwrap().iter().map(|s| s["level"].as_f64().unwrap() as u64).collect();
        assert!(levels.ends_with(&[20, 40, 60, 80]), "{levels:?}");
        assert_eq!(said["capacity"]["users"], 60.0, "{}", said["capacity"]);
        assert_eq!(said["capacity"]["rate_per_s"], Value::Null);
    });
}

/// Existing runs are not repeated, and the report of the folder has the same result as the search.
#[test]
fn a_search_continues_where_it_was_stopped_and_can_be_reported_again() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--workers", "2", "--service", "10ms", "--queue", "5000"]);
        let scratch = Scratch::new();
        let folder = scratch.path("search");
        let url = ruler.url("/");
        let mut args =
            vec!["find", &url, "--from", "100/s", "--step", "+50", "--step-duration", "1s", "--out", &folder];
        args.extend(["--stop-when", "offered - achieved >= 60/s", "--seed", "7"]);
        let running = Tool::new(&args).start();
        ruler.wait_for_requests(180);
        running.signal("INT");
        let output = running.wait();
        assert_eq!(
            output.code, 130,
            "a search that was cut short proves nothing\n{}{}",
            output.stdout, output.stderr
        );
        let before = std::fs::read_dir(&folder).unwrap().count();

        let whole = Tool::run(&args);
        assert!(whole.stderr.contains("resuming after"), "{}", whole.stderr);
        assert!(std::fs::read_dir(&folder).unwrap().count() > before);
        assert_eq!(whole.code, 0, "{}{}", whole.stdout, whole.stderr);

        let again = Tool::run(&args);
        assert_eq!(again.stdout, whole.stdout, "nothing is left to run");
        let report = Tool::run(&["report", &folder]);
        assert_eq!((report.stdout, report.code), (whole.stdout, whole.code));
        let csv = Tool::run(&["report", &folder, "--csv"]).expect_code(0).stdout;
        assert!(csv.lines().count() >= 3, "{csv}");
        assert!(Tool::run(&["report", &folder, "--markdown"]).expect_code(0).stdout.contains("|"));
    });
}

#[test]
fn another_search_is_not_mixed_with_what_is_in_the_folder() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let folder = scratch.path("search");
    let url = ruler.url("/");
    let find = |to: &str| {
        let mut args = vec!["find", &url, "--from", "100/s", "--step", "+100", "--step-duration", "1s"];
        args.extend(["--to", to, "--out", &folder, "-q"]);
        Tool::run(&args)
    };
    find("100/s");
    let sent = ruler.requests();
    let refused = find("300/s").expect_code(2);
    assert!(
        refused.stderr.contains("U027") && refused.stderr.contains("another experiment"),
        "{}",
        refused.stderr
    );
    assert_eq!(ruler.requests(), sent, "nothing is sent for what is refused");
}

#[test]
fn what_a_search_sets_itself_and_what_cannot_be_read_is_refused_all_at_once() {
    let said = Tool::run(&[
        "find",
        "http://127.0.0.1:9/",
        "-r",
        "100",
        "-d",
        "3s",
        "--step",
        "x0.5",
        "--precision",
        "90%",
        "--stop-when",
        "sunset",
    ])
    .expect_code(2)
    .stderr;
    for part in ["-r", "-d", "`x0.5`", "`90%`", "`sunset`"] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}

/// A service that answers 50 requests a second and turns the others away with 429, counted by tokens.
fn rate_limited() -> (String, std::sync::Arc<std::sync::atomic::AtomicU64>) {
    use std::io::{BufRead, BufReader, Write};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicU64::new(0));
    let tokens = Arc::new(Mutex::new((5.0f64, std::time::Instant::now())));
    let counter = asked.clone();
    // Both threads end with the process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (tokens, asked) = (tokens.clone(), counter.clone());
            std::thread::spawn(move || {
                let mut answers = stream.try_clone().unwrap();
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if !line.is_empty() {
                        continue;
                    }
                    asked.fetch_add(1, Ordering::Relaxed);
                    let served = {
                        let mut left = tokens.lock().unwrap();
                        let now = std::time::Instant::now();
                        left.0 = (left.0 + 50.0 * (now - left.1).as_secs_f64()).min(5.0);
                        left.1 = now;
                        let is_served = left.0 >= 1.0;
                        left.0 -= f64::from(u8::from(is_served));
                        is_served
                    };
                    let head = if served { "200 OK" } else { "429 Too Many Requests\r\nRetry-After: 1" };
                    let text = format!("HTTP/1.1 {head}\r\nContent-Length: 2\r\n\r\nok");
                    if answers.write_all(text.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, asked)
}

/// The run of one user asks ten times a second: a service that turns away who asks more is searched like any other.
#[test]
fn a_service_with_a_rate_limit_is_found_to_carry_it() {
    alongside_first(|| {
        let (url, _) = rate_limited();
        let rules = ["--threshold", "response_time p99 < 100ms", "--threshold", "error_rate < 2%"];
        let mut args = vec!["find", &url, "--from", "35/s", "--max-time", "24s", "--json"];
        args.extend(rules);
        let said = Tool::run(&args).json();
        let found = said.pointer("/capacity/rate_per_s").and_then(Value::as_f64);
        let found = found.unwrap_or_else(|| panic!("{said:#}"));
        assert!((42.0..57.0).contains(&found), "{found}: {}", said["sentence"]);
        let floor = &said["steps"][0];
        assert_eq!((&floor["purpose"], &floor["errors"]), (&Value::from("baseline"), &Value::from(0)));
        assert!(floor["requests"].as_u64().unwrap() <= 21, "one user does not hammer: {floor:#}");
        assert!(!said["deciding_runs"]["generator"].is_null(), "{said:#}");
        for step in said["curve"].as_array().unwrap() {
            let below = step["level"].as_f64().unwrap() < found / 1.01;
            assert!(!(below && step["standing"] == "missed"), "{step:#} below {found}");
        }
    });
}
