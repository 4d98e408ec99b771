//! Identities between counts, rates, sizes and lengths of time of one run.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::tools::definitions::Counted;
use crate::foreign::{Figure, Measure, Tool};

/// Columns with the share of what succeeded.
pub(super) const SHARES_OF_SUCCESS: [&str; 8] = [
    "success rate",
    "success %",
    "success (%)",
    "success ratio",
    "success",
    "availability",
    "pass rate",
    "pass %",
];

/// Rates are taken over slightly other windows than the duration that is printed.
fn slack(s: &Subject) -> f64 {
    let own = s.definitions().map_or(0.10, |d| d.window);
    // Samples of the rate are taken at whole seconds: what comes after the last one is in the count alone.
    let sampled = s.span(Measure::Duration).filter(|_| s.is(|d| d.rate_is_sampled));
    own + sampled.map_or(0.0, |duration| {
        let whole = duration.said.floor().max(1.0);
        (duration.said - whole).max(0.0) / whole
    })
}

/// requests / duration = rate, of what one tool printed.
pub(super) fn rate_of_a_tool(s: &Subject) -> Option<Hit> {
    if s.tool().is_none() || rate_is_loose(s) {
        return None;
    }
    per_second(s, Measure::Requests, Measure::Rate, "requests / duration is not the stated rate")
}

/// The rate is a mean of samples, or it counts requests without a response, whose list may be cut off.
fn rate_is_loose(s: &Subject) -> bool {
    s.is(|d| d.rate_is_sampled)
        || (errors_may_be_cut(s) || keeps_a_million(s)) && more_than_counted(s).is_some()
}

/// hey and oha print requests without a response last, if there are any: an excerpt may end before.
pub(super) fn errors_may_be_cut(s: &Subject) -> bool {
    s.row.words.get("errors").is_some_and(|word| word.text.ends_with("cut off"))
}

/// Requests beyond those that the text counts, by its rate; none if it counts as many or more.
fn more_than_counted(s: &Subject) -> Option<f64> {
    let all = s.span(Measure::Rate)?.times(s.span(Measure::Duration)?);
    let counted = s.span(Measure::Requests)?;
    (all.low > counted.high).then_some(all.said - counted.said)
}

/// hey keeps a million responses, and counts no others by status.
fn keeps_a_million(s: &Subject) -> bool {
    const KEPT: f64 = 1_000_000.0;
    s.tool() == Some(Tool::Hey) && s.span(Measure::Requests).is_some_and(|n| n.said >= KEPT)
}

/// requests / duration = rate, in a table: the duration is often the planned one.
pub(super) fn rate_of_a_table(s: &Subject) -> Option<Hit> {
    let loose = rate_is_loose(s);
    if s.tool().is_some() && !loose {
        return None;
    }
    // The rates of these tools are means of samples, of which a short run has few.
    let sampled = ["bombardier", "autocannon"].iter().any(|name| s.named_tools().contains(name));
    if s.tool().is_none() && sampled {
        return None;
    }
    // oha stops what is in flight at the end of the run, one request of each connection at most.
    const CONNECTIONS: f64 = 50.0;
    let users = s.span(Measure::Users).map_or(CONNECTIONS, |users| users.high);
    if loose && errors_may_be_cut(s) && more_than_counted(s).is_some_and(|more| more <= users + 1.0) {
        return None;
    }
    let hit =
        per_second(s, Measure::Requests, Measure::Rate, "requests, duration and rate do not fit together")?;
    let why = match loose {
        _ if keeps_a_million(s) => {
            "hey keeps a million responses: its counts and its times are of the first million"
        }
        true => "requests without a response are left out of the text, or the rate is a mean of samples",
        false => {
            "the duration is the planned one, or the rate is of a part of the run or of several rows together"
        }
    };
    Some(Hit { certainty: Likely, ..hit.why(why) })
}

/// bytes / duration = bytes per second.
pub(super) fn bytes_per_second(s: &Subject) -> Option<Hit> {
    per_second(s, Measure::BytesTotal, Measure::BytesPerS, "bytes / duration is not the stated transfer rate")
        .or_else(|| {
            let sentence = "bytes sent / duration is not the stated rate of sending";
            per_second(s, Measure::BytesSentTotal, Measure::BytesSentPerS, sentence)
        })
}

