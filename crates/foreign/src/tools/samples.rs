//! Single samples on their way into rows: one per label and one for all. A file may hold several hundred million bytes,
//! so a sample is a few numbers that are counted, and the memory does not grow with the file.

use crate::model::{Document, Figure, Measure, Row, Samples, Tool, Word};
use crate::times::Times;
use crate::tools::jmeter::definitions::WINDOW;
use crate::tools::overlap::Overlap;
use crate::tools::text::unread;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Labels beyond so many come from addresses with an identity in them: they are counted in the total alone.
const LABELS: usize = 500;

/// One sample. Times in milliseconds on the file's clock.
#[derive(Debug, Clone, Default)]
pub struct Sample<'a> {
    pub start_ms: f64,
    pub elapsed_ms: f64,
    pub latency_ms: Option<f64>,
    pub connect_ms: Option<f64>,
    pub label: &'a str,
    pub code: &'a str,
    pub message: &'a str,
    pub thread: &'a str,
    pub success: bool,
    pub bytes: f64,
    pub sent_bytes: f64,
    pub all_threads: f64,
    pub line: u32,
}

/// What one row is made of.
#[derive(Default)]
struct Group {
    samples: Samples,
    overlap: Overlap,
    recent: VecDeque<f32>,
    /// First begin and last end in ms: seconds since 1970 have no digits left for differences.
    whole_ms: (f64, f64),
    bytes: f64,
    sent: f64,
    users: f64,
    longest: f64,
    shortest: Option<f64>,
    connect: Mean,
    latency: Mean,
    latency_above: u64,
    codes: BTreeMap<String, u64>,
    line: u32,
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

/// All samples of a file.
#[derive(Default)]
pub struct Gathered {
    all: Group,
    labels: HashMap<String, Group>,
    too_many: bool,
    threads: BTreeSet<String>,
    bad: u32,
}

impl Gathered {
    pub fn add(&mut self, sample: &Sample) {
        // A transaction controller writes a sample of its own around those inside: in the total they would count twice.
        if !sample.message.starts_with("Number of samples in transaction") {
            self.all.add(sample);
        }
        if let Some(group) = self.labels.get_mut(sample.label) {
            group.add(sample);
        } else if self.labels.len() < LABELS {
            self.labels.entry(sample.label.to_owned()).or_default().add(sample);
        } else {
            self.too_many = true;
        }
        if self.threads.len() < 100_000 && !self.threads.contains(sample.thread) {
            self.threads.insert(sample.thread.to_owned());
        }
    }

    /// Keeps a line for quotes: the first of a label, or one that is no sample.
    fn keep(document: &mut Document, line: u32, text: &str) {
        const LINES: usize = 1_000;
        if document.text.is_empty() && document.kept.len() < LINES {
            document.kept.entry(line).or_insert_with(|| text.chars().take(400).collect());
        }
    }

    /// Whether a label has no sample yet: the line of its first one is quoted.
    pub fn is_new(&self, label: &str) -> bool {
        !self.labels.contains_key(label)
    }

    /// Adds a sample whose line may be quoted.
    pub fn add_from(&mut self, sample: &Sample, text: &str, document: &mut Document) {
        if self.is_new(sample.label) {
            Self::keep(document, sample.line, text);
        }
        self.add(sample);
    }

