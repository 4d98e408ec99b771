//! Load levels over time: stages, a schedule of users, a spike, a staircase.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::one_or_more;
use crate::own::yaml::{Entry, Node, Value};
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::load::{self, Profile};
use plimsoll_plan::unit;

/// A profile, and whether its levels are rates.
type Shape = Option<(Profile, bool)>;

/// Reads stages from a list, or from the text that the flag takes. Both use the same grammar. Each stage is also parsed
/// separately, so that a diagnostic names the invalid one.
pub fn stages(node: &Node, row: &Row, r: &mut Reader<'_>) -> Shape {
    let mut written: Vec<(Pos, String)> = Vec::new();
    let items = one_or_more(node);
    for item in items {
        let text = match &item.value {
            Value::Map(entries) => stage(item.pos, entries, r),
            _ => r.written(item, row).map(str::to_owned),
        };
        written.extend(text.map(|text| (item.pos, text)));
    }
    if written.len() < items.len() {
        return None;
    }
    let is_rate = |text: &str| text.contains('/');
    // The added stage makes any other one valid: it has a duration and a level above 0.
    let alone = |text: &str| load::stages(&format!("{text},1s:1{}", if is_rate(text) { "/s" } else { "" }));
    for (pos, text) in &written {
        if let Err(mut problem) = alone(text) {
            problem.message = problem.message.replace(",1s:1/s`", "`").replace(",1s:1`", "`");
            r.complain_of(*pos, problem);
            return None;
        }
    }
    let whole = written.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(",");
    if whole.is_empty() {
        r.complain("F015", node.pos, "`stages` is empty", format!("write {}", row.expects));
        return None;
    }
    load::stages(&whole).map_err(|problem| r.complain_of(node.pos, problem)).ok()
}

/// Rewrites `{ duration: 10s, users: 100 }` as the flag takes it: `10s:100`.
fn stage(pos: Pos, entries: &[Entry], r: &mut Reader<'_>) -> Option<String> {
    // `1s: 20`, with a space, is a mapping in YAML.
    if let Some(first) = entries.iter().find(|entry| unit::duration_ns(&entry.key).is_ok()) {
        let pairs = entries.iter().filter_map(|entry| match &entry.value.value {
            Value::Scalar(level) => Some(format!("{}:{}", entry.key, level.text)),
            _ => None,
        });
        let whole = pairs.collect::<Vec<_>>().join(", ");
        let message = format!("invalid stage: the space after `{}:` makes it a mapping", first.key);
        r.complain("F014", first.pos, message, format!("put the stages in quotes: `\"{whole}\"`"));
        return None;
    }
    let before = r.wrong.len();
    let (mut time, mut level) = (None, None);
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        if level.is_some() && key != of::Stage::Duration {
            let message = "`users` and `rate` both set the level of this stage";
            r.complain("F017", entry.pos, message, "keep one of them");
        }
        match key {
            of::Stage::Duration => {
                time = r.parsed(node, row, |text| unit::duration_ns(text).map(|_| text.to_owned()));
            }
            of::Stage::Users => level = r.count(node, row).map(|users| users.to_string()),
            of::Stage::Rate => {
                let per_s = |t: &str| if t.contains('/') { t.to_owned() } else { format!("{t}/s") };
                level = r.written(node, row).map(per_s);
            }
        }
    }
    if r.wrong.len() > before {
        return None;
    }
    match (time, level) {
        (Some(time), Some(level)) => Some(format!("{time}:{level}")),
        (time, _) => {
            let (missing, hint) = match time {
                None => ("duration", "add a duration, such as `duration: 10s`"),
                Some(_) => ("users", "add a level, such as `users: 100` or `rate: 100/s`"),
            };
            r.complain("F016", pos, format!("missing `{missing}` in this stage"), hint);
            None
        }
    }
}

