//! An experiment as a whole: what was expected first, then what the runs say, then each comparison.

pub mod parts;
mod progress;

pub use progress::run_line;

use crate::csv::quoted;
use crate::line::{Line, wrap, write_all};
use crate::markdown::prose;
use crate::style::{Ink, Look};
use crate::terminal::table::{Align, Table};
use crate::{compare, find, study, words};
use plimsoll_analysis::summary::Outcome;
use plimsoll_experiment::compare::expect::{Answer as Expected, Borne};
use plimsoll_experiment::conclusion::{Conclusion, Searched};
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::phrase::{quantity, rate_per_s};
use std::fmt::Write;

/// Beyond so many comparisons each is one sentence: the whole of one can be had by `compare`.
const SHOWN_IN_FULL: usize = 4;

/// For people at a terminal; `folder` is where the runs lie.
pub fn terminal(c: &Conclusion, look: &Look, folder: Option<&str>) -> String {
    let mut out = write_all(&head(c, look), look);
    match c.searches.as_slice() {
        [] => {}
        [one] => {
            if let Some(answer) = &one.answer {
                out.push('\n');
                out.push_str(&find::terminal(answer, look));
            }
        }
        many => {
            out.push('\n');
            out.push_str(&write_all(&searches(many, look), look));
            for answer in many.iter().filter_map(|searched| searched.answer.as_ref().map(|a| (searched, a))) {
                let title = Line::of(Ink::Strong, &name(&answer.0.settings));
                let _ = write!(out, "\n{}{}", write_all(&[title], look), find::terminal(answer.1, look));
            }
        }
    }
    if let Some(study) = &c.study {
        out.push('\n');
        out.push_str(&study::terminal(study, look));
    }
    if c.comparisons.len() <= SHOWN_IN_FULL {
        for one in &c.comparisons {
            out.push('\n');
            out.push_str(&compare::terminal(one, look));
        }
    } else {
        let lines: Vec<Line> = c.comparisons.iter().flat_map(|one| item(&one.sentence, look)).collect();
        out.push('\n');
        out.push_str(&write_all(&lines, look));
    }
    if let Some(folder) = folder {
        let lines = [Line::new(), Line::of(Ink::Dim, "runs  ").text(folder)];
        out.push_str(&write_all(&lines, look));
    }
    out
}

/// The word for the result. PASS is said only where something could have failed.
pub(crate) fn outcome(c: &Conclusion) -> &'static str {
    if c.result == Outcome::Pass && !c.is_judged() { MEASURED } else { words::outcome(c.result) }
}

/// Everything was run, and nothing was asked that could have failed.
pub(crate) const MEASURED: &str = "MEASURED";

fn head(c: &Conclusion, look: &Look) -> Vec<Line> {
    let badge = match c.result {
        Outcome::Pass if !c.is_judged() => Ink::Strong,
        Outcome::Pass => Ink::BadgeGood,
        Outcome::Fail => Ink::BadgeBad,
        Outcome::Inconclusive | Outcome::Interrupted => Ink::BadgeWarn,
    };
    let question = wrap(&c.question, look.columns()).into_iter().filter(|text| !text.is_empty());
    let mut lines: Vec<Line> = question.map(|text| Line::of(Ink::Strong, &text)).collect();
    lines.push(Line::of(badge, &format!(" {} ", outcome(c))).text(" ").ink(Ink::Strong, &c.name));
    // A single answer begins with the same sentence.
    if !matches!(c.searches.as_slice(), [one] if one.answer.is_some()) {
        lines.extend(wrap(&c.sentence, look.columns()).iter().map(|text| Line::new().text(text)));
    }
    for left in &c.left_out {
        lines
            .extend(wrap(&format!("left out: {left}"), look.columns()).iter().map(|t| Line::of(Ink::Dim, t)));
    }
    for expected in &c.expectations {
        lines.push(Line::new());
        lines.extend(expectation(expected, look));
    }
    lines
}

fn expectation(expected: &Expected, look: &Look) -> Vec<Line> {
    let signs = look.signs();
    let (sign, ink) = match expected.verdict {
        Borne::Holds => (signs.ok, Ink::Good),
        Borne::DoesNotHold => (signs.bad, Ink::Bad),
        Borne::CannotTell => (signs.warn, Ink::Warn),
    };
    let texts = wrap(&expected.sentence, look.columns().saturating_sub(2));
    let mut lines: Vec<Line> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| match at {
            0 => Line::of(ink, sign).text(" ").text(text),
            _ => Line::new().pad(2).text(text),
        })
        .collect();
    // The headline tells the first of them already.
    for evidence in expected.evidence.iter().filter(|line| !expected.sentence.contains(line.as_str())) {
        let texts = wrap(evidence, look.columns().saturating_sub(4));
        lines.extend(texts.iter().map(|text| Line::new().pad(4).ink(Ink::Dim, text)));
    }
    lines
}

