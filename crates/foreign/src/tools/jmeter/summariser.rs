//! The summariser's lines. `+` is an interval, `=` is everything so far; the last `=` is the result. `Avg` is cut to
//! whole milliseconds, the time is rounded to whole seconds while the rate is of the exact one.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, Comma, count, leading, percent};
use crate::tools::text::Text;

/// Reads the lines that begin here, and gives the line after them.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    summary(text.at(at))?;
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    let (mut last, mut lines, mut sum) = (None::<(usize, f64)>, Vec::new(), 0.0);
    // Intervals since the last total, by line.
    let mut open: Vec<(usize, f64)> = Vec::new();
    // Other lines of the log may stand in between.
    while next < end && strangers < 20 {
        match summary(text.at(next)) {
            Some((is_total, rest)) => {
                let samples = leading(rest, Comma::Groups).map_or(0.0, |(number, _)| number.value);
                if !is_total {
                    open.push((next, samples));
                } else {
                    let since: f64 = open.iter().map(|(_, samples)| samples).sum();
                    // A total that is nearer to its own intervals than to all before belongs to the next run.
                    let another = |before: f64| (samples - since).abs() < (samples - before - since).abs();
                    if last.is_some_and(|(_, before)| before > 0.0 && another(before)) {
                        next = open.first().map_or(next, |(first, _)| *first);
                        open.clear();
                        strangers = 0;
                        break;
                    }
                    sum += since;
                    lines.extend(open.drain(..).map(|(line, _)| line));
                    lines.push(next);
                    last = Some((next, samples));
                }
                strangers = 0;
            }
            // A new test in the same log.
            None if text.at(next).starts_with("Starting ") || text.at(next).starts_with("... end of run") => {
                break;
            }
            None => strangers += 1,
        }
        next += 1;
    }
    sum += open.iter().map(|(_, samples)| samples).sum::<f64>();
    lines.extend(open.into_iter().map(|(line, _)| line));
    let started = threads(text, &lines);
    let states = lines.iter().rfind(|at| text.at(**at).contains("Started:"));
    let last_line = states.map(|at| (text.at(*at), text.number(*at)));
    let intervals =
        lines.iter().filter(|line| summary(text.at(**line)).is_some_and(|(is_total, _)| !is_total)).count();
    let after = next.saturating_sub(strangers).max(at + 1);
    // Intervals without a total: the interval itself is all there is.
    let (result, samples) = last.unwrap_or((at, sum));
    let mut entry = Entry::new(Tool::Jmeter, text, result);
    let (line, number) = (text.at(result), text.number(result));
    totals(&mut entry, summary(line).map_or("", |(_, rest)| rest), (number, line));
    if last.is_some() {
        intervals_of(&mut entry, text, &lines);
    }
    lines.into_iter().for_each(|line| entry.take(text.number(line)));
    for i in at.saturating_sub(4)..(after + 3).min(end) {
        const AROUND: [&str; 5] =
            ["Creating summariser", "Created the tree", "Starting ", "Tidying up", "... end of run"];
        if AROUND.iter().any(|start| text.at(i).starts_with(start)) {
            entry.take(text.number(i));
        }
    }
    if last.is_some() && intervals > 0 {
        entry.other(
            "samples of all intervals",
            Some(Figure::exact(sum, format!("{sum}"), number)),
            (number, line),
        );
    }
    for (name, key) in [("Active:", "active"), ("Started:", "started"), ("Finished:", "finished")] {
        let value = last_line.and_then(|(text, number)| count(field(text, name)?, number));
        if value.is_some() {
            entry.other(key, value, (number, line));
        }
    }
    if let Some(started) = started {
        entry.put(Measure::Users, Some(started), (number, line));
    }
    entry.word("mean", "cut to whole milliseconds", number);
    entry.label("", "threads");
    entry.row.label = match entry.row.label.is_empty() {
        true => format!("{samples} samples"),
        false => format!("{}, {samples} samples", entry.row.label),
    };
    entry.finish(document).then_some(after)
}

