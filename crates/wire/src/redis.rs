//! Commands and replies of Redis (RESP 2, <https://redis.io/docs/latest/develop/reference/protocol-spec/>).
//!
//! ```
//! use plimsoll_wire::redis::{Reply, Scanner, write_command};
//!
//! let mut sent = Vec::new();
//! write_command(&["GET", "key"], &mut sent);
//! assert_eq!(sent, b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
//!
//! let mut scanner = Scanner::new();
//! assert_eq!(scanner.scan(b"$5\r\nval")?, None);
//! assert_eq!(scanner.scan(b"$5\r\nvalue\r\n")?, Some(11));
//! assert_eq!(Reply::parse(b"$5\r\nvalue\r\n")?, Reply::Text(b"value".to_vec()));
//! # Ok::<(), plimsoll_wire::redis::InvalidReply>(())
//! ```

use std::fmt;

/// Arrays within arrays at most.
const DEPTH_MAX: usize = 64;

/// Appends a command.
pub fn write_command<W: AsRef<[u8]>>(words: &[W], into: &mut Vec<u8>) {
    into.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        let word = word.as_ref();
        into.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        into.extend_from_slice(word);
        into.extend_from_slice(b"\r\n");
    }
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// No value.
    Nil,
    /// A line or a text of a given length.
    Text(Vec<u8>),
    Integer(i64),
    Error(Vec<u8>),
    Array(Vec<Reply>),
}

/// The bytes are not a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidReply;

impl fmt::Display for InvalidReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the response is not a reply of Redis")
    }
}

impl std::error::Error for InvalidReply {}

/// Finds the end of a reply that arrives in pieces. What was scanned once is not scanned again.
#[derive(Debug)]
pub struct Scanner {
    at: usize,
    /// Values whose end was not seen yet.
    left: u64,
}

impl Default for Scanner {
    fn default() -> Scanner {
        Scanner::new()
    }
}

impl Scanner {
    pub const fn new() -> Scanner {
        Scanner { at: 0, left: 1 }
    }

    /// Returns the length of the reply if it is complete. `bytes` are all bytes from its beginning.
    ///
    /// # Errors
    /// Returns an error if they cannot be the beginning of a reply.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<Option<usize>, InvalidReply> {
        while self.left > 0 {
            let Some((head, next)) = head(bytes, self.at)? else { return Ok(None) };
            match head {
                Head::Bulk(Some(length)) => {
                    let Some(end) = bulk_end(bytes, next, length)? else { return Ok(None) };
                    self.at = end;
                }
                Head::Array(Some(length)) => {
                    self.at = next;
                    self.left = self.left.checked_add(length as u64).ok_or(InvalidReply)?;
                }
                _ => self.at = next,
            }
            self.left -= 1;
        }
        Ok(Some(self.at))
    }
}

impl Reply {
    /// Parses a complete reply.
    ///
    /// # Errors
    /// Returns an error if the bytes are not exactly one reply.
    pub fn parse(bytes: &[u8]) -> Result<Reply, InvalidReply> {
        match parse_at(bytes, 0, 0)? {
            (reply, end) if end == bytes.len() => Ok(reply),
            _ => Err(InvalidReply),
        }
    }
}

/// The line that a value begins with.
enum Head<'a> {
    Line(&'a [u8]),
    Error(&'a [u8]),
    Integer(i64),
    Bulk(Option<usize>),
    Array(Option<usize>),
}

/// Returns the line of a value and the position after it; `None` if it is not complete.
fn head(bytes: &[u8], at: usize) -> Result<Option<(Head<'_>, usize)>, InvalidReply> {
    let Some(rest) = bytes.get(at..) else { return Err(InvalidReply) };
    let Some(kind) = rest.first() else { return Ok(None) };
    if !b"+-:$*".contains(kind) {
        return Err(InvalidReply);
    }
    let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
    // proof: `end` is the position of a match after the first byte, which is neither CR nor LF.
    let line = &rest[1..end];
    let number =
        || std::str::from_utf8(line).ok().and_then(|text| text.parse::<i64>().ok()).ok_or(InvalidReply);
    // The length -1 means that the value is missing.
    let length = |number: i64| match number {
        -1 => Ok(None),
        _ => usize::try_from(number).map(Some).map_err(|_| InvalidReply),
    };
    let head = match kind {
        b'+' => Head::Line(line),
        b'-' => Head::Error(line),
        b':' => Head::Integer(number()?),
        b'$' => Head::Bulk(length(number()?)?),
        _ => Head::Array(length(number()?)?),
    };
    Ok(Some((head, at + end + 2)))
}

/// Returns the position after a text of a given length; `None` if it is not complete.
fn bulk_end(bytes: &[u8], begin: usize, length: usize) -> Result<Option<usize>, InvalidReply> {
    let end = begin.checked_add(length).and_then(|end| end.checked_add(2)).ok_or(InvalidReply)?;
    match bytes.get(begin + length..end) {
        None => Ok(None),
        Some(b"\r\n") => Ok(Some(end)),
        Some(_) => Err(InvalidReply),
    }
}

fn parse_at(bytes: &[u8], at: usize, depth: usize) -> Result<(Reply, usize), InvalidReply> {
    if depth > DEPTH_MAX {
        return Err(InvalidReply);
    }
    let (head, next) = head(bytes, at)?.ok_or(InvalidReply)?;
    Ok(match head {
        Head::Line(line) => (Reply::Text(line.to_vec()), next),
        Head::Error(line) => (Reply::Error(line.to_vec()), next),
        Head::Integer(number) => (Reply::Integer(number), next),
        Head::Bulk(None) | Head::Array(None) => (Reply::Nil, next),
        Head::Bulk(Some(length)) => {
            let end = bulk_end(bytes, next, length)?.ok_or(InvalidReply)?;
            // proof: `bulk_end` has found CR and LF after this range.
            (Reply::Text(bytes[next..next + length].to_vec()), end)
        }
        Head::Array(Some(length)) => {
            // The length is not trusted: each value has at least 3 bytes.
            let mut all = Vec::with_capacity(length.min(bytes.len() / 3));
            let mut at = next;
            for _ in 0..length {
                let (reply, end) = parse_at(bytes, at, depth + 1)?;
                all.push(reply);
                at = end;
            }
            (Reply::Array(all), at)
        }
    })
}
