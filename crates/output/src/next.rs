//! What made the verdict so, and what to do next, in sentences for somebody who sees such a report for the first time:
//! a page, the terminal and Markdown show the same ones below the verdict.
//!
//! Nothing is decided here. The order is that in which one would look: what stood at its limit, what failed, what was
//! slow. Commands stand between backticks, as in the advice of cautions.

mod causes;
mod outage;
mod when;

pub(crate) use when::with_load;

use crate::format::{bytes_f64, chosen_s, count, counted, duration_ns, quantile_name, ratio};
use crate::words::{self, Shown};
use plimsoll_analysis::summary::{
    Caution, ErrorRow, Judged, Outcome, Pressure, SeriesRow, Summary, Times, Weight,
};
use plimsoll_plan::phrase::is_harmful;
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::samples_needed;

/// One sentence or two.
pub(crate) struct Hint {
    /// What to do; otherwise why it is so.
    pub is_next: bool,
    /// With code between backticks.
    pub text: String,
    /// What of a page shows it: the first of these anchors that the page has.
    pub shown: &'static [&'static str],
}

/// What shows when it was slow.
const COURSE: &[&str] = &["chart-timeline", "times"];
const SYSTEM: &[&str] = &["system"];
const ERRORS: &[&str] = &["errors"];
const CHECKS: &[&str] = &["checks", "errors"];
const REQUESTS: &[&str] = &["requests"];
const THRESHOLDS: &[&str] = &["thresholds"];
const FINDINGS: &[&str] = &["findings"];
const METHOD: &[&str] = &["method"];

/// Reasons first, then steps. `run_file` is what the command to compare names; `None`: the command is told in words.
pub(crate) fn hints(s: &Summary, run_file: Option<&str>) -> Vec<Hint> {
    // Where the service was gone, all else follows from it.
    let mut out: Vec<Hint> = outage::reasons(s);
    match s.verdict.result {
        Outcome::Inconclusive => {
            out.extend(decisive(s).map(doubt));
            if out.is_empty() {
                out.push(why("The load generator or the record is in doubt.".into(), FINDINGS));
            }
            out.extend(causes::reasons(s));
            out.extend(failures(s));
        }
        Outcome::Pass | Outcome::Interrupted => {
            out.extend(little(s));
            out.extend(causes::reasons(s));
            out.extend([failures(s), when::spikes(s), closest(s)].into_iter().flatten());
        }
        Outcome::Fail => {
            out.extend(causes::reasons(s));
            out.extend(when::spikes(s));
            out.extend(failures(s));
            out.extend(
                [answer(s), failing(s), check(s), behind(s), slowest(s), phase(s)].into_iter().flatten(),
            );
        }
    }
    out.extend(next(s, run_file));
    out
}

fn why(text: String, shown: &'static [&'static str]) -> Hint {
    Hint { is_next: false, text, shown }
}

fn step(text: String, shown: &'static [&'static str]) -> Hint {
    Hint { is_next: true, text, shown }
}

/// Cautions that make the run inconclusive.
fn decisive(s: &Summary) -> impl Iterator<Item = &Caution> {
    s.cautions.iter().filter(|c| c.weight == Weight::Inconclusive)
}

fn doubt(c: &Caution) -> Hint {
    why(format!("{}: {}", capital(&c.title), sentence(&c.evidence)), FINDINGS)
}

/// The threshold that was nearest to being missed, among those that somebody wrote where there are any: an implied
/// one of 99 % has no room for a margin.
fn closest(s: &Summary) -> Option<Hint> {
    let is_written = s.thresholds.iter().any(|t| !t.implied);
    // Of `errors == 0%` there is no margin.
    // Nor is an outage that there was not far away from anything.
    let is_of_outages = |t: &Judged| t.what == "longest_outage" && t.implied;
    let far = |t: &Judged| t.margin.filter(|_| !is_of_outages(t)).unwrap_or(f64::INFINITY).abs();
    let told = s.thresholds.iter().filter(|t| !(is_written && t.implied));
    let nearest = told.min_by(|a, b| far(a).total_cmp(&far(b)))?;
    let all = s.thresholds.len();
    let written = s.thresholds.iter().filter(|t| !t.implied).count();
    let met = match (all, written) {
        (1, 0) => "The one threshold, which holds where nobody writes any, was met".to_owned(),
        (1, _) => "The one threshold was met".to_owned(),
        (_, 0) => format!("All {all} thresholds were met, which hold where nobody writes any; the closest"),
        (_, 1) if all > 1 => format!("All {all} thresholds were met; the one that was written"),
        (_, n) if n < all => {
            format!("All {all} thresholds were met; the closest of the {n} that were written")
        }
        _ => format!("All {all} thresholds were met; the closest"),
    };
    let margin = match words::margin(nearest) {
        none if none.is_empty() => none,
        margin => format!(", {margin}"),
    };
    let observed = words::observed(nearest);
    Some(why(format!("{met}: {}, observed {observed}{margin}.", quoted(&nearest.text)), THRESHOLDS))
}

