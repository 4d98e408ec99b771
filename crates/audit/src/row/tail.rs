//! What a percentile stands on: samples beyond it, and what was left out of it.

use super::counts;
use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use super::tools;
use crate::Certainty::{Likely, Proved};
use crate::foreign::tools::definitions::Counted;
use crate::foreign::{Measure, Tool};

/// Two-sided 95% of the normal distribution.
const Z: f64 = 1.96;
/// With fewer samples beyond a percentile, the interval of their number, n +- 1.96 sqrt(n), is as wide as the number
/// itself: a percentile of another run may be any of them. Z^2, rounded.
const BEYOND: f64 = 4.0;
/// From p99 on, conclusions are about the tail: there an interval of half the number is too wide already. (Z / 0.5)^2,
/// rounded.
const BEYOND_TAIL: f64 = 15.0;

/// Samples beyond p = n (1 - p), and the order statistics that enclose the percentile.
pub(super) fn enough_samples(s: &Subject) -> Option<Hit> {
    // What the audit computed from samples itself, no report relies on.
    let all = s.samples().filter(|_| s.row.samples.is_none())?;
    let (count_figure, _) = s.get(Measure::Requests)?;
    // Requests without a response have no time in such a tool.
    let timeless = s.is(|d| d.times_of == Counted::Successes && d.errors_are_requests);
    let failed = s.span(Measure::Errors).filter(|_| timeless).map_or(0.0, |n| n.said);
    let n = if failed < all { all - failed } else { all };
    // Tools print p99.9 and p99.99 without being asked; in a table, they are a choice.
    let highest = if s.tool().is_some() { 0.99 } else { 0.999_9 };
    let beyond = |share: f64| n * (1.0 - share);
    let mut thin = s.percentiles().into_iter().filter(|(share, ..)| *share > 0.5 && *share <= highest + 1e-9);
    let least = |share: f64| if share >= 0.99 { BEYOND_TAIL } else { BEYOND };
    let (share, p, figure, _) = thin.rfind(|(share, ..)| beyond(*share) < least(*share))?;
    let name = say::percentile(p);
    let sentence = format!("{name} is based on {} of {} samples", say::about(beyond(share)), say::number(n));
    // The rank of a percentile is binomial (David & Nagaraja, Order Statistics, section 7.1).
    let half = Z * (n * share * (1.0 - share)).sqrt();
    let low = (n * share - half).floor().max(1.0);
    let high = (n * share + half).ceil();
    let top = if high >= n { "the maximum".to_owned() } else { format!("p{}", say::about(100.0 * high / n)) };
    let line = format!(
        "{} x (1 - {share}) = {} above {name}: it lies between p{} and {top} of this run (95%)",
        say::number(n),
        say::about(beyond(share)),
        say::about(100.0 * low / n)
    );
    let hit = Hit::new(Likely, "percentiles are based on too few samples", sentence).line(line);
    let advice = "run longer, or state a lower percentile; 10 / (1 - p) samples are the least";
    Some(hit.at([figure, count_figure]).advice(advice))
}

