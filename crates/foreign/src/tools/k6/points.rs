//! k6's `--out json`: a JSON object per line, a metric's declaration or one point of it. An HTTP request writes a dozen
//! points with the same time, which is the instant of its end.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::lines;
use crate::tools::samples::{Gathered, Sample};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::BufRead;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    metric: Cow<'a, str>,
    #[serde(default, borrow)]
    data: Data<'a>,
}

#[derive(Deserialize, Default)]
struct Data<'a> {
    #[serde(default, borrow)]
    time: Cow<'a, str>,
    #[serde(default)]
    value: f64,
    #[serde(default, borrow)]
    tags: Option<Tags<'a>>,
}

#[derive(Deserialize, Default)]
struct Tags<'a> {
    #[serde(default, borrow)]
    name: Cow<'a, str>,
    #[serde(default, borrow)]
    status: Cow<'a, str>,
    #[serde(default, borrow)]
    error: Cow<'a, str>,
    #[serde(default, borrow)]
    expected_response: Cow<'a, str>,
}

/// Whether a file with this beginning is one.
pub fn is_one(head: &str) -> bool {
    let first = head.lines().next().unwrap_or("");
    first.starts_with('{') && first.contains("\"metric\"") && first.contains("\"type\"")
}

/// Reads the file.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn read(input: &mut dyn BufRead, document: &mut Document) -> std::io::Result<()> {
    let mut gathered = Gathered::default();
    let (mut number, mut most_users, mut iterations, mut received) = (0u32, 0.0f64, 0u64, 0.0);
    let mut text = String::new();
    while lines::next(input, &mut text)? {
        let line = text.as_str();
        number = number.saturating_add(1);
        if line.trim().is_empty() {
            continue;
        }
        let parsed: Line = match serde_json::from_str(line) {
            Ok(parsed) => parsed,
            Err(error) => {
                gathered.bad(document, number, line, &format!("no point of k6: {error}"));
                continue;
            }
        };
        if parsed.kind != "Point" {
            continue;
        }
        match parsed.metric.as_ref() {
            "vus" => most_users = most_users.max(parsed.data.value),
            "iterations" => iterations += 1,
            "data_received" => received += parsed.data.value,
            "http_req_duration" => match instant(&parsed.data.time) {
                Some(end_ms) if parsed.data.value >= 0.0 => {
                    let tags = parsed.data.tags.unwrap_or_default();
                    let sample = Sample {
                        start_ms: end_ms - parsed.data.value,
                        elapsed_ms: parsed.data.value,
                        label: &tags.name,
                        code: &tags.status,
                        message: &tags.error,
                        success: tags.expected_response != "false",
                        line: number,
                        ..Sample::default()
                    };
                    gathered.add_from(&sample, line, document);
                }
                _ => gathered.bad(document, number, line, "`time` or `value` is none"),
            },
            _ => {}
        }
    }
    let rows = document.rows.len();
    gathered.finish(Tool::K6, number, document);
    if let Some(total) = document.rows.get_mut(rows) {
        let mut put = |measure: Measure, value: f64| {
            if value > 0.0 {
                let written = format!("{value} (of all points)");
                total.figures.insert(measure, Figure::exact(value, written, total.lines.0));
            }
        };
        put(Measure::Users, most_users);
        put(Measure::Iterations, iterations as f64);
        put(Measure::BytesTotal, received);
    }
    Ok(())
}

/// `2026-11-22T00:45:33.974299836Z` as milliseconds within its month: a run is shorter, and differences are all that
/// is asked for. Zones are equal within a file.
fn instant(text: &str) -> Option<f64> {
    let (date, rest) = text.split_once('T')?;
    let time = rest.trim_end_matches('Z').split(['+', '-']).next()?;
    let day: f64 = date.rsplit_once('-')?.1.parse().ok()?;
    let mut seconds = 0.0;
    for part in time.split(':') {
        seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
    }
    Some((day * 86_400.0 + seconds) * 1e3)
}
