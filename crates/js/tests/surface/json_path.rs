//! `Response.json()` with a path, and a response as JSON.

use super::lines::lines_with;
use super::run::json;

const BODY: &str = r#"{"name": {"first": "Tom", "last": "Anderson"}, "age": 37, "a.b": 1, "none": null,
    "children": ["Sara", "Alex", "Jack"],
    "friends": [{"first": "Dale", "age": 44, "nets": ["ig", "fb"]}, {"first": "Roger", "age": 68, "nets": ["fb"]},
                {"first": "Jane", "age": 47, "nets": ["ig", "tw"]}]}"#;

/// Returns the result of each path as JSON.
fn get(paths: &[&str]) -> Vec<String> {
    let list = serde_json::to_string(paths).expect("JSON");
    let body = format!(
        "const r = m0.default.get('http://127.0.0.1:8080/'); \
         for (const path of {list}) {{ try {{ console.log(JSON.stringify(r.json(path)) ?? 'undefined') }} \
         catch (e) {{ console.log(e.message) }} }}"
    );
    lines_with(&["k6/http"], &body, |_| json(200, BODY))
}

#[test]
fn reads_names_numbers_and_patterns() {
    let found = get(&[
        "name.last",
        "age",
        "children.1",
        "children|@reverse|0",
        "child*.2",
        "c?ildren.0",
        r"a\.b",
        "none",
    ]);
    assert_eq!(found, ["\"Anderson\"", "37", "\"Alex\"", "\"Jack\"", "\"Jack\"", "\"Sara\"", "1", "null"]);
    assert_eq!(get(&["missing", "age.x", "children.7", "children.x"]), ["undefined"; 4]);
}

#[test]
fn reads_every_element_and_those_of_a_query() {
    let found =
        get(&["children.#", "friends.#.first", "friends.#.nets.0", "friends.#.none", "friends.#.age|0"]);
    assert_eq!(found, ["3", r#"["Dale","Roger","Jane"]"#, r#"["ig","fb","ig"]"#, "[]", "44"]);
    let found = get(&[
        r#"friends.#(first=="Roger").age"#,
        "friends.#(age>45)#.first",
        r#"friends.#(first%"D*").first"#,
        r#"friends.#(first!%"D*")#.first"#,
        r#"friends.#(nets.#(=="fb"))#.first"#,
        r#"children.#(!="Sara")#"#,
        "friends.#(age>99)",
    ]);
    let all = ["68", r#"["Roger","Jane"]"#, "\"Dale\"", r#"["Roger","Jane"]"#, r#"["Dale","Roger"]"#];
    assert_eq!(found[..5], all);
    assert_eq!(found[5..], [r#"["Alex","Jack"]"#, "undefined"]);
}

#[test]
fn refuses_parts_of_paths_by_name() {
    let found = get(&["@group", "{name,age}", "friends.#(age==~true)", "friends.#(age>1"]);
    assert!(found[0].contains("`@group`: this modifier is not supported"), "{found:?}");
    assert!(found[1].contains("a path of several values is not supported"), "{found:?}");
    assert!(found[2].contains("the comparison `~` is not supported"), "{found:?}");
    assert!(found[3].contains("unclosed `(`"), "{found:?}");
}

#[test]
fn parses_a_body_once_and_shows_its_fields_as_json() {
    let body = "const r = m0.default.get('http://127.0.0.1:8080/x'); \
                console.log(r.json() === r.json(), r.json('name') === r.json('name')); \
                const o = JSON.parse(JSON.stringify(r)); console.log(o.status, o.url, o.request.method, \
                o.body.length)";
    let found = lines_with(&["k6/http"], body, |_| json(200, BODY));
    assert_eq!(found, ["true false".into(), format!("200 http://127.0.0.1:8080/x GET {}", BODY.len())]);
}

#[test]
fn rejects_a_body_that_is_not_json() {
    let body = "const r = m0.default.get('http://127.0.0.1:8080/x'); console.log(r.json('a')); \
                try { r.json() } catch (e) { console.log(e.name) }";
    assert_eq!(lines_with(&["k6/http"], body, |_| json(200, "<html>")), ["undefined", "SyntaxError"]);
}