/// Time-outs that are in no percentile: above p = 1 - share every percentile is at least the time-out.
pub(super) fn timeouts_left_out(s: &Subject) -> Option<Hit> {
    let (figure, timeouts) = s.get(Measure::TimeoutErrors)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    if timeouts.low <= 0.0 || count.low <= 0.0 || !states_times(s) {
        return None;
    }
    let wrk = s.is(|d| d.connects_once);
    if wrk && keeps_late_times(s) {
        return None;
    }
    // wrk counts an answer that came too late as a request and as a time-out, and records no time for it.
    let counted = wrk || s.is(|d| d.times_of == Counted::Successes && d.errors_are_requests);
    let all = if counted { count } else { count.plus(timeouts) };
    let share = timeouts.over(all)?;
    let from = 1.0 - share.said;
    let stated = s.percentiles();
    let max = s.get(Measure::Max);
    let hidden = stated.iter().rfind(|(p, ..)| *p < 1.0 && *p > from);
    let sentence = match hidden {
        Some((_, p, ..)) => {
            format!(
                "{} leaves out {} time-outs, which are slower",
                say::percentile(*p),
                say::number(timeouts.said)
            )
        }
        None => format!("{} time-outs are in no percentile", say::number(timeouts.said)),
    };
    let mut hit =
        Hit::new(if wrk { Proved } else { Likely }, "time-outs are left out of the percentiles", sentence)
            .line(format!(
                "{} / {} = {} timed out: from p{} on every percentile is at least the time-out",
                say::number(timeouts.said),
                say::number(all.said),
                say::percent(share.said),
                say::about(from.max(0.0) * 100.0)
            ))
            .at([figure, count_figure]);
    if let Some((_, p, high, span)) = stated.iter().rfind(|(p, ..)| *p < 1.0) {
        let real = f64::from(*p) / 100.0 * (1.0 - share.said);
        hit = hit
            .line(format!(
                "the stated {} ({}) is p{} of all requests",
                say::percentile(*p),
                say::time(span.said),
                say::about(real)
            ))
            .at([*high]);
    }
    if let Some((max_figure, span)) = max {
        hit = hit.line(format!("the stated maximum ({}) is not the longest time", say::time(span.said)));
        hit = hit.at([max_figure]);
    }
    let advice = "count a time-out as at least that long, and write the percentiles above it with `>=`";
    Some(hit.advice(advice))
}

/// Up to version 3, wrk records the times of late responses; since version 4, none is above the timeout.
fn keeps_late_times(s: &Subject) -> bool {
    const TIMEOUT_S: f64 = 2.0;
    let Some(command) = s.row.words.get("command") else { return false };
    let is_set =
        command.text.split_whitespace().any(|word| word.starts_with("-T") || word.starts_with("--timeout"));
    !is_set && s.span(Measure::Max).is_some_and(|max| max.low > TIMEOUT_S * 1.05)
}

/// A row of counts and rates alone leaves nothing out of its times.
fn states_times(s: &Subject) -> bool {
    s.get(Measure::Mean).is_some() || s.get(Measure::Max).is_some() || !s.percentiles().is_empty()
}

/// A mean of 0: the clock of the tool is coarser than the service.
pub(super) fn above_the_resolution(s: &Subject) -> Option<Hit> {
    let measures = [Measure::Mean, Measure::Percentile(5_000)];
    let (measure, (figure, span)) = measures
        .into_iter()
        .filter_map(|m| Some((m, s.get(m)?)))
        .find(|(_, (figure, span))| figure.value == 0.0 && span.high > 0.0 && span.high < 1.0)?;
    // Where nothing was answered, a tool prints 0 for what it has no sample of.
    if s.span(Measure::Requests).is_some_and(|n| n.high < 1.0)
        || s.span(Measure::Rate).is_some_and(|rate| rate.said <= 0.0)
    {
        return None;
    }
    let what = say::measure(measure);
    let line = format!("{what} {}: anywhere from 0 to {}", figure.written, say::time(span.high));
    let hit = Hit::new(
        Proved,
        "a time is below the resolution of the tool",
        format!("{what} is below the resolution of the tool"),
    );
    Some(hit.line(line).at([figure]).advice("measure with a finer clock: 0 is no time that a request takes"))
}

/// Failures among the times: an error page is often fast, and a time-out slow.
pub(super) fn failures_in_the_times(s: &Subject) -> Option<Hit> {
    const MANY: f64 = 0.05;
    let (figure, failed) = failed_in_times(s)?;
    if !(MANY..0.999).contains(&failed) || something_succeeded(s).is_some() {
        return None;
    }
    s.get(Measure::Mean).or_else(|| s.percentiles().first().map(|(_, _, f, span)| (*f, *span)))?;
    let sentence = format!("{} of the answers were failures: the times are a mixture", say::percent(failed));
    let hit = Hit::new(Likely, "the times are a mixture of answers and failures", sentence);
    // A rate of successes needs nothing taken off.
    let counts_all = !s.is(|d| d.rate_counts == Counted::Successes);
    let rate = s.span(Measure::Rate).filter(|_| counts_all).map(|rate| {
        format!(
            "{}/s x (1 - {failed:.3}) = {}/s of good answers",
            say::number(rate.said),
            say::about(rate.said * (1.0 - failed))
        )
    });
    let hit = rate.into_iter().fold(hit, Hit::line);
    Some(hit.at([figure]).advice("state rate and times of the good answers apart from the failures"))
}

