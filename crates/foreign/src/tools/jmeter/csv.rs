//! JTL as CSV: the columns are found by their names, in any order. Fields with the delimiter, a quote or a line break
//! are quoted, quotes inside doubled (RFC 4180); a message may therefore go over several lines.

use crate::model::{Document, Tool};
use crate::tools::lines;
use crate::tools::samples::{Gathered, Sample};
use jiff::civil::Date;
use jiff::tz::Offset;
use std::borrow::Cow;
use std::io::BufRead;

/// Whether a file with this beginning is one. Nothing but a header is a table for somebody else.
pub fn is_one(head: &str) -> bool {
    let mut lines = head.trim_start_matches('\u{feff}').lines();
    let header = lines.next().unwrap_or("");
    delimiter(header).is_some() && lines.any(|line| !line.trim().is_empty())
}

fn delimiter(header: &str) -> Option<char> {
    [',', ';', '\t', '|'].into_iter().find(|d| Columns::new(header, *d).is_some())
}

/// Reads the file.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn read(input: &mut dyn BufRead, document: &mut Document) -> std::io::Result<()> {
    let mut text = String::new();
    lines::next(input, &mut text)?;
    let header = text.trim_start_matches('\u{feff}').to_owned();
    let named = delimiter(&header).and_then(|d| Some((d, Columns::new(&header, d)?)));
    let Some((delimiter, columns)) = named else { return Ok(()) };
    let (mut gathered, mut line) = (Gathered::default(), 1u32);
    while lines::next(input, &mut text)? {
        line = line.saturating_add(1);
        let at = line;
        // A message in quotes may go over several lines.
        while open_quote(&text) {
            text.push('\n');
            if !lines::append(input, &mut text)? {
                break;
            }
            line = line.saturating_add(1);
        }
        // Appending repeats the header where the properties changed.
        if text == header || text.trim().is_empty() {
            continue;
        }
        let first = text.lines().next().unwrap_or("");
        let fields = record(&text, delimiter);
        match columns.sample(&fields, at) {
            Ok(sample) => gathered.add_from(&sample, first, document),
            Err(why) => gathered.bad(document, at, first, why),
        }
    }
    gathered.finish(Tool::Jmeter, line, document);
    Ok(())
}

/// A quote is open at the end: their number is odd. A million of them is a broken file and no message.
fn open_quote(text: &str) -> bool {
    const LONGEST: usize = 1 << 20;
    text.len() < LONGEST && text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1
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

/// The fields of one record.
fn record(text: &str, delimiter: char) -> Vec<Cow<'_, str>> {
    if !text.contains('"') {
        return text.split(delimiter).map(Cow::Borrowed).collect();
    }
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            c if c == delimiter && !quoted => fields.push(Cow::Owned(std::mem::take(&mut field))),
            c => field.push(c),
        }
    }
    fields.push(Cow::Owned(field));
    fields
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
