//! What a file of rows may look like, and the sentence for each that may not.

use crate::feed_support::{Scratch, csv, json, open, refusal, slot};
use plimsoll_plan::data::{Feeder, Format};
use plimsoll_script::feed::Rows;

/// Every value of every row, rows apart by `;`, columns by `|`.
fn read(feeder: &Feeder) -> String {
    let feeds = open(feeder);
    let mut rows = Rows::new(&feeds, slot(0, 1));
    let mut out = Vec::new();
    for row in 0..feeds.row_count(0).expect("it is open") {
        rows.new_iteration();
        for column in 0..feeder.columns.len() {
            match (row, column) {
                (0, 0) => {}
                (_, 0) => out.push(b';'),
                _ => out.push(b'|'),
            }
            rows.value(0, column as u16, &mut out).expect("each row has each column");
        }
    }
    String::from_utf8(out).expect("these files are UTF-8")
}

#[test]
fn csv_is_read_as_rfc_4180_says() {
    for (text, expected) in [
        ("a,b\n1,2\n3,4\n", "2|1;4|3"),
        ("a,b\r\n1,2\r\n3,4", "2|1;4|3"),
        ("\u{feff}a,b\n1,2\n", "2|1"),
        ("a,b\n\n1,2\n\r\n\n3,4\n\n", "2|1;4|3"),
        ("a,b\n\"1\",\"x, y\"\n", "x, y|1"),
        ("a,b\r\n1,\"two\r\nlines\"\r\n3,4\r\n", "two\r\nlines|1;4|3"),
        ("a,b\n1,\"say \"\"hi\"\"\"\n3,4\n", "say \"hi\"|1;4|3"),
        ("a,b\n,\n1,\n", "|;|1"),
        ("a,b\n\"\",\"\"\"\"\n", "\"|"),
        ("\"a\",\"b\"\n1,5\" pipe\n", "5\" pipe|1"),
        ("a,b\n1,\"open\"\r", "open|1"),
        ("c,\"b\",a\nx,2,1\n", "2|1"),
    ] {
        assert_eq!(read(&csv(&Scratch::new(text), &["b", "a"])), expected, "{text:?}");
    }
}

#[test]
fn delimiter_and_header_are_as_the_feeder_says() {
    let file = Scratch::new("1;x,y\n2;\"z;\"\n");
    let header = Some(vec!["id".to_string(), "text".to_string()]);
    let feeder = Feeder { format: Format::Csv { delimiter: b';', header }, ..csv(&file, &["text", "id"]) };
    assert_eq!(read(&feeder), "x,y|1;z;|2");
}

#[test]
fn a_csv_file_that_is_no_table_is_refused_with_its_line() {
    for (text, expected) in [
        ("", "is empty"),
        ("a,b\n", "the file has no rows"),
        ("a\n1\n", "missing column `b`; use one of `a`"),
        ("a,b,a\n1,2,3\n", "duplicate column `a`"),
        ("a,b\n1,2\n3\n", "the row has 1 field, but the header has 2"),
        (
            "a,b\n1,\"2\n2\"\n3,4,5\n",
            "the row has 3 fields, but the header has 2; quote fields that contain a delimiter",
        ),
        ("a,b\n1,2\n3,\"4\n5,6\n", "unclosed quote"),
        ("a,b\n1,\"2\"x\n", "unexpected text after a closing quote"),
        ("a,b\n1,\"2\"\rx\n", "unexpected text after a closing quote"),
        ("a,b\r1,2\r3,4", "lines end with a carriage return only"),
    ] {
        let file = Scratch::new(text);
        let sentence = refusal(&csv(&file, &["a", "b"]));
        let named = sentence.contains(&format!("`{}` (data `users`): ", file.0.display()));
        assert!(named && sentence.contains(expected), "{text:?}: {sentence}");
    }
    let sentence = refusal(&csv(&Scratch::new(b"\xff\xfea\0,\0b\0"), &["a"]));
    assert!(sentence.ends_with("the file is UTF-16; save it as UTF-8"), "{sentence}");
}

