//! What the truth tests share: the ruler's log read here (not by the tool), the machine's own floor, and patience
//! with a stolen core that a real defect cannot outlast.
//!
//! **Patience.** Two shared cores lose milliseconds to their host now and then. A comparison that is finer than that is
//! made up to three times, and each figure counts with its best try: noise misses at random, a defect misses always.

use crate::support::Ruler;
use serde_json::Value;
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Comparisons finer than the machine's noise are made so often at most.
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
            Err(sentence) => wrong.push(format!("try {number}: {sentence}")),
        }
    }
    panic!("{what}, {TRIES} times in a row (the machine's floor: {})\n{}", floor(), wrong.join("\n"));
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
    let bytes = ruler.get("/_ruler/log");
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

/// How late nothing at all would have been: a thread that only reads the clock, waiting for an instant every 100 us.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

impl std::fmt::Display for Floor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let us = |ns: u64| ns as f64 / 1e3;
        write!(f, "late p50 {:.2} us, p99 {:.1} us, max {:.0} us", us(self.p50_ns), us(self.p99_ns), us(self.max_ns))
    }
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
    Floor { p50_ns: quantile(&mut late, 0.5), p99_ns: quantile(&mut late, 0.99), max_ns: quantile(&mut late, 1.0) }
}

/// What the loopback adds to a time in the server, as a plain blocking socket sees it: median round trip less the
/// ruler's own median, the least of three goes. It owes nothing to the tool, so it cannot hide the tool's mistakes.
pub fn loopback_ns() -> u64 {
    static ONCE: OnceLock<u64> = OnceLock::new();
    *ONCE.get_or_init(|| {
        // The answer comes after a sleep on both sides, as in the runs that it is compared with.
        let ruler = Ruler::start(&["--delay", "2ms"]);
        let least = (0..TRIES).map(|_| loopback_once(&ruler)).min().unwrap_or(0);
        eprintln!("loopback: {} us beside the time in the server", least / 1_000);
        least
    })
}

fn loopback_once(ruler: &Ruler) -> u64 {
    use std::io::{Read, Write};
    ruler.get("/_ruler/forget");
    let mut stream = TcpStream::connect(ruler.address()).expect("the ruler listens");
    stream.set_nodelay(true).expect("an option of every TCP socket");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a time-out can be set");
    let mut took: Vec<u64> = (0..150)
        .map(|_| {
            let sent = Instant::now();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: ruler\r\n\r\n").expect("the ruler reads");
            // An answer of the ruler is one write, far smaller than this.
            let n = stream.read(&mut [0; 4096]).expect("the ruler answers");
            assert!(n > 0, "the ruler closed");
            sent.elapsed().as_nanos() as u64
        })
        .collect();
    let in_server = count(&ruler.json("/_ruler/quantiles?q=0.5"), "/in_server_ns/0.5");
    quantile(&mut took, 0.5).saturating_sub(in_server)
}