fn per_second(s: &Subject, total: Measure, rate: Measure, sentence: &'static str) -> Option<Hit> {
    let (total_figure, count) = s.get(total)?;
    let (duration_figure, duration) = s.get(Measure::Duration)?;
    let (rate_figure, stated) = s.get(rate)?;
    let fits = |count: Span| count.over(duration).is_none_or(|r| r.widened(slack(s)).meets(stated));
    // What a rate counts depends on the tool: every result, or what succeeded only; some count failures on top.
    let errors = failures(s, count).unwrap_or(Span::exact(0.0));
    let counts = s.definitions().map_or(Counted::Unknown, |d| d.rate_counts);
    let of_requests = total == Measure::Requests;
    let count = if of_requests && counts == Counted::Successes { count.minus(errors) } else { count };
    let either = of_requests && counts == Counted::Unknown;
    if fits(count) || either && (fits(count.minus(errors)) || fits(count.plus(errors))) {
        return None;
    }
    let expected = count.over(duration)?;
    let line = format!(
        "{} / {} = {}/s, stated {}/s ({} x)",
        say::number(count.said),
        say::time(duration.said),
        say::range(expected, say::number),
        say::number(stated.said),
        say::about(stated.said / expected.said)
    );
    let hit =
        Hit::new(Proved, sentence, sentence).line(line).at([total_figure, duration_figure, rate_figure]);
    Some(hit.advice("state one window of time, and count and rate within it"))
}

/// Failed requests as a count, or by their share.
fn failures(s: &Subject, count: Span) -> Option<Span> {
    s.span(Measure::Errors).or_else(|| Some(s.span(Measure::ErrorRatio)?.times(count)))
}

/// bytes / requests >= bytes of one body.
pub(super) fn bytes_hold_the_bodies(s: &Subject) -> Option<Hit> {
    let (body_figure, body) = s.get(Measure::BodyBytes)?;
    let (bytes_figure, bytes) = s.get(Measure::BytesTotal)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    // Others state the mean size of what succeeded, rounded to whole bytes.
    if !s.definitions().is_none_or(|d| d.bytes_are_of_bodies) {
        return None;
    }
    let count = count.minus(s.span(Measure::Errors).unwrap_or(Span::exact(0.0)));
    // `ab` says itself that lengths differed: another rule reads that.
    if s.span(Measure::LengthErrors).is_some_and(|n| n.high > 0.0) || count.low <= 0.0 {
        return None;
    }
    let each = bytes.over(count)?;
    if each.high >= body.low {
        return None;
    }
    let sentence = "the bytes received are fewer than the bodies of the answers";
    let hit = Hit::new(Likely, sentence, sentence).line(format!(
        "{} B / {} = {} B an answer < {} B of body",
        say::number(bytes.said),
        say::number(count.said),
        say::about(each.said),
        say::number(body.said)
    ));
    let why = "answers without bodies (errors, closed connections), or compressed ones";
    let advice = "check status and length of every answer, and count those that differ";
    Some(hit.at([body_figure, bytes_figure, count_figure]).why(why).advice(advice))
}

/// mean rate per thread x threads = rate.
pub(super) fn threads_add_up(s: &Subject) -> Option<Hit> {
    const OFF: f64 = 0.10;
    // A thread's rate is sampled: the mean of few samples may lie below the real one.
    const BELOW: f64 = 0.75;
    let (thread_figure, thread) = s.get(Measure::ThreadRateMean)?;
    let (threads_figure, threads) = s.get(Measure::GeneratorThreads)?;
    let (rate_figure, rate) = s.get(Measure::Rate)?;
    let sum = thread.times(threads);
    if sum.widened(OFF).meets(rate) || rate.said <= 0.0 {
        return None;
    }
    let times = sum.said / rate.said;
    if (BELOW..1.0).contains(&times) {
        return None;
    }
    let sentence = "the rate per thread times the threads is not the rate of the whole";
    let hit = Hit::new(Proved, sentence, sentence).line(format!(
        "{} x {}/s = {}/s, stated {}/s ({} x)",
        say::number(threads.said),
        say::number(thread.said),
        say::number(sum.said),
        say::number(rate.said),
        say::about(times)
    ));
    let why = match s.tool() {
        Some(Tool::Wrk) if times > 1.0 => {
            "wrk samples a thread's rate each 100 ms and leaves out the samples in which nothing came: the service \
             stood still for a part of the run"
        }
        _ => "the two rates are taken over different windows",
    };
    let advice = "quote the rate of the whole; look at the rate over time for the gaps";
    Some(hit.at([thread_figure, threads_figure, rate_figure]).why(why).advice(advice))
}

