//! JSONPath according to RFC 9535, in both implementations: the scan for singular paths and the tree for all others.

use plimsoll_body::json::{DEPTH_MAX, NotJson, Path, Tree, excerpt};

/// A document with a list of all kinds of values, and with member names that need care.
const DOC: &str = r#"{"a": [5, 3, [{"j": 4}, {"k": 6}], "x", {"b": 1.50}], "o": {"j": 1, "k": "two", "": 9},
    "s": ["ab", "a.c", "axc", "日本"], "t": true, "z": null, "☺": 1, "a'b": 2, "q\"": 3, "back\\slash": 4,
    "\u0061\u0301": 5, "\ud83d\ude00": 6, "big": 12345678901234567890123, "exp": 1e2, "neg": -0.0}"#;

/// All selected nodes, as text.
fn all(path: &str, text: &str) -> Vec<String> {
    let path = Path::compile(path).unwrap_or_else(|error| panic!("{error}"));
    let mut tree = Tree::Unread;
    let mut found = Vec::new();
    for number in 0.. {
        let selected =
            path.select(text.as_bytes(), &mut tree, |count| number.min(count - 1)).expect("valid JSON");
        if number >= selected.count {
            break;
        }
        let mut room = Vec::new();
        let span = selected.span.expect("`number` is below the count");
        let value = excerpt(text.as_bytes(), span, &mut room);
        found.push(String::from_utf8(value.to_vec()).expect("JSON is UTF-8"));
    }
    found
}

#[test]
fn a_singular_path_needs_no_tree_and_selects_one_place() {
    let rows: &[(&str, &[&str])] = &[
        ("$.a[0]", &["5"]),
        ("$.a[-1].b", &["1.50"]),
        ("$.a[2][0]['j']", &["4"]),
        ("$['a'][1]", &["3"]),
        ("$[\"o\"].k", &["two"]),
        ("$.o['']", &["9"]),
        ("$ .o\t[ 'j' ]", &["1"]),
        ("$.☺", &["1"]),
        ("$['a\\'b']", &["2"]),
        ("$[\"a'b\"]", &["2"]),
        ("$['q\"']", &["3"]),
        ("$[\"q\\\"\"]", &["3"]),
        ("$['back\\\\slash']", &["4"]),
        ("$['\\u0061\\u0301']", &["5"]),
        ("$['\\uD83D\\uDE00']", &["6"]),
        ("$['\\ud83d\\ude00']", &["6"]),
        ("$.z", &["null"]),
        ("$.t", &["true"]),
        ("$.a[5]", &[]),
        ("$.a[-6]", &[]),
        ("$.a[9007199254740991]", &[]),
        ("$.a.b", &[]),
        ("$.o[0]", &[]),
        ("$.t.x", &[]),
        ("$.missing", &[]),
    ];
    for (path, expected) in rows {
        assert!(Path::compile(path).expect("valid").is_singular(), "{path}");
        assert_eq!(all(path, DOC), *expected, "{path}");
    }
}

#[test]
fn each_selector_follows_the_rfc() {
    let rows: &[(&str, &[&str])] = &[
        ("$.a[*].b", &["1.50"]),
        ("$.o.*", &["9", "1", "two"]),
        ("$.a[1:4:2]", &["3", "x"]),
        ("$.a[:2]", &["5", "3"]),
        ("$.a[-2:]", &["x", "{\"b\": 1.50}"]),
        ("$.a[::-2]", &["{\"b\": 1.50}", "[{\"j\": 4}, {\"k\": 6}]", "5"]),
        ("$.a[1:1]", &[]),
        ("$.a[::0]", &[]),
        ("$.a[1,0,1]", &["3", "5", "3"]),
        ("$['t','z']", &["true", "null"]),
        ("$..j", &["4", "1"]),
        ("$.a..[0]", &["5", "{\"j\": 4}"]),
        ("$.a[?@ > 3]", &["5"]),
        ("$.a[?@ == 'x']", &["x"]),
        ("$.a[?@.b]", &["{\"b\": 1.50}"]),
        ("$.a[?!@.b && @ != 'x' && @ != 5]", &["3", "[{\"j\": 4}, {\"k\": 6}]"]),
        ("$.a[?@ == 3 || @ == $.o.missing]", &["3"]),
        ("$[?@ == null]", &["null"]),
        ("$.a[?@.b == 1.5]", &["{\"b\": 1.50}"]),
        ("$.s[?@ >= 'axc']", &["axc", "日本"]),
        ("$.s[?length(@) == 2]", &["ab", "日本"]),
        ("$.a[?count(@.*) == 2]", &["[{\"j\": 4}, {\"k\": 6}]"]),
        ("$.s[?match(@, 'a.c')]", &["a.c", "axc"]),
        ("$.s[?match(@, 'a[.]c')]", &["a.c"]),
        ("$.s[?search(@, 'b')]", &["ab"]),
        ("$[?value(@..k) == 'two']", &["{\"j\": 1, \"k\": \"two\", \"\": 9}"]),
    ];
    for (path, expected) in rows {
        assert!(!Path::compile(path).expect("valid").is_singular(), "{path}");
        assert_eq!(all(path, DOC), *expected, "{path}");
    }
}

