//! CPU: how much of it a worker had, used, and was left with.

use super::{ahead_of_others, dear_to_read, silent, silent_enough, warns};
use crate::help::{cautions, count, number, patiently};
use crate::provoke::{Then, canned, json, pass, reasons, shell};
use crate::sleeper::Sleeper;
use crate::support::{Ruler, Scratch, Tool, alone};
use plimsoll_analysis::summarise;
use plimsoll_plan::metric::RunSum;
use plimsoll_record::run_file;
use std::path::Path;
use std::time::Duration;

/// One worker, and answers that it needs longer to read than the server to send.
#[test]
fn a_worker_without_room_says_so() {
    let _alone = alone();
    let port = canned("127.0.0.1", dear_to_read(), Then::KeepOpen);
    patiently("a worker with too much to read has room", || {
        let args = [&format!("http://127.0.0.1:{port}/"), "-c", "8", "-t", "1", "-d", "1s", "--json"];
        let said = ahead_of_others(&args).start().wait().expect_code(0).json();
        let told = cautions(&said).contains(&"client_cpu_saturated")
            && warns(&said, "client_cpu_saturated").starts_with("worker 0 was busy");
        if told { Ok(()) } else { Err(format!("{} {}", said["client"]["workers"], said["cautions"])) }
    });
    let ruler = Ruler::start(&["--delay", "20ms"]);
    let calm = json(&[&ruler.url("/"), "-c", "10", "-t", "1", "-d", "1s"], 0);
    silent(&calm, "client_cpu_saturated");
    let sleep = number(&calm, "/client/workers/0/idle_ratio");
    assert!(sleep > 0.8, "asleep {sleep} of the time with 500 requests a second");
}

/// The closed model has no schedule to be late for. SIGSTOP for 700 ms looks like a stalled service, and plimsoll must
/// report that the load generator stalled.
#[test]
fn a_generator_that_stalled_does_not_blame_the_service() {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let run = |stop: bool| {
        ruler.get("/_test-server/clear");
        // Errors need no quiet machine: without a limit for the times the run would pass.
        let limit = ["--threshold", "response_time p99 < 100ms"];
        let url = ruler.url("/");
        let args = [&[url.as_str(), "-c", "4", "-d", "2s", "--json"], &limit[..]].concat();
        let running = Tool::new(&args).start();
        ruler.wait_for_requests(200);
        if stop {
            running.signal("STOP");
            pass(Duration::from_millis(700));
            running.signal("CONT");
        }
        running.wait().json()
    };
    let said = run(true);
    assert_eq!(reasons(&said), ["client_stalled"]);
    assert!(count(&said, "/response_time/max_ns") >= 690_000_000, "{}", said["response_time"]);
    // The share of two seconds; up to 100 ms of the stop may count as part of the sleep that it interrupted.
    let told = warns(&said, "client_stalled");
    let share: f64 =
        told.split("each, ").nth(1).and_then(|rest| rest.split('%').next()).unwrap().parse().unwrap();
    assert!((28.0..=40.0).contains(&share), "{told}");

    patiently("this machine stalled without a cause", || silent_enough(&run(false), "client_stalled"));
}

