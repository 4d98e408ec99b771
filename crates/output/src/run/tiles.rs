//! The main results, each with the color of the threshold that decides on it.

use super::thresholds::tone;
use crate::document::{Tile, Tone, Value};
use crate::format::{
    NONE, at_least, bounds, chosen_s, count, counted, duration_ns, figure, quantile_name, rate_of,
    rate_per_s, ratio,
};
use crate::words::{self, Shown};
use plimsoll_analysis::summary::{Summary, ThresholdResult};
use plimsoll_stats::samples_needed;

pub fn tiles(s: &Summary) -> Vec<Tile> {
    let t = &s.totals;
    // A result has a color if a threshold decides on it. One on p99.9 does not decide on p99, and one on a single
    // request does not decide on the whole run.
    let judged = |what: &str| {
        let about = s.thresholds.iter().filter(|judged| judged.subject == what);
        about
            .map(tone)
            .max_by_key(|tone| [Tone::Pass, Tone::Doubt, Tone::Fail].iter().position(|t| t == tone))
            .filter(|tone| *tone != Tone::Pass)
    };
    let samples = |n: u64| counted(n, "sample");
    let quantile = |q: f64| {
        let name = quantile_name(q);
        let (text, raw, aside) = match words::percentile(&s.response_time, q) {
            Shown::Fact(p) if p.is_lower_bound => (
                at_least(p.value_ns),
                Some(p.value_ns),
                samples(s.response_time.count + s.response_time.censored),
            ),
            Shown::Fact(p) => {
                let bounds = bounds(p.value_ns, p.low_ns, p.high_ns);
                let samples = samples(s.response_time.count);
                let aside = bounds.map_or(samples.clone(), |bounds| format!("95% CI {bounds}; {samples}"));
                (duration_ns(p.value_ns), Some(p.value_ns), aside)
            }
            Shown::TooFew(has, needs) => (NONE.into(), None, words::too_few(has, needs)),
            Shown::Missing => (NONE.into(), None, String::new()),
        };
        tile(&format!("response time {name}"), text, raw.map(|ns| ns as f64), aside)
            .toned(judged(&format!("response_time {name}")))
    };
    // Arrivals start iterations: if one sends several requests, the two rates are not comparable.
    let offers = |rate: f64| {
        let is_same = s.plan.workloads.is_empty() && s.requests.len() < 2;
        if is_same { rate_per_s(rate) } else { rate_of(rate, "iterations") }
    };
    let offered = match (&s.offered, s.achieved.ratio) {
        (Some(offered), Some(share)) => {
            format!("{} offered, {} achieved", offers(offered.rate_per_s), ratio(share))
        }
        (Some(offered), None) => format!("offered {}", offers(offered.rate_per_s)),
        (None, _) => "closed model: users wait for responses".into(),
    };
    let few = t.requests < samples_needed(0.5) && s.streams.is_empty();
    let rate = match few {
        true => tile("throughput", NONE.into(), None, "too few requests".into()),
        false => {
            tile("throughput", rate_of(s.achieved.rate_per_s, "req"), Some(s.achieved.rate_per_s), offered)
        }
    };
    // Without a total, there is no share.
    let share = (t.requests > 0).then_some(t.error_ratio);
    let failed = format!("{} of {}", count(t.errors), count(t.requests));
    let tiles = [
        rate.toned(judged("achieved").or(judged("throughput"))),
        quantile(0.5),
        quantile(0.99),
        tile("errors", share.map_or(NONE.into(), ratio), share, failed)
            .toned(judged("error_rate").filter(|_| t.requests > 0)),
        Tile::new("requests", Value::Count(t.requests)).with(format!("in {}", chosen_s(t.measured_s))),
    ];
    missed(s).into_iter().chain(tiles).collect()
}

fn tile(label: &str, text: String, raw: Option<f64>, aside: String) -> Tile {
    Tile::new(label, Value::Number(text, raw)).with(aside)
}

/// Returns missed thresholds without their own tile, usually on a percentile of one request.
fn missed(s: &Summary) -> Vec<Tile> {
    const MOST: usize = 2;
    const KNOWN: [&str; 5] =
        ["response_time p50", "response_time p99", "error_rate", "achieved", "throughput"];
    let of = |t: &ThresholdResult| match t
        .subject
        .split_once('{')
        .and_then(|(what, rest)| Some((what, rest.split_once('}')?)))
    {
        Some((what, (scope, statistic))) => {
            let scope = scope.split_once(": ").map_or(scope, |(_, name)| name);
            format!("{scope}: {}{statistic}", what.replace('_', " "))
        }
        None => t.subject.replace('_', " "),
    };
    let told =
        s.thresholds.iter().filter(|t| !t.is_met && t.observed.is_some() && !KNOWN.contains(&&*t.subject));
    told.take(MOST)
        .map(|t| {
            let aside = format!("limit {}", figure(t.limit, t.unit));
            tile(&of(t), words::observed(t), t.observed, aside).toned(Some(tone(t)))
        })
        .collect()
}
