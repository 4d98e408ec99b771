//! What the figures in a sentence are of, by the words around them: `600 threads`, `Total connections: 300`,
//! `p99 of 389.30ms`. A figure whose words are not understood stays a figure without a measure.

use super::column;
use super::number::{Number, numbers};
use super::unit::Kind;
use crate::model::{Claim, Figure, Measure, Statement};

/// The sentence with its figures.
pub fn claim(said: &Statement) -> Claim {
    let text = &said.text;
    let found = numbers(text, said.line);
    let mut figures: Vec<(Option<Measure>, Figure)> = Vec::new();
    for (i, number) in found.iter().enumerate() {
        let from = i.checked_sub(1).and_then(|b| found.get(b)).map_or(0, |n| n.end);
        let to = found.get(i + 1).map_or(text.len(), |n| n.start);
        let (before, after) = (&text[from..number.start], &text[number.end..to]);
        if is_name_of_percentile(number, before, after) {
            continue;
        }
        let whole_before = &text[..number.start];
        let measure = measure(number, before, after, text, whole_before);
        let mut figure = number.figure.clone();
        if number.kind == Kind::Plain {
            figure.unit = noun(after);
        }
        figures.push((measure, figure));
    }
    figures.extend(spelled(text, said.line));
    beside_connections(&mut figures);
    Claim { text: text.clone(), line: said.line, headings: said.headings.clone(), figures }
}

/// Beside connections or users, threads are the generator's own.
fn beside_connections(figures: &mut [(Option<Measure>, Figure)]) {
    let is_thread = |f: &Figure| f.unit.starts_with("thread");
    let users = |m: &Option<Measure>| *m == Some(Measure::Users);
    if figures.iter().any(|(m, f)| users(m) && !is_thread(f)) {
        for (measure, figure) in figures {
            if users(measure) && is_thread(figure) {
                *measure = Some(Measure::GeneratorThreads);
            }
        }
    }
}

/// `99% percentile`, `95th`, `99 percentile`: the figure names another one.
fn is_name_of_percentile(number: &Number, before: &str, after: &str) -> bool {
    let after = after.trim_start().to_lowercase();
    let named =
        after.starts_with("percentile") || after.starts_with("procentile") || after.starts_with("%ile");
    named || number.kind == Kind::Ordinal || before.trim_end().ends_with("p(")
}

fn measure(number: &Number, before: &str, after: &str, text: &str, whole_before: &str) -> Option<Measure> {
    let lower = text.to_lowercase();
    let (before_low, after_low) = (before.to_lowercase(), after.to_lowercase());
    match number.kind {
        Kind::Time => time_measure(number, &before_low, &after_low, &lower),
        Kind::PerS => {
            let asked = ["requested", "target", "offered", "arriv"].iter().any(|w| before_low.contains(w));
            Some(if asked { Measure::OfferedRate } else { Measure::Rate })
        }
        Kind::Percent if before_low.contains("cpu") || after_low.contains("cpu") => Some(Measure::Cpu),
        Kind::Percent if after_low.contains("error") || before_low.contains("error rate") => {
            Some(Measure::ErrorRatio)
        }
        Kind::Bytes if ["memory", "ram"].iter().any(|w| before_low.contains(w) || after_low.contains(w)) => {
            Some(Measure::MemoryBytes)
        }
        Kind::Bytes
            if ["response", "body", "answer", "reply", "payload"]
                .iter()
                .any(|w| after_low.starts_with(&format!(" {w}"))) =>
        {
            Some(Measure::BodyBytes)
        }
        Kind::BytesPerS => Some(Measure::BytesPerS),
        Kind::Plain => count_measure(number, before, after, whole_before),
        _ => None,
    }
}

fn time_measure(number: &Number, before: &str, after: &str, sentence: &str) -> Option<Measure> {
    let tail: Vec<&str> = before.split_whitespace().rev().take(6).collect();
    let near = |words: &[&str]| tail.iter().any(|t| words.iter().any(|w| t.contains(w)));
    if near(&["timeout", "interval", "every", "step", "divide"]) || after.trim_start().starts_with("timeout")
    {
        return None;
    }
    let window = format!("{before} {after}");
    let words: Vec<&str> = sentence
        .split(|c: char| !(c.is_alphanumeric() || "%.".contains(c)))
        .map(|w| w.trim_matches('.'))
        .filter(|w| !w.is_empty())
        .collect();
    let latency = ["latency", "response time", "percentile", "avg", "average", "mean", "median"];
    if let Some(p) =
        column::percentile(&words).filter(|_| sentence.contains("percentile") || window.contains("p9"))
    {
        return Some(Measure::Percentile(p));
    }
    match () {
        () if near(&["median"]) || after.trim_start().starts_with("median") => {
            Some(Measure::Percentile(5_000))
        }
        () if near(&["average", "avg", "mean"]) || after.trim_start().starts_with("average") => {
            Some(Measure::Mean)
        }
        () if near(&["max"]) && near(&["latency", "response"]) => Some(Measure::Max),
        () if near(&["ramp"]) => Some(Measure::RampUp),
        () if near(&["duration", "lasted"]) => Some(Measure::Duration),
        // `a 15 s test`, `for 60 s`.
        () if after.trim_start().starts_with("test") || after.trim_start().starts_with("run") => {
            Some(Measure::Duration)
        }
        () if before.ends_with("for ")
            && number.figure.value >= 5.0
            && !latency.iter().any(|w| sentence.contains(w)) =>
        {
            Some(Measure::Duration)
        }
        () => None,
    }
}

