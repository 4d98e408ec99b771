//! Results of samples, in the columns of JMeter or as its XML.

pub mod xml;

use crate::sample::Sample;
use plimsoll_jmx::plan::Columns;
use std::fmt::Write as _;

/// Receives the result of every sample, from all workers.
pub trait SampleSink: Send + Sync {
    /// `line` has no line end. The lines of sub-samples follow that of their sample, after line feeds. As XML, it is an
    /// element. `begin_ms` is the start of the sample since 1970.
    fn sample(&self, line: &str, begin_ms: u64, elapsed_ms: u64, is_success: bool);
}

/// Returns the first lines of a new file, without the last line end: the names of the columns, or the beginning of the
/// XML. It may be empty.
pub fn header(columns: &Columns) -> String {
    if columns.is_xml {
        return xml::BEGIN.to_owned();
    }
    if !columns.has_names {
        return String::new();
    }
    let mut names = Vec::new();
    let mut add = |is_on: bool, name: &'static str| {
        if is_on {
            names.push(name);
        }
    };
    add(columns.timestamp, "timeStamp");
    add(columns.time, "elapsed");
    add(columns.label, "label");
    add(columns.code, "responseCode");
    add(columns.message, "responseMessage");
    add(columns.thread_name, "threadName");
    add(columns.data_type, "dataType");
    add(columns.success, "success");
    add(columns.failure_message, "failureMessage");
    add(columns.bytes, "bytes");
    add(columns.sent_bytes, "sentBytes");
    add(columns.thread_counts, "grpThreads");
    add(columns.thread_counts, "allThreads");
    add(columns.url, "URL");
    add(columns.file_name, "Filename");
    add(columns.latency, "Latency");
    add(columns.encoding, "Encoding");
    add(columns.sample_count, "SampleCount");
    add(columns.sample_count, "ErrorCount");
    add(columns.hostname, "Hostname");
    add(columns.idle_time, "IdleTime");
    add(columns.connect_time, "Connect");
    names.join(",")
}

/// What a line says besides its sample.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    pub thread_name: &'a str,
    /// Active threads: of the group, and of all.
    pub threads: (u32, u32),
    pub host: &'a str,
}

/// Appends the line of a sample, without a line end, and those of its sub-samples if they are wanted.
pub fn write_all(columns: &Columns, sample: &Sample, around: Around<'_>, out: &mut String) {
    if columns.is_xml {
        return xml::write(columns, sample, around, out);
    }
    write(columns, sample, around, out);
    if columns.sub_results {
        for child in &sample.children {
            out.push('\n');
            write_all(columns, child, around, out);
        }
    }
}

fn write(columns: &Columns, sample: &Sample, around: Around<'_>, out: &mut String) {
    let mut row = Row { out, is_first: true };
    if columns.timestamp {
        row.number(sample.begin_ms);
    }
    if columns.time {
        row.number(sample.elapsed_ms);
    }
    if columns.label {
        row.text(&sample.label);
    }
    if columns.code {
        row.text(&sample.code);
    }
    if columns.message {
        row.text(&sample.message);
    }
    if columns.thread_name {
        row.text(around.thread_name);
    }
    if columns.data_type {
        row.text(sample.data_type.name());
    }
    if columns.success {
        row.text(if sample.is_success { "true" } else { "false" });
    }
    if columns.failure_message {
        row.text(sample.failure.as_deref().unwrap_or_default());
    }
    if columns.bytes {
        row.number(sample.bytes);
    }
    if columns.sent_bytes {
        row.number(sample.sent_bytes);
    }
    if columns.thread_counts {
        row.number(around.threads.0.into());
        row.number(around.threads.1.into());
    }
    if columns.url {
        row.text(if sample.url.is_empty() { "null" } else { &sample.url });
    }
    if columns.file_name {
        row.text("");
    }
    if columns.latency {
        row.number(sample.latency_ms);
    }
    if columns.encoding {
        row.text("UTF-8");
    }
    if columns.sample_count {
        row.number(1);
        row.number(u64::from(!sample.is_success));
    }
    if columns.hostname {
        row.text(around.host);
    }
    if columns.idle_time {
        row.number(sample.idle_ms);
    }
    if columns.connect_time {
        row.number(sample.connect_ms);
    }
}

struct Row<'o> {
    out: &'o mut String,
    is_first: bool,
}

impl Row<'_> {
    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
    }

    fn number(&mut self, number: u64) {
        self.separate();
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{number}");
    }

    /// Quotes a text with a comma, a quote, or a line end.
    fn text(&mut self, text: &str) {
        self.separate();
        if !text.contains([',', '"', '\n', '\r']) {
            return self.out.push_str(text);
        }
        self.out.push('"');
        for sign in text.chars() {
            if sign == '"' {
                self.out.push('"');
            }
            self.out.push(sign);
        }
        self.out.push('"');
    }
}