/// Whether a threshold on this was missed, or would be but for a doubt.
fn missed(s: &Summary, what: &str) -> bool {
    s.thresholds.iter().any(|t| t.is_beyond() && t.what.starts_with(what))
}

/// The kind of most failures, where they decided.
fn decided(s: &Summary) -> Option<&ErrorRow> {
    let row = s.errors.iter().max_by_key(|row| row.count).filter(|row| row.count > 0)?;
    let is_telling = missed(s, "errors") || s.totals.errors * 100 > s.totals.requests;
    is_telling.then_some(row)
}

/// How much failed, of which kinds, and when where it came together. A run that passed says it as well.
fn failures(s: &Summary) -> Option<Hint> {
    let failed = s.totals.errors;
    let mut rows: Vec<&ErrorRow> = s.errors.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    let (first, rest) = rows.split_first()?;
    let is_pass = s.verdict.result == Outcome::Pass;
    if decided(s).is_none() && !is_pass {
        return None;
    }
    let (n, of) = (count(first.count), counted(failed, "failure"));
    let front = match (is_pass, first.count == failed) {
        (true, true) => format!("{n} of {} failed", counted(s.totals.requests, "request")),
        (true, false) => {
            format!("{} of {} failed; {n} times", count(failed), counted(s.totals.requests, "request"))
        }
        (false, true) => format!("All {of}"),
        (false, false) => format!("{n} of {of}"),
    };
    // What is left over is told as far as it is worth a word.
    let second = rest.first().filter(|row| row.count.saturating_mul(SECOND) >= failed).map(|row| {
        let more = match rest.len() - 1 {
            0 => String::new(),
            kinds => format!(", and {}", counted(kinds as u64, "more kind")),
        };
        format!("; {}: {}{more}", counted(row.count, "time"), kind(s, row))
    });
    let when = when::burst(s).map_or(String::new(), |when| format!("; {when}"));
    Some(why(format!("{front}: {}{}{when}.", kind(s, first), second.unwrap_or_default()), ERRORS))
}

/// A second kind of failures is told from one in so many on.
const SECOND: u64 = 20;

/// A kind of failure in words. Where one status is nearly all of it, that says more than what statuses are errors.
fn kind(s: &Summary, row: &ErrorRow) -> String {
    // More answers than failures: the plan expects some of them.
    let what = match worst(s).filter(|(_, n)| row.class == "http_status" && **n <= row.count) {
        Some((status, n)) if *n * 10 >= row.count * 9 => format!("status {status}"),
        Some((status, n)) => {
            format!("{}; the most frequent is status {status}, {}", row.sentence, counted(*n, "time"))
        }
        None => row.sentence.to_owned(),
    };
    format!("{what} (`{}`)", row.class)
}

/// That hardly anything stands behind a pass.
fn little(s: &Summary) -> Option<Hint> {
    let is_few = s.totals.requests < samples_needed(0.5) && s.streams.is_empty();
    let is_short = s.cautions.iter().any(|c| c.code == "short_run");
    let (n, length) = (counted(s.totals.requests, "request"), chosen_s(s.totals.measured_s));
    let text = format!("Little stands behind it: {n} in {length}, and seconds differ.");
    (is_few || is_short).then(|| why(text, METHOD))
}

/// The most frequent status that says that something failed.
fn worst(s: &Summary) -> Option<(&String, &u64)> {
    s.statuses.iter().filter(|(status, _)| status.starts_with(['4', '5'])).max_by_key(|(_, n)| **n)
}