const ADJECTIVES: &[&str] = &[
    "open",
    "concurrent",
    "virtual",
    "parallel",
    "simultaneous",
    "jmeter",
    "total",
    "physical",
    "active",
    "connected",
    "load",
    "client",
    "of",
    "the",
    "different",
    "more",
    "http",
    "tcp",
    "keep-alive",
    "separate",
    "identical",
];

/// The first word behind a number that is no adjective, in lower case.
pub fn noun(after: &str) -> String {
    after
        .split(|c: char| !(c.is_alphabetic() || c == '-'))
        .map(|w| w.trim_matches('-').to_lowercase())
        .filter(|w| !w.is_empty())
        .find(|w| !ADJECTIVES.contains(&w.as_str()))
        .unwrap_or_default()
}

/// The measure that a noun stands for.
pub fn noun_measure(noun: &str) -> Option<Measure> {
    Some(match noun.trim_end_matches('s') {
        "connection" | "user" | "thread" | "vu" | "concurrency" | "visitor" if noun != "visitors" => {
            Measure::Users
        }
        "client" | "consumer" => Measure::Users,
        "server" | "instance" | "replica" | "node" | "pod" => Measure::Servers,
        "slave" | "generator" | "injector" | "vm" | "machine" | "laptop" | "agent" => Measure::Generators,
        "request" | "sample" => Measure::Requests,
        "error" | "failure" => Measure::Errors,
        "loop" => Measure::Loops,
        "iteration" => Measure::Iterations,
        _ => return None,
    })
}

fn count_measure(number: &Number, before: &str, after: &str, whole_before: &str) -> Option<Measure> {
    // `Number of threads - 600`, `Total connections: 100`, `C=10`, `concurrency of 500`.
    let trimmed = before.trim_end();
    let linked = trimmed.ends_with([':', '='])
        || trimmed.ends_with(" -")
        || trimmed.ends_with(" of")
        || trimmed.ends_with(" to");
    // `machines of 600 users`: the word behind says more than the one before.
    let weak = trimmed.ends_with(" of") || trimmed.ends_with(" to");
    if linked && !(weak && noun_measure(&noun(after)).is_some()) {
        let head =
            trimmed.trim_end_matches([':', '=', '-', ' ']).trim_end_matches(" of").trim_end_matches(" to");
        let head = head.rsplit([',', ';', '(']).next().unwrap_or(head).to_lowercase();
        let head = head.trim_end_matches(')');
        if head.trim() == "c" {
            return Some(Measure::Users);
        }
        let words: Vec<&str> = head.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()).collect();
        // The rates, sizes and shares of something are not that something.
        if words.iter().any(|w| ["rate", "size", "share", "percentage", "loop"].contains(w)) {
            return None;
        }
        // `Thread Group - 2` numbers a group, `User - 3` a user; a count of them has a plural.
        let numbers = trimmed.ends_with(" -") && !words.last().is_some_and(|w| w.ends_with('s'));
        if words.contains(&"group") || numbers {
            return None;
        }
        let named = |m: Measure| words.iter().any(|w| noun_measure(w) == Some(m));
        let order = [Measure::Errors, Measure::Requests, Measure::Users, Measure::Generators];
        if let Some(found) = order.into_iter().find(|m| named(*m)) {
            return Some(found);
        }
    }
    let next = noun(after);
    // `1 error per 1000 requests`, `100,000 visitors a month` are rates of another kind.
    let rate = after.to_lowercase();
    if rate.contains(" per ") || rate.contains("/ ") || whole_before.trim_end().ends_with(" per") {
        return None;
    }
    let close = after
        .split_whitespace()
        .take(3)
        .any(|w| w.to_lowercase().trim_matches(|c: char| !c.is_alphabetic()) == next);
    noun_measure(&next).filter(|_| close && number.decimals == 0)
}

/// `two physical machines`, `three servers`.
fn spelled(text: &str, line: u32) -> Vec<(Option<Measure>, Figure)> {
    const WORDS: &[(&str, f64)] = &[
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("eight", 8.0),
        ("ten", 10.0),
    ];
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for (word, value) in WORDS {
        for (i, _) in lower.match_indices(word) {
            let whole =
                !lower[..i].ends_with(char::is_alphanumeric) && lower[i + word.len()..].starts_with(' ');
            let noun = noun(&lower[i + word.len()..]);
            if let Some(measure) =
                noun_measure(&noun).filter(|m| whole && matches!(m, Measure::Generators | Measure::Servers))
            {
                let mut figure = Figure::exact(*value, *word, line);
                figure.unit = noun;
                found.push((Some(measure), figure));
            }
        }
    }
    found
}
