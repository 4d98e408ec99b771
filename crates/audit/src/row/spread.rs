//! Whether mean, deviation, percentiles and extremes can be of one distribution. Each bound here holds for every
//! distribution, so that whatever breaks it was not computed from one set of samples.

use super::bands::{self, Bands};
use super::span::Span;
use super::subject::{Hit, Subject};
use super::{little, order, say};
use crate::Certainty::{self, Likely, Proved};
use crate::foreign::tools::definitions::InFlight;
use crate::foreign::tools::jmeter::definitions::WINDOW;
use crate::foreign::{Figure, Measure, Tool};

/// Histograms keep three digits of a value (HDR), even if a tool prints more.
const DIGITS: f64 = 1.01;

const ONE_SET: &str = "state mean, percentiles and extremes of the same samples, and how many they are";

fn shift(s: &Subject) -> f64 {
    bands::shift(s.samples())
}

fn certainty(s: &Subject) -> Certainty {
    if s.samples().is_some() { Proved } else { Likely }
}

/// How many times more values than requests there can be: wrk adds less than one to each, by Little's law.
fn made_up(s: &Subject) -> f64 {
    if s.in_flight() == Some(InFlight::OneCorrected) { 2.0 } else { 1.0 }
}

/// What mean, percentiles, and extremes leave open.
fn bands(s: &Subject, mean: Span) -> Bands {
    let mut quantiles: Vec<(f64, Span)> =
        s.percentiles().iter().map(|(share, _, _, span)| (*share, *span)).filter(|(p, _)| *p < 1.0).collect();
    let min = s.digits(Measure::Min).map(|(_, span)| span);
    let max = s.digits(Measure::Max).map(|(_, span)| span);
    quantiles.extend(within(s, mean, min).into_iter().flatten());
    let n = s.samples().filter(|n| *n >= 2.0);
    Bands::new(min, max, &quantiles, n, made_up(s))
}

/// Where no time can be more than one deviation below the mean, the share within one ends at mean + deviation.
fn within(s: &Subject, mean: Span, min: Option<Span>) -> Option<[(f64, Span); 2]> {
    let share = s.span(Measure::WithinStdDev)?;
    let (_, sd) = s.digits(Measure::StdDev)?;
    if mean.high - sd.low >= min.map_or(0.0, |min| min.low) {
        return None;
    }
    let end = mean.plus(sd);
    let above = (share.high.min(1.0), Span { high: f64::INFINITY, ..end });
    Some([above, (share.low, Span { low: 0.0, ..end })])
}

/// Whether a rule of order speaks already: bounds over broken figures would say the same again.
pub(super) fn broken(s: &Subject) -> bool {
    order::percentiles_in_order(s).is_some() || order::mean_inside(s).is_some() || loses_made_up_samples(s)
}

/// wrk's made-up samples count for its mean and its percentiles, but those below its fastest response are found by
/// neither. With several requests on a connection, all responses are slower than the expected interval.
fn loses_made_up_samples(s: &Subject) -> bool {
    let several = |figure: &Figure| figure.written.contains(" x ");
    let pipelined =
        s.row.words.contains_key("pipelined") || s.row.figures.get(&Measure::Users).is_some_and(several);
    s.tool() == Some(Tool::Wrk) && pipelined
}

/// What explains that mean and percentiles are of different samples.
fn window(s: &Subject) -> String {
    let large = s.samples().is_some_and(|n| n > WINDOW as f64);
    let text = "JMeter's HTML report takes its percentiles from the last 20,000 samples of each label only \
                (`jmeter.reportgenerator.statistic_window`), its mean from all";
    match s.tool() {
        Some(Tool::Jmeter) if large => text.into(),
        None if large => format!("if this is JMeter's: {text}"),
        _ => String::new(),
    }
}

struct Tail<'a> {
    /// The highest percentile.
    share: f64,
    name: String,
    /// What the mean of the values above it has to be at least.
    needed: f64,
    figures: Vec<&'a Figure>,
    mean: Span,
    edge: Span,
}

