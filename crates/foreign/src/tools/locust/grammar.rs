//! Locust's tables at the end of a run: requests by name with `Aggregated` below, and percentiles of the same names,
//! which are also published alone.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::number::{Comma, count, leading, plain};
use crate::tools::text::Text;
use std::collections::BTreeMap;

/// Reads the tables that begin at this line, and gives the line after them.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if !is_header(text.at(at)) {
        return percentiles_alone(text, at, document);
    }
    let (end, mut next) = (text.end(at), at + 1);
    let mut entries: Vec<(String, Entry)> = Vec::new();
    let mut total = false;
    while next < end && !total {
        let (line, number) = (text.at(next), text.number(next));
        next += 1;
        if line.is_empty() || rule(line) {
            total |= line.is_empty() && !entries.is_empty();
            continue;
        }
        let Some((name, entry)) = row(text, next - 1, line, number) else { break };
        total = name.starts_with("Aggregated") || name.starts_with("Total");
        entries.push((name, entry));
    }
    let after = percentiles(text, next, end, &mut entries);
    if let Some((_, last)) = entries.last_mut() {
        (at..after).filter(|i| !text.at(*i).is_empty()).for_each(|i| last.take(text.number(i)));
    }
    let many = entries.len() > 1;
    let mut any = false;
    for (name, mut entry) in entries {
        let is_total = name.starts_with("Aggregated") || name.starts_with("Total");
        entry.row.label = if is_total { "Total".to_owned() } else { name };
        entry.row.is_part = many && !is_total;
        any |= entry.finish(document);
    }
    any.then_some(after)
}

fn is_header(line: &str) -> bool {
    ["# reqs", "# fails", "|", "req/s"].iter().all(|word| line.contains(word))
}

fn rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| matches!(c, '-' | '|' | '+'))
}

/// `GET /   1234  0(0.00%) |  12  1  200  8 |  123.40  0.00`. Versions have the bars in different places, and old ones
/// print no times of the total.
fn row(text: &Text, at: usize, line: &str, number: u32) -> Option<(String, Entry)> {
    let bare = line.replace('|', " ");
    let words: Vec<&str> = bare.split_whitespace().collect();
    let failures = words.iter().position(|word| word.ends_with("%)") && word.contains('('))?;
    let (name, values) = (words.get(..failures.checked_sub(1)?)?, words.get(failures + 1..)?);
    let mut entry = Entry::new(Tool::Locust, text, at);
    let place = (number, line);
    entry.put(Measure::Requests, count(words[failures - 1], number), place);
    let (failed, share) = words[failures].split_once('(')?;
    entry.put(Measure::Errors, count(failed, number), place);
    let share = share.trim_end_matches([')', '%']);
    entry.put(Measure::ErrorRatio, plain(share, 0.01, "%", number), place);
    let measures = [Measure::Mean, Measure::Min, Measure::Max, Measure::Percentile(5_000)];
    let times = if values.len() > measures.len() { measures.len() } else { 0 };
    for (value, measure) in values[..times].iter().zip(measures) {
        entry.put(measure, plain(value, 1e-3, "ms", number).map(|f| steps(f, measure)), place);
    }
    entry.put(Measure::Rate, values.get(times).and_then(|rate| plain(rate, 1.0, "req/s", number)), place);
    Some((name.join(" "), entry))
}

/// Whole milliseconds, cut; percentiles of two digits, rounded.
pub(super) fn steps(figure: Figure, measure: Measure) -> Figure {
    if !matches!(measure, Measure::Percentile(_)) {
        return Figure { low: figure.value, high: figure.value + 1e-3, ..figure };
    }
    let step = match (measure, figure.value) {
        (Measure::Percentile(_), v) if v >= 10.0 => 1.0,
        (Measure::Percentile(_), v) if v >= 1.0 => 0.1,
        (Measure::Percentile(_), v) if v >= 0.1 => 0.01,
        _ => 1e-3,
    };
    Figure { low: (figure.value - step).max(0.0), high: figure.value + step, ..figure }
}

/// `Type Name  50% 66% 75% 80% 90% 95% 98% 99% 99.9% 99.99% 100% # reqs`; up to version 0.14, the number of requests
/// comes first.
struct Shares {
    shares: Vec<f64>,
    count: Option<CountColumn>,
    is_named: bool,
}

#[derive(PartialEq)]
enum CountColumn {
    First,
    Last,
}