/// What an example of these failures said: often the cause itself.
fn answer(s: &Summary) -> Option<Hint> {
    const LONGEST: usize = 100;
    let row = decided(s)?;
    let status = worst(s).map_or("", |(status, _)| status.as_str());
    let said = |wanted: &str| {
        s.samples.iter().map(|row| &row.sample).find(|sample| {
            let is_status = wanted.is_empty() || sample.status.to_string() == wanted;
            sample.check == row.class && is_status && !sample.excerpt.trim().is_empty()
        })
    };
    let sample = said(status).or_else(|| said(""))?;
    let clean: String = sample.excerpt.trim().chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
    let mut told: String = clean.chars().take(LONGEST).collect();
    if told.len() < clean.len() {
        told.push_str("...");
    }
    let request = quoted(&sample.request);
    Some(why(format!("An answer with status {} to {request}: {}", sample.status, quoted(&told)), ERRORS))
}

/// So many times the share of the whole run.
const STANDS_OUT: f64 = 1.25;

/// The request that failed most, where it failed more often than the others.
fn failing(s: &Summary) -> Option<Hint> {
    let row = s.requests.iter().max_by_key(|row| row.errors)?;
    let share = row.errors as f64 / row.requests.max(1) as f64;
    // Where all fail alike the one that was sent most is no news.
    let stands_out = share > STANDS_OUT * s.totals.error_ratio;
    let is_telling = s.requests.len() > 1 && row.errors > 0 && stands_out && missed(s, "errors");
    is_telling.then(|| {
        let share = ratio(share);
        let (failed, all) = (count(row.errors), counted(row.requests, "request"));
        why(
            format!("Most failures: request {}, {failed} of its {all} ({share}).", quoted(&row.name)),
            REQUESTS,
        )
    })
}

/// The check that failed most, where a threshold on checks was missed.
fn check(s: &Summary) -> Option<Hint> {
    let row =
        s.checks.iter().max_by_key(|row| row.failed).filter(|row| row.failed > 0 && missed(s, "checks"))?;
    let (failed, made) = (count(row.failed), counted(row.made, "time"));
    let (name, request) = (quoted(&row.name), quoted(&row.request));
    Some(why(format!("The check {name} of request {request} failed {failed} of {made}."), CHECKS))
}

/// How far the service was behind what was offered, where that was missed.
fn behind(s: &Summary) -> Option<Hint> {
    let offered = s.offered.as_ref().filter(|_| missed(s, "achieved"))?;
    let arrivals = counted(offered.arrivals, "arrival");
    let (waited, never) = (offered.starved, s.totals.never_started);
    let how = match (waited, never, s.totals.in_flight_at_stop) {
        (0, 0, 0) => return None,
        (0, 0, waiting) => format!("{} still waited for a response at the end", count(waiting)),
        _ => format!("{} found no free connection and waited, {} never began", count(waited), count(never)),
    };
    Some(why(format!("The service did not keep up: of {arrivals} offered {how}."), COURSE))
}

fn p99(times: &Times) -> Option<u64> {
    match words::percentile(times, 0.99) {
        Shown::Fact(p) => Some(p.value_ns),
        _ => None,
    }
}

/// The request with the longest p99 of those that a missed threshold on times is about.
fn slowest(s: &Summary) -> Option<Hint> {
    let of = |row: &SeriesRow| p99(&row.response_time);
    let about: Vec<&str> = s
        .thresholds
        .iter()
        .filter(|t| t.is_beyond())
        .filter_map(|t| t.what.strip_prefix("response_time"))
        .collect();
    let is_asked = |row: &SeriesRow| {
        let own = format!("{{request: {}}}", row.name);
        about.iter().any(|scope| !scope.starts_with('{') || scope.starts_with(&own))
    };
    let rows = s.requests.iter().filter(|row| !row.stream && is_asked(row));
    let row = rows.max_by_key(|row| of(row).unwrap_or(0))?;
    let ns = of(row).filter(|_| missed(s, "response_time") && s.requests.len() > 1)?;
    let samples = counted(row.response_time.count, "sample");
    Some(why(
        format!(
            "The slowest request is {}: {} of its response times {} ({samples}).",
            quoted(&row.name),
            quantile_name(0.99),
            duration_ns(ns)
        ),
        REQUESTS,
    ))
}

