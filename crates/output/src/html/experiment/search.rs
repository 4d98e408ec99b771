//! A search: the answer with the way to it, the curve that it makes of the service, every step, and why it ended.

use super::super::bits::{At, data, facts, hinted, said};
use super::super::piece::{Tone, figure as copied, prose};
use super::super::table::{Cell, Column, number, text};
use super::{RunFile, drawn, link, shown};
use crate::experiment::{capacity, name};
use crate::find;
use crate::find::next::hints;
use crate::format::{chosen_s, count, counted, duration_ns, ratio};
use maud::{Markup, html};
use plimsoll_chart::Chart;
use plimsoll_experiment::conclusion::{Conclusion, Searched};
use plimsoll_experiment::search::{Answer, IntervalIs, Point, Reading, Standing, StepRow};
use plimsoll_plan::experiment::Purpose;

/// The pictures, the facts of each answer and why it ended; of several searches first a table of all.
pub fn answers(c: &Conclusion, charts: &[Chart], at: &At) -> Option<Markup> {
    if c.searches.is_empty() {
        return None;
    }
    let single = c.searches.len() == 1;
    let heads = [text("search"), number("carries"), text("95 % interval"), number("steps")];
    let row = |one: &Searched| {
        let (level, interval) = capacity(one);
        let raw = one.answer.as_ref().and_then(|answer| answer.capacity.as_ref()).map(|found| found.level());
        vec![
            Cell::text(name(&one.settings)),
            Cell::number(level, raw),
            Cell::text(interval),
            Cell::count(one.steps as u64),
        ]
    };
    let rows: Vec<Vec<Cell>> = c.searches.iter().map(row).collect();
    Some(html! {
        (shown(&drawn(charts, at, "search")))
        @if !single { (data(&at.id("searches"), "All searches", &heads, rows)) }
        @for one in &c.searches {
            @if !single { (at.heading(&name(&one.settings))) }
            @match &one.answer {
                Some(answer) => {
                    @if !single { p.sentence { (prose(&answer.sentence)) } }
                    (told(answer))
                }
                None => p { "Stopped behind " (counted(one.steps as u64, "step")) ": the same command with the same "
                    code { "--out" } " goes on." },
            }
        }
    })
}

/// Why it ended where it did and what to do next, of a single search: several have a table of answers.
pub fn next(c: &Conclusion) -> Option<Markup> {
    let [one] = c.searches.as_slice() else { return None };
    let Some(answer) = &one.answer else {
        return Some(html! { dl.next { dt { "Next" } dd {
            "The same command with the same " code { "--out" } " goes on where it was stopped."
        } } });
    };
    Some(hinted(&hints(answer)))
}

/// The answer as figures.
pub fn tiles(one: &Searched) -> Vec<(&'static str, Markup)> {
    let Some(answer) = &one.answer else { return Vec::new() };
    let mut out = Vec::new();
    if let Some(found) = &answer.capacity {
        let (level, interval) = capacity(one);
        let interval = match found.interval_is {
            IntervalIs::Confidence95 if !found.at_least => format!("95 % interval {interval}"),
            _ => String::new(),
        };
        out.push((
            "carries",
            html! { (copied(&level, Some(found.level()))) @if !interval.is_empty() { small { (interval) } } },
        ));
    }
    if let Some(knee) = &answer.knee {
        out.push(("knee", copied(&find::level(knee.level, answer.users), Some(knee.level))));
    }
    if let Some(floor) = answer.floor_ns {
        out.push(("unloaded p50", copied(&duration_ns(floor), Some(floor as f64))));
    }
    out
}

fn told(answer: &Answer) -> Markup {
    let mut lines: Vec<(&str, Markup)> =
        find::facts(answer).into_iter().map(|(label, fact)| (label, prose(&fact))).collect();
    // What stopped it before its end stands above.
    if answer.refusal.is_none() {
        lines.push(("ended", prose(&ended(answer))));
    }
    lines.extend(confirmation(answer).map(|text| ("confirmed", prose(&text))));
    facts(&lines)
}

/// Why it stopped where it did.
fn ended(answer: &Answer) -> String {
    match &answer.capacity {
        Some(found) if found.at_least => {
            "the highest level that was allowed was met: where the service ends was not seen".into()
        }
        Some(_) => {
            format!("the interval is as narrow as was asked for ({} either way)", ratio(answer.within))
        }
        None => "it found nothing".into(),
    }
}

/// How the repeats at, below and above the answer went, level by level.
fn confirmation(answer: &Answer) -> Option<String> {
    let mut levels: Vec<(f64, u64, u64)> = Vec::new();
    for step in answer.steps.iter().filter(|s| s.purpose == Purpose::Confirm && s.limited_by.is_none()) {
        let met = u64::from(step.met);
        match levels.iter_mut().find(|(level, ..)| *level == step.level) {
            Some((_, all, good)) => (*all, *good) = (*all + 1, *good + met),
            None => levels.push((step.level, 1, met)),
        }
    }
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let say = |(level, all, met): &(f64, u64, u64)| {
        format!("{} met {} of {}", find::level(*level, answer.users), count(*met), count(*all))
    };
    (!levels.is_empty()).then(|| levels.iter().map(say).collect::<Vec<_>>().join("; "))
}