#[test]
fn an_invalid_path_is_rejected_with_its_text() {
    let wrong = [
        "",
        "a",
        ".a",
        " $.a",
        "$.a ",
        "$.",
        "$..",
        "$. a",
        "$.1",
        "$.-a",
        "$[",
        "$[]",
        "$['a",
        "$['a\"]",
        "$[a]",
        "$[01]",
        "$[-0]",
        "$[9007199254740992]",
        "$[-9007199254740992]",
        "$['\\'\"]",
        "$[\"\\'\"]",
        "$['\\\"']",
        "$['\\ud83d']",
        "$['\\x']",
        "$['a\u{1}b']",
        "$[?true]",
        "$[?@.a == @.*]",
        "$[?foo(@)]",
        "$[?count(1) == 1]",
        "$[1.0]",
        "$.a[?@.b = 1]",
        "$[?length(@.*) == 1]",
        "$.a]",
    ];
    for path in wrong {
        let error = Path::compile(path).expect_err(path);
        assert!(error.starts_with(&format!("invalid JSONPath `{path}`")), "{error}");
    }
}

#[test]
fn numbers_keep_every_digit_in_both_implementations() {
    for (path, expected) in [("$.big", "12345678901234567890123"), ("$.exp", "1e2"), ("$.neg", "-0.0")] {
        assert_eq!(all(path, DOC), [expected]);
        let same_by_tree = path.replace("$.", "$..");
        assert_eq!(all(&same_by_tree, DOC), [expected]);
    }
}

#[test]
fn the_last_of_equal_names_counts_in_both_implementations() {
    let text = r#"{"a": {"b": 1, "c": 2}, "\u0061": {"b": 3, "b": 4}}"#;
    for (path, expected) in
        [("$.a.b", &["4"][..]), ("$['a','a'].b", &["4", "4"]), ("$.a.c", &[]), ("$..c", &[])]
    {
        assert_eq!(all(path, text), expected, "{path}");
    }
}

#[test]
fn strings_come_without_quotes_and_escapes() {
    let text = r#"{"plain": "é", "escaped": "a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\uDBFF\uDFFF", "empty": ""}"#;
    let expected = "a\"\\/\u{8}\u{c}\n\r\té😀\u{10ffff}";
    for path in ["$.escaped", "$..escaped"] {
        assert_eq!(all(path, text), [expected]);
    }
    assert_eq!(all("$.plain", text), ["é"]);
    assert_eq!(all("$.empty", text), [""]);
    assert_eq!(all("$", "\"a\\nb\""), ["a\nb"]);
}

#[test]
fn invalid_json_has_no_matches() {
    let deep = |levels: usize| format!("{{\"a\":1,\"b\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let wrong: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        r#"{"a":1"#,
        r#"{"a":1}}"#,
        r#"{"a":1} x"#,
        r#"{"a":1,}"#,
        r#"{"a":1,"b":[1,]}"#,
        r#"{"a":1,"b":01}"#,
        r#"{"a":1,"b":1.}"#,
        r#"{"a":1,"b":.5}"#,
        r#"{"a":1,"b":+1}"#,
        r#"{"a":1,"b":1e}"#,
        r#"{"a":1,"b":-}"#,
        r#"{"a":1,"b":1e999}"#,
        r#"{"a":1,"b":nul}"#,
        r#"{"a":1,"b":True}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a" 1}"#,
        r#"{a:1}"#,
        r#"{"a":1,"b":"\x"}"#,
        r#"{"a":1,"b":"\ud800"}"#,
        r#"{"a":1,"b":"\udc00"}"#,
        r#"{"a":1,"b":"\ud800\u0041"}"#,
        r#"{"a":1,"b":"\u00g0"}"#,
        "{\"a\":1,\"b\":\"\n\"}",
        r#"{"a":1,"b":"}"#,
        r#"{'a':1}"#,
        r#"{"a":1}//"#,
        "{\"a\":1,\"b\":\u{a0}2}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .chain([b"{\"a\":1,\"b\":\"\xff\"}".to_vec(), deep(127).into_bytes()])
    .collect();
    // Control characters, in the parts that are read eight bytes at a time and in the others.
    let controls = (0..0x20u8).flat_map(|control| {
        [0, 9, 20].map(|at| {
            let mut text = br#"{"a":1,"b":"plain and long enough"}"#.to_vec();
            text[12 + at] = control;
            text
        })
    });
    let short = (0..0x20u8).map(|control| [b"\"", &[control][..], b"\""].concat());
    let wrong = wrong.into_iter().chain(controls).chain(short);
    for text in wrong {
        for path in ["$.a", "$..a"] {
            let path = Path::compile(path).expect("valid");
            let found = path.select(&text, &mut Tree::Unread, |_| 0);
            assert_eq!(found, Err(NotJson), "{}", String::from_utf8_lossy(&text));
            assert!(!path.first(&text, &mut Vec::new()));
        }
    }
    // The outer object is one level.
    assert_eq!(DEPTH_MAX, 127);
    assert_eq!(all("$.a", &deep(126)), ["1"]);
    assert_eq!(all("$..a", &deep(126)), ["1"]);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let text = "\u{feff}{\"a\": \"x\\ty\"}";
    assert_eq!(all("$.a", text), ["x\ty"]);
    assert_eq!(all("$..a", text), ["x\ty"]);
}

#[test]
fn the_first_node_is_appended_to_the_buffer() {
    let mut out = b"id=".to_vec();
    assert!(Path::compile("$.a[1]").expect("valid").first(br#"{"a":[1,"t\u0077o"]}"#, &mut out));
    assert_eq!(out, b"id=two");
    assert!(!Path::compile("$.a[2]").expect("valid").first(br#"{"a":[1,2]}"#, &mut out));
    assert_eq!(out, b"id=two");
}