/// errors / requests = share of errors, and the same for checks.
pub(super) fn error_share(s: &Subject) -> Option<Hit> {
    share_of_errors(s).or_else(|| share_of_checks(s)).or_else(|| share_of_successes(s))
}

/// A column `success rate` of a table: (requests - errors) / requests, or by the count of what succeeded.
fn share_of_successes(s: &Subject) -> Option<Hit> {
    const COUNTS: [&str; 5] = ["success", "successes", "successful", "successful requests", "passed"];
    let percent = |name: &&str| s.row.others.get(*name).filter(|f| f.unit == "%");
    let figure = SHARES_OF_SUCCESS.iter().find_map(percent).filter(|_| s.tool().is_none())?;
    let (count_figure, count) = s.get(Measure::Requests).filter(|(_, n)| n.low >= 1.0)?;
    let stated = Span::of(figure)?;
    let counted = COUNTS.iter().find_map(|name| s.row.others.get(*name).filter(|f| f.unit != "%"));
    let (part_figure, good) = match counted {
        Some(figure) => (figure, Span::of(figure)?),
        None => {
            let (figure, errors) = s.get(Measure::Errors)?;
            (figure, count.minus(errors))
        }
    };
    let share = good.over(count)?;
    // Cut instead of rounded: one unit of the last digit.
    let room = stated.high - stated.low;
    let wide = Span { low: stated.low - room, high: stated.high + room, ..stated };
    if share.meets(wide) {
        return None;
    }
    let sentence = "successes / requests is not the stated share of successes";
    let hit = Hit::new(Likely, sentence, sentence).line(format!(
        "{} / {} = {}, stated {}",
        say::number(good.said),
        say::number(count.said),
        say::percent(share.said),
        say::percent(stated.said)
    ));
    let advice = "state the counts of requests and of successes; the share follows";
    Some(hit.at([figure, part_figure, count_figure]).advice(advice))
}

/// k6: passed / (passed + failed) = share of checks that passed.
fn share_of_checks(s: &Subject) -> Option<Hit> {
    // By the layout: old, new, `--summary-export`, `handleSummary`.
    const NAMES: [&str; 4] = ["checks ratio", "checks_succeeded ratio", "checks value", "checks rate"];
    let (passed_figure, passed) = s.get(Measure::ChecksPassed)?;
    let (failed_figure, failed) = s.get(Measure::ChecksFailed)?;
    let figure = NAMES.iter().find_map(|name| s.row.others.get(*name))?;
    let (stated, all) = (Span::of(figure)?, passed.plus(failed));
    let share = passed.over(all)?;
    if share.meets(stated) {
        return None;
    }
    let sentence = "passed / all checks is not the stated share of checks";
    let hit = Hit::new(Proved, sentence, sentence).line(format!(
        "{} / ({} + {}) = {}, stated {}",
        say::number(passed.said),
        say::number(passed.said),
        say::number(failed.said),
        say::percent(share.said),
        say::percent(stated.said)
    ));
    Some(hit.at([figure, passed_figure, failed_figure]).advice("copy the figures of one run"))
}

