//! The gate as JUnit XML, which every CI system can display: a suite for each comparison, a case for each rule.
//!
//! An inconclusive rule is an `error`, not a failure and not a pass: CI systems show it as broken, while `skipped`
//! would be green.

use super::xml::escape as xml;
use super::{long_word, overall};
use crate::junit::{Cases, Whole};
use plimsoll_experiment::compare::gate::{Gate, Passage, gate as judge};
use plimsoll_experiment::compare::{Comparison, cell_name, evidence};

/// Returns the XML. With rules, each metric follows as a passing case with its evidence; without rules, each metric has
/// a default rule already, unless the experiment has its own result.
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
        let name = format!("{} vs. {}{place}", c.b.name, c.a.name);
        let mut cases = String::new();
        for rule in &gated.rules {
            let (tag, said) = match rule.result {
                Passage::Pass => (None, "PASS"),
                Passage::Fail => (Some("failure"), "FAIL"),
                Passage::Inconclusive => (Some("error"), "INCONCLUSIVE"),
                Passage::NotCompared => (Some("skipped"), "NOT COMPARED"),
            };
            let body = match tag {
                // In the schema, `skipped` has no type.
                Some(tag @ "skipped") => format!("<{tag} message=\"{}\"/>", xml(&rule.evidence)),
                Some(tag) => {
                    format!("<{tag} type=\"{said}\" message=\"{}\"/>", xml(&rule.evidence))
                }
                None => format!("<system-out>{}</system-out>", xml(&rule.evidence)),
            };
            cases.push_str(&case(&name, &rule.text, &body));
        }
        // A result that comes from no rule has its own case.
        let is_open =
            whole.is_none() && gated.result == Passage::Inconclusive && count(Passage::Inconclusive) == 0;
        if is_open {
            let body = format!("<error type=\"INCONCLUSIVE\" message=\"{}\"/>", xml(&c.sentence));
            cases.push_str(&case(&name, "verdict", &body));
        }
        let told = if gate.allow.is_empty() && whole.is_none() { &[][..] } else { &c.figures };
        for row in told {
            let text = format!("{}; {}", long_word(c, row), evidence(row, c.confidence));
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
