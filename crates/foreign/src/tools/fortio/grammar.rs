//! fortio's result on the console. Several distributions have one layout: only `Aggregated Function Time` is that of
//! the calls.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::definitions::is_failure;
use crate::tools::entry::Entry;
use crate::tools::number::{self, Comma, count, leading, plain, with_unit};
use crate::tools::text::Text;

/// Lines above a result that may have the settings of the run: warnings stand between them.
const ABOVE: usize = 400;
/// Lines of other things within a result, of which each connection may print one.
const STRANGERS: usize = 300;

const MAIN: &str = "Aggregated Function Time";

/// Reads the result that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if !(is_end_of_load(text.at(at)) || text.at(at).starts_with(MAIN) || is_last(text.at(at))) {
        return None;
    }
    let mut reader = Reader { entry: Entry::new(Tool::Fortio, text, at), is_main: true, buckets: Vec::new() };
    reader.settings(text, at);
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    while next < end && strangers < STRANGERS {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && (is_end_of_load(line) || setting(line).is_some()) {
            break;
        }
        let known = line.is_empty() || reader.line(line, number);
        if known && !line.is_empty() {
            reader.entry.take(number);
        }
        strangers = if known { 0 } else { strangers + 1 };
        next += 1;
        if is_last(line) {
            break;
        }
    }
    reader.finish(document).then_some(next - strangers)
}

struct Reader {
    entry: Entry,
    /// The lines belong to the times of the calls.
    is_main: bool,
    /// Lower and upper edges, s.
    buckets: Vec<(f64, f64)>,
}

/// `Ended after 5.098196115s : 40 calls. qps=7.8459`.
fn is_end_of_load(line: &str) -> bool {
    line.starts_with("Ended after ") && line.contains(" calls. qps=")
}

/// `All done 50 calls (plus 0 warmup) 26.068 ms avg, 114.1 qps`.
fn is_last(line: &str) -> bool {
    line.starts_with("All done ") && line.contains(" calls") && line.contains(" qps")
}

/// `Starting at 8 qps with 4 thread(s) [gomax 8] for 5s : 10 calls each (total 40)`.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (rate, rest) = line.strip_prefix("Starting at ")?.split_once(" qps with ")?;
    Some((rate, rest.split_once(" thread(s)")?.0))
}

impl Reader {
    fn settings(&mut self, text: &Text, at: usize) {
        for i in (at.saturating_sub(ABOVE)..at).rev() {
            let (line, number) = (text.at(i), text.number(i));
            if is_last(line) || is_end_of_load(line) {
                break;
            }
            if let Some((rate, threads)) = setting(line) {
                self.entry.put(Measure::Users, count(threads, number), (number, line));
                if rate != "max" {
                    self.entry.put(Measure::OfferedRate, plain(rate, 1.0, "/s", number), (number, line));
                }
                break;
            }
        }
    }

    fn line(&mut self, line: &str, number: u32) -> bool {
        let place = (number, line);
        if let Some(rest) = line.strip_prefix("Ended after ") {
            let Some((time, rest)) = rest.split_once(" : ") else { return false };
            self.entry.put(Measure::Duration, number::go_time(time, number), place);
            let (calls, rate) = rest.split_once(" calls. qps=").unwrap_or((rest, ""));
            self.entry.put(Measure::Requests, count(calls, number), place);
            self.entry.put(Measure::Rate, plain(rate, 1.0, "/s", number), place);
        } else if let Some((name, rest)) = line.split_once(" : count ") {
            self.is_main = name == MAIN;
            if self.is_main {
                self.times(rest, place);
            }
        } else if let Some(rest) = line.strip_prefix("# target ") {
            let Some((share, value)) = rest.split_once("% ") else { return false };
            let share = leading(share, Comma::Point).map(|(number, _)| number.value);
            let figure = plain(value, 1.0, "s", number);
            if let (Some(share), true) = (share, self.is_main) {
                self.entry.percentile(share, figure, place);
            }
        } else if let Some(rest) = line.strip_prefix("Code ") {
            let Some((code, rest)) = rest.split_once(" : ") else { return false };
            let calls = count(rest.split('(').next().unwrap_or(rest), number);
            self.entry.other(format!("status {code}"), calls, place);
        } else if is_last(line) {
            self.last(line, number);
        } else if let Some((low, high)) = bucket(line) {
            if self.is_main {
                self.buckets.push((low, high));
                let times = line.rsplit(", ").next().and_then(|times| count(times, number));
                histogram(&mut self.entry.row.histogram, (low, high), times, number);
            }
        } else {
            const OTHERS: [&str; 9] = [
                "# range",
                "Sockets used",
                "Jitter",
                "Uniform",
                "IP addr",
                "Error cases",
                "Sleep times",
                "[",
                "WARN",
            ];
            return OTHERS.iter().any(|name| line.starts_with(name));
        }
        true
    }

