//! Checks and extractions by XPath, CSS, JMESPath, boundaries, schemas, and snapshots; hashes, moments, and made-up
//! data: how they are compiled, and what is rejected.

use plimsoll_front::{Overrides, own};
use plimsoll_plan::Draft;
use plimsoll_plan::answer::{Dialect, Pick, Rule, Source, Subject};
use plimsoll_plan::script::{Ask, Script, Timing, TimingPart};
use plimsoll_plan::seal::names::describe;
use std::path::Path;

fn read(text: &str) -> Result<Draft, Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let env = |name: &str| (name == "KEY").then(|| "s3same".to_owned());
    let given = Overrides { set: Vec::new(), env: Box::new(env), keep_to: None, reflect: None };
    match own::parse_with(text, "test.yaml", folder, &given) {
        Ok(located) => Ok(located.draft),
        Err(all) => Err(all.into_iter().map(|d| format!("{}: {}; {}", d.code, d.message, d.hint)).collect()),
    }
}

/// A file whose one scenario has one request with these keys.
fn file(keys: &str) -> String {
    format!("target: http://h/v1\nvars: {{ base: abc }}\nscenarios: {{ s: [ {{ {keys} }} ] }}\n")
}

fn one(keys: &str) -> (Ask, Script) {
    match read(&file(keys)) {
        Ok(draft) => {
            let script = draft.script.expect("it needs an interpreter");
            (script.asks[0].clone(), script)
        }
        Err(all) => panic!("{keys}: {all:#?}"),
    }
}

#[test]
fn checks_and_extractions_name_their_places() {
    let (ask, _) = one(
        "get: /, check: { xpath: { \"//title\": Shop }, css: { \"a.next @href\": { exists: true } }, \
         jmespath: { \"length(items)\": { at_least: 1 } }, boundary: { left: \"id=\", right: \"\", value: \"7\" } }, \
         extract: { a: { xpath: \"//a/@href\", pick: last }, b: { css: li, attribute: data-id }, \
         c: { jmespath: \"items[].id\", pick: count }, d: { boundary: { left: \"<b>\", right: \"</b>\" } } }",
    );
    let names: Vec<&str> = ask.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(
        names,
        ["//title is Shop", "a.next @href exists", "length(items) >= 1", "text between id= and  is 7"]
    );
    let css =
        |selector: &str, name: &str| Source::Css { selector: selector.into(), attribute: Some(name.into()) };
    assert_eq!(ask.checks[1].on, Subject::Value { from: css("a.next", "href"), rule: Rule::Exists });
    let from: Vec<(Source, Pick)> = ask.extracts.iter().map(|one| (one.from.clone(), one.pick)).collect();
    assert_eq!(
        from,
        [
            (Source::XPath("//a/@href".into()), Pick::Last),
            (css("li", "data-id"), Pick::First),
            (Source::JmesPath("items[].id".into()), Pick::Count),
            (Source::Boundary { left: "<b>".into(), right: "</b>".into() }, Pick::First),
        ]
    );
}