fn share_of_errors(s: &Subject) -> Option<Hit> {
    let (errors_figure, errors) = s.get(Measure::Errors)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let (ratio_figure, ratio) = s.get(Measure::ErrorRatio)?;
    let fits = |of: Span| errors.over(of).is_none_or(|r| r.meets(ratio));
    if count.high <= 0.0 || fits(count) || fits(count.plus(errors)) {
        return None;
    }
    let share = errors.over(count)?;
    let line = format!(
        "{} / {} = {}, stated {}",
        say::number(errors.said),
        say::number(count.said),
        say::percent(share.said),
        say::percent(ratio.said)
    );
    let sentence = "errors / requests is not the stated share of errors";
    let hit = Hit::new(Proved, sentence, sentence).line(line).at([errors_figure, count_figure, ratio_figure]);
    Some(hit.advice("state the count of errors and of requests; the share follows"))
}

/// A part of the requests is not more than all of them.
pub(super) fn parts_within_requests(s: &Subject) -> Option<Hit> {
    let (count_figure, count) = s.get(Measure::Requests)?;
    let parts = [
        Measure::Non2xx,
        Measure::KeepAliveRequests,
        Measure::LengthErrors,
        // Of wrk and its like these never became a request.
        if s.is(|d| !d.errors_are_requests) { Measure::Non2xx } else { Measure::Errors },
    ];
    let (part, (figure, n)) =
        parts.into_iter().filter_map(|m| Some((m, s.get(m)?))).find(|(_, (_, n))| n.above(count))?;
    let certainty = if part == Measure::Errors { Likely } else { Proved };
    let what = say::measure(part);
    let line = format!("{what} {} > requests {}", say::number(n.said), say::number(count.said));
    let hit = Hit::new(
        certainty,
        "a part of the requests is more than all of them",
        format!("{what}: more than requests"),
    );
    Some(
        hit.line(line)
            .at([figure, count_figure])
            .advice("say what counts as a request and what as a failure"),
    )
}

/// successes + errors = requests.
pub(super) fn successes_and_errors(s: &Subject) -> Option<Hit> {
    const NAMES: [&str; 7] =
        ["success", "successes", "successful", "successful requests", "succeeded", "ok", "passed"];
    let (count_figure, count) = s.get(Measure::Requests)?;
    let (errors_figure, errors) = s.get(Measure::Errors)?;
    let success: &Figure = NAMES.iter().find_map(|name| s.row.others.get(*name))?;
    let good = Span::of(success).filter(|_| success.unit != "%")?;
    // A share in a column without a unit.
    if good.high <= 1.0 && count.low > 1.0 || good.plus(errors).meets(count) {
        return None;
    }
    // A response with the status of an error may be neither.
    if s.span(Measure::Non2xx).is_some_and(|other| good.plus(errors).plus(other).meets(count)) {
        return None;
    }
    let sentence = "successes and errors do not add up to the requests";
    let hit = Hit::new(Likely, sentence, sentence).line(format!(
        "{} + {} = {}, stated {}",
        say::number(good.said),
        say::number(errors.said),
        say::number(good.plus(errors).said),
        say::number(count.said)
    ));
    Some(hit.at([success, errors_figure, count_figure]).advice("say which requests are in neither count"))
}

/// requests = users x loops (of each label).
pub(super) fn loops(s: &Subject) -> Option<Hit> {
    let (loops_figure, loops) = s.get(Measure::Loops)?;
    let (users_figure, users) = s.get(Measure::Users)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let each = users.times(loops);
    // Several requests in a loop give a whole multiple.
    let times = (count.said / each.said).round();
    if !times.is_finite() || each.high <= 0.0 || each.times(Span::exact(times.max(1.0))).meets(count) {
        return None;
    }
    let sentence = "the samples are no multiple of users x loops";
    let hit = Hit::new(Possible, sentence, sentence).line(format!(
        "{} x {} = {}, stated {} ({} x)",
        say::number(users.said),
        say::number(loops.said),
        say::number(each.said),
        say::number(count.said),
        say::about(count.said / each.said)
    ));
    let why = "users stopped before their last loop (errors, a scheduler), or their number is another one";
    let advice = "state how many users ended all their loops, and what stopped the others";
    Some(hit.at([users_figure, loops_figure, count_figure]).why(why).advice(advice))
}

