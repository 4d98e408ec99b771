//! Scripts of experiment files: how their steps, data, and expressions are compiled.

use plimsoll_front::{Overrides, own};
use plimsoll_plan::Draft;
use plimsoll_plan::answer::{Pick, Rule, Source, Subject};
use plimsoll_plan::data::{AtEnd, Format, Sharing};
use plimsoll_plan::link::{Http, Reuse, Versions, Window};
use plimsoll_plan::load::{Arrivals, Load};
use plimsoll_plan::script::{Ask, Delay, Entry, Node, Order, Script, Slot};
use plimsoll_plan::seal::{Machine, names::describe, seal};
use plimsoll_plan::value::{Escape, Function, Part, Placeholder, Text};
use std::path::Path;

const EVERYTHING: &str = include_str!("everything.yaml");

/// A fixed environment: only `WHO` and `PASSWORD`, independent of the environment of this process.
fn overrides(set: &[(&str, &str)]) -> Overrides {
    Overrides {
        set: set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        env: Box::new(|name| match name {
            "WHO" => Some("world".into()),
            "PASSWORD" => Some("ses/ame".into()),
            "N" => Some("7".into()),
            _ => None,
        }),
        keep_to: None,
        reflect: None,
    }
}

fn draft_with(text: &str, set: &[(&str, &str)]) -> Draft {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    match own::parse_with(text, "test.yaml", folder, &overrides(set)) {
        Ok(located) => located.draft,
        Err(all) => panic!("refused:\n{text}\n{all:#?}"),
    }
}

fn script(text: &str) -> Script {
    draft_with(text, &[]).script.expect("the text needs an interpreter")
}

/// A file whose one scenario holds `steps`, with their indentation.
fn steps(steps: &str) -> String {
    format!("target: http://h\nscenarios:\n  s:\n{steps}\n")
}

/// The only request of a scenario with one step.
fn one(step: &str) -> (Ask, Script) {
    let script = script(&steps(step));
    (script.asks[0].clone(), script)
}

fn show(text: &Text, script: &Script) -> String {
    describe(text, script)
}

fn escapes(text: &Text) -> Vec<Escape> {
    text.parts
        .iter()
        .filter_map(|part| if let Part::Placeholder(_, how) = part { Some(*how) } else { None })
        .collect()
}

#[test]
fn a_file_that_needs_no_interpreter_stays_a_plain_sequence() {
    let plain = [
        "target: http://h\nscenarios: { a: [ { get: / }, { post: /x, json: { a: 1 } } ] }",
        "target: https://h\nconnection: { reuse: pool }\ntls: { insecure: true }\nscenarios: { a: [ { get: / } ] }",
        "target: http://h\nvars: { p: /x }\nscenarios: { a: [ { get: \"${p}\" } ] }",
        "target: http://h\nauth: { basic: { user: u, password: p } }\nscenarios: { a: [ { get: / } ] }",
        "target: http://h\nscenarios: { a: [ { get: /, query: { a: b } }, { post: /f, form: { a: b } } ] }",
    ];
    for text in plain {
        let draft = draft_with(text, &[]);
        assert!(draft.script.is_none() && !draft.requests.is_empty() && draft.entry.is_none(), "{text}");
    }
    let scripted = [
        "{ get: /, check: { status: 200 } }",
        "{ get: /, extract: { a: body } }",
        "{ get: /, timeout: 1s }",
        "{ get: /, redirects: 1 }",
        "{ get: /, tags: { a: b } }",
        "{ get: /, on_failure: stop }",
        "{ get: /, think: 1s }",
        "{ get: /, stream: true }",
        "{ get: \"/${uuid}\" }",
        "{ get: /, headers: { A: \"${secret.PASSWORD}\" } }",
        "{ once_per_user: [ { get: / } ] }",
    ];
    for step in scripted {
        let draft = draft_with(&format!("target: http://h\nscenarios: {{ a: [ {step} ] }}"), &[]);
        assert!(draft.script.is_some() && draft.requests.is_empty(), "{step}");
        assert_eq!(draft.entry, Some(Entry::Scenario(0)), "{step}");
    }
    let loads = ["iterations: 5", "iterations_per_user: 5", "total_arrivals: 100, duration: 2s"];
    for more in loads.map(|load| format!("load: {{ {load} }}")).iter().chain([&"cookies: true".into()]) {
        let text = format!("target: http://h\nscenarios: {{ a: [ {{ get: / }} ] }}\n{more}");
        assert!(draft_with(&text, &[]).script.is_some(), "{more}");
    }
}

