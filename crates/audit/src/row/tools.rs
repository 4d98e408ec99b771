//! What the figures of one tool mean, where that differs from what their names say.

use super::span::Span;
use super::subject::{Hit, Subject};
use super::{little, say};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::{Measure, Tool};

/// At most users - connect errors were ever in flight.
pub(super) fn everybody_connected(s: &Subject) -> Option<Hit> {
    let (figure, errors) = s.get(Measure::ConnectErrors)?;
    let (users_figure, users) = s.get(Measure::Users)?;
    if errors.low <= 0.0 {
        return None;
    }
    let who = say::users(s.tool());
    // wrk opens each connection once at the start; others try again for every request.
    let never = little::never_connected(s);
    let lived = s.is(|d| d.connects_once) && never.high <= 0.0;
    if s.is(|d| d.connects_once) && !lived && errors.low <= users.high {
        let live = users.minus(errors);
        let sentence = format!(
            "{} of {} {who} never came about: {} were live",
            say::number(errors.said),
            say::number(users.said),
            say::number(live.said)
        );
        let mut hit = Hit::new(Proved, "connections never came about", sentence)
            .line(format!(
                "{} - {} = {} live",
                say::number(users.said),
                say::number(errors.said),
                say::number(live.said)
            ))
            .at([users_figure, figure]);
        if let (Some(rate), Some(mean)) = (s.span(Measure::Rate), s.span(Measure::Mean)) {
            hit = hit.line(format!(
                "{}/s x {} = {} in flight",
                say::number(rate.said),
                say::time(mean.said),
                say::about(rate.times(mean).said)
            ));
        }
        let why = "a limit on the side of the load generator, most often its open files (`ulimit -n`): wrk counts a \
                   socket that it could not make as a connect error";
        return Some(
            hit.why(why).advice("name the number of live connections; raise the limit and run again"),
        );
    }
    // A few lost attempts are what the tool says itself; the other figures are those of the rest.
    const MANY: f64 = 0.05;
    let count = s.span(Measure::Requests).filter(|n| n.high > 0.0);
    // Of wrk, more than there are connections were tried again.
    let again = s.is(|d| d.connects_once) && !lived;
    if !again && count.and_then(|n| errors.over(n)).is_some_and(|share| share.said < MANY) {
        return None;
    }
    let sentence = format!("{} attempts to connect failed", say::number(errors.said));
    let hit = Hit::new(Likely, "attempts to connect failed", sentence)
        .line(format!("{} failed, {} {who}", say::number(errors.said), say::number(users.said)))
        .at([users_figure, figure]);
    Some(hit.advice("say whether the load generator or the server refused: open files, ports, backlog"))
}

/// `ab`: failed = connect + receive + length + exceptions.
pub(super) fn ab_failures_add_up(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::Ab) {
        return None;
    }
    let kinds =
        [Measure::ConnectErrors, Measure::ReadErrors, Measure::LengthErrors, Measure::ExceptionErrors];
    let (whole, failed) = s.get(Measure::Errors)?;
    let found: Vec<_> = kinds.into_iter().filter_map(|m| s.get(m)).collect();
    if found.len() < kinds.len() {
        return None;
    }
    let sum = found.iter().fold(Span::exact(0.0), |sum, (_, span)| sum.plus(*span));
    if sum.meets(failed) {
        return None;
    }
    let sentence = "the kinds of failures do not add up";
    let terms: Vec<String> = found.iter().map(|(_, span)| say::number(span.said)).collect();
    let hit = Hit::new(Proved, sentence, sentence).line(format!(
        "{} = {}, stated {}",
        terms.join(" + "),
        say::number(sum.said),
        say::number(failed.said)
    ));
    Some(hit.at([whole]).at(found.iter().map(|(f, _)| *f)).advice("copy the figures of one run"))
}

