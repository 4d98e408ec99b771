//! Assertions, and scripts that judge samples.

use crate::simulator::{Answer, refusals, run, text};
use crate::xml::{element, get, group, plan, texts};

fn response(field: &str, kind: &str, patterns: &[&str]) -> String {
    let patterns = texts("Asserion.test_strings", patterns);
    let properties = [
        ("x", "", patterns.as_str()),
        ("s", "Assertion.custom_message", ""),
        ("s", "Assertion.test_field", field),
        ("b", "Assertion.assume_success", "false"),
        ("i", "Assertion.test_type", kind),
    ];
    element("ResponseAssertion", "check", &properties, "")
}

/// Returns whether a sample passes, and its failure message.
fn judged(below: &str, status: u16, body: &str) -> (bool, String) {
    let trace = run(&plan(&[], &group(1, 1, &get("A", "/", below))), |_| text(status, body));
    let fields: Vec<&str> = trace.lines[0].splitn(9, ',').collect();
    let rest = fields[8];
    let message = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\",").unwrap().0.replace("\"\"", "\""),
        None => rest.split(',').next().unwrap().to_owned(),
    };
    (fields[7] == "true", message)
}

#[test]
fn patterns_are_contained_matched_or_equal() {
    let body = "Assertion.response_data";
    assert!(judged(&response(body, "2", &["h.llo"]), 200, "say hello").0);
    assert!(judged(&response(body, "16", &["hello"]), 200, "say hello").0);
    assert!(!judged(&response(body, "1", &["hello"]), 200, "say hello").0);
    assert!(judged(&response(body, "1", &["say .*"]), 200, "say hello").0);
    assert!(judged(&response(body, "8", &["say hello"]), 200, "say hello").0);
    assert!(!judged(&response(body, "6", &["hello"]), 200, "say hello").0, "not");
    assert!(judged(&response(body, "34", &["missing", "hello"]), 200, "say hello").0, "or");
    assert!(!judged(&response(body, "2", &["missing", "hello"]), 200, "say hello").0);
}

#[test]
fn messages_are_those_of_jmeter() {
    let (passed, message) = judged(&response("Assertion.response_data", "16", &["x"]), 200, "hello");
    assert_eq!((passed, message.as_str()), (false, "Test failed: text expected to contain /x/"));
    let (_, message) = judged(&response("Assertion.response_code", "8", &["201"]), 200, "hello");
    assert!(message.starts_with("Test failed: code expected to equal /"), "{message}");
    let (_, message) = judged(&response("Assertion.response_data", "2", &["x"]), 200, "");
    assert_eq!(message, "Response was null");
}

#[test]
fn a_code_can_be_expected_in_spite_of_its_status() {
    let check = response("Assertion.response_code", "8", &["404"])
        .replace("assume_success\">false", "assume_success\">true");
    assert!(judged(&check, 404, "gone").0);
}