fn item(sentence: &str, look: &Look) -> Vec<Line> {
    let texts = wrap(sentence, look.columns().saturating_sub(2));
    let mark = |at: usize| if at == 0 { "- " } else { "  " };
    texts.iter().enumerate().map(|(at, text)| Line::of(Ink::Dim, mark(at)).text(text)).collect()
}

/// One line for each search.
fn searches(all: &[Searched], look: &Look) -> Vec<Line> {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right]);
    table.row(["search", "carries", "95 % interval", "steps"].map(|h| Line::of(Ink::Dim, h)).into());
    for one in all {
        let (level, interval) = capacity(one);
        table.row(vec![
            Line::new().text(&name(&one.settings)),
            Line::of(Ink::Strong, &level),
            Line::new().text(&interval),
            Line::new().text(&one.steps.to_string()),
        ]);
    }
    table.lines(look.columns(), look)
}

/// The level that a search found and its interval, or why there is none.
pub(crate) fn capacity(one: &Searched) -> (String, String) {
    let Some(answer) = &one.answer else { return ("-".into(), "stopped before its end".into()) };
    let Some(capacity) = &answer.capacity else {
        let why = answer.refusal.as_ref().map_or("", |refusal| refusal.code);
        return ("-".into(), why.replace('_', " "));
    };
    let shown = |level: f64| match answer.users {
        true => format!("{} users", quantity(level)),
        false => rate_per_s(level),
    };
    let least = if capacity.at_least { ">= " } else { "" };
    let [low, high] = capacity.interval;
    (format!("{least}{}", shown(capacity.level())), format!("{} to {}", quantity(low), quantity(high)))
}

/// `node, users 10`.
pub(crate) fn name(settings: &[Setting]) -> String {
    let word = |s: &Setting| match s.axis.as_str() {
        "variant" => s.value.clone(),
        axis => format!("{axis} {}", s.value),
    };
    settings.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// For pull requests and READMEs.
pub fn markdown(c: &Conclusion) -> String {
    let mut out = String::new();
    if !c.question.is_empty() {
        let _ = writeln!(out, "> {}\n", prose(&c.question));
    }
    let _ = writeln!(out, "## {}: {}\n\n{}", outcome(c), c.name, prose(&c.sentence));
    if !c.expectations.is_empty() {
        out.push_str("\n| expectation | answer |\n|---|---|\n");
        for expected in &c.expectations {
            let word = match expected.verdict {
                Borne::Holds => "holds",
                Borne::DoesNotHold => "does not hold",
                Borne::CannotTell => "cannot tell",
            };
            // Writing to a string cannot fail.
            let _ =
                writeln!(out, "| {} | **{word}**: {} |", prose(&expected.text), prose(&expected.sentence));
        }
    }
    match c.searches.as_slice() {
        [] => {}
        [one] => {
            if let Some(answer) = &one.answer {
                let _ = write!(out, "\n{}", find::markdown(answer));
            }
        }
        many => {
            out.push_str("\n| search | carries | 95 % interval | steps |\n|---|--:|---|--:|\n");
            for one in many {
                let (level, interval) = capacity(one);
                let _ = writeln!(
                    out,
                    "| {} | {level} | {interval} | {} |",
                    prose(&name(&one.settings)),
                    one.steps
                );
            }
        }
    }
    if let Some(study) = &c.study {
        let _ = write!(out, "\n{}", study::markdown(study));
    }
    if !c.comparisons.is_empty() {
        let _ = write!(out, "\n{}", compare::markdown(&c.comparisons));
    }
    out
}

/// One line per cell of a sweep, or one per search.
pub fn csv(c: &Conclusion) -> String {
    if let Some(study) = &c.study {
        return study::csv(study);
    }
    let mut out = String::new();
    for axis in &c.axes {
        let _ = write!(out, "{},", quoted(axis.name.clone()));
    }
    out.push_str("capacity,low,high,at_least,unit,steps\n");
    for one in &c.searches {
        for setting in &one.settings {
            let _ = write!(out, "{},", quoted(setting.value.clone()));
        }
        match one.answer.as_ref().and_then(|a| a.capacity.as_ref().map(|capacity| (a, capacity))) {
            Some((answer, capacity)) => {
                let unit = if answer.users { "users" } else { "per_s" };
                let [low, high] = capacity.interval;
                let _ = write!(out, "{},{low},{high},{},{unit}", capacity.level(), capacity.at_least);
            }
            None => out.push_str(",,,,"),
        }
        let _ = writeln!(out, ",{}", one.steps);
    }
    out
}
