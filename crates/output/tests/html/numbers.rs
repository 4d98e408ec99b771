//! The page agrees with the terminal and the JSON document to the digit.

use crate::html::dom::{Dom, Element};
use crate::html::{dom, dom_of, runs};
use crate::output::fixtures;
use plimsoll_analysis::caution;
use plimsoll_analysis::summary::{Apdex, Divergence, Ratio, Summary};
use plimsoll_output::{Look, health, json, markdown, terminal, terminal::Detail};
use serde_json::Value;

/// The text of the cells of a table, row by row.
fn cells(dom: &Dom, id: &str) -> Vec<Vec<String>> {
    let rows = dom.by_id(id).unwrap_or_else(|| panic!("no table {id}")).below("tr");
    rows.iter().map(|row| cells_of(row).iter().map(Element::text).collect()).collect()
}

fn cells_of(row: &Element) -> Vec<Element> {
    let all = |name| row.below(name);
    let mut cells = all("th");
    cells.extend(all("td"));
    cells
}

#[test]
fn percentiles_match_the_terminal() {
    for (name, s, picture) in runs() {
        let dom = dom_of(&s, &picture);
        let look = Look { color: false, width: 120, unicode: true };
        let text = terminal::summary(&s, &look, Detail::Full, None);
        for row in cells(&dom, "table-times").iter().skip(1) {
            let line = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
            let (label, response) = (&row[0], row[1].replace("mean above p95", ""));
            let wanted = format!("{label} {response}");
            assert!(
                line.clone().any(|line| line.starts_with(&wanted)),
                "{name}: `{wanted}` is not in\n{text}"
            );
        }
    }
}

#[test]
fn load_generator_health_has_the_rows_of_the_terminal() {
    for (name, s, picture) in runs() {
        let dom = dom_of(&s, &picture);
        let lists = dom.elements().into_iter().filter(|e| e.has_class("trust"));
        let lines: Vec<String> = lists.flat_map(|list| list.below("li")).map(|li| li.text()).collect();
        // Marked lines are open, and the others are folded into one line that counts them.
        let (marked, fine): (Vec<_>, Vec<_>) =
            health::rows(&s).into_iter().partition(|row| row.severity.is_some());
        let folded = dom.by_id("generator").expect("every page has it").below("details");
        assert_eq!(folded.len(), usize::from(!fine.is_empty()), "{name}");
        assert_eq!(folded[0].below("li").len(), fine.len(), "{name}");
        assert!(folded[0].below("summary")[0].text().contains(&fine.len().to_string()), "{name}");
        let rows: Vec<health::Row> = marked.into_iter().chain(fine).collect();
        assert_eq!(lines.len(), rows.len(), "{name}");
        for (line, row) in lines.iter().zip(&rows) {
            assert!(
                line.starts_with(&row.label)
                    && line.contains(&row.facts.join("; "))
                    && row.titles.iter().all(|title| line.contains(title)),
                "{name}: {line}"
            );
        }
    }
}

/// The raw value of a text is that of the document.
#[test]
fn raw_values_match_the_document() {
    for (name, s, picture) in runs() {
        let dom = dom_of(&s, &picture);
        let document: Value = serde_json::from_str(&json::to_string(&s).unwrap()).unwrap();
        if s.requests.is_empty() {
            continue;
        }
        let heads = cells(&dom, "table-requests").swap_remove(0);
        let rows = dom.by_id("table-requests").expect("there are requests").below("tr");
        for (at, request) in document["requests"].as_array().unwrap().iter().enumerate() {
            let wanted = request["name"].as_str().unwrap();
            let row = rows.iter().find(|row| cells_of(row)[0].text().starts_with(wanted));
            let row = row.unwrap_or_else(|| panic!("{name}: no row {at} `{wanted}`"));
            let raw = |head: &str| {
                let column = heads.iter().position(|other| other == head).expect("the column is there");
                cells_of(row)[column].attribute("data-v").map(|v| v.parse::<f64>().unwrap())
            };
            assert_eq!(raw("requests"), request["requests"].as_f64(), "{name}");
            assert_eq!(raw("errors"), request["errors"].as_f64(), "{name}");
            assert_eq!(raw("throughput"), request["rate_per_s"].as_f64(), "{name}");
            assert_eq!(raw("p50"), request["response_time"]["p50_ns"].as_f64(), "{name}");
            assert_eq!(raw("p99"), describe(&request["response_time"], 0.99), "{name}");
            assert_eq!(raw("mean"), request["response_time"]["mean_ns"].as_f64(), "{name}");
        }
    }
}

