//! The manual of scripts: what the steps, data and expressions of an experiment file become.
#![allow(clippy::unwrap_used)]

use plimsoll_front::{Given, own};
use plimsoll_plan::Draft;
use plimsoll_plan::answer::{Pick, Rule, Source, Subject};
use plimsoll_plan::data::{AtEnd, Format, Sharing};
use plimsoll_plan::link::{Reuse, Versions};
use plimsoll_plan::load::{Arrivals, Load};
use plimsoll_plan::script::{Ask, Delay, Entry, Node, Order, Script, Slot};
use plimsoll_plan::seal::{Machine, names::shown, seal};
use plimsoll_plan::value::{Escape, Function, Hole, Part, Text};
use std::path::Path;

const EVERYTHING: &str = include_str!("everything.yaml");

/// An environment of our own: `WHO` and `PASSWORD`, whatever this machine has.
fn given(set: &[(&str, &str)]) -> Given {
    Given {
        set: set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        env: Box::new(|name| match name {
            "WHO" => Some("world".into()),
            "PASSWORD" => Some("ses/ame".into()),
            "N" => Some("7".into()),
            _ => None,
        }),
    }
}

fn draft_with(text: &str, set: &[(&str, &str)]) -> Draft {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    match own::parse_with(text, "test.yaml", folder, &given(set)) {
        Ok(located) => located.draft,
        Err(all) => panic!("refused:\n{text}\n{all:#?}"),
    }
}

fn script(text: &str) -> Script {
    draft_with(text, &[]).script.expect("the text needs an interpreter")
}

/// A file whose one scenario holds `steps`, each line of which is indented as it stands.
fn steps(steps: &str) -> String {
    format!("target: http://h\nscenarios:\n  s:\n{steps}\n")
}

/// The only request of a scenario with one step.
fn one(step: &str) -> (Ask, Script) {
    let script = script(&steps(step));
    (script.asks[0].clone(), script)
}

fn show(text: &Text, script: &Script) -> String {
    shown(text, script)
}

fn escapes(text: &Text) -> Vec<Escape> {
    text.parts.iter().filter_map(|part| if let Part::Hole(_, how) = part { Some(*how) } else { None }).collect()
}

#[test]
fn what_needs_no_interpreter_stays_a_plain_sequence() {
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
        "{ once: [ { get: / } ] }",
    ];
    for step in scripted {
        let draft = draft_with(&format!("target: http://h\nscenarios: {{ a: [ {step} ] }}"), &[]);
        assert!(draft.script.is_some() && draft.requests.is_empty(), "{step}");
        assert_eq!(draft.entry, Some(Entry::Scenario(0)), "{step}");
    }
    for more in ["cookies: true", "load: { iterations: 5 }", "load: { loops: 5 }", "load: { arrivals: 100 over 2s }"] {
        let text = format!("target: http://h\nscenarios: {{ a: [ {{ get: / }} ] }}\n{more}");
        assert!(draft_with(&text, &[]).script.is_some(), "{more}");
    }
}

#[test]
fn a_file_with_nearly_every_key_becomes_a_plan() {
    let draft = draft_with(EVERYTHING, &[]);
    let script = draft.script.as_ref().unwrap();
    assert_eq!(script.scenarios.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["browse", "feed", "buy"]);
    assert_eq!(script.scenarios[0].pace, Some(Delay::Uniform { low_ns: 1_000_000_000, high_ns: 2_000_000_000 }));
    assert_eq!(script.groups, ["shop", "shop / inner"]);
    assert_eq!(script.globals, ["admin"]);
    assert!(script.cookies);
    assert_eq!(draft.entry, Some(Entry::Mix { ways: vec![(0, 3.0), (2, 1.0)], order: Order::Exact }));
    let lane = &draft.lanes[0];
    assert_eq!((lane.name.as_str(), lane.entry.clone(), lane.connections), ("feed", Entry::Scenario(1), Some(5)));
    assert_eq!((lane.start_ns, lane.duration_ns, lane.loops), (10_000_000_000, Some(20_000_000_000), Some(2)));
    assert_eq!((draft.iterations, draft.graceful_stop_ns), (Some(5000), Some(5_000_000_000)));
    let plan = seal(draft, Machine { cpus: 2, seed: 1 }).unwrap();
    assert_eq!(plan.outline.lanes.len(), 2);
    // 10 users from the first row and 5 from the second at 25 s, 5 of `feed` beside them.
    let Load::Closed { users } = &plan.outline.load else { panic!("{:?}", plan.outline.load) };
    assert_eq!(users.level_at(25_000_000_000), 20.0);
    assert_eq!(plan.outline.lanes[0].load.profile().level_at(5_000_000_000), 5.0);
}

#[test]
fn no_secret_leaves_the_script_but_on_the_wire() {
    let draft = draft_with(EVERYTHING, &[]);
    let script = draft.script.as_ref().unwrap();
    let debug = format!("{:?}", script);
    assert!(!debug.contains("ses/ame") && !debug.contains("ses%2Fame"), "{debug}");
    let revealed: Vec<&str> = script.secrets.iter().map(|secret| secret.reveal()).collect();
    // As it is, as the form sends it, and as `Basic` codes it (`me:ses/ame`).
    for shape in ["ses/ame", "ses%2Fame", "bWU6c2VzL2FtZQ=="] {
        assert!(revealed.contains(&shape), "{shape}: {revealed:?}");
    }
    let plan = seal(draft, Machine { cpus: 2, seed: 1 }).unwrap();
    let text = plimsoll_front::show(&plan);
    assert!(!text.contains("ame") || !text.contains("ses/ame"), "{text}");
    assert!(!text.contains("bWU6"), "{text}");
}

#[test]
fn values_are_escaped_for_where_they_stand() {
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
    assert_eq!((plain.connections, plain.duration_ns), (Some(3), Some(7_000_000_000)));
    assert_eq!(plain.name.as_deref(), Some("5"));
    assert_eq!(plain.requests[0].path, "/api-3/x%20y");
    assert_eq!(plain.requests[0].body.as_deref(), Some(&br#"{"a":"3","b":"${n}"}"#[..]));
    let set = draft_with(text, &[("n", "9"), ("n", "11"), ("base", "/b")]);
    assert_eq!((set.connections, set.requests[0].path.as_str()), (Some(11), "/b-11/x%20y"));
}

#[test]
fn names_become_numbers_and_each_place_of_a_counter_counts_for_itself() {
    let script = script(EVERYTHING);
    assert_eq!(script.feeders.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["users", "made", "rows"][..].iter().copied().filter(|n| script.feeders.iter().any(|f| f.name == *n)).collect::<Vec<_>>().iter().copied().collect::<Vec<_>>().as_slice().iter().copied().collect::<std::collections::BTreeSet<_>>().iter().copied().collect::<Vec<_>>());
}
