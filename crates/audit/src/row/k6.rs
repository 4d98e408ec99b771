//! Identities of k6: all rates of a summary are over one time, a request failed or did not, and virtual users have a
//! smallest, a last, and a largest number.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::Proved;
use crate::foreign::tools::k6::grammar::trend_measure;
use crate::foreign::{Figure, Measure, Tool};

type Remark<'a> = (String, Vec<&'a Figure>);
type Stated<'a> = (&'a Figure, Span);

fn other<'a>(s: &Subject<'a>, name: &str) -> Option<Stated<'a>> {
    let figure = s.row.others.get(name)?;
    Some((figure, Span::of(figure)?.at_least_zero()))
}

/// Counts, rates, and users of one run.
pub(super) fn counts(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::K6) {
        return None;
    }
    let mut remarks: Vec<Remark> = failed(s).into_iter().collect();
    remarks.extend(occupied(s));
    remarks.extend(windows(s));
    remarks.extend(users(s));
    remarks.extend(checks(s));
    remarks.extend(thresholds(s));
    remarks.first()?;
    let sentence = "the counts of k6 are not of one run";
    let hit = Hit::new(Proved, sentence, sentence).advice("copy the figures of one run");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}

/// failed + not failed = requests.
fn failed<'a>(s: &Subject<'a>) -> Option<Remark<'a>> {
    let (count_figure, count) = s.get(Measure::Requests)?;
    let (failed_figure, failed) = s.get(Measure::Errors)?;
    let (good_figure, good) = other(s, "http_req_failed no")?;
    (!failed.plus(good).meets(count)).then(|| {
        let line = format!(
            "{} failed + {} did not = {}, stated {} requests",
            say::number(failed.said),
            say::number(good.said),
            say::number(failed.plus(good).said),
            say::number(count.said)
        );
        (line, vec![failed_figure, good_figure, count_figure])
    })
}

/// iterations x their mean <= virtual users x time, where the time is that of the rates.
fn occupied<'a>(s: &Subject<'a>) -> Option<Remark<'a>> {
    const NAMES: [&str; 3] = ["iteration_duration avg", "iteration_duration", "iteration duration"];
    let (users_figure, users) = s.get(Measure::Users)?;
    let (count_figure, count) = s.get(Measure::Iterations)?;
    let (mean_figure, mean) = NAMES.iter().find_map(|name| other(s, name))?;
    let requests = s.span(Measure::Requests).zip(s.span(Measure::Rate));
    let window = requests.and_then(|(n, x)| n.over(x)).or(s.span(Measure::Duration))?;
    let (busy, room) = (count.times(mean), users.times(window.widened(0.02)));
    busy.above(room).then(|| {
        let line = format!(
            "{} iterations x {} = {} > {} virtual users x {} = {}",
            say::number(count.said),
            say::time(mean.said),
            say::time(busy.said),
            say::number(users.said),
            say::time(window.said),
            say::time(room.said)
        );
        (line, vec![count_figure, mean_figure, users_figure])
    })
}

/// Every counter is divided by one duration: that of the requests.
fn windows<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let requests = s.span(Measure::Requests).zip(s.span(Measure::Rate));
    let Some(window) = requests.filter(|(n, _)| n.low >= 1.0).and_then(|(n, x)| n.over(x)) else {
        return Vec::new();
    };
    let named = |count: &str, rate: &str| other(s, count).zip(other(s, rate));
    let measured = |count, rate| s.get(count).zip(s.get(rate));
    let iterations = s.get(Measure::Iterations);
    let by_name = |rate| iterations.zip(other(s, rate));
    let pairs = [
        ("iterations", by_name("iterations per second").or_else(|| by_name("iterations rate"))),
        ("checks", named("checks_total", "checks_total per second")),
        ("bytes received", measured(Measure::BytesTotal, Measure::BytesPerS)),
        ("bytes sent", measured(Measure::BytesSentTotal, Measure::BytesSentPerS)),
    ];
    let mut remarks = Vec::new();
    for (name, pair) in pairs {
        let Some(((count_figure, count), (rate_figure, rate))) = pair else { continue };
        let Some(own) = count.over(rate).filter(|own| !own.widened(1e-3).meets(window)) else { continue };
        let line = format!(
            "{} {name} / {}/s = {}, but requests / their rate = {}",
            say::number(count.said),
            say::number(rate.said),
            say::time(own.said),
            say::time(window.said)
        );
        remarks.push((line, vec![count_figure, rate_figure]));
    }
    remarks
}

/// least <= last <= most virtual users, and no more of them at work than there were.
fn users<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let most = s.get(Measure::Users);
    let all = other(s, "vus_max max").or_else(|| other(s, "vus_max"));
    let last = other(s, "vus at the end").or_else(|| other(s, "vus value"));
    let pairs = [
        ("vus min", other(s, "vus min"), "vus max", most),
        ("vus", last, "vus max", most),
        ("vus max", most, "vus_max", all),
    ];
    let mut remarks = Vec::new();
    for (small, a, large, b) in pairs {
        let (Some((a, x)), Some((b, y))) = (a, b) else { continue };
        if x.above(y) {
            let line = format!("{small} {} > {large} {}", say::number(x.said), say::number(y.said));
            remarks.push((line, vec![a, b]));
        }
    }
    remarks
}

/// The summary in JSON has each check by its name as well.
fn checks<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let pairs = [
        ("passed", Measure::ChecksPassed, "passes of all checks"),
        ("failed", Measure::ChecksFailed, "fails of all checks"),
    ];
    let mut remarks = Vec::new();
    for (name, measure, sum) in pairs {
        let (Some((figure, stated)), Some((sum_figure, sum))) = (s.get(measure), other(s, sum)) else {
            continue;
        };
        if !sum.meets(stated) {
            let line = format!(
                "{} {name} checks by their names, stated {}",
                say::number(sum.said),
                say::number(stated.said)
            );
            remarks.push((line, vec![figure, sum_figure]));
        }
    }
    remarks
}

/// A threshold is printed with the figure that it was held against.
fn thresholds<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    for (name, figure) in &s.row.others {
        let Some((metric, key)) = name.strip_prefix("threshold ").and_then(|rest| rest.split_once(' '))
        else {
            continue;
        };
        let own = trend_measure(metric, key)
            .and_then(|m| s.get(m))
            .or_else(|| other(s, &format!("{metric} {key}")));
        let (Some((of, stated)), Some(said)) = (own, Span::of(figure)) else { continue };
        if !said.meets(stated) {
            let line = format!(
                "{metric} {key}: {} by its threshold, {} by its line",
                say::time(said.said),
                say::time(stated.said)
            );
            remarks.push((line, vec![figure, of]));
        }
    }
    remarks
}