#[test]
fn the_most_important_columns_follow_the_name_of_a_request() {
    for (name, s, picture) in runs().into_iter().filter(|(_, s, _)| !s.requests.is_empty()) {
        let heads = cells(&dom_of(&s, &picture), "table-requests").swap_remove(0);
        assert_eq!(heads[..6], ["request", "throughput", "errors", "error rate", "p50", "p99"], "{name}");
    }
}

#[test]
fn a_bar_marks_an_error_rate_above_the_limit_or_above_1_percent() {
    let bars = |s: &Summary| {
        let dom = dom(s);
        let rows = dom.by_id("table-requests").expect("there are requests").below("tr");
        let all: Vec<String> =
            rows.iter().filter(|row| row.has_class("bad")).map(|row| cells_of(row)[0].text()).collect();
        (all, dom.by_id("requests").expect("as above").text().contains("A red bar: "))
    };
    let mut s = fixtures::shop();
    s.thresholds.clear();
    for row in &mut s.requests {
        (row.requests, row.errors) = (1_000, 10);
    }
    assert_eq!(bars(&s), (Vec::new(), false), "one in a hundred");
    s.requests[1].errors = 11;
    let (all, is_told) = bars(&s);
    assert!(all.len() == 1 && all[0].starts_with(&s.requests[1].name) && is_told, "{all:?}");
    let mut limit = fixtures::shop().thresholds.swap_remove(0);
    (limit.subject, limit.limit, limit.is_met) = ("error_rate".into(), 0.05, true);
    s.thresholds.push(limit);
    assert_eq!(bars(&s), (Vec::new(), false), "within the limit");
}

#[test]
fn apdex_has_its_limit_and_is_a_lower_bound_if_failures_have_times() {
    let mut s = fixtures::merged();
    let dom_without = dom(&s);
    assert!(!cells(&dom_without, "table-requests")[0].contains(&"apdex".to_owned()));
    let exact = Apdex {
        target_ns: 500_000_000,
        index: 0.996,
        index_max: 0.996,
        satisfied: 992,
        tolerating: 8,
        frustrated: 0,
        samples: 1_000,
    };
    let describe = |index, index_max, s: &mut Summary| {
        s.requests[0].apdex = Some(Apdex { index, index_max, ..exact });
        let dom = dom(s);
        let all = cells(&dom, "table-requests");
        let column = all[0].iter().position(|title| title == "apdex").expect("one request has it");
        all.iter().find(|row| row[0].starts_with(&s.requests[0].name)).expect("it is there")[column].clone()
    };
    let said = describe(0.996, 0.996, &mut s);
    assert!(said.starts_with("0.99") && said.contains("T 500 ms"), "below 1 is not 1: {said}");
    assert!(describe(1.0, 1.0, &mut s).starts_with("1.00"));
    assert!(describe(0.75, 0.82, &mut s).starts_with("≥ 0.75"));
}