#[test]
fn a_file_with_nearly_every_key_becomes_a_plan() {
    let draft = draft_with(EVERYTHING, &[]);
    let script = draft.script.as_ref().unwrap();
    assert_eq!(
        script.scenarios.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
        ["browse", "feed", "buy"]
    );
    assert_eq!(
        script.scenarios[0].pace,
        Some(Delay::Uniform { low_ns: 1_000_000_000, high_ns: 2_000_000_000 })
    );
    assert_eq!(script.groups, ["shop", "shop / inner"]);
    assert_eq!(script.globals, ["admin"]);
    assert!(script.cookies);
    assert_eq!(draft.entry, Some(Entry::Mix { ways: vec![(0, 3.0), (2, 1.0)], order: Order::Exact }));
    let workload = &draft.workloads[0];
    assert_eq!(
        (workload.name.as_str(), workload.entry.clone(), workload.load.users),
        ("feed", Entry::Scenario(1), Some(5))
    );
    assert_eq!(
        (workload.start_ns, workload.load.duration_ns, workload.load.iterations_per_user),
        (10_000_000_000, Some(20_000_000_000), Some(2))
    );
    assert_eq!((draft.load.iterations, draft.graceful_stop_ns), (Some(5000), Some(5_000_000_000)));
    let plan = seal(draft, Machine { cpus: 2, seed: 1 }).unwrap();
    assert_eq!(plan.outline.workloads.len(), 2);
    // At 25 s: 10 users from the first row, 5 from the second, and 5 of `feed`.
    let Load::Closed { users } = &plan.outline.load else { panic!("{:?}", plan.outline.load) };
    assert_eq!(users.level_at(25_000_000_000), 20.0);
    assert_eq!(plan.outline.workloads[0].load.profile().level_at(5_000_000_000), 5.0);
}

#[test]
fn secrets_appear_only_on_the_wire() {
    let draft = draft_with(EVERYTHING, &[]);
    let script = draft.script.as_ref().unwrap();
    let debug = format!("{:?}", script);
    assert!(!debug.contains("ses/ame") && !debug.contains("ses%2Fame"), "{debug}");
    let revealed: Vec<&str> = script.secrets.iter().map(|secret| secret.reveal()).collect();
    // Unchanged, as a form sends it, and as `Basic` encodes it (`me:ses/ame`).
    for shape in ["ses/ame", "ses%2Fame", "bWU6c2VzL2FtZQ=="] {
        assert!(revealed.contains(&shape), "{shape}: {revealed:?}");
    }
    let plan = seal(draft, Machine { cpus: 2, seed: 1 }).unwrap();
    let text = plimsoll_front::show(&plan);
    assert!(!text.contains("ses/ame") && !text.contains("ses%2Fame"), "{text}");
    assert!(!text.contains("bWU6"), "{text}");
}

#[test]
fn values_are_escaped_for_their_position() {
    let text = steps(
        "    - set: { v: x }\n    - post: /a ${v}/b?c=${v}\n      query: { q: \"${v} y\" }\n      \
         headers: { X: \"${v}\" }\n      form: { f: \"${v} z\" }\n",
    );
    let script = script(&text);
    let ask = &script.asks[0];
    assert_eq!(show(&ask.path, &script), "/a%20${v}/b?c=${v}&q=${v}%20y");
    assert_eq!(escapes(&ask.path), [Escape::Percent; 3]);
    assert_eq!(escapes(&ask.headers[0].1), [Escape::None]);
    let body = ask.body.as_ref().unwrap();
    assert_eq!((show(body, &script).as_str(), escapes(body)), ("f=${v}+z", vec![Escape::Form]));
    assert_eq!(ask.headers[1].0, "Content-Type");
    assert_eq!(ask.name, "POST /a%20${v}/b?c=${v}&q=${v}%20y");
}

#[test]
fn encoding_can_be_left_to_the_author() {
    let (ask, script) = one("    - { set: { v: /x/y } }\n    - { get: \"${v}\", encode: false }");
    assert_eq!((show(&ask.path, &script).as_str(), escapes(&ask.path)), ("${v}", vec![Escape::None]));
}

