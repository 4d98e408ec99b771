//! Details of samples that are easily mistaken. `cargo xtask jmeter` compares them with JMeter itself.

use crate::simulator::{Answer, Trace, run, text};
use crate::xml::{element, get, group, headers, plan, request, texts};

fn traced(below: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    run(&plan(&[], &group(1, 1, below)), server)
}

fn to(location: &str, status: u16) -> Answer {
    Answer { head: format!("Location: {location}\r\n"), ..text(status, "") }
}

#[test]
fn the_bytes_of_a_redirect_are_those_of_its_own_response() {
    let trace = traced(&get("A", "/a", ""), |request| match request {
        request if request.starts_with("GET /a") => to("/b", 302),
        request if request.starts_with("GET /b") => to("/c", 301),
        _ => text(200, "the end"),
    });
    let bytes: Vec<u64> =
        trace.lines[0].lines().map(|line| line.split(',').nth(9).unwrap().parse().unwrap()).collect();
    let [whole, parts @ ..] = bytes.as_slice() else { panic!("{bytes:?}") };
    assert_eq!((parts.len(), *whole), (3, parts.iter().sum()));
    assert_eq!(parts[0], "HTTP/1.1 302 OK\r\nLocation: /b\r\n\r\n".len() as u64);
}

#[test]
fn only_307_keeps_a_method_and_a_location_can_be_a_query() {
    let below = request("P", "POST", "/x/a", &[], "");
    let trace = traced(&below, |request| match request.contains(" /x/a ") {
        true => to("?q=1", 308),
        false => text(200, ""),
    });
    assert!(trace.requests[1].starts_with("GET /x/?q=1 "), "{}", trace.requests[1]);
    let trace = traced(&get("A", "/a", ""), |_| text(302, ""));
    assert!(
        trace.lines[0].contains("Missing location header in redirect for GET http://server.test/a HTTP/1.1")
    );
}

#[test]
fn a_cookie_of_the_manager_replaces_a_header_of_the_plan() {
    let cookies =
        element("CookieManager", "c", &[("x", "", "<collectionProp name=\"CookieManager.cookies\"/>")], "");
    let own = headers(&[("Cookie", "own=2")]);
    let trace = traced(&(cookies + &get("A", "/a", &own) + &get("B", "/b", &own)), |_| Answer {
        head: "Set-Cookie: a=1\r\n".into(),
        ..text(200, "")
    });
    assert!(trace.requests[0].contains("\r\nCookie: own=2\r\n"), "{}", trace.requests[0]);
    assert!(trace.requests[1].contains("\r\nCookie: a=1\r\n"), "{}", trace.requests[1]);
    assert!(!trace.requests[1].contains("own=2"), "{}", trace.requests[1]);
}

#[test]
fn a_seed_draws_the_numbers_of_java() {
    let properties = [
        ("s", "variableName", "r"),
        ("s", "minimumValue", "1"),
        ("s", "maximumValue", "1000"),
        ("s", "randomSeed", "7"),
        ("b", "perThread", "true"),
    ];
    let below = element("RandomVariableConfig", "r", &properties, "") + &get("A", "/${r}", "");
    let trace = run(&plan(&[], &group(1, 4, &below)), |_| text(200, ""));
    assert_eq!(trace.paths(), ["/237", "/165", "/486", "/45"]);
    let shared = below.replace("perThread\">true", "perThread\">false");
    let trace = run(&plan(&[], &group(1, 2, &shared)), |_| text(200, ""));
    assert_eq!(trace.paths(), ["/237", "/165"]);
}

