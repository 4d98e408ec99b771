//! Requests that had to wait for a connection or a stream, or that a connection lost.

use super::Sentences;
use plimsoll_plan::phrase::{count, counted, duration_ns, ratio};

/// `1,830 requests (2.9%) retried; the server closed 60 connections with GOAWAY`
pub fn retried(unprocessed: u64, unprocessed_ratio: f64, goaways: u64) -> Sentences {
    let goaways = match goaways {
        0 => String::new(),
        n => format!("; the server closed {} with GOAWAY", counted(n, "connection")),
    };
    let requests = counted(unprocessed, "request");
    Sentences::of(format!("{requests} ({}) retried{goaways}", ratio(unprocessed_ratio)))
}

/// `412 requests (4.1%) found no free stream: the server allows fewer than 100 on a connection`
pub fn streams_full(waited: u64, waited_ratio: f64, streams: u64) -> Sentences {
    Sentences::of(format!(
        "{} ({}) found no free stream: the server allows fewer than {} on a connection",
        counted(waited, "request"),
        ratio(waited_ratio),
        count(streams)
    ))
}

/// `312 arrivals found all 50 connections in use, p99 wait 90 ms; 20 still waited at the end`
pub fn full(
    [queued, unstarted]: [u64; 2],
    [peak, limit, streams]: [u64; 3],
    wait_p99_ns: Option<u64>,
    suggested: Option<u64>,
) -> Sentences {
    let wait = wait_p99_ns.map_or(String::new(), |w| format!(", p99 wait {}", duration_ns(w)));
    let never = match unstarted {
        0 => String::new(),
        n => format!("; {} still waited at the end", count(n)),
    };
    let connections = limit / streams.max(1);
    let found = if streams > 1 {
        let (streams, connections) = (counted(limit, "stream"), counted(connections, "connection"));
        format!("all {streams} of {connections} in use")
    } else if peak > 0 && peak < limit {
        // Each worker has its share of them, and the share of one may be in use while another has room.
        format!("none free on its worker (peak {} of {} open)", count(peak), count(limit))
    } else {
        format!("all {} in use", counted(limit, "connection"))
    };
    let arrivals = counted(queued, "arrival");
    Sentences::of(format!("{arrivals} found {found}{wait}{never}")).advising(match suggested {
        // The user types this number, so it has no commas.
        Some(n) => format!(
            "raise `--max-connections` (for example to {n}), unless real clients share as few connections"
        ),
        None => "lower the rate; more connections would only move the backlog into the service".into(),
    })
}
