//! Rows in one line of text: `wrk rate=521.24 mean=207.71ms users=80`. Times and shares are rounded to the digits
//! that are written, counts are exact.

use plimsoll_audit::foreign::{Document, Figure, Measure, Row, Tool};
use plimsoll_audit::{Audit, audit};

/// A row, and what else it needs behind `|`: `other:NAME=VALUE`, `word:NAME=TEXT`, `label=TEXT`.
pub fn row(text: &str) -> Row {
    let mut row = Row { label: "a row".into(), lines: (1, 1), is_whole: true, ..Row::default() };
    for (at, part) in text.split_whitespace().enumerate() {
        match part.split_once('=') {
            None if at == 0 => row.tool = tool(part),
            None => panic!("`{part}` is no `key=value`"),
            Some((key, value)) => match key.split_once(':') {
                Some(("other", name)) => {
                    // Names of k6 have underscores, others have spaces.
                    let own = name.starts_with("http_req_").then(|| {
                        let (metric, column) = name.rsplit_once('_').expect("a metric and a column");
                        format!("{metric} {column}")
                    });
                    let name = own.unwrap_or_else(|| name.replace('_', " "));
                    row.others.insert(name, figure(value, false));
                }
                Some(("bucket", edge)) => {
                    row.histogram.push((figure(edge, false), figure(value, true)));
                }
                Some(("word", name)) => {
                    row.words.entry(name.into()).or_default().text = value.replace('_', " ");
                }
                _ if key == "label" => row.label = value.into(),
                _ => {
                    let (measure, count) = measure(key);
                    row.figures.insert(measure, figure(value, count));
                }
            },
        }
    }
    row
}

pub fn document(rows: Vec<Row>) -> Document {
    let text = "Made with ab.\n".into();
    Document { name: "run.txt".into(), rows, text, ..Document::default() }
}

/// The codes of what is found in one row.
pub fn codes(text: &str) -> Vec<&'static str> {
    let found = found(vec![row(text)]).findings;
    found.into_iter().flat_map(|f| [f.rule].into_iter().chain(f.also)).collect()
}

pub fn found(rows: Vec<Row>) -> Audit {
    audit(&[document(rows)])
}

/// `text` with some figures replaced.
pub fn fixed(text: &str, fixes: &str) -> String {
    let key = |part: &str| part.split_once('=').map(|(key, _)| key.to_owned());
    let new: Vec<&str> = fixes.split_whitespace().collect();
    let kept = text.split_whitespace().filter(|p| key(p).is_none() || !new.iter().any(|n| key(n) == key(p)));
    kept.chain(new.iter().copied()).collect::<Vec<_>>().join(" ")
}

fn tool(name: &str) -> Option<Tool> {
    Some(match name {
        "wrk" => Tool::Wrk,
        "ab" => Tool::Ab,
        "k6" => Tool::K6,
        "jmeter" => Tool::Jmeter,
        "hey" => Tool::Hey,
        "oha" => Tool::Oha,
        "vegeta" => Tool::Vegeta,
        "loadtest" => Tool::Loadtest,
        "siege" => Tool::Siege,
        "gatling" => Tool::Gatling,
        "ghz" => Tool::Ghz,
        "h2load" => Tool::H2load,
        "table" => return None,
        other => panic!("`{other}` is no tool"),
    })
}

fn measure(key: &str) -> (Measure, bool) {
    use Measure as M;
    if let Some(p) = key.strip_prefix('p').and_then(|p| p.parse::<f64>().ok()) {
        return (M::Percentile((p * 100.0).round() as u16), false);
    }
    if let Some(p) = key.strip_prefix("connect.p").and_then(|p| p.parse::<f64>().ok()) {
        return (M::ConnectPercentile((p * 100.0).round() as u16), false);
    }
    match key {
        "users" => (M::Users, true),
        "threads" => (M::GeneratorThreads, true),
        "loops" => (M::Loops, true),
        "duration" => (M::Duration, false),
        "requests" => (M::Requests, true),
        "errors" => (M::Errors, true),
        "share" => (M::ErrorRatio, false),
        "refused" => (M::ConnectErrors, true),
        "received" => (M::ReadErrors, true),
        "timeouts" => (M::TimeoutErrors, true),
        "lengths" => (M::LengthErrors, true),
        "exceptions" => (M::ExceptionErrors, true),
        "non2xx" => (M::Non2xx, true),
        "kept" => (M::KeepAliveRequests, true),
        "rate" => (M::Rate, false),
        "offered" => (M::OfferedRate, false),
        "thread_rate" => (M::ThreadRateMean, false),
        "thread_max" => (M::ThreadRateMax, false),
        "bytes_s" => (M::BytesPerS, false),
        "bytes" => (M::BytesTotal, false),
        "body" => (M::BodyBytes, true),
        "mean" => (M::Mean, false),
        "sd" => (M::StdDev, false),
        "within" => (M::WithinStdDev, false),
        "min" => (M::Min, false),
        "max" => (M::Max, false),
        "connect" => (M::ConnectMean, false),
        "connect.min" => (M::ConnectMin, false),
        "connect.max" => (M::ConnectMax, false),
        "connect.median" => (M::ConnectMedian, false),
        "first" => (M::FirstByteMean, false),
        "processing" => (M::ProcessingMean, false),
        "each" => (M::TimePerRequestAll, false),
        "per_user" => (M::TimePerRequestUsers, false),
        "iterations" => (M::Iterations, true),
        "passed" => (M::ChecksPassed, true),
        "failed" => (M::ChecksFailed, true),
        other => panic!("`{other}` is no measure"),
    }
}

fn figure(text: &str, count: bool) -> Figure {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "KB" => 1024.0,
        "%" => 0.01,
        _ => 1.0,
    };
    let value: f64 = number.parse().expect("the fixture holds numbers");
    let digits = number.split_once('.').map_or(0, |(_, part)| part.len() as i32);
    let unit = if unit == "%" { "%" } else { "" };
    match count {
        true => Figure::exact(value, text, 1),
        false => Figure { unit: unit.into(), ..Figure::rounded(value, digits, scale, text, 1) },
    }
}
