//! Artillery's reports of version 1: `Scenarios launched:` and groups with one line for each figure. Requests that got
//! no response are in the list of errors only, and have no latency.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{count, plain};
use crate::tools::text::Text;

/// Reads the report that begins at this line, and gives the line after it. Reports of periods are not results.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    report(text, at, document, false)
}

/// The same of a text that has nothing else than reports of periods.
pub fn read_period(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    report(text, at, document, true)
}

fn report(text: &Text, at: usize, document: &mut Document, with_periods: bool) -> Option<usize> {
    let titles = ["Complete report @", "Summary report @", "Report for the previous "];
    let is_one = titles.iter().any(|title| text.at(at).starts_with(title));
    if !is_one || !(at + 1..at + 4).any(|i| text.at(i).starts_with("Scenarios launched:")) {
        return None;
    }
    let mut entry = Entry::new(Tool::Artillery, text, at);
    entry.take(text.number(at));
    let is_period = text.at(at).starts_with("Report for");
    let (end, mut next, mut group) = (text.end(at), at + 1, "");
    let mut sums = Sums::default();
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        if titles.iter().any(|title| line.starts_with(title)) {
            break;
        }
        next += 1;
        let Some((name, value)) = line.split_once(':') else {
            if line.is_empty() {
                continue;
            }
            break;
        };
        let value = value.trim();
        entry.take(number);
        if value.is_empty() {
            const GROUPS: [(&str, &str); 6] = [
                ("Request latency", "times"),
                ("Response time (msec)", "times"),
                ("Scenario duration", "scenario"),
                ("Scenario counts", "scenario"),
                ("Codes", "codes"),
                ("Errors", "errors"),
            ];
            group = GROUPS.iter().find(|(title, _)| *title == name).map_or("other", |(_, group)| *group);
            continue;
        }
        quantity(&mut entry, &mut sums, group, (name, value), (number, line));
    }
    // A period is not a result, but its lines are known.
    if is_period && !with_periods {
        document.taken.extend((at..next).map(|i| text.number(i)));
        return Some(next);
    }
    sums.finish(&mut entry);
    if is_period { "Artillery, a period" } else { "Artillery" }.clone_into(&mut entry.row.label);
    entry.row.is_part = is_period;
    entry.finish(document).then_some(next)
}

#[derive(Default)]
struct Sums {
    completed: Option<Figure>,
    other: f64,
    errors: f64,
    timeouts: f64,
}

impl Sums {
    fn finish(self, entry: &mut Entry) {
        let line = entry.row.lines.1;
        let exact = |value: f64| Some(Figure::exact(value, format!("{value}"), line));
        if let Some(completed) = self.completed {
            let written = match self.errors > 0.0 {
                true => format!("{} + {}", completed.written, self.errors),
                false => completed.written.clone(),
            };
            let all = Figure::exact(completed.value + self.errors, written, completed.line);
            entry.put(Measure::Requests, Some(all), (completed.line, ""));
        }
        entry.put(Measure::Errors, exact(self.errors), (line, ""));
        entry.put(Measure::Non2xx, exact(self.other), (line, ""));
        if self.timeouts > 0.0 {
            entry.put(Measure::TimeoutErrors, exact(self.timeouts), (line, ""));
        }
    }
}

fn quantity(entry: &mut Entry, sums: &mut Sums, group: &str, own: (&str, &str), place: (u32, &str)) {
    let ((name, value), number) = (own, place.0);
    let measure = match (group, name) {
        ("times", "min") => Measure::Min,
        ("times", "max") => Measure::Max,
        ("times", "mean") => Measure::Mean,
        ("times", "median") => Measure::Percentile(5_000),
        ("times", "p95") => Measure::Percentile(9_500),
        ("times", "p99") => Measure::Percentile(9_900),
        ("codes", code) => {
            let answers = count(value, number);
            sums.other += answers.as_ref().filter(|_| !code.starts_with(['2', '0'])).map_or(0.0, |f| f.value);
            entry.other(format!("status {code}"), answers, place);
            return;
        }
        ("errors", kind) => {
            let errors = count(value, number);
            let all = errors.as_ref().map_or(0.0, |f| f.value);
            sums.errors += all;
            sums.timeouts += if kind.contains("TIMEDOUT") { all } else { 0.0 };
            entry.other(format!("errors.{kind}"), errors, place);
            return;
        }
        (_, "Requests completed" | "Number of requests made") => {
            sums.completed = count(value, number);
            return;
        }
        (_, "RPS sent" | "RPS" | "Mean response/sec" | "Mean requests/sec") => {
            entry.put(Measure::Rate, plain(value, 1.0, "req/s", number), place);
            return;
        }
        ("" | "other", "Scenarios launched" | "Scenarios completed" | "Scenarios created") => {
            entry.other(name, count(value, number), place);
            return;
        }
        _ => return,
    };
    // Without a response, there is no time.
    if value != "NaN" {
        entry.put(measure, plain(value, 1e-3, "ms", number), place);
    }
}
