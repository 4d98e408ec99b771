//! Every key of the schema and its effect at the server.
//!
//! [`nothing_is_forgotten`] reads the keys from `plimsoll schema`: a new key fails there until it has a case here or
//! the name of a test elsewhere.

mod answers;
mod connection;
mod data;
mod elsewhere;
mod load;
mod request;
mod steps;
mod stream;
mod tls;
mod top;
mod websocket;

use crate::bench::{Seen, Trial, all_at_once};
use crate::support::Tool;
use std::collections::BTreeSet;

/// One experiment and the keys whose effect it shows.
pub struct Case {
    /// `section.key` as in the schema's `$defs`.
    keys: &'static [&'static str],
    make: fn() -> Trial,
    judge: fn(&Seen),
}

/// A case of a table.
pub const fn case(keys: &'static [&'static str], make: fn() -> Trial, judge: fn(&Seen)) -> Case {
    Case { keys, make, judge }
}

/// The tables, with the test that runs each.
const TABLES: &[&[Case]] = &[
    top::CASES,
    load::CASES,
    request::CASES,
    answers::CASES,
    stream::CASES,
    websocket::CASES,
    steps::CASES,
    data::CASES,
    connection::CASES,
    tls::CASES,
];

fn run(cases: &[Case]) {
    all_at_once(cases, |case| case.keys.join(", "), |case| (case.judge)(&(case.make)().run()));
}

#[test]
fn keys_at_the_top_do_what_they_say() {
    run(top::CASES);
}

#[test]
fn keys_of_loads_do_what_they_say() {
    run(load::CASES);
}

#[test]
fn keys_of_requests_do_what_they_say() {
    run(request::CASES);
}

#[test]
fn keys_of_checks_and_extractions_do_what_they_say() {
    run(answers::CASES);
}

#[test]
fn keys_of_streams_do_what_they_say() {
    run(stream::CASES);
}

#[test]
fn keys_of_websockets_do_what_they_say() {
    run(websocket::CASES);
}

#[test]
fn keys_of_steps_do_what_they_say() {
    run(steps::CASES);
}

#[test]
fn keys_of_data_files_do_what_they_say() {
    run(data::CASES);
}

#[test]
fn keys_of_connections_do_what_they_say() {
    run(connection::CASES);
}

#[test]
fn keys_of_tls_do_what_they_say_to_a_plain_target() {
    run(tls::CASES);
}

/// All keys of the schema as `section.key`.
fn all_keys() -> BTreeSet<String> {
    let schema = Tool::run(&["schema"]).expect_code(0).json();
    let sections = schema["$defs"].as_object().expect("the schema has definitions");
    let mut all = BTreeSet::new();
    for (section, definition) in sections {
        let keys = definition["properties"].as_object();
        all.extend(keys.into_iter().flatten().map(|(key, _)| format!("{section}.{key}")));
    }
    // A request under `generate` is a request; only `rows` is its own.
    all.retain(|key| key == "generated_request.rows" || !key.starts_with("generated_request."));
    all
}

#[test]
fn nothing_is_forgotten() {
    let all = all_keys();
    assert!(all.len() > 200, "the schema has {} keys", all.len());
    let mut covered: BTreeSet<String> = BTreeSet::new();
    covered
        .extend(TABLES.iter().flat_map(|table| table.iter()).flat_map(|case| case.keys).map(|k| (*k).into()));
    for (key, file, test) in elsewhere::TESTED {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{key}: {file}: {e}"));
        assert!(text.contains(&format!("fn {test}(")), "{key}: there is no test `{test}` in {file}");
        covered.insert((*key).to_owned());
    }
    let forgotten: Vec<&String> = all.difference(&covered).collect();
    let gone: Vec<&String> = covered.difference(&all).collect();
    assert!(
        forgotten.is_empty() && gone.is_empty(),
        "without a case: {forgotten:?}\nno longer keys: {gone:?}"
    );
}
