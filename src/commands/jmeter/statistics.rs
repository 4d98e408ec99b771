//! `statistics.json`: the table of JMeter's report, from a file of results. Unlike JMeter, it has the percentiles of
//! all samples, not of the last 20,000.

use super::results::TRANSACTION;
use crate::exit::Failure;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// The samples of one label; times are in ms.
#[derive(Default)]
struct Label {
    /// Samples by time.
    times: BTreeMap<u64, u64>,
    samples: u64,
    failed: u64,
    received: u64,
    sent: u64,
    begin_ms: u64,
    end_ms: u64,
}

/// Returns the table of a file of results.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn table(path: &str) -> Result<Value, Failure> {
    let failed = |e: std::io::Error| Failure::machine(format!("cannot read `{path}`: {e}"), None);
    let mut lines = BufReader::new(File::open(path).map_err(failed)?).lines();
    let names = lines.next().transpose().map_err(failed)?.unwrap_or_default();
    let names: Vec<&str> = names.split(',').collect();
    let column = |name: &str| names.iter().position(|known| *known == name);
    let columns =
        ["timeStamp", "elapsed", "label", "success", "bytes", "sentBytes", "responseMessage"].map(column);
    let (mut labels, mut total) = (BTreeMap::<String, Label>::new(), Label::default());
    let mut row = String::new();
    for line in lines {
        row.push_str(&line.map_err(failed)?);
        // A quoted field may contain line ends.
        if row.matches('"').count() % 2 == 1 {
            row.push('\n');
            continue;
        }
        let fields = fields(&row);
        let [begin, elapsed, label, success, received, sent, message] =
            columns.map(|at| at.and_then(|at| fields.get(at)).map_or("", String::as_str));
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        let sample = (number(begin), number(elapsed), success == "true", number(received), number(sent));
        labels.entry(label.to_owned()).or_default().add(sample);
        if !message.starts_with(TRANSACTION) {
            total.add(sample);
        }
        row.clear();
    }
    let mut table: Map<String, Value> =
        labels.iter().map(|(name, label)| (name.clone(), label.json(name))).collect();
    table.insert("Total".into(), total.json("Total"));
    Ok(Value::Object(table))
}

fn fields(row: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = row.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                rest.next();
                all.last_mut().into_iter().for_each(|field| field.push('"'));
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(String::new()),
            c => all.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    all
}

impl Label {
    fn add(&mut self, (begin_ms, elapsed_ms, is_success, received, sent): (u64, u64, bool, u64, u64)) {
        *self.times.entry(elapsed_ms).or_default() += 1;
        self.begin_ms = if self.samples == 0 { begin_ms } else { self.begin_ms.min(begin_ms) };
        self.end_ms = self.end_ms.max(begin_ms + elapsed_ms);
        self.samples += 1;
        self.failed += u64::from(!is_success);
        self.received += received;
        self.sent += sent;
    }

    /// Returns the sample at a rank, from 1.
    fn at(&self, rank: u64) -> f64 {
        let mut seen = 0;
        for (time, count) in &self.times {
            seen += count;
            if seen >= rank {
                return *time as f64;
            }
        }
        self.times.keys().next_back().map_or(0.0, |time| *time as f64)
    }

    /// Returns a percentile with the interpolation that JMeter uses: at p (n + 1) / 100.
    fn percentile(&self, percent: f64) -> f64 {
        let place = percent * (self.samples + 1) as f64 / 100.0;
        let lower = place.floor().clamp(1.0, self.samples.max(1) as f64);
        if place < 1.0 || place >= self.samples as f64 {
            return self.at(lower as u64);
        }
        let (low, high) = (self.at(lower as u64), self.at(lower as u64 + 1));
        low + (place - lower) * (high - low)
    }

    fn json(&self, name: &str) -> Value {
        let samples = self.samples.max(1) as f64;
        let sum: u64 = self.times.iter().map(|(time, count)| time * count).sum();
        let seconds = self.end_ms.saturating_sub(self.begin_ms).max(1) as f64 / 1_000.0;
        json!({
            "transaction": name,
            "sampleCount": self.samples,
            "errorCount": self.failed,
            "errorPct": self.failed as f64 * 100.0 / samples,
            "meanResTime": sum as f64 / samples,
            "medianResTime": self.percentile(50.0),
            "minResTime": self.times.keys().next().copied().unwrap_or(0) as f64,
            "maxResTime": self.times.keys().next_back().copied().unwrap_or(0) as f64,
            "pct1ResTime": self.percentile(90.0),
            "pct2ResTime": self.percentile(95.0),
            "pct3ResTime": self.percentile(99.0),
            "throughput": self.samples as f64 / seconds,
            "receivedKBytesPerSec": self.received as f64 / 1_024.0 / seconds,
            "sentKBytesPerSec": self.sent as f64 / 1_024.0 / seconds,
        })
    }
}
