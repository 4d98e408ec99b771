//! Values of HTML, XML, and JSON by XPath, CSS, JMESPath, and boundaries. The expected values were computed with lxml
//! 6.0, cssselect 1.3, and jmespath 1.1 for Python.

use crate::answer_support::{answer, checked, judged, taking, values};
use plimsoll_plan::answer::{Pick, Rule, Source, Subject};
use plimsoll_plan::css;
use plimsoll_plan::head::Head;
use plimsoll_plan::value::Text;
use plimsoll_script::answer::{Answer, Judge};

const PAGE: &[u8] = include_bytes!("markup/page.html");

const XML: &[u8] = include_bytes!("markup/names.xml");

const JSON: &[u8] = include_bytes!("markup/items.json");

fn xpath(text: &str) -> Source {
    Source::XPath(text.into())
}

fn css(selector: &str) -> Source {
    Source::Css { selector: selector.into(), attribute: None }
}

/// The picked value of a body, or why there is none.
fn taken(head: &str, body: &[u8], source: &Source, pick: Pick) -> Result<String, String> {
    let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n");
    let answer = Answer { head: Head::new(head.as_bytes()), ..answer(body) };
    let mut findings = judged(&taking([(source.clone(), pick)]), &answer);
    match findings.failures.pop() {
        Some((_, sentence)) => Err(sentence),
        None => Ok(values(&findings).remove(0).1),
    }
}

/// Compares the first, the last, and the number of values with a list.
fn gives(body: &[u8], source: Source, expected: &[&str]) {
    let one = |pick| taken("", body, &source, pick).ok();
    let text = |value: Option<&&str>| value.map(|text| (*text).to_owned());
    assert_eq!(one(Pick::First), text(expected.first()), "{source:?}");
    assert_eq!(one(Pick::Last), text(expected.last()), "{source:?}");
    assert_eq!(one(Pick::Count), Some(expected.len().to_string()), "{source:?}");
}

#[test]
fn xpath_selects_in_html_what_lxml_selects() {
    let rows: &[(&str, &[&str])] = &[
        ("//title", &["Shop & more"]),
        ("//li/@data-id", &["1", "2", "3"]),
        ("count(//li)", &["3"]),
        ("string(//h1)", &["  Two\n words "]),
        ("//li[2]/a/@href", &["/p/2?a=1&b=2"]),
        ("//li[last()]", &["Three 3"]),
        ("//a[contains(@class,'next')]", &["Two"]),
        ("normalize-space(//h1)", &["Two words"]),
        ("//li[position() mod 2 = 1]/@data-id", &["1", "3"]),
        ("//td", &["1", "2", "3"]),
        ("//input[@name='csrf']/@value", &["t'o\"k"]),
        ("sum(//td)", &["6"]),
        ("//p[2]/preceding-sibling::ul/li[1]/a/text()", &["One"]),
        ("//li[a]/a/text()", &["One", "Two"]),
        ("boolean(//nothing)", &["false"]),
        ("//ul/following::td[1]", &["1"]),
        ("//ancestor::div/@id", &["main"]),
        ("//span/..", &["Price: 12.50 EUR"]),
        ("//li/@data-id | //title", &["Shop & more", "1", "2", "3"]),
        ("name(//*[@id])", &["div"]),
        ("translate('abc','b','X')", &["aXc"]),
        ("//li[not(@class)]/@data-id", &["2"]),
        ("//*[@lang]", &["Zweiter"]),
        ("//nothing", &[]),
    ];
    for (path, expected) in rows {
        gives(PAGE, xpath(path), expected);
    }
}

#[test]
fn css_selects_in_html_what_cssselect_selects() {
    let rows: &[(&str, &[&str])] = &[
        ("h1", &["Two words"]),
        ("li.x", &["One", "Three 3"]),
        ("li.x.y", &["Three 3"]),
        ("#main > ul", &["OneTwoThree 3"]),
        ("ul.items li:first-child", &["One"]),
        ("li:last-child", &["Three 3"]),
        ("li:nth-child(2)", &["Two"]),
        ("li:nth-child(2n+1)", &["One", "Three 3"]),
        ("li:nth-child( odd )", &["One", "Three 3"]),
        ("li:nth-child(-n+2)", &["One", "Two"]),
        ("li + li", &["Two", "Three 3"]),
        ("li ~ li", &["Two", "Three 3"]),
        ("a[href^='/p/2']", &["Two"]),
        ("a[href$='2']", &["Two"]),
        ("a[ href *= \"p/1\" ]", &["One"]),
        ("[data-id='3']", &["Three 3"]),
        ("a[class~=next]", &["Two"]),
        ("[lang|=de]", &["Zweiter"]),
        ("li:not(.x)", &["Two"]),
        ("h1, title", &["Shop & more", "Two words"]),
        ("td:first-child", &["1", "3"]),
        ("li:only-child", &[]),
        ("p:first-of-type", &["Price: 12.50 EUR"]),
        ("p:last-of-type", &["Zweiter"]),
        ("tr:nth-of-type(2) td", &["3"]),
        ("div *[class]", &["Two words", "OneTwoThree 3", "One", "Two", "Three 3"]),
        ("input[value]", &[""]),
        ("li:nth-last-child(1)", &["Three 3"]),
        ("b:only-child", &[]),
        ("td:empty", &[]),
        ("li > a.next", &["Two"]),
    ];
    for (selector, expected) in rows {
        gives(PAGE, css(selector), expected);
    }
    let href = Source::Css { selector: "a.next".into(), attribute: Some("href".into()) };
    gives(PAGE, href, &["/p/2?a=1&b=2"]);
}