/// Which part of the time is the longest, where a threshold on times was missed.
fn phase(s: &Summary) -> Option<Hint> {
    const TOLD: u64 = 1_000;
    let p = &s.phases;
    let all = [
        (&p.connection_wait, "waiting for a free connection, before the send"),
        (&p.first_byte, "waiting for the first byte of the answer: the server works or waits"),
        (&p.body, "receiving the body of the answer"),
    ];
    let known = all.into_iter().filter(|(short, _)| short.count >= TOLD);
    let (short, what) = known.max_by_key(|(short, _)| short.p99_ns.unwrap_or(0))?;
    let ns = short.p99_ns.filter(|_| missed(s, "response_time"))?;
    let (p99, samples) = (duration_ns(ns), counted(short.count, "sample"));
    Some(why(format!("The longest part of the time is {what} (p99 {p99}, {samples})."), &["phases", "times"]))
}

/// What one does with such a result.
fn next(s: &Summary, run_file: Option<&str>) -> Vec<Hint> {
    let compare = run_file.map(|file| format!("`plimsoll compare {} AFTER.plim`", shell(file)));
    let again = match &compare {
        Some(compare) => format!("Then run the same load again with `--out AFTER.plim` and compare: {compare}."),
        None => "Then run the same load again; `plimsoll compare` holds two run files (`--out`) against each other."
            .into(),
    };
    if let Some(step) = outage::step_of(s) {
        return vec![step, self::step(again, METHOD)];
    }
    if s.verdict.result == Outcome::Interrupted {
        let text = "Run it to its end: what was met so far proves nothing of the rest. Where stopping early is an \
                    ordinary end, `--stop-early-ok` says so.";
        return vec![step(text.into(), METHOD)];
    }
    if s.verdict.result == Outcome::Inconclusive {
        let all = decisive(s).filter(|c| !c.advice.is_empty());
        let mut steps: Vec<Hint> =
            all.take(2).map(|c| step(capital(&sentence(&named(s, &c.advice))), FINDINGS)).collect();
        if steps.is_empty() {
            steps.push(step(
                "Read what the load generator says of itself, then run again.".into(),
                &["generator"],
            ));
        }
        return steps;
    }
    if s.verdict.result == Outcome::Fail {
        let relieve = |p: &Pressure| step(format!("Relieve {}: {}.", quoted(&p.what), relief(p)), SYSTEM);
        let first = if let Some(first) = causes::first_step(s) {
            first
        } else if let Some(row) = decided(s).filter(|_| missed(s, "errors")) {
            step(mend(s, row), ERRORS)
        } else if missed(s, "checks") {
            step("Hold an answer that failed the check against what the check expects.".into(), CHECKS)
        } else if s.thresholds.iter().any(|t| t.is_beyond() && t.unit == FigureUnit::Nanoseconds) {
            step(slow(s), COURSE)
        } else if missed(s, "achieved") {
            step(format!("Look for the rate that it holds: `plimsoll find`. {}", slow(s)), COURSE)
        } else if let Some(pressure) = s.pressure.first() {
            relieve(pressure)
        } else {
            step("See which threshold was missed, by how much and when.".into(), THRESHOLDS)
        };
        return vec![first, step(again, METHOD)];
    }
    let told = |c: &&Caution| !c.advice.is_empty();
    let mut out: Vec<Hint> = causes::first_step(s).into_iter().collect();
    // A note on how to measure is no news beside a cause.
    let is_news = |c: &&Caution| out.is_empty() || c.weight != Weight::Note;
    if let Some(first) = s.cautions.iter().filter(told).filter(is_news).min_by_key(|c| c.weight) {
        let text = format!("{} ({}).", capital(&first.advice), first.title);
        out.push(step(text, FINDINGS));
    }
    let find = "`plimsoll find` looks for the highest load that still passes";
    let later = match compare {
        Some(compare) => format!("; {compare} holds a later run against this one"),
        None => "; `plimsoll compare` holds a later run against this one (`--out` keeps it)".into(),
    };
    out.push(step(format!("{find}{later}."), METHOD));
    out
}