/// `ab`: answers of another length than the first. Pages that are made for each request differ by a token or a few
/// lines, and `ab` counts that as failures: only answers of another kind, empty or of another order of length, are
/// worth a doubt. Without the bytes of the bodies, nothing tells these apart.
pub(super) fn ab_lengths(s: &Subject) -> Option<Hit> {
    /// One template gives pages of about one length; an error page or a stub is a fraction of it, or its multiple.
    const OTHER_KIND: f64 = 2.0;
    let (figure, failed) = s.get(Measure::LengthErrors)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    if failed.low <= 0.0 || count.low <= 0.0 {
        return None;
    }
    let bodies_figure = s.row.others.get("html transferred")?;
    let bodies = Span::of(bodies_figure)?;
    let (body_figure, body) = s.get(Measure::BodyBytes).filter(|(_, b)| b.low > 0.0)?;
    let n = say::number(failed.said);
    let whole = bodies.over(body)?;
    let good = count.minus(failed);
    let line = format!(
        "{} B / {} B = {} whole bodies, {} - {n} = {}",
        say::number(bodies.said),
        say::number(body.said),
        say::number(whole.said),
        say::number(count.said),
        say::number(good.said)
    );
    let each = bodies.minus(good.times(body)).over(failed)?.said.max(0.0);
    let empty = whole.widened(1e-4).meets(good);
    if !empty && (body.said / OTHER_KIND..=body.said * OTHER_KIND).contains(&each) {
        return None;
    }
    let sentence = match empty {
        true => format!("the {n} failed requests were answers of zero bytes"),
        false => format!("{n} answers had another length than the first"),
    };
    let hit = Hit::new(Likely, "answers had another length than the first", sentence).line(line);
    let hit = match empty {
        true => hit.why("the server closed the connection without an answer"),
        false => hit
            .line(format!(
                "the others have {} B each, the first {} B",
                say::about(each),
                say::number(body.said)
            ))
            .why("error pages, or answers that were cut off"),
    };
    let advice =
        "check status and body of every answer; give empty answers a name of their own in the report";
    Some(hit.at([figure, count_figure, bodies_figure, body_figure]).advice(advice))
}

/// Keep-alive was asked for and hardly happened.
pub(super) fn keep_alive_happened(s: &Subject) -> Option<Hit> {
    let (figure, kept) = s.get(Measure::KeepAliveRequests)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    if count.low <= 1.0 || kept.high >= count.low * 0.5 {
        return None;
    }
    let share = kept.over(count)?.said;
    let line = format!(
        "{} of {} requests ({}) were on a kept connection",
        say::number(kept.said),
        say::number(count.said),
        say::percent(share)
    );
    let sentence = "keep-alive was asked for and hardly happened";
    let hit = Hit::new(Proved, sentence, sentence).line(line).at([figure, count_figure]);
    let why = "the server or a proxy closes after each answer, or answers HTTP/1.0 without a length";
    Some(hit.why(why).advice("state how many connections were opened; set-up time is in every other figure"))
}

/// `ab -t` sets the number of requests to 50,000 without a word. Many ask for just that number, so that the command has
/// to show it.
pub(super) fn ab_fifty_thousand(s: &Subject) -> Option<Hit> {
    let (figure, count) = s.get(Measure::Requests)?;
    if s.tool() != Some(Tool::Ab) || count.low != 50_000.0 || count.high != 50_000.0 {
        return None;
    }
    let parts: Vec<&str> = s.row.words.get("command")?.text.split_whitespace().collect();
    let last = |flag: &str| parts.iter().rposition(|part| part.starts_with(flag));
    // A later `-n` overrides it.
    let at = last("-t").filter(|at| last("-n").is_none_or(|n| n < *at))?;
    let own = if parts[at].len() > 2 { 1 } else { 2 };
    let limit = parts.iter().skip(at).take(own).copied().collect::<Vec<_>>().join(" ");
    let sentence = "exactly 50,000 requests: what `ab -t` stops at by itself";
    let hit =
        Hit::new(Likely, sentence, sentence).line(format!("`{limit}` sets `-n 50000` where no `-n` follows"));
    Some(hit.at([figure]).advice("say which limit ended the run, the time or the count"))
}

/// ab's connection times: mean total = mean connect + mean processing, each rounded.
pub(super) fn ab_total_is_the_sum(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::Ab) {
        return None;
    }
    let (connect_figure, connect) = s.get(Measure::ConnectMean)?;
    let (processing_figure, processing) = s.get(Measure::ProcessingMean)?;
    let (mean_figure, mean) = s.get(Measure::Mean)?;
    let sum = connect.plus(processing);
    // Whole milliseconds; with the exact mean (concurrency x duration / requests) the client's own time is in it too.
    if sum.low <= mean.high + 0.001 {
        return None;
    }
    let sentence = "connecting and processing take longer than the whole";
    let hit = Hit::new(Proved, sentence, sentence).line(format!(
        "{} + {} = {} > {}",
        say::time(connect.said),
        say::time(processing.said),
        say::time(sum.said),
        say::time(mean.said)
    ));
    Some(hit.at([connect_figure, processing_figure, mean_figure]).advice("copy the figures of one run"))
}

