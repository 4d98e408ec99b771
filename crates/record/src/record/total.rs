//! Requests added up. Checks and groups have series of their own behind those of the requests, and must not be counted
//! as requests; what was sent before or behind the load is no part of it.

use super::{Opened, SERIES_LAYOUT};
use plimsoll_plan::Outline;
use plimsoll_plan::metric::SeriesHist;
use plimsoll_plan::outline::RequestOutline;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Tally;

/// The times of a stream are its whole life, which somebody chose: beside those of requests they would be the tail of
/// every distribution.
const OF_REQUESTS: [SeriesHist; 6] = [
    SeriesHist::Response,
    SeriesHist::Service,
    SeriesHist::FirstByte,
    SeriesHist::Body,
    SeriesHist::ResponseCensored,
    SeriesHist::ServiceCensored,
];

/// The load of an interval: all its requests added up, without the response and service times of streams.
pub fn requests_total(outline: &Outline, opened: &[Opened], interval: &Interval) -> Tally {
    total_of(requests_of(outline, opened, interval), false)
}

/// The requests of an interval with their numbers: those of the plan, and behind them those that were opened.
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

/// These requests added up, those beside the load left out; nothing but zeros when none counts. With `lives`, streams
/// bring their times along when there is nothing but streams.
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
