//! A histogram beside the figures of the same run: its counts, its edges, and the percentiles that it allows. Edges are
//! upper ends: hey and oha count a time into the first bucket whose edge it does not exceed.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::Proved;
use crate::foreign::{Figure, Measure, Tool};

/// A rank may differ by the definition of a percentile (Hyndman & Fan 1996).
const RANKS: f64 = 2.0;
/// hey, oha, and ghz print at least so many buckets: in fewer, some are left out.
const BUCKETS: usize = 10;
/// hey keeps a million times; counts of longer runs are not those of all responses.
const HEY_KEEPS: f64 = 1_000_000.0;

struct Bucket<'a> {
    /// No time in it is less; nothing is known of the first.
    low: f64,
    high: Span,
    edge: &'a Figure,
    times: &'a Figure,
}

fn buckets<'a>(s: &Subject<'a>) -> Option<Vec<Bucket<'a>>> {
    let mut low = 0.0;
    let mut all = Vec::new();
    for (edge, times) in &s.row.histogram {
        let high = Span::of(edge)?;
        all.push(Bucket { low, high, edge, times });
        low = high.low;
    }
    (all.len() >= 2).then_some(all)
}

/// Counts add up to the responses, edges end at the extremes, and percentiles lie in their buckets.
pub(super) fn fits(s: &Subject) -> Option<Hit> {
    let all = buckets(s)?;
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    let sum: f64 = all.iter().map(|b| b.times.value).sum();
    let capped = s.tool() == Some(Tool::Hey) && s.samples().is_some_and(|n| n >= HEY_KEEPS);
    let counted = s.span(Measure::Requests).map(|count| {
        let failed = s.span(Measure::Errors).unwrap_or(Span::exact(0.0));
        count.minus(failed).meets(Span::exact(sum))
    });
    let is_whole = all.len() >= BUCKETS || counted == Some(true);
    if let Some((count_figure, count)) = s.get(Measure::Requests).filter(|_| !capped) {
        // Requests without a response have no time.
        let responses = count.minus(s.span(Measure::Errors).unwrap_or(Span::exact(0.0)));
        let sum_span = Span::exact(sum);
        if !responses.meets(sum_span) && (is_whole || sum_span.above(responses)) {
            let line =
                format!("{} in all buckets, {} responses", say::number(sum), say::number(responses.said));
            remarks.push((line, all.iter().map(|b| b.times).chain([count_figure]).collect()));
        }
    }
    let ends = [(Measure::Min, all.first()), (Measure::Max, all.last())];
    let meets = |(measure, bucket): &(Measure, Option<&Bucket>)| {
        s.span(*measure).zip(bucket.as_ref()).is_none_or(|(span, bucket)| span.meets(bucket.high))
    };
    // Old versions of oha count from the fastest: neither end is that of a time.
    // They print the success rate as a ratio, and collect the slowest times in the last bucket.
    let is_old = s.row.others.get("answered").is_some_and(|ratio| !ratio.written.contains('%'));
    let is_offset =
        s.tool() == Some(Tool::Oha) && (is_old || !ends.iter().any(meets) || begins_a_step_later(s, &all));
    for (measure, bucket) in ends.into_iter().filter(|_| !is_offset && is_whole) {
        let (Some((figure, span)), Some(bucket)) = (s.get(measure), bucket) else { continue };
        if !span.meets(bucket.high) {
            let line = format!(
                "{} {}, the outermost edge is {}",
                say::measure(measure),
                say::time(span.said),
                say::time(bucket.high.said)
            );
            remarks.push((line, vec![figure, bucket.edge]));
        }
    }
    if remarks.is_empty() && !is_offset && is_whole {
        remarks.extend(percentiles(s, &all, sum));
        remarks.extend(mean(s, &all, sum));
    }
    remarks.first()?;
    let sentence = "the histogram and the figures are not of the same times";
    let hit = Hit::new(Proved, sentence, sentence).advice("copy histogram and figures from one run");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}

/// The first edge is the minimum and one of eleven steps to the maximum: oha 0.4 and older.
fn begins_a_step_later(s: &Subject, all: &[Bucket]) -> bool {
    const STEPS: f64 = 11.0;
    let range = s.span(Measure::Min).zip(s.span(Measure::Max));
    range.zip(all.first()).is_some_and(|((min, max), first)| {
        let step = (max.said - min.said) / STEPS;
        !min.meets(first.high) && Span::between(min.low + step, min.high + step).meets(first.high)
    })
}

fn percentiles<'a>(s: &Subject<'a>, all: &[Bucket<'a>], sum: f64) -> Vec<(String, Vec<&'a Figure>)> {
    let mut remarks = Vec::new();
    for (share, p, figure, span) in s.percentiles() {
        let rank = share * sum;
        if let Some((line, figure)) = interpolated(s, all, rank, (p, figure)) {
            remarks.push((line, vec![figure]));
            continue;
        }
        // These are surely below it, and those can be at most.
        let below: f64 = all.iter().filter(|b| b.high.high < span.low).map(|b| b.times.value).sum();
        let reach: f64 = all.iter().filter(|b| b.low <= span.high).map(|b| b.times.value).sum();
        let wrong = below > rank + RANKS || reach < rank - RANKS;
        if wrong {
            let (times, what) = if below > rank { (below, "are below it") } else { (reach, "reach it") };
            let line = format!(
                "{} {}: {} of {} times {what}, {} should be",
                say::percentile(p),
                say::time(span.said),
                say::number(times),
                say::number(sum),
                say::number(rank)
            );
            remarks.push((line, vec![figure]));
        }
    }
    remarks
}

/// fortio interpolates a percentile within its bucket, so that the histogram gives its digits.
fn interpolated<'a>(
    s: &Subject,
    all: &[Bucket],
    rank: f64,
    (p, figure): (u16, &'a Figure),
) -> Option<(String, &'a Figure)> {
    // Versions differ by one rank.
    const OFF: f64 = 0.02;
    if s.tool() != Some(Tool::Fortio) {
        return None;
    }
    let mut before = 0.0;
    let bucket = all.iter().find(|bucket| {
        let reached = before + bucket.times.value >= rank;
        before += if reached { 0.0 } else { bucket.times.value };
        reached
    })?;
    let times = bucket.times.value;
    let width = bucket.high.said - bucket.low;
    // Its first time is at the lower end of a bucket, and its last at the upper one.
    let share = if times > 1.0 { ((rank - before - 1.0) / (times - 1.0)).clamp(0.0, 1.0) } else { 1.0 };
    let expected = bucket.low + width * share;
    let off = OFF * expected + width * RANKS / times;
    ((expected - figure.value).abs() > off).then(|| {
        let line = format!(
            "{} {}: {} by interpolation in its bucket",
            say::percentile(p),
            say::time(figure.value),
            say::time(expected)
        );
        (line, figure)
    })
}

fn mean<'a>(s: &Subject<'a>, all: &[Bucket<'a>], sum: f64) -> Option<(String, Vec<&'a Figure>)> {
    let (figure, mean) = s.get(Measure::Mean)?;
    let least = s.span(Measure::Min).map_or(0.0, |min| min.low);
    let low: f64 = all.iter().map(|b| b.times.value * b.low.max(least)).sum::<f64>() / sum;
    let high: f64 = all.iter().map(|b| b.times.value * b.high.high).sum::<f64>() / sum;
    let range = Span::between(low, high);
    (sum > 0.0 && !mean.meets(range)).then(|| {
        let line = format!(
            "mean {}, the histogram allows {} to {}",
            say::time(mean.said),
            say::time(low),
            say::time(high)
        );
        (line, vec![figure])
    })
}
