//! Shared parts of the truth tests: a reader of the ruler's log (independent of plimsoll), the noise floor of the
//! machine, and repeated attempts.
//!
//! **Repeated attempts.** Two shared cores occasionally lose milliseconds to their host. A comparison that is more
//! precise than that gets up to three attempts, and the best attempt of each value counts: noise fails randomly, a
//! defect fails every time.

use crate::support::{Ruler, Tool, alongside_first, note_retry};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Maximum number of attempts for comparisons that are more precise than the machine's noise.
pub const TRIES: usize = 3;

/// Set by `cargo xtask nightly`: the long versions.
pub fn is_nightly() -> bool {
    std::env::var_os("PLIMSOLL_NIGHTLY").is_some_and(|value| value == "1")
}

/// A number of a JSON document, by its place.
#[track_caller]
pub fn number(json: &Value, place: &str) -> f64 {
    match json.pointer(place).and_then(Value::as_f64) {
        Some(number) => number,
        None => panic!("no number at `{place}`:\n{json:#}"),
    }
}

/// A count of a JSON document, by its place.
#[track_caller]
pub fn count(json: &Value, place: &str) -> u64 {
    match json.pointer(place).and_then(Value::as_u64) {
        Some(count) => count,
        None => panic!("no count at `{place}`:\n{json:#}"),
    }
}

/// The codes of a result's cautions.
pub fn cautions(json: &Value) -> Vec<&str> {
    let all = json["cautions"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().filter_map(|caution| caution["code"].as_str()).collect()
}

/// The caution with this code.
#[track_caller]
pub fn caution<'a>(json: &'a Value, code: &str) -> &'a Value {
    let all = json["cautions"].as_array().map_or(&[][..], Vec::as_slice);
    let found = all.iter().find(|caution| caution["code"] == code);
    found.unwrap_or_else(|| panic!("no caution `{code}` among {:?}", cautions(json)))
}

/// A number of every second of the timeline.
pub fn timeline(json: &Value, field: &str) -> Vec<f64> {
    let seconds = json["timeline"].as_array().map_or(&[][..], Vec::as_slice);
    seconds.iter().map(|second| second[field].as_f64().unwrap_or(f64::NAN)).collect()
}

/// Tries until nothing is wrong, at most [`TRIES`] times; then fails with what was wrong each time.
#[track_caller]
pub fn patiently(what: &str, mut one: impl FnMut() -> Result<(), String>) {
    let mut wrong = Vec::new();
    for number in 1..=TRIES {
        match one() {
            Ok(()) => return,
            Err(sentence) => {
                wrong.push(format!("try {number}: {sentence} (the machine's floor: {})", floor()))
            }
        }
        if number < TRIES {
            note_retry(&wrong[wrong.len() - 1]);
            calm();
        }
    }
    panic!("{what}, {TRIES} times in a row\n{}", wrong.join("\n"));
}

/// Like [`patiently`], for a test that may run alongside others the first time.
pub fn patiently_alongside_first(what: &str, one: impl Fn() -> Result<(), String>) {
    alongside_first(|| {
        if let Err(sentence) = one() {
            panic!("{what}: {sentence} (the machine's floor: {})", floor());
        }
    });
}

/// Doubts that a run has about the machine that it ran on, and not about what it measured.
const OF_THE_MACHINE: [&str; 3] = ["client_stalled", "offered_rate_missed", "late_sends"];

/// Returns the JSON of a run that exited with this code. A run whose only cautions are about disturbances of the load
/// generator does not answer the test's question, so it is repeated a few times.
#[track_caller]
pub fn undisturbed(args: &[&str], code: i32) -> Value {
    const MOST: usize = 4;
    for number in 1..MOST {
        let output = Tool::run(args);
        if output.code == code || !is_of_the_machine(&output.json()) {
            return output.expect_code(code).json();
        }
        note_retry(&format!("run {number} of {MOST}: {}", output.json()["verdict"]["sentence"]));
        calm();
    }
    Tool::run(args).expect_code(code).json()
}

fn is_of_the_machine(said: &Value) -> bool {
    let reasons = said["verdict"]["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let ours = |code: &Value| code.as_str().is_some_and(|code| OF_THE_MACHINE.contains(&code));
    said["verdict"]["result"] == "INCONCLUSIVE" && !reasons.is_empty() && reasons.iter().all(ours)
}

/// Like [`patiently`], for a body that asserts: a stall of the whole machine for a second happens, three in a
/// row do not.
pub fn unless_noisy(body: impl Fn()) {
    for number in 1..TRIES {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(&body)).is_ok() {
            return;
        }
        note_retry(&format!("try {number} of {TRIES} failed (the machine's floor: {})", floor()));
        calm();
    }
    body();
}

