//! Where a difference comes from and what to do next, in sentences for somebody who sees a comparison for the first
//! time: the page, the terminal and Markdown show the same ones.
//!
//! Nothing is decided here. A cause is told only where the figures of both sides show it: which figure moved, whether
//! the answers take longer or the wait before them, which request, and what was watched.

use super::maybe_change;
use crate::format::{count, counted, duration_f64_ns};
use crate::next::{Hint, quoted, shell};
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{Compared, Comparison, Moved, Overall, Peaks, Scale, Verdict, change};
use plimsoll_plan::experiment::Figure;
use plimsoll_plan::phrase::watched;

/// So many runs of each side tell how much runs differ.
const REPEATS: usize = 3;
/// From this share of the difference on it is most of it.
const MOST: f64 = 0.8;
/// Peaks that differ by less are the chance of a second.
const PEAK: f64 = 1.10;

/// Reasons first, then steps.
pub(crate) fn hints(one: &Comparison, gated: Option<&Gated>) -> Vec<Hint> {
    let why: Vec<String> = match one.blocking() {
        // Of runs that cannot be compared no figure is a reason.
        Some(doubt) => vec![format!("{}.", doubt.sentence)],
        None => [gated.and_then(broken), place(one), request(one), largest_change(one)]
            .into_iter()
            .flatten()
            .collect(),
    };
    let hint = |is_next: bool| move |text: String| Hint { is_next, text, shown: &["figures"] };
    why.into_iter().map(hint(false)).chain(next(one).into_iter().map(hint(true))).collect()
}

/// The first rule that was broken; how many there are stands beside the gate.
fn broken(gated: &Gated) -> Option<String> {
    let first = gated.rules.iter().find(|rule| rule.passage == Passage::Fail)?;
    Some(format!("Broken first: {} ({}).", first.text, first.evidence))
}

/// What the time that the sentence names did, and whether the answers themselves take longer or the wait for a turn in
/// front of them: response time counts from the intended instant, service time from the send.
fn place(one: &Comparison) -> Option<String> {
    let is_time = |row: &&Compared| matches!(row.kind, Figure::Percentile { service: false, .. });
    let is_told = |row: &&Compared| row.verdict.is_worse() || row.verdict.is_better();
    let response = one.headline().filter(is_time).filter(is_told)?;
    let moved = format!("{} changed by {}", response.figure, maybe_change(response, response.difference));
    let name = response.figure.replacen("response", "service", 1);
    let Some(service) = one.figure(&name) else { return Some(format!("{moved}.")) };
    let change = maybe_change(service, service.difference);
    // Of ten seconds more, ten milliseconds are the answer's: what the times grew by decides, not that both grew.
    let grown = |row: &Compared| row.a.zip(row.b).map_or(0.0, |(a, b)| (b - a).abs());
    let share = grown(service) / grown(response).max(f64::MIN_POSITIVE);
    let slower = service.verdict.is_worse();
    let is_apart = service.verdict.is_worse() || service.verdict.is_better();
    Some(match service.verdict {
        _ if is_apart && slower != response.verdict.is_worse() => format!(
            "{moved}, {name} went the other way ({change}): the wait for a turn before the send made the difference."
        ),
        _ if is_apart => match share {
            share if share >= MOST => {
                let (more, wait) =
                    if slower { ("longer", "no wait") } else { ("less time", "no shorter wait") };
                format!(
                    "{moved}, and {name} with it ({change}): the answers themselves take {more}, it is {wait} before \
                     the send."
                )
            }
            share if share <= 1.0 - MOST => format!(
                "{moved}, {name} hardly ({change}): most of the difference is the wait for a turn before the send."
            ),
            _ => format!(
                "{moved}, {name} by {change}: part of the difference is in the answers, part in the wait before the \
                 send."
            ),
        },
        Verdict::NoDifference => {
            format!(
                "{moved}, {name} did not ({change}): the wait for a turn before the send made the difference."
            )
        }
        _ => format!("{moved}; of {name} nobody can tell ({change})."),
    })
}

