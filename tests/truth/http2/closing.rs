//! Connections that the server closes in an orderly way (GOAWAY): no request fails, and none is processed twice.

use super::{counter, opens, run, server, streams};
use crate::counts::adds_up;
use crate::help::{cautions, count};
use crate::provoke::{json, no_faults, only};
use crate::support::{Scratch, run_alongside};
use serde_json::Value;
use std::collections::BTreeSet;

/// Each connection is closed with its 25th request, while others of the same 10 streams are on their way.
#[test]
fn a_goaway_fails_no_request() {
    let _beside = run_alongside();
    let ruler = server(&["--goaway-after", "25", "--delay", "2ms"]);
    let said = run(&ruler, "/", &["-c", "4", "--streams", "10", "-n", "2000"], 0);
    no_faults(&said);
    adds_up(&said, &ruler);
    assert_eq!((count(&said, "/totals/requests"), counter(&ruler, "requests")), (2_000, 2_000));
    assert_eq!(count(&said, "/status_codes/200"), 2_000);
    let (goaways, retried) = (streams(&said, "goaways"), streams(&said, "requests_unprocessed"));
    // 25 requests on each connection; the last ones have fewer.
    assert!((76..=80).contains(&goaways), "{goaways}");
    assert_eq!(goaways, counter(&ruler, "http2_goaways_commanded"));
    assert_eq!(retried, counter(&ruler, "http2_unprocessed"), "unprocessed requests were retried");
    assert!(retried >= 20, "{retried}");
    assert!(cautions(&said).contains(&"requests_unprocessed"), "{:?}", cautions(&said));
    let opened = count(&said, "/client/connections/opened");
    opens(&said, &ruler, opened);

    let calm = server(&["--delay", "2ms"]);
    let said = run(&calm, "/", &["-c", "4", "--streams", "10", "-n", "2000"], 0);
    assert_eq!((streams(&said, "goaways"), streams(&said, "requests_unprocessed")), (0, 0));
    assert!(!cautions(&said).contains(&"requests_unprocessed"));
}

/// Each row of a file is sent by one request, so a request that was processed twice would be seen.
#[test]
fn each_request_is_processed_exactly_once() {
    let _beside = run_alongside();
    let (ruler, scratch) = (
        server(&["--goaway-after", "15", "--delay", "1ms", "--keep-requests", "first:5000"]),
        Scratch::new(),
    );
    let rows: String = (1..=1_000).map(|row| format!("{row}\n")).collect();
    scratch.file("rows.csv", &format!("id\n{rows}"));
    let text = format!(
        "target: {}\nconnection: {{ http: 2, streams: 10 }}\ndata: {{ d: {{ file: rows.csv, sharing: unique }} }}\n\
         scenarios: {{ one: [ get: \"/x?id=${{d.id}}\" ] }}\nload: {{ users: 20, iterations_per_user: 50 }}\n",
        ruler.url("")
    );
    let file = scratch.file("experiment.yaml", &text);
    let said = json(&["run", &file, "--out", &scratch.path("run.plim")], 0);
    no_faults(&said);
    assert_eq!(count(&said, "/totals/requests"), 1_000);
    let kept = ruler.json("/_test-server/requests");
    let target = |request: &Value| request["target"].as_str().expect("a target").to_owned();
    let targets: Vec<String> = kept["requests"].as_array().expect("a list").iter().map(target).collect();
    let distinct: BTreeSet<&String> = targets.iter().collect();
    assert_eq!((targets.len(), distinct.len()), (1_000, 1_000));
    assert!(streams(&said, "requests_unprocessed") > 0, "{}", said["client"]["connections"]);
}

/// A response that announces the close, as a server sends it that is being restarted.
#[test]
fn a_close_with_the_response_fails_no_request() {
    let _beside = run_alongside();
    let ruler = server(&["--delay", "1ms"]);
    let said = run(&ruler, "/?close=1", &["-c", "2", "--streams", "5", "-n", "300"], 0);
    no_faults(&said);
    adds_up(&said, &ruler);
    assert_eq!((count(&said, "/totals/requests"), counter(&ruler, "requests")), (300, 300));
    assert_eq!(streams(&said, "requests_unprocessed"), counter(&ruler, "http2_unprocessed"));
    assert!(streams(&said, "goaways") >= 60, "{}", said["client"]["connections"]);
}

/// A GOAWAY with an error is not an orderly close: the requests on the connection fail.
#[test]
fn a_goaway_with_an_error_fails_the_requests_of_its_connection() {
    let _beside = run_alongside();
    let args = ["--goaway-after", "25", "--goaway-code", "ENHANCE_YOUR_CALM", "--delay", "2ms"];
    let ruler = server(&args);
    let said = run(&ruler, "/", &["-c", "4", "--streams", "10", "-n", "1000"], 99);
    let failed = only(&said, "stream_refused", "server");
    assert_eq!(streams(&said, "goaways"), counter(&ruler, "http2_goaways_commanded"));
    assert!((streams(&said, "goaways")..=10 * streams(&said, "goaways")).contains(&failed), "{failed}");
    assert_eq!(count(&said, "/totals/requests"), 1_000);
}
