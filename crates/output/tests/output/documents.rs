//! JSON, NDJSON, CSV, and Markdown, for programs and for pages.

use crate::output::fixtures;
use plimsoll_analysis::caution::{Evidence, Kind};
use plimsoll_analysis::summary::{CustomFigures, CustomMetric, CustomSeries, PartRow};
use plimsoll_output::{Look, csv, format, json, markdown, ndjson, terminal, terminal::Detail};
use plimsoll_plan::{Target, origin};
use serde_json::Value;

fn parsed(s: &plimsoll_analysis::Summary) -> Value {
    serde_json::from_str(&json::to_string(s).unwrap()).unwrap()
}

#[test]
fn json_has_the_documented_fields() {
    let v = parsed(&fixtures::fail());
    assert_eq!(v["schema_version"], 2);
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
        "/client/schedule_lag/p99_ns",
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
fn the_terminal_shows_the_values_of_the_json_document() {
    let s = fixtures::fail();
    let v = parsed(&s);
    let text = terminal::summary(&s, &Look { color: false, width: 100, unicode: true }, Detail::Full, None);
    let row = |label: &str| text.lines().find(|l| l.trim_start().starts_with(label)).unwrap().to_owned();
    for (label, field) in [("p50  ", "p50_ns"), ("p95  ", "p95_ns"), ("p99  ", "p99_ns"), ("min  ", "min_ns")]
    {
        let response = format::duration_ns(v["response_time"][field].as_u64().unwrap());
        let service = format::duration_ns(v["service_time"][field].as_u64().unwrap());
        assert!(row(label).contains(&response) && row(label).contains(&service), "{}", row(label));
    }
    assert!(row("Throughput").contains(&format::count(v["totals"]["requests"].as_u64().unwrap())));
    assert!(row("Errors").contains(&format::ratio(v["totals"]["error_ratio"].as_f64().unwrap())));
    assert!(text.contains(&format::rate_of(v["offered"]["rate_per_s"].as_f64().unwrap(), "req")));
}

#[test]
fn user_metrics_are_in_every_report_with_their_labels() {
    let mut s = fixtures::fail();
    let orders = |total| CustomFigures::Counter { total, rate_per_s: total / 30.0 };
    let labels = [("shop".to_owned(), "north".to_owned())];
    let north = CustomSeries { labels: labels.into(), figures: orders(1_200.0) };
    let size = CustomFigures::Trend {
        values: 4_000,
        min: Some(1.5),
        mean: Some(20.25),
        p50: Some(18.0),
        p90: Some(30.0),
        p95: Some(35.0),
        p99: Some(41.5),
        max: Some(77.0),
    };
    let metric =
        |name: &str, figures, series| CustomMetric { name: name.into(), figures, series, series_left_out: 0 };
    s.metrics = vec![metric("orders", orders(1_500.0), vec![north]), metric("size", size, Vec::new())];
    let look = Look { color: false, width: 120, unicode: true };
    let page = crate::html::rendered(&s);
    for text in [terminal::summary(&s, &look, Detail::Full, None), markdown::to_string(&s), page] {
        for part in ["orders{shop: north}", "1,200", "1,500", "size", "41.5", "77.0"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
    assert!(
        !terminal::summary(&fixtures::fail(), &look, Detail::Full, None).contains("metrics"),
        "a section without rows"
    );
}

#[test]
fn a_run_without_a_target_shows_the_origins_that_it_found() {
    let mut s = fixtures::pass();
    let target = |host: &str| Target { host: host.into(), port: 443, tls: true };
    let found = ["cdn.test", "api.test"].map(|host| origin::found(&target(host), None));
    let row = |name: &String| PartRow {
        name: name.clone(),
        requests: 7,
        errors: 0,
        rate_per_s: 1.0,
        bytes_in: 0,
        response_time: s.response_time.clone(),
        service_time: s.service_time.clone(),
    };
    s.by_origin = found.iter().map(|origin| row(&origin.name)).collect();
    s.plan.origins = found.into();
    (s.plan.target, s.plan.host, s.plan.port) = (String::new(), String::new(), 0);
    s.plan.requests.clear();
    s.target = s.plan.describe_target();
    let look = Look { color: false, width: 120, unicode: true };
    let page = crate::html::rendered(&s);
    for text in [terminal::summary(&s, &look, Detail::Full, None), markdown::to_string(&s), page] {
        for part in ["https://api.test", "https://cdn.test", "Origins"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
    let v = parsed(&s);
    assert_eq!(v["target"], "https://api.test, https://cdn.test");
    assert_eq!(v["by_origin"][0]["name"], "https://cdn.test");
    let head: Value = serde_json::from_str(ndjson::to_string(&s).unwrap().lines().next().unwrap()).unwrap();
    assert!(head.is_object() && csv::to_string(&s).lines().count() > 1);
}

#[test]
fn csv_has_the_columns_and_the_values_of_ndjson() {
    columns_are_fields(&fixtures::fail());
    columns_are_fields(&fixtures::shop());
    let watched = fixtures::watched();
    let csv = csv::to_string(&watched);
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(head[head.len() - 3..], ["api.cpu_cores", "api.rss_bytes", "db.waiting"]);
    let cells = |row: usize| csv.lines().nth(row).unwrap().rsplit(',').take(3).collect::<Vec<_>>();
    assert_eq!(cells(1), ["1", "63500000", "0.4"], "the sample at 1 s covers the first second");
    assert_eq!(cells(7), ["", "", ""], "a second without a sample is empty and not 0");
    let seventh: Value =
        serde_json::from_str(ndjson::to_string(&watched).unwrap().lines().nth(6).unwrap()).unwrap();
    assert!(seventh["watched"].is_null());
    assert!(!csv::to_string(&fixtures::fail()).contains("events"), "only streams have events");
}

fn columns_are_fields(s: &plimsoll_analysis::Summary) {
    let csv = csv::to_string(s);
    let mut rows = csv.lines();
    let header: Vec<&str> = rows.next().unwrap().split(',').collect();
    let ndjson = ndjson::to_string(s).unwrap();
    assert_eq!(csv.lines().count(), 1 + s.timeline.len());
    assert!(csv.ends_with('\n') && !csv.contains('\r'));
    for (row, line) in rows.zip(ndjson.lines()) {
        let object: Value = serde_json::from_str(line).unwrap();
        // A field without a value may be missing.
        let mut fields = object.as_object().unwrap().keys();
        assert!(fields.all(|name| header.contains(&name.as_str())), "a field of the timeline has no column");
        for (name, cell) in header.iter().zip(row.split(',')) {
            match &object[*name] {
                Value::Null => assert_eq!(cell, "", "{name}"),
                Value::Array(names) => {
                    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                    assert_eq!(cell, names.join(" "), "{name}");
                }
                // serde_json's fast parsing of floats is not exact to the last bit.
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
fn csv_quotes_fields_that_would_break_a_row() {
    let row = csv::row(["a,b".into(), "say \"x\"".into(), "two\nlines".into(), "plain".into()]);
    assert_eq!(row, "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",plain\n");
}

#[test]
fn csv_has_no_formula_and_keeps_its_numbers() {
    let row = |fields: &[&str]| csv::row(fields.iter().map(|field| (*field).to_owned()));
    assert_eq!(row(&["=1+1", "+a", "-a", "@a", "\ta"]), "'=1+1,'+a,'-a,'@a,'\ta\n");
    assert_eq!(row(&["=a,b", "\ra"]), "\"'=a,b\",\"'\ra\"\n");
    assert_eq!(row(&["-1.5", "-2e-7", "+3", "a=b", ""]), "-1.5,-2e-7,+3,a=b,\n");
}

#[test]
fn markdown_cannot_be_broken_by_a_name() {
    let mut s = fixtures::shop();
    s.requests[0].name = "a|b <script> [x](y) `c`".into();
    s.checks[0].name = "a|b".into();
    s.failure_examples[0].sample.excerpt = "a|b`c`\n\n# d".into();
    s.streams[0].name = "a|b".into();
    s.thresholds[0].text = "a|b`".into();
    let text = markdown::to_string(&s);
    assert!(text.contains(r"a\|b &lt;script&gt; \[x\](y)") && !text.contains("<script>"));
    // Every row of a table has as many bars as its header.
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
    let elsewhere = Evidence::RedirectsOnly {
        redirects: Vec::new(),
        location: Some("http://root_user/".into()),
        leads_elsewhere: true,
    };
    s.cautions = vec![Kind::LowEphemeralPorts.example().raise(), elsewhere.raise()];
    let text = markdown::to_string(&s);
    assert!(text.contains("`sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`"), "{text}");
    assert!(text.contains("test http://root\\_user/ itself"), "{text}");
}

#[test]
fn failed_checks_come_first_and_failure_examples_appear_once_each() {
    let look = Look { color: false, width: 100, unicode: true };
    let text = terminal::summary(&fixtures::shop(), &look, Detail::Full, None);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("`{part}` is missing in\n{text}"));
    assert!(at("30 failed") < at("Failure examples") && at("is paid") < at("buyer  "));
    assert_eq!(text.matches("expected `true` at `$.paid`").count(), 1);
    assert!(!text.contains('\u{fffd}'), "a line break in a response becomes a blank");
    for part in [
        "2 other checks always passed",
        "31 abandoned",
        "12 interrupted at the end",
        "3 users out of data",
        "900 requests followed a redirect",
        "140 handshakes",
        "119 resumed (85%)",
        "7 redirects to another host, not followed",
        "worst window 12 s to 22 s",
        "120 of 12,000 expected events lost (1%)",
        "fairness 0.987 (Jain)",
        "20 open at the end",
    ] {
        at(part);
    }
    assert!(!text.contains("age  "), "a distribution without samples is left out:\n{text}");
}

#[test]
fn passed_checks_take_one_line() {
    let mut s = fixtures::shop();
    s.checks.iter_mut().for_each(|check| check.failures = 0);
    let text = terminal::summary(&s, &Look { color: false, width: 100, unicode: true }, Detail::Full, None);
    assert!(text.contains("Checks  all 3 passed (24,000 evaluated)"), "{text}");
}

#[test]
fn a_script_has_its_rows_in_json() {
    let v = parsed(&fixtures::shop());
    for (path, expected) in [
        ("/scenarios/0/name", "buyer"),
        ("/groups/0/name", "checkout"),
        ("/checks/0/name", "is paid"),
        ("/failure_examples/0/request", "pay"),
        ("/failure_examples/0/generator", "a1"),
        ("/streams/0/name", "feed"),
        ("/workloads/1/model", "open"),
        ("/requests/0/scenario", ""),
    ] {
        let found = v.pointer(path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(found.as_str().unwrap_or_default(), expected, "{path}");
    }
    for path in
        ["/tls/resumed_ratio", "/streams/0/fairness/index", "/groups/0/passage/p50_ns", "/timeline/0/events"]
    {
        assert!(v.pointer(path).is_some_and(Value::is_number), "{path}");
    }
}

#[test]
fn all_parts_are_one_table_in_every_text() {
    use plimsoll_analysis::summary::Outcome;
    use plimsoll_output::experiment::parts::{Row, markdown, table};
    let row = |name: &str, result, judged, sentence: &str| Row {
        name: name.into(),
        result,
        begun: false,
        judged,
        sentence: sentence.into(),
    };
    let rows = [
        row("late", Some(Outcome::Fail), true, "1 of 2 cells missed `error_rate < 1%`"),
        row("sweep", Some(Outcome::Pass), false, "2 cells"),
        row("last", None, true, "not run yet"),
    ];
    let look = super::golden::look(80, false, true);
    assert_eq!(
        table(&rows, &look),
        "all parts\n\
         late   FAIL           1 of 2 cells missed `error_rate < 1%`\n\
         sweep  MEASURED       2 cells\n\
         last   could not run  not run yet\n"
    );
    let lines = markdown(&rows);
    assert!(lines.starts_with("| part | result | sentence |\n|---|---|---|\n| late | FAIL | "), "{lines}");
}
