//! Which agents a load uses, and what is said if there are not enough.

use plimsoll_cluster::message::{Beat, Identity, PROTOCOL, Stage};
use plimsoll_cluster::roster::{Roster, Selection};
use plimsoll_cluster::subject;
use std::collections::BTreeMap;

fn beat(name: &str, region: &str) -> Beat {
    Beat {
        identity: Identity {
            name: name.into(),
            instance: format!("{name}-{region}"),
            protocol: PROTOCOL,
            version: "1.0".into(),
            host: format!("host-{name}"),
            cpus: 2,
            open_files: 1024,
            labels: BTreeMap::from([("region".to_owned(), region.to_owned())]),
            turn: 0,
        },
        number: 1,
        run: None,
        stage: Stage::Free,
        clock: None,
        begin_ns: None,
        has_ended_test: false,
        steered: 0,
        backlog: 0,
        refusal: None,
    }
}

fn roster(beats: &[Beat]) -> Roster {
    let mut roster = Roster::default();
    beats.iter().for_each(|beat| roster.take(beat.clone()));
    roster
}

fn chosen(roster: &Roster, text: &str) -> Result<Vec<String>, String> {
    let selection = Selection::parse(text).map_err(|problem| problem.message)?;
    let beats = roster.choose(&selection, "1.0").map_err(|problem| problem.message)?;
    Ok(beats.into_iter().map(|beat| beat.identity.name).collect())
}

#[test]
fn agents_are_selected_by_number_name_and_label() {
    let roster = roster(&[beat("c", "us"), beat("a", "eu"), beat("b", "eu")]);
    assert_eq!(chosen(&roster, "2").unwrap(), ["a", "b"]);
    assert_eq!(chosen(&roster, "c,a").unwrap(), ["a", "c"]);
    assert_eq!(chosen(&roster, "region=eu").unwrap(), ["a", "b"]);
}

#[test]
fn too_few_agents_are_named() {
    let mut busy = beat("b", "eu");
    busy.run = Some("7f".into());
    let roster = roster(&[beat("a", "eu"), busy]);
    assert_eq!(chosen(&roster, "2").unwrap_err(), "only 1 of 2 agents are free; `b` works for run 7f");
    assert_eq!(chosen(&roster, "a,x,y").unwrap_err(), "missing agents: `x`, `y`");
    assert_eq!(chosen(&roster, "b").unwrap_err(), "agent `b` works for run 7f");
    assert_eq!(chosen(&roster, "region=us").unwrap_err(), "no agent has the label `region=us`");
    assert_eq!(chosen(&Roster::default(), "3").unwrap_err(), "found 0 of the 3 agents");
}

#[test]
fn a_name_twice_and_another_version_are_refused() {
    let mut twin = beat("a", "us");
    twin.identity.host = "elsewhere".into();
    let twins = roster(&[beat("a", "eu"), twin]);
    assert_eq!(chosen(&twins, "2").unwrap_err(), "two agents have the name `a`, on `host-a` and `elsewhere`");
    let mut old = beat("b", "eu");
    old.identity.version = "0.9".into();
    let mixed = roster(&[beat("a", "eu"), old]);
    let refused = "agent `b` has version 0.9, and this program 1.0";
    assert_eq!(chosen(&mixed, "2").unwrap_err(), refused);
    assert_eq!(chosen(&mixed, "b").unwrap_err(), refused);
    assert_eq!(chosen(&mixed, "1").unwrap(), ["a"], "one of this version is enough");
}

#[test]
fn selections_are_read_or_refused() {
    for (text, least) in [("4", 4), ("local:3", 3), ("a,b", 2), ("region=eu", 1), ("eu-1", 1)] {
        assert_eq!(Selection::parse(text).unwrap().min_agents(), least, "{text}");
    }
    for text in ["", "0", "local:", "local:0", "local:x", "a,,b", "a,a", "=eu", "region=", "a b", "a.b"] {
        assert!(Selection::parse(text).is_err(), "{text}");
    }
}

#[test]
fn the_page_about_agents_lists_every_permission() {
    let page = std::fs::read_to_string("../../docs/reference/agents.md").unwrap();
    for permissions in [subject::permissions_of_agent("eu-1"), subject::permissions_of_coordinator()] {
        for name in permissions.publish.iter().chain(&permissions.subscribe) {
            let uses =
                page.matches(&format!("`{name}`")).count() + page.matches(&format!("\"{name}\"")).count();
            assert!(uses >= 2, "docs/reference/agents.md does not list `{name}`");
        }
    }
}

#[test]
fn no_agent_hears_or_publishes_what_belongs_to_another() {
    let permissions = subject::permissions_of_agent("a");
    let covers = |pattern: &str, name: &str| {
        let (mut pattern, mut name) = (pattern.split('.'), name.split('.'));
        loop {
            match (pattern.next(), name.next()) {
                (Some(">"), Some(_)) | (None, None) => return true,
                (Some(part), Some(own)) if part == "*" || part == own => {}
                _ => return false,
            }
        }
    };
    let may = |list: &[String], name: &str| list.iter().any(|pattern| covers(pattern, name));
    for own in [subject::beat("a"), subject::envelopes("a", "r"), subject::clock("r"), subject::files("r")] {
        assert!(may(&permissions.publish, &own), "{own}");
    }
    for other in
        [subject::beat("b"), subject::envelopes("b", "r"), subject::orders("a"), subject::ROLL_CALL.into()]
    {
        assert!(!may(&permissions.publish, &other), "{other}");
    }
    assert!(may(&permissions.subscribe, &subject::orders("a")));
    for other in
        [subject::orders("b"), subject::envelopes("b", "r"), subject::clock("r"), "_INBOX_b.x".to_owned()]
    {
        assert!(!may(&permissions.subscribe, &other), "{other}");
    }
}