impl Shares {
    fn of(line: &str) -> Option<Self> {
        let bare = line.replace('|', " ").replace("# reqs", "#reqs");
        let words: Vec<&str> = bare.split_whitespace().collect();
        let share = |word: &&str| word.strip_suffix('%')?.parse::<f64>().ok();
        let shares: Vec<f64> = words.iter().filter_map(share).collect();
        let first = words.iter().position(|word| share(word).is_some())?;
        let is_other = |word: &&&str| share(word).is_none() && **word != "#reqs";
        let names: Vec<&&str> = words.iter().filter(is_other).collect();
        let known = names.iter().all(|name| ["Type", "Name"].contains(name));
        let rises = shares.windows(2).all(|pair| pair[0] < pair[1]);
        let is_one = shares.starts_with(&[50.0, 66.0]) && known && rises;
        let count = words.iter().position(|word| *word == "#reqs").map(|at| match at < first {
            true => CountColumn::First,
            false => CountColumn::Last,
        });
        is_one.then_some(Self { shares, count, is_named: !names.is_empty() })
    }

    /// Name, number of requests, and times of one row.
    fn row<'l>(&self, bare: &'l str) -> Option<(String, Option<&'l str>, Vec<&'l str>)> {
        let words: Vec<&str> = bare.split_whitespace().collect();
        let figures = self.shares.len() + usize::from(self.count.is_some());
        let (name, values) = words.split_at(words.len().checked_sub(figures)?);
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        let fits = name.is_empty() != self.is_named && values.iter().all(is_number);
        let (count, times) = match self.count {
            Some(CountColumn::First) => (values.first().copied(), values.get(1..)?),
            Some(CountColumn::Last) => (values.last().copied(), values.get(..values.len().checked_sub(1)?)?),
            None => (None, values),
        };
        fits.then(|| (name.join(" "), count, times.to_vec()))
    }

    fn put(&self, entry: &mut Entry, times: &[&str], (number, line): (u32, &str)) {
        for (share, value) in self.shares.iter().zip(times) {
            let figure = leading(value, Comma::Groups).map(|(n, _)| n.figure(1e-3, "ms", value, number));
            if let Some(measure) = measure_of(*share).filter(|m| !entry.has(*m)) {
                entry.put(measure, figure.map(|f| steps(f, measure)), (number, line));
            }
        }
    }
}

/// Percentiles of the rows above.
fn percentiles(text: &Text, from: usize, end: usize, entries: &mut [(String, Entry)]) -> usize {
    let near = (from..end.min(from + 6)).find_map(|i| Some((i, Shares::of(text.at(i))?)));
    let Some((header, shares)) = near else { return from };
    let places: BTreeMap<String, usize> =
        entries.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    let mut next = header + 1;
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        next += 1;
        if rule(line) {
            continue;
        }
        let bare = line.replace('|', " ");
        let Some((name, _, times)) = shares.row(&bare) else { return next - 1 };
        let Some(at) = places.get(&name) else { return next - 1 };
        shares.put(&mut entries[*at].1, &times, (number, line));
    }
    next
}

/// The table of percentiles without the other one.
fn percentiles_alone(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let shares = Shares::of(text.at(at))?;
    let (end, mut next, mut any) = (text.end(at), at + 1, false);
    let is_last =
        |line: &str| line.is_empty() || !rule(line) && shares.row(&line.replace('|', " ")).is_none();
    let last = (next..end).find(|i| is_last(text.at(*i))).unwrap_or(end);
    let many = (next..last).filter(|i| !rule(text.at(*i))).count() > 1;
    while next < last {
        let (line, number) = (text.at(next), text.number(next));
        let bare = line.replace('|', " ");
        if let Some((name, count_of, times)) = shares.row(&bare).filter(|_| !rule(line)) {
            let mut entry = Entry::new(Tool::Locust, text, next);
            let is_total = ["Aggregated", "Total", "None Total", "None Aggregated"].contains(&name.as_str());
            entry.row.label = if is_total { "Total".to_owned() } else { name };
            if entry.row.label.is_empty() {
                entry.row.label = format!("line {number}");
            }
            entry.row.is_part = many && !is_total;
            if let Some(requests) = count_of {
                entry.put(Measure::Requests, count(requests, number), (number, line));
            }
            shares.put(&mut entry, &times, (number, line));
            any |= entry.finish(document);
        }
        next += 1;
    }
    if any {
        document.taken.extend((at..next).map(|i| text.number(i)));
    }
    any.then_some(next)
}