/// mean <= sum over bands of (share of the band x its upper edge) + (1 - p) x mean of the tail, solved for the tail.
fn tail<'a>(s: &Subject<'a>) -> Option<Tail<'a>> {
    let (mean_figure, mean) = s.digits(Measure::Mean)?;
    let all = s.percentiles();
    let (share, p, figure, edge) = all.iter().rfind(|(share, ..)| *share < 1.0).copied()?;
    let by = shift(s);
    let mut below = 0.0;
    let mut bands = 0.0;
    for (at, _, _, span) in all.iter().filter(|(share, ..)| *share < 1.0) {
        // The later the edge, the larger the sum may be: shifted so that the bound only gets weaker.
        let at = (at - by).max(below);
        bands += (at - below) * span.high;
        below = at;
    }
    let rest = 1.0 - below;
    if rest <= 0.0 {
        return None;
    }
    let needed = (mean.low - bands) / rest;
    Some(Tail { share, name: say::percentile(p), needed, figures: vec![mean_figure, figure], mean, edge })
}

/// The tail that the mean needs lies above the maximum, or above the length of the run.
pub(super) fn mean_within_reach(s: &Subject) -> Option<Hit> {
    let tail = tail(s).filter(|_| !broken(s))?;
    let limits = [(Measure::Max, "the maximum"), (Measure::Duration, "the whole run")];
    let (figure, limit, what) = limits
        .into_iter()
        .filter_map(|(m, what)| s.digits(m).map(|(f, span)| (f, span, what)))
        .find(|(_, limit, _)| tail.needed > limit.high * (1.0 + 1e-9))?;
    let name = &tail.name;
    let sentence = format!("the mean is higher than the percentiles and {what} allow");
    let hit = Hit::new(certainty(s), "the mean is higher than the percentiles allow", sentence)
        .line(format!("mean {}, {name} {}", say::time(tail.mean.said), say::time(tail.edge.said)))
        .line(format!(
            "the slowest {} would need a mean of {} or more > {what} {}",
            say::percent(1.0 - tail.share),
            say::time(tail.needed),
            say::time(limit.high)
        ));
    Some(hit.at(tail.figures).at([figure]).why(window(s)).advice(ONE_SET))
}

/// mean > p95: possible, but then a few requests carry the mean. Says how long they would have to be.
pub(super) fn mean_above_the_tail(s: &Subject) -> Option<Hit> {
    let all = s.percentiles();
    let (share, p, figure, edge) =
        all.iter().rfind(|(share, _, _, _)| (0.95..1.0).contains(share)).copied().and_then(|last| {
            // p99 when the mean lies above it, else p95: the stronger statement.
            let mean = s.digits(Measure::Mean).map(|(_, span)| span)?;
            if mean.above(last.3) {
                return Some(last);
            }
            all.iter().rfind(|(share, _, _, span)| (0.95..1.0).contains(share) && mean.above(*span)).copied()
        })?;
    let (mean_figure, mean) = s.digits(Measure::Mean)?;
    if !mean.above(edge) || broken(s) || mean_within_reach(s).is_some() {
        return None;
    }
    let name = say::percentile(p);
    let mut hit = Hit::new(
        Likely,
        "the mean lies above a high percentile",
        format!(
            "the mean lies above {name}: less than {} of the requests carry it",
            say::percent(1.0 - share)
        ),
    )
    .line(format!("mean {} > {name} {}", say::time(mean.said), say::time(edge.said)));
    if let Some(tail) = tail(s).filter(|t| t.needed > 0.0) {
        hit = hit.line(format!(
            "for both to be true the slowest {} would need a mean of {} or more",
            say::percent(1.0 - tail.share),
            say::time(tail.needed)
        ));
    }
    let why = window(s);
    let why = if why.is_empty() {
        "a few very long requests, or percentiles of a part of the run".into()
    } else {
        why
    };
    Some(hit.at([mean_figure, figure]).why(why).advice(ONE_SET))
}

/// mean >= sum over bands of (share of the band x its lower edge).
pub(super) fn mean_not_too_low(s: &Subject) -> Option<Hit> {
    let (mean_figure, mean) = s.digits(Measure::Mean).filter(|_| !broken(s))?;
    let by = shift(s);
    let start = s.digits(Measure::Min).map(|(_, span)| span).map_or(0.0, |min| min.low);
    let (mut edge, mut from, mut least) = (start, 0.0_f64, 0.0);
    let mut used = vec![mean_figure];
    for (share, _, figure, span) in s.percentiles() {
        // An edge that lies later leaves less above it: shifted so that the bound only gets weaker.
        let share = (share + by).clamp(from, 1.0);
        least += (share - from) * edge;
        (edge, from) = (edge.max(span.low), share);
        used.push(figure);
    }
    least += (1.0 - from) * edge;
    if used.len() < 2 || mean.high >= least * (1.0 - 1e-9) {
        return None;
    }
    let sentence = "the mean is lower than the percentiles allow";
    let hit = Hit::new(certainty(s), sentence, sentence).line(format!(
        "if every request took no longer than the next lower percentile, the mean were {} > {}",
        say::time(least),
        say::time(mean.said)
    ));
    Some(hit.at(used).why(window(s)).advice(ONE_SET))
}

