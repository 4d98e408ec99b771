//! Cautions about the number of samples.

use super::{silent, silent_enough, warns};
use crate::help::{caution, count, patiently};
use crate::provoke::{json, reasons};
use crate::support::{Ruler, Tool, alongside_first};

/// A pause of 200 ms in every second: ten thousand quick answers hide a fifth of the time.
#[test]
fn the_closed_model_says_what_it_hides() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let args = [&ruler.url("/"), "-c", "8", "-d", "2s"];
        patiently("stalls without a cause", || silent_enough(&json(&args, 0), "coordinated_omission"));

        ruler.set("pause=200ms/1s");
        let said = json(&args, 0);
        let told = warns(&said, "coordinated_omission");
        // "x % of the requests (16, each above ...) took 19.7% of the users' time".
        let share: f64 =
            told.split(" took ").nth(1).and_then(|rest| rest.split('%').next()).unwrap().parse().unwrap();
        assert!((15.0..=24.0).contains(&share), "{told}");
        let advice = caution(&said, "coordinated_omission")["advice"].as_str().unwrap();
        assert!(advice.contains("-r RATE"), "{advice}");
        assert!(count(&said, "/response_time/p99_ns") < 50_000_000, "which is why it needs to be said");
        // The open model hides nothing, so nothing needs to be said.
        let open = Tool::run(&[&ruler.url("/"), "-r", "300", "-d", "2s", "--json"]).json();
        silent(&open, "coordinated_omission");
        assert!(count(&open, "/response_time/p99_ns") > 100_000_000);
    });
}

#[test]
fn a_mean_above_p95_is_said() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        // Mean 1 ms + 2% of 800 ms = 17 ms; 98% take 1 ms.
        let args = ["-n", "600", "-c", "20"];
        let said = json(&[&[ruler.url("/?delay=bimodal:1ms:800ms:0.02").as_str()], &args[..]].concat(), 0);
        assert!(warns(&said, "mean_above_p95").contains("mean"), "{}", said["response_time"]);
        let calm = json(&[&[ruler.url("/?delay=20ms").as_str()], &args[..]].concat(), 0);
        silent(&calm, "mean_above_p95");
    });
}

#[test]
fn a_percentile_that_decides_needs_samples() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let run = |n: &str, code| {
            let said =
                json(&[&ruler.url("/"), "-n", n, "-c", "4", "--threshold", "response_time p99 < 5s"], code);
            (said["verdict"]["result"].as_str().unwrap().to_owned(), said)
        };
        // All are fast, so the p99 is certain if 0.99^n is below 2.5%: with 368 or more.
        let (result, said) = run("367", 3);
        assert_eq!((result.as_str(), reasons(&said)), ("INCONCLUSIVE", vec!["too_few_samples"]));
        assert!(warns(&said, "too_few_samples").contains("p99 needs 1,000"));
        assert_eq!(run("368", 0).0, "PASS");
        let (result, said) = run("1000", 0);
        assert_eq!(result, "PASS");
        // A percentile without a threshold only gets a note.
        assert_eq!(caution(&said, "too_few_samples")["severity"], "note");
        assert!(warns(&said, "too_few_samples").contains("p99.9 needs 10,000"));
        silent(&json(&[&ruler.url("/"), "-n", "10000", "-c", "4"], 0), "too_few_samples");
    });
}

#[test]
fn a_run_without_an_answer_proves_nothing() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let said = json(&[&ruler.url("/?fault=no_response"), "-c", "3", "-d", "300ms"], 3);
        assert_eq!(reasons(&said), ["no_requests"]);
        assert!(warns(&said, "no_requests").contains("3 sent, 3 in flight"), "{}", said["cautions"]);
        silent(&json(&[&ruler.url("/"), "-c", "3", "-d", "300ms"], 0), "no_requests");
    });
}

#[test]
fn a_run_shorter_than_ten_seconds_is_noted() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let said = json(&[&ruler.url("/"), "-c", "1", "-d", "200ms"], 0);
        assert_eq!(caution(&said, "short_run")["severity"], "note");
        // Its twin is the healthy run.
    });
}
