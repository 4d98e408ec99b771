//! plimsoll against the ruler over HTTP/2, which the ruler speaks through a library that shares no code with plimsoll.
//!
//! The ruler stamps and counts frames: a request arrives with its END_STREAM, and its response is written when the
//! kernel takes the END_STREAM of it. A request that the ruler refuses by a fault is one that it has received; one on a
//! stream beyond its limit or its GOAWAY is not.

mod closing;
mod counts;
mod faults;
mod features;
mod jetty;
mod nghttpd;
mod versions;

use crate::help::count;
use crate::provoke::json;
use crate::support::Ruler;
use serde_json::Value;

/// A ruler that also accepts HTTP/2 with prior knowledge.
fn server(args: &[&str]) -> Ruler {
    Ruler::start(&[&["--http2"], args].concat())
}

/// Runs a load over HTTP/2 and returns its result.
#[track_caller]
fn run(ruler: &Ruler, path: &str, args: &[&str], code: i32) -> Value {
    json(&[&[ruler.url(path).as_str(), "--http2"], args].concat(), code)
}

/// A count of `client.connections.http2`.
#[track_caller]
fn streams(said: &Value, field: &str) -> u64 {
    count(said, &format!("/client/connections/http2/{field}"))
}

/// A count of the ruler's.
#[track_caller]
fn counter(ruler: &Ruler, field: &str) -> u64 {
    count(&ruler.counters(), &format!("/{field}"))
}

/// Checks the number of load connections. Before the load come two trial connections, of which one speaks HTTP/2.
#[track_caller]
fn opens(said: &Value, ruler: &Ruler, connections: u64) {
    assert_eq!(count(said, "/client/connections/opened"), connections, "{}", said["client"]["connections"]);
    let seen = ["accepted", "http2_connections"].map(|field| counter(ruler, field));
    assert_eq!(seen, [connections + 2, connections + 1], "{}", ruler.counters());
}
