//! Streams of events: how many, how they ended, whether every event came, and whether all streams got their share.

use super::cells::Cells;
use super::facts::{Facts, Series, ratio};
use super::times::{Belief, times};
use crate::summary::{Fairness, StreamRow, Times};
use plimsoll_plan::metric::{SeriesSum, StreamHist, StreamSum};
use plimsoll_stats::Hist;

/// One row per stream request of which one was opened or tried.
pub(super) fn streams(facts: &Facts) -> Vec<StreamRow> {
    facts.series.iter().filter(|one| is_used(one)).map(|one| row(one, facts)).collect()
}

/// Whether [`streams`] has any row.
pub(super) fn are_used(facts: &Facts) -> bool {
    facts.series.iter().any(is_used)
}

fn is_used(one: &Series) -> bool {
    one.request.is_stream && !one.request.is_websocket && one.tally.sum(SeriesSum::Sent) > 0
}

fn row(one: &Series, facts: &Facts) -> StreamRow {
    let sum = |id| one.tally.sum(id);
    // Neither a timeout nor the end cuts this off: a stream is accounted for when it ends, and at the end of the run.
    let spread = |id| -> Times { times(one.tally.hist(id), &Hist::on_demand(), Belief::LikeTheOthers) };
    let (expected, lost) = (sum(StreamSum::EventsExpected), sum(StreamSum::EventsLost));
    StreamRow {
        name: one.request.name.clone(),
        scenario: one.request.scenario.clone(),
        streams: sum(StreamSum::Streams),
        open_at_end: sum(StreamSum::OpenAtEnd),
        closed_by_server: sum(StreamSum::ClosedByServer),
        closed_by_client: sum(StreamSum::ClosedByClient),
        failures: one.tally.sum(SeriesSum::Failed),
        reconnects: sum(StreamSum::Reconnects),
        events: sum(StreamSum::Events),
        events_per_s: ratio(sum(StreamSum::Events) as f64, facts.measured_s()),
        events_expected: expected,
        events_lost: lost,
        event_loss_ratio: (expected > 0).then(|| lost as f64 / expected as f64),
        events_duplicated: sum(StreamSum::EventsDuplicated),
        events_out_of_order: sum(StreamSum::EventsOutOfOrder),
        events_unnumbered: sum(StreamSum::EventsUnnumbered),
        head: spread(StreamHist::StreamHead),
        first_event: spread(StreamHist::FirstEvent),
        gap: spread(StreamHist::EventGap),
        age: spread(StreamHist::EventAge),
        duration: spread(StreamHist::StreamLife),
        fairness: fairness(one.tally.hist(StreamHist::StreamEvents)),
    }
}

/// Jain's index over the events of each stream (Jain, Chiu & Hawe 1984): (sum x)^2 / (n sum x^2), 1 when all got the
/// same and 1/n when one got everything. `None` when there is no stream or none got anything.
fn fairness(events: &Hist) -> Option<Fairness> {
    let (mean, deviation) = (events.mean()?, events.std_dev()?);
    // The mean of the squares is the square of the mean plus the variance.
    let squares = mean * mean + deviation * deviation;
    (squares > 0.0).then(|| Fairness {
        streams: events.count(),
        index: (mean * mean / squares).min(1.0),
        events_min: events.min().unwrap_or(0),
        events_p50: events.quantile(0.5).unwrap_or(0),
        events_max: events.max().unwrap_or(0),
    })
}
