//! Loads whose iterations begin at a rate.

use super::super::Compiler;
use crate::code;
use crate::plan::GroupLoad;
use crate::tree::Raw;
use plimsoll_plan::load::{Profile, Stage};

/// A part of the schedule of an Open Model Thread Group.
enum Item {
    /// The rate from here, per second.
    Rate(f64),
    /// Arrivals for this time, in s, and whether they are random.
    Arrivals(f64, bool),
    /// Nothing for this time, in s.
    Pause(f64),
}

impl Compiler<'_> {
    /// Arrivals Thread Group: a rate per minute or second, with a ramp.
    pub(super) fn arrivals(&mut self, raw: &Raw) -> GroupLoad {
        let unit_s = self.unit_s(raw);
        let text = self.text(raw, "TargetLevel");
        let target = self.decimal(&text, "target rate") / unit_s;
        if target <= 0.0 && self.wrong.is_empty() {
            let message = format!("the target rate of `{}` is 0", raw.name);
            self.wrong(code::NUMBER, raw.pos, message, "set a rate above 0");
        }
        let rate_per_s = self.ramp(raw, target, unit_s);
        GroupLoad::Arrivals { rate_per_s, is_random: true, limit: self.concurrency_limit(raw) }
    }

    fn concurrency_limit(&mut self, raw: &Raw) -> Option<u32> {
        let limit = self.integer(raw, "ConcurrencyLimit", "concurrency limit");
        u32::try_from(limit).ok().filter(|limit| *limit > 0)
    }

    /// Free-Form Arrivals Thread Group: rows of start rate, end rate, and duration.
    pub(super) fn free_form_arrivals(&mut self, raw: &Raw) -> GroupLoad {
        let unit_s = self.unit_s(raw);
        let rows = raw.find("Schedule").cloned();
        let mut stages = Vec::new();
        for row in rows.iter().flat_map(|rows| rows.items()) {
            let texts = self.texts(Some(row));
            let mut numbers = [0.0; 3];
            for (number, text) in numbers.iter_mut().zip(&texts) {
                *number = self.decimal(text, "row of the schedule");
            }
            let [start, end, duration] = numbers;
            stages.push(Stage { duration_ns: 0, to: start / unit_s });
            let duration_ns = self.in_range(raw, duration * unit_s, "duration");
            stages.push(Stage { duration_ns, to: end / unit_s });
        }
        let rate_per_s = Profile { start: 0.0, stages };
        self.refuse_no_arrivals(raw, &rate_per_s);
        GroupLoad::Arrivals { rate_per_s, is_random: true, limit: self.concurrency_limit(raw) }
    }

    fn refuse_no_arrivals(&mut self, raw: &Raw, rate_per_s: &Profile) {
        if rate_per_s.peak() <= 0.0 && self.wrong.is_empty() {
            let message = format!("the schedule of `{}` has no arrivals", raw.name);
            self.wrong(code::NUMBER, raw.pos, message, "add a rate above 0 with a duration");
        }
    }

    /// Open Model Thread Group: `rate(1/sec) random_arrivals(10 min) pause(5 s)`.
    pub(super) fn open_model(&mut self, raw: &Raw) -> GroupLoad {
        let text = self.text(raw, "OpenModelThreadGroup.schedule");
        let Some(schedule) = self.value(&text, "schedule") else {
            return GroupLoad::Arrivals { rate_per_s: Profile::constant(0.0), is_random: false, limit: None };
        };
        let items = match items(&schedule) {
            Ok(items) => items,
            Err(message) => {
                let hint = "write a schedule such as `rate(10/s) random_arrivals(1 min)`";
                self.wrong(code::NUMBER, text.pos, message, hint);
                Vec::new()
            }
        };
        let is_random = items.iter().any(|item| matches!(item, Item::Arrivals(_, true)));
        if is_random && items.iter().any(|item| matches!(item, Item::Arrivals(_, false))) {
            self.unsupported(raw, "a schedule of random and even arrivals", "use one of them");
        }
        let mut profile = Profile::constant(0.0);
        let mut rate = 0.0;
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Rate(per_s) => rate = *per_s,
                Item::Arrivals(seconds, _) => {
                    // The rate changes linearly to one that follows immediately.
                    let to = match items.get(at + 1) {
                        Some(Item::Rate(next)) => *next,
                        _ => rate,
                    };
                    profile.stages.push(Stage { duration_ns: 0, to: rate });
                    let duration_ns = self.in_range(raw, *seconds, "schedule");
                    profile.stages.push(Stage { duration_ns, to });
                }
                Item::Pause(seconds) => {
                    profile.stages.push(Stage { duration_ns: 0, to: 0.0 });
                    let duration_ns = self.in_range(raw, *seconds, "schedule");
                    profile.stages.push(Stage { duration_ns, to: 0.0 });
                }
            }
        }
        self.refuse_no_arrivals(raw, &profile);
        GroupLoad::Arrivals { rate_per_s: profile, is_random, limit: None }
    }
}