#[test]
fn a_workers_shares_of_its_time_add_up() {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", "1ms"]);
    let shares = |more: &[&str]| {
        let url = ruler.url("/");
        let said = Tool::run(&[&[url.as_str(), "-d", "1s", "-t", "2", "--json"], more].concat()).json();
        let workers = said["client"]["workers"].as_array().unwrap().clone();
        assert_eq!(workers.len(), 2);
        for worker in &workers {
            let names = ["busy_ratio", "busy_poll_ratio", "idle_ratio", "cpu_wait_ratio"];
            let sum: f64 = names.iter().map(|name| worker[name].as_f64().unwrap()).sum();
            // The kernel's counters of one thread are read sequentially.
            assert!((0.97..=1.03).contains(&sum), "{worker}");
        }
        workers.iter().map(|worker| worker["busy_poll_ratio"].as_f64().unwrap()).sum::<f64>()
    };
    assert_eq!(shares(&["-c", "8"]), 0.0, "nothing is awaited on the clock in the closed model");
    assert_eq!(shares(&["-r", "1000", "--limit", "spin_ns=0ns"]), 0.0, "spinning is switched off");
    // 1,000 times per second, a worker sleeps until 60 us before an arrival and busy-polls for the rest. The machine's
    // wake-up time, which is measured during the run, takes a part of that; a response in between, or steal, takes
    // more.
    let sleeper = Sleeper::start(Duration::from_micros(60));
    let spun = shares(&["-r", "1000"]);
    let left_s = sleeper.end();
    let most = 1_000.0 * left_s;
    assert!(spun > 0.0 && spun >= 0.3 * most - 0.002, "{spun}, of {most} that the wake-ups leave");
    assert!(spun <= 1.3 * most + 0.02, "{spun}, of {most} that the wake-ups leave");
}

/// The CPU time that the workers report is not more than the kernel's accounting of the process.
#[test]
fn cpu_time_agrees_with_the_kernels_bill() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    patiently("CPU time", || {
        let before = cpu_of_children_s();
        let said = Tool::run(&[&ruler.url("/"), "-c", "20", "-t", "2", "-d", "2s", "--json"]).json();
        let bill = cpu_of_children_s() - before;
        let used: f64 = (0..2)
            .map(|i| {
                let share = |name: &str| number(&said, &format!("/client/workers/{i}/{name}"));
                (share("busy_ratio") + share("busy_poll_ratio")) * 2.0
            })
            .sum();
        // The rest is start-up, the run file, and the report.
        match used <= bill + 0.03 && used >= bill - 0.25 {
            true => Ok(()),
            false => Err(format!("the workers say {used:.2} s, the kernel {bill:.2} s")),
        }
    });
}

/// CPU time of this test's children that have ended, s (the ruler is still there).
fn cpu_of_children_s() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    // After the name, which may contain anything: state is field 3, cutime and cstime are 16 and 17.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[13..15].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / shell("getconf CLK_TCK").trim().parse::<f64>().unwrap()
}

/// Stolen time cannot be provoked from inside: compared with the kernel's count, and judged in a changed record.
#[test]
fn stolen_time_is_what_the_kernel_counts_and_is_warned_of() {
    let _alone = alone();
    let (ruler, scratch) = (Ruler::start(&["--delay", "1ms"]), Scratch::new());
    let file = scratch.path("run.plim");
    let before = stolen_s();
    let said = json(&[&ruler.url("/"), "-c", "4", "-d", "1s", "--out", &file], 0);
    let most = stolen_s() - before;
    // The kernel's count is of all CPUs, also of those that this process may not use.
    let cpus = shell("getconf _NPROCESSORS_ONLN").trim().parse::<f64>().unwrap();
    let told = number(&said, "/client/steal_ratio") * cpus;
    assert!(told <= most + 0.02, "{told} s stolen in a run during which the kernel counted {most} s");

    let mut record = run_file::read(Path::new(&file)).unwrap();
    let mut warned_with = |stolen_ns: u64| {
        let origin = record.generators.values_mut().next().unwrap();
        origin.totals.run.sums[RunSum::StealNs.id()] = stolen_ns;
        summarise(&record).cautions.iter().any(|caution| caution.kind.code() == "cpu_steal")
    };
    // A fiftieth and a tenth of all CPUs' second; the line is drawn at a twentieth.
    assert!(!warned_with((cpus * 2e7) as u64));
    assert!(warned_with((cpus * 1e8) as u64));
}

fn stolen_s() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let all = text.lines().next().unwrap().split_whitespace().nth(8).unwrap().parse::<f64>().unwrap();
    all / shell("getconf CLK_TCK").trim().parse::<f64>().unwrap()
}
