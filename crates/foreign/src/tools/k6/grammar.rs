//! k6, the summary at the end of a test. Everything is cut off, not rounded (`toFixedNoTrailingZerosTrunc` in its
//! summary); `http_req_duration` leaves out connecting; and `http_req_failed` counts a failure as a pass: `0.00% ✓ 0
//! ✗ 1200` says that no request failed.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::number::{self, Comma, count, go_duration, leading};
use crate::tools::text::Text;
use std::collections::BTreeMap;

/// Reads the summary that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if !begins(text, at) {
        return None;
    }
    let mut summary = Summary {
        main: Entry::new(Tool::K6, text, at),
        tagged: BTreeMap::new(),
        metric: String::new(),
        checks: Vec::new(),
        thresholds: Vec::new(),
        limited: String::new(),
    };
    if let Some((command, line)) = text.command(at, "k6") {
        summary.main.word("command", command, line);
    }
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    while next < end && strangers < 12 {
        let (line, number) = (text.at(next), text.number(next));
        // The same metric again, or a new head, belongs to the next run.
        if next > at && (line.starts_with("execution: ") || summary.has_already(line)) {
            break;
        }
        next += 1;
        strangers =
            if line.is_empty() || summary.line(line, number, text, next - 1) { 0 } else { strangers + 1 };
    }
    summary.finish(document).then_some(next)
}

/// The head of a run, a title of the newer layout, or the first metric. A check alone could stand in any list.
fn begins(text: &Text, at: usize) -> bool {
    let line = text.at(at);
    let check = |line: &str| line.starts_with(['✓', '✗']);
    // The older layout begins with the checks; only the metrics below show whose they are.
    let leads = || {
        (at..text.end(at).min(at + 60)).any(|i| metric(text.at(i)).is_some_and(|(name, _)| is_known(name)))
    };
    line.starts_with("execution: ") && leads()
        || line.starts_with('█') && leads()
        || check(line) && leads()
        || metric(line).is_some_and(|(name, _)| is_known(name))
}

/// `name......: values`. At least two dots: a sentence has one.
fn metric(line: &str) -> Option<(&str, &str)> {
    let (name, values) = line.split_once(": ")?;
    let bare = name.trim_end_matches('.').trim_end();
    (name.len() >= bare.len() + 2 && name.ends_with("..") || name.ends_with('.') && is_known(bare))
        .then_some((bare, values.trim()))
}

