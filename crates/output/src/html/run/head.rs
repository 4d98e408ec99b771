//! What a reader sees first: the verdict with its reason, what was run, and the few figures that people ask for.

use crate::format::{
    NONE, at_least, bounds, chosen_s, count, counted, duration_ns, figure, quantile_name, rate_of,
    rate_per_s, ratio,
};
use crate::html::piece::{Tile, Tone, badge, prose, tiles};
use crate::run::thresholds::tone;
use crate::words::{self, Shown};
use maud::{Markup, html};
use plimsoll_analysis::summary::{Outcome, Summary, ThresholdResult};
use plimsoll_plan::phrase::utc;
use plimsoll_stats::samples_needed;

/// The verdict and what belongs to it.
pub fn head(s: &Summary, next: &Markup) -> Markup {
    let tone = Tone::from(s.verdict.result);
    html! {
        div.head.{(tone.class())} {
            h1 { (s.name) }
            div.verdict { (badge(tone, words::outcome(s.verdict.result))) }
            p.sentence { (prose(words::sentence(s))) }
            @if s.verdict.result == Outcome::Inconclusive { (overrule(next)) } @else { (next) }
            @if let Some(question) = &s.plan.question { p.question { (question) } }
            ul.setting { @for fact in setting(s) { li { (fact) } } }
            (tiles(&figures(s)))
        }
    }
}

/// What was loaded, how, when and from where.
fn setting(s: &Summary) -> Vec<String> {
    let mut facts = vec![s.target.clone()];
    facts.extend(words::setting(s));
    if let Some(first) = s.origins.iter().min_by_key(|origin| origin.started_unix_ns) {
        facts.push(utc(first.started_unix_ns));
        facts.push(match s.origins.len() {
            1 => format!("from {}", first.host),
            n => format!("from {n} machines"),
        });
    }
    facts
}

/// A load generator in doubt proves nothing, whatever the figures below look like: that is said above them, with the
/// reasons and what to do.
fn overrule(next: &Markup) -> Markup {
    html! {
        div.overrule {
            h2 { "The figures below prove nothing" }
            (next)
        }
    }
}

fn figures(s: &Summary) -> Vec<Tile> {
    let t = &s.totals;
    // Whether a threshold on it decides: then the figure has its colour. One on p99.9 is none on p99, and one on a
    // single request is none on the whole.
    let judged = |what: &str| {
        let about = s.thresholds.iter().filter(|judged| judged.what == what);
        about
            .map(tone)
            .max_by_key(|tone| [Tone::Pass, Tone::Doubt, Tone::Fail].iter().position(|t| t == tone))
    };
    let samples = |n: u64| counted(n, "sample");
    let quantile = |q: f64| {
        let name = quantile_name(q);
        let (text, raw, aside) = match words::percentile(&s.response_time, q) {
            Shown::Fact(p) if p.at_least => (
                at_least(p.value_ns),
                Some(p.value_ns),
                samples(s.response_time.count + s.response_time.censored),
            ),
            Shown::Fact(p) => {
                let bounds = bounds(p.value_ns, p.low_ns, p.high_ns);
                let samples = samples(s.response_time.count);
                let aside = bounds.map_or(samples.clone(), |bounds| format!("95 %: {bounds}; {samples}"));
                (duration_ns(p.value_ns), Some(p.value_ns), aside)
            }
            Shown::TooFew(has, needs) => (NONE.into(), None, words::too_few(has, needs)),
            Shown::Missing => (NONE.into(), None, String::new()),
        };
        Tile {
            label: format!("response time {name}"),
            text,
            raw: raw.map(|ns| ns as f64),
            aside,
            tone: judged(&format!("response_time {name}")).filter(|tone| *tone != Tone::Pass),
        }
    };
    // Arrivals start iterations: where one sends several requests, the two rates are not of one thing.
    let offers = |rate: f64| {
        let is_same = s.plan.lanes.is_empty() && s.requests.len() < 2;
        if is_same { rate_per_s(rate) } else { rate_of(rate, "iterations") }
    };
    let offered = match (&s.offered, s.achieved.ratio) {
        (Some(offered), Some(share)) => {
            format!("offered {}, {} kept up with", offers(offered.rate_per_s), ratio(share))
        }
        (Some(offered), None) => format!("offered {}", offers(offered.rate_per_s)),
        (None, _) => "closed model: users wait for their answers".into(),
    };
    let few = t.requests < samples_needed(0.5) && s.streams.is_empty();
    let tiles = vec![
        Tile {
            label: "finished requests".into(),
            text: if few { NONE.into() } else { rate_per_s(s.achieved.rate_per_s) },
            raw: (!few).then_some(s.achieved.rate_per_s),
            aside: if few { "too few for a rate".into() } else { offered },
            tone: judged("achieved").or(judged("rate")).filter(|tone| *tone != Tone::Pass),
        },
        quantile(0.5),
        quantile(0.99),
        Tile {
            label: "errors".into(),
            // Of nothing there is no share.
            text: if t.requests > 0 { ratio(t.error_ratio) } else { NONE.into() },
            raw: (t.requests > 0).then_some(t.error_ratio),
            aside: format!("{} of {}", count(t.errors), count(t.requests)),
            tone: judged("errors").filter(|tone| *tone != Tone::Pass && t.requests > 0),
        },
        Tile {
            label: "requests".into(),
            text: count(t.requests),
            raw: Some(t.requests as f64),
            aside: format!("in {}", chosen_s(t.measured_s)),
            tone: None,
        },
    ];
    missed(s).into_iter().chain(tiles).collect()
}

/// What was missed and has no figure of its own among the others: a percentile of one request, mostly.
fn missed(s: &Summary) -> Vec<Tile> {
    const MOST: usize = 2;
    const KNOWN: [&str; 5] = ["response_time p50", "response_time p99", "errors", "achieved", "rate"];
    let of = |t: &ThresholdResult| match t
        .what
        .split_once('{')
        .and_then(|(what, rest)| Some((what, rest.split_once('}')?)))
    {
        Some((what, (scope, statistic))) => {
            let scope = scope.split_once(": ").map_or(scope, |(_, name)| name);
            format!("{scope}: {}{statistic}", what.replace('_', " "))
        }
        None => t.what.replace('_', " "),
    };
    let told = s.thresholds.iter().filter(|t| !t.met && t.observed.is_some() && !KNOWN.contains(&&*t.what));
    told.take(MOST)
        .map(|t| Tile {
            label: of(t),
            text: words::observed(t),
            raw: t.observed,
            aside: format!("limit {}", figure(t.limit, t.unit)),
            tone: Some(tone(t)),
        })
        .collect()
}
