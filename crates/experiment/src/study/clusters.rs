//! Clusters of times at retransmission timeouts: a lost SYN costs 1 s, then 3 s, then 7 s, with any service.
//!
//! Linux retransmits a SYN after 1 s and doubles the timeout (RFC 6298: 1, 3, 7, 15 s in total; since 6.5, the first
//! four timeouts may be 1 s each), and lost data after at least 200 ms (200, 600, 1,400 ms). A delayed request takes
//! the timeout plus an ordinary time. A cluster counts only in contrast to its neighborhood: a long smooth tail has
//! none.

use plimsoll_stats::Hist;
use serde::Serialize;

const MS: u64 = 1_000_000;

/// Delays to look for, in ns.
const TIMERS: [(u64, Delay); 11] = [
    (200 * MS, Delay::Data),
    (600 * MS, Delay::Data),
    (1_000 * MS, Delay::Syn),
    (1_400 * MS, Delay::Data),
    (2_000 * MS, Delay::Syn),
    (3_000 * MS, Delay::Syn),
    (4_000 * MS, Delay::Syn),
    (5_000 * MS, Delay::Syn),
    (7_000 * MS, Delay::Syn),
    (15_000 * MS, Delay::Syn),
    (31_000 * MS, Delay::Syn),
];

/// Fewer are chance.
const FEWEST: u64 = 10;
/// A cluster has this many times the count of the ranges before and after it.
const CONTRAST: f64 = 4.0;

/// The kind of timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Delay {
    /// The first packet of a connection.
    Syn,
    /// A packet of an open connection.
    Data,
}

impl Delay {
    pub fn cause(self) -> &'static str {
        match self {
            Delay::Syn => "lost connection attempts",
            Delay::Data => "lost packets",
        }
    }
}

/// A cluster of times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cluster {
    pub delay: Delay,
    /// The delay by the timeout, in ns.
    pub delay_ns: u64,
    /// The range of the cluster, in ns.
    pub from_ns: u64,
    pub to_ns: u64,
    pub count: u64,
    /// Share of all times.
    pub ratio: f64,
}

/// Returns the clusters in a distribution of times. `floor_ns` is the minimum response time (the round trip), or 0 if
/// unknown. If ordinary times reach a timeout, there is no neighborhood to compare with, and no cluster is reported.
pub fn clusters(hist: &Hist, floor_ns: u64) -> Vec<Cluster> {
    let Some(smallest) = hist.min() else { return Vec::new() };
    let floor_ns = if floor_ns == 0 { smallest } else { floor_ns.min(smallest) };
    let mut found: Vec<Cluster> = Vec::new();
    for (delay_ns, delay) in TIMERS {
        if let Some(cluster) = bunch(hist, floor_ns, delay_ns, delay) {
            found.push(cluster);
        }
    }
    // The timeout of data depends on the measured round trip, so its clusters are weaker evidence: a single one, or
    // one without its multiple, may be a second mode of the service.
    let data = |c: &Cluster| c.delay == Delay::Data;
    if found.iter().filter(|c| data(c)).count() < 2 {
        found.retain(|c| !data(c));
    }
    found
}

fn bunch(hist: &Hist, floor_ns: u64, delay_ns: u64, delay: Delay) -> Option<Cluster> {
    let ordinary = hist.count_at_most(delay_ns / 2);
    // Most times without a loss must be far below the timeout.
    let usual_ns = match ordinary {
        0 => floor_ns,
        n => hist.value_at_rank((n as f64 * 0.9).ceil() as u64)?,
    };
    if usual_ns.saturating_mul(3) > delay_ns {
        return None;
    }
    let spread_ns = usual_ns.saturating_sub(floor_ns);
    let width_ns = spread_ns.clamp(delay_ns / 30, delay_ns / 4);
    let from_ns = delay_ns.saturating_add(floor_ns);
    let margin_ns = from_ns / 100;
    let to_ns = from_ns.saturating_add(width_ns);
    let within = |from: u64, to: u64| hist.count_at_most(to).saturating_sub(hist.count_at_most(from));
    // A bucket is 0.8% wide, so the cluster and its neighbors start that much earlier.
    let count = within(from_ns - margin_ns, to_ns);
    let before = within((from_ns - margin_ns).saturating_sub(width_ns + margin_ns), from_ns - margin_ns);
    let gap = width_ns / 2;
    let behind = within(to_ns.saturating_add(gap), to_ns.saturating_add(gap + width_ns + margin_ns));
    let beside = before.max(behind) as f64;
    let stands_out = count as f64 > CONTRAST * beside && count as f64 - beside > 5.0 * (beside + 1.0).sqrt();
    (count >= FEWEST && stands_out).then(|| Cluster {
        delay,
        delay_ns,
        from_ns,
        to_ns,
        count,
        ratio: count as f64 / hist.count() as f64,
    })
}
