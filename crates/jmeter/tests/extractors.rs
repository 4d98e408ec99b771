//! Values that extractors set.

use crate::simulator::{Answer, run, text};
use crate::xml::{element, get, group, plan};

/// Runs an extractor on a body, and returns a text with variables afterwards.
fn after(extractor: &str, body: &str, shown: &str) -> String {
    let below = get("A", "/", extractor) + &get("B", &format!("/{shown}"), "");
    let body = body.to_owned();
    let trace = run(&plan(&[], &group(1, 1, &below)), |_| Answer {
        head: "Content-Type: text/html\r\nX-Id: 77\r\n".into(),
        ..text(200, &body)
    });
    match trace.requests.get(1) {
        Some(_) => trace.paths()[1][1..].to_owned(),
        // A variable that is not set stays as it is, which no URL can have.
        None => "unset".to_owned(),
    }
}

fn regex(pattern: &str, template: &str, number: &str, default: &str, field: &str) -> String {
    let properties = [
        ("s", "RegexExtractor.useHeaders", field),
        ("s", "RegexExtractor.refname", "v"),
        ("s", "RegexExtractor.regex", pattern),
        ("s", "RegexExtractor.template", template),
        ("s", "RegexExtractor.default", default),
        ("s", "RegexExtractor.match_number", number),
    ];
    element("RegexExtractor", "v", &properties, "")
}

#[test]
fn a_regex_sets_groups_and_numbers() {
    let body = "id=1a id=2b id=3c";
    assert_eq!(
        after(&regex("id=(\\d)(\\w)", "$2$$1$", "2", "none", "false"), body, "${v}-${v_g}-${v_g0}-${v_g1}"),
        "b2-2-id=2b-2"
    );
    assert_eq!(
        after(&regex("id=(\\d)", "$1$", "-1", "", "false"), body, "${v_matchNr}-${v_1}-${v_3}-${v_2_g1}"),
        "3-1-3-2"
    );
    assert_eq!(after(&regex("id=(x)", "$1$", "1", "none", "false"), body, "${v}"), "none");
    assert_eq!(after(&regex("id=(x)", "$1$", "1", "", "false"), body, "${v}"), "unset");
    let random = after(&regex("id=(\\d)", "$1$", "", "none", "false"), body, "${v}");
    assert!(["1", "2", "3"].contains(&random.as_str()), "an empty number is a random one: {random}");
}

#[test]
fn a_regex_reads_headers_code_and_url() {
    assert_eq!(after(&regex("X-Id: (\\d+)", "$1$", "1", "none", "true"), "", "${v}"), "77");
    assert_eq!(after(&regex("(2..)", "$1$", "1", "none", "code"), "", "${v}"), "200");
    assert_eq!(after(&regex("http://([^/]*)/", "$1$", "1", "none", "URL"), "", "${v}"), "server.test");
}

fn json(paths: &str, names: &str, numbers: &str, defaults: &str) -> String {
    let properties = [
        ("s", "JSONPostProcessor.referenceNames", names),
        ("s", "JSONPostProcessor.jsonPathExprs", paths),
        ("s", "JSONPostProcessor.match_numbers", numbers),
        ("s", "JSONPostProcessor.defaultValues", defaults),
    ];
    element("JSONPostProcessor", "v", &properties, "")
}

#[test]
fn json_paths_set_several_variables() {
    let body = r#"{"a":[{"id":1},{"id":2}],"b":"x"}"#;
    assert_eq!(after(&json("$..id;$.b", "v;w", "2;1", "n;m"), body, "${v}-${w}-${v_matchNr}"), "2-x-2");
    assert_eq!(after(&json("$.a[*].id", "v", "-1", "n"), body, "${v_1}-${v_2}-${v_matchNr}"), "1-2-2");
    assert_eq!(after(&json("$.missing", "v", "1", "none"), body, "${v}-${v_matchNr}"), "none-0");
    assert_eq!(after(&json("$.b", "v", "1", "none"), "no json", "${v}"), "none");
}

