//! Experiment files: what they can contain, and the error for each mistake.

use plimsoll_front::{Located, locate, own};
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key;
use plimsoll_plan::load::{Arrivals, Share};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Diagnostic, Draft};
use std::path::Path;

const SHORTEST: &str = "target: http://127.0.0.1:8080\nscenarios: { browse: [ { get: /pick } ] }\n";

fn parse(text: &str) -> Result<Located, Vec<Diagnostic>> {
    own::parse(text, "test.yaml", Path::new(env!("CARGO_MANIFEST_DIR")))
}

fn good(text: &str) -> Draft {
    match parse(text) {
        Ok(located) => located.draft,
        Err(all) => panic!("refused:\n{text}\n{}", format_all(&all)),
    }
}

/// `line:column: message`, and the hint, if any, on its own line.
fn format_all(all: &[Diagnostic]) -> String {
    let lines = all.iter().map(|d| {
        let place = match &d.place {
            Place::Text { line, column, .. } => format!("{line}:{column}"),
            place => format!("{place:?}"),
        };
        let hint = if d.hint.is_empty() { String::new() } else { format!("\n    {}", d.hint) };
        format!("{place}: {}{hint}", d.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The first lines of [`SHORTEST`], so that `more` begins in line 3.
fn with(more: &str) -> String {
    format!("{SHORTEST}{more}")
}

/// An experiment whose one scenario holds the requests `items`, in line 2 from column 17 on.
fn requests(items: &str) -> String {
    format!("target: http://h:1\nscenarios: {{ a: [{items}] }}\n")
}

#[test]
fn the_shortest_experiment_is_two_lines() {
    let draft = good(SHORTEST);
    assert_eq!(draft.target.unwrap().authority(), "127.0.0.1:8080");
    assert_eq!((draft.requests[0].method.as_str(), draft.requests[0].path.as_str()), ("GET", "/pick"));
    assert_eq!(draft.requests[0].name, "GET /pick");
}

#[test]
fn a_file_can_set_everything_that_a_flag_can_set() {
    let draft = good(
        "name: everything\n\
         target: http://127.0.0.1:8080\n\
         scenarios: { browse: [ { get: / } ] }\n\
         load: { users: 100, duration: 15s, requests: 1000 }\n\
         thresholds: [ \"response_time p99 < 250ms\", error_rate < 0.1% ]\n\
         timeout: 3s\nwarmup: 5s\nkeep_alive: false\nread_bodies: true\nworkers: 2\nseed: 7\nshard: 1/2\n\
         buckets: [100ms, 1s]\nlimits: { head_bytes: 32k, connect_timeout_ns: 3s }\n",
    );
    assert_eq!(draft.name.as_deref(), Some("everything"));
    assert_eq!(
        (draft.load.users, draft.load.duration_ns, draft.load.requests_total),
        (Some(100), Some(15_000_000_000), Some(1000))
    );
    assert_eq!(draft.thresholds.len(), 2);
    assert_eq!((draft.timeout_ns, draft.warmup_ns), (Some(3_000_000_000), Some(5_000_000_000)));
    assert_eq!((draft.keep_alive, draft.read_bodies), (Some(false), Some(true)));
    assert_eq!((draft.workers, draft.seed, draft.shard), (Some(2), Some(7), Some(Share { part: 1, of: 2 })));
    assert_eq!(draft.buckets_ns, Some(vec![100_000_000, 1_000_000_000]));
    assert_eq!((draft.limits.head_bytes, draft.limits.connect_timeout_ns), (32_768, 3_000_000_000));
}

#[test]
fn the_open_model_has_a_rate_a_spread_and_a_cap_on_connections() {
    let draft = good(&with("load: { rate: 6000/m, arrivals: poisson, max_connections: 500 }"));
    assert_eq!((draft.load.rate_per_s, draft.load.max_connections), (Some(100.0), Some(500)));
    assert_eq!(draft.load.arrivals, Some(Arrivals::Poisson));
    assert_eq!(good(&with("load: { rate: 100 }")).load.rate_per_s, Some(100.0));
}

#[test]
fn stages_are_text_a_list_of_texts_or_a_list_of_mappings() {
    let forms = [
        "load: { stages: \"10s:100/s,0s:50/s\" }",
        "load: { stages: [ 10s:100/s, 0s:50/s ] }",
        "load:\n  stages:\n    - { duration: 10s, rate: 100/s }\n    - { duration: 0s, rate: 50 }\n",
    ];
    for form in forms {
        let (profile, open) = good(&with(form)).load.stages.unwrap();
        assert!(open, "{form}");
        assert_eq!(profile.total_ns(), 10_000_000_000, "{form}");
        assert_eq!((profile.peak(), profile.stages[1].to), (100.0, 50.0), "{form}");
    }
    assert!(!good(&with("load: { stages: [ { users: 3, duration: 1s } ] }")).load.stages.unwrap().1);
}

#[test]
fn paths_are_joined_to_the_path_of_the_target() {
    for (target, path, joined) in [
        ("http://h", "/a", "/a"),
        ("http://h/", "a", "/a"),
        ("http://h/api", "/a?x=1", "/api/a?x=1"),
        ("http://h/api/", "a#part", "/api/a"),
        ("http://h/api/", "?x=1", "/api?x=1"),
        ("http://h", "?x=1", "/?x=1"),
        ("http://h:80/api", "http://h/b", "/b"),
        ("http://h", "/go?to=http://other/", "/go?to=http://other/"),
    ] {
        let draft = good(&format!("target: {target}\nscenarios: {{ s: [ {{ get: \"{path}\" }} ] }}"));
        assert_eq!(draft.requests[0].path, joined, "{target} and {path}");
    }
}

#[test]
fn without_a_target_whole_urls_name_it() {
    let draft = good("scenarios: { s: [ { get: http://h:8/x/y }, { get: /b } ] }");
    assert_eq!(draft.target.unwrap().authority(), "h:8");
    assert_eq!(draft.requests[1].path, "/b");
}

#[test]
fn each_method_has_its_key() {
    for method in own::key::METHODS {
        let draft = good(&requests(&format!("{{ {method}: /x }}")));
        assert_eq!(draft.requests[0].method, method.to_uppercase());
    }
}

#[test]
fn json_bodies_are_compact_and_bring_their_content_type() {
    for (written, sent) in [
        (
            "{ email: \"a\\\"b\\n\\x01\", n: 1.50, t: true, z: ~, e: , f: no }",
            r#"{"email":"a\"b\n\u0001","n":1.50,"t":true,"z":null,"e":null,"f":"no"}"#,
        ),
        ("[ -1e3, \"5\", {}, [], 'it''s', 0 ]", r#"[-1e3,"5",{},[],"it's",0]"#),
        ("{\"id\": 7, \"deep\": [{\"a\": null}]}", r#"{"id":7,"deep":[{"a":null}]}"#),
        ("plain", "\"plain\""),
    ] {
        let request = good(&requests(&format!("{{ post: /x, json: {written} }}"))).requests.remove(0);
        assert_eq!(String::from_utf8(request.body.unwrap()).unwrap(), sent);
        assert_eq!(request.headers, [("Content-Type".to_owned(), "application/json".to_owned())]);
    }
    let own_type = "{ post: /x, json: {}, headers: { content-type: application/vnd.api+json } }";
    assert_eq!(good(&requests(own_type)).requests[0].headers.len(), 1);
}

#[test]
fn bodies_come_as_text_or_from_a_file_next_to_the_experiment() {
    let text =
        "target: http://h\nscenarios:\n  s:\n    - put: /x\n      body: |\n        hello\n        you\n";
    assert_eq!(good(text).requests[0].body.as_deref(), Some(&b"hello\nyou\n"[..]));
    let file = good(&requests("{ put: /x, body_file: Cargo.toml }")).requests.remove(0);
    assert!(file.body.unwrap().starts_with(b"[package]"));
}

#[test]
fn a_requests_header_replaces_the_files_and_a_list_sends_several() {
    let draft = good(
        "target: http://u:p@h\nheaders: { Accept: text/html, X-N: 5 }\n\
         scenarios:\n  s:\n    - { get: /, headers: { accept: '*/*', X-L: [a, b] } }\n    \
         - { get: /b, headers: { Authorization: none } }\n",
    );
    let pairs = |i: usize| -> Vec<String> {
        draft.requests[i].headers.iter().map(|(n, v)| format!("{n}: {v}")).collect()
    };
    assert_eq!(pairs(0), ["X-N: 5", "accept: */*", "X-L: a", "X-L: b", "Authorization: Basic dTpw"]);
    assert_eq!(pairs(1), ["Accept: text/html", "X-N: 5", "Authorization: none"]);
}

#[test]
fn aliases_repeat_a_value() {
    let draft = good("target: http://h\nheaders: &h { A: b }\nscenarios: { s: [ { get: /, headers: *h } ] }");
    assert_eq!(draft.requests[0].headers, [("A".to_owned(), "b".to_owned())]);
}

#[test]
fn equal_requests_are_counted_and_names_hide_secrets() {
    let draft = good(&requests("{ get: /a?token=x }, { get: /a?token=y }"));
    let names: Vec<&str> = draft.requests.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["GET /a?token=***", "GET /a?token=*** (2)"]);
}

#[test]
fn byte_order_marks_and_windows_line_endings_are_accepted() {
    assert!(parse(&format!("\u{feff}{}", SHORTEST.replace('\n', "\r\n"))).is_ok());
    let wrong = parse(&format!("\u{feff}{}", SHORTEST.replace("{ get", "{ gte"))).unwrap_err();
    assert!(format_all(&wrong).starts_with("2:26: "), "{wrong:?}");
}

/// `mistakes.txt` holds a text and, after `-----`, the complete output for it.
#[test]
fn every_mistake_has_its_place_and_a_fix() {
    let mut failures = Vec::new();
    for case in include_str!("mistakes.txt").split("=====\n") {
        let (text, expected) = case.split_once("-----\n").unwrap();
        let found = parse(text).map_or_else(|all| format_all(&all), |_| "accepted".to_owned());
        if found != expected.trim_end() {
            failures.push(format!("{text}-----\n{found}\n=====\n"));
        }
    }
    assert!(failures.is_empty(), "found instead:\n{}", failures.concat());
}

#[test]
fn all_mistakes_are_reported_at_once_in_the_order_of_the_text() {
    let wrong = parse(
        "name: 5\ntarget: ftp://h\nscenarios: { s: [ { gte: / }, { post: /, json: { a: 01 } } ] }\n\
         load: { users: many }\ntimeout: 3\nheaders: { A: }\n",
    )
    .unwrap_err();
    let lines: Vec<u32> = wrong
        .iter()
        .map(|d| match d.place {
            Place::Text { line, .. } => line,
            _ => 0,
        })
        .collect();
    assert_eq!(lines, [1, 2, 3, 3, 4, 5, 6]);
}

#[test]
fn a_missing_body_file_names_the_path_that_was_tried() {
    let wrong = parse(&requests("{ put: /x, body_file: no/such.json }")).unwrap_err();
    assert!(wrong[0].message.ends_with("no/such.json`"), "{wrong:?}");
    assert!(wrong[0].message.starts_with("no such file"), "{wrong:?}");
}

#[test]
fn excerpts_show_the_line_without_control_characters() {
    let wrong = parse("name: 5 # \u{1b}[31m\n").unwrap_err();
    let Place::Text { file, excerpt, .. } = &wrong[0].place else { panic!("{wrong:?}") };
    assert_eq!((file.as_str(), excerpt.as_str()), ("test.yaml", "name: 5 #  [31m"));
}

#[test]
fn a_plan_that_sealing_rejects_is_reported_at_its_place_in_the_file() {
    let located = parse(&with("load: { users: 0, duration: 5s }\nwarmup: 5s\n")).unwrap();
    let places = located.places.clone();
    let refused = seal(located.draft, Machine { cpus: 1, seed: 1 }).unwrap_err();
    let mut places_found: Vec<(u32, u32)> = locate(refused, &places)
        .iter()
        .map(|d| match d.place {
            Place::Text { line, column, .. } => (line, column),
            _ => panic!("{d:?}"),
        })
        .collect();
    places_found.sort_unstable();
    assert_eq!(places_found, [(3, 16), (4, 9)]);
}

#[test]
fn a_field_that_the_file_does_not_give_stays_a_field() {
    let located = parse(SHORTEST).unwrap();
    let from_a_flag = Diagnostic::field("P004", key::DURATION, "m", "h");
    assert_eq!(located.locate(vec![from_a_flag.clone()]), [from_a_flag]);
    assert!(matches!(located.places.get(&key::TARGET), Some(Place::Text { line: 1, column: 9, .. })));
}

#[test]
fn nested_aliases_and_endless_depth_are_rejected_quickly() {
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..30 {
        let before = i - 1;
        laughs
            .push_str(&format!("a{i}: &a{i} [*a{before}, *a{before}, *a{before}, *a{before}, *a{before}]\n"));
    }
    let wrong = parse(&laughs).unwrap_err();
    assert!(wrong[0].message.contains("including aliases"), "{wrong:?}");
    for deep in ["[".repeat(100_000), "- ".repeat(10_000), "{a: ".repeat(200)] {
        assert_eq!(parse(&deep).unwrap_err()[0].code, "F010");
    }
}