/// What the intervals (`+`) say together, to be compared with the total.
fn intervals_of(entry: &mut Entry, text: &Text, lines: &[usize]) {
    let mut parts = Vec::new();
    for at in lines {
        let Some((false, rest)) = summary(text.at(*at)) else { continue };
        let mut part = Entry::new(Tool::Jmeter, text, *at);
        totals(&mut part, rest, (text.number(*at), text.at(*at)));
        let own = part.row.figures;
        let needed = [Measure::Requests, Measure::Mean, Measure::Min, Measure::Max, Measure::Errors];
        let figures = needed.map(|measure| own.get(&measure).cloned());
        let [Some(count), Some(mean), Some(min), Some(max), Some(errors)] = figures else { return };
        // An interval without samples has an extreme that is none.
        if count.value > 0.0 {
            parts.push((count, mean, min, max, errors));
        }
    }
    let Some(line) = lines.last().map(|at| text.number(*at)).filter(|_| !parts.is_empty()) else { return };
    let place = (line, "");
    let count: f64 = parts.iter().map(|(n, ..)| n.value).sum();
    let mean = |end: fn(&Figure) -> f64| parts.iter().map(|(n, x, ..)| n.value * end(x)).sum::<f64>() / count;
    let (value, low, high) = (mean(|x| x.value), mean(|x| x.low), mean(|x| x.high));
    let written = format!("{:.1}", value * 1e3);
    entry.other("interval mean", Some(Figure { low, high, ..Figure::exact(value, written, line) }), place);
    let errors = parts.iter().map(|(.., errors)| errors.value).sum::<f64>();
    entry.other("interval errors", Some(Figure::exact(errors, format!("{errors}"), line)), place);
    let least = parts.iter().map(|(_, _, min, ..)| min).min_by(|a, b| a.value.total_cmp(&b.value));
    entry.other("interval min", least.cloned(), place);
    let most = parts.iter().map(|(_, _, _, max, _)| max).max_by(|a, b| a.value.total_cmp(&b.value));
    entry.other("interval max", most.cloned(), place);
}

/// In remote runs `Started` can stay below `Active`: the largest of the three is the number of threads.
fn threads(text: &Text, lines: &[usize]) -> Option<Figure> {
    let all = lines.iter().flat_map(|line| {
        let (text, number) = (text.at(*line), text.number(*line));
        ["Active:", "Started:", "Finished:"]
            .into_iter()
            .filter_map(move |name| count(field(text, name)?, number))
    });
    all.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// `summary =   1800 in ...`, perhaps after a logger's prefix, perhaps with another name of the summariser.
fn summary(line: &str) -> Option<(bool, &str)> {
    if !line.contains(" Avg:") || !line.contains("/s") {
        return None;
    }
    let (before, rest) = line.split_once(" in ")?;
    let sign = before.rfind(['+', '='])?;
    let samples = before.get(sign + 1..)?.trim();
    let number_stands = count(samples, 0).is_some();
    let name_stands = before.get(..sign)?.trim_end().ends_with(|c: char| c.is_alphanumeric());
    (number_stands && name_stands && !rest.is_empty())
        .then(|| (before.get(sign..=sign) == Some("="), line.get(sign + 1..).unwrap_or("").trim_start()))
}

/// `1800 in 00:00:02 = 866.2/s Avg: 6 Min: 1 Max: 211 Err: 600 (33.33%)`.
fn totals(entry: &mut Entry, rest: &str, place: (u32, &str)) {
    let line = place.0;
    let (samples, tail) = rest.split_once(" in ").unwrap_or((rest, ""));
    entry.put(Measure::Requests, count(samples, line), place);
    if let Some((time, rate)) = tail.split_once('=') {
        let time = time.trim();
        // JMeter before 2.13 wrote `30.2s`.
        let duration = number::clock(time, line).or_else(|| number::with_unit(time, line, number::time_unit));
        entry.put(Measure::Duration, duration, place);
        let rate = rate.split_once("/s").map_or("", |(rate, _)| rate).trim();
        // Asterisks stand for a rate that has no time.
        if !rate.starts_with('*') {
            entry.put(Measure::Rate, number::plain(rate, 1.0, "/s", line), place);
        }
    }
    for (name, measure) in [("Avg:", Measure::Mean), ("Min:", Measure::Min), ("Max:", Measure::Max)] {
        entry.put(measure, field(tail, name).and_then(|value| whole_ms(value, line)), place);
    }
    let errors = field(tail, "Err:");
    entry.put(Measure::Errors, errors.and_then(|value| count(value, line)), place);
    let share = tail.split_once("Err:").and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    entry.put(Measure::ErrorRatio, share.and_then(|(share, _)| percent(share, line)), place);
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split_once(name)?.1.split_whitespace().next()
}

/// The mean is cut, and single samples are differences of a clock of whole milliseconds.
fn whole_ms(text: &str, line: u32) -> Option<Figure> {
    let mut figure = number::plain(text, 1e-3, "ms", line)?;
    (figure.low, figure.high) = (figure.value, figure.value + 1e-3);
    Some(figure)
}
