//! Scripts that open their series during the load: checks, groups, thresholds on them, and exceptions.

use super::fixture::{close, judged};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Outcome, Standing, Summary};
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::threshold::{Scope, Subject, parse, with_defaults};
use plimsoll_record::RunRecord;
use plimsoll_record::run_file::{read, write};
use plimsoll_testkit::made_up::{Folder, gathered, script};

fn machine(origin: &str, thresholds: &[&str], exceptions: u64) -> RunRecord {
    let mut opening = script::opening(origin, 15);
    let texts = thresholds.iter().map(|text| parse(text).unwrap());
    opening.outline.thresholds.extend(texts);
    gathered(&script::events(&opening, 15, exceptions))
}

fn run(thresholds: &[&str]) -> Summary {
    summarise(&machine("a", thresholds, 0))
}

fn check_rows(summary: &Summary) -> Vec<(&str, &str, &str, u64, u64)> {
    let mut rows = Vec::new();
    for row in &summary.checks {
        let scenario = row.scenario.as_deref().unwrap_or_default();
        let group = row.group.as_deref().unwrap_or_default();
        assert_eq!(row.request, "", "a check of a program belongs to no request");
        rows.push((row.name.as_str(), scenario, group, row.evaluations, row.failures));
    }
    rows
}

#[test]
fn checks_of_a_program_have_rows_by_scenario_and_group() {
    let rows = [
        ("status is 200", "browse", "shop", 1_500, 45),
        // Two tags, one check.
        ("is paid", "buy", "shop / till", 1_500, 15),
    ];
    assert_eq!(check_rows(&run(&[])), rows);
}

#[test]
fn groups_of_a_program_have_rows_with_their_requests_and_passes() {
    let summary = run(&[]);
    let rows: Vec<_> = summary.groups.iter().map(|g| (g.name.as_str(), g.requests, g.passages)).collect();
    assert_eq!(rows, [("shop", 2_250, 750), ("shop / till", 750, 150)]);
    assert!(close(summary.groups[0].passage.p50_ns.unwrap() as f64, 300e6, 0.01));
    assert_eq!(summary.requests[0].group.as_deref(), Some("shop"));
}

#[test]
fn a_group_that_was_never_completed_still_contains_its_requests() {
    let mut record = machine("a", &[], 0);
    let origin = record.generators.get_mut("a").unwrap();
    for number in [5, 6, 7] {
        origin.totals.series[number].clear();
    }
    let summary = summarise(&record);
    let rows: Vec<_> = summary.groups.iter().map(|g| (g.name.as_str(), g.requests, g.passages)).collect();
    assert_eq!(rows, [("shop", 2_250, 0), ("shop / till", 750, 0)]);
}

#[test]
fn thresholds_on_checks_and_groups_see_those_of_programs_by_their_labels() {
    let observed = |text: &str| {
        let one = judged(&run(&[text]), text).clone();
        (one.observed, one.samples)
    };
    assert_eq!(observed("checks >= 99%"), (Some(2_940.0 / 3_000.0), 3_000));
    assert_eq!(observed("checks{scenario: buy} >= 99%"), (Some(0.99), 1_500));
    assert_eq!(observed("checks{group: shop} >= 99%"), (Some(0.98), 3_000));
    assert_eq!(observed("checks{group: shop / till} >= 99%"), (Some(0.99), 1_500));
    assert_eq!(observed("checks{tag: kind=read} >= 99%"), (Some(1.0), 750));
    assert_eq!(observed("checks{request: pay} >= 99%"), (None, 0), "they belong to no request");
    assert_eq!(observed("checks >= 99% over 5s"), (Some(0.98), 1_000));
    let (max, passes) = observed("group_time{group: shop} max < 1s");
    assert!(close(max.unwrap(), 500e6, 0.01) && passes == 750, "{max:?}");
    let (max, passes) = observed("group_time{group: shop / till} max < 1s");
    assert!(close(max.unwrap(), 100e6, 0.01) && passes == 150, "{max:?}");
}