/// Reads rows of users, each with a start, a ramp-up, a hold, and a ramp-down. The rows add up.
pub fn schedule(node: &Node, row: &Row, r: &mut Reader<'_>) -> Shape {
    let before = r.wrong.len();
    let mut profiles = Vec::new();
    for item in r.list(node, row)? {
        let Some(entries) = r.map(item, row) else { continue };
        let so_far = r.wrong.len();
        let (mut users, mut times) = (None, [0u64; 4]);
        for entry in entries {
            let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
            let slot = match key {
                of::ScheduleRow::Users => {
                    users = r.count(node, row);
                    continue;
                }
                of::ScheduleRow::Start => 0,
                of::ScheduleRow::RampUp => 1,
                of::ScheduleRow::Hold => 2,
                of::ScheduleRow::RampDown => 3,
            };
            times[slot] = r.parsed(node, row, unit::duration_ns).unwrap_or_default();
        }
        let [start_ns, up_ns, hold_ns, down_ns] = times;
        match users {
            Some(0) => {
                r.complain(
                    "F015",
                    item.pos,
                    "`users` must be at least 1",
                    "write a number such as `users: 10`",
                );
            }
            Some(_) if up_ns + hold_ns + down_ns == 0 && r.wrong.len() == so_far => {
                let hint = "add a duration, such as `hold: 30s` or `ramp_up: 10s`";
                r.complain("F016", item.pos, "this row has no duration", hint);
            }
            Some(users) => {
                profiles.push(Profile::trapezoid(start_ns, up_ns, hold_ns, down_ns, f64::from(users)));
            }
            None if r.wrong.len() == so_far => {
                r.complain("F016", item.pos, "missing `users` in this row", "add users, such as `users: 10`");
            }
            None => {}
        }
    }
    if profiles.is_empty() && r.wrong.len() == before {
        r.expected(node, row, "write at least one row");
    }
    (r.wrong.len() == before).then(|| (Profile::sum(profiles.iter()), false))
}

/// Parses a level: a number of users, or a rate with its `/s`. 0 is valid.
fn level(text: &str) -> Result<(f64, bool), Problem> {
    let text = text.trim();
    if text.contains('/') {
        return match text {
            "0/s" => Ok((0.0, true)),
            _ => unit::rate_per_s(text).map(|rate| (rate, true)),
        };
    }
    text.parse::<u32>().map(|users| (f64::from(users), false)).map_err(|_| {
        Problem::new(
            format!("invalid level `{text}`: expected a rate or a number of users"),
            "write a rate such as `50/s`, or a whole number of users",
        )
    })
}

/// Checks that the levels of one mapping are either all rates or all users.
fn agree(levels: &[(f64, bool)], node: &Node, r: &mut Reader<'_>) -> Option<bool> {
    let open = levels.first()?.1;
    if levels.iter().any(|(_, other)| *other != open) {
        r.complain(
            "F017",
            node.pos,
            "rates and users cannot be mixed",
            "write `/s` after every level or after none",
        );
        return None;
    }
    Some(open)
}

/// Reports the first missing key.
fn missing(names: &[(&str, bool)], node: &Node, row: &Row, r: &mut Reader<'_>) {
    if let Some((name, _)) = names.iter().find(|(_, is_there)| !is_there) {
        let message = format!("missing `{name}` under `{}`", row.name);
        r.complain("F016", node.pos, message, format!("write {}", row.expects));
    }
}

/// Reads a base level with one peak.
pub fn spike(node: &Node, row: &Row, r: &mut Reader<'_>) -> Shape {
    let before = r.wrong.len();
    let (mut base, mut peak) = (None, None);
    let (mut at, mut rise, mut hold, mut total) = (None, None, None, None);
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Spike::Base => base = r.parsed(node, row, level),
            of::Spike::Peak => peak = r.parsed(node, row, level),
            of::Spike::At => at = r.parsed(node, row, unit::duration_ns),
            of::Spike::Rise => rise = r.parsed(node, row, unit::duration_ns),
            of::Spike::Hold => hold = r.parsed(node, row, unit::duration_ns),
            of::Spike::Duration => total = r.parsed(node, row, unit::duration_ns),
        }
    }
    if r.wrong.len() > before {
        return None;
    }
    let (Some(base), Some(peak), Some(at_ns), Some(hold_ns), Some(total_ns)) = (base, peak, at, hold, total)
    else {
        let names = [
            ("base", base.is_some()),
            ("peak", peak.is_some()),
            ("at", at.is_some()),
            ("hold", hold.is_some()),
            ("duration", total.is_some()),
        ];
        missing(&names, node, row, r);
        return None;
    };
    let rise_ns = rise.unwrap_or(0);
    let open = agree(&[base, peak], node, r)?;
    if peak.0 <= base.0 {
        r.complain("F015", node.pos, "`peak` must be above `base`", "write the higher level as `peak`");
        return None;
    }
    if at_ns + 2 * rise_ns + hold_ns > total_ns {
        r.complain(
            "F015",
            node.pos,
            "`duration` ends before the spike does",
            "write a longer `duration`, or an earlier `at`",
        );
        return None;
    }
    Some((Profile::spike(base.0, peak.0, at_ns, rise_ns, hold_ns, total_ns), open))
}

