//! hey and oha, whose reports have one layout. hey prints seconds with four digits, so a fast service answers in
//! `0.0000 secs`; a `Size/request` is cut to whole bytes. oha puts a unit on everything.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::definitions::is_failure;
use crate::tools::entry::Entry;
use crate::tools::number::{self, Comma, count, leading, percent, with_unit};
use crate::tools::text::Text;

/// Reads the report that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let is_total =
        |i: usize| ["Total:", "Success rate:", "Count:"].iter().any(|name| text.at(i).starts_with(name));
    if text.at(at) != "Summary:" || !(at..at + 4).any(is_total) {
        return None;
    }
    let block = at..text.end(at).min(at + 60);
    let is_oha = block.clone().any(|i| {
        ["Success rate:", "Response time distribution:", "Size/sec:"]
            .iter()
            .any(|name| text.at(i).starts_with(name))
    });
    let is_ghz = (at..at + 4).any(|i| text.at(i).starts_with("Count:"));
    let tool = match (is_ghz, is_oha) {
        (true, _) => Tool::Ghz,
        (_, true) => Tool::Oha,
        _ => Tool::Hey,
    };
    let mut reader =
        Reader { entry: Entry::new(tool, text, at), section: "Summary", sums: Default::default() };
    for name in ["hey", "oha"] {
        if let Some((command, line)) = text.command(at, name) {
            reader.command(tool, &command, line);
        }
    }
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    while next < end && strangers < 4 {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && line == "Summary:" {
            break;
        }
        next += 1;
        let known = line.is_empty() || reader.line(line, number);
        if known && !line.is_empty() {
            reader.entry.take(number);
        }
        strangers = if known { 0 } else { strangers + 1 };
    }
    reader.finish(tool, document).then_some(next)
}

struct Reader {
    entry: Entry,
    section: &'static str,
    sums: Sums,
}

/// What the report says by status and by error.
#[derive(Default)]
struct Sums {
    answers: f64,
    other: f64,
    errors: f64,
    timeouts: f64,
    line: Option<u32>,
    error_line: Option<u32>,
}

impl Reader {
    fn command(&mut self, tool: Tool, command: &str, line: u32) {
        self.entry.word("command", command, line);
        let words: Vec<&str> = command.split_whitespace().collect();
        // `-q 5`, `-q=5`, and of oha `-q5` as well.
        let value = |flag: &str| {
            words.iter().enumerate().find_map(|(i, word)| match word.strip_prefix(flag)? {
                "" => words.get(i + 1).copied(),
                own => Some(own.trim_start_matches('='))
                    .filter(|own| own.starts_with(|c: char| c.is_ascii_digit())),
            })
        };
        if let Some(users) = value("-c") {
            self.entry.put(Measure::Users, count(users, line), (line, command));
        }
        if let Some(rate) = value("-q") {
            // hey limits each of its workers, of which there are 50 unless told otherwise; oha all of them together.
            let workers = value("-c").map_or(Some(50.0), |users| Some(count(users, line)?.value));
            let times = if tool == Tool::Oha { Some(1.0) } else { workers };
            let figure = count(rate, line).zip(times).filter(|(each, _)| each.value > 0.0);
            if let Some((each, times)) = figure {
                let written = if times == 1.0 { rate.to_owned() } else { format!("{rate} x {times}") };
                let offered = Figure::exact(each.value * times, written, line);
                self.entry.put(Measure::OfferedRate, Some(offered), (line, command));
            }
        }
        if command.contains("-disable-keepalive") {
            self.entry.word("keep_alive", "off", line);
        }
    }

