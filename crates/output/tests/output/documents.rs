//! JSON, NDJSON, CSV and Markdown: for programs and for pages.

use crate::fixtures;
use plimsoll_output::{Look, csv, format, json, markdown, ndjson, terminal};
use serde_json::Value;

fn parsed(s: &plimsoll_record::Summary) -> Value {
    serde_json::from_str(&json::to_string(s).unwrap()).unwrap()
}

#[test]
fn json_has_the_fields_that_programs_were_promised() {
    let v = parsed(&fixtures::fail());
    assert_eq!(v["schema_version"], 1);
    assert_eq!(v["verdict"]["result"], "FAIL");
    for path in [
        "/totals/requests",
        "/totals/errors",
        "/response_time/p50_ns",
        "/response_time/p99_ns",
        "/response_time/max_ns",
        "/service_time/p50_ns",
        "/offered/rate_per_s",
        "/achieved/rate_per_s",
        "/client/lateness/p99_ns",
    ] {
        assert!(v.pointer(path).is_some_and(Value::is_number), "{path}");
    }
}

#[test]
fn a_number_that_is_not_finite_never_reaches_json() {
    let v = parsed(&fixtures::nothing());
    assert!(v["client"]["littles_law"]["in_flight_mean"].is_null());
}

#[test]
fn the_terminal_shows_the_figures_of_the_json_document() {
    let s = fixtures::fail();
    let v = parsed(&s);
    let text = terminal::summary(&s, &Look { colour: false, width: 100, unicode: true }, None);
    let row = |label: &str| text.lines().find(|l| l.trim_start().starts_with(label)).unwrap().to_owned();
    for (label, field) in [("p50 ", "p50_ns"), ("p95 ", "p95_ns"), ("p99 ", "p99_ns"), ("min ", "min_ns")] {
        let response = format::duration_ns(v["response_time"][field].as_u64().unwrap());
        let service = format::duration_ns(v["service_time"][field].as_u64().unwrap());
        assert!(row(label).contains(&response) && row(label).contains(&service), "{}", row(label));
    }
    assert!(row("requests").contains(&format::count(v["totals"]["requests"].as_u64().unwrap())));
    assert!(row("errors").contains(&format::ratio(v["totals"]["error_ratio"].as_f64().unwrap())));
    assert!(text.contains(&format::rate_per_s(v["offered"]["rate_per_s"].as_f64().unwrap())));
}

#[test]
fn csv_has_the_columns_and_the_values_of_ndjson() {
    let s = fixtures::fail();
    let csv = csv::to_string(&s);
    let mut rows = csv.lines();
    let header: Vec<&str> = rows.next().unwrap().split(',').collect();
    let ndjson = ndjson::to_string(&s).unwrap();
    assert_eq!(csv.lines().count(), 1 + s.timeline.len());
    assert!(csv.ends_with('\n') && !csv.contains('\r'));
    for (row, line) in rows.zip(ndjson.lines()) {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object.as_object().unwrap().len(), header.len(), "a field of the timeline has no column");
        for (name, cell) in header.iter().zip(row.split(',')) {
            match &object[*name] {
                Value::Null => assert_eq!(cell, "", "{name}"),
                // serde_json reads floats fast and not to the last bit.
                Value::Number(n) => {
                    let (csv, json) = (cell.parse::<f64>().unwrap(), n.as_f64().unwrap());
                    assert!((csv - json).abs() <= json.abs() * 1e-15, "{name}: {csv}, {json}");
                }
                other => assert_eq!(cell, other.to_string(), "{name}"),
            }
        }
    }
}

#[test]
fn csv_quotes_what_would_break_a_row() {
    let row = csv::row(["a,b".into(), "say \"x\"".into(), "two\nlines".into(), "plain".into()]);
    assert_eq!(row, "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",plain\n");
}

#[test]
fn markdown_cannot_be_broken_by_a_name() {
    let mut s = fixtures::fail();
    s.requests[0].name = "a|b <script> [x](y) `c`".into();
    s.thresholds[0].text = "a|b`".into();
    let text = markdown::to_string(&s);
    assert!(text.contains(r"a\|b &lt;script&gt; \[x\](y)") && !text.contains("<script>"));
    // Every row of a table has as many bars as its head.
    let bars = |line: &str| line.replace(r"\|", "").matches('|').count();
    let mut head = 0;
    for line in text.lines() {
        match line.starts_with('|') {
            true if head == 0 => head = bars(line),
            // The rule has no bar at its end's left.
            true => assert_eq!(bars(line), head, "{line}"),
            false => head = 0,
        }
    }
}

#[test]
fn commands_in_advice_can_be_copied_from_markdown() {
    let mut s = fixtures::inconclusive();
    s.cautions[0].advice = "run `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"` as root_user".into();
    let text = markdown::to_string(&s);
    assert!(
        text.contains("`sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"` as root\\_user"),
        "{text}"
    );
}