/// The request whose mean went furthest the same way.
fn request(one: &Comparison) -> Option<String> {
    let up = match one.verdict {
        Overall::Slower | Overall::Mixed => true,
        Overall::Faster => false,
        _ => return None,
    };
    let moved: &Moved = one.requests.iter().find(|row| (row.difference() > 0.0) == up)?;
    let (a, b) = (duration_f64_ns(moved.a_mean_ns), duration_f64_ns(moved.b_mean_ns));
    let by = change(moved.difference(), Scale::Ratio);
    let (of_a, of_b) = (count(moved.a_samples), count(moved.b_samples));
    let name = quoted(&moved.name);
    let subject = match one.requests.len() {
        1 => format!("The request {name}"),
        n => format!("Of {} {name} moved most", counted(n as u64, "request")),
    };
    Some(format!("{subject}: mean {b} against {a}, {by} ({of_b} and {of_a} samples)."))
}

/// What was watched and differs most, by its peaks.
fn largest_change(one: &Comparison) -> Option<String> {
    if one.verdict == Overall::NoDifference {
        return None;
    }
    let outliers = |row: &Peaks| {
        let (a, b) = (row.a.filter(|a| *a > 0.0)?, row.b.filter(|b| *b > 0.0)?);
        Some((b / a).ln().abs()).filter(|far| far.is_finite() && *far >= PEAK.ln())
    };
    let far: Vec<(f64, &Peaks)> = one.watched.iter().filter_map(|row| Some((outliers(row)?, row))).collect();
    let (_, row) = far.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (a, b) = (watched(row.a?, row.unit), watched(row.b?, row.unit));
    let what = quoted(&row.what);
    Some(format!(
        "Of what was watched {what} differs most: {b} against {a} (a peak is one second of one run)."
    ))
}

fn next(one: &Comparison) -> Vec<String> {
    let repeats = one.a.runs.min(one.b.runs);
    if one.figures.iter().any(|row| row.doubted) && one.verdict == Overall::CannotTell {
        return vec![
            "Free CPU on the load generator (move the target, stop other programs), then run both sides again.".into(),
        ];
    }
    if one.blocking().is_some() {
        return vec!["Mend what stands above, and run both sides again.".into()];
    }
    let open = one.figures.iter().filter(|row| !row.has_too_few());
    let more = open.filter_map(|row| row.more_repeats).max();
    let mut out = vec![match (one.verdict, more) {
        (Overall::CannotTell, Some(n)) => format!(
            "Run each side {} more, in turns: that settles it if difference and spread stay as they are.",
            counted(u64::from(n), "time")
        ),
        (Overall::CannotTell, None) => "Run both sides longer, or three times each in turns.".into(),
        _ if repeats == 1 => {
            "Run each side three times, in turns: one run of each does not show how much runs differ.".into()
        }
        _ if repeats < REPEATS => {
            "Run each side three times, in turns: two of each hardly show how much runs differ.".into()
        }
        (Overall::Slower | Overall::MoreErrors | Overall::Mixed, _) => look(one),
        (Overall::Faster | Overall::FewerErrors | Overall::NoDifference, _) => {
            "Keep it as what the next change is held against: `plimsoll compare` with `--save NAME`.".into()
        }
    }];
    let is_loss = matches!(one.verdict, Overall::Slower | Overall::MoreErrors | Overall::Mixed);
    if is_loss && repeats < REPEATS {
        out.push(look(one));
    }
    if is_loss && one.watched.is_empty() {
        out.push("Watch the service in both (`--monitor`): then the comparison says what it used.".into());
    }
    out
}

/// The command, where the side is one file.
fn look(one: &Comparison) -> String {
    let report = match one.b.name.ends_with(".plim") && !one.b.name.contains(", ") {
        true => format!("`plimsoll report {} --html report.html`", shell(&one.b.name)),
        false => "`plimsoll report RUN --html report.html`".into(),
    };
    format!("See where the time goes: {report} shows phases, requests and errors.")
}