/// With the address of the first request in the place of a command's `URL`.
fn named(s: &Summary, advice: &str) -> String {
    let scheme = if s.plan.link.tls.is_some() { "https" } else { "http" };
    let path =
        s.plan.requests.iter().find(|request| !request.aside).map_or("/", |request| request.path.as_str());
    let url = format!("{scheme}://{}{path}", s.plan.target);
    advice.replace("curl -v URL", &format!("curl -v {}", shell(&url)))
}

/// What to do about a kind of failure: where one looks first, no guess at the cause.
fn mend(s: &Summary, row: &ErrorRow) -> String {
    let target = quoted(&s.target);
    let status = worst(s).map_or("", |(status, _)| status.as_str());
    match row.class {
        "http_status" => match status {
            "401" | "403" => format!("Check the credentials that the requests carry: status {status}."),
            "404" => "Check the paths of the requests: the server does not know them (status 404).".into(),
            "429" => {
                "The server refuses so many requests (status 429): raise its limit, or load less.".into()
            }
            "502" | "503" | "504" => format!(
                "Look in the log of the server and of any proxy before it for status {status}: too few workers or \
                 connections behind it, a queue that is full, a service that is down."
            ),
            _ if status.starts_with('5') => {
                format!(
                    "Look in the server's log for the first answer with status {status}, and mend its cause."
                )
            }
            _ if status.is_empty() => "See which statuses came, and which of them the plan expects.".into(),
            _ => format!("Check what the requests send: the server refuses it with status {status}."),
        },
        "connect_refused" => format!("See that the server runs and listens on {target}."),
        "connect_timeout" | "unreachable" => format!("Check the way to {target}: address, route, firewall."),
        "timeout" => {
            "See in the server's log or monitors what it waits for; with a longer `--timeout` the run \
                      shows how long such an answer takes."
                .into()
        }
        "reset" | "closed_before_response" | "closed_mid_response" | "stale_connection" => {
            "Look in the log of the server, or of the proxy before it, why it closes connections.".into()
        }
        "check_failed" => "Hold an answer among the errors against what the check expects.".into(),
        "tls_failed" | "tls_timeout" | "certificate_refused" => {
            format!("Check certificate and TLS versions of {target}.")
        }
        _ => "Read the examples of failures and the server's log.".into(),
    }
}

/// Nothing that was watched stood at its limit, or nothing was watched.
fn slow(s: &Summary) -> String {
    let body = s.requests.iter().filter_map(|row| row.body_mean_bytes).fold(0.0, f64::max);
    let large =
        if body >= 1e6 { format!(" Bodies are {} on the average.", bytes_f64(body)) } else { String::new() };
    if let Some(pace_s) = when::pace_s(s) {
        return format!(
            "Look for what runs every {} on the server or beside it (a collection of garbage, a checkpoint, a timer): \
             its log and its monitors at those moments.{large}",
            chosen_s(pace_s)
        );
    }
    match s.monitors.is_empty() {
        true => format!(
            "See when it was slow and what else happened then. To see what the server lacks, watch it in the next \
             run: `--monitor host` or `--monitor process=:PORT` on its machine.{large}"
        ),
        false => format!(
            "See when it was slow and what else happened then. Nothing that was watched stood at its limit: look for \
             locks, waits for another service, or a limit that nobody watched.{large}"
        ),
    }
}

/// For something that stood at its limit, by what it is.
pub(crate) fn relief(p: &Pressure) -> &'static str {
    // What a monitor is called is its author's, and says nothing of what was full.
    let of = |words: &[&str]| words.iter().any(|word| p.metric.contains(word));
    if of(&["cpu", "thread"]) {
        "profile what it computes, or give it more processors; if one thread is full, more processors do not help"
    } else if of(&["connection", "pool"]) {
        "see what holds them for so long, then raise the limit"
    } else if of(&["memory", "rss", "swap"]) {
        "give it more memory, or find what it keeps"
    } else if of(&["disk", "device", "utilisation"]) {
        "see what reads and writes, or give it a faster device"
    } else {
        "raise the limit or take work from it, then run the same load again"
    }
}

/// A name between backticks: one of its own would end the code.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// As a POSIX shell takes it for one word, without a backtick, which would end the code.
pub(crate) fn shell(path: &str) -> String {
    crate::words::shell_word(path).replace('`', "?")
}

/// With a full stop.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.into() } else { format!("{text}.") }
}

/// With a capital at its beginning; code stays as it is.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
