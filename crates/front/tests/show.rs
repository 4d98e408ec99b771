//! A plan told as it was understood: one text that says everything, and no secret.

use plimsoll_front::{Overrides, own, show};
use plimsoll_plan::seal::{Machine, seal};
use std::path::Path;

fn describe(text: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let env = |name: &str| Some(if name == "WHO" { "world" } else { "sesame" }.to_owned());
    let given = Overrides { set: Vec::new(), env: Box::new(env), keep_to: None, reflect: None };
    let located = own::parse_with(text, "test.yaml", folder, &given).unwrap();
    let plan = seal(located.draft, Machine { cpus: 2, seed: 7 }).unwrap();
    show(&plan).replace(&format!("{}/", folder.display()), "")
}

#[test]
fn a_script_is_told_with_every_step_and_without_its_secrets() {
    let text = describe(include_str!("everything.yaml"));
    assert_eq!(text, include_str!("show-everything.txt"), "found:\n{text}");
    assert!(!text.contains("sesame"), "{text}");
}

#[test]
fn a_plain_sequence_is_told_as_the_list_that_it_is() {
    let text = describe(include_str!("full.yaml"));
    assert_eq!(text, include_str!("show-full.txt"), "found:\n{text}");
}

#[test]
fn a_recorded_load_and_a_long_profile_are_told_in_few_lines() {
    let file = "target: http://h\nscenarios: { s: [ { get: / } ] }\nload: ";
    let text = describe(&format!("{file}{{ replay: {{ file: tests/files/gaps.txt, format: intervals }} }}"));
    assert!(text.contains("3 arrivals, as recorded"), "{text}");
    let text = describe(&format!("{file}{{ staircase: {{ from: 1, by: 1, hold: 1s, to: 500 }} }}"));
    assert!(text.lines().count() < 40 && text.contains("..."), "{text}");
}
