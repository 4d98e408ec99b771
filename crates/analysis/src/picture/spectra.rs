//! Whole distributions as curves: dense where many samples lie, and by tens of nines towards the slowest.

use crate::cells::Cells;
use crate::facts::{Facts, Series};
use crate::picture::{Point, Spectrum};
use crate::times::{Belief, percentile};
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_stats::{Hist, Tally};

/// Maximum number of single requests with a curve, in addition to the curve of all requests.
const REQUESTS_MAX: usize = 50;
/// Steps up to 0.9.
const BULK: u32 = 36;
/// Beyond this many nines, a curve goes to its last sample in one step, because no run has enough samples.
const NINES_MAX: i32 = 9;

/// Returns the curve of all requests, then those of the busiest requests, without streams, whose lengths are
/// configured.
pub(super) fn spectra(facts: &Facts, belief: Belief) -> Vec<Spectrum> {
    let mut busiest: Vec<&Series> = facts.series.iter().filter(|one| !one.request.is_stream).collect();
    busiest.retain(|one| one.tally.sum(SeriesSum::Finished) > 0 || counts(&one.tally) > 0);
    busiest.sort_by_key(|one| std::cmp::Reverse(one.tally.sum(SeriesSum::Finished)));
    let all = spectrum(String::new(), None, &facts.all, belief);
    let of_request =
        |one: &&Series| spectrum(one.request.name.clone(), one.request.scenario.clone(), &one.tally, belief);
    std::iter::once(all).chain(busiest.iter().take(REQUESTS_MAX).map(of_request)).collect()
}

fn counts(tally: &Tally) -> u64 {
    [SeriesHist::Response, SeriesHist::ResponseCensored].iter().map(|id| tally.hist(*id).count()).sum()
}

fn spectrum(request: String, scenario: Option<String>, tally: &Tally, belief: Belief) -> Spectrum {
    let (exact, bounds) = (tally.hist(SeriesHist::Response), tally.hist(SeriesHist::ResponseCensored));
    let (service, service_bounds) =
        (tally.hist(SeriesHist::Service), tally.hist(SeriesHist::ServiceCensored));
    let (response, at_least_from) = curve(exact, bounds, belief);
    Spectrum {
        request,
        scenario,
        response,
        service: curve(service, service_bounds, belief).0,
        response_count: exact.count(),
        service_count: service.count(),
        censored: bounds.count(),
        service_censored: service_bounds.count(),
        at_least_from,
    }
}

/// Returns the curve, and the quantile from which it is a lower bound.
pub(crate) fn curve(exact: &Hist, bounds: &Hist, belief: Belief) -> (Vec<Point>, Option<f64>) {
    let samples = exact.count().saturating_add(bounds.count());
    let Some(longest) = exact.max().max(bounds.max()) else { return (Vec::new(), None) };
    let mut at_least_from = None;
    let mut points: Vec<Point> = Vec::new();
    for q in quantiles(samples) {
        let Some(found) = percentile(exact, bounds, q, belief) else { continue };
        if found.at_least && at_least_from.is_none() {
            at_least_from = Some(q);
        }
        points.push(Point { q, value_ns: found.value });
    }
    points.push(Point { q: 1.0, value_ns: longest });
    if at_least_from.is_none() && percentile(exact, bounds, 1.0, belief).is_some_and(|found| found.at_least) {
        at_least_from = Some(1.0);
    }
    // Of a level stretch its ends say everything.
    let is_bend = |at: usize| {
        let value = |at: usize| points.get(at).map(|point| point.value_ns);
        at == 0 || value(at - 1) != value(at) || value(at + 1) != value(at)
    };
    (
        points.iter().enumerate().filter(|(at, _)| is_bend(*at)).map(|(_, point)| *point).collect(),
        at_least_from,
    )
}

/// Rising, the last one below 1: the quantiles that this number of samples can distinguish from the maximum.
fn quantiles(samples: u64) -> Vec<f64> {
    let bulk = (0..=BULK).map(|step| f64::from(step) / 40.0);
    // 0.91 to 0.99, 0.991 to 0.999: computed from whole numbers, so that 0.99 equals the literal 0.99.
    let nines = (1..NINES_MAX).flat_map(|nines| {
        let whole = 10u64.pow(nines as u32 + 1);
        (1..=9).map(move |step| (whole - 10 + step) as f64 / whole as f64)
    });
    bulk.chain(nines).filter(|q| *q == 0.0 || (1.0 - q) * samples as f64 >= 1.0 - 1e-9).collect()
}
