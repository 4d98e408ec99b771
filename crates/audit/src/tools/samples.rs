//! Single samples on their way into rows: one per label and one for all. A file may hold several hundred million bytes,
//! so a sample is a few numbers, and no more than a million of them are kept for the percentiles.

use crate::foreign::model::{Document, Figure, Measure, Row, Samples, Tool, Word};
use crate::tools::text::unread;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Kept for the percentiles.
const KEPT: usize = 1_000_000;
/// Labels beyond so many come from addresses with an identity in them: they are counted in the total alone.
const LABELS: usize = 500;
/// Nothing under way for so long may be the time between two runs, s.
const PAUSE_S: f64 = 10.0;

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
    spans: Vec<(f64, f64)>,
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

    /// A line that is no sample. The first few are said one by one.
    pub fn bad(&mut self, document: &mut Document, line: u32, what: &str, why: &str) {
        self.bad += 1;
        if self.bad <= 5 {
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
        let (start, end) = (sample.start_ms / 1e3, (sample.start_ms + sample.elapsed_ms) / 1e3);
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
        if self.samples.elapsed_s.len() < KEPT {
            self.samples.elapsed_s.push(elapsed);
            self.spans.push((start, end));
        }
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
        self.samples.elapsed_s.sort_by(f64::total_cmp);
        self.spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        (self.samples.concurrent_max, self.samples.runs) = (concurrent(&self.spans), runs(&self.spans));
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
            put(Measure::Percentile(share), rank(&self.samples.elapsed_s, share), 1e-3);
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
fn rank(sorted: &[f64], ten_thousandths: u16) -> f64 {
    let rank = (sorted.len() as f64 * f64::from(ten_thousandths) / 10_000.0).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

/// Most spans under way at once. An end at the instant of a begin comes first: the thread that ended began again.
fn concurrent(spans: &[(f64, f64)]) -> u64 {
    let mut ends: Vec<f64> = spans.iter().map(|span| span.1).collect();
    ends.sort_by(f64::total_cmp);
    let (mut most, mut ended) = (0, 0);
    for (began, (start, _)) in spans.iter().enumerate() {
        while ends.get(ended).is_some_and(|end| end <= start) {
            ended += 1;
        }
        // A sample of zero length may have ended before its turn.
        most = most.max((began + 1).saturating_sub(ended));
    }
    most as u64
}

/// Runs that were appended to each other: pauses in which nothing was under way, far longer than the file's others.
fn runs(spans: &[(f64, f64)]) -> u32 {
    let mut pauses = Vec::new();
    let mut until = f64::NEG_INFINITY;
    for (start, end) in spans {
        if *start > until && until.is_finite() {
            pauses.push(start - until);
        }
        until = until.max(*end);
    }
    pauses.sort_by(f64::total_cmp);
    // A plan with think times pauses often and alike.
    let usual = pauses.get(pauses.len() / 2).copied().unwrap_or(0.0);
    let many = pauses.len() > 8;
    let long = pauses.iter().filter(|pause| **pause > PAUSE_S && (!many || **pause > 50.0 * usual)).count();
    1 + u32::try_from(long).unwrap_or(u32::MAX - 1)
}

/// Marks every line of a file of samples as understood.
pub fn take_all(document: &mut Document, lines: u32) {
    document.taken.extend(1..=lines);
}
