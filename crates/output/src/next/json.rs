//! The same findings for programs: kind, numbers, and the sentence that people get.

use super::{reasons, steps};
use plimsoll_analysis::next::{Next, Reason, Step};
use plimsoll_analysis::summary::Summary;
use serde::Serialize;

/// `next` of the document.
#[derive(Debug, Serialize)]
pub(crate) struct NextRows<'a> {
    pub reasons: Vec<Row<Reason<'a>>>,
    pub steps: Vec<Row<Step<'a>>>,
}

/// `kind`, `evidence` where there are numbers, and `text`.
#[derive(Debug, Serialize)]
pub(crate) struct Row<F> {
    #[serde(flatten)]
    pub finding: F,
    pub text: String,
}

impl<'a> NextRows<'a> {
    /// The command to compare is told in words: a document does not know where it is kept.
    pub fn of(s: &'a Summary) -> Self {
        let Next { reasons, steps } = Next::of(s);
        let reason = |finding| Row { text: reasons::hint(s, &finding).text, finding };
        let step = |finding| Row { text: steps::hint(s, &finding, None).text, finding };
        NextRows {
            reasons: reasons.into_iter().map(reason).collect(),
            steps: steps.into_iter().map(step).collect(),
        }
    }
}
