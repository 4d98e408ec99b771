//! The timeline of a run: a queue that only grows, and an unsteady start.
//!
//! These runs take seconds each while the machine is idle, so a run and its twins run concurrently, each with its own
//! ruler.

use super::{silent, warns};
use crate::help::caution;
use crate::provoke::pass;
use crate::support::{Ruler, Running, Tool, alongside_first};
use serde_json::Value;
use std::time::Duration;

fn start(ruler: &Ruler, args: &[&str]) -> Running {
    Tool::new(&[&[ruler.url("/").as_str(), "--json"], args].concat()).start()
}

fn wait(running: Running) -> Value {
    running.wait().json()
}

/// 4 workers x 20 ms: 200 answers a second.
fn station() -> Ruler {
    Ruler::start(&["--workers", "4", "--service", "20ms", "--queue", "100000"])
}

#[test]
fn a_queue_that_grows_through_the_whole_run_is_said() {
    alongside_first(|| {
        let (over, under, spike, ramp) = (station(), station(), station(), station());
        // Half a second without any answer in the third second; 50 arrivals wait, and are served within another one.
        spike.set("pause=500ms/1m&pause_at=2s");
        let beyond = start(&over, &["-r", "300", "-d", "6s", "--max-connections", "4000"]);
        let below = start(&under, &["-r", "160", "-d", "6s", "--max-connections", "4000"]);
        let passing = start(&spike, &["-r", "100", "-d", "6s", "--max-connections", "4000"]);
        let rising = start(&ramp, &["--stages", "6s:600/s", "--max-connections", "4000"]);
        let [said, below, passing, rising] = [beyond, below, passing, rising].map(wait);
        // 100 more wait each second, half a second's work: 0.5 s after one second, 2 s after six.
        let told = warns(&said, "backlog_grew");
        assert!(told.contains("in the first third and 1."), "{told}");
        for twin in [below, passing] {
            silent(&twin, "backlog_grew");
            silent(&twin, "unsteady_start");
        }
        // Response times that rise with the planned load raise no caution, even if the service cannot keep up.
        silent(&rising, "backlog_grew");
    });
}

#[test]
fn a_beginning_of_another_kind_is_said() {
    alongside_first(|| {
        let rulers = [(); 4].map(|()| Ruler::start(&["--delay", "20ms"]));
        let [cold, warmed, open, constant] = &rulers;
        let users = ["-c", "5", "-d", "7s"];
        let cold_run = start(cold, &users);
        let warmed_run = start(warmed, &["-c", "5", "--warmup", "2200ms", "-d", "8200ms"]);
        let open_run = start(open, &["-r", "100", "-d", "7s"]);
        let constant_run = start(constant, &users);
        pass(Duration::from_millis(2_050));
        // Caches full, pools made, code compiled.
        [cold, warmed, open].iter().for_each(|ruler| ruler.set("delay=5ms"));
        let [cold, warmed, open, constant] = [cold_run, warmed_run, open_run, constant_run].map(wait);
        let told = warns(&cold, "unsteady_start");
        assert!(told.contains(" until 2 s, then 5."), "{told}");
        assert!(told.contains("throughput 2"), "{told}");
        let advice = caution(&cold, "unsteady_start")["advice"].as_str().unwrap_or("");
        assert!(advice.contains("`--warmup 2s`"), "{advice}");
        assert!(warns(&open, "unsteady_start").contains("median response time 2"), "{}", open["cautions"]);
        silent(&warmed, "unsteady_start");
        silent(&constant, "unsteady_start");
    });
}
