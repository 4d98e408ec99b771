//! Every mistake that a script can contain, with its place and its fix.

use plimsoll_front::{Overrides, own};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// An environment of one variable, and `--set NAME=5`.
fn overrides(set: Option<&str>) -> Overrides {
    Overrides {
        set: set.map(|name| (name.to_owned(), "5".to_owned())).into_iter().collect(),
        env: Box::new(|name| (name == "PASSWORD").then(|| "sesame".into())),
        keep_to: None,
        reflect: None,
    }
}

/// `script-mistakes.txt` holds a text and, after `-----`, the complete output for it.
#[test]
fn every_mistake_in_a_script_has_its_place_and_a_fix() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut failures = Vec::new();
    for case in include_str!("script-mistakes.txt").split("=====\n") {
        let (text, expected) = case.split_once("-----\n").unwrap();
        let found = match own::parse_with(text, "test.yaml", folder, &overrides(None)) {
            Ok(_) => "accepted".to_owned(),
            Err(all) => all
                .iter()
                .map(line)
                .collect::<Vec<_>>()
                .join("\n")
                .replace(&format!("{}/", folder.display()), ""),
        };
        if found != expected.trim_end() {
            failures.push(format!("{text}-----\n{found}\n=====\n"));
        }
    }
    assert!(failures.is_empty(), "found instead:\n{}", failures.concat());
}

fn line(d: &Diagnostic) -> String {
    let place = match &d.place {
        Place::Text { line, column, .. } => format!("{line}:{column}"),
        place => format!("{place:?}"),
    };
    let hint = if d.hint.is_empty() { String::new() } else { format!("\n    {}", d.hint) };
    format!("{place} {}: {}{hint}", d.code, d.message)
}

#[test]
fn setting_an_undefined_variable_is_a_mistake() {
    let text = "target: http://h\nvars: { users: 3 }\nscenarios: { a: [ { get: / } ] }";
    let refused = |name: &str| {
        let given = overrides(Some(name));
        own::parse_with(text, "f", Path::new(""), &given).unwrap_err().remove(0)
    };
    assert_eq!(
        line(&refused("user")),
        "Flag(\"--set user=...\") F029: unknown variable `user`: `vars` does not define it\n    did you mean `users`?"
    );
    assert!(own::parse_with(text, "f", Path::new(""), &overrides(Some("users"))).is_ok());
    assert_eq!(plimsoll_front::parse_set("a=b=c"), Ok(("a".into(), "b=c".into())));
    assert!(plimsoll_front::parse_set("secret").unwrap_err().message.contains("NAME=VALUE"));
}
