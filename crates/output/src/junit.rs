//! The thresholds of runs as JUnit XML, the format that every CI system shows: a suite for each run, a case for each
//! threshold.
//!
//! A verdict that no threshold explains is a case of its own. If it is not a miss it is an `error`, neither a failure
//! nor a pass: CI systems show it as broken, and `skipped` would be green.

use crate::compare::xml::escape;
use plimsoll_record::phrase::figure;
use plimsoll_record::summary::{Judged, Outcome, Standing, Summary};

/// A run under its name.
pub struct Suite<'a> {
    pub name: &'a str,
    pub summary: &'a Summary,
}

/// How an experiment ended, where none of its runs says so: one that could not run, or an expectation that does not
/// hold.
pub struct Whole<'a> {
    /// Something was missed; otherwise nothing is proved.
    pub is_missed: bool,
    pub sentence: &'a str,
}

/// See the module.
pub fn document(suites: &[Suite], whole: Option<&Whole>) -> String {
    let (mut text, mut tests, mut failures, mut errors) = (String::new(), 0, 0, 0);
    if let Some(whole) = whole {
        let name = "experiment";
        let mut cases = Cases { suite: name, text: String::new(), tests: 0, failures: 0, errors: 0 };
        let kind = if whole.is_missed { Kind::Failed } else { Kind::Undecided };
        cases.add("end", kind, whole.sentence);
        (tests, failures, errors) = (cases.tests, cases.failures, cases.errors);
        text.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n{}  \
             </testsuite>\n",
            cases.text
        ));
    }
    for Suite { name, summary } in suites {
        let mut cases = Cases { suite: name, text: String::new(), tests: 0, failures: 0, errors: 0 };
        for judged in &summary.thresholds {
            let kind = match judged.standing {
                Standing::Met => Kind::Passed,
                Standing::Missed => Kind::Failed,
                Standing::Undecided => Kind::Undecided,
            };
            cases.add(&judged.text, kind, &observed(judged));
        }
        let verdict = &summary.verdict;
        match verdict.result {
            Outcome::Pass => {}
            Outcome::Fail if cases.failures > 0 => {}
            Outcome::Fail => cases.add("verdict", Kind::Failed, &verdict.sentence),
            _ => cases.add("verdict", Kind::Undecided, &verdict.sentence),
        }
        text.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">\n{}    \
             <system-out>{}</system-out>\n  </testsuite>\n",
            escape(name),
            cases.tests,
            cases.failures,
            cases.errors,
            summary.totals.measured_s,
            cases.text,
            escape(&verdict.sentence)
        ));
        tests += cases.tests;
        failures += cases.failures;
        errors += cases.errors;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll run\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"{errors}\">\n{text}</testsuites>\n"
    )
}

fn observed(judged: &Judged) -> String {
    match judged.observed {
        Some(value) => {
            let bound = if judged.at_least { ">= " } else { "" };
            format!("{} is {bound}{}", judged.what, figure(value, judged.unit))
        }
        None => format!("{} has no sample", judged.what),
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Passed,
    Failed,
    Undecided,
}

struct Cases<'a> {
    suite: &'a str,
    text: String,
    tests: usize,
    failures: usize,
    errors: usize,
}

impl Cases<'_> {
    fn add(&mut self, name: &str, kind: Kind, said: &str) {
        self.tests += 1;
        let said = escape(said);
        let body = match kind {
            Kind::Passed => format!("<system-out>{said}</system-out>"),
            Kind::Failed => {
                self.failures += 1;
                format!("<failure type=\"FAIL\" message=\"{said}\"/>")
            }
            Kind::Undecided => {
                self.errors += 1;
                format!("<error type=\"INCONCLUSIVE\" message=\"{said}\"/>")
            }
        };
        self.text.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{}\">{body}</testcase>\n",
            escape(self.suite),
            escape(name)
        ));
    }
}