#[test]
fn jmespath_css_xpath_and_boundaries_set_variables() {
    let jmes = element(
        "JMESPathExtractor",
        "v",
        &[
            ("s", "JMESExtractor.referenceName", "v"),
            ("s", "JMESExtractor.jmesPathExpr", "a[*].id"),
            ("s", "JMESExtractor.matchNumber", "2"),
            ("s", "JMESExtractor.defaultValue", "n"),
        ],
        "",
    );
    assert_eq!(after(&jmes, r#"{"a":[{"id":1},{"id":2}]}"#, "${v}-${v_matchNr}"), "2-2");
    let css = element(
        "HtmlExtractor",
        "v",
        &[
            ("s", "HtmlExtractor.refname", "v"),
            ("s", "HtmlExtractor.expr", "a.x"),
            ("s", "HtmlExtractor.attribute", "href"),
            ("s", "HtmlExtractor.default", "n"),
            ("s", "HtmlExtractor.match_number", "1"),
            ("s", "HtmlExtractor.extractor_impl", ""),
        ],
        "",
    );
    assert_eq!(after(&css, "<p><a class=x href='/to'>T</a></p>", "${v}"), "/to");
    let xpath = element(
        "XPathExtractor",
        "v",
        &[
            ("s", "XPathExtractor.default", "n"),
            ("s", "XPathExtractor.refname", "v"),
            ("s", "XPathExtractor.matchNumber", "-1"),
            ("s", "XPathExtractor.xpathQuery", "//b"),
            ("b", "XPathExtractor.validate", "false"),
            ("b", "XPathExtractor.tolerant", "true"),
            ("b", "XPathExtractor.namespace", "false"),
        ],
        "",
    );
    assert_eq!(after(&xpath, "<p><b>one</b><b>two</b></p>", "${v}-${v_2}-${v_matchNr}"), "one-two-2");
    let boundary = element(
        "BoundaryExtractor",
        "v",
        &[
            ("s", "BoundaryExtractor.useHeaders", "false"),
            ("s", "BoundaryExtractor.refname", "v"),
            ("s", "BoundaryExtractor.lboundary", "["),
            ("s", "BoundaryExtractor.rboundary", "]"),
            ("s", "BoundaryExtractor.default", "n"),
            ("s", "BoundaryExtractor.match_number", "2"),
        ],
        "",
    );
    assert_eq!(after(&boundary, "a[1]b[2]c", "${v}"), "2");
}

#[test]
fn a_json_path_of_a_plugin_sets_an_array_and_its_items() {
    let plugin = |path: &str| {
        let properties = [("s", "VAR", "v"), ("s", "JSONPATH", path), ("s", "DEFAULT", "none")];
        element(
            "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
            "v",
            &properties,
            "",
        )
    };
    let body = r#"{"one":"x","list":["a","b"],"items":[{"id":1},{"id":2}],"empty":[]}"#;
    assert_eq!(after(&plugin("$.one"), body, "${v}"), "x");
    assert_eq!(after(&plugin("$.one"), body, "${v_matchNr}"), "unset");
    assert_eq!(after(&plugin("$.list"), body, "${v_matchNr}-${v_1}-${v_2}"), "2-a-b");
    assert_eq!(after(&plugin("$.items[*].id"), body, "${v}-${v_matchNr}-${v_2}"), "[1,2]-2-2");
    assert_eq!(after(&plugin("$.empty"), body, "${v}-${v_matchNr}"), "none-0");
    assert_eq!(after(&plugin("$.other"), body, "${v}-${v_matchNr}"), "none-0");
}

#[test]
fn matches_replace_the_values_of_arguments_with_their_names() {
    let extractor = regex("(\\w)=(\\d)", "$1$", "-1", "", "false");
    let argument = |name: &str| {
        format!(
            "<elementProp name=\"{name}\" elementType=\"HTTPArgument\">\
             <stringProp name=\"Argument.name\">{name}</stringProp>\
             <stringProp name=\"Argument.value\">old</stringProp></elementProp>"
        )
    };
    let arguments = format!(
        "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">\
         <collectionProp name=\"Arguments.arguments\">{}{}</collectionProp></elementProp>",
        argument("a"),
        argument("z")
    );
    let request = |variable: &str| {
        let parameters = [
            ("s", "RegExUserParameters.regex_ref_name", variable),
            ("s", "RegExUserParameters.param_names_gr_nr", "1"),
            ("s", "RegExUserParameters.param_values_gr_nr", "2"),
        ];
        let properties = [
            ("s", "HTTPSampler.domain", "127.0.0.1"),
            ("s", "HTTPSampler.path", "/next"),
            ("s", "HTTPSampler.method", "GET"),
            ("x", "", &arguments),
        ];
        element("HTTPSamplerProxy", "B", &properties, &element("RegExUserParameters", "p", &parameters, ""))
    };
    let paths = |variable: &str| {
        let below = get("A", "/", &extractor) + &request(variable);
        let trace = run(&plan(&[], &group(1, 2, &below)), |request| match request.contains("next") {
            true => text(200, ""),
            false => text(200, "a=1 b=2"),
        });
        trace.paths().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(paths("v"), ["/", "/next?a=1&z=old", "/", "/next?a=1&z=old"]);
    assert_eq!(paths("w"), ["/", "/next?a=old&z=old", "/", "/next?a=old&z=old"]);
}
