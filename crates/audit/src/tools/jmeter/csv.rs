//! JTL as CSV: the columns are found by their names, in any order. Fields with the delimiter, a quote or a line break
//! are quoted, quotes inside doubled (RFC 4180); a message may therefore go over several lines.

use crate::foreign::model::{Document, Tool};
use crate::tools::samples::{Gathered, Sample, take_all};
use jiff::civil::Date;
use jiff::tz::Offset;
use std::borrow::Cow;

/// Reads the file if it is one.
pub fn read(source: &str, document: &mut Document) -> bool {
    let source = source.trim_start_matches('\u{feff}');
    let header = source.lines().next().unwrap_or("");
    let Some(delimiter) = [',', ';', '\t', '|'].into_iter().find(|d| Columns::new(header, *d).is_some())
    else {
        return false;
    };
    let Some(columns) = Columns::new(header, delimiter) else { return false };
    let (mut gathered, mut rest, mut line) = (Gathered::default(), source, 0u32);
    let mut fields: Vec<Cow<str>> = Vec::with_capacity(columns.count);
    while !rest.is_empty() {
        line = line.saturating_add(1);
        let at = line;
        let whole = rest;
        rest = record(rest, delimiter, &mut fields, &mut line);
        // Appending repeats the header where the properties changed.
        if at == 1 || fields.len() == 1 && fields.first().is_some_and(|field| field.trim().is_empty()) {
            continue;
        }
        let text = whole.lines().next().unwrap_or("");
        if text == header {
            continue;
        }
        match columns.sample(&fields, at) {
            Ok(sample) => gathered.add(&sample),
            Err(why) => gathered.bad(document, at, text, why),
        }
    }
    // Nothing but a header is a table for somebody else.
    if gathered.is_empty() {
        return false;
    }
    take_all(document, line);
    gathered.finish(Tool::Jmeter, line, document);
    true
}

/// Where each quantity stands.
struct Columns {
    count: usize,
    start: usize,
    elapsed: usize,
    label: usize,
    success: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    thread: Option<usize>,
    bytes: Option<usize>,
    sent: Option<usize>,
    threads: Option<usize>,
    latency: Option<usize>,
    connect: Option<usize>,
}

impl Columns {
    fn new(header: &str, delimiter: char) -> Option<Self> {
        let names: Vec<&str> = header.split(delimiter).map(|name| name.trim_matches(['"', ' '])).collect();
        let find = |name: &str| names.iter().position(|other| other.eq_ignore_ascii_case(name));
        Some(Self {
            count: names.len(),
            start: find("timeStamp")?,
            elapsed: find("elapsed")?,
            label: find("label")?,
            success: find("success"),
            code: find("responseCode"),
            message: find("responseMessage"),
            thread: find("threadName"),
            bytes: find("bytes"),
            sent: find("sentBytes"),
            threads: find("allThreads"),
            latency: find("Latency"),
            connect: find("Connect"),
        })
    }

    fn sample<'a>(&self, fields: &'a [Cow<str>], line: u32) -> Result<Sample<'a>, &'static str> {
        let get = |at: Option<usize>| at.and_then(|at| fields.get(at)).map_or("", Cow::as_ref);
        let number = |at: Option<usize>| get(at).trim().parse::<f64>().ok().filter(|value| value.is_finite());
        if fields.len() < self.count {
            return Err("fewer fields than the header has: the line was cut off");
        }
        let start_ms = number(Some(self.start)).or_else(|| date(get(Some(self.start))));
        let elapsed_ms = number(Some(self.elapsed)).filter(|elapsed| *elapsed >= 0.0);
        Ok(Sample {
            start_ms: start_ms.ok_or("`timeStamp` is no time")?,
            elapsed_ms: elapsed_ms.ok_or("`elapsed` is no time")?,
            latency_ms: number(self.latency).filter(|latency| *latency >= 0.0),
            connect_ms: number(self.connect).filter(|connect| *connect >= 0.0),
            label: get(Some(self.label)),
            code: get(self.code),
            message: get(self.message),
            thread: get(self.thread),
            success: self.success.is_none() || get(self.success).eq_ignore_ascii_case("true"),
            bytes: number(self.bytes).unwrap_or(0.0).max(0.0),
            sent_bytes: number(self.sent).unwrap_or(0.0).max(0.0),
            all_threads: number(self.threads).unwrap_or(0.0),
            line,
        })
    }
}

/// One record; `line` moves on by the line breaks inside quotes. Gives what follows.
fn record<'a>(source: &'a str, delimiter: char, fields: &mut Vec<Cow<'a, str>>, line: &mut u32) -> &'a str {
    fields.clear();
    let end = source.find('\n').unwrap_or(source.len());
    let first = source.get(..end).unwrap_or("");
    if !first.contains('"') {
        fields.extend(first.trim_end_matches('\r').split(delimiter).map(Cow::Borrowed));
        return source.get(end + 1..).unwrap_or("");
    }
    let (mut field, mut quoted) = (String::new(), false);
    let mut chars = source.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if quoted && chars.peek().is_some_and(|(_, next)| *next == '"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            '\n' if !quoted => {
                fields.push(Cow::Owned(std::mem::take(&mut field)));
                return source.get(at + 1..).unwrap_or("");
            }
            '\r' if !quoted => {}
            c if c == delimiter && !quoted => fields.push(Cow::Owned(std::mem::take(&mut field))),
            c => {
                if c == '\n' {
                    *line = line.saturating_add(1);
                }
                field.push(c);
            }
        }
    }
    fields.push(Cow::Owned(field));
    ""
}

/// `2019/03/04 12:00:01.234`, as `jmeter.save.saveservice.timestamp_format` writes it: milliseconds of some epoch.
fn date(text: &str) -> Option<f64> {
    let parts: Vec<i64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [year, month, day, hour, minute, second, ref rest @ ..] = parts[..] else { return None };
    let narrow = |number: i64| i8::try_from(number).ok();
    let year = i16::try_from(year).ok().filter(|year| (1970..3000).contains(year))?;
    let midnight = Date::new(year, narrow(month)?, narrow(day)?).ok()?;
    let midnight_s = Offset::UTC.to_timestamp(midnight.into()).ok()?.as_second() as f64;
    let seconds = midnight_s + (hour as f64 * 60.0 + minute as f64) * 60.0 + second as f64;
    Some(seconds * 1e3 + rest.first().copied().filter(|ms| *ms < 1000).map_or(0.0, |ms| ms as f64))
}