    /// A line that is no sample. The first few are said one by one.
    pub fn bad(&mut self, document: &mut Document, line: u32, what: &str, why: &str) {
        self.bad += 1;
        if self.bad <= 5 {
            Self::keep(document, line, what);
            unread(document, line, what, why);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The total and the labels as rows over all `lines` of the file.
    pub fn finish(self, tool: Tool, lines: u32, document: &mut Document) {
        if self.bad > 5 {
            unread(document, lines, format!("{} more lines", self.bad - 5), "they are no samples either");
        }
        if self.too_many {
            unread(document, lines, format!("more than {LABELS} labels"), "the others are only in the total");
        }
        if self.all.samples.count > 0 {
            let threads = self.threads.len();
            let mut total = self.all.row("all samples", tool);
            total.lines = (1, lines);
            total.words.insert("threads".into(), Word { text: threads.to_string(), line: 1 });
            document.rows.push(total);
        }
        let mut labels: Vec<(String, Group)> = self.labels.into_iter().collect();
        labels.sort_by(|a, b| a.0.cmp(&b.0));
        // One label is the total again.
        if labels.len() > 1 {
            let part = |(label, group): (String, Group)| Row { is_part: true, ..group.row(&label, tool) };
            document.rows.extend(labels.into_iter().map(part));
        }
    }
}

impl Group {
    fn add(&mut self, sample: &Sample) {
        let elapsed = sample.elapsed_ms / 1e3;
        let first = self.samples.count == 0;
        if first {
            self.line = sample.line;
        }
        let end_ms = sample.start_ms + sample.elapsed_ms;
        self.whole_ms = match first {
            true => (sample.start_ms, end_ms),
            false => (self.whole_ms.0.min(sample.start_ms), self.whole_ms.1.max(end_ms)),
        };
        self.samples.count += 1;
        self.samples.elapsed_sum_s += elapsed;
        self.samples.times.add(elapsed);
        self.overlap.add(sample.start_ms, end_ms);
        if self.recent.len() == WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back(elapsed as f32);
        self.longest = self.longest.max(elapsed);
        self.shortest = Some(self.shortest.map_or(elapsed, |shortest| shortest.min(elapsed)));
        self.bytes += sample.bytes;
        self.sent += sample.sent_bytes;
        self.users = self.users.max(sample.all_threads);
        self.connect.add(sample.connect_ms);
        self.latency.add(sample.latency_ms);
        self.latency_above += u64::from(sample.latency_ms.is_some_and(|latency| latency > sample.elapsed_ms));
        if let Some(count) = self.codes.get_mut(sample.code) {
            *count += 1;
        } else if self.codes.len() < 200 {
            self.codes.insert(sample.code.to_owned(), 1);
        }
        if !sample.success {
            self.samples.errors += 1;
            let kind = format!("{} {}", sample.code, sample.message);
            let kind = kind.trim().chars().take(100).collect::<String>();
            if self.samples.kinds.len() < 200 || self.samples.kinds.contains_key(&kind) {
                *self.samples.kinds.entry(kind).or_insert(0) += 1;
            }
        }
    }

    fn row(mut self, label: &str, tool: Tool) -> Row {
        (self.samples.concurrent_max, self.samples.runs) = (self.overlap.peak(), self.overlap.runs());
        self.samples.recent_s = self.recent.iter().map(|elapsed| f64::from(*elapsed)).collect();
        self.samples.recent_s.sort_by(f64::total_cmp);
        let mut row = Row { label: label.to_owned(), tool: Some(tool), ..Row::default() };
        row.lines = (self.line, self.line);
        let (line, count) = (self.line, self.samples.count as f64);
        (self.samples.first_s, self.samples.last_s) = (self.whole_ms.0 / 1e3, self.whole_ms.1 / 1e3);
        let duration = (self.whole_ms.1 - self.whole_ms.0) / 1e3;
        let mut put = |measure: Measure, value: f64, slack: f64| {
            // These are computed from the samples, and as good as the file's clock of whole milliseconds.
            if value.is_finite() {
                let (low, high) = ((value - slack).max(0.0).min(value), value + slack);
                let digits = if value.fract() == 0.0 { 0 } else { 6 };
                let written = format!("{value:.digits$} (of {} samples)", self.samples.count);
                let unit = String::new();
                row.figures.insert(measure, Figure { value, low, high, written, unit, line });
            }
        };
        put(Measure::Requests, count, 0.0);
        put(Measure::Errors, self.samples.errors as f64, 0.0);
        put(Measure::ErrorRatio, self.samples.errors as f64 / count, 1e-9);
        put(Measure::Mean, self.samples.elapsed_sum_s / count, 1e-3);
        put(Measure::Min, self.shortest.unwrap_or(0.0), 1e-3);
        put(Measure::Max, self.longest, 1e-3);
        put(Measure::Duration, duration, 2e-3);
        if duration > 0.0 {
            put(Measure::Rate, count / duration, count / duration * 2e-3 / duration);
        }
        for share in [5_000, 9_000, 9_500, 9_900] {
            put(Measure::Percentile(share), rank(&self.samples.times, share), 1e-3);
        }
        // `allThreads` is per generator: with more samples under way than that, several of them wrote this file.
        let several = self.samples.concurrent_max as f64 > self.users && self.users > 0.0;
        if self.users > 0.0 && !several {
            put(Measure::Users, self.users, 0.0);
        }
        if self.bytes > 0.0 {
            put(Measure::BytesTotal, self.bytes, 0.0);
        }
        if self.sent > 0.0 {
            put(Measure::BytesSentTotal, self.sent, 0.0);
        }
        for (measure, mean) in
            [(Measure::ConnectMean, &self.connect), (Measure::FirstByteMean, &self.latency)]
        {
            if mean.count > 0.0 {
                put(measure, mean.sum / mean.count, 1e-3);
            }
        }
        if self.latency_above > 0 {
            let above = self.latency_above;
            let figure = Figure::exact(above as f64, above.to_string(), line);
            row.others.insert("samples whose latency is above their elapsed time".into(), figure);
        }
        if several {
            let (most, threads) = (self.samples.concurrent_max, self.users);
            let text = format!("several: {most} samples under way at once, {threads} threads in each");
            row.words.insert("generators".into(), Word { text, line });
        }
        let codes: Vec<String> = self.codes.iter().map(|(code, count)| format!("{code}:{count}")).collect();
        row.words.insert("status_codes".into(), Word { text: codes.join(" "), line });
        row.samples = Some(self.samples);
        row
    }
}

impl Mean {
    fn add(&mut self, value_ms: Option<f64>) {
        if let Some(value) = value_ms {
            (self.sum, self.count) = (self.sum + value / 1e3, self.count + 1.0);
        }
    }
}

/// The nearest rank: the smallest sample that at least this share does not exceed.
fn rank(times: &Times, ten_thousandths: u16) -> f64 {
    let rank = (times.len() as f64 * f64::from(ten_thousandths) / 10_000.0).ceil() as u64;
    times.at(rank.max(1) - 1).map_or(f64::NAN, |(low, high)| f64::midpoint(low, high))
}
