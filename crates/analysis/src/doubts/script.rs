//! What users did: answers that changed under them, data that ran out, rows that were lost.

use super::Evidence;
use crate::caution::Kind;
use crate::cells::Cells;
use crate::changes::{Change, changes};
use crate::summary::Caution;
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::phrase::{chosen_ns, count, counted, quantity, ratio};

/// How many requests are told one by one.
const TOLD: usize = 3;

pub(super) fn script(e: &Evidence, into: &mut Vec<Caution>) {
    into.extend(response_changed(e));
    let lost = e.facts.run.of(RunSum::NotAppended);
    if lost > 0 {
        let evidence = format!("{} could not be written", counted(lost, "row"));
        into.push(Kind::RowsNotAppended.raise(evidence));
    }
    let nameless = e.facts.run.of(RunSum::SeriesRefused);
    if nameless > 0 {
        let most = e.facts.plan.limits.open_series;
        let evidence =
            format!("{} without a place of its own, {} were held", counted(nameless, "look-up"), count(most));
        into.push(Kind::TooManySeries.raise(evidence));
    }
    let refused = e.facts.run.of(RunSum::ValuesRefused);
    if refused > 0 {
        into.push(Kind::ValuesRefused.raise(counted(refused, "value")));
    }
    // After a failure the rest is left out on purpose, and the failure itself is told.
    let (abandoned, failed) = (e.facts.run.of(RunSum::Abandoned), e.facts.all.sum(SeriesSum::Failed));
    if abandoned > failed {
        let evidence =
            format!("{} so, {} failed", counted(abandoned, "iteration"), counted(failed, "request"));
        into.push(Kind::IterationsAbandoned.raise(evidence));
    }
    let retired = e.facts.run.of(RunSum::Retired);
    if retired > 0 {
        let evidence = format!("{} did so; the load was less from then on", counted(retired, "user"));
        into.push(Kind::DataRanOut.raise(evidence));
    }
}

fn response_changed(e: &Evidence) -> Option<Caution> {
    let found = changes(e.facts, e.limits);
    let told: Vec<String> = found
        .iter()
        .take(TOLD)
        .map(|one| {
            let at = chosen_ns((one.at_s * 1e9).round() as u64);
            match one.what {
                Change::Size { from, to } => {
                    let share = (to - from).abs() / from.max(1.0);
                    format!(
                        "`{}`: answers of {} bytes on average, {} bytes from {at} on ({} {})",
                        one.request,
                        quantity(from),
                        quantity(to),
                        ratio(share),
                        if to < from { "less" } else { "more" }
                    )
                }
                Change::Shape { changes } => format!(
                    "`{}`: all answers had one shape until {at}; {} differed from the one before since then",
                    one.request,
                    count(changes)
                ),
            }
        })
        .collect();
    let more = match found.len().saturating_sub(TOLD) {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    (!told.is_empty()).then(|| Kind::ResponseChanged.raise(format!("{}{more}", told.join("; "))))
}