#[test]
fn json_quotes_texts_and_leaves_numbers_of_functions_alone() {
    let script = script(EVERYTHING);
    let login = script.asks.iter().find(|ask| ask.name == "login").unwrap();
    let body = login.body.as_ref().unwrap();
    assert_eq!(
        show(body, &script),
        "{\"email\":\"${users.email}\",\"number\":${counter},\"text\":\"${counter}\",\
         \"nested\":[\"a ${users.password} b\",1.50]}"
    );
    assert_eq!(escapes(body), [Escape::Json, Escape::None, Escape::Json, Escape::Json]);
}

#[test]
fn constants_come_from_the_file_the_command_line_and_the_environment() {
    let text = "target: http://h\nvars: { n: 3, base: /api, both: \"${base}-${n}\", e: \"${env.N}\", t: \"5\" }\n\
                load: { users: \"${n}\", duration: \"${e}s\" }\nname: \"${t}\"\n\
                scenarios: { s: [ { post: \"${both}/x y\", json: { a: \"${n}\", b: \"$${n}\" } } ] }";
    let plain = draft_with(text, &[]);
    assert_eq!((plain.load.users, plain.load.duration_ns), (Some(3), Some(7_000_000_000)));
    assert_eq!(plain.name.as_deref(), Some("5"));
    assert_eq!(plain.requests[0].path, "/api-3/x%20y");
    assert_eq!(plain.requests[0].body.as_deref(), Some(&br#"{"a":"3","b":"${n}"}"#[..]));
    let set = draft_with(text, &[("n", "9"), ("n", "11"), ("base", "/b")]);
    assert_eq!((set.load.users, set.requests[0].path.as_str()), (Some(11), "/b-11/x%20y"));
}

#[test]
fn quotes_around_a_constant_make_it_text_wherever_it_is_used() {
    let text = "target: http://h\nvars: { text: \"3\", number: 3 }\nscenarios:\n  s:\n    - post: /\n      \
                json:\n        a: ${text}\n        b: ${number}\n        c: \"${number}\"\n";
    let body = draft_with(text, &[]).requests.remove(0).body.unwrap();
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"a":"3","b":3,"c":"3"}"#);
}

#[test]
fn names_become_numbers_and_each_place_of_a_counter_counts_for_itself() {
    let script = script(EVERYTHING);
    let feeders: Vec<(&str, String)> =
        script.feeders.iter().map(|f| (f.name.as_str(), f.columns.join(","))).collect();
    let expected = [("users", "email,password,home town"), ("rows", "id,address.city"), ("made", "mail")];
    assert_eq!(feeders, expected.map(|(name, columns)| (name, columns.to_owned())));
    assert_eq!((script.feeders[0].share, script.feeders[0].at_end), (Sharing::Unique, AtEnd::Stop));
    assert_eq!(script.feeders[1].format, Format::JsonLines);
    assert!(script.feeders[2].made_by_setup && !script.feeders[0].made_by_setup);
    let Node::Repeat { times, nodes } = &script.setup[0] else { panic!("{:?}", script.setup[0]) };
    assert_eq!(times.fixed().as_deref(), Some(&b"100"[..]));
    let Node::Append { file, columns } = &nodes[0] else { panic!("{nodes:?}") };
    assert!(script.files[usize::from(*file)].path.ends_with("tests/files/made.csv"));
    assert_eq!(script.files[usize::from(*file)].columns, ["id", "mail"]);
    let counters: Vec<&Part> = columns.iter().flat_map(|text| &text.parts).collect();
    let expected = [(0, 100, 2), (1, 1, 1)];
    let found: Vec<(u16, i64, i64)> = counters
        .iter()
        .filter_map(|part| match part {
            Part::Placeholder(Placeholder::Call(Function::Counter { id, start, step }), _) => {
                Some((*id, *start, *step))
            }
            _ => None,
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn all_users_see_the_values_that_setup_extracts() {
    let script = script(EVERYTHING);
    let admin = &script.asks.iter().find(|ask| ask.name == "POST /base/admin/login").unwrap().extracts[0];
    assert_eq!((admin.into, admin.name.as_str()), (Slot::Global(0), "admin"));
    let [Node::Ask(id)] = script.teardown.as_slice() else { panic!("{:?}", script.teardown) };
    let bearer = &script.asks[*id as usize].headers.last().unwrap();
    assert_eq!((bearer.0.as_str(), show(&bearer.1, &script).as_str()), ("Authorization", "Bearer ${admin}"));
    assert!(matches!(bearer.1.parts[1], Part::Placeholder(Placeholder::Global(0), Escape::None)));
    assert!(script.asks.iter().filter(|ask| ask.scenario.is_none()).count() == 3);
}

#[test]
fn a_scenario_may_override_a_value_from_setup() {
    let text = "target: http://h\nsetup: [ { get: /t, extract: { t: body } } ]\nscenarios:\n  s:\n    \
                - get: /1?t=${t}\n    - get: /2\n      extract: { t: $.t }\n    - get: /3?t=${t}\n";
    let script = script(text);
    assert!(matches!(script.asks[1].path.parts[1], Part::Placeholder(Placeholder::Global(0), _)));
    assert!(matches!(script.asks[3].path.parts[1], Part::Placeholder(Placeholder::Var(0), _)));
}

#[test]
fn checks_have_names_and_a_status_decides_what_is_a_failure() {
    let script = script(EVERYTHING);
    let login = script.asks.iter().find(|ask| ask.name == "login").unwrap();
    let names: Vec<&str> = login.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "status is 201",
            "header Content-Type contains json",
            "$.token exists",
            "$.count is 5",
            "below 300ms"
        ]
    );
    assert_eq!(login.expect.as_ref().unwrap().0, [(201, 201)]);
    assert_eq!(login.checks[4].on, Subject::Duration { below_ns: 300_000_000 });
    assert!(
        matches!(&login.checks[3].on, Subject::Json { path, rule: Rule::Equals(_) } if path == "$.count")
    );
}

#[test]
fn every_form_of_a_check_and_of_a_rule_is_accepted() {
    let (ask, script) = one(
        "    - get: /x\n      check:\n        - { name: first, status: \"200,404\", length: 10..2k }\n        \
         - body: [ ok, { matches: '^a+$' }, { not_contains: no, not: b } ]\n        \
         - json: { $.a: ~, $.b: { in: [x, 2] }, $.c: { at_least: 1.5, less_than: 3 }, \
         $..d: { exists: false } }\n        \
         - hash: { md5: D41D8CD98F00B204E9800998ECF8427E }\n        - { length: 5 }",
    );
    let words: Vec<String> = ask.checks.iter().map(|check| check.name.clone()).collect();
    assert_eq!(
        words,
        [
            "first: status is 200,404",
            "first: length is 10..2048",
            "body contains ok",
            "body matches /^a+$/",
            "body does not contain no",
            "body is not b",
            "$.a is null",
            "$.b is one of x, 2",
            "$.c >= 1.5",
            "$.c < 3",
            "$..d is absent",
            "md5 of the body",
            "length is 5"
        ]
    );
    assert_eq!(ask.checks[1].on, Subject::Length { least_bytes: 10, most_bytes: 2048 });
    assert!(
        matches!(&ask.checks[11].on, Subject::Hash { hex, .. } if hex == "d41d8cd98f00b204e9800998ecf8427e")
    );
    assert!(script.vars.is_empty());
}

#[test]
fn extractions_name_their_source_their_selection_and_their_default() {
    let script = script(EVERYTHING);
    let login = script.asks.iter().find(|ask| ask.name == "login").unwrap();
    let from: Vec<&Source> = login.extracts.iter().map(|extract| &extract.from).collect();
    assert_eq!(from[0], &Source::Json("$.token".into()));
    assert_eq!(from[1], &Source::Cookie("sid".into()));
    assert_eq!(from[2], &Source::Header("Location".into()));
    assert_eq!(from[3], &Source::Regex { pattern: r"id=(\d+)".into(), group: 1 });
    assert_eq!(login.extracts[3].pick, Pick::Last);
    assert_eq!(login.extracts[3].default.as_ref().unwrap().fixed().as_deref(), Some(&b"none"[..]));
    let (ask, _) = one("    - { get: /, extract: { a: status, b: body, c: { regex: x, pick: count } } }");
    assert_eq!(ask.extracts[2].from, Source::Regex { pattern: "x".into(), group: 0 });
    assert_eq!((&ask.extracts[0].from, &ask.extracts[1].from), (&Source::Status, &Source::Body));
}

#[test]
fn steps_nest_as_they_are_written() {
    let script = script(EVERYTHING);
    let kinds: Vec<&str> = script.scenarios[0]
        .nodes
        .iter()
        .map(|node| match node {
            Node::Ask(_) => "ask",
            Node::Think(_) => "think",
            Node::Group { .. } => "group",
            Node::Repeat { .. } => "repeat",
            Node::While { .. } => "while",
            Node::If { .. } => "if",
            Node::Once(_) => "once",
            Node::Choose { .. } => "choose",
            Node::Set(_) => "set",
            Node::Append { .. } => "append",
            Node::Parallel(_) => "parallel",
            Node::Send { .. } => "send",
            Node::Expect { .. } => "expect",
            Node::Ping { .. } => "ping",
            Node::Close { .. } => "close",
            Node::SendMessage { .. } => "send_message",
            Node::Complete { .. } => "complete",
        })
        .collect();
    assert_eq!(
        kinds,
        ["once", "group", "repeat", "set", "while", "if", "choose", "parallel", "append", "ask", "ask"]
    );
    let nodes = &script.scenarios[0].nodes;
    let Node::Group { group: 0, nodes: inner } = &nodes[1] else { panic!("{:?}", nodes[1]) };
    // The pause of the first request follows it.
    assert!(matches!(inner[..], [Node::Ask(_), Node::Think(_), Node::Ask(_), Node::Group { group: 1, .. }]));
    let Node::Repeat { times, .. } = &nodes[2] else { panic!() };
    assert_eq!(times.fixed().as_deref(), Some(&b"3"[..]));
    let Node::While { condition, most: 20, .. } = &nodes[4] else { panic!() };
    assert_eq!(show(&condition.left, &script), "${state}");
    assert!(matches!(&condition.rule, Rule::Differs(text) if text.fixed().as_deref() == Some(b"done")));
    let Node::If { condition, then, otherwise } = &nodes[5] else { panic!() };
    assert_eq!((&condition.rule, then.len(), otherwise.len()), (&Rule::Below(5.0), 1, 1));
    let Node::Choose { ways, order: Order::Exact } = &nodes[6] else { panic!() };
    assert_eq!(ways.iter().map(|(weight, _)| *weight).collect::<Vec<_>>(), [2.0, 1.0]);
    let item = script.asks.iter().find(|ask| ask.tags == [("kind".to_owned(), "item".to_owned())]).unwrap();
    assert_eq!((item.redirects, item.timeout_ns, item.go_on_after_failure), (0, Some(2_000_000_000), true));
    assert_eq!(item.group, Some(0));
    assert_eq!(script.asks.iter().filter(|ask| ask.redirects == 5).count(), script.asks.len() - 1);
    assert!(script.asks.iter().any(|ask| ask.method == "PROPFIND"));
}

#[test]
fn conditions_compare_in_every_way() {
    for (text, rule) in [
        ("${x} == 5", "Equals"),
        ("${x} == \\\"a b\\\"", "Equals"),
        ("${x}!=5", "Differs"),
        ("${x} <= 5", "AtMost(5.0)"),
        ("${x} >= -1.5", "AtLeast(-1.5)"),
        ("${x}>3", "Above(3.0)"),
        ("${x} contains a == b", "Contains"),
        ("${x} lacks b", "Lacks"),
        ("${x} matches /a b/", "Matches(\"a b\")"),
        ("${x} exists", "Exists"),
        ("${x} absent", "Absent"),
        ("${x} in [a, 'b c']", "OneOf"),
        ("${x}-${x} == ${x}", "Equals"),
    ] {
        let script = script(&steps(&format!(
            "    - {{ set: {{ x: a }} }}\n    - {{ if: \"{text}\", then: [ {{ get: / }} ] }}"
        )));
        let Node::If { condition, .. } = &script.scenarios[0].nodes[1] else { panic!() };
        assert!(format!("{:?}", condition.rule).starts_with(rule), "{text}: {:?}", condition.rule);
    }
}

#[test]
fn a_condition_may_test_whether_a_value_exists_before_a_step_sets_it() {
    let text = "    - if: ${token} absent\n      then: [ { post: /login, extract: { token: $.t } } ]\n    \
                - get: /me?t=${token}";
    assert_eq!(script(&steps(text)).vars, ["token"]);
    let text = "    - if: ${token} exists\n      then: [ { get: \"/me?t=${token}\" } ]\n      \
                else: [ { post: /login, extract: { token: $.t } } ]";
    assert_eq!(script(&steps(text)).asks.len(), 2);
    // The end of one round sets the value that the beginning of the next uses.
    let round =
        "    - repeat: 3\n      steps:\n        - get: /p?c=${cursor}\n          extract: { cursor: $.next }";
    assert_eq!(script(&steps(round)).vars, ["cursor"]);
}

#[test]
fn multipart_boundaries_occur_in_no_part() {
    let script = script(EVERYTHING);
    let upload = script.asks.iter().find(|ask| ask.path.describe().contains("upload")).unwrap();
    let media_type = upload.headers.iter().find(|(name, _)| name == "Content-Type").unwrap().1.describe();
    let boundary = media_type.strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    let body = show(upload.body.as_ref().unwrap(), &script);
    let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
    assert_eq!((parts.len(), parts[4]), (5, "--\r\n"));
    assert_eq!(parts[1], "\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello ${made.mail}\r\n");
    assert!(parts[2].starts_with(
        "\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n["
    ));
    assert!(
        parts[3].ends_with("Content-Type: application/json\r\n\r\n{\"id\": \"${admin}\"}\r\n"),
        "{}",
        parts[3]
    );
    let taken = format!("    - {{ post: /, on_failure: stop, multipart: {{ a: \"{boundary}\" }} }}");
    let (ask, _) = one(&taken);
    assert!(!ask.headers[0].1.describe().ends_with(&boundary));
}

#[test]
fn streams_define_their_end_and_their_expected_events() {
    let script = script(EVERYTHING);
    let stream = script.asks.iter().find_map(|ask| ask.stream.as_deref()).unwrap();
    assert_eq!((stream.for_ns, stream.events, stream.reconnects), (Some(60_000_000_000), Some(100), 3));
    assert!(matches!(stream.beside[..], [Node::Ask(_)]));
    let (ask, _) = one("    - { get: /feed, stream: true }");
    assert!(ask.stream.is_some());
}

#[test]
fn connections_and_certificates_are_parsed() {
    let draft = draft_with(EVERYTHING, &[]);
    let link = &draft.link;
    assert_eq!((link.reuse, link.requests_per_connection, link.http), (Reuse::Pool, Some(100), Http::V11));
    assert_eq!(link.source_addresses.len(), 3);
    assert_eq!(link.resolve, [("127.0.0.1".to_owned(), "127.0.0.2".parse().unwrap())]);
    let tls = link.tls.as_ref().unwrap();
    assert_eq!((tls.versions, tls.server_name.as_str(), tls.resume), (Versions::Tls13, "127.0.0.1", true));
    assert!(draft.tls_files.ca[0].starts_with(b"-----BEGIN"));
    assert!(draft.tls_files.clients.len() == 1);
}

fn load(text: &str) -> Draft {
    draft_with(&format!("target: http://h\nscenarios: {{ a: [ {{ get: / }} ] }}\nload: {text}"), &[])
}

#[test]
fn load_has_many_shapes() {
    let over = load("{ total_arrivals: 10000, duration: 20s }");
    assert_eq!((over.load.rate_per_s, over.load.iterations), (Some(500.0), Some(10_000)));
    assert_eq!(over.load.duration_ns, Some(20_000_000_000));

    let (spike, open) =
        load("{ spike: { base: 50/s, peak: 500/s, at: 30s, rise: 2s, hold: 10s, duration: 2m } }")
            .load
            .stages
            .unwrap();
    assert!(open && spike.total_ns() == 120_000_000_000);
    let at = |s: f64| spike.level_at((s * 1e9) as u64);
    assert_eq!(
        [at(0.0), at(29.9), at(31.0), at(35.0), at(43.0), at(60.0)],
        [50.0, 50.0, 275.0, 500.0, 275.0, 50.0]
    );

    let (ladder, open) = load("{ staircase: { from: 10, by: 10, hold: 15s, to: 35 } }").load.stages.unwrap();
    assert!(!open && ladder.total_ns() == 60_000_000_000);
    let at = |s: u64| ladder.level_at(s * 1_000_000_000);
    assert_eq!([at(0), at(14), at(15), at(30), at(44), at(59)], [10.0, 10.0, 20.0, 30.0, 30.0, 35.0]);
    let (grown, _) = load("{ staircase: { from: 10/s, by: x2, hold: 1s, to: 80/s } }").load.stages.unwrap();
    assert_eq!((grown.peak(), grown.total_ns()), (80.0, 4_000_000_000));

    let (rows, _) =
        load("{ schedule: [ { users: 10, start: 5s, ramp_up: 10s, hold: 30s, ramp_down: 5s } ] }")
            .load
            .stages
            .unwrap();
    let at = |s: u64| rows.level_at(s * 1_000_000_000);
    assert_eq!([at(4), at(10), at(20), at(44), at(50)], [0.0, 5.0, 10.0, 10.0, 0.0]);
}

#[test]
fn arrivals_can_replay_a_recording() {
    let instants =
        load("{ replay: { file: tests/files/instants.txt, unit: ms, speed: 2 } }").load.recorded.unwrap();
    assert_eq!(instants[..], [0, 75_000_000, 200_000_000]);
    let gaps = load("{ replay: { file: tests/files/gaps.txt, format: intervals } }").load.recorded.unwrap();
    assert_eq!(gaps[..], [10_000_000, 30_000_000, 35_000_000]);
    let plan = seal(
        load("{ replay: { file: tests/files/gaps.txt, format: intervals } }"),
        Machine { cpus: 1, seed: 1 },
    )
    .unwrap();
    assert!(matches!(plan.outline.load, Load::Open { arrivals: Arrivals::Recorded, .. }));
}

#[test]
fn thresholds_may_be_written_in_pieces() {
    let text = "target: http://h\nscenarios: { a: [ { get: / } ] }\nthresholds:\n  \
                - { threshold: error_rate < 1%, over: 10s, abort_after: 20s }\n";
    let threshold = &draft_with(text, &[]).thresholds[0];
    assert_eq!(threshold.text, "error_rate < 1% over 10s abort after 20s");
    assert_eq!((threshold.over_ns, threshold.abort_after_ns), (Some(10_000_000_000), Some(20_000_000_000)));
}

#[test]
fn a_correct_content_length_is_left_to_the_engine() {
    let (ask, _) = one("    - { post: /, body: abc, headers: { Content-Length: 3 }, timeout: 1s }");
    assert!(ask.headers.is_empty());
}

#[test]
fn an_experiment_may_name_the_columns() {
    let text = "target: http://h\ndata: { u: { file: tests/files/head-only.csv, delimiter: \";\", columns: [x, y] } }\n\
                scenarios: { s: [ { get: \"/${u.y}\" } ] }";
    let feeder = &script(text).feeders[0];
    assert_eq!(feeder.format, Format::Csv { delimiter: b';', header: Some(vec!["x".into(), "y".into()]) });
    assert_eq!(feeder.columns, ["y"]);
}

#[test]
fn users_that_share_http2_connections_are_read() {
    let link = |connection: &str| {
        let text =
            format!("target: http://h\nscenarios: {{ s: [ {{ get: / }} ] }}\nconnection: {connection}\n");
        draft_with(&text, &[]).link
    };
    let shared = link("{ http: 2, streams: 10, window: browser }");
    assert_eq!((shared.http, shared.streams, shared.window), (Http::V2, 10, Window::Browser));
    assert_eq!(link("{ window: 64k }").window, Window::Bytes(65_536));
    let default = link("{ http: auto }");
    assert_eq!((default.http, default.streams, default.window), (Http::Auto, 1, Window::Large));
}

#[test]
fn a_schema_may_have_any_path_and_only_its_own() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |folder: &Path, proto: &str| {
        let text = format!(
            "target: http://h\ngrpc: {{ protos: {proto} }}\nscenarios: {{ s: [ {{ grpc: shop.v1.Shop/GetItem }} ] }}\n"
        );
        own::parts(&text, "f", folder, &overrides(&[]), &[]).map(|_| ())
    };
    let absolute = here.join("tests/files/shop.proto").display().to_string();
    let files = here.join("tests/files");
    for (folder, proto) in [
        // A bare name of a file has no folder.
        (Path::new(""), absolute.as_str()),
        (Path::new(""), "tests/../tests/files/shop.proto"),
        (here, "./tests/files/shop.proto"),
        (&files, "../files/shop.proto"),
        (&files, absolute.as_str()),
    ] {
        if let Err(all) = read(folder, proto) {
            panic!("{} from {}: {all:#?}", proto, folder.display());
        }
    }
    // Imports would find the other file.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hidden-schema");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("shop.proto"), "syntax = \"proto3\";").unwrap();
    let all = read(&folder, &absolute).expect_err("the name is not its own");
    let sentence = format!("{all:?}");
    assert!(sentence.contains("is hidden by"), "{sentence}");
}