#[test]
fn null_of_json_is_the_default_and_the_text_null_is_a_text() {
    let properties = [
        ("s", "JSONPostProcessor.referenceNames", "a;b"),
        ("s", "JSONPostProcessor.jsonPathExprs", "$.a;$.b"),
        ("s", "JSONPostProcessor.match_numbers", "1;1"),
        ("s", "JSONPostProcessor.defaultValues", "none;none"),
    ];
    let below =
        get("A", "/a", &element("JSONPostProcessor", "v", &properties, "")) + &get("B", "/${a}/${b}", "");
    let trace = traced(&below, |_| text(200, r#"{"a":null,"b":"null"}"#));
    assert_eq!(trace.paths()[1], "/none/null");
}

#[test]
fn assertions_of_sub_samples_fail_these_and_their_sample() {
    let patterns = texts("Asserion.test_strings", &["first"]);
    let properties = [
        ("x", "", patterns.as_str()),
        ("s", "Assertion.scope", "children"),
        ("s", "Assertion.test_field", "Assertion.response_data"),
        ("i", "Assertion.test_type", "16"),
    ];
    let below = get("A", "/a", &element("ResponseAssertion", "check", &properties, ""));
    let trace = traced(&below, |request| match request.starts_with("GET /a") {
        true => Answer { head: "Location: /b\r\n".into(), ..text(302, "first") },
        false => text(200, "second"),
    });
    let lines: Vec<&str> = trace.lines[0].lines().collect();
    assert!(lines[0].contains(",false,One or more sub-samples failed,"), "{}", lines[0]);
    assert!(lines[1].contains(",A-0,302,") && lines[1].contains(",true,,"), "{}", lines[1]);
    assert!(lines[2].contains(",false,Test failed: text expected to contain /first/,"), "{}", lines[2]);
}

#[test]
fn a_difference_is_shown_with_texts_of_equal_length() {
    let patterns = texts("Asserion.test_strings", &["some ending"]);
    let properties = [
        ("x", "", patterns.as_str()),
        ("s", "Assertion.test_field", "Assertion.response_data"),
        ("i", "Assertion.test_type", "8"),
    ];
    let trace = traced(&get("A", "/a", &element("ResponseAssertion", "c", &properties, "")), |_| {
        text(200, "some text")
    });
    assert!(trace.lines[0].contains("received  : some [[[text  ]]]"), "{}", trace.lines[0]);
    assert!(trace.lines[0].contains("comparison: some [[[ending]]]"), "{}", trace.lines[0]);
}

#[test]
fn only_images_sound_and_video_are_binary() {
    let types = ["image/png", "image/svg+xml", "audio/mpeg", "application/pdf", "application/octet-stream"];
    let below: String = types.iter().map(|kind| get(kind, &format!("/{kind}"), "")).collect();
    let trace = traced(&below, |request| {
        let kind = request.split(' ').nth(1).unwrap().trim_start_matches('/').to_owned();
        Answer { head: format!("Content-Type: {kind}\r\n"), ..text(200, "") }
    });
    assert_eq!(trace.column(6), ["bin", "text", "bin", "text", "text"]);
}

#[test]
fn forms_are_encoded_as_the_sampler_says() {
    let given = crate::xml::arguments(&[("x", "ü", true)]);
    let more = [("x", "", given.as_str()), ("s", "HTTPSampler.contentEncoding", "ISO-8859-1")];
    let trace = traced(&request("P", "POST", "/form", &more, ""), |_| text(200, ""));
    assert!(trace.requests[0].ends_with("\r\n\r\nx=%FC"), "{}", trace.requests[0]);
}

#[test]
fn a_cache_asks_whether_a_response_is_valid_and_sends_nothing_while_it_is_fresh() {
    let cache = |uses_expires: &str| {
        let properties = [("b", "clearEachIteration", "false"), ("b", "useExpires", uses_expires)];
        element("CacheManager", "c", &properties, "")
    };
    let server =
        |_: &str| Answer { head: "ETag: \"1\"\r\nCache-Control: max-age=9\r\n".into(), ..text(200, "") };
    let twice = |cache: String| run(&plan(&[], &group(1, 2, &(cache + &get("A", "/a", "")))), server);
    let trace = twice(cache("false"));
    assert!(!trace.requests[0].contains("If-None-Match"), "{}", trace.requests[0]);
    assert!(trace.requests[1].contains("\r\nIf-None-Match: \"1\"\r\n"), "{}", trace.requests[1]);
    let trace = twice(cache("true"));
    assert_eq!((trace.requests.len(), trace.lines.len()), (1, 1));
    let trace = twice(cache("true").replace("clearEachIteration\">false", "clearEachIteration\">true"));
    assert_eq!(trace.requests.len(), 2);
}