#[test]
fn size_duration_json_xpath_and_md5_are_checked() {
    let size = |bytes: &str| {
        let properties = [
            ("s", "Assertion.test_field", "SizeAssertion.response_data"),
            ("s", "SizeAssertion.size", bytes),
            ("i", "SizeAssertion.operator", "1"),
        ];
        element("SizeAssertion", "size", &properties, "")
    };
    assert!(judged(&size("5"), 200, "hello").0);
    assert!(!judged(&size("6"), 200, "hello").0);
    let duration =
        |ms: &str| element("DurationAssertion", "time", &[("s", "DurationAssertion.duration", ms)], "");
    assert!(judged(&duration("10"), 200, "").0);
    let (passed, message) = judged(&duration("9"), 200, "");
    assert!(!passed && message.starts_with("The operation lasted too long: It took 10 milliseconds"));
    let json = |value: &str| {
        let properties = [
            ("s", "JSON_PATH", "$.a.b"),
            ("s", "EXPECTED_VALUE", value),
            ("b", "JSONVALIDATION", "true"),
            ("b", "EXPECT_NULL", "false"),
            ("b", "INVERT", "false"),
            ("b", "ISREGEX", "false"),
        ];
        element("JSONPathAssertion", "json", &properties, "")
    };
    assert!(judged(&json("7"), 200, r#"{"a":{"b":7}}"#).0);
    let (passed, message) = judged(&json("8"), 200, r#"{"a":{"b":7}}"#);
    assert_eq!(
        (passed, message.as_str()),
        (false, "Value in json path '$.a.b' expected to be '8', but found '7'")
    );
    let md5 = element(
        "MD5HexAssertion",
        "md5",
        &[("s", "MD5HexAssertion.size", "5d41402abc4b2a76b9719d911017c592")],
        "",
    );
    assert!(judged(&md5, 200, "hello").0);
    assert!(!judged(&md5, 200, "other").0);
}

#[test]
fn a_failed_assertion_is_a_failed_check() {
    let check = response("Assertion.response_data", "16", &["x"]);
    let trace = run(&plan(&[], &group(2, 1, &get("A", "/", &check))), |_| text(200, "hello"));
    assert_eq!(trace.checks["check"], (2, 2));
}

#[test]
fn scripts_judge_and_set_variables() {
    let groovy = |class: &str, code: &str| {
        element(
            class,
            "script",
            &[
                ("s", "scriptLanguage", "groovy"),
                ("s", "script", code),
                ("s", "parameters", ""),
                ("s", "filename", ""),
            ],
            "",
        )
    };
    let code = "def n = vars.get('n').toInteger() + 1\nvars.put('n', n.toString())\n\
                if (prev.getResponseCode() != '200') { vars.put('n', 'bad') }";
    let below = get("A", "/a${n}", &groovy("JSR223PostProcessor", code)) + &get("B", "/b${n}", "");
    let trace = run(&plan(&[("n", "1")], &group(1, 1, &below)), |_| text(200, "x"));
    assert_eq!(trace.paths(), ["/a1", "/b2"]);
    let assertion = groovy(
        "JSR223Assertion",
        "if (prev.getResponseDataAsString().contains('x')) {\n\
         AssertionResult.setFailure(true)\n\
         AssertionResult.setFailureMessage('has x')\n}",
    );
    assert_eq!(judged(&assertion, 200, "x"), (false, "has x".to_owned()));
}

#[test]
fn a_bean_shell_appends_variables_to_a_file() {
    let folder = crate::simulator::Folder::new(&[]);
    let file = folder.0.join("out.csv");
    let code = format!(
        "String a = vars.get(\"a\");\nf = new FileWriter(\"{}\", true);\n\
         f.write(a + \",\" + vars.get(\"b\") + \"\\n\");\nf.close();",
        file.display()
    );
    let post = element(
        "BeanShellPostProcessor",
        "append",
        &[
            ("s", "script", &code),
            ("s", "parameters", ""),
            ("s", "filename", ""),
            ("b", "resetInterpreter", "false"),
        ],
        "",
    );
    let trace = crate::simulator::run_in(
        &folder,
        &plan(&[("a", "1"), ("b", "two")], &group(1, 3, &get("A", "/", &post))),
        &[],
        |_| text(200, ""),
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "1,two\n1,two\n1,two\n", "{:?}", trace.log);
}

#[test]
fn groovy_appends_a_whole_sum_to_a_file() {
    let folder = crate::simulator::Folder::new(&[]);
    let file = folder.0.join("out.txt");
    let code = format!(
        "def f = new File('{}')\nf << vars.get('a') + '\\n'\nf.append('b' + System.getProperty('line.separator'))\n\
         f << 'c' + System.lineSeparator()",
        file.display()
    );
    let post = element(
        "JSR223PostProcessor",
        "append",
        &[
            ("s", "scriptLanguage", "groovy"),
            ("s", "script", &code),
            ("s", "parameters", ""),
            ("s", "filename", ""),
        ],
        "",
    );
    let trace = crate::simulator::run_in(
        &folder,
        &plan(&[("a", "1")], &group(1, 1, &get("A", "/", &post))),
        &[],
        |_| text(200, ""),
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "1\nb\nc\n", "{:?}", trace.log);
}

#[test]
fn what_needs_an_engine_is_refused_with_its_line() {
    let script = element(
        "JSR223PostProcessor",
        "script",
        &[
            ("s", "scriptLanguage", "groovy"),
            ("s", "script", "def a = 1\nfor (i in 1..3) { a += i }"),
            ("s", "parameters", ""),
            ("s", "filename", ""),
        ],
        "",
    );
    let found = refusals(&plan(&[], &group(1, 1, &get("A", "/", &script))));
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("line 2 of the script uses `for`"), "{}", found[0].message);
}

#[test]
fn lookaround_is_refused_before_the_load() {
    let check = response("Assertion.response_data", "2", &["a(?=b)"]);
    let found = refusals(&plan(&[], &group(1, 1, &get("A", "/", &check))));
    assert!(found[0].message.contains("requires backtracking"), "{found:?}");
}

#[test]
fn scripts_of_samplers_are_samples() {
    let sampler = element(
        "JSR223Sampler",
        "made",
        &[
            ("s", "scriptLanguage", "groovy"),
            ("s", "script", "SampleResult.setResponseCode('201')\nreturn 'made ' + (2 * 3)"),
            ("s", "parameters", ""),
            ("s", "filename", ""),
        ],
        "",
    );
    let trace = run(&plan(&[], &group(1, 1, &sampler)), |_| Answer { ms: 0, ..text(200, "") });
    assert_eq!(trace.labels(), ["made"]);
    assert_eq!(trace.column(3), ["201"]);
    assert!(trace.requests.is_empty());
}