/// sd^2 <= (max - mean)(mean - min) x n/(n-1) (Bhatia & Davis 2000; it is sharper than Popoviciu's (max - min)/2).
pub(super) fn deviation_not_too_large(s: &Subject) -> Option<Hit> {
    times_deviate(s).or_else(|| rates_deviate(s))
}

/// The same for wrk's rates per thread, of which there are ten or more.
fn rates_deviate(s: &Subject) -> Option<Hit> {
    const SAMPLES: f64 = 10.0;
    let (mean_figure, mean) = s.get(Measure::ThreadRateMean)?;
    let (sd_figure, sd) = s.get(Measure::ThreadRateStdDev)?;
    let (max_figure, max) = s.get(Measure::ThreadRateMax)?;
    let middle = (max.high / 2.0).clamp(mean.low, mean.high);
    let bound = ((max.high - middle).max(0.0) * middle * SAMPLES / (SAMPLES - 1.0)).sqrt();
    if sd.low <= bound * (1.0 + 1e-9) {
        return None;
    }
    let sentence = "the deviation of the rate per thread is larger than its mean and its maximum allow";
    let hit = Hit::new(Proved, sentence, sentence).line(format!(
        "sqrt(({} - {}) x {}) = {}/s < {}/s",
        say::number(max.said),
        say::number(mean.said),
        say::number(mean.said),
        say::number(bound),
        say::number(sd.said)
    ));
    Some(hit.at([mean_figure, sd_figure, max_figure]).advice(ONE_SET))
}

fn times_deviate(s: &Subject) -> Option<Hit> {
    let (mean_figure, mean) = s.digits(Measure::Mean).filter(|_| !broken(s))?;
    let (max_figure, max) = s.digits(Measure::Max)?;
    let (sd_figure, sd) = s.digits(Measure::StdDev)?;
    let min = s.digits(Measure::Min).map(|(_, span)| span).map_or(0.0, |min| min.low);
    // The bound is largest where the mean is in the middle between both ends.
    let middle = f64::midpoint(min, max.high).clamp(mean.low, mean.high);
    let n = s.samples().unwrap_or(2.0).max(2.0);
    let bound = ((max.high - middle).max(0.0) * (middle - min).max(0.0) * n / (n - 1.0)).sqrt();
    let sentence = "the standard deviation is larger than mean and extremes allow";
    if sd.low <= bound * (1.0 + 1e-9) {
        let most = bands(s, mean).largest_deviation(mean)? * (n / (n - 1.0)).sqrt();
        if sd.low <= most * DIGITS {
            return None;
        }
        let line = format!(
            "with all values at the outer ends of what mean and percentiles leave: {} < {}",
            say::time(most),
            say::time(sd.said)
        );
        let sentence = "the standard deviation is larger than mean, percentiles, and extremes allow";
        let hit = Hit::new(certainty(s), sentence, sentence).line(line);
        return Some(hit.at([mean_figure, sd_figure, max_figure]).advice(ONE_SET));
    }
    let hit = Hit::new(Proved, sentence, sentence).line(format!(
        "sqrt(({} - {}) x ({} - {})) = {} < {}",
        say::time(max.said),
        say::time(mean.said),
        say::time(mean.said),
        say::time(min),
        say::time(bound),
        say::time(sd.said)
    ));
    Some(hit.at([mean_figure, sd_figure, max_figure]).advice(ONE_SET))
}

