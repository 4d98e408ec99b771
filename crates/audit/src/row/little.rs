//! Little's law, N = X R (Little 1961): requests in flight = rate x mean time. It needs no assumption about the
//! distribution, so three published figures check each other.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use super::{identities, tools};
use crate::Certainty::{self, Likely, Possible, Proved};
use crate::foreign::tools::definitions::InFlight;
use crate::foreign::{Figure, Measure, Tool};

/// How far wrk's own correction may lift its mean before the figure is misleading as a mean: below, the excess is of
/// the size by which two runs differ anyway.
const CORRECTED: f64 = 1.25;
/// Pauses between two requests of a user are at least so long, if nothing speaks of scripts.
const PAUSE_S: f64 = 0.05;
/// A script may pause for as long as it likes, but hardly for less.
const SCRIPTED_PAUSE_S: f64 = 0.01;
/// Clients without think time that are busy for less than this share of their time.
const BUSY: f64 = 0.8;
const BUSY_UNNAMED: f64 = 0.7;

/// Tools without pauses, and those whose scripts pause as they like, as long as they like.
const BUSY_TOOLS: [&str; 8] =
    ["wrk", "ab", "apachebench", "bombardier", "autocannon", "oha", "rewrk", "loadtest"];
const SCRIPTED: [&str; 8] = ["k6", "locust", "jmeter", "gatling", "artillery", "vus", "vu", "virtual"];

struct Law<'a> {
    rate: Span,
    mean: Span,
    users: Span,
    in_flight: Span,
    figures: [&'a Figure; 3],
}

fn law<'a>(s: &Subject<'a>) -> Option<Law<'a>> {
    let (rate_figure, rate) = rate(s)?;
    let (mean_figure, mean) = s.get(Measure::Mean)?;
    let (users_figure, mut users) = s.get(Measure::Users)?;
    users = users.minus(never_connected(s));
    // At an offered rate clients do not wait for each other: times may count from the intended start.
    if s.row.figures.contains_key(&Measure::OfferedRate) || users.low <= 0.0 {
        return None;
    }
    let in_flight = rate.times(mean);
    Some(Law { rate, mean, users, in_flight, figures: [rate_figure, mean_figure, users_figure] })
}

/// Connections that failed at the start, and never carried a request. wrk opens each of them once. After an error of
/// reading or writing it opens the connection again: where more requests were in flight than connections would be
/// left, those that failed were live before.
pub(super) fn never_connected(s: &Subject) -> Span {
    let none = Span::exact(0.0);
    let errors = s.span(Measure::ConnectErrors).filter(|_| s.is(|d| d.connects_once)).unwrap_or(none);
    let again = [Measure::ReadErrors, Measure::WriteErrors].into_iter().filter_map(|m| s.span(m));
    let left = s.span(Measure::Users).map(|users| users.minus(errors));
    let in_flight = s.span(Measure::Rate).zip(s.span(Measure::Mean)).map(|(rate, mean)| rate.times(mean));
    let more = in_flight.zip(left).is_some_and(|(n, left)| n.above(left.widened(0.02)));
    if more && again.map(|n| n.high).sum::<f64>() > 0.0 { none } else { errors }
}

/// A mean of samples of the rate is none of the requests: count / duration is, and a single sample.
fn rate<'a>(s: &Subject<'a>) -> Option<(&'a Figure, Span)> {
    let (figure, rate) = s.get(Measure::Rate)?;
    let is_single = s.row.others.get("deviation of the rate").is_some_and(|f| f.value == 0.0);
    if is_single || !s.is(|d| d.rate_is_sampled && d.in_flight == InFlight::One) {
        return Some((figure, rate));
    }
    let (figure, count) = s.get(Measure::Requests)?;
    Some((figure, count.over(s.span(Measure::Duration)?)?))
}

fn product(law: &Law, sign: &str, who: &str) -> String {
    format!(
        "{}/s x {} = {} in flight {sign} {} {who}",
        say::number(law.rate.said),
        say::time(law.mean.said),
        say::range(law.in_flight, say::about),
        say::number(law.users.said)
    )
}