fn is_known(name: &str) -> bool {
    const STARTS: [&str; 10] = [
        "http_req",
        "iteration",
        "vus",
        "data_",
        "checks",
        "ws_",
        "grpc_",
        "group_duration",
        "browser_",
        "dropped_iterations",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

struct Summary {
    main: Entry,
    /// Rows of `{ name:... }` under a metric, by the tag.
    tagged: BTreeMap<String, Entry>,
    metric: String,
    checks: Vec<String>,
    thresholds: Vec<String>,
    /// The title above thresholds: `http_req_duration{name:page}`.
    limited: String,
}

impl Summary {
    fn has_already(&self, line: &str) -> bool {
        metric(line).is_some_and(|(name, _)| name == "http_reqs") && self.main.has(Measure::Requests)
    }

    fn line(&mut self, line: &str, number: u32, text: &Text, at: usize) -> bool {
        if let Some((name, values)) = metric(line) {
            if let Some(tag) = name.strip_prefix('{') {
                self.tagged(tag.trim_end_matches('}').trim(), values, line, number, text, at);
            } else {
                self.metric = name.to_owned();
                quantity(&mut self.main, name, values, (number, line), true);
            }
            return true;
        }
        if self.running(line, number) || self.check(line, number, text, at) {
            return true;
        }
        if is_known(line) && !line.contains(' ') {
            line.clone_into(&mut self.limited);
        }
        const TITLES: [&str; 8] =
            ["HTTP", "EXECUTION", "NETWORK", "CUSTOM", "WEBSOCKET", "GRPC", "BROWSER", "WEB_VITALS"];
        let known = TITLES.contains(&line)
            || line.starts_with(['█', '↳', '*'])
            // A threshold's title: `http_req_duration{name:page}`.
            || is_known(line) && !line.contains(' ')
            // A bar of progress: `main ✓ [ 100% ] 5 VUs  5s`.
            || line.contains('[') && line.contains("VUs")
            || ["default ", "scenarios:", "execution:", "script:", "output:", "web dashboard:"]
                .iter()
                .any(|start| line.starts_with(start));
        for (start, key) in
            [("script: ", "script"), ("scenarios: ", "scenarios"), ("execution: ", "execution")]
        {
            if let Some(rest) = line.strip_prefix(start) {
                self.main.word(key, rest.trim(), number);
            }
        }
        if known {
            self.main.take(number);
        }
        known
    }

    /// `running (0h59m58.9s), 000/600 VUs, 600 complete and 0 interrupted iterations`, printed again and again: the
    /// last one holds.
    fn running(&mut self, line: &str, number: u32) -> bool {
        let Some((time, rest)) = line.strip_prefix("running (").and_then(|rest| rest.split_once(")")) else {
            return false;
        };
        let place = (number, line);
        self.main.row.figures.remove(&Measure::Duration);
        self.main.put(Measure::Duration, number::go_time(time, number), place);
        for part in rest.split([',', ' ']).collect::<Vec<_>>().windows(2) {
            if let [value, "VUs"] = part
                && let Some((_, most)) = value.split_once('/')
            {
                self.main.other("vus at the end of", count(most, number), place);
            }
            if let [value, "interrupted"] = part {
                self.main.row.others.remove("interrupted iterations");
                self.main.other("interrupted iterations", count(value, number), place);
            }
        }
        true
    }

    /// `✓ status is 200`, `✗ fast enough`, and under the latter `↳  95% — ✓ 19 / ✗ 1`.
    fn check(&mut self, line: &str, number: u32, text: &Text, at: usize) -> bool {
        let Some(name) = line.strip_prefix(['✓', '✗']) else { return false };
        self.main.take(number);
        // A threshold is an expression in quotes: `✓ 'p(95)<500' p(95)=2.58ms`.
        let (name, list) = match name.trim().strip_prefix('\'') {
            Some(expression) => (expression.split('\'').next().unwrap_or(expression), &mut self.thresholds),
            None => (name.trim(), &mut self.checks),
        };
        list.push(name.to_owned());
        if let Some((_, value)) = line.rsplit_once("' ") {
            self.threshold(value.trim(), (number, line), text, at);
        }
        true
    }

    /// `p(95)=2.58ms` behind a threshold says a figure of its metric again.
    fn threshold(&mut self, value: &str, place: (u32, &str), text: &Text, at: usize) {
        let Some((key, value)) = value.split_once('=') else { return };
        let Some(figure) = cut_time(value, place.0).filter(|_| value.ends_with('s')) else { return };
        let (name, tag) = self.limited.split_once('{').unwrap_or((&self.limited, ""));
        let label = format!("threshold {name} {key}");
        let entry = match tag.trim_end_matches('}') {
            "" => &mut self.main,
            tag => self.tagged.entry(tag.to_owned()).or_insert_with(|| Entry::new(Tool::K6, text, at)),
        };
        entry.other(label, Some(figure), place);
    }

    fn tagged(&mut self, tag: &str, values: &str, line: &str, number: u32, text: &Text, at: usize) {
        // Every HTTP test has this one; as a row it would say everything twice.
        if tag == "expected_response:true" {
            let name = format!("{}{{{tag}}}", self.metric);
            quantity(&mut self.main, &name, values, (number, line), false);
            return;
        }
        let entry = self.tagged.entry(tag.to_owned()).or_insert_with(|| Entry::new(Tool::K6, text, at));
        quantity(entry, &self.metric, values, (number, line), true);
    }

    fn finish(mut self, document: &mut Document) -> bool {
        let first = self.main.row.lines.0;
        for (key, list) in [("checks", &self.checks), ("thresholds", &self.thresholds)] {
            if !list.is_empty() {
                self.main.word(key, list.join("; "), first);
            }
        }
        self.main.word("percentiles", "cut off at the last digit, not rounded", first);
        // Ends without the totals: a summary always has them.
        if !self.main.row.figures.is_empty() && !self.main.has(Measure::Iterations) {
            self.main.note_oddity(self.main.row.lines.1, "k6", "the summary of k6 stops before `iterations`");
        }
        let script = self.main.row.words.get("script").map(|word| word.text.clone()).unwrap_or_default();
        self.main.label(&script, "virtual users");
        if self.main.row.label.is_empty() {
            "k6".clone_into(&mut self.main.row.label);
        }
        let mut any = self.main.finish(document);
        for (tag, mut entry) in self.tagged {
            entry.row.label = tag;
            entry.row.is_part = true;
            any |= entry.finish(document);
        }
        any
    }
}

/// One metric into a row. `main`: its figures are the row's own.
fn quantity(entry: &mut Entry, name: &str, values: &str, place: (u32, &str), main: bool) {
    if values.contains("avg=") {
        trend(entry, name, values, place, main);
    } else if values.contains('%') {
        ratio(entry, name, values, place, main);
    } else {
        amount(entry, name, values, place, main);
    }
}

/// `avg=1.2ms min=... med=... max=... p(90)=... p(95)=...`, columns perhaps in another order; the first versions put
/// commas between them, and wrote `p90=`.
fn trend(entry: &mut Entry, name: &str, values: &str, place: (u32, &str), main: bool) {
    for column in values.split_whitespace() {
        let Some((key, value)) = column.trim_end_matches(',').split_once('=') else { continue };
        let figure = cut_time(value, place.0).or_else(|| number::plain(value, 1.0, "", place.0));
        if key == "count" {
            entry.other(format!("{name} count"), count(value, place.0), place);
            continue;
        }
        match trend_measure(name, key).filter(|_| main) {
            Some(measure) => {
                entry.put(measure, figure, place);
            }
            None => entry.other(format!("{name} {key}"), figure, place),
        }
    }
}

/// What a column of a trend is of; also used for the summaries in JSON.
pub fn trend_measure(name: &str, key: &str) -> Option<Measure> {
    let bracketed = key.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
    let share = bracketed.or(key.strip_prefix('p')).and_then(|p| p.parse::<f64>().ok());
    let percentile = share.and_then(measure_of);
    Some(match (name, key, percentile) {
        ("http_req_duration", "avg", _) => Measure::Mean,
        ("http_req_duration", "min", _) => Measure::Min,
        ("http_req_duration", "med", _) => Measure::Percentile(5_000),
        ("http_req_duration", "max", _) => Measure::Max,
        ("http_req_duration", _, Some(measure)) => measure,
        ("http_req_connecting", "avg", _) => Measure::ConnectMean,
        ("http_req_connecting", "min", _) => Measure::ConnectMin,
        ("http_req_connecting", "med", _) => Measure::ConnectMedian,
        ("http_req_connecting", "max", _) => Measure::ConnectMax,
        ("http_req_connecting", _, Some(Measure::Percentile(p))) => Measure::ConnectPercentile(p),
        ("http_req_waiting", "avg", _) => Measure::FirstByteMean,
        ("http_req_waiting", "med", _) => Measure::FirstByteMedian,
        _ => return None,
    })
}

/// `100.00% ✓ 1800 ✗ 0` (old), `0.00% 0 out of 180` (new).
fn ratio(entry: &mut Entry, name: &str, values: &str, place: (u32, &str), main: bool) {
    let (share, rest) = values.split_once('%').unwrap_or((values, ""));
    let ratio = leading(share, Comma::Point).map(|(number, _)| {
        let mut figure = number.figure(0.01, "%", &format!("{}%", share.trim()), place.0);
        (figure.low, figure.high) = (figure.value, figure.value + 0.0001);
        figure
    });
    let after = |mark: char| rest.split_once(mark).and_then(|(_, tail)| tail.split_whitespace().next());
    let (yes, no) = match rest.split_once(" out of ") {
        Some((yes, all)) => {
            let (yes, all) = (count(yes, place.0), count(all, place.0));
            let no = yes.as_ref().zip(all.as_ref()).map(|(yes, all)| {
                Figure::exact(
                    all.value - yes.value,
                    format!("{} out of {}", yes.written, all.written),
                    place.0,
                )
            });
            (yes, no)
        }
        None => (
            after('✓').and_then(|value| count(value, place.0)),
            after('✗').and_then(|value| count(value, place.0)),
        ),
    };
    let own: &[(Measure, &Option<Figure>)] = match name {
        // A tick is a failed request here.
        "http_req_failed" if main => &[(Measure::ErrorRatio, &ratio), (Measure::Errors, &yes)],
        "checks" | "checks_succeeded" if main => {
            &[(Measure::ChecksPassed, &yes), (Measure::ChecksFailed, &no)]
        }
        _ => &[],
    };
    if name == "http_req_failed" && rest.contains('✓') && main {
        entry.word(
            "http_req_failed",
            "the tick counts failed requests, the cross those that did not fail",
            place.0,
        );
    }
    for (measure, figure) in own {
        entry.put(*measure, (*figure).clone(), place);
    }
    entry.other(format!("{name} ratio"), ratio.clone(), place);
    if own.is_empty() {
        entry.other(format!("{name} yes"), yes, place);
    } else if name == "http_req_failed" {
        entry.other("http_req_failed no", no, place);
    }
}

/// Counters `1200 0.333439/s`, sizes `2.9 MB 817 B/s`, gauges `31 min=31 max=600`.
fn amount(entry: &mut Entry, name: &str, values: &str, place: (u32, &str), main: bool) {
    let line = place.0;
    let mut rates =
        values.split_whitespace().filter_map(|part| part.strip_suffix("/s").map(|bare| (part, bare)));
    if let Some(key) = name.strip_prefix("data_").filter(|_| main) {
        let (total, rate) = size_and_rate(values, line);
        let measures = match key {
            "received" => (Measure::BytesTotal, Measure::BytesPerS),
            _ => (Measure::BytesSentTotal, Measure::BytesSentPerS),
        };
        entry.put(measures.0, total, place);
        entry.put(measures.1, rate, place);
        return;
    }
    let first = values.split_whitespace().next().and_then(|value| count(value, line));
    let rate = rates.next().and_then(|(written, bare)| {
        leading(bare, Comma::Point).map(|(number, _)| number.figure(1.0, "1/s", written, line))
    });
    let gauge = |key: &str| {
        let value = values.split_whitespace().find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
        value.and_then(|value| count(value, line))
    };
    match name {
        "http_reqs" if main => {
            entry.put(Measure::Requests, first, place);
            entry.put(Measure::Rate, rate, place);
        }
        "iterations" if main => {
            entry.put(Measure::Iterations, first, place);
            entry.other("iterations per second", rate, place);
        }
        // The gauge itself is the number at the end; the load was the most of it.
        "vus" if main => {
            entry.put(Measure::Users, gauge("max").or_else(|| first.clone()), place);
            entry.other("vus at the end", first, place);
            if let Some(least) = gauge("min") {
                entry.other("vus min", Some(least), place);
            }
        }
        _ => {
            entry.other(name, first, place);
            if rate.is_some() {
                entry.other(format!("{name} per second"), rate, place);
            }
            if let Some(most) = gauge("max") {
                entry.other(format!("{name} max"), Some(most), place);
            }
        }
    }
}

/// `2.9 MB  817 B/s`: k6 rounds sizes to one digit below ten and to whole ones above, after rounding to a tenth.
fn size_and_rate(values: &str, line: u32) -> (Option<Figure>, Option<Figure>) {
    let size = |value: &str, unit: &str| {
        let (number, _) = leading(value, Comma::Point)?;
        let scale = number::decimal_size(unit.trim_end_matches("/s"))?;
        let mut figure = number.figure(scale, unit, &format!("{value} {unit}"), line);
        let twice = 0.05 * scale;
        (figure.low, figure.high) = (figure.low - twice, figure.high + twice);
        Some(figure)
    };
    match values.split_whitespace().collect::<Vec<_>>()[..] {
        [value, unit, rate, rate_unit, ..] => (size(value, unit), size(rate, rate_unit)),
        [value, unit] => (size(value, unit), None),
        _ => (None, None),
    }
}

/// k6 cuts: two digits of ns, µs, ms and s without trailing zeros, whole seconds from a minute on.
pub(super) fn cut_time(text: &str, line: u32) -> Option<Figure> {
    let (value, unit, digits) = go_duration(text)?;
    let step = match unit {
        1.0 if text.contains(['m', 'h']) => 1.0,
        _ if unit < 1e-8 => unit,
        _ => unit * 10f64.powi(-digits.max(2)),
    };
    let digits_of_zero = if value == 0.0 { 1e-9 } else { step };
    Some(Figure {
        value,
        low: value,
        high: value + digits_of_zero,
        written: text.trim().to_owned(),
        unit: String::new(),
        line,
    })
}
