//! hey's `-o csv`: a line per answered request, seconds with four digits since the start. Requests without an answer
//! are not in it.

use crate::model::{Document, Tool};
use crate::tools::lines;
use crate::tools::samples::{Gathered, Sample};
use std::io::BufRead;

const HEADER: &str =
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";

/// Whether a file with this beginning is one.
pub fn is_one(head: &str) -> bool {
    let mut lines = head.lines();
    lines.next().is_some_and(|line| line.trim() == HEADER) && lines.next().is_some()
}

/// Reads the file.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn read(input: &mut dyn BufRead, document: &mut Document) -> std::io::Result<()> {
    let (mut gathered, mut number, mut line) = (Gathered::default(), 0u32, String::new());
    while lines::next(input, &mut line)? {
        number = number.saturating_add(1);
        if number == 1 || line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.trim().split(',').collect();
        let ms = |at: usize| {
            let value = fields.get(at).and_then(|field| field.parse::<f64>().ok());
            value.filter(|value| value.is_finite() && *value >= 0.0).map(|value| value * 1e3)
        };
        match (ms(0), ms(7), fields.get(6)) {
            (Some(elapsed_ms), Some(start_ms), Some(code)) => {
                let sample = Sample {
                    start_ms,
                    elapsed_ms,
                    connect_ms: ms(1),
                    code,
                    // hey knows no failure but the missing answer.
                    success: true,
                    line: number,
                    ..Sample::default()
                };
                gathered.add_from(&sample, &line, document);
            }
            _ => gathered.bad(document, number, &line, "not a line of hey's samples"),
        }
    }
    gathered.finish(Tool::Hey, number, document);
    Ok(())
}