#[test]
fn the_last_row_of_a_long_file_is_checked_too() {
    let long = "1,2\n".repeat(5_000);
    let sentence = refusal(&csv(&Scratch::new(format!("a,b\n{long}3\n")), &["a", "b"]));
    assert!(sentence.contains("line 5002 of "), "{sentence}");
    let long = "{\"a\": 1}\n".repeat(5_000);
    let sentence = refusal(&json(&Scratch::new(format!("{long}{{\"b\": 1}}")), &["a"]));
    assert!(sentence.contains("missing key `a`"), "{sentence}");
}

#[test]
fn a_delimiter_that_cannot_be_one_is_refused() {
    let file = Scratch::new("a\n1\n");
    let format = Format::Csv { delimiter: b'"', header: None };
    let sentence = refusal(&Feeder { format, ..csv(&file, &["a"]) });
    assert!(sentence.contains("invalid delimiter `\\\"`"), "{sentence}");
}

#[test]
fn a_file_that_is_not_there_is_named_with_the_systems_reason() {
    let file = Scratch::new("");
    let feeder = csv(&file, &["a"]);
    drop(file);
    let sentence = refusal(&feeder);
    assert!(sentence.starts_with("cannot read `"), "{sentence}");
    assert!(sentence.contains("No such file"), "{sentence}");
}

#[test]
fn json_lines_give_strings_bare_and_other_values_as_json() {
    let file = Scratch::new(concat!(
        "\u{feff}{\"id\": 7, \"name\": \"a\\n\\u00e9\\ud83d\\ude00\\\"\", \"in\": {\"n\": [1, {\"x\": \"}\"}]}}\r\n",
        "\n  \n",
        "{\"in\":{\"n\":null,\"m\":\"{\"},\"n\\u0061me\":\"\",\"id\":-1.5e3 , \"id2\":0}"
    ));
    assert_eq!(read(&json(&file, &["id", "name", "in.n"])), "7|a\né😀\"|[1, {\"x\": \"}\"}];-1.5e3||null");
}

#[test]
fn a_key_with_a_dot_goes_before_a_path_and_the_last_of_two_equal_keys_counts() {
    let file = Scratch::new("{\"a\":{\"b\":1},\"a.b\":2,\"a\":{\"b\":3},\"c\":4,\"c\":5,\"d\":{\"e.f\":6}}");
    assert_eq!(read(&json(&file, &["a.b", "c", "d.e.f", "a"])), "2|5|6|{\"b\":3}");
}

#[test]
fn a_line_that_is_no_json_object_is_refused_with_its_place() {
    for (line, expected) in [
        ("[1]", "byte 1: expected one JSON object"),
        ("{\"a\":1} x", "byte 9: unexpected text after the JSON object"),
        ("{\"a\":1,}", "byte 8: missing key in quotes"),
        ("{\"a\" 1}", "byte 6: missing `:`"),
        ("{\"a\":01}", "byte 6: invalid JSON number"),
        ("{\"a\":1.}", "byte 6: invalid JSON number"),
        ("{\"a\":tru}", "byte 6: missing JSON value"),
        ("{\"a\":[1 2]}", "byte 9: missing `,` or closing bracket"),
        ("{\"a\":\"\\x\"}", "byte 7: invalid JSON escape"),
        ("{\"a\":\"\\ud800\"}", "byte 7: incomplete surrogate pair"),
        ("{\"a\":\"\t\"}", "byte 7: unescaped control character"),
        ("{\"a\":\"", "byte 6: unclosed quote"),
        ("{\"b\":1}", "missing key `a`"),
    ] {
        let sentence = refusal(&json(&Scratch::new(format!("{{\"a\":1}}\n{line}\n{{\"a\":1}}\n")), &["a"]));
        assert!(sentence.starts_with("line 2 of ") && sentence.contains(expected), "{line}: {sentence}");
    }
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    assert!(refusal(&json(&Scratch::new(deep), &["a"])).contains("nested too deeply"));
    assert!(refusal(&json(&Scratch::new(b"{\"a\":1}\n{\"a\":\"\xff\"}"), &["a"])).contains("invalid UTF-8"));
    assert!(refusal(&json(&Scratch::new("\n \n"), &["a"])).contains("the file has no rows"));
}
