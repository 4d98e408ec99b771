//! What users did: answers that changed under them, data that ran out, rows that were lost.

use super::Inputs;
use crate::caution::Evidence;
use crate::caution::evidence::{ChangedResponse, ResponseChange};
use crate::cells::Cells;
use crate::changes::{Change, changes};
use crate::summary::Caution;
use plimsoll_plan::metric::{RunSum, SeriesSum};

/// How many requests are named one by one.
const NAMED: usize = 3;

pub(super) fn script(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(response_changed(e));
    let lost = e.facts.run.of(RunSum::RowsNotWritten);
    if lost > 0 {
        into.push(Evidence::RowsLost { rows_count: lost }.raise());
    }
    let nameless = e.facts.run.of(RunSum::SeriesRejected);
    if nameless > 0 {
        let limit_count = e.facts.plan.limits.open_series;
        into.push(Evidence::SeriesRefused { lookups_count: nameless, limit_count }.raise());
    }
    let refused = e.facts.run.of(RunSum::ValuesRejected);
    if refused > 0 {
        into.push(Evidence::ValuesRefused { values_count: refused }.raise());
    }
    let streams = e.facts.run.of(RunSum::EventStreamsAsResponses);
    if streams > 0 {
        let requests_count = e.facts.all.sum(SeriesSum::Finished);
        into.push(Evidence::EventStreamsAsResponses { responses_count: streams, requests_count }.raise());
    }
    // After a failure, the rest is skipped on purpose, and the failure itself is reported.
    let (abandoned, failed) =
        (e.facts.run.of(RunSum::IterationsAbandoned), e.facts.all.sum(SeriesSum::Failed));
    if abandoned > failed {
        let evidence =
            Evidence::IterationsAbandoned { iterations_count: abandoned, failed_requests_count: failed };
        into.push(evidence.raise());
    }
    let retired = e.facts.run.of(RunSum::UsersOutOfData);
    if retired > 0 {
        into.push(Evidence::UsersOutOfData { users_count: retired }.raise());
    }
}

fn response_changed(e: &Inputs) -> Option<Caution> {
    let found = changes(e.facts, e.limits);
    let changes: Vec<ChangedResponse> = found
        .iter()
        .take(NAMED)
        .map(|one| ChangedResponse {
            request: one.request.clone(),
            at_ns: (one.at_s * 1e9).round() as u64,
            change: match one.what {
                Change::Size { from, to } => ResponseChange::Size { before_bytes: from, after_bytes: to },
                Change::Shape { changes } => ResponseChange::Shape { changes_count: changes },
            },
        })
        .collect();
    let more_count = (found.len() - changes.len()) as u64;
    (!changes.is_empty()).then(|| Evidence::ResponsesChanged { changes, more_count }.raise())
}
