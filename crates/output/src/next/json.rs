//! The same findings for programs: kind, numbers, and the sentence that people get.

use super::{reasons, steps};
use plimsoll_analysis::next::{Next, Reason, Step};
use plimsoll_analysis::summary::Summary;
use serde::Serialize;

/// `next` of a document.
#[derive(Debug, Serialize)]
pub(crate) struct NextRows<R, S> {
    pub reasons: Vec<Row<R>>,
    pub steps: Vec<Row<S>>,
}

/// `kind`, `evidence` where there are numbers, and `text`.
#[derive(Debug, Serialize)]
pub(crate) struct Row<F> {
    #[serde(flatten)]
    pub finding: F,
    pub text: String,
}

impl<R, S> NextRows<R, S> {
    /// Each finding with its sentence.
    pub fn described(
        reasons: Vec<R>,
        steps: Vec<S>,
        reason: impl Fn(&R) -> String,
        step: impl Fn(&S) -> String,
    ) -> Self {
        NextRows { reasons: rows(reasons, reason), steps: rows(steps, step) }
    }
}

fn rows<F>(findings: Vec<F>, text: impl Fn(&F) -> String) -> Vec<Row<F>> {
    findings.into_iter().map(|finding| Row { text: text(&finding), finding }).collect()
}

impl<'a> NextRows<Reason<'a>, Step<'a>> {
    /// The command to compare names an example: a document does not know where it is kept.
    pub fn of(s: &'a Summary) -> Self {
        let Next { reasons, steps } = Next::of(s);
        let reason = |one: &Reason<'_>| reasons::hint(one).whole_text();
        NextRows::described(reasons, steps, reason, |one| steps::hint(s, one, None).whole_text())
    }
}