/// X R > users, where a mean is of what was sent and a user waits for each answer.
pub(super) fn not_more_than_users(s: &Subject) -> Option<Hit> {
    let (room, certainty, why) = match s.in_flight() {
        Some(InFlight::One) => (1.02, Proved, ""),
        Some(_) => return None,
        None => (1.05, Likely, "the column may be users per machine, or the rate of several rows together"),
    };
    let name = "rate x mean latency gives more in flight than there are users";
    more_than_users(s, room, certainty, name).map(|hit| hit.why(why))
}

/// The same for tools whose users may have several requests under way: that is a doubt about what a user is, and no
/// contradiction.
pub(super) fn several_at_once(s: &Subject) -> Option<Hit> {
    // Requests against the iterations that hold them say the same with less room.
    let Some(InFlight::Several(why)) = s.in_flight() else { return None };
    if tools::iterations_hold_requests(s).is_some() {
        return None;
    }
    let room = 1.0 + s.definitions()?.window;
    more_than_users(s, room, Likely, "users have more than one request in flight").map(|hit| hit.why(why))
}

/// The same for wrk. What it prints is what it computed: the figure holds as its definition goes, and misleads whoever
/// takes it for a mean of the requests that were sent.
pub(super) fn made_up_samples(s: &Subject) -> Option<Hit> {
    if s.in_flight() != Some(InFlight::OneCorrected) {
        return None;
    }
    let why = "wrk adds made-up samples for every answer that took longer than twice the expected interval (its \
               correction for coordinated omission), so this is no mean of the requests that were sent";
    more_than_users(s, CORRECTED, Proved, "made-up samples are in the mean").map(|hit| hit.why(why))
}

/// Whether the mean gives more in flight than there are users, whatever explains it.
pub(super) fn more_than_possible(s: &Subject) -> bool {
    not_more_than_users(s).or_else(|| several_at_once(s)).is_some()
}

fn more_than_users<'a>(s: &Subject<'a>, room: f64, certainty: Certainty, name: &'static str) -> Option<Hit> {
    let law = law(s)?;
    let who = say::users(s.tool());
    // Failures are often in the rate and not in the mean.
    let failed =
        s.span(Measure::ErrorRatio).or_else(|| s.span(Measure::Errors)?.over(s.span(Measure::Requests)?));
    let good = 1.0 - failed.map_or(0.0, |f| f.high.min(1.0));
    if law.in_flight.low * good <= law.users.high * room {
        return None;
    }
    let sentence = format!("rate x mean latency gives more requests in flight than there are {who}");
    let most = law.users.over(law.rate)?;
    let hit = Hit::new(certainty, name, sentence).line(product(&law, ">", who)).line(format!(
        "the mean can be {} / {}/s = {} at most",
        say::number(law.users.said),
        say::number(law.rate.said),
        say::time(most.said)
    ));
    Some(hit.at(law.figures).advice("state the mean of the requests that were really sent"))
}

