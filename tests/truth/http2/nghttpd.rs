//! nghttpd: the frames that it logs are the requests that plimsoll counts.

use crate::help::count;
use crate::provoke::{json, no_faults};
use crate::support::peers::Nghttpd;
use serde_json::Value;

#[track_caller]
fn run(server: &Nghttpd, path: &str, args: &[&str]) -> Value {
    let said = json(&[&[server.url(path).as_str(), "--http2", "-t", "1"], args].concat(), 0);
    no_faults(&said);
    said
}

#[test]
fn nghttpd_receives_one_head_for_each_request() {
    let server = Nghttpd::start("page.html", &"x".repeat(40_000), &[]);
    let said = run(&server, "/page.html", &["-c", "3", "--streams", "20", "-n", "2000"]);
    assert_eq!(count(&said, "/totals/requests"), 2_000);
    assert_eq!(said["status_codes"]["200"], 2_000);
    assert!(count(&said, "/totals/bytes_in") > 2_000 * 40_000);
    assert_eq!(server.received("HEADERS"), 2_000);
    // Those of the load, and the trial connection before it.
    assert_eq!(count(&said, "/client/connections/opened"), 3);
    assert_eq!(server.received("RST_STREAM"), 0);
}

/// Its limit of streams, its table of 512 bytes, and bodies beyond its windows.
#[test]
fn nghttpd_with_narrow_settings_gets_every_body() {
    let args = ["--max-concurrent-streams=5", "--header-table-size=512", "--window-bits=14"];
    let server = Nghttpd::start("page.html", "ok", &args);
    let body = "y".repeat(100_000);
    let said =
        run(&server, "/page.html", &["-c", "2", "--streams", "20", "-n", "200", "-X", "POST", "-b", &body]);
    assert_eq!(count(&said, "/totals/requests"), 200);
    assert_eq!(server.received("HEADERS"), 200);
    assert!(count(&said, "/totals/bytes_out") >= 200 * 100_000);
    // Each body has more frames than its window of 16 KiB takes at once.
    assert!(server.received("DATA") >= 200 * 7, "{} frames", server.received("DATA"));
}
