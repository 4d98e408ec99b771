//! The time that a client sees: the time in the server, from the ruler's log, and the addition of the path.
//!
//! The ruler logs the time from a request's arrival to the last byte of its response. Every client sees more: the
//! loopback, and above all the times in which a runnable process does not run (wake-ups, steal). This addition is
//! neither guessed nor taken from plimsoll. A canary, a plain blocking socket to its own ruler, runs throughout the
//! run. Each of its round trips, minus that ruler's time for it, is one sample of the addition. The two are
//! independent, so a client must see their convolution.

use crate::help::{self, Seen, quantile};
use crate::support::Ruler;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A socket that sends requests and waits for responses, alongside a run.
pub struct Canary {
    ruler: Ruler,
    stop: Arc<AtomicBool>,
    /// Returns the round trips, in ns.
    thread: JoinHandle<Vec<u64>>,
}

impl Canary {
    /// Starts a canary with about 300 round trips per second, which is not a significant load.
    pub fn start() -> Self {
        let ruler = Ruler::start(&["--delay", "uniform:2ms-4ms"]);
        let stop = Arc::new(AtomicBool::new(false));
        let (address, seen_stop) = (ruler.address(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).expect("the ruler listens");
            stream.set_nodelay(true).expect("an option of every TCP socket");
            stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout can be set");
            let mut trips_ns = Vec::new();
            while !seen_stop.load(Ordering::Relaxed) {
                let sent = Instant::now();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: ruler\r\n\r\n").expect("the ruler reads");
                // An answer of the ruler is one write, far smaller than this.
                let n = stream.read(&mut [0; 4096]).expect("the ruler answers");
                assert!(n > 0, "the ruler closed");
                trips_ns.push(sent.elapsed().as_nanos() as u64);
            }
            trips_ns
        });
        Canary { ruler, stop, thread }
    }

    /// Ends the canary; returns the time that the path added to each of its round trips.
    pub fn end(self) -> Way {
        self.stop.store(true, Ordering::Relaxed);
        let trips_ns = self.thread.join().expect("the canary lives");
        let in_server = in_server_ns(&help::log(&self.ruler));
        assert_eq!(trips_ns.len(), in_server.len(), "one connection: in the order of arrival");
        Way::of(trips_ns.iter().zip(in_server).map(|(trip, own)| trip.saturating_sub(own)).collect())
    }
}

/// The time that the path to the server and back added to each round trip, in ns.
pub struct Way {
    /// Ascending.
    added_ns: Vec<u64>,
    /// Every second value, each half ascending: their difference shows how much two measurements of the same time
    /// differ.
    halves_ns: [Vec<u64>; 2],
}

impl Way {
    /// In the order of time.
    pub fn of(mut added_ns: Vec<u64>) -> Self {
        let half = |from: usize| {
            let mut half: Vec<u64> = added_ns.iter().copied().skip(from).step_by(2).collect();
            half.sort_unstable();
            half
        };
        let halves_ns = [half(0), half(1)];
        added_ns.sort_unstable();
        Self { added_ns, halves_ns }
    }

    /// Returns the quantile `q` that a client must see of a server with the times `own_ns`, and the tolerance of this
    /// machine, both in ns. The tolerance is one wake-up and loopback (the median addition: another client may wake up
    /// earlier or later by as much) plus the difference between the halves of the canary's round trips.
    pub fn seen_at(&self, own_ns: &[u64], q: f64) -> (u64, u64) {
        let at = |added: &[u64]| quantile(&mut convolve(own_ns, added), q);
        let [a, b] = [0, 1].map(|half| at(&self.halves_ns[half]));
        let wake_up_ns = self.added_ns[self.added_ns.len() / 2];
        (at(&self.added_ns), wake_up_ns + a.abs_diff(b))
    }
}

/// Returns the time in the server of each complete response, in the order of arrival, in ns.
pub fn in_server_ns(seen: &[Seen]) -> Vec<u64> {
    seen.iter().filter(|s| s.answered_ns > 0).map(|s| s.answered_ns - s.arrive_ns).collect()
}

/// Returns the distribution of the sum of a value of `own` and an independent one of `added`, ascending. It uses 64
/// values of `added`, at even ranks.
fn convolve(own: &[u64], added: &[u64]) -> Vec<u64> {
    const STEPS: usize = 64;
    let at_rank = |step: usize| added[(2 * step + 1) * added.len() / (2 * STEPS)];
    let mut sums: Vec<u64> = (0..STEPS).flat_map(|step| own.iter().map(move |v| v + at_rank(step))).collect();
    sums.sort_unstable();
    sums
}
