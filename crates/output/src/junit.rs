//! The thresholds of runs as JUnit XML, which every CI system shows: a suite for each run, a case for each threshold.
//!
//! A verdict that no threshold explains has its own case. If it is not a miss, it is an `error`, neither a failure nor
//! a pass: CI systems show it as broken, while `skipped` would be green.

use crate::compare::xml::escape;
use plimsoll_analysis::summary::{Outcome, Standing, Summary, ThresholdResult};
use plimsoll_plan::phrase::figure;

/// A run with its name.
pub struct Suite<'a> {
    pub name: &'a str,
    pub summary: &'a Summary,
}

/// The end of an experiment that its runs or comparisons do not show.
pub struct Whole<'a> {
    pub result: Outcome,
    pub sentence: &'a str,
}

/// Returns the JUnit XML of some runs.
pub fn document(suites: &[Suite], whole: Option<&Whole>) -> String {
    let all: Vec<Cases> =
        whole.map(Cases::of_experiment).into_iter().chain(suites.iter().map(Cases::of_run)).collect();
    let sum = |of: fn(&Cases) -> usize| all.iter().map(of).sum::<usize>();
    let text: String = all.iter().map(Cases::rendered).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll run\" tests=\"{}\" failures=\"{}\" \
         errors=\"{}\">\n{text}</testsuites>\n",
        sum(|c| c.tests),
        sum(|c| c.failures),
        sum(|c| c.errors)
    )
}

fn observed(judged: &ThresholdResult) -> String {
    match judged.observed {
        Some(value) => {
            let bound = if judged.is_lower_bound { ">= " } else { "" };
            format!("{} is {bound}{}", judged.subject, figure(value, judged.unit))
        }
        None => format!("{} has no sample", judged.subject),
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Passed,
    Failed,
    Undecided,
}

/// A suite with its cases.
pub(crate) struct Cases<'a> {
    suite: &'a str,
    /// Returns the suite of a run.
    time_s: Option<f64>,
    /// Text below the cases; may be empty.
    sentence: &'a str,
    text: String,
    pub tests: usize,
    pub failures: usize,
    pub errors: usize,
}

impl<'a> Cases<'a> {
    fn new(suite: &'a str, time_s: Option<f64>, sentence: &'a str) -> Self {
        Cases { suite, time_s, sentence, text: String::new(), tests: 0, failures: 0, errors: 0 }
    }

    pub fn of_experiment(whole: &Whole<'a>) -> Self {
        let mut cases = Cases::new("experiment", None, "");
        let kind = match whole.result {
            Outcome::Pass => Kind::Passed,
            Outcome::Fail => Kind::Failed,
            Outcome::Inconclusive | Outcome::Interrupted => Kind::Undecided,
        };
        cases.add("end", kind, whole.sentence);
        cases
    }

    fn of_run(suite: &Suite<'a>) -> Self {
        let (summary, verdict) = (suite.summary, &suite.summary.verdict);
        let mut cases = Cases::new(suite.name, Some(summary.totals.measured_s), &verdict.sentence);
        for judged in &summary.thresholds {
            let kind = match judged.standing {
                Standing::Met => Kind::Passed,
                Standing::Missed => Kind::Failed,
                Standing::Undecided => Kind::Undecided,
            };
            cases.add(&judged.text, kind, &observed(judged));
        }
        match verdict.result {
            Outcome::Pass => {}
            Outcome::Fail if cases.failures > 0 => {}
            Outcome::Fail => cases.add("verdict", Kind::Failed, &verdict.sentence),
            Outcome::Inconclusive | Outcome::Interrupted => {
                cases.add("verdict", Kind::Undecided, &verdict.sentence)
            }
        }
        cases
    }

    pub fn rendered(&self) -> String {
        let time = self.time_s.map_or(String::new(), |s| format!(" time=\"{s:.3}\""));
        let said = match self.sentence {
            "" => String::new(),
            sentence => format!("    <system-out>{}</system-out>\n", escape(sentence)),
        };
        format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\"{time}>\n{}{said}  </testsuite>\n",
            escape(self.suite),
            self.tests,
            self.failures,
            self.errors,
            self.text
        )
    }

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
