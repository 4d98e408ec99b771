//! What follows from the definitions alone: minimum, percentiles, mean and maximum have an order, shares lie between
//! 0 and 1, and nothing that was counted or timed is negative.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::{Likely, Proved};
use crate::foreign::{Figure, Measure};

/// A figure with its name, which is only written where something is wrong: thousands of rows are looked at.
type Link<'a> = (Name<'a>, &'a Figure, Span);

#[derive(Clone, Copy)]
enum Name<'a> {
    Of(Measure),
    Own(&'a str),
}

impl Name<'_> {
    fn text(self) -> String {
        match self {
            Self::Of(measure) => say::measure(measure),
            Self::Own(name) => name.to_owned(),
        }
    }
}

/// min <= p(a) <= p(b) <= max for a < b: every quantile function rises.
pub(super) fn percentiles_in_order(s: &Subject) -> Option<Hit> {
    let mut chain: Vec<Link> = Vec::new();
    let bound = |m| s.digits(m).map(|(f, span)| (Name::Of(m), f, span));
    chain.extend(bound(Measure::Min));
    let name = |p| Name::Of(Measure::Percentile(p));
    chain.extend(s.percentiles().into_iter().map(|(_, p, f, span)| (name(p), f, span)));
    chain.extend(beyond(s));
    chain.extend(bound(Measure::Max));
    falling(s, &chain)
}

/// `p99.999`, which a measure of ten-thousandths cannot hold: between the others and the maximum, lowest first.
fn beyond<'a>(s: &Subject<'a>) -> Vec<Link<'a>> {
    let share = |name: &str| name.strip_prefix('p')?.parse::<f64>().ok().filter(|p| *p > 99.99 && *p < 100.0);
    let others = s.row.others.iter().filter_map(|(name, f)| Some((share(name)?, name, f, Span::of(f)?)));
    let mut found: Vec<_> = others.collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, name, f, span)| (Name::Own(name), f, span.at_least_zero())).collect()
}

/// The same for the time to connect.
pub(super) fn connect_in_order(s: &Subject) -> Option<Hit> {
    let mut chain: Vec<(u32, Measure)> = vec![(0, Measure::ConnectMin), (10_001, Measure::ConnectMax)];
    chain.extend(s.row.figures.keys().filter_map(|m| match m {
        Measure::ConnectMedian => Some((5_000, *m)),
        Measure::ConnectPercentile(p) => Some((u32::from(*p), *m)),
        _ => None,
    }));
    chain.sort_unstable();
    let chain: Vec<_> =
        chain.iter().filter_map(|(_, m)| s.get(*m).map(|(f, span)| (Name::Of(*m), f, span))).collect();
    falling(s, &chain)
}

fn falling(s: &Subject, chain: &[Link]) -> Option<Hit> {
    let mut hit: Option<Hit> = None;
    for (at, (name, figure, span)) in chain.iter().enumerate() {
        // The largest before it: then a single low figure gives one line, not one for each that it contradicts.
        let before = chain[..at].iter().filter(|(_, other, b)| s.exceeds((other, *b), (figure, *span)));
        let Some((other, above, larger)) = before.max_by(|a, b| a.2.low.total_cmp(&b.2.low)) else {
            continue;
        };
        let (other, name) = (other.text(), name.text());
        let line = format!("{other} {} > {name} {}", say::time(larger.said), say::time(span.said));
        let sentence = format!("{other} lies above {name}");
        // Where one figure says its unit and the other does not, they may have two.
        let unequal = s.tool().is_none() && above.unit.is_empty() != figure.unit.is_empty();
        hit = Some(
            hit.unwrap_or_else(|| Hit::new(Proved, "the order of percentiles is broken", sentence))
                .line(line)
                .at([*above, *figure])
                .open(unequal.then_some("only one of the figures says its unit")),
        );
    }
    hit.map(|h| h.advice("take minimum, percentiles and maximum from the same set of samples"))
}

/// min <= mean <= max; the rate per thread likewise.
pub(super) fn mean_inside(s: &Subject) -> Option<Hit> {
    let pairs = [
        (Measure::Min, Measure::Mean),
        (Measure::Mean, Measure::Max),
        (Measure::ConnectMin, Measure::ConnectMean),
        (Measure::ConnectMean, Measure::ConnectMax),
        (Measure::ThreadRateMean, Measure::ThreadRateMax),
    ];
    let broken: Vec<_> = pairs
        .into_iter()
        .filter_map(|(small, large)| Some((small, s.digits(small)?, large, s.digits(large)?)))
        .filter(|(_, a, _, b)| s.exceeds(*a, *b))
        .collect();
    let (small, _, large, _) = broken.first()?;
    let sentence = format!("{} lies above {}", say::measure(*small), say::measure(*large));
    let mut hit = Hit::new(Proved, "the mean lies outside minimum and maximum", sentence);
    for (small, (a, x), large, (b, y)) in broken {
        let of = |m: Measure, span: Span| {
            let rate = matches!(m, Measure::ThreadRateMean | Measure::ThreadRateMax);
            if rate { format!("{}/s", say::number(span.said)) } else { say::time(span.said) }
        };
        let line =
            format!("{} {} > {} {}", say::measure(small), of(small, x), say::measure(large), of(large, y));
        hit = hit.line(line).at([a, b]);
    }
    Some(hit.advice("a mean lies between the smallest and the largest value it was taken of"))
}