    /// `40 avg 0.08815966 +/- 0.01111 min 0.071791544 max 0.118569671 sum 3.5263864`.
    fn times(&mut self, rest: &str, (number, line): (u32, &str)) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            plain(words.get(at + 1)?, 1.0, "s", number)
        };
        self.entry.put(Measure::Requests, words.first().and_then(|n| count(n, number)), (number, line));
        let named =
            [("avg", Measure::Mean), ("+/-", Measure::StdDev), ("min", Measure::Min), ("max", Measure::Max)];
        for (name, measure) in named {
            if let Some(figure) = after(name) {
                self.entry.put(measure, Some(figure), (number, line));
            }
        }
        if let Some(sum) = after("sum") {
            self.entry.other("sum of all times", Some(sum), (number, line));
        }
    }

    fn last(&mut self, line: &str, number: u32) {
        let place = (number, line);
        let rest = line.trim_start_matches("All done ");
        let calls = rest.split_once(" calls").and_then(|(calls, _)| count(calls, number));
        self.entry.put(Measure::Requests, calls, place);
        let Some((before, rate)) = rest.rsplit_once(", ") else { return };
        let words: Vec<&str> = before.trim_end_matches(" avg").split_whitespace().rev().take(2).collect();
        if let [unit, value] = words[..] {
            let mean = with_unit(&format!("{value} {unit}"), number, number::time_unit);
            self.entry.other("mean at the end", mean.clone(), place);
            self.entry.put(Measure::Mean, mean, place);
        }
        self.entry.put(Measure::Rate, plain(rate.trim_end_matches(" qps"), 1.0, "/s", number), place);
    }

    fn finish(mut self, document: &mut Document) -> bool {
        // Rounding of six digits is far less than a bucket.
        for (measure, figure) in &mut self.entry.row.figures {
            if matches!(measure, Measure::Percentile(_))
                && let Some((low, high)) = within(&self.buckets, figure)
            {
                (figure.low, figure.high) = (low.min(figure.low), high.max(figure.high));
            }
        }
        // -1: no response.
        let codes = || self.entry.row.others.iter().filter(|(name, _)| name.starts_with("status "));
        let failed: f64 = codes()
            .filter(|(name, _)| is_failure(&name["status ".len()..]))
            .map(|(_, calls)| calls.value)
            .sum();
        if let Some(line) = codes().next().map(|(_, calls)| calls.line) {
            self.entry.put(
                Measure::Non2xx,
                Some(Figure::exact(failed, format!("{failed}"), line)),
                (line, ""),
            );
        }
        "fortio".clone_into(&mut self.entry.row.label);
        if let Some(users) = self.entry.row.figures.get(&Measure::Users) {
            self.entry.row.label = format!("fortio, {} threads", users.written);
        }
        self.entry.finish(document)
    }
}

/// `>= 0.07 < 0.08 , 0.075 , 27.50, 11`, without the mark at its beginning that a quotation has as well.
fn bucket(line: &str) -> Option<(f64, f64)> {
    let (range, rest) = line.split_once(" , ")?;
    let (low, high) = range.split_once('<')?;
    let edge = |text: &str| text.trim_matches(['=', '>', ' ']).parse::<f64>().ok();
    rest.contains(',').then_some(())?;
    Some((edge(low)?, edge(high)?))
}

/// Buckets by their upper ends, as of hey. fortio prints none without a time, and its first begins at the minimum:
/// empty ones end where others begin.
pub(super) fn histogram(
    all: &mut Vec<(Figure, Figure)>,
    (low, high): (f64, f64),
    times: Option<Figure>,
    line: u32,
) {
    // Six digits.
    const DIGITS: f64 = 1e-5;
    let edge = |value: f64| Figure {
        low: value * (1.0 - DIGITS),
        high: value * (1.0 + DIGITS),
        ..Figure::exact(value, format!("{value}"), line)
    };
    let Some(times) = times else { return };
    if all.last().is_none_or(|(end, _)| end.high < low) {
        all.push((edge(low), Figure::exact(0.0, "0", line)));
    }
    all.push((edge(high), times));
}

pub(super) fn within(buckets: &[(f64, f64)], figure: &Figure) -> Option<(f64, f64)> {
    let fits = |(low, high): &&(f64, f64)| *low <= figure.high && figure.low <= *high;
    let fitting = || buckets.iter().filter(fits);
    let low = fitting().map(|(low, _)| *low).reduce(f64::min)?;
    Some((low, fitting().map(|(_, high)| *high).reduce(f64::max)?))
}
