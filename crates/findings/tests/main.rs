//! The evidence of cautions is numbers and names, and every shape of it has its sentences.

use plimsoll_findings::cause::evidence::Failures;
use plimsoll_findings::cause::{self, Claim};
use plimsoll_findings::caution::{Evidence, Kind};
use serde_json::Value;
use std::collections::BTreeSet;

/// Figures that are names, of things outside this tool: their digits are their own.
const NAMES: [&str; 16] = [
    "address",
    "first",
    "host",
    "hosts",
    "location",
    "metric",
    "monitor",
    "origin",
    "other",
    "part",
    "request",
    "resource",
    "server_name",
    "subject",
    "what",
    "why",
];

/// All values below, each with the name of its field; the items of a list have that of the list.
fn leaves<'a>(name: &'a str, value: &'a Value, into: &mut Vec<(&'a str, &'a Value)>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| leaves(name, value, into)),
        Value::Array(items) => items.iter().for_each(|item| leaves(name, item, into)),
        leaf => into.push((name, leaf)),
    }
}

#[test]
fn every_shape_of_evidence_has_an_example() {
    let shapes: BTreeSet<&str> = Evidence::examples().iter().map(Evidence::name).collect();
    assert_eq!(shapes, Evidence::NAMES.iter().copied().collect());
    for kind in Kind::ALL {
        assert_eq!(kind.example().kind(), *kind, "{}", kind.code());
    }
}

#[test]
fn figures_are_numbers_and_names() {
    for evidence in Evidence::examples() {
        let name = evidence.name();
        let caution = serde_json::to_value(evidence.raise()).unwrap();
        let figures = &caution["figures"];
        assert!(figures.as_object().is_some_and(|fields| !fields.is_empty()), "{name}: {figures}");
        let mut all = Vec::new();
        leaves("", figures, &mut all);
        for (field, leaf) in all {
            let is_number_as_text =
                leaf.as_str().is_some_and(|text| text.contains(|c: char| c.is_ascii_digit()));
            assert!(!is_number_as_text || NAMES.contains(&field), "{name}: {field} is {leaf}");
        }
    }
}

#[test]
fn every_shape_of_evidence_has_its_sentences() {
    for evidence in Evidence::examples() {
        let name = evidence.name();
        let caution = evidence.raise();
        for text in [caution.title(), caution.evidence_text(), caution.impact(), caution.advice()] {
            assert!(!text.is_empty(), "{name}");
            assert!(!text.contains("NaN") && !text.split(' ').any(|word| word.starts_with("inf")), "{text}");
            assert!(!text.contains("  ") && !text.contains('\n'), "{name}: {text}");
        }
    }
}

#[test]
fn figures_of_causes_are_numbers_and_names() {
    let failures = Failures { failed_count: 30, requests_count: 400 };
    let causes = [
        cause::Kind::ServerErrors
            .claim(Claim::Certain, cause::Evidence::Status { failures, status: 500, is_in_sentence: true }),
        cause::Kind::ConnectionsNotReused
            .claim(Claim::Certain, cause::Evidence::Caution(Kind::ConnectionsNotReused.example())),
        cause::Kind::TruncatedResponses.claim(Claim::Likely, cause::Evidence::Failed(failures)),
    ];
    let json = serde_json::to_value(&causes).unwrap();
    assert_eq!(json[0]["figures"]["failed_count"], 30);
    assert_eq!(json[0]["figures"]["status"], 500);
    assert_eq!(json[0]["sentence"], "the server fails to process requests (status 500)");
    assert_eq!(json[1]["figures"]["closed_count"], 29_800);
    assert_eq!(json[2]["evidence"], "30 of 400 requests (7.5%)");
    assert_eq!(json[2]["figures"], serde_json::json!({"failed_count": 30, "requests_count": 400}));
}
