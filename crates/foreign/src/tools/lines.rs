//! Files of single samples, line by line from a stream: they can be larger than the memory.

use std::io::{BufRead, Read};

/// Bytes from which a format is recognized.
pub const HEAD: usize = 8_192;
/// A line that is longer is no line of samples.
const LONGEST: u64 = 16 << 20;

/// The next line without its end, in `line`; false at the end of the stream. Invalid UTF-8 is replaced, because text by
/// people may contain it, and numbers survive it.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn next(input: &mut dyn BufRead, line: &mut String) -> std::io::Result<bool> {
    line.clear();
    append(input, line)
}

/// The same, after what is in `line` already.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn append(input: &mut dyn BufRead, line: &mut String) -> std::io::Result<bool> {
    let mut bytes = Vec::new();
    if input.take(LONGEST).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(false);
    }
    while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        bytes.pop();
    }
    line.push_str(&String::from_utf8_lossy(&bytes));
    Ok(true)
}