    fn line(&mut self, line: &str, number: u32) -> bool {
        const SECTIONS: [&str; 8] = [
            "Summary",
            "Response time histogram",
            "Response time distribution",
            "Latency distribution",
            "Details",
            "Status code distribution",
            "Error distribution",
            "Latency percentiles",
        ];
        // oha's `--stats-success-breakdown` repeats both for parts of the responses.
        if line.ends_with("only):") {
            self.section = "Part";
            return true;
        }
        if line.ends_with(':')
            && let Some(section) = SECTIONS.into_iter().find(|name| line.starts_with(name))
        {
            self.section = section;
            return true;
        }
        match self.section {
            "Part" => true,
            "Summary" => self.summary(line, number),
            "Latency distribution" | "Response time distribution" | "Latency percentiles" => {
                self.percentile(line, number)
            }
            "Details" => self.details(line, number),
            "Status code distribution" | "Error distribution" => self.counted(line, number),
            _ => self.bucket(line, number),
        }
    }

    fn summary(&mut self, line: &str, number: u32) -> bool {
        let Some((name, value)) = line.split_once(':') else { return false };
        let (value, place) = (value.trim(), (number, line));
        let time = || with_unit(value, number, number::time_unit);
        let size = || with_unit(value, number, number::binary_size);
        let (measure, figure) = match name {
            "Count" => {
                self.entry.other("count", count(value, number), place);
                return true;
            }
            "Total" => (Measure::Duration, time()),
            "Slowest" => (Measure::Max, time()),
            "Fastest" => (Measure::Min, time()),
            "Average" => (Measure::Mean, time()),
            "Requests/sec" => (Measure::Rate, number::plain(value, 1.0, "req/s", number)),
            "Total data" => (Measure::BytesTotal, size()),
            "Size/request" => (Measure::BodyBytes, size().map(|figure| cut(figure, value))),
            "Size/sec" => (Measure::BytesPerS, size()),
            "Success rate" => {
                // Of connections that were answered, whatever the answer was.
                // Up to 0.4.5, a ratio.
                let ratio = || number::plain(value, 1.0, "", number).filter(|ratio| ratio.value <= 1.0);
                self.entry.other("answered", percent(value, number).or_else(ratio), place);
                return true;
            }
            _ => return false,
        };
        self.entry.put(measure, figure, place)
    }

    /// `0.016 [1374] |■■■`: the upper edge, and how many times lie between it and the one before.
    fn bucket(&mut self, line: &str, number: u32) -> bool {
        let Some((edge, rest)) = line.split_once('[') else { return false };
        let Some((times, _)) = rest.split_once(']') else { return false };
        // Without a unit: seconds, but milliseconds of ghz.
        let (size, name) = if self.entry.row.tool == Some(Tool::Ghz) { (1e-3, "ms") } else { (1.0, "s") };
        let edge =
            with_unit(edge, number, number::time_unit).or_else(|| number::plain(edge, size, name, number));
        match edge.zip(count(times, number)) {
            Some(bucket) => self.entry.row.histogram.push(bucket),
            None => self.entry.note_oddity(number, line, "not a bucket of a histogram"),
        }
        true
    }

    /// `95% in 0.0394 secs`; hey 0.1.4 has `95%%`, oha `95.00% in 39.4 ms`.
    fn percentile(&mut self, line: &str, number: u32) -> bool {
        let Some((share, value)) = line.split_once(" in ") else { return false };
        let Some((share, _)) = leading(share, Comma::Point) else { return false };
        self.entry.percentile(share.value, with_unit(value, number, number::time_unit), (number, line));
        true
    }

