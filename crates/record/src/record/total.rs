//! Sums of requests. Checks and groups have their own series after those of the requests and do not count as
//! requests; the setup and the teardown are excluded.

use super::{Opened, SERIES_LAYOUT};
use plimsoll_plan::Outline;
use plimsoll_plan::metric::SeriesHist;
use plimsoll_plan::outline::RequestOutline;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;

/// The times of a stream cover its whole life, which the plan determines; among those of requests, they would form
/// the tail of every distribution.
const OF_REQUESTS: [SeriesHist; 6] = [
    SeriesHist::Response,
    SeriesHist::Service,
    SeriesHist::FirstByte,
    SeriesHist::Body,
    SeriesHist::ResponseCensored,
    SeriesHist::ServiceCensored,
];

/// Returns the load of an interval: the sum of all its requests, without the response and service times of streams.
pub fn requests_total(outline: &Outline, opened: &[Opened], interval: &Interval) -> Tally {
    total_of(requests_of(outline, opened, interval), false)
}

/// Returns the requests of an interval with their outlines: those of the plan, then those opened later.
pub fn requests_of<'a>(
    outline: &'a Outline,
    opened: &'a [Opened],
    interval: &'a Interval,
) -> impl Iterator<Item = (&'a RequestOutline, &'a Tally)> + Clone {
    let behind = opened
        .iter()
        .filter_map(|one| Some((one.request.as_ref()?, interval.series.get(one.series as usize)?)));
    outline.requests.iter().zip(&interval.series).chain(behind)
}

/// Returns the sum of these requests, except for those outside the load; zeros if there are none. With `lives`,
/// includes the times of streams if there are only streams.
pub fn total_of<'a>(
    requests: impl Iterator<Item = (&'a RequestOutline, &'a Tally)> + Clone,
    lives: bool,
) -> Tally {
    let counted = || requests.clone().filter(|(request, _)| !request.is_outside_load);
    let with_lives = lives && counted().all(|(request, _)| request.is_stream);
    let mut total = Tally::on_demand(SERIES_LAYOUT);
    for (request, tally) in counted() {
        if request.is_stream && !with_lives {
            let mut tally = tally.clone();
            for id in OF_REQUESTS {
                if let Some(hist) = tally.hists.get_mut(id.id()) {
                    hist.clear();
                }
            }
            total.merge(&tally);
        } else {
            total.merge(tally);
        }
    }
    total
}