#[test]
fn schemas_come_from_files_and_from_the_experiment_itself() {
    let (ask, _) = one("get: /, check: { schema: tests/files/user.schema.json }");
    let Subject::Schema(schema) = &ask.checks[0].on else { panic!("{:?}", ask.checks) };
    assert_eq!(
        (schema.text.as_str(), schema.dialect),
        (r#"{"required":["id"],"type":"object"}"#, Dialect::Own)
    );
    let (ask, _) = one("get: /, check: { schema: { type: array, items: { type: integer } } }");
    assert!(matches!(&ask.checks[0].on, Subject::Schema(_)));
    assert_eq!(ask.checks[0].name, "body fits the schema");
}

#[test]
fn an_openapi_document_is_resolved_by_path_method_and_status() {
    // The path below the target's `/v1`, which is also the path of the server in the document.
    let described = |keys: &str| {
        let (ask, _) = one(keys);
        let Subject::OpenApi(described) = ask.checks[0].on.clone() else { panic!("{:?}", ask.checks) };
        (ask.checks[0].name.clone(), *described)
    };
    let (name, all) =
        described("get: \"/users/${uuid}?x=1\", check: { openapi: tests/files/shop.openapi.yaml }");
    assert_eq!(name, "body fits tests/files/shop.openapi.yaml, GET /users/{id}");
    let statuses: Vec<(u16, u16)> = all.responses.iter().map(|one| one.statuses).collect();
    assert_eq!(statuses, [(200, 200), (400, 499), (100, 999)]);
    assert!(all.responses[2].schema.is_none());
    let schema = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft4)
        .build(&serde_json::from_str(&all.responses[0].schema.as_ref().expect("it has one").text).unwrap())
        .unwrap();
    let fits = |text: &str| schema.is_valid(&serde_json::from_str(text).unwrap());
    assert!(fits(r#"{"id": 1, "nick": null}"#), "null is allowed, and the password is only for requests");
    assert!(!fits(r#"{"id": 0}"#), "the minimum is exclusive");
    assert!(!fits(r#"{"nick": "a"}"#) && !fits(r#"{"id": 1, "nick": 2}"#));
    // A fixed segment fits better than a parameter.
    let (name, _) = described("get: /users/me, check: { openapi: tests/files/shop.openapi.yaml }");
    assert!(name.ends_with("GET /users/me"), "{name}");
    let (name, _) = described(
        "post: /graph, check: { openapi: { file: tests/files/shop.openapi.yaml, path: \"/users/{id}\", method: get } }",
    );
    assert!(name.ends_with("GET /users/{id}"), "{name}");
}

#[test]
fn a_header_snapshot_keeps_the_selected_headers() {
    let (ask, _) = one(
        "get: /, check: { header_snapshot: { file: tests/files/home.headers, headers: [content-type, Vary, Age] } }",
    );
    let values = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        ask.checks[0].on,
        Subject::HeaderSnapshot(vec![
            ("content-type".into(), values(&["text/html"])),
            ("Vary".into(), values(&["Accept", "Cookie"])),
            ("Age".into(), values(&[])),
        ])
    );
}

#[test]
fn functions_of_texts_take_names_texts_and_each_other() {
    let shown = |text: &str| {
        let (ask, script) = one(&format!("get: /, headers: {{ X: '{text}' }}"));
        describe(&ask.headers[0].1, &script)
    };
    assert_eq!(shown("${sha256(uuid)}"), "${sha256(\"${uuid}\")}");
    assert_eq!(shown("${sha256(\"a,(${user})${base}\", base64)}"), "${sha256(\"a,(${user})abc\", base64)}");
    assert_eq!(shown("${base64(base)}"), "${base64(\"abc\")}");
    assert_eq!(
        shown("${hmac_sha256(secret.KEY, request.body)}:${hex(md5(user, raw))}"),
        "${hmac_sha256(***, \"${request.body}\")}:${hex(\"${md5(\"${user}\", raw)}\")}"
    );
    assert_eq!(shown("${url(\"{\\\"a\\\": {}}\")}"), "${url(\"{\\\"a\\\": {}}\")}");
    assert_eq!(shown("${now + 3d} ${now(unix) - 90m}"), "${now(iso, +3d)} ${now(unix, -5400000ms)}");
    assert_eq!(shown("${now(%Y, %m, +1mo, Europe/Berlin)}"), "${now(%Y, %m, +1mo, Europe/Berlin)}");
    assert_eq!(shown("${fake.name} ${fake.city(de)}"), "${fake.name} ${fake.city(de)}");
}

#[test]
fn a_timing_may_name_a_request_that_comes_later() {
    let text = r#"
target: http://h
scenarios:
  s:
    - while: ${service_time(poll)} < 5
      max_iterations: 3
      steps: [ { get: /p, name: poll } ]
    - get: "/x?t=${ttfb(GET /y)}"
    - get: /y
"#;
    let script = read(text).expect("it is valid").script.expect("it needs an interpreter");
    assert_eq!(
        script.timings,
        [Timing { ask: 0, part: TimingPart::ServiceTime }, Timing { ask: 2, part: TimingPart::Ttfb },]
    );
}

#[test]
fn what_does_not_parse_is_rejected_with_its_place_and_a_fix() {
    let rows = [
        ("get: /, check: { xpath: { \"//a[\": x } }", "F028: invalid XPath `//a[`: "),
        (
            "get: /, check: { xpath: { \"foo(//a)\": x } }",
            "F028: invalid XPath `foo(//a)`: unknown function `foo`; use one of ",
        ),
        (
            "get: /, extract: { a: { xpath: \"$x\" } }",
            "F028: invalid XPath `$x`: it contains a variable; write the value",
        ),
        (
            "get: /, check: { css: { \"a:hover\": x } }",
            "F028: invalid CSS selector `a:hover`: unsupported pseudo-class `:hover`; use ",
        ),
        (
            "get: /, extract: { a: { css: \"a >\" } }",
            "F028: invalid CSS selector `a >`: incomplete selector; write ",
        ),
        ("get: /, check: { jmespath: { \"a[\": x } }", "F028: invalid JMESPath `a[`: "),
        (
            "get: /, check: { jmespath: { \"size(a)\": x } }",
            "F028: invalid JMESPath `size(a)`: unknown function `size`; use one of ",
        ),
        (
            "get: /, extract: { a: { jmespath: a, pick: first } }",
            "F017: `pick: first` does not apply to `jmespath`",
        ),
        ("get: /, extract: { a: { json: $.a, attribute: b } }", "F017: `attribute` does not apply to `json`"),
        ("get: /, extract: { a: { boundary: { left: a } } }", "F016: incomplete `boundary`: "),
        ("get: /, check: { schema: tests/files/bad.schema.json }", "F038: invalid JSON Schema at `/type`: "),
        ("get: /, check: { schema: { $ref: other.json } }", "F038: invalid JSON Schema"),
        (
            "get: /, check: { schema: { type: \"${uuid}\" } }",
            "F030: a schema must be known before the load starts",
        ),
        ("get: /, check: { schema: none.json }", "F015: no such file: "),
        (
            "get: /x/y, check: { openapi: tests/files/shop.openapi.yaml }",
            "F015: no path of `tests/files/shop.openapi.yaml` fits the request path `/v1/x/y`; name one: ",
        ),
        (
            "post: /users/me, check: { openapi: tests/files/shop.openapi.yaml }",
            "F015: `tests/files/shop.openapi.yaml` describes no `POST` for `/users/me`",
        ),
        (
            "get: /, check: { openapi: { file: tests/files/shop.openapi.yaml, path: /user } }",
            "F015: unknown path `/user` in `tests/files/shop.openapi.yaml`",
        ),
        (
            "get: /, check: { openapi: tests/files/user.schema.json }",
            "F015: `tests/files/user.schema.json` is not an OpenAPI document: it has no `openapi`",
        ),
        (
            "get: /, check: { header_snapshot: { file: tests/files/home.headers } }",
            "F016: incomplete `header_snapshot`: ",
        ),
        ("get: /, headers: { A: \"${sha256()}\" }", "F025: invalid `${sha256()}`: `sha256` requires a text"),
        (
            "get: /, headers: { A: \"${sha256(uuid, base32)}\" }",
            "F025: unknown form of a hash `base32`; use `hex`, ",
        ),
        (
            "get: /, headers: { A: \"${hmac_sha256(uuid)}\" }",
            "F025: invalid `${hmac_sha256(uuid)}`: wrong number of arguments",
        ),
        ("get: /, headers: { A: \"${sha256(tokn)}\" }", "F021: unknown variable `tokn`"),
        ("get: \"/${sha256(request.body)}\"", "F022: `${request.body}` belongs in a header of the request"),
        ("get: /, headers: { A: \"${request.size}\" }", "F021: unknown part of a request `size`"),
        (
            "get: \"/${service_time(logn)}\", name: login",
            "F021: unknown request `logn`; did you mean `service_time(login)`?",
        ),
        ("get: \"/${now + 3x}\"", "F025: invalid `${now + 3x}`: invalid time difference `+3x`"),
        (
            "get: \"/${now(Europe/Berln)}\"",
            "F025: invalid `${now(Europe/Berln)}`: unknown time zone `Europe/Berln`",
        ),
        (
            "get: \"/${fake.nam}\"",
            "F025: invalid `${fake.nam}`: unknown kind of made-up data `nam`; did you mean `fake.name`?",
        ),
        (
            "get: \"/${fake.name(fr)}\"",
            "F025: invalid `${fake.name(fr)}`: unknown locale `fr`; use `en` or `de`",
        ),
    ];
    for (keys, expected) in rows {
        let all = read(&file(keys)).expect_err(keys);
        assert!(all.len() == 1 && all[0].starts_with(expected), "{keys}\n{all:#?}");
    }
}
