//! Jetty, a server of HTTP/2 that has nothing in common with the others (its own frames, HPACK, and flow control): over
//! plain text, over TLS, and for WebSockets on streams. It counts requests by their version of HTTP.

use crate::help::count;
use crate::provoke::{json, no_faults};
use crate::support::peers::Jetty;
use crate::support::{Scratch, run_alongside};
use serde_json::Value;

#[track_caller]
fn of_http2(jetty: &Jetty, what: &str) -> u64 {
    jetty.stats()[format!("{what} HTTP/2.0")].as_u64().unwrap_or(0)
}

/// Requests without a failure, and the connections of the load.
#[track_caller]
fn is_exact(said: &Value, requests: u64, connections: u64) {
    no_faults(said);
    let told = ["/totals/requests", "/totals/errors", "/client/connections/opened"].map(|at| count(said, at));
    assert_eq!(told, [requests, 0, connections], "{}", said["client"]["connections"]);
}

#[test]
#[ignore = "needs Java and libraries from Maven Central: `cargo xtask nightly`"]
fn jetty_counts_every_request_over_plain_text_and_over_tls() {
    let _beside = run_alongside();
    let (jetty, load) = (Jetty::start(), ["-c", "4", "--streams", "25", "-n", "5000", "-t", "2"]);
    is_exact(&json(&[&[jetty.url("/").as_str(), "--http2"], &load[..]].concat(), 0), 5_000, 4);
    assert_eq!(of_http2(&jetty, "requests"), 5_000);
    // The server chooses HTTP/2 by ALPN.
    let (url, ca) = (jetty.https_url("/"), jetty.ca_file().display().to_string());
    is_exact(&json(&[&[url.as_str(), "--ca", &ca], &load[..]].concat(), 0), 5_000, 4);
    assert_eq!(of_http2(&jetty, "requests"), 10_000);
    // Over HTTP/1.1, and statuses.
    let said = json(&[&jetty.url("/status?code=503"), "-c", "4", "-n", "100"], 99);
    assert_eq!((count(&said, "/status_codes/503"), count(&said, "/totals/errors")), (100, 100));
    assert_eq!(jetty.stats()["requests HTTP/1.1"], 100);
}

#[test]
#[ignore = "needs Java and libraries from Maven Central: `cargo xtask nightly`"]
fn bodies_pass_the_windows_of_jetty_in_both_directions() {
    let _beside = run_alongside();
    let (jetty, scratch) = (Jetty::start(), Scratch::new());
    let load = ["--http2", "-c", "2", "--streams", "10", "-n", "60", "-t", "2"];
    let said = json(&[&[jetty.url("/body?bytes=700000").as_str()], &load[..]].concat(), 0);
    is_exact(&said, 60, 2);
    assert_eq!(count(&said, "/totals/body_bytes"), 60 * 700_000);
    let body = scratch.file("large.txt", &"0123456789abcde\n".repeat(40_000));
    let said = json(&[&[jetty.url("/upload").as_str(), "-b", &format!("@{body}")], &load[..]].concat(), 0);
    is_exact(&said, 60, 2);
    assert_eq!(of_http2(&jetty, "uploaded_bytes"), 60 * 640_000);
}

#[test]
#[ignore = "needs Java and libraries from Maven Central: `cargo xtask nightly`"]
fn jetty_returns_messages_of_websockets_over_both_versions() {
    let _beside = run_alongside();
    let (jetty, scratch) = (Jetty::start(), Scratch::new());
    let over = |http: &str, version: &str| {
        let text = format!(
            "target: ws://{}\nconnection: {{ http: {http} }}\nscenarios:\n  s:\n    \
             - connect: /socket\n      compression: true\n    - repeat: 20\n      steps:\n        \
             - send: \"message ${{counter}}\"\n        - expect: message\n    - close: 1000\n\
             load: {{ users: 5, iterations_per_user: 4 }}\n",
            jetty.address()
        );
        let said = json(&["run", &scratch.file("sockets.yaml", &text)], 0);
        no_faults(&said);
        let row = &said["websockets"][0];
        let told = ["opened", "messages_sent", "messages_received"].map(|name| row[name].as_u64());
        assert_eq!(told, [Some(20), Some(400), Some(400)], "{row}");
        let stats = jetty.stats();
        let seen = ["sockets", "messages"].map(|what| stats[format!("{what} {version}")].as_u64());
        assert_eq!(seen, [Some(20), Some(400)], "{stats}");
    };
    over("1.1", "HTTP/1.1");
    over("2", "HTTP/2.0");
}
