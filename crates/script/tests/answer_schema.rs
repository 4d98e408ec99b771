//! Checks against a JSON Schema, an OpenAPI description, and stored headers, from both sides.

use crate::answer_support::{answer, checked, judged};
use plimsoll_plan::answer::{Described, DescribedResponse, Dialect, Schema, Subject};
use plimsoll_script::answer::{Answer, Judge, STATUS};
use std::sync::Arc;

fn schema(text: &str, dialect: Dialect) -> Arc<Schema> {
    Arc::new(Schema { text: text.into(), dialect })
}

/// Why a response fails a check; `None` if it passes.
fn failure(on: Subject, answer: &Answer<'_>) -> Option<String> {
    let mut findings = judged(&checked([on]), answer);
    findings.failures.retain(|(number, _)| *number != STATUS);
    assert_eq!(findings.verdicts, [findings.failures.is_empty()]);
    findings.failures.into_iter().next().map(|(_, sentence)| sentence)
}

#[test]
fn a_schema_accepts_what_fits_and_names_the_place_of_what_does_not() {
    let item = r##"{"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "items":
        {"$ref": "#/$defs/item"}}}, "$defs": {"item": {"type": "object", "properties": {"price": {"type": "number",
        "minimum": 0}}}}}"##;
    let on = Subject::Schema(schema(item, Dialect::Own));
    assert_eq!(failure(on.clone(), &answer(br#"{"items": [{"price": 1.5}]}"#)), None);
    let rows: [(&[u8], &str); 5] = [
        (br#"{"items": [{"price": 1}, {"price": "s3cret"}]}"#, "`/items/1/price` does not fit the schema: "),
        (br#"{"items": [{"price": -1}]}"#, "`/items/0/price` does not fit the schema: "),
        (b"{}", "the body does not fit the schema: "),
        (b"<html>", "the body is not JSON"),
        (b"", "the body is empty"),
    ];
    for (body, expected) in rows {
        let found = failure(on.clone(), &answer(body)).expect("it does not fit");
        assert!(found.starts_with(expected), "{found}");
        assert!(!found.contains("s3cret"), "{found}");
    }
}

#[test]
fn a_schema_that_does_not_compile_is_rejected_before_the_load() {
    for text in ["{", r#"{"type": "nothing"}"#, r#"{"$ref": "other.json"}"#, r##"{"$ref": "#/$defs/x"}"##] {
        let on = Subject::Schema(schema(text, Dialect::Own));
        assert!(Judge::compile(&checked([on])).is_err(), "{text}");
    }
}

#[test]
fn an_openapi_description_decides_by_the_status() {
    let described = |responses: Vec<((u16, u16), Option<&str>)>| {
        let one = |(statuses, text): ((u16, u16), Option<&str>)| {
            let schema = text.map(|text| schema(text, Dialect::Draft4));
            DescribedResponse { statuses, schema }
        };
        let responses = responses.into_iter().map(one).collect();
        Subject::OpenApi(Box::new(Described { operation: "GET /users/{id}".into(), responses }))
    };
    let user = r#"{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}"#;
    let on = described(vec![
        ((200, 200), Some(user)),
        ((204, 204), None),
        ((400, 499), Some(r#"{"type": "string"}"#)),
    ]);
    let with = |status: u16, body: &'static [u8]| failure(on.clone(), &Answer { status, ..answer(body) });
    assert_eq!(with(200, br#"{"id": 1}"#), None);
    assert_eq!(with(204, b""), None);
    assert_eq!(with(404, br#""gone""#), None);
    assert!(
        with(404, br#"{"id": 1}"#).is_some_and(|why| why.starts_with("the body does not fit the schema"))
    );
    assert!(with(200, b"{}").is_some());
    assert_eq!(
        with(500, b"").as_deref(),
        Some("the document describes no status `500` for `GET /users/{id}`")
    );
}

#[test]
fn a_header_snapshot_compares_all_values_of_each_header() {
    // The head of these answers has `X-Id` twice.
    let snapshot = |name: &str, values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        failure(Subject::HeaderSnapshot(vec![(name.into(), values)]), &answer(b""))
    };
    assert_eq!(snapshot("content-type", &["application/json"]), None);
    assert_eq!(snapshot("x-id", &["first", "second"]), None);
    assert_eq!(snapshot("Age", &[]), None);
    assert_eq!(
        snapshot("x-id", &["first"]).as_deref(),
        Some("`x-id`: expected `first`, found `first`, `second`")
    );
    assert_eq!(snapshot("Age", &["3"]).as_deref(), Some("`Age`: expected `3`, found no header"));
    let unexpected = snapshot("Content-Type", &[]);
    assert_eq!(unexpected.as_deref(), Some("`Content-Type`: expected no header, found `application/json`"));
}

#[test]
fn a_schema_of_a_script_names_all_mistakes() {
    let text = r#"{"required": ["a"], "properties": {"list": {"items": {"type": "number"}}}}"#;
    let schema = plimsoll_body::ValueSchema::compile(text).expect("a schema");
    assert_eq!(schema.mistakes(r#"{"a": 1, "list": [2]}"#), Ok(Vec::new()));
    let mut mistakes = schema.mistakes(r#"{"list": [1, "x"]}"#).expect("JSON");
    mistakes.sort();
    let places: Vec<_> =
        mistakes.iter().map(|[place, _, keyword]| (place.as_str(), keyword.as_str())).collect();
    assert_eq!(places, [("", "required"), ("/list/1", "type")]);
    assert!(schema.mistakes("{").is_err());
    let why = plimsoll_body::ValueSchema::compile(r#"{"type": "odd"}"#).expect_err("it is invalid");
    assert!(why.starts_with("invalid schema at `/type`"), "{why}");
}
