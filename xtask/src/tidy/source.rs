//! Rust text for the rules: as long as the file, with spaces instead of comments and literals, so that rules about code
//! do not apply to sentences. It is a lexer for comments and literals, not a parser.

use std::ops::Range;

/// Returns the file with every comment, string, and character literal replaced with spaces; line breaks stay.
pub fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(text, at);
        if let Some(end) = end {
            for byte in &mut out[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            at = end;
        } else {
            // Skip complete identifiers: the `r` of `for"` must not look like the start of a raw string.
            let word = word_end(bytes, at);
            at = if word > at { word } else { at + 1 };
        }
    }
    // Literals end on character boundaries, so this cannot fail.
    String::from_utf8_lossy(&out).into_owned()
}

pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    // Prefixes of raw and byte strings do not get here: `literal_end` has handled them.
    (at..bytes.len()).find(|&i| !is_word(bytes[i])).unwrap_or(bytes.len())
}

/// Returns the end of the comment or literal that starts at `at`, if there is one.
fn literal_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    if rest.starts_with("//") {
        return Some(at + rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(at + block_comment(bytes));
    }
    if bytes[0] == b'\'' {
        return character(rest).map(|n| at + n);
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = &rest.as_bytes()[prefix.len().min(rest.len())..];
        let raw = prefix.ends_with('r');
        let opens = after.iter().position(|&b| !(raw && b == b'#')).is_some_and(|i| after[i] == b'"');
        rest.starts_with(prefix) && opens
    });
    if let Some(prefix) = prefix {
        let n =
            if prefix.ends_with('r') { raw_string(rest, prefix.len()) } else { string(bytes, prefix.len()) };
        return Some(at + n);
    }
    if rest.starts_with("b'") { character(&rest[1..]).map(|n| at + 1 + n) } else { None }
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < bytes.len() {
        if bytes[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if bytes[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    bytes.len()
}

/// Returns the length of a character literal; None for a lifetime (`'a`, without a closing quote).
fn character(rest: &str) -> Option<usize> {
    let mut letters = rest.char_indices().skip(1);
    let (_, first) = letters.next()?;
    if first == '\\' {
        letters.next()?; // the escaped character may be a quote
        return letters.find(|&(_, c)| c == '\'').map(|(i, _)| i + 1);
    }
    let (i, closing) = letters.next()?;
    (closing == '\'' && first != '\'').then_some(i + 1)
}

fn string(bytes: &[u8], prefix: usize) -> usize {
    let mut i = prefix + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn raw_string(rest: &str, prefix: usize) -> usize {
    let marks = rest[prefix..].bytes().take_while(|&b| b == b'#').count();
    let open = prefix + marks + 1;
    let close = format!("\"{}", "#".repeat(marks));
    rest[open..].find(&close).map_or(rest.len(), |i| open + i + close.len())
}

/// Returns the byte ranges of the items with `#[test]` or `#[cfg(test)]`, in masked text.
pub fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[") {
        let begin = from + found;
        let end = attribute_end(code, begin);
        if marks_test(&code[begin..end]) {
            let item = item_end(code, end);
            ranges.push(begin..item);
            from = item;
        } else {
            from = end;
        }
    }
    ranges
}

fn marks_test(attribute: &str) -> bool {
    let tight: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    let words: Vec<&str> = tight.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    // `cfg(not(test))` is the opposite of test code.
    tight == "#[test]"
        || (tight.starts_with("#[cfg(") && words.contains(&"test") && !tight.contains("not(test"))
}

fn attribute_end(code: &str, begin: usize) -> usize {
    let mut depth = 0usize;
    for (i, byte) in code.bytes().enumerate().skip(begin + 1) {
        match byte {
            b'[' => depth += 1,
            b']' => {
                depth -= 1; // never below zero: the first byte is the opening bracket
                if depth == 0 {
                    return i + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Returns the end of the item that starts at `begin`: its closing brace, or its semicolon if it has no body. Skips
/// further attributes and brackets (`[u8; 4]`).
fn item_end(code: &str, begin: usize) -> usize {
    let mut depth = 0i32;
    for (i, byte) in code.bytes().enumerate().skip(begin) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth == 0 => return i + 1,
            b'{' if depth == 0 => return block_end(code, i),
            _ => {}
        }
    }
    code.len()
}

/// Returns the position after the brace that closes the one at `open`.
pub fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0i32;
    for (i, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    code.len()
}

/// Returns where `needle` occurs in masked code as a whole word: if it starts or ends with a letter, no letter may be
/// directly before or after it (`panic!` is not found in `my_panic!`).
pub fn find_words<'a>(code: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    code.match_indices(needle).map(|(at, _)| at).filter(move |&at| {
        let first = needle.as_bytes()[0];
        let last = needle.as_bytes()[needle.len() - 1];
        let before = is_word(first) && at > 0 && is_word(bytes[at - 1]);
        let after = is_word(last) && bytes.get(at + needle.len()).is_some_and(|&b| is_word(b));
        !before && !after
    })
}

/// Returns the line number (from 1) of a byte.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_masked_and_code_stays() {
        let text = "let a = \"x.unwrap()\"; // panic!\nlet b = r#\"todo!(\"#; b.unwrap(); /* a /* b */ c */ \
                    let c = '\"';";
        let code = mask(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(find_words(&code, ".unwrap()").count(), 1);
        assert!(!code.contains("panic") && !code.contains("todo") && !code.contains(" c */"));
        assert!(code.ends_with("let c =    ;"));
    }

    #[test]
    fn lifetimes_and_escapes_do_not_hide_code() {
        let text = r"fn f<'a>(x: &'a str) { let q = '\''; let s = 'é'; g(b'\\', b'x'); y.unwrap() }";
        let code = mask(text);
        assert!(code.contains("fn f<'a>(x: &'a str)") && code.contains("y.unwrap()") && !code.contains('é'));
    }

    #[test]
    fn a_word_that_ends_with_r_does_not_start_a_raw_string() {
        assert!(mask("write!(f\"a\"); for x in y {}").contains("for x in y {}"));
        assert!(mask("let attr = 1; matcher#x").contains("matcher#x"));
    }

    #[test]
    fn test_items_are_found_with_their_bodies() {
        let code = "fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests { fn b(x: [u8; 3]) {} }\n\
                    #[cfg(not(test))]\nfn c() {}";
        let ranges = test_ranges(code);
        assert_eq!(ranges.len(), 1);
        let inside = &code[ranges[0].clone()];
        assert!(inside.ends_with("fn b(x: [u8; 3]) {} }") && !inside.contains("fn c"));
    }
}