    /// `DNS+dialup: average, fastest, slowest`; hey prints zeros for what never happened.
    fn details(&mut self, line: &str, number: u32) -> bool {
        let Some((name, values)) = line.split_once(':') else { return false };
        let columns: Vec<&str> = values.split(", ").collect();
        for (column, value) in ["average", "fastest", "slowest"].into_iter().zip(columns) {
            let figure = with_unit(value, number, number::time_unit);
            let measure = match (name, column) {
                ("DNS+dialup", "average") => Some(Measure::ConnectMean),
                // hey prints those of the whole request in this place (see its definitions).
                ("DNS+dialup", "fastest") if !self.repeats(Measure::Min, figure.as_ref()) => {
                    Some(Measure::ConnectMin)
                }
                ("DNS+dialup", "slowest") if !self.repeats(Measure::Max, figure.as_ref()) => {
                    Some(Measure::ConnectMax)
                }
                ("resp wait", "average") => Some(Measure::FirstByteMean),
                _ => None,
            };
            match (measure, figure) {
                // oha prints no phases when there were no connections.
                (_, None) if value.trim().is_empty() || value.contains("NaN") => {}
                (Some(measure), figure) => {
                    self.entry.put(measure, figure, (number, line));
                }
                (None, figure) => self.entry.other(format!("{name} {column}"), figure, (number, line)),
            }
        }
        true
    }

    fn repeats(&self, measure: Measure, figure: Option<&Figure>) -> bool {
        let own = self.entry.row.figures.get(&measure);
        own.zip(figure).is_some_and(|(own, figure)| own.value == figure.value)
    }

    /// `[200] 998 responses`, `[2] Get "...": connection reset by peer`.
    fn counted(&mut self, line: &str, number: u32) -> bool {
        let Some((inside, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return false;
        };
        let rest = rest.trim();
        if self.section == "Status code distribution" {
            let Some(answers) = count(rest.trim_end_matches("responses"), number) else { return false };
            self.sums.answers += answers.value;
            self.sums.other += if is_failure(inside) { answers.value } else { 0.0 };
            self.sums.line = Some(number);
            self.entry.other(format!("status {inside}"), Some(answers), (number, line));
        } else {
            let Some(errors) = count(inside, number) else { return false };
            self.sums.errors += errors.value;
            self.sums.error_line = Some(number);
            let lower = rest.to_lowercase();
            let is_timeout =
                ["timeout", "timed out", "deadline exceeded"].iter().any(|word| lower.contains(word));
            self.sums.timeouts += if is_timeout { errors.value } else { 0.0 };
            let kind: String = rest.chars().take(100).collect();
            self.entry.other(format!("error {kind}"), Some(errors), (number, line));
        }
        true
    }

    fn finish(mut self, tool: Tool, document: &mut Document) -> bool {
        let line = self.entry.row.lines.1;
        if let Some(line) = self.sums.line {
            let exact = |value: f64| Some(Figure::exact(value, format!("{value}"), line));
            // hey counts a failed request in its rate; both tools print no total.
            self.entry.put(Measure::Requests, exact(self.sums.answers + self.sums.errors), (line, ""));
            self.entry.put(Measure::Non2xx, exact(self.sums.other), (line, ""));
        } else {
            self.entry.note_oddity(line, "hey", "the report stops before the distribution of status codes");
        }
        let errors = Figure::exact(
            self.sums.errors,
            format!("{}", self.sums.errors),
            self.sums.error_line.unwrap_or(line),
        );
        if self.sums.line.is_some() || self.sums.error_line.is_some() {
            self.entry.put(Measure::Errors, Some(errors), (line, ""));
        }
        if let Some(line) = self.sums.error_line.filter(|_| self.sums.timeouts > 0.0 && tool != Tool::Ghz) {
            let timeouts = self.sums.timeouts;
            let figure = Figure::exact(timeouts, format!("{timeouts}"), line);
            self.entry.put(Measure::TimeoutErrors, Some(figure), (line, ""));
        }
        if self.sums.error_line.is_none() && tool != Tool::Ghz {
            self.entry.word("errors", "none printed, or cut off", line);
        }
        self.entry.label("", tool.definitions().users);
        if self.entry.row.label.is_empty() {
            tool.definitions().name.clone_into(&mut self.entry.row.label);
        }
        self.entry.finish(document)
    }
}

/// hey divides whole numbers; oha rounds and adds a unit.
fn cut(figure: Figure, written: &str) -> Figure {
    match written.ends_with("bytes") {
        true => Figure { low: figure.value, high: figure.value + 1.0, ..figure },
        false => figure,
    }
}
