//! One table of keys: the reader, the JSON Schema, and the explained codes agree with it and with each other.

use plimsoll_front::explain;
use plimsoll_front::own::key::{Row, TABLE};
use plimsoll_front::{Overrides, own, schema};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn overrides() -> Overrides {
    let reflect = |_: &_, _: &_| Ok(std::fs::read(here().join("tests/files/shop.binpb")).unwrap());
    let env = |_: &str| Some("value".into());
    Overrides { set: Vec::new(), env: Box::new(env), keep_to: None, reflect: Some(Box::new(reflect)) }
}

fn accepted(text: &str) -> bool {
    own::parts(text, "f", here(), &overrides(), &[]).is_ok()
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is one")
}

/// The text as an editor reads it.
fn value(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// `keys.txt` holds a text for every key, each after a line `== Section.key`.
fn snippets() -> Vec<(&'static str, &'static str)> {
    include_str!("keys.txt")
        .split("\n== ")
        .map(|part| part.trim_start_matches("== "))
        .filter_map(|part| part.split_once('\n'))
        .collect()
}

fn id(row: &Row) -> String {
    format!("{:?}.{}", row.section, row.name)
}

#[test]
fn every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema() {
    let validator = validator();
    let mut seen = BTreeSet::new();
    for (key, text) in snippets() {
        if let Err(all) = own::parts(text, "f", here(), &overrides(), &[]) {
            panic!("{key}:\n{text}{all:#?}");
        }
        let errors: Vec<String> = validator.iter_errors(&value(text)).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{key}:\n{text}{errors:#?}");
        seen.insert(key.to_owned());
    }
    let all: BTreeSet<String> = TABLE.iter().map(id).collect();
    assert_eq!(seen, all);
    assert_eq!(all.len(), TABLE.len(), "a key occurs twice in one section");
}

#[test]
fn a_misspelled_key_is_rejected_by_the_reader_and_by_the_schema() {
    let validator = validator();
    for (key, text) in snippets() {
        let name = key.split('.').nth(1).unwrap();
        // The last occurrence of the key is the one in question.
        let at = text.rfind(&format!("{name}:")).unwrap();
        let wrong = format!("{}{name}x{}", &text[..at], &text[at + name.len()..]);
        assert!(!accepted(&wrong), "{key}:\n{wrong}");
        assert!(!validator.is_valid(&value(&wrong)), "{key}:\n{wrong}");
    }
}

#[test]
fn every_example_is_accepted_by_the_reader_and_by_the_schema() {
    let validator = validator();
    let mut files: Vec<PathBuf> = std::fs::read_dir(here().join("../../examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    files.extend([here().join("tests/everything.yaml"), here().join("tests/full.yaml")]);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let folder = if file.starts_with(here().join("tests")) { here() } else { file.parent().unwrap() };
        if let Err(all) = own::parts(&text, "f", folder, &overrides(), &[]) {
            panic!("{}: {all:#?}", file.display());
        }
        let errors: Vec<String> =
            validator.iter_errors(&value(&text)).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", file.display());
    }
}

#[test]
fn the_schema_is_closed_and_describes_what_it_expects() {
    let schema = schema();
    let definitions = schema["$defs"].as_object().unwrap();
    for (name, definition) in definitions {
        if definition["type"] == "object" {
            assert_eq!(definition["additionalProperties"], false, "{name}");
            let properties = definition["properties"].as_object().unwrap();
            assert!(!properties.is_empty(), "{name}");
            for (key, value) in properties {
                assert!(value.is_object(), "{name}.{key}");
            }
        }
    }
    let wrong =
        value("target: http://h\nscenarios: { s: [ { get: / } ] }\nload: { arrivals: even, rate: 5 }");
    assert!(!validator().is_valid(&wrong), "the words of a choice are an enumeration");
}

#[test]
fn every_code_in_the_sources_is_explained_and_no_other() {
    let mut used = BTreeSet::new();
    for folder in [
        "src",
        "../build/src",
        "../bundle/src",
        "../jmeter/src",
        "../jmx/src",
        "../js/src",
        "../k6/src",
        "../lines/src",
        "../plan/src",
        "../../src",
    ] {
        collect(&here().join(folder), &mut used);
    }
    let explained: Vec<&str> = explain::TABLE.iter().map(|row| row.code).collect();
    let sorted: BTreeSet<String> = explained.iter().map(|code| (*code).to_owned()).collect();
    assert_eq!(sorted, used);
    assert_eq!(explained, sorted.iter().map(String::as_str).collect::<Vec<_>>(), "in order, each once");
    for row in explain::TABLE {
        assert!(row.text.contains("\n\n  ") && row.text.len() > 80, "{}: an example is missing", row.code);
    }
    assert_eq!(explain::find(" f011 ").map(|row| row.code), Some("F011"));
    assert_eq!(explain::find("F999"), None);
}

/// Collects the codes in quotes, except for those of the table itself.
fn collect(folder: &Path, used: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, used);
        } else if path.file_name().is_some_and(|name| name != "explain.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for word in text.split('"') {
                let is_code = word.len() == 4
                    && word.starts_with(['C', 'F', 'J', 'K', 'P'])
                    && word[1..].bytes().all(|b| b.is_ascii_digit());
                if is_code {
                    used.insert(word.to_owned());
                }
            }
        }
    }
}
