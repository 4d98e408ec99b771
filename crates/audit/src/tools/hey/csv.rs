//! hey's `-o csv`: a line per answered request, seconds with four digits since the start. Requests without an answer
//! are not in it.

use crate::foreign::model::{Document, Tool};
use crate::tools::samples::{Gathered, Sample, take_all};

const HEADER: &str =
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";

/// Reads the file if it is one.
pub fn read(source: &str, document: &mut Document) -> bool {
    let mut lines = source.lines();
    if lines.next().is_none_or(|line| line.trim() != HEADER) {
        return false;
    }
    let (mut gathered, mut number) = (Gathered::default(), 1u32);
    for line in lines {
        number = number.saturating_add(1);
        let fields: Vec<&str> = line.trim().split(',').collect();
        let ms = |at: usize| {
            let value = fields.get(at).and_then(|field| field.parse::<f64>().ok());
            value.filter(|value| value.is_finite() && *value >= 0.0).map(|value| value * 1e3)
        };
        match (ms(0), ms(7), fields.get(6)) {
            (Some(elapsed_ms), Some(start_ms), Some(code)) => gathered.add(&Sample {
                start_ms,
                elapsed_ms,
                connect_ms: ms(1),
                code,
                // hey knows no failure but the missing answer.
                success: true,
                line: number,
                ..Sample::default()
            }),
            _ if line.trim().is_empty() => {}
            _ => gathered.bad(document, number, line, "not a line of hey's samples"),
        }
    }
    if gathered.is_empty() {
        return false;
    }
    take_all(document, number);
    gathered.finish(Tool::Hey, number, document);
    true
}
