//! A scenario with everything that responses decide gives the same counts over HTTP/2 as over HTTP/1.1.

use super::{counter, server};
use crate::help::count;
use crate::provoke::json;
use crate::support::{Scratch, run_alongside};
use serde_json::{Value, json as value};

const STEPS: &str = "
    - { get: \"/token?u=${d.name}\", extract: { t: $.token } }
    - { get: /secure, auth: { bearer: \"${t}\" }, check: { status: 200 } }
    - get: /cart
    - { get: /cart, check: { body: count } }
    - get: \"/go?status=302&location=/there\"
    - { get: \"/zipped?encoding=gzip&body=3000\", headers: { Accept-Encoding: gzip }, check: { body: xyzabc } }
    - { get: \"/sick?status=503\", name: sick, check: { status: 503 } }
    - { post: /echo, json: { name: \"${d.name}\" }, check: { body: row- } }
    - { get: \"/events?every=5ms&count=4\", name: events, stream: { sequence: id } }
    - { get: \"/plain?text=good\", name: bad, check: { body: missing } }
";

/// The counts of a run by plimsoll, and those of the ruler.
fn counts(version: &str, streams: u32) -> (Value, Value) {
    let (ruler, scratch) = (server(&["--keep-requests", "first:5000"]), Scratch::new());
    let rows: String = (1..=40).map(|row| format!("row-{row}\n")).collect();
    scratch.file("rows.csv", &format!("name\n{rows}"));
    let text = format!(
        "target: {}\nconnection: {{ http: {version}, streams: {streams} }}\ncookies: true\nredirects: 3\n\
         data: {{ d: {{ file: rows.csv, sharing: unique }} }}\nscenarios:\n  one:{STEPS}\
         load: {{ users: 8, iterations_per_user: 5 }}\n",
        ruler.url("")
    );
    let file = scratch.file("experiment.yaml", &text);
    let said = json(&["run", &file, "--out", &scratch.path("run.plim")], 99);
    let is_http2 = said.pointer("/client/connections/http2").is_some();
    assert_eq!(is_http2, version == "2", "{}", said["client"]["connections"]);
    let over_http2 = if is_http2 { counter(&ruler, "requests") } else { 0 };
    assert_eq!(counter(&ruler, "http2_streams"), over_http2);
    let class = |error: &Value| (error["class"].clone(), error["count"].clone());
    let errors: Vec<_> = said["errors"].as_array().expect("a list").iter().map(class).collect();
    let row = &said["streams"][0];
    let events = ["streams", "events", "events_lost", "events_expected", "failures"].map(|field| &row[field]);
    let counters = ruler.counters();
    let client = value!({
        "requests": count(&said, "/totals/requests"),
        "sent": count(&said, "/totals/requests_sent"),
        "iterations": count(&said, "/totals/iterations"),
        "statuses": said["status_codes"],
        "errors": errors,
        "checks": said["checks"],
        "events": events,
    });
    let at_server = value!({
        "requests": counters["requests"],
        "by_path": counters["by_path"],
        "by_status": counters["by_status"],
        "carts": counters["carts_opened"],
        "secure": counters["secure_accepted"],
        "events": counters["events_sent"],
    });
    (client, at_server)
}

#[test]
fn every_feature_counts_the_same_as_over_http1() {
    let _beside = run_alongside();
    let old = counts("1.1", 1);
    assert_eq!(old.1["by_path"]["/there"], 40, "{}", old.1);
    assert_eq!(old.1["by_status"]["503"], 40, "{}", old.1);
    for streams in [1, 4] {
        let new = counts("2", streams);
        assert_eq!(new, old, "with {streams} streams on a connection");
    }
}