/// Parses a schedule.
fn items(schedule: &str) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let mut rest = without_comments(schedule);
    while !rest.trim().is_empty() {
        let text = rest.trim_start().to_owned();
        let Some((name, after)) = text.split_once('(') else {
            return Err(format!("`{}` is not a step of a schedule", text.trim()));
        };
        let Some((argument, after)) = after.split_once(')') else {
            return Err(format!("`{}` has no `)`", text.trim()));
        };
        let argument = argument.trim();
        items.push(match name.trim().to_ascii_lowercase().as_str() {
            "rate" => Item::Rate(rate_per_s(argument)?),
            "random_arrivals" => Item::Arrivals(seconds(argument)?, true),
            "even_arrivals" => Item::Arrivals(seconds(argument)?, false),
            "pause" => Item::Pause(seconds(argument)?),
            other => return Err(format!("unknown step `{other}` of a schedule")),
        });
        rest = after.to_owned();
    }
    Ok(items)
}

/// Returns a schedule without `// ...` and `/* ... */`.
fn without_comments(schedule: &str) -> String {
    let mut text = String::new();
    let mut rest = schedule;
    while let Some(at) = rest.find("/*") {
        text.push_str(&rest[..at]);
        text.push(' ');
        rest = rest[at + 2..].split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let lines = text.lines().map(|line| line.split_once("//").map_or(line, |(before, _)| before));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the unit of a time in s.
fn unit_s(unit: &str) -> Option<f64> {
    Some(match unit.trim().to_ascii_lowercase().trim_end_matches('s') {
        "m" if unit.trim().eq_ignore_ascii_case("ms") => 0.001,
        "" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3_600.0,
        "d" | "day" => 86_400.0,
        "milli" | "millisecond" => 0.001,
        _ => return None,
    })
}

/// Splits `10 min` into number and unit.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

/// Parses `1 min`, or a sum such as `1h 30m`.
fn seconds(text: &str) -> Result<f64, String> {
    let wrong = || format!("invalid duration `{text}` in a schedule");
    let mut total = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (value, after) = number(rest).ok_or_else(wrong)?;
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        total += value * unit_s(&after[..end]).ok_or_else(wrong)?;
        rest = after[end..].trim();
    }
    Ok(total)
}

/// Parses `10/s` or `5 / min`.
fn rate_per_s(text: &str) -> Result<f64, String> {
    let wrong = || format!("invalid rate `{text}` in a schedule");
    if text.parse() == Ok(0.0) {
        return Ok(0.0);
    }
    let (value, unit) = text.split_once('/').or_else(|| text.split_once(" per ")).ok_or_else(wrong)?;
    let value: f64 = value.trim().parse().map_err(|_| wrong())?;
    Ok(value / unit_s(unit).ok_or_else(wrong)?)
}