#[test]
fn xpath_and_css_read_xml_with_its_namespaces() {
    let rows: &[(&str, &[&str])] = &[
        ("//p:item", &["a ent<b>"]),
        ("//item", &[]),
        ("//*[local-name()='item']", &["a ent<b>", "second"]),
        ("//p:item/@p:id", &["1"]),
        ("/*/comment()", &[" c "]),
        ("//processing-instruction('pi')", &["data"]),
        ("namespace-uri(/*)", &["urn:d"]),
    ];
    for (path, expected) in rows {
        gives(XML, xpath(path), expected);
    }
    gives(XML, css("r > item"), &["a ent<b>", "second"]);
    // A type without a declaration decides, too; HTML would have repaired the text.
    let xml = "Content-Type: application/atom+xml; charset=utf-8\r\n";
    assert_eq!(taken(xml, b"<a><b/>x</a>", &xpath("/a"), Pick::First).as_deref(), Ok("x"));
    let why = taken(xml, b"<a><b></a>", &xpath("/a"), Pick::First).expect_err("it is not XML");
    assert_eq!(why, "the body is not well-formed XML");
    assert_eq!(taken("", b"<a><b></a>", &xpath("//a"), Pick::Count).as_deref(), Ok("1"));
}

#[test]
fn jmespath_gives_what_the_library_for_python_gives() {
    let rows = [
        ("items[0].id", "7"),
        ("length(items)", "3"),
        ("items[?price > `3.5`].id", "[8,9]"),
        ("user.\"first name\"", "Ann"),
        ("items[*].tags[]", "[\"a\",\"b\"]"),
        ("max_by(items,&price).id", "9"),
        ("items[-1].name", "x\"y"),
        ("sum(items[*].price)", "1015.5"),
        ("user.ok", "true"),
        ("items[].{i:id}", "[{\"i\":7},{\"i\":8},{\"i\":9}]"),
        ("sort_by(items,&price)[0].id", "7"),
        ("join('-',items[0].tags)", "a-b"),
        ("items[?contains(tags || `[]`,'b')].id | [0]", "7"),
        ("to_string(user.ok)", "true"),
    ];
    for (path, expected) in rows {
        let source = Source::JmesPath(path.into());
        assert_eq!(taken("", JSON, &source, Pick::First).as_deref(), Ok(expected), "{path}");
    }
    let ids = Source::JmesPath("items[*].id".into());
    assert_eq!(taken("", JSON, &ids, Pick::Last).as_deref(), Ok("9"));
    assert_eq!(taken("", JSON, &ids, Pick::Count).as_deref(), Ok("3"));
    for missing in ["user.none", "user.nothing"] {
        let why = taken("", JSON, &Source::JmesPath(missing.into()), Pick::First).expect_err("it is null");
        assert_eq!(why, "the response has no such value");
    }
    let why = taken("", b"<html>", &ids, Pick::First).expect_err("it is HTML");
    assert_eq!(why, "the body is not JSON");
}

#[test]
fn a_boundary_takes_the_text_between_two_others() {
    let boundary = |left: &str, right: &str| Source::Boundary { left: left.into(), right: right.into() };
    let body = b"id=1&x id=22& id=&tail";
    gives(body, boundary("id=", "&"), &["1", "22", ""]);
    gives(body, boundary("tail", ""), &[""]);
    gives(body, boundary("", "&"), &["id=1"]);
    gives(body, boundary("id=", ";"), &[]);
    gives(body, boundary("nothing", "&"), &[]);
    // The left text of the next value may begin only after the right text of this one.
    gives(b"a1a2a3", boundary("a", "a"), &["1"]);
}