#[test]
fn a_group_time_may_be_restricted_to_a_scenario() {
    let both = Scope::All(vec![Scope::Group("shop".into()), Scope::Scenario("browse".into())]);
    let with = |scope: Option<Scope>| {
        let mut record = machine("a", &[], 0);
        let origin = record.generators.get_mut("a").unwrap();
        let mut opening = (*origin.opening).clone();
        let mut threshold = parse("group_time{group: shop} max < 1s").unwrap();
        threshold.scope = scope;
        opening.outline.thresholds = vec![threshold];
        origin.opening = opening.into();
        let one = summarise(&record).thresholds.remove(0);
        (one.observed.unwrap(), one.samples)
    };
    let (max, passes) = with(Some(both));
    assert!(close(max, 300e6, 0.01) && passes == 600, "{max} {passes}");
    let (max, passes) = with(None);
    assert!(close(max, 500e6, 0.01) && passes == 900, "{max} {passes}");
}

#[test]
fn a_missed_threshold_on_checks_of_a_program_is_in_the_verdict() {
    let mut record = machine("a", &["checks{scenario: browse} >= 99%"], 0);
    keep(&mut record, Subject::Checks);
    let summary = summarise(&record);
    assert_eq!(summary.verdict.result, Outcome::Fail);
    let sentence = &summary.verdict.sentence;
    assert!(sentence.contains("97% of 1,500 checks of scenario browse passed"), "{sentence}");
    let mut record = machine("a", &["checks{scenario: browse} >= 97%"], 0);
    keep(&mut record, Subject::Checks);
    assert_eq!(summarise(&record).verdict.result, Outcome::Pass);
}

/// Removes the thresholds on other subjects.
fn keep(record: &mut RunRecord, subject: Subject) {
    for origin in record.generators.values_mut() {
        let mut opening = (*origin.opening).clone();
        opening.outline.thresholds.retain(|threshold| threshold.subject == subject);
        origin.opening = opening.into();
    }
}

#[test]
fn series_of_two_machines_are_added_up_whatever_their_numbers_are() {
    let (a, b) = (machine("a", &["checks >= 99%"], 1), machine("b", &["checks >= 99%"], 1));
    let one = summarise(&RunRecord::merge(a.clone(), b.clone()).unwrap());
    let other = summarise(&RunRecord::merge(b, a).unwrap());
    assert_eq!(check_rows(&one), check_rows(&other));
    assert_eq!(check_rows(&one)[0], ("status is 200", "browse", "shop", 3_000, 90));
    assert_eq!((one.groups[0].passages, one.groups[0].requests), (1_500, 4_500));
    assert_eq!(judged(&one, "checks >= 99%").samples, 6_000);
    assert_eq!(judged(&one, "iterations_failed == 0").observed, Some(30.0));
}

#[test]
fn a_run_file_of_a_script_gives_the_same_summary() {
    let folder = Folder::new("script-summary");
    let path = folder.file("run.plim");
    let record = machine("a", &["checks >= 99%", "group_time{group: shop} max < 1s"], 2);
    write(&path, &record).unwrap();
    let json = |record: &RunRecord| serde_json::to_string(&summarise(record)).unwrap();
    assert_eq!(json(&read(&path).unwrap()), json(&record));
}

#[test]
fn one_exception_fails_a_run_and_none_passes() {
    let judged_with = |each_second: u64, more: u64| {
        let mut record = machine("a", &[], each_second);
        record.generators.get_mut("a").unwrap().totals.run.add(RunSum::IterationsFailed.id(), more);
        keep(&mut record, Subject::IterationsFailed);
        summarise(&record)
    };
    let clean = judged_with(0, 0);
    assert_eq!(clean.verdict.result, Outcome::Pass, "{}", clean.verdict.sentence);
    assert!(clean.thresholds[0].is_default && clean.thresholds[0].standing == Standing::Met);
    let failed = judged_with(1, 0);
    assert_eq!(failed.verdict.result, Outcome::Fail);
    let text = "FAIL: 15 of 750 iterations threw an exception; the threshold is 0";
    assert!(failed.verdict.sentence.starts_with(text), "{}", failed.verdict.sentence);
    let sentence = judged_with(0, 1).verdict.sentence;
    assert!(sentence.starts_with("FAIL: 1 of 750 iterations threw an exception"), "{sentence}");
}

#[test]
fn a_written_threshold_replaces_the_default_on_exceptions() {
    let written = parse("iterations_failed <= 20").unwrap();
    let all = with_defaults(vec![written], false, true);
    let of: Vec<&str> = all.iter().map(|threshold| threshold.text.as_str()).collect();
    assert_eq!(of, ["iterations_failed <= 20", "error_rate == 0%", "longest_outage < 1s"]);
    let without = with_defaults(Vec::new(), false, false);
    assert!(without.iter().all(|threshold| threshold.subject != Subject::IterationsFailed));
}
