//! Incidents with a known cause, because the test provokes it: the first cause that plimsoll reports must be the right
//! one, and no wrong cause may be reported as certain. For healthy services, it must report no cause.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;

mod cases;
mod servers;

use cases::{HEALTHY, INCIDENTS, Incident};
use support::alongside_first;

/// The causes that plimsoll reported for an incident.
struct Diagnosis {
    name: &'static str,
    expected: &'static str,
    causes: Vec<(String, String)>,
}

impl Diagnosis {
    fn of(incident: &Incident) -> Diagnosis {
        let said = incident.run();
        let text = |cause: &serde_json::Value, field: &str| cause[field].as_str().unwrap().to_owned();
        let causes = said["causes"].as_array().expect("the document has its causes");
        let causes = causes.iter().map(|cause| (text(cause, "code"), text(cause, "certainty"))).collect();
        Diagnosis { name: incident.name, expected: incident.expected, causes }
    }

    fn is_right(&self) -> bool {
        self.causes.first().is_some_and(|(code, _)| code == self.expected)
    }

    /// Stated as a fact, and not the cause.
    fn wrong_facts<'a>(&'a self, also: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
        let certain =
            self.causes.iter().filter(|(_, certainty)| certainty == "certain").map(|(code, _)| code.as_str());
        certain.filter(move |code| *code != self.expected && !also.contains(code))
    }

    fn row(&self, wrong: &[&str]) -> String {
        let (first, certainty) = match self.causes.first() {
            Some((code, certainty)) => (code.as_str(), certainty.as_str()),
            None => ("-", "-"),
        };
        let expected = if self.expected.is_empty() { "-" } else { self.expected };
        let right = if first == expected { "yes" } else { "**no**" };
        let wrong = if wrong.is_empty() { "-".into() } else { wrong.join(", ") };
        format!("| {} | {expected} | {first} | {certainty} | {right} | {wrong} |", self.name)
    }
}

/// Runs them one by one: the rows of a table, how many were right, and the wrong facts.
fn all<'a>(incidents: impl Iterator<Item = &'a Incident>) -> (Vec<String>, usize, Vec<String>) {
    let (mut rows, mut right, mut wrong) = (Vec::new(), 0, Vec::new());
    for incident in incidents {
        let said = Diagnosis::of(incident);
        let facts: Vec<&str> = said.wrong_facts(incident.also).collect();
        wrong.extend(facts.iter().map(|code| format!("{}: {code}", incident.name)));
        right += usize::from(said.is_right());
        rows.push(said.row(&facts));
        eprintln!("{}", rows.last().unwrap());
    }
    (rows, right, wrong)
}

/// Fourteen in every push; at night (`PLIMSOLL_NIGHTLY=1`) all, and `--nocapture` shows their table.
#[test]
fn known_incidents_are_named_and_no_wrong_cause_is_a_fact() {
    alongside_first(|| {
        let chosen: Vec<&Incident> =
            INCIDENTS.iter().filter(|incident| incident.is_quick || is_nightly()).collect();
        assert_eq!(chosen.len(), if is_nightly() { 43 } else { 14 });
        let (rows, right, wrong) = all(chosen.iter().copied());
        let table = rows.join("\n");
        println!("{HEAD}\n{table}\n\n{right} of {} right, {} wrong facts", rows.len(), wrong.len());
        assert!(wrong.is_empty(), "stated as facts: {wrong:?}\n{table}");
        // Nine of ten.
        assert!(right * 40 >= chosen.len() * 36, "{right} right:\n{table}");
    });
}

/// Four in every push, all at night.
#[test]
fn of_healthy_services_no_cause_is_said() {
    alongside_first(|| {
        let chosen = HEALTHY.iter().filter(|healthy| healthy.is_quick || is_nightly());
        let mut loud = Vec::new();
        for said in chosen.map(Diagnosis::of) {
            println!("{}", said.row(&[]));
            if !said.causes.is_empty() {
                loud.push(format!("{}: {:?}", said.name, said.causes));
            }
        }
        assert!(loud.is_empty(), "{loud:#?}");
    });
}

const HEAD: &str =
    "| incident | expected | said first | certainty | right | wrong facts |\n|---|---|---|---|---|---|";

fn is_nightly() -> bool {
    std::env::var_os("PLIMSOLL_NIGHTLY").is_some_and(|value| value == "1")
}