/// X R well below users, for tools that pause for nothing.
pub(super) fn users_busy(s: &Subject) -> Option<Hit> {
    let law = law(s)?;
    let pauses = match s.definitions() {
        Some(definitions) if definitions.is_busy && s.in_flight() != Some(InFlight::Open) => false,
        // Scripts pause as they like.
        Some(_) => return None,
        None => true,
    };
    // Without any answer, no time is that of a request: other rules say that.
    // A mean of 0 is one below the resolution. Users of a table may pause, unless its text names a tool that does not,
    // or unless the time between two requests is shorter than any pause.
    let between_s = law.users.said / law.rate.said - law.mean.said;
    let longest_s = if names(s, &SCRIPTED) { SCRIPTED_PAUSE_S } else { PAUSE_S };
    let is_busy = names(s, &BUSY_TOOLS) && !names(s, &SCRIPTED);
    let may_pause = pauses && !is_busy && between_s >= longest_s;
    if law.rate.said <= 0.0 || law.mean.said <= 0.0 || may_pause {
        return None;
    }
    let live = law.users;
    // Without a word on the tool, only what no rounding and no ramp explains.
    let least = if pauses && !is_busy { BUSY_UNNAMED } else { BUSY };
    if is_paced(s) || law.in_flight.high >= live.low * (least - end_of_run(s)) {
        return None;
    }
    let who = say::users(s.tool());
    let share = 1.0 - law.in_flight.said / live.said;
    let certainty = if pauses { Possible } else { Likely };
    let hit = Hit::new(
        certainty,
        "much of the users' time is in no request",
        format!("{} of the time of the {who} is in no request", say::percent(share)),
    )
    .line(product(&law, "of", who));
    let why = if pauses {
        "think time; or the load generator, which was the limit; or requests that are in no sample"
    } else {
        "the load generator was the limit (its CPU, opening connections), or requests are in no sample (time-outs, \
         cut off at the end)"
    };
    Some(
        hit.at(law.figures)
            .why(why)
            .advice("state the load generator's CPU, and what became of the other time"),
    )
}

/// The command sets a rate, which the output does not repeat.
fn is_paced(s: &Subject) -> bool {
    const RATES: [&str; 7] = ["--rate", "--overallRate", "--connectionRate", "-r", "-R", "--rps", "-q"];
    let command = s.row.words.get("command");
    command.is_some_and(|word| RATES.iter().any(|flag| identities::option(&word.text, flag).is_some()))
}

/// The share of the run in which users may have ended their requests while the slowest request went on. A run that
/// ends by the clock lasts whole seconds.
fn end_of_run(s: &Subject) -> f64 {
    const BY_THE_CLOCK: f64 = 0.005;
    let Some((max, all)) = s.span(Measure::Max).zip(s.span(Measure::Duration)) else { return 0.0 };
    let is_timed =
        (all.said - all.said.round()).abs() <= BY_THE_CLOCK * all.said || s.tool() == Some(Tool::Wrk);
    if is_timed { 0.0 } else { (max.said / all.said).clamp(0.0, 1.0) }
}

/// Whether the text around a table names one of these tools.
fn names(s: &Subject, tools: &[&str]) -> bool {
    tools.iter().any(|name| s.named_tools().contains(name))
}

/// `ab`: time per request = concurrency x duration / requests, and over all = duration / requests.
pub(super) fn time_per_request(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::Ab) {
        return None;
    }
    let (duration_figure, duration) = s.get(Measure::Duration)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let all = duration.over(count)?;
    let users = s.get(Measure::Users);
    let stated = [
        (Measure::TimePerRequestUsers, users.map(|(figure, n)| (Some(figure), n.times(all), n.said))),
        (Measure::TimePerRequestAll, Some((None, all, 1.0))),
    ];
    let mut hit: Option<Hit> = None;
    for (measure, expected) in stated {
        let (Some((figure, span)), Some((users_figure, expected, users))) = (s.get(measure), expected) else {
            continue;
        };
        if expected.widened(0.001).meets(span) {
            continue;
        }
        let sentence = match users_figure {
            Some(_) => "the time per request is not concurrency x duration / requests",
            None => "the time per request is not duration / requests",
        };
        let times = users_figure.map_or(String::new(), |_| format!("{} x ", say::number(users)));
        let base = hit.unwrap_or_else(|| {
            let same = "the time per request does not follow from duration and requests";
            Hit::new(Certainty::Proved, same, sentence).at([duration_figure, count_figure])
        });
        let line = format!(
            "{times}{} / {} = {}, stated {}",
            say::time(duration.said),
            say::number(count.said),
            say::range(expected, say::time),
            say::time(span.said)
        );
        hit = Some(base.line(line).at(users_figure).at([figure]));
    }
    hit.map(|hit| hit.advice("copy the figures of one run"))
}