/// All answers are failures: whatever was measured, it was not the service.
pub(super) fn something_succeeded(s: &Subject) -> Option<Hit> {
    let (figure, failed) = failed(s)?;
    // A request without a response has no time in such a tool, so that neither rate nor times are of an error page.
    let answered = states_times(s) || s.span(Measure::Non2xx).is_some_and(|n| n.high > 0.0);
    if failed < 0.999 || !answered && s.is(|d| d.times_of == Counted::Successes) {
        return None;
    }
    let mut hit = Hit::new(
        Proved,
        "every answer is a failure",
        "every answer is a failure: rate and times are those of an error page",
    )
    .line(format!("{} of the requests failed", say::percent(failed)));
    if let Some((kind, n)) = s.row.samples.as_ref().and_then(|x| x.kinds.iter().max_by_key(|(_, n)| **n)) {
        hit = hit.line(format!("{} of {} are `{kind}`", say::number(*n as f64), say::number(s.samples()?)));
    }
    let why = "a wrong address, a missing token, an unset variable in the request";
    Some(hit.at([figure]).why(why).advice("check one answer by hand, and every answer's status in the run"))
}

/// Failures that have a time: some tools leave out requests without a response.
fn failed_in_times<'a>(s: &Subject<'a>) -> Option<(&'a crate::foreign::Figure, f64)> {
    if !s.is(|d| d.times_of == Counted::Successes) {
        return failed(s);
    }
    let count = s.span(Measure::Requests)?.minus(s.span(Measure::Errors).unwrap_or(Span::exact(0.0)));
    let (figure, n) = s.get(Measure::Non2xx)?;
    let share = n.over(count)?.said;
    (share <= 1.0).then_some((figure, share))
}

fn failed<'a>(s: &Subject<'a>) -> Option<(&'a crate::foreign::Figure, f64)> {
    let count = s.span(Measure::Requests).filter(|n| n.low > 0.0);
    let share = |m| {
        let (figure, n) = s.get(m)?;
        let share = n.over(count?)?;
        // A rounded count may be all of an exact part; a wide range says nothing.
        let is_rounded = share.low < share.high && share.high <= 2.0 * share.low;
        let whole = is_rounded && (share.low..=share.high).contains(&1.0);
        Some((figure, if whole { 1.0 } else { share.said }))
    };
    // Pages of ab that differ by a few bytes are good ones, and it counts them as failures.
    let of_length = s.span(Measure::LengthErrors).filter(|_| {
        s.tool() == Some(Tool::Ab)
            && s.row.others.contains_key("html transferred")
            && tools::ab_lengths(s).is_none()
    });
    let errors = s.get(Measure::Errors).and_then(|(figure, n)| {
        let share = n.minus(of_length?).over(count?)?;
        Some((figure, share.said))
    });
    let errors = if of_length.is_some() { errors } else { share(Measure::Errors) };
    let ratio = s.get(Measure::ErrorRatio).map(|(figure, span)| (figure, span.said));
    // ab's own failures are of lengths; another status is no failure to it.
    // Others count requests without a response apart from those with another status.
    let both = s.span(Measure::Non2xx).zip(s.get(Measure::Errors)).filter(|_| s.tool() != Some(Tool::Ab));
    let both = both.and_then(|(other, (figure, none))| Some((figure, other.plus(none).over(count?)?.said)));
    let all = [share(Measure::Non2xx), errors, ratio, both, without_success(s)];
    // More than all is no share: another rule says that a part exceeds the whole.
    all.into_iter().flatten().filter(|(_, x)| *x <= 1.0).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// A column `success rate` of a table that states no failures.
fn without_success<'a>(s: &Subject<'a>) -> Option<(&'a crate::foreign::Figure, f64)> {
    let is_stated = [Measure::Errors, Measure::ErrorRatio].iter().any(|m| s.get(*m).is_some());
    let percent = |name: &&str| s.row.others.get(*name).filter(|f| f.unit == "%");
    let figure = counts::SHARES_OF_SUCCESS.iter().find_map(percent)?;
    (s.tool().is_none() && !is_stated).then_some((figure, 1.0 - figure.value))
}