/// The answers with their names; of a single search without one.
fn finished(c: &Conclusion) -> Vec<(String, &Searched, &Answer)> {
    let named = |one| {
        let one: &Searched = one;
        Some((name(&one.settings), one, one.answer.as_deref()?))
    };
    c.searches.iter().filter_map(named).collect()
}

fn captioned(title: &str, of: &str) -> String {
    if of.is_empty() { title.to_owned() } else { format!("{title}: {of}") }
}

/// Levels in rising order, repeats pooled.
pub fn curves(c: &Conclusion, at: &At) -> Option<Markup> {
    let all: Vec<_> = finished(c).into_iter().filter(|(_, _, answer)| !answer.curve.is_empty()).collect();
    if all.is_empty() {
        return None;
    }
    Some(html! {
        @for (number, (of, _, answer)) in all.iter().enumerate() {
            (curve(answer, &captioned("The curve", of), &at.id(&format!("curve-{}", number + 1))))
        }
    })
}

fn curve(answer: &Answer, caption: &str, id: &str) -> Markup {
    let unit = if answer.users { "users" } else { "offered" };
    let heads = [unit, "achieved", "p50 (95 %)", "p99 (95 %)", "errors", "runs"].map(number);
    let mut heads: Vec<Column> = heads.to_vec();
    heads.push(text("thresholds"));
    let row = |p: &Point| {
        let tone = match (p.met, p.undecided, p.runs) {
            (met, _, runs) if met == runs => Tone::Pass,
            (0, 0, _) => Tone::Fail,
            _ => Tone::Doubt,
        };
        vec![
            Cell::number(find::level(p.level, answer.users), Some(p.level)),
            Cell::number(find::level(p.achieved_rate_per_s, false), Some(p.achieved_rate_per_s)),
            Cell::number(find::with_bounds(p.p50), raw(p.p50)),
            Cell::number(find::with_bounds(p.p99), raw(p.p99)),
            Cell::number(find::errors(p.error_ratio), Some(p.error_ratio)),
            Cell::count(u64::from(p.runs)),
            Cell::Markup(said(tone, &find::verdict(p))),
        ]
    };
    let rows: Vec<Vec<Cell>> = answer.curve.iter().map(row).collect();
    data(id, caption, &heads, rows)
}

fn raw(reading: Option<Reading>) -> Option<f64> {
    find::shown(reading).map(|reading| reading.value_ns as f64)
}

/// Every run, in order.
pub fn steps(c: &Conclusion, files: &[RunFile], at: &At) -> Option<Markup> {
    let all: Vec<_> = finished(c).into_iter().filter(|(_, _, answer)| !answer.steps.is_empty()).collect();
    if all.is_empty() {
        return None;
    }
    Some(html! {
        @for (number, (of, searched, answer)) in all.iter().enumerate() {
            @let own: Vec<&RunFile> = files.iter().filter(|file| file.settings == searched.settings).collect();
            (rows(answer, &own, &captioned("The steps", of), &at.id(&format!("steps-{}", number + 1))))
        }
    })
}

fn rows(answer: &Answer, files: &[&RunFile], caption: &str, id: &str) -> Markup {
    let unit = if answer.users { "users" } else { "offered" };
    let heads = [
        number("run"),
        text("for"),
        number("length"),
        number(unit),
        number("achieved"),
        number("p50"),
        number("p99"),
        number("errors"),
        text("outcome"),
        text("cautions"),
        text("file"),
    ];
    let row = |(at, step): (usize, &StepRow)| {
        let tone = match (&step.limited_by, step.standing) {
            (Some(_), _) | (None, Standing::Undecided) => Tone::Doubt,
            (None, Standing::Met) => Tone::Pass,
            (None, Standing::Missed) => Tone::Fail,
        };
        // They are listed in the order in which they ran, as the steps are.
        let file = files.get(at).filter(|_| files.len() == answer.steps.len());
        vec![
            Cell::count(u64::from(step.turn) + 1),
            Cell::text(find::purpose(step.purpose)),
            Cell::number(chosen_s(step.length_s), Some(step.length_s)),
            Cell::number(
                find::level(step.level, answer.users || step.purpose == Purpose::Floor),
                Some(step.level),
            ),
            Cell::number(find::level(step.achieved_rate_per_s, false), Some(step.achieved_rate_per_s)),
            Cell::number(find::value(step.p50), raw(step.p50)),
            Cell::number(find::value(step.p99), raw(step.p99)),
            Cell::number(find::errors(step.error_ratio), Some(step.error_ratio)),
            Cell::Markup(said(tone, &find::outcome(step))),
            Cell::text(step.cautions.join(", ")),
            Cell::Markup(file.map_or_else(|| html! {}, |file| link(file))),
        ]
    };
    let rows: Vec<Vec<Cell>> = answer.steps.iter().enumerate().map(row).collect();
    data(id, caption, &heads, rows)
}
