//! The gate as JUnit XML, the format that every CI system shows: a suite for each comparison, a case for each rule.
//!
//! A rule about which nobody can tell is an `error`, not a failure and not a pass: CI systems show it as broken, and
//! `skipped` would be green.

use super::xml::escape as xml;
use super::{long_word, overall};
use crate::junit::{Cases, Whole};
use plimsoll_experiment::compare::gate::{Gate, Passage, gate as judge};
use plimsoll_experiment::compare::{Comparison, cell_name, evidence};

/// See the module. Figures stand behind the rules as cases that pass, with their evidence; without rules the rules are
/// one for each figure already, unless the experiment has its own conclusion.
pub fn junit(comparisons: &[Comparison], gate: &Gate, whole: Option<&Whole>) -> String {
    let (mut suites, mut tests, mut failures, mut errors) = (String::new(), 0, 0, 0);
    if let Some(experiment) = whole.map(Cases::of_experiment) {
        suites = experiment.rendered();
        (tests, failures, errors) = (experiment.tests, experiment.failures, experiment.errors);
    }
    for c in comparisons {
        let mut gated = judge(c, gate);
        if whole.is_some() {
            gated.rules.clear();
        }
        let count = |passage: Passage| gated.rules.iter().filter(|rule| rule.result == passage).count();
        let place =
            if c.settings.is_empty() { String::new() } else { format!(" at {}", cell_name(&c.settings)) };
        let name = format!("{} against {}{place}", c.b.name, c.a.name);
        let mut cases = String::new();
        for rule in &gated.rules {
            let (tag, said) = match rule.result {
                Passage::Pass => (None, "PASS"),
                Passage::Fail => (Some("failure"), "FAIL"),
                Passage::Inconclusive => (Some("error"), "INCONCLUSIVE"),
                Passage::NotCompared => (Some("skipped"), "NOT COMPARED"),
            };
            let body = match tag {
                // Its schema knows no type of what was skipped.
                Some(tag @ "skipped") => format!("<{tag} message=\"{}\"/>", xml(&rule.evidence)),
                Some(tag) => {
                    format!("<{tag} type=\"{said}\" message=\"{}\"/>", xml(&rule.evidence))
                }
                None => format!("<system-out>{}</system-out>", xml(&rule.evidence)),
            };
            cases.push_str(&case(&name, &rule.text, &body));
        }
        // What is not the result of a rule is a case of its own.
        let is_open =
            whole.is_none() && gated.result == Passage::Inconclusive && count(Passage::Inconclusive) == 0;
        if is_open {
            let body = format!("<error type=\"INCONCLUSIVE\" message=\"{}\"/>", xml(&c.sentence));
            cases.push_str(&case(&name, "verdict", &body));
        }
        let told = if gate.allow.is_empty() && whole.is_none() { &[][..] } else { &c.figures };
        for row in told {
            let text = format!("{}: {}", long_word(row), evidence(row, c.confidence));
            cases.push_str(&case(&name, &row.figure, &format!("<system-out>{}</system-out>", xml(&text))));
        }
        let (all, failed, open) = (
            gated.rules.len() + usize::from(is_open) + told.len(),
            count(Passage::Fail),
            count(Passage::Inconclusive) + usize::from(is_open),
        );
        let skipped = count(Passage::NotCompared);
        let doubts: Vec<&str> = c.doubts.iter().map(|doubt| doubt.sentence.as_str()).collect();
        let said = std::iter::once(format!("{}: {}", overall(c.verdict), c.sentence));
        let said: Vec<String> = said.chain(doubts.into_iter().map(str::to_owned)).collect();
        suites.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{all}\" failures=\"{failed}\" errors=\"{open}\" \
             skipped=\"{skipped}\">\n\
             {cases}    <system-out>{}</system-out>\n  </testsuite>\n",
            xml(&name),
            xml(&said.join("; "))
        ));
        (tests, failures, errors) = (tests + all, failures + failed, errors + open);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll compare\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"{errors}\">\n{suites}</testsuites>\n"
    )
}

fn case(suite: &str, name: &str, body: &str) -> String {
    format!("    <testcase classname=\"{}\" name=\"{}\">{body}</testcase>\n", xml(suite), xml(name))
}