#[test]
fn load_generators_show_their_lag_and_whether_one_differs() {
    let mut s = fixtures::merged();
    let outliers = |sentence: &str| Divergence {
        is_different: !sentence.is_empty(),
        sentence: sentence.into(),
        ratios: vec![Ratio { q: 0.5, ratio: 1.3, low: 1.2, high: 1.4, windows: 30 }],
    };
    s.generators.iter_mut().for_each(|row| row.divergence = Some(outliers("")));
    (s.generators[0].schedule_lag.p99_ns, s.generators[0].schedule_lag.count) = (Some(42_000), 1_000);
    let machines = |s: &Summary| dom(s).by_id("machines").expect("there are several").text();
    let said = machines(&s);
    assert!(said.contains("42.0 µs") && said.contains("was found: p50, p99 (too few samples)."), "{said}");
    s.generators[1].divergence = Some(outliers("p50 is 1.30 times that of the others"));
    let (page, host) = (machines(&s), s.generators[1].host.clone());
    let look = Look { color: false, width: 120, unicode: true };
    let (text, marked) = (terminal::summary(&s, &look, Detail::Full, None), markdown::to_string(&s));
    for said in [page, text, marked] {
        assert!(said.contains(&format!("{host}: p50 is 1.30 times")) && said.contains("42.0 µs"), "{said}");
    }
}

/// A percentile with enough samples.
fn describe(times: &Value, q: f64) -> Option<f64> {
    let all = times["percentiles"].as_array()?;
    let found = all.iter().find(|p| (p["q"].as_f64().unwrap_or_default() - q).abs() < 1e-9)?;
    found["has_enough_samples"].as_bool().unwrap_or_default().then(|| found["value_ns"].as_f64()).flatten()
}

#[test]
fn tiles_match_the_document() {
    let s = fixtures::fail();
    let dom = dom(&s);
    let tiles = dom.elements().into_iter().find(|e| e.has_class("tiles")).expect("every page has them");
    let values: Vec<f64> =
        tiles.below("data").iter().filter_map(|data| data.attribute("value")?.parse().ok()).collect();
    let p99 = s.response_time.p99_ns.expect("there is one") as f64;
    let p50 = s.response_time.p50_ns.expect("there is one") as f64;
    let expected = [s.achieved.rate_per_s, p50, p99, s.totals.error_ratio, s.totals.requests as f64];
    assert_eq!(values, expected);
}

#[test]
fn doubt_overrules_the_results_with_a_reason_above_them() {
    let s = fixtures::inconclusive();
    let text = crate::html::rendered(&s);
    let (box_at, tiles_at) = (text.find("class=\"overrule\""), text.find("class=\"tiles\""));
    assert!(box_at.expect("it is there") < tiles_at.expect("they are there"));
    let dom = dom(&s);
    let overrule = dom.elements().into_iter().find(|e| e.has_class("overrule")).expect("it is there");
    assert!(overrule.text().contains("44 attempts found none free"));
    for calm in [fixtures::pass(), fixtures::fail()] {
        assert!(!crate::html::rendered(&calm).contains("class=\"overrule\""));
    }
}

#[test]
fn every_caution_has_a_set_and_a_place() {
    for kind in caution::Kind::ALL {
        let mut s: Summary = fixtures::pass();
        s.cautions = vec![kind.example().raise()];
        let dom = dom(&s);
        let findings = dom.by_id("findings").expect("there is one");
        assert!(findings.text().contains(&s.cautions[0].title()), "{}", kind.code());
        assert_eq!(findings.below("a").len(), 1, "{} points nowhere", kind.code());
    }
}

#[test]
fn a_mean_above_p95_by_more_than_a_bucket_is_marked() {
    let mut s = fixtures::fail();
    let p95 = s.requests[0].response_time.p95_ns.expect("there is one");
    s.requests[0].response_time.mean_ns = Some(p95 as f64 * 1.01);
    s.requests[1].response_time.mean_ns = Some(p95 as f64 * 1.005);
    let dom = dom(&s);
    let rows = dom.by_id("table-requests").expect("there are requests").below("tr");
    assert!(rows[1].text().contains("mean above p95"));
    assert!(!rows[2].text().contains("mean above p95"));
}
