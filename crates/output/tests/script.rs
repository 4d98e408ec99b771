//! Reports of a script without fixed requests and without a target.

use crate::output::golden::look;
use plimsoll_analysis::summary::Summary;
use plimsoll_analysis::{digest, summarise};
use plimsoll_experiment::compare::{CompareOptions, Side, compare};
use plimsoll_output::terminal::{self, Detail};
use plimsoll_output::{csv, json, markdown, ndjson};
use plimsoll_plan::threshold::parse;
use plimsoll_testkit::made_up::{gathered, script};

fn summary(thresholds: &[&str], exceptions: u64) -> Summary {
    let mut opening = script::opening("a", 15);
    opening.outline.thresholds.extend(thresholds.iter().map(|text| parse(text).unwrap()));
    summarise(&gathered(&script::events(&opening, 15, exceptions)))
}

fn texts(s: &Summary) -> [String; 3] {
    let terminal = terminal::summary(s, &look(120, false, true), Detail::Full, None);
    [terminal, markdown::to_string(s), crate::html::rendered(s)]
}

#[test]
fn checks_and_groups_of_a_script_are_in_every_report() {
    for text in texts(&summary(&[], 0)) {
        for part in ["status is 200", "is paid", "browse", "shop / till", "1,500", "2,250"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.contains("::shop"), "groups have one notation\n{text}");
    }
    let [terminal, markdown, _] = texts(&summary(&[], 0));
    for text in [terminal, markdown] {
        let row = text.lines().find(|line| line.contains("status is 200") && !line.contains("The check"));
        let row = row.unwrap();
        assert!(row.contains("browse") && row.contains("shop"), "{row}");
    }
}

#[test]
fn json_names_the_scenario_and_the_group_of_a_check() {
    let value: serde_json::Value = serde_json::from_str(&json::to_string(&summary(&[], 0)).unwrap()).unwrap();
    let check = &value["checks"][0];
    assert_eq!((&check["name"], &check["request"]), (&"status is 200".into(), &"".into()));
    assert_eq!((&check["scenario"], &check["group"]), (&"browse".into(), &"shop".into()));
    assert_eq!(value["groups"][1]["name"], "shop / till");
    assert_eq!(value["target"], "");
}

#[test]
fn a_missed_check_of_a_script_is_named_without_a_request() {
    let s = summary(&["checks{scenario: browse} >= 99%"], 0);
    let [terminal, ..] = texts(&s);
    assert!(terminal.contains("checks of scenario browse passed"), "{terminal}");
    assert!(!terminal.contains("of request `"), "{terminal}");
    assert!(terminal.contains("status is 200"), "{terminal}");
}

#[test]
fn exceptions_are_in_the_verdict_of_every_report() {
    for text in texts(&summary(&[], 3)) {
        assert!(text.contains("45 of 750 iterations threw an exception; the threshold is 0"), "{text}");
    }
    for text in texts(&summary(&[], 0)) {
        assert!(!text.contains("threw"), "{text}");
    }
}

#[test]
fn a_script_that_measured_nothing_but_checks_is_reported() {
    let opening = script::opening("a", 15);
    let mut record = gathered(&script::events(&opening, 15, 0));
    let origin = record.generators.get_mut("a").unwrap();
    origin.totals.series[0].clear();
    origin.totals.series[1].clear();
    origin.ticks.clear();
    let s = summarise(&record);
    assert!(s.requests.is_empty());
    for text in texts(&s) {
        assert!(text.contains("status is 200") && text.contains("shop / till"), "{text}");
    }
    assert!(!csv::to_string(&s).is_empty());
    ndjson::to_string(&s).unwrap();
}

#[test]
fn two_runs_of_a_script_are_compared() {
    let run = |name: &str| {
        let opening = script::opening("a", 15);
        Side { name: name.into(), runs: vec![digest(&gathered(&script::events(&opening, 15, 0)))] }
    };
    let comparison = compare(&run("before"), &run("after"), &CompareOptions::default());
    let text = plimsoll_output::compare::terminal(&comparison, &look(120, false, true));
    assert!(text.contains("before") && text.contains("after"), "{text}");
    assert!(plimsoll_output::compare::markdown(&[comparison]).contains("p50"));
}