/// The increase from one level to the next.
#[derive(Clone, Copy)]
enum By {
    Add(f64, bool),
    Factor(f64),
}

fn by(text: &str) -> Result<By, Problem> {
    match text.trim().strip_prefix('x') {
        None => level(text).map(|(step, open)| By::Add(step, open)),
        Some(factor) => match factor.parse::<f64>() {
            Ok(factor) if factor.is_finite() && factor > 1.0 => Ok(By::Factor(factor)),
            _ => {
                let message = format!("invalid factor `{text}`: it must be above 1");
                Err(Problem::new(message, "write a factor such as `x1.5`"))
            }
        },
    }
}

/// Reads levels that rise in steps.
pub fn staircase(node: &Node, row: &Row, r: &mut Reader<'_>) -> Shape {
    /// A staircase with more steps is a ramp, which `stages` describes.
    const MOST: usize = 10_000;
    let before = r.wrong.len();
    let (mut from, mut step, mut hold, mut to) = (None, None, None, None);
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Staircase::From => from = r.parsed(node, row, level),
            of::Staircase::By => step = r.parsed(node, row, by),
            of::Staircase::Hold => hold = r.parsed(node, row, unit::duration_ns),
            of::Staircase::To => to = r.parsed(node, row, level),
        }
    }
    if r.wrong.len() > before {
        return None;
    }
    let (Some(from), Some(step), Some(hold_ns), Some(to)) = (from, step, hold, to) else {
        let names = [
            ("from", from.is_some()),
            ("by", step.is_some()),
            ("hold", hold.is_some()),
            ("to", to.is_some()),
        ];
        missing(&names, node, row, r);
        return None;
    };
    let mut levels = vec![from, to];
    if let By::Add(_, open) = step {
        levels.push((0.0, open));
    }
    let open = agree(&levels, node, r)?;
    let stands_still = match step {
        By::Add(step, _) => step <= 0.0,
        By::Factor(_) => from.0 <= 0.0,
    };
    if stands_still || hold_ns == 0 || to.0 < from.0 || to.0 <= 0.0 {
        let hint = "write `to` above `from`, and `by` and `hold` above 0, such as \
                    `{ from: 10/s, by: 10/s, hold: 15s, to: 100/s }`";
        r.complain("F015", node.pos, "the levels of this staircase do not rise", hint);
        return None;
    }
    let mut levels = Vec::new();
    let mut level = from.0;
    // Sums of fractions have rounding errors.
    while level <= to.0 * (1.0 + 1e-9) {
        levels.push(if open { level } else { level.round() });
        if levels.len() > MOST {
            let hint = "write a larger `by`, or use `stages`";
            r.complain("F015", node.pos, "this staircase has more than 10,000 steps", hint);
            return None;
        }
        level = match step {
            By::Add(step, _) => level + step,
            By::Factor(factor) => level * factor,
        };
    }
    // The last step is smaller if the others do not reach `to` exactly.
    let end = if open { to.0 } else { to.0.round() };
    if levels.last().is_some_and(|last| *last < end * (1.0 - 1e-9)) {
        levels.push(end);
    }
    Some((Profile::ladder(&levels, hold_ns), open))
}
