//! WebSockets against the ruler, whose protocol is that of another library: counts to the last message, times as
//! commanded, and each way to end by its own class.

mod closing;
mod conformance;
mod graphql;
mod http2;
mod logins;
mod messages;
mod refused;
mod secure;

use crate::help::count;
use crate::provoke::json;
use crate::support::{Ruler, Scratch};
use serde_json::Value;

/// Runs a file with these steps against the ruler.
#[track_caller]
fn run(ruler: &Ruler, steps: &str, rest: &str, code: i32) -> Value {
    let scratch = Scratch::new();
    let target = ruler.url("").replace("http://", "ws://");
    let text = format!("target: {target}\nscenarios:\n  s:\n{steps}\n{rest}\n");
    json(&["run", &scratch.file("plan.yaml", &text)], code)
}

/// Returns a count of the only row of WebSockets.
#[track_caller]
fn row(said: &Value, field: &str) -> u64 {
    count(said, &format!("/websockets/0/{field}"))
}

fn counter(ruler: &Ruler, name: &str) -> u64 {
    ruler.counters()[name].as_u64().unwrap_or_else(|| panic!("no counter `{name}`"))
}

/// Checks that both sides have counted the same messages and the same sockets.
#[track_caller]
fn adds_up(said: &Value, ruler: &Ruler) {
    let ours = ["messages_sent", "messages_received", "opened"].map(|field| row(said, field));
    let theirs = ["messages_received", "messages_sent", "websockets_opened"].map(|name| counter(ruler, name));
    assert_eq!(ours, theirs, "{}", said["websockets"]);
}
