//! The client's cost of TLS: handshakes per second of CPU, ns to seal and feed a small record, MB/s of large ones, and
//! memory of idle links: `tls_cost 12|13 [handshakes]`. The server's part is not counted.
#![allow(clippy::print_stdout, clippy::expect_used)]

#[path = "../tests/link_support/mod.rs"]
mod link_support;

use link_support::*;
use plimsoll_engine::link::tls::{Channel, Setup, Versions};
use rustls::ServerConfig;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Client and server alternate on one thread, so elapsed time is CPU time and the client's part can be separated.
fn handshake(setup: &Setup, server: &Arc<ServerConfig>) -> (Pair, Duration) {
    let start = Instant::now();
    let mut up = Vec::new();
    let link = Channel::new(setup, &mut up).expect("a handshake can begin");
    let mut spent = start.elapsed();
    let mut pair = Pair::around(link, up, server);
    while !pair.up.is_empty() || !pair.down.is_empty() {
        pair.serve();
        let start = Instant::now();
        pair.carry(usize::MAX).expect("the handshake succeeds");
        spent += start.elapsed();
    }
    (pair, spent)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let versions = match args.get(1).map(String::as_str) {
        Some("12") => Versions::Tls12,
        Some("13") => Versions::Tls13,
        _ => return println!("usage: tls_cost 12|13 [handshakes]"),
    };
    let count: u32 = args.get(2).and_then(|n| n.parse().ok()).unwrap_or(2000);
    let authority = Authority::new();
    let server = Arc::new(server(&authority.issue(&["localhost"]), None));
    let mut wanted = wanted(&authority, versions);
    memory(&setup(&wanted), &server, count);
    for resume in [false, true] {
        wanted.resume = resume;
        let (setup, mut spent) = (setup(&wanted), Duration::ZERO);
        // The first connection has no session to resume.
        handshake(&setup, &server);
        for _ in 0..count {
            let (pair, client) = handshake(&setup, &server);
            spent += client;
            assert_eq!(pair.link.facts().map(|facts| facts.resumed), Some(resume));
        }
        let rate = f64::from(count) / spent.as_secs_f64();
        println!("{versions:?} resume {resume}: {rate:.0} handshakes per CPU second (P-256 certificate)");
    }
    let (mut pair, _) = handshake(&setup(&wanted), &server);
    for (size, rounds) in [(100, 200_000), (1 << 20, 200)] {
        records(&mut pair, size, rounds);
    }
}

/// Measure this first in the process: memory returned to the allocator would be reused without showing up.
fn memory(setup: &Setup, server: &Arc<ServerConfig>, count: u32) {
    let mut links = Vec::with_capacity(count as usize);
    let mut before = 0;
    for at in 0..count {
        // The first handshakes allocate temporary memory and one-time library state.
        if at == count / 10 {
            before = resident_kib();
        }
        links.push(handshake(setup, server).0.link);
    }
    let bytes = resident_kib().saturating_sub(before) * 1024 / u64::from((count - count / 10).max(1));
    println!("{bytes} bytes resident per idle link, {} of them its own", size_of::<Channel>());
}

/// Measures records of `size` bytes in both directions.
fn records(pair: &mut Pair, size: usize, rounds: u32) {
    let data = vec![7; size];
    let (mut plain, mut out) = (Vec::new(), Vec::new());
    let (mut sealing, mut feeding) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..rounds {
        let start = Instant::now();
        pair.link.seal(&data, &mut out).expect("the link is ready");
        sealing += start.elapsed();
        pair.up.append(&mut out);
        pair.serve();
        pair.served.clear();
        pair.answer(&data);
        let mut down = std::mem::take(&mut pair.down);
        let start = Instant::now();
        pair.link.feed(&mut down, &mut plain, &mut out).expect("the link works");
        feeding += start.elapsed();
        assert_eq!(plain.len(), size);
        plain.clear();
    }
    let ns = |spent: Duration| spent.as_nanos() as f64 / f64::from(rounds);
    let speed = |spent: Duration| size as f64 * 1e3 / ns(spent);
    println!(
        "  {size} bytes: seal {:.0} ns ({:.0} MB/s), feed {:.0} ns ({:.0} MB/s)",
        ns(sealing),
        speed(sealing),
        ns(feeding),
        speed(feeding)
    );
}
