//! A whole against its parts where the parts are all of it: every figure of a mixture follows from, or is bounded by,
//! the figures of its parts.

use super::say;
use super::span::Span;
use super::subject::Subject;
use super::total::{Stated, of, parts};
use crate::foreign::tools::jmeter::definitions::WINDOW;
use crate::foreign::{Figure, Measure, Row, Tool};

type Remark<'a> = (String, Vec<&'a Figure>);

/// What differs, for a total whose requests are those of its parts.
pub(super) fn differences<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks: Vec<Remark> = weighted_mean(s).into_iter().collect();
    remarks.extend(weighted_share(s));
    remarks.extend(percentiles(s));
    if remarks.is_empty() {
        remarks.extend(shares_below(s));
    }
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
    // What one tool recorded, it adds up without the error of its clock.
    let whole_ms = s.is(|d| d.records_whole_ms);
    let digits = |(figure, span): &Stated<'a>| match Span::of_digits(figure).filter(|_| whole_ms) {
        Some(own) => (*figure, own.at_least_zero()),
        None => (*figure, *span),
    };
    let (parts, (_, stated)) = (parts.iter().map(digits).collect::<Vec<_>>(), digits(&(figure, stated)));
    let expected = weighted(&counts, &parts)?;
    let room = Span { low: (expected.low - grain).max(0.0), high: expected.high + grain, ..expected };
    let figures = [figure].into_iter().chain(parts.iter().map(|(f, _)| *f)).collect();
    (!room.meets(stated)).then_some((expected, stated, figures))
}

/// Means of whole milliseconds were cut or rounded by a hand that the tool does not name: one of them to each side.
fn weighted_mean<'a>(s: &Subject<'a>) -> Option<Remark<'a>> {
    let (figure, _) = s.get(Measure::Mean)?;
    let grain = if figure.written.contains('.') || s.tool().is_some() { 0.0 } else { 1e-3 };
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

/// The share of a whole below a time is the sum of those of its parts, weighted by their samples; percentiles and
/// extremes of the parts bound each of them.
fn shares_below<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    const RANKS: f64 = 3.0;
    let mut remarks = Vec::new();
    let Some((_, count, counts)) = of(s, Measure::Requests) else { return remarks };
    let rows = parts(s);
    // JMeter's report takes percentiles of the last samples of each label only; a table may be a copy of it.
    let windowed = s.tool().is_none_or(|tool| tool == Tool::Jmeter);
    if counts.len() != rows.len() || count.low < 1.0 || windowed && count.high > WINDOW as f64 {
        return remarks;
    }
    let bounds: Vec<Bounds> = rows.iter().zip(&counts).map(|(row, (_, n))| Bounds::of(row, n.said)).collect();
    for (share, p, figure, stated) in s.percentiles().into_iter().filter(|(share, ..)| *share < 1.0) {
        let shift = RANKS / count.low;
        let sum = |side: &dyn Fn(&Bounds) -> f64| {
            bounds.iter().zip(&counts).map(|(b, (_, n))| n.said * side(b)).sum::<f64>() / count.said
        };
        let most = sum(&|b| b.share_at_most(stated.high));
        let least = sum(&|b| b.share_at_least(stated.low));
        let (said, words) = match () {
            () if most < share - shift - 1e-9 => (most, "at most"),
            () if least > share + shift + 1e-9 => (least, "at least"),
            () => continue,
        };
        let line = format!(
            "{} {}: by the parts, {words} {} of all samples are below it",
            say::percentile(p),
            say::time(stated.said),
            say::percent(said)
        );
        remarks.push((line, vec![figure]));
    }
    remarks
}

/// Shares with the values that they lie at, lowest first.
struct Bounds {
    points: Vec<(f64, Span)>,
    shift: f64,
}

impl Bounds {
    fn of(row: &Row, samples: f64) -> Self {
        let whole_ms = row.tool.is_some_and(|tool| tool.definitions().records_whole_ms);
        let digits = if whole_ms { Span::of_digits } else { Span::of };
        let own = |m: &Measure| row.figures.get(m).and_then(digits);
        let shift = 2.0 / samples.max(2.0);
        let mut points: Vec<(f64, Span)> = Vec::new();
        for measure in row.figures.keys() {
            let share = match measure {
                // All are at least the minimum, and none exceeds the maximum.
                Measure::Min => -shift,
                Measure::Max => 1.0 + shift,
                Measure::Percentile(p) if *p < 10_000 => f64::from(*p) / 1e4,
                _ => continue,
            };
            points.extend(own(measure).map(|span| (share, span)));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { points, shift }
    }

    /// The largest share of samples that can be at or below this time.
    fn share_at_most(&self, time: f64) -> f64 {
        let above = self.points.iter().find(|(_, x)| x.low > time);
        above.map_or(1.0, |(share, _)| (share + self.shift).clamp(0.0, 1.0))
    }

    /// The smallest share of samples that are below this time.
    fn share_at_least(&self, time: f64) -> f64 {
        let below = self.points.iter().rfind(|(_, x)| x.high < time);
        below.map_or(0.0, |(share, _)| (share - self.shift).clamp(0.0, 1.0))
    }
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
