//! The scan for singular paths and the tree find the same value, or nothing, in any text.
//!
//! `PLIMSOLL_FUZZ_CASES=5000000 cargo test --release -p plimsoll-script --test surface answer_fuzz` runs more cases.

use crate::answer_support::{Chance, cases};
use plimsoll_body::json::{NotJson, Path, Shaper, Tree, excerpt};
use serde_json::Value;

const NAMES: [&str; 6] = ["a", "b", "", "é", "q\"", "a\\b"];
const SHARP: &[u8] = b"{}[]\",:\\u0019-+.eEtfn \n\x01\xc3\xa9\xff";

/// A JSON text that uses every freedom of a writer: white space, escapes, number formats, and equal names.
fn value(chance: &mut Chance, depth: usize, out: &mut String) {
    let space =
        |chance: &mut Chance, out: &mut String| out.push_str(chance.pick(&["", "", "", " ", "\n\t", "\r "]));
    space(chance, out);
    match chance.below(if depth == 0 { 5 } else { 8 }) {
        0 => string(chance, out),
        1 => out.push_str(chance.pick(&["true", "false", "null"])),
        2 | 3 => out.push_str(
            chance.pick(&["0", "-0", "7", "12.50", "-3e2", "1E+9", "2e-7", "1e308", "1e309", "0e999"]),
        ),
        4 => out.push_str(&"9".repeat(1 + chance.below(400))),
        5 | 6 => {
            out.push('{');
            for member in 0..chance.below(5) {
                out.push_str(if member > 0 { "," } else { "" });
                space(chance, out);
                string(chance, out);
                space(chance, out);
                out.push(':');
                value(chance, depth - 1, out);
            }
            out.push('}');
        }
        _ => {
            out.push('[');
            for element in 0..chance.below(5) {
                out.push_str(if element > 0 { "," } else { "" });
                value(chance, depth - 1, out);
            }
            out.push(']');
        }
    }
    space(chance, out);
}

/// One of the names, in one of the ways to write it.
fn string(chance: &mut Chance, out: &mut String) {
    out.push('"');
    for sign in chance.pick(&NAMES).chars() {
        match sign {
            '"' | '\\' if chance.one_in(2) => out.extend(['\\', sign]),
            _ if chance.one_in(3) || matches!(sign, '"' | '\\') => {
                out.push_str(&format!("\\u{:04X}", sign as u32))
            }
            _ => out.push(sign),
        }
    }
    out.push_str(chance.pick(&["", "", "", "\\ud83d\\ude00", "\\n"]));
    out.push('"');
}

/// A singular path, and its location in a tree.
fn path(chance: &mut Chance) -> (String, Vec<(Option<&'static str>, i64)>) {
    let mut text = String::from("$");
    let mut steps = Vec::new();
    for _ in 0..chance.below(4) {
        if chance.one_in(2) {
            let name = chance.pick(&NAMES);
            text.push_str(&format!("['{}']", name.replace('\\', "\\\\")));
            steps.push((Some(name), 0));
        } else {
            let index = chance.below(7) as i64 - 3;
            text.push_str(&format!("[{index}]"));
            steps.push((None, index));
        }
    }
    (text, steps)
}

fn look_up<'v>(root: &'v Value, steps: &[(Option<&str>, i64)]) -> Option<&'v Value> {
    steps.iter().try_fold(root, |node, (name, index)| match name {
        Some(name) => node.as_object()?.get(*name),
        None => {
            let list = node.as_array()?;
            let from = if *index < 0 { list.len() as i64 } else { 0 };
            list.get(usize::try_from(from + index).ok()?)
        }
    })
}

fn mutate(chance: &mut Chance, bytes: &mut Vec<u8>) {
    let at = chance.below(bytes.len() + 1);
    match chance.below(5) {
        0 if at < bytes.len() => bytes[at] = chance.pick(SHARP),
        1 if at < bytes.len() => drop(bytes.remove(at)),
        2 => bytes.truncate(at),
        3 => {
            let from = chance.below(at + 1);
            let piece = bytes[from..at].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => bytes.insert(at, chance.pick(SHARP)),
    }
}

#[test]
fn the_scan_finds_the_value_in_the_tree() {
    cases(20_000, |chance| {
        let mut text = String::new();
        value(chance, 4, &mut text);
        let mut text = text.into_bytes();
        for _ in 0..chance.pick(&[0, 0, 1, 1, 2, 5]) {
            mutate(chance, &mut text);
        }
        let (path_text, steps) = path(chance);
        let path = Path::compile(&path_text).expect("a path by the grammar");
        assert!(path.is_singular(), "{path_text}");
        let tree = serde_json::from_slice::<Value>(&text);
        let selected = path.select(&text, &mut Tree::Unread, |_| 0);
        let about = || format!("{path_text} in {}", String::from_utf8_lossy(&text));
        let Ok(tree) = tree else {
            assert_eq!(selected, Err(NotJson), "{}", about());
            assert_eq!(Shaper::default().shape(&text), None, "{}", about());
            return;
        };
        let span = selected.unwrap_or_else(|_| panic!("no JSON: {}", about())).span;
        let mut room = Vec::new();
        let found = span.map(|span| excerpt(&text, span, &mut room).to_vec());
        match look_up(&tree, &steps) {
            None => assert_eq!(found, None, "{}", about()),
            Some(Value::String(text)) => assert_eq!(found.as_deref(), Some(text.as_bytes()), "{}", about()),
            Some(other) => {
                let found = found.unwrap_or_else(|| panic!("nothing: {}", about()));
                let again: Value = serde_json::from_slice(&found).expect("a piece of JSON");
                assert_eq!(&again, other, "{}", about());
            }
        }
        assert_eq!(
            Shaper::default().shape(&text).is_some(),
            tree.is_object() || tree.is_array(),
            "{}",
            about()
        );
    });
}

#[test]
fn the_tree_finds_the_same_place() {
    cases(5_000, |chance| {
        let mut text = String::new();
        value(chance, 4, &mut text);
        let (path_text, _) = path(chance);
        // The union of one path with itself selects the same node twice.
        let Some(last) = path_text.rfind('[') else { return };
        let inside = &path_text[last + 1..path_text.len() - 1];
        let twice = format!("{}[{inside},{inside}]", &path_text[..last]);
        let both = [&path_text, &twice].map(|path| {
            let path = Path::compile(path).expect("a path by the grammar");
            path.select(text.as_bytes(), &mut Tree::Unread, |count| count - 1)
        });
        let [one, two] = both;
        assert_eq!(one.map(|s| s.span), two.map(|s| s.span), "{twice} in {text}");
        assert_eq!(one.map(|s| 2 * s.count), two.map(|s| s.count), "{twice} in {text}");
    });
}