/// max - mean <= sd x sqrt(n-1) (Samuelson 1968), or sd x (n-1)/sqrt(n) where the tool is known to divide by n - 1 and
/// not by n; and each percentile within sd x sqrt(p/(1-p)) above and
/// sd x sqrt((1-p)/p) below the mean (Cantelli 1928). Several percentiles together bound it more sharply.
pub(super) fn deviation_not_too_small(s: &Subject) -> Option<Hit> {
    let (mean_figure, mean) = s.digits(Measure::Mean).filter(|_| !broken(s))?;
    let (sd_figure, sd) = s.digits(Measure::StdDev)?;
    // A table may show what such a tool printed.
    if s.is(|d| d.deviation_of_distinct) || s.tool().is_none() && s.named_tools().contains("bombardier") {
        return None;
    }
    let sentence = "the standard deviation is too small for the values around the mean";
    let base = || Hit::new(certainty(s), sentence, sentence).at([mean_figure, sd_figure]).advice(ONE_SET);
    let describe = |what: &str, away: f64, bound: f64, how: &str| {
        base().line(format!("{what} is {} from the mean > {} = {how}", say::time(away), say::time(bound)))
    };
    let values = s.samples().filter(|n| *n >= 2.0).map(|n| n * made_up(s));
    if let (Some(n), Some((figure, max))) = (values, s.digits(Measure::Max)) {
        let divides_by_less = s.is(|d| d.deviation_of_sample);
        let most = if divides_by_less { (n - 1.0) / n.sqrt() } else { (n - 1.0).sqrt() };
        let bound = sd.high * most;
        let away = max.low - mean.high;
        if away > bound * (1.0 + 1e-6) {
            let root =
                if divides_by_less { format!("({n} - 1) / sqrt({n})") } else { format!("sqrt({n} - 1)") };
            let how = format!("{} x {root}", say::time(sd.said));
            return Some(describe("the maximum", away, bound, &how).at([figure]));
        }
    }
    let by = shift(s);
    for (share, p, figure, span) in s.percentiles() {
        let late = (share + by).min(1.0);
        let early = (share - by).max(0.0);
        let above = if late < 1.0 { sd.high * (late / (1.0 - late)).sqrt() } else { f64::INFINITY };
        let below = if early > 0.0 { sd.high * ((1.0 - early) / early).sqrt() } else { f64::INFINITY };
        let up = span.low - mean.high;
        let down = mean.low - span.high;
        if up > above * 1.01 {
            let how = format!("{} x sqrt({late:.4} / {:.4})", say::time(sd.said), 1.0 - late);
            return Some(describe(&say::percentile(p), up, above, &how).at([figure]));
        }
        if down > below * 1.01 {
            let how = format!("{} x sqrt({:.4} / {early:.4})", say::time(sd.said), 1.0 - early);
            return Some(describe(&say::percentile(p), down, below, &how).at([figure]));
        }
    }
    if s.percentiles().is_empty() && s.get(Measure::WithinStdDev).is_none() {
        return None;
    }
    let least = bands(s, mean).least_deviation(mean).unwrap_or(0.0);
    if sd.high * DIGITS < least {
        let line = format!(
            "with all values as near to each other as mean and percentiles leave: {} > {}",
            say::time(least),
            say::time(sd.said)
        );
        return Some(base().line(line).at(s.percentiles().iter().map(|(_, _, figure, _)| *figure)));
    }
    None
}

/// mean > 5 x median: the figures of the middle and of the tail are of different worlds.
pub(super) fn mean_far_above_the_median(s: &Subject) -> Option<Hit> {
    const TIMES: f64 = 5.0;
    // A mean that is none is said already.
    let (mean_figure, mean) =
        s.digits(Measure::Mean).filter(|_| !broken(s) && !little::more_than_possible(s))?;
    let (median_figure, median) = s.get(Measure::Percentile(5_000))?;
    if median.said <= 0.0 || mean.low <= TIMES * median.high || mean_above_the_tail(s).is_some() {
        return None;
    }
    let times = mean.said / median.said;
    let mut hit = Hit::new(
        Certainty::Possible,
        "the mean is many times the median",
        format!("the mean is {} times the median: a part of the requests starves", say::about(times)),
    )
    .line(format!("{} / {} = {}", say::time(mean.said), say::time(median.said), say::about(times)));
    if let (Some(rate), Some((_, users))) = (s.span(Measure::Rate), s.get(Measure::Users)) {
        let busy = rate.times(median);
        if busy.high < users.low {
            hit = hit.line(format!(
                "{}/s x {} = {} of {} {} are enough for requests of the median's length",
                say::number(rate.said),
                say::time(median.said),
                say::about(busy.said),
                say::number(users.said),
                say::users(s.tool())
            ));
        }
    }
    let why = "some connections wait while others are served again and again, or the run holds two kinds of requests";
    Some(
        hit.at([mean_figure, median_figure])
            .why(why)
            .advice("show the distribution, and the times by connection"),
    )
}