/// Times to connect that cluster at whole seconds: lost SYNs (RFC 6298: first retransmission after 1 s, then doubled).
pub(super) fn connects_without_loss(s: &Subject) -> Option<Hit> {
    let mut steps = std::collections::BTreeSet::new();
    let mut lines = Vec::new();
    let mut figures = Vec::new();
    for measure in s.row.figures.keys() {
        let named = match measure {
            Measure::ConnectMedian | Measure::ConnectMax => true,
            Measure::ConnectPercentile(p) => *p >= 5_000,
            _ => false,
        };
        let Some((figure, span)) = s.get(*measure).filter(|_| named) else { continue };
        let whole = span.said.round();
        let over = span.said - whole;
        if (1.0..=15.0).contains(&whole) && (-0.005..=0.2).contains(&over) {
            steps.insert(whole as u64);
            lines.push(format!(
                "{} {} = {whole} x 1 s + {}",
                say::measure(*measure),
                say::time(span.said),
                say::time(over.max(0.0))
            ));
            figures.push(figure);
        }
    }
    let base = s.span(Measure::ConnectMin).is_none_or(|min| min.high < 0.5);
    if steps.len() < 2 || !base {
        return None;
    }
    let sentence = "times to connect cluster at whole seconds: connection requests were lost";
    let mut hit = Hit::new(Likely, "times to connect cluster at whole seconds", sentence).at(figures);
    hit.arithmetic = lines;
    let why = "a lost SYN is sent again after 1 s, then 2 s, 4 s (RFC 6298): a backlog that was full, or a burst of \
               connects that the network dropped";
    Some(
        hit.why(why)
            .advice("open connections over time (a ramp), and count TCP retransmissions on both sides"),
    )
}

/// mean = median = the middle between two clusters: nothing took that long.
pub(super) fn one_kind_of_request(s: &Subject) -> Option<Hit> {
    const FEW: f64 = 20.0;
    let (mean_figure, mean) = s.get(Measure::Mean)?;
    let (median_figure, median) = s.get(Measure::Percentile(5_000))?;
    let (min_figure, min) = s.get(Measure::Min)?;
    let (max_figure, max) = s.get(Measure::Max)?;
    let (_, _, _, high) = s.percentiles().into_iter().find(|(share, ..)| (0.75..=0.9).contains(share))?;
    // Of two samples, the mean is in the middle, and every percentile at an end.
    if s.samples().is_some_and(|n| n < FEW) {
        return None;
    }
    let middle = f64::midpoint(min.said, max.said);
    let near = |x: f64, y: f64| (x - y).abs() <= 0.03 * y;
    // An even spread has its p90 at 0.9 of the range; here it touches the end.
    let apart = min.high * 10.0 < median.low && high.low >= 0.97 * max.high;
    if !apart || !near(mean.said, middle) || !near(median.said, middle) {
        return None;
    }
    let sentence = "mean and median lie in the middle between two kinds of requests: nothing took that long";
    let hit = Hit::new(Likely, "mean and median lie between two kinds of requests", sentence)
        .line(format!(
            "({} + {}) / 2 = {}, mean {}, median {}",
            say::time(min.said),
            say::time(max.said),
            say::time(middle),
            say::time(mean.said),
            say::time(median.said)
        ))
        .line(format!("p90 or below is {}, at the end of the range already", say::time(high.said)));
    let why = "one half of the requests is long, the other short, under one name";
    let hit = hit.at([mean_figure, median_figure, min_figure, max_figure]).why(why);
    Some(hit.advice("group the times by request"))
}