#[test]
fn a_check_of_a_value_fails_if_it_differs_and_if_it_is_missing() {
    let check = |from: Source, rule: Rule| {
        let findings = judged(&checked([Subject::Value { from, rule }]), &answer(PAGE));
        findings.failures.into_iter().next().map(|(_, sentence)| sentence)
    };
    let equals = |text: &str| Rule::Equals(Text::literal(text));
    assert_eq!(check(css("h1"), equals("Two words")), None);
    assert_eq!(check(css("h1"), equals("two")).as_deref(), Some("expected `two`, found `Two words`"));
    assert_eq!(check(css("h2"), equals("two")).as_deref(), Some("expected `two`, found no value"));
    assert_eq!(check(css("h2"), Rule::Absent), None);
    assert_eq!(check(xpath("count(//li)"), Rule::AtLeast(3.0)), None);
    let more = check(xpath("count(//li)"), Rule::Above(3.0));
    assert_eq!(more.as_deref(), Some("expected a number above `3`, found `3`"));
    // A body of another kind is not a body without the value.
    let json = check(Source::JmesPath("a".into()), Rule::Absent);
    assert_eq!(json.as_deref(), Some("the body is not JSON"));
}

#[test]
fn invalid_expressions_are_rejected_before_the_load() {
    let wrong = |from: Source| Judge::compile(&taking([(from, Pick::First)])).expect_err("it is invalid");
    assert!(wrong(xpath("//a[")).contains("invalid XPath `//a[`"), "{}", wrong(xpath("//a[")));
    assert!(wrong(css("a[href=")).contains("incomplete selector"), "{}", wrong(css("a[href=")));
    assert!(wrong(Source::JmesPath("a[".into())).contains("invalid JMESPath `a[`"));
}

#[test]
fn a_selector_says_what_is_wrong_with_it() {
    let rows = [
        ("", "empty selector"),
        ("a >", "incomplete selector"),
        ("a,, b", "invalid selector: unexpected `,` at character 3"),
        ("a:hover", "unsupported pseudo-class `:hover`"),
        ("a::before", "a pseudo-element such as `::before` is not part of a response"),
        ("svg|a", "unsupported namespace prefix in a selector"),
        (":first-of-type", "`:first-of-type` requires an element name"),
        ("li:nth-child(x)", "invalid position `x` in a selector"),
        ("a[href='x]", "unclosed quote in a selector"),
        ("a[href=x y]", "invalid selector: unexpected `y` at character 10"),
        ("a{}", "invalid selector: unexpected `{` at character 2"),
    ];
    for (selector, message) in rows {
        let found = css::xpath(selector).expect_err("it is invalid").message;
        assert_eq!(found, message, "{selector}");
    }
}

#[test]
fn hostile_markup_ends_in_time() {
    // Deep nesting, with which the parser's time grows by the square; and text that it moves before a table.
    let deep = "<div>".repeat(500);
    assert_eq!(taken("", deep.as_bytes(), &xpath("count(//div)"), Pick::First).as_deref(), Ok("500"));
    let deeper = "<div>".repeat(1_000_000);
    let why = taken("", deeper.as_bytes(), &xpath("count(//div)"), Pick::First).expect_err("it is too deep");
    assert_eq!(why, "the body nests elements deeper than 512 levels");
    let moved = format!("<table>{}", "x<tr>".repeat(50_000));
    assert_eq!(taken("", moved.as_bytes(), &xpath("count(//tr)"), Pick::First).as_deref(), Ok("50000"));
    let laughs = r#"<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">
        <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
        <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
        <!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">]><r>&f;</r>"#;
    assert_eq!(
        taken("", laughs.as_bytes(), &xpath("/r"), Pick::First).expect_err("it is a bomb"),
        "the body is not well-formed XML"
    );
}

#[test]
fn the_tree_of_html_is_also_json() {
    let text = "<!doctype html><p id=a class='b \"c\"'>x<br>\n&amp;<!-- m --></p>";
    let tree = plimsoll_body::html_json(text).expect("a tree");
    let paragraph = [
        r#"{"n":"p","a":["id","a","class","b \"c\""],"#,
        r#""c":["x",{"n":"br","a":[],"c":[]},"\u000a&",{"m":" m "}]}"#,
    ]
    .concat();
    let page = r#"{"n":"head","a":[],"c":[]},{"n":"body","a":[],"c":["#;
    assert_eq!(tree, format!(r#"[{{"n":"html","a":[],"c":[{page}{paragraph}]}}]}}]"#));
    let empty = plimsoll_body::html_json("").expect("a tree");
    assert_eq!(empty, r#"[{"n":"html","a":[],"c":[{"n":"head","a":[],"c":[]},{"n":"body","a":[],"c":[]}]}]"#);
    let why = plimsoll_body::html_json(&"<b>".repeat(9_000)).expect_err("it is too deep");
    assert_eq!(why, "the body nests elements deeper than 512 levels");
}