/// 0 <= share <= 1, and percentiles between p0 and p100.
pub(super) fn shares_in_range(s: &Subject) -> Option<Hit> {
    let mut hit: Option<Hit> = None;
    for measure in [Measure::ErrorRatio, Measure::WithinStdDev] {
        let Some((figure, span)) = s.get(measure) else { continue };
        if span.above(Span::exact(1.0)) {
            let line = format!("{} {} > 100%", say::measure(measure), say::percent(span.said));
            hit = Some(hit.unwrap_or_else(share_hit).line(line).at([figure]));
        }
    }
    for (measure, figure) in &s.row.figures {
        if let Measure::Percentile(p) | Measure::ConnectPercentile(p) = measure
            && *p > 10_000
        {
            let line = format!("{} is beyond p100", say::percentile(*p));
            hit = Some(hit.unwrap_or_else(share_hit).line(line).at([figure]));
        }
    }
    hit
}

fn share_hit() -> Hit {
    let sentence = "a share lies outside 0% to 100%";
    Hit::new(Proved, sentence, sentence).advice("look at what the share is of, and at the unit of the column")
}

/// Counts, times, rates and sizes are not negative.
pub(super) fn nothing_negative(s: &Subject) -> Option<Hit> {
    let negative: Vec<_> = s.row.figures.iter().filter(|(_, f)| f.high < 0.0 && f.value < 0.0).collect();
    let (first, _) = negative.first()?;
    let sentence = format!("{} is negative", say::measure(**first));
    let mut hit = Hit::new(Proved, "figures are negative", sentence);
    for (measure, figure) in &negative {
        // A sign may be written in many ways, or be lost between the text and what is quoted.
        let signed = figure.written.starts_with(['-', '\u{2212}', '\u{2013}']);
        let written = format!("{}{}", if signed { "" } else { "-" }, figure.written);
        hit = hit.line(format!("{} = {written} < 0", say::measure(**measure))).at([*figure]);
    }
    Some(
        hit.advice(
            "a clock that was set back or a difference that was taken the wrong way gives such figures",
        ),
    )
}

/// max <= duration: a request cannot take longer than the run in which it began and ended.
pub(super) fn inside_the_run(s: &Subject) -> Option<Hit> {
    // k6 and vegeta let what is under way finish after the end: 30 s unless told otherwise.
    let grace = s.definitions().map_or(0.0, |d| d.grace_s);
    let (whole, duration) = s.get(Measure::Duration).or_else(|| window(s))?;
    let room = duration.widened(0.02).plus(Span::exact(grace));
    let all = [Measure::Max, Measure::Mean].into_iter();
    let (measure, (figure, span)) =
        all.filter_map(|m| Some((m, s.get(m)?))).find(|(_, (_, span))| span.above(room))?;
    let what = say::measure(measure);
    let certainty = if s.tool().is_some() { Proved } else { Likely };
    let line = format!("{what} {} > duration {}", say::time(span.said), say::time(duration.said));
    let hit = Hit::new(certainty, "a time is longer than the run", format!("{what} is longer than the run"));
    Some(hit.line(line).at([figure, whole]).advice("check the units of both figures"))
}

/// Without a stated duration: the one that count and rate of a tool have.
fn window<'a>(s: &Subject<'a>) -> Option<(&'a Figure, Span)> {
    let (figure, rate) = s.get(Measure::Rate).filter(|_| s.is(|d| d.window <= 0.05))?;
    let count = s.span(Measure::Requests).filter(|_| s.row.samples.is_none())?;
    Some((figure, count.over(rate)?.widened(0.05)))
}

/// A part of an answer's time is no longer than the whole: means of parts, and medians by stochastic order.
pub(super) fn parts_inside_the_whole(s: &Subject) -> Option<Hit> {
    let mut pairs = vec![
        (Measure::FirstByteMean, Measure::Mean),
        (Measure::ProcessingMean, Measure::Mean),
        (Measure::FirstByteMedian, Measure::Percentile(5_000)),
        (Measure::ProcessingMedian, Measure::Percentile(5_000)),
    ];
    // k6's http_req_duration begins after the connection is there.
    if s.is(|d| d.connect_is_inside) {
        pairs.push((Measure::ConnectMean, Measure::Mean));
    }
    let found = pairs.into_iter().filter_map(|(a, b)| Some((a, s.get(a)?, b, s.get(b)?)));
    let (part, (a, x), whole, (b, y)) = found.into_iter().find(|(_, a, _, b)| s.exceeds(*a, *b))?;
    let (part, whole) = (say::measure(part), say::measure(whole));
    let sentence = format!("{part} is longer than {whole} of the whole");
    let line = format!("{part} {} > {whole} {}", say::time(x.said), say::time(y.said));
    let hit = Hit::new(Proved, "a part of the time is longer than the whole", sentence);
    Some(hit.line(line).at([a, b]).advice("take the parts and the whole from the same requests"))
}
