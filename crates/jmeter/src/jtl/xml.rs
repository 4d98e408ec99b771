//! Results as XML (`testResults`, version 1.2), which older plans and some CI jobs expect.

use super::Around;
use crate::sample::{CheckResult, DataType, Sample};
use plimsoll_jmx::plan::Columns;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The first lines of a file, without the last line end.
pub const BEGIN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">";
/// The last lines of a file.
pub const END: &str = "\n</testResults>\n";

/// Removes the end of an existing file, so that samples can be appended. Returns whether there was one; otherwise, the
/// file is empty now, as with JMeter.
///
/// # Errors
/// Returns an error if the file can be neither read nor cut.
pub fn reopen(path: &Path) -> std::io::Result<bool> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    let length = file.metadata()?.len();
    // Line ends may follow the last tag.
    let begin = length.saturating_sub(END.len() as u64 + 10);
    file.seek(SeekFrom::Start(begin))?;
    let mut last = Vec::new();
    file.read_to_end(&mut last)?;
    let tag = END.trim().as_bytes();
    let found = last.windows(tag.len()).rposition(|window| window == tag);
    // The line end before the tag is written again.
    let end = found.map(|at| last[..at].strip_suffix(b"\n").map_or(at, <[u8]>::len));
    file.set_len(end.map_or(0, |at| begin + at as u64))?;
    Ok(found.is_some())
}

/// Appends the element of a sample, without a line end.
pub fn write(columns: &Columns, sample: &Sample, around: Around<'_>, out: &mut String) {
    element(columns, sample, around, 0, out);
}

fn element(columns: &Columns, sample: &Sample, around: Around<'_>, depth: usize, out: &mut String) {
    // Only samples of HTTP have a method.
    let is_http = !sample.method.is_empty();
    let name = if is_http { "httpSample" } else { "sample" };
    indent(depth, out);
    out.push('<');
    out.push_str(name);
    attributes(columns, sample, around, out);
    let begin = out.len();
    out.push('>');
    if columns.assertions {
        sample.checks.iter().flatten().for_each(|check| assertion(check, depth + 1, out));
    }
    if columns.sub_results {
        for child in &sample.children {
            out.push('\n');
            element(columns, child, around, depth + 1, out);
        }
    }
    if columns.response_headers {
        text("responseHeader", &sample.response_headers(), depth + 1, out);
    }
    if columns.request_headers {
        text("requestHeader", &sample.request_headers(), depth + 1, out);
    }
    let on_error = columns.response_data_on_error && !sample.is_success;
    if columns.response_data || on_error {
        match sample.data_type {
            DataType::Text => text("responseData", &sample.text(), depth + 1, out),
            other => {
                let reason = format!("Non-TEXT response data, cannot record: ({})", other.name());
                text("responseData", &reason, depth + 1, out);
            }
        }
    }
    if columns.file_name {
        text("responseFile", "", depth + 1, out);
    }
    if (columns.sampler_data || on_error) && is_http {
        text("cookies", sample.cookies(), depth + 1, out);
        text("method", &sample.method, depth + 1, out);
        text("queryString", &String::from_utf8_lossy(&sample.request_body), depth + 1, out);
        if let Some(location) = &sample.redirect {
            text("redirectLocation", location, depth + 1, out);
        }
    }
    if columns.url && !sample.url.is_empty() {
        indent_line(depth + 1, out);
        out.push_str("<java.net.URL>");
        escape(&sample.url, false, out);
        out.push_str("</java.net.URL>");
    }
    if out.len() == begin + 1 {
        out.insert(begin, '/');
        return;
    }
    indent_line(depth, out);
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

fn attributes(columns: &Columns, sample: &Sample, around: Around<'_>, out: &mut String) {
    let mut number = |is_on: bool, name: &str, value: u64| {
        if is_on {
            // Writing to a string cannot fail.
            let _ = write!(out, " {name}=\"{value}\"");
        }
    };
    number(columns.time, "t", sample.elapsed_ms);
    number(columns.idle_time, "it", sample.idle_ms);
    number(columns.latency, "lt", sample.latency_ms);
    number(columns.connect_time, "ct", sample.connect_ms);
    number(columns.timestamp, "ts", sample.begin_ms);
    let mut named = |is_on: bool, name: &str, value: &str| {
        if is_on {
            let _ = write!(out, " {name}=\"");
            escape(value, true, out);
            out.push('"');
        }
    };
    named(columns.success, "s", if sample.is_success { "true" } else { "false" });
    named(columns.label, "lb", &sample.label);
    named(columns.code, "rc", &sample.code);
    named(columns.message, "rm", &sample.message);
    named(columns.thread_name, "tn", around.thread_name);
    named(columns.data_type, "dt", sample.data_type.name());
    if columns.encoding {
        named(true, "de", &sample.charset());
    }
    let mut number = |is_on: bool, name: &str, value: u64| {
        if is_on {
            let _ = write!(out, " {name}=\"{value}\"");
        }
    };
    number(columns.bytes, "by", sample.bytes);
    number(columns.sent_bytes, "sby", sample.sent_bytes);
    number(columns.sample_count, "sc", 1);
    number(columns.sample_count, "ec", u64::from(!sample.is_success));
    number(columns.thread_counts, "ng", around.threads.0.into());
    number(columns.thread_counts, "na", around.threads.1.into());
    if columns.hostname {
        let _ = write!(out, " hn=\"");
        escape(around.host, true, out);
        out.push('"');
    }
}

fn assertion(check: &CheckResult, depth: usize, out: &mut String) {
    indent_line(depth, out);
    out.push_str("<assertionResult>");
    indent_line(depth + 1, out);
    out.push_str("<name>");
    escape(&check.name, false, out);
    out.push_str("</name>");
    let (is_failure, is_error) = (check.message.is_some() && check.is_failure, check.is_error);
    for (name, is_true) in [("failure", is_failure), ("error", is_error)] {
        indent_line(depth + 1, out);
        let _ = write!(out, "<{name}>{is_true}</{name}>");
    }
    if let Some(message) = &check.message {
        indent_line(depth + 1, out);
        out.push_str("<failureMessage>");
        escape(message, false, out);
        out.push_str("</failureMessage>");
    }
    indent_line(depth, out);
    out.push_str("</assertionResult>");
}

/// Appends an element with the class of its text, on a new line.
fn text(name: &str, value: &str, depth: usize, out: &mut String) {
    indent_line(depth, out);
    let _ = write!(out, "<{name} class=\"java.lang.String\">");
    escape(value, false, out);
    let _ = write!(out, "</{name}>");
}

fn indent_line(depth: usize, out: &mut String) {
    out.push('\n');
    indent(depth, out);
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
}

/// Appends a text with references. Signs that XML 1.0 does not have become U+FFFD: JMeter writes references to them,
/// which no reader of XML accepts.
fn escape(value: &str, is_attribute: bool, out: &mut String) {
    for sign in value.chars() {
        match sign {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // A reader takes other line ends as `\n`, and in attributes all as spaces.
            '\r' => out.push_str("&#xd;"),
            '\n' if is_attribute => out.push_str("&#xa;"),
            '\t' if is_attribute => out.push_str("&#x9;"),
            '\n' | '\t' => out.push(sign),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}