/// requests x their mean <= iterations x theirs, where requests follow each other.
pub(super) fn iterations_hold_requests(s: &Subject) -> Option<Hit> {
    let (n_figure, n) = s.get(Measure::Requests)?;
    let (i_figure, i) = s.get(Measure::Iterations)?;
    let (mean_figure, mean) = s.get(Measure::Mean)?;
    let name = ["iteration_duration", "iteration duration", "iteration_duration avg"];
    let whole = name.iter().find_map(|key| s.row.others.get(*key))?;
    let each = Span::of(whole)?;
    let (inner, outer) = (n.times(mean), i.times(each));
    if i.low <= 0.0 || !inner.above(outer.widened(0.02)) {
        return None;
    }
    let sentence = "the requests take longer than the iterations that hold them";
    let hit = Hit::new(Likely, sentence, sentence).line(format!(
        "{} x {} = {} > {} x {} = {}",
        say::number(n.said),
        say::time(mean.said),
        say::time(inner.said),
        say::number(i.said),
        say::time(each.said),
        say::time(outer.said)
    ));
    let why = "requests of one user ran side by side (`http.batch`), or iterations were cut off and are not counted";
    let hit = hit.at([n_figure, mean_figure, i_figure, whole]).why(why);
    Some(hit.advice("state how many iterations were cut off"))
}

/// k6 up to 0.5x prints `http_req_failed: 0.00% ✓ 0 ✗ 1200` when nothing failed.
pub(super) fn failed_reads_inverted(s: &Subject) -> Option<Hit> {
    let (figure, failed) = s.get(Measure::Errors)?;
    let word = s.row.words.get("http_req_failed")?;
    let good = s.row.others.get("http_req_failed no")?;
    if s.tool() != Some(Tool::K6) || !(word.text.contains("tick") && good.value > failed.high) {
        return None;
    }
    let sentence = "the line of failed requests reads as if all had failed";
    let hit = Hit::new(Possible, sentence, sentence).line(format!(
        "{} failed (behind the tick), {} did not (behind the cross)",
        say::number(failed.said),
        say::number(good.value)
    ));
    let why = "the metric is a rate of failures: a tick is a request that failed";
    Some(hit.at([figure]).why(why).advice("write the number of failures in words"))
}

/// Checks of a script that runs to its end: a whole number for each iteration.
pub(super) fn checks_by_iteration(s: &Subject) -> Option<Hit> {
    let (passed_figure, passed) = s.get(Measure::ChecksPassed)?;
    let (failed_figure, failed) = s.get(Measure::ChecksFailed)?;
    let (count_figure, count) = s.get(Measure::Iterations)?;
    let all = passed.plus(failed);
    let each = all.over(count)?;
    if count.low < 1.0 || all.said < 1.0 || (each.said - each.said.round()).abs() < 1e-9 {
        return None;
    }
    let sentence = "the checks are no whole number for each iteration";
    let hit = Hit::new(Possible, sentence, sentence).line(format!(
        "({} + {}) / {} = {}",
        say::number(passed.said),
        say::number(failed.said),
        say::number(count.said),
        say::number(each.said)
    ));
    let why = "checks that stand behind a condition, or iterations that were cut off at the end";
    let hit = hit.at([passed_figure, failed_figure, count_figure]).why(why);
    Some(hit.advice("state how many iterations did not reach all of their checks"))
}

/// `-n` of ab's command against what was completed.
pub(super) fn ab_stopped_early(s: &Subject) -> Option<Hit> {
    let (figure, count) = s.get(Measure::Requests)?;
    let command = &s.row.words.get("command").filter(|_| s.tool() == Some(Tool::Ab))?.text;
    let parts: Vec<&str> = command.split_whitespace().collect();
    let value = |flag: &str| {
        let at = parts.iter().position(|part| part.starts_with(flag))?;
        let own = &parts[at][flag.len()..];
        let text = if own.is_empty() { parts.get(at + 1).copied()? } else { own };
        text.parse::<f64>().ok()
    };
    let asked = value("-n").filter(|n| count.high < *n)?;
    let mut hit = Hit::new(
        Possible,
        "the run ended before its number of requests",
        format!("the run ended after {} of {} requests", say::number(count.said), say::number(asked)),
    )
    .line(format!("{} < `-n {asked}`", say::number(count.said)));
    if let Some(seconds) = value("-t") {
        hit =
            hit.line(format!("`-t {seconds}` ended it, or its 50,000 requests where it stands behind `-n`"));
    }
    let why = "the time limit was reached first, or the run was broken off";
    Some(hit.at([figure]).why(why).advice("state the limit that ended the run: by time or by count"))
}
