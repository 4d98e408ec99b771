//! A whole against its parts where the parts are all of it: every figure of a mixture follows from, or is bounded by,
//! the figures of its parts.

use super::say;
use super::span::Span;
use super::subject::Subject;
use super::total::{Stated, of};
use crate::foreign::{Figure, Measure};

type Remark<'a> = (String, Vec<&'a Figure>);

/// What differs, for a total whose requests are those of its parts.
pub(super) fn differences<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks: Vec<Remark> = weighted_mean(s).into_iter().collect();
    remarks.extend(weighted_share(s));
    remarks.extend(percentiles(s));
    remarks.extend(bytes(s, Measure::BytesPerS));
    remarks.extend(bytes(s, Measure::BytesSentPerS));
    remarks
}

/// sum(n x) / sum(n).
fn weighted(counts: &[Stated], values: &[Stated]) -> Option<Span> {
    let sum = |parts: &mut dyn Iterator<Item = Span>| parts.fold(Span::exact(0.0), Span::plus);
    let all = sum(&mut counts.iter().map(|(_, n)| *n));
    sum(&mut counts.iter().zip(values).map(|((_, n), (_, x))| n.times(*x))).over(all)
}

fn mean_of<'a>(s: &Subject<'a>, measure: Measure, grain: f64) -> Option<(Span, Span, Vec<&'a Figure>)> {
    let (_, _, counts) = of(s, Measure::Requests)?;
    let (figure, stated, parts) = of(s, measure)?;
    let expected = weighted(&counts, &parts)?;
    let room = Span { low: (expected.low - grain).max(0.0), high: expected.high + grain, ..expected };
    let figures = [figure].into_iter().chain(parts.iter().map(|(f, _)| *f)).collect();
    (!room.meets(stated)).then_some((expected, stated, figures))
}

/// Means of whole milliseconds were cut or rounded by a hand that the tool does not name: one of them to each side.
fn weighted_mean<'a>(s: &Subject<'a>) -> Option<Remark<'a>> {
    let (figure, _) = s.get(Measure::Mean)?;
    let grain = if figure.written.contains('.') { 0.0 } else { 1e-3 };
    let (expected, stated, figures) = mean_of(s, Measure::Mean, grain)?;
    let line = format!(
        "mean of the parts, weighted by their requests: {}, stated {}",
        say::time(expected.said),
        say::time(stated.said)
    );
    Some((line, figures))
}

fn weighted_share<'a>(s: &Subject<'a>) -> Option<Remark<'a>> {
    let (expected, stated, figures) = mean_of(s, Measure::ErrorRatio, 1e-9)?;
    let line = format!(
        "share of errors of the parts, weighted by their requests: {}, stated {}",
        say::percent(expected.said),
        say::percent(stated.said)
    );
    Some((line, figures))
}

/// A quantile of a mixture lies between the smallest and the largest of that quantile in its parts.
fn percentiles<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    for (_, p, ..) in s.percentiles() {
        let Some((figure, stated, parts)) = of(s, Measure::Percentile(p)) else { continue };
        // Definitions of a percentile differ by two ranks, which few samples may spread over anything.
        let few = of(s, Measure::Requests).is_none_or(|(_, _, counts)| {
            counts.iter().any(|(f, _)| f.value * (1.0 - f64::from(p) / 1e4) < 3.0)
        });
        if few {
            continue;
        }
        let low = parts.iter().map(|(_, x)| x.low).fold(f64::INFINITY, f64::min);
        let high = parts.iter().map(|(_, x)| x.high).fold(0.0, f64::max);
        let range = Span::between(low * 0.99 - 1e-3, high * 1.01 + 1e-3);
        if !range.meets(stated) {
            let line = format!(
                "{}: {} to {} in the parts, stated {}",
                say::percentile(p),
                say::time(low),
                say::time(high),
                say::time(stated.said)
            );
            remarks.push((line, [figure].into_iter().chain(parts.iter().map(|(f, _)| *f)).collect()));
        }
    }
    remarks
}

/// Bytes of a row are bytes per second x requests / rate, and those of the parts add up.
fn bytes<'a>(s: &Subject<'a>, measure: Measure) -> Option<Remark<'a>> {
    const WINDOWS: f64 = 0.03;
    let (_, count, counts) = of(s, Measure::Requests)?;
    let (_, rate, rates) = of(s, Measure::Rate)?;
    let (figure, stated, parts) = of(s, measure)?;
    let whole = stated.times(count.over(rate)?);
    let mut sum = Span::exact(0.0);
    for ((each, (_, n)), (_, x)) in parts.iter().zip(&counts).zip(&rates) {
        sum = sum.plus(each.1.times(n.over(*x)?));
    }
    (!sum.widened(WINDOWS).meets(whole)).then(|| {
        let line = format!(
            "bytes of the parts, by their rates and windows: {}, of the total: {}",
            say::number(sum.said),
            say::number(whole.said)
        );
        (line, [figure].into_iter().chain(parts.iter().map(|(f, _)| *f)).collect())
    })
}
