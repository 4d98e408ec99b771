//! JTL as XML, its attribute form: `t` elapsed, `lt` latency, `ct` connect, `ts` begin, `s` success, `lb` label, `rc`
//! and `rm` code and message, `by` and `sby` bytes, `na` threads. Samples inside a sample (redirects, embedded files)
//! are part of it and not counted again.

use crate::model::{Document, Tool};
use crate::tools::samples::{Gathered, Sample};
use std::borrow::Cow;
use std::io::BufRead;

/// Whether a file with this beginning is one. A report may quote a few lines of such a file: it does not begin with
/// them.
pub fn is_one(head: &str) -> bool {
    let start = head.trim_start_matches(['\u{feff}', ' ', '\n', '\r']);
    let prologue = head.get(..head.floor_char_boundary(2_000)).unwrap_or(head);
    start.starts_with("<testResults") || start.starts_with("<?xml") && prologue.contains("<testResults")
}

/// Reads the file, tag by tag.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn read(input: &mut dyn BufRead, document: &mut Document) -> std::io::Result<()> {
    let (mut gathered, mut depth, mut line) = (Gathered::default(), 0u32, 1u32);
    let mut bytes = Vec::new();
    loop {
        let more = input.read_until(b'>', &mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let Some(open) = text.find('<') else {
            line = line.saturating_add(breaks(&text));
            bytes.clear();
            if more == 0 {
                break;
            }
            continue;
        };
        let tag = &text[open..];
        let Some(end) = tag_end(tag) else {
            // A `>` inside quotes or a comment: the tag goes on.
            if more > 0 {
                continue;
            }
            line = line.saturating_add(breaks(&text[..open]));
            let first = tag.lines().next().unwrap_or("");
            gathered.bad(document, line, first, "the file ends inside a tag");
            break;
        };
        line = line.saturating_add(breaks(&text[..open]));
        let tag = &tag[..end];
        let name = tag[1..].split(|c: char| c.is_whitespace() || c == '>' || c == '/').next().unwrap_or("");
        if name == "httpSample" || name == "sample" {
            if depth == 0 {
                let first = tag.lines().next().unwrap_or("");
                match sample(tag, line, &mut gathered, document) {
                    Ok(()) => {}
                    Err(why) => gathered.bad(document, line, first, why),
                }
            }
            depth += u32::from(!tag.ends_with("/>"));
        } else if tag.starts_with("</httpSample") || tag.starts_with("</sample") {
            depth = depth.saturating_sub(1);
        }
        line = line.saturating_add(breaks(&text[open..]));
        bytes.clear();
    }
    if depth > 0 {
        gathered.bad(document, line, "</testResults>", "the file ends inside a sample");
    }
    if gathered.is_empty() {
        gathered.bad(document, line, "<testResults>", "there is no sample in this file");
    }
    gathered.finish(Tool::Jmeter, line, document);
    Ok(())
}

fn breaks(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// The length of the tag at the beginning. A `>` inside quotes does not end it; comments and CDATA end as they do.
fn tag_end(text: &str) -> Option<usize> {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>")] {
        if text.starts_with(start) {
            return text.find(end).map(|at| at + end.len());
        }
    }
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

fn sample(
    tag: &str,
    line: u32,
    gathered: &mut Gathered,
    document: &mut Document,
) -> Result<(), &'static str> {
    let mut fields: [Option<Cow<str>>; 12] = Default::default();
    const NAMES: [&str; 12] = ["ts", "t", "lt", "ct", "s", "lb", "rc", "rm", "tn", "by", "sby", "na"];
    let mut rest = tag.split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once('=') {
        let quote =
            after.chars().next().filter(|c| *c == '"' || *c == '\'').ok_or("an attribute without quotes")?;
        let (value, tail) = after[1..].split_once(quote).ok_or("an attribute without an end")?;
        if let Some(at) = NAMES.iter().position(|other| *other == name.trim()) {
            fields[at] = Some(unescaped(value));
        }
        rest = tail;
    }
    let get = |at: usize| fields[at].as_deref().unwrap_or("");
    let number = |at: usize| get(at).parse::<f64>().ok().filter(|value| value.is_finite());
    let elapsed_ms = number(1).filter(|elapsed| *elapsed >= 0.0);
    let sample = Sample {
        start_ms: number(0).ok_or("`ts` is no time")?,
        elapsed_ms: elapsed_ms.ok_or("`t` is no time")?,
        latency_ms: number(2).filter(|latency| *latency >= 0.0),
        connect_ms: number(3).filter(|connect| *connect >= 0.0),
        label: get(5),
        code: get(6),
        message: get(7),
        thread: get(8),
        success: get(4) == "true",
        bytes: number(9).unwrap_or(0.0).max(0.0),
        sent_bytes: number(10).unwrap_or(0.0).max(0.0),
        all_threads: number(11).unwrap_or(0.0),
        line,
    };
    gathered.add_from(&sample, tag.lines().next().unwrap_or(""), document);
    Ok(())
}

fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    const ENTITIES: [(&str, &str); 5] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Cow::Owned(ENTITIES.iter().fold(value.to_owned(), |text, (entity, plain)| text.replace(entity, plain)))
}