/// Wakes a process that was stopped by a signal.
pub fn continue_process(pid: u32) {
    let status = std::process::Command::new("kill").args(["-CONT", &pid.to_string()]).status();
    assert!(status.expect("`kill` can be started").success(), "kill -CONT {pid}");
}

/// Waits until the machine is quiet enough for a measurement, for at most 10 s, so that a compiler can finish.
fn calm() {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) {
        let floor = floor();
        if floor.p50_ns < 1_000 && floor.p99_ns < 1_000_000 {
            return;
        }
    }
}

/// A request as the ruler saw it; instants on the clock that all processes of a machine share.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub arrive_ns: u64,
    /// 0 when there was no whole answer.
    pub answered_ns: u64,
    pub connection: u32,
}

/// The ruler's log, in the order of arrival.
pub fn log(ruler: &Ruler) -> Vec<Seen> {
    let bytes = ruler.get("/_test-server/log");
    assert_eq!(bytes.len() % 40, 0, "a log of whole records");
    let word = |record: &[u8], at: usize| u64::from_le_bytes(record[at..at + 8].try_into().expect("8 bytes"));
    let records = bytes.chunks_exact(40).map(|record| Seen {
        arrive_ns: word(record, 0),
        answered_ns: word(record, 16),
        connection: word(record, 32) as u32,
    });
    records.collect()
}

/// The smallest value that at least the share `q` of all does not exceed (nearest rank).
pub fn quantile(values: &mut [u64], q: f64) -> u64 {
    values.sort_unstable();
    let rank = (q * values.len() as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

/// The noise floor of the machine: the lateness of a thread that only reads the clock and waits for a time every 100
/// us.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

impl std::fmt::Display for Floor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let us = |ns: u64| ns as f64 / 1e3;
        write!(
            f,
            "late p50 {:.2} us, p99 {:.1} us, max {:.0} us",
            us(self.p50_ns),
            us(self.p99_ns),
            us(self.max_ns)
        )
    }
}

/// The time that each thread of a process has waited for a CPU, by the kernel's accounting, in ns.
pub struct Waits(u32, Instant, Vec<(std::path::PathBuf, u64)>);

impl Waits {
    pub fn of(pid: u32) -> Self {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process is there");
        // A thread that has ended no longer has a counter.
        let waited = |path: std::path::PathBuf| {
            let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
            Some((path, text.split(' ').nth(1)?.parse().ok()?))
        };
        Self(pid, Instant::now(), tasks.filter_map(|task| waited(task.ok()?.path())).collect())
    }

    /// Share of the time since then that the thread which waited longest has waited.
    pub fn share_since(&self) -> f64 {
        let now = Waits::of(self.0);
        let before = |path| self.2.iter().find(|row| row.0 == path).map_or(0, |row| row.1);
        let longest_ns =
            now.2.into_iter().map(|(path, ns)| ns.saturating_sub(before(path))).max().unwrap_or(0);
        longest_ns as f64 / self.1.elapsed().as_nanos() as f64
    }
}

/// Share of its time that the worker of a run which waited longest for a CPU has waited.
pub fn waited_share(said: &Value) -> f64 {
    let workers = said["client"]["workers"].as_array().map_or(&[][..], Vec::as_slice);
    workers.iter().filter_map(|worker| worker["cpu_wait_ratio"].as_f64()).fold(0.0, f64::max)
}

/// Measures the floor of this machine, now, for half a second.
pub fn floor() -> Floor {
    const STEP_NS: u64 = 100_000;
    const STEPS: u64 = 5_000;
    let begin = Instant::now();
    let mut late: Vec<u64> = (1..=STEPS)
        .map(|step| {
            let due = Duration::from_nanos(step * STEP_NS);
            loop {
                let now = begin.elapsed();
                if now >= due {
                    return (now - due).as_nanos() as u64;
                }
                std::hint::spin_loop();
            }
        })
        .collect();
    Floor {
        p50_ns: quantile(&mut late, 0.5),
        p99_ns: quantile(&mut late, 0.99),
        max_ns: quantile(&mut late, 1.0),
    }
}
