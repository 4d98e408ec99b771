//! Bunches of times a retransmission timer apart: a lost SYN costs one second, then three, then seven, whatever the
//! service does.
//!
//! Linux sends a SYN again after 1 s and doubles the pause (RFC 6298: 1, 3, 7, 15 s in all; from 6.5 on the first four
//! pauses may be 1 s each), and lost data after 200 ms at the least (200, 600, 1,400 ms). What was lost so arrives at
//! the timer plus an ordinary time. A bunch counts only against its neighbourhood: a long smooth tail has none.

use plimsoll_stats::Hist;
use serde::Serialize;

const MS: u64 = 1_000_000;

/// Delays that are looked for, ns.
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
/// A bunch has this many times the count of the stretches before and behind it.
const CONTRAST: f64 = 4.0;

/// Which timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Delay {
    /// A connection's first packet.
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

/// A bunch of times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cluster {
    pub delay: Delay,
    /// What the timer adds, ns.
    pub delay_ns: u64,
    /// Where the bunch lies, ns.
    pub from_ns: u64,
    pub to_ns: u64,
    pub count: u64,
    /// Of all times.
    pub ratio: f64,
}

/// The bunches in a distribution of times; `floor_ns` is the least that an answer takes (the round trip), 0 when it is
/// not known. A distribution whose ordinary times reach a timer has no neighbourhood there, and is not judged.
pub fn clusters(hist: &Hist, floor_ns: u64) -> Vec<Cluster> {
    let Some(smallest) = hist.min() else { return Vec::new() };
    let floor_ns = if floor_ns == 0 { smallest } else { floor_ns.min(smallest) };
    let mut found: Vec<Cluster> = Vec::new();
    for (delay_ns, delay) in TIMERS {
        if let Some(cluster) = bunch(hist, floor_ns, delay_ns, delay) {
            found.push(cluster);
        }
    }
    // Data's timer starts from the measured round trip, so its bunches prove less: one alone, or one whose multiple is
    // empty, may be the service's own second mode.
    let data = |c: &Cluster| c.delay == Delay::Data;
    if found.iter().filter(|c| data(c)).count() < 2 {
        found.retain(|c| !data(c));
    }
    found
}

fn bunch(hist: &Hist, floor_ns: u64, delay_ns: u64, delay: Delay) -> Option<Cluster> {
    let ordinary = hist.count_at_most(delay_ns / 2);
    // Most of what has not been lost must be far below the timer.
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
    // A bucket is 0.8% wide: the bunch begins that much earlier, and so do its neighbours.
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