/// rate <= offered rate.
pub(super) fn not_more_than_offered(s: &Subject) -> Option<Hit> {
    let (offered_figure, offered) = s.get(Measure::OfferedRate)?;
    let (rate_figure, rate) = s.get(Measure::Rate)?;
    if offered.low <= 0.0 || rate.low <= offered.high * 1.05 {
        return None;
    }
    let line = format!(
        "{}/s > {}/s offered ({} x)",
        say::number(rate.said),
        say::number(offered.said),
        say::about(rate.said / offered.said)
    );
    let sentence = "more requests were answered than were offered";
    let hit = Hit::new(Likely, sentence, sentence).line(line).at([offered_figure, rate_figure]);
    let why = "the rates count different things (iterations and requests), or the pacing does not hold";
    Some(hit.why(why).advice("state what one arrival is, and how many requests it makes"))
}

/// rate >= 0.8 x offered rate of a tool, without failures that would explain the rest.
pub(super) fn offered_was_reached(s: &Subject) -> Option<Hit> {
    const LEAST: f64 = 0.8;
    if let Some(hit) = command_was_followed(s, LEAST) {
        return Some(hit);
    }
    let (offered_figure, offered) = s.get(Measure::OfferedRate).filter(|_| s.tool().is_some())?;
    let (rate_figure, rate) = s.get(Measure::Rate)?;
    // Of vegeta, the offered rate is what was sent, and its rate is of successes.
    let successes = s.is(|d| d.rate_counts == Counted::Successes);
    if successes || offered.low <= 0.0 || rate.high >= offered.low * LEAST {
        return None;
    }
    let sentence = "the offered rate was not reached";
    let line = format!(
        "{}/s of {}/s offered ({})",
        say::number(rate.said),
        say::number(offered.said),
        say::percent(rate.said / offered.said)
    );
    let hit = Hit::new(Likely, sentence, sentence).line(line).at([offered_figure, rate_figure]);
    let why = "service or load generator were at their limit, or the rate is not the one that was set";
    Some(hit.why(why).advice("state the rate that was reached, and do not compare times at different rates"))
}

/// vegeta: requests / attack, as stated or computed, is the rate of the command above.
fn command_was_followed(s: &Subject, least: f64) -> Option<Hit> {
    let asked_figure = s.row.others.get("rate of the command")?;
    let asked = Span::of(asked_figure)?;
    let attack = s.row.others.get("duration attack").and_then(Span::of).or(s.span(Measure::Duration))?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let sent = count.over(attack)?;
    // A run of one second has its last request before the end.
    if count.low < 100.0 || sent.high >= asked.low * least {
        return None;
    }
    let line = format!(
        "{} / {} = {}/s of {}/s offered ({})",
        say::number(count.said),
        say::time(attack.said),
        say::about(sent.said),
        say::number(asked.said),
        say::percent(sent.said / asked.said)
    );
    let sentence = "the offered rate was not reached";
    let hit = Hit::new(Likely, sentence, sentence).line(line).at([asked_figure, count_figure]);
    let why = "the load generator was at its limit, or it waited for free workers";
    Some(hit.why(why).advice("state the rate that was reached, and do not compare times at different rates"))
}

/// bytes / requests >= 9: the head of a frame (RFC 9113, section 4.1) is the least that an answer can be.
pub(super) fn answers_have_bytes(s: &Subject) -> Option<Hit> {
    const LEAST: f64 = 9.0;
    if s.is(|d| d.counts_bodies_only) {
        return None;
    }
    let (bytes_figure, bytes) = s.get(Measure::BytesTotal)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let failed = [Measure::Errors, Measure::TimeoutErrors].into_iter().filter_map(|m| s.span(m));
    let good = failed.fold(count, Span::minus);
    let each = bytes.over(good)?;
    if good.low < 1.0 || each.high >= LEAST {
        return None;
    }
    let sentence = "there are fewer bytes than the answers must have had";
    let hit = Hit::new(Likely, sentence, sentence).line(format!(
        "{} B / {} = {} B an answer < {LEAST} B",
        say::number(bytes.said),
        say::number(good.said),
        say::about(each.said)
    ));
    let why = "answers without a byte that count as good, or a size in another unit than it says";
    Some(hit.at([bytes_figure, count_figure]).why(why).advice("check the unit, and what counts as an answer"))
}
