//! Regular expressions in Perl's syntax, as far as they need no backtracking.

use regex::{Regex, RegexBuilder};

/// Largest compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 16 << 20;

/// Compiles a pattern.
///
/// # Errors
/// Returns why the pattern is invalid or unsupported.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    build(&adapted(pattern)).map_err(|why| {
        let backtracks = ["(?=", "(?!", "(?<=", "(?<!", "(?>"].iter().find(|sign| pattern.contains(**sign));
        match backtracks {
            Some(sign) => format!("the pattern `{pattern}` uses `{sign}`, which requires backtracking"),
            None => format!("invalid pattern `{pattern}`: {why}"),
        }
    })
}

/// Compiles a pattern that matches a whole text.
///
/// # Errors
/// Returns why the pattern is invalid or unsupported.
pub fn compile_whole(pattern: &str) -> Result<Regex, String> {
    compile(&format!("\\A(?:{pattern})\\z"))
}

fn build(pattern: &str) -> Result<Regex, String> {
    // JMeter's patterns read texts as characters, but `\d` and `\w` are those of ASCII.
    let built = RegexBuilder::new(pattern).size_limit(COMPILED_BYTES_MAX).build();
    built.map_err(|error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
    })
}

/// Writes what Perl accepts and this engine does not: `{` that is not a repetition, `\/` and other needless escapes,
/// `\Z`, and single brackets in classes.
fn adapted(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let signs: Vec<char> = pattern.chars().collect();
    let (mut at, mut is_class) = (0, false);
    while at < signs.len() {
        let sign = signs[at];
        let next = signs.get(at + 1).copied();
        match sign {
            '\\' => {
                at += 1;
                match next {
                    Some('Z') => out.push_str(r"(?:\r?\n)?\z"),
                    Some('d') => out.push_str(if is_class { "0-9" } else { "[0-9]" }),
                    Some('D') if !is_class => out.push_str("[^0-9]"),
                    Some('w') => out.push_str(if is_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                    Some('W') if !is_class => out.push_str("[^0-9A-Za-z_]"),
                    Some(named @ ('p' | 'P' | 'x')) if signs.get(at + 1) == Some(&'{') => {
                        out.push('\\');
                        out.push(named);
                        while let Some(sign) = signs.get(at + 1) {
                            out.push(*sign);
                            at += 1;
                            if *sign == '}' {
                                break;
                            }
                        }
                    }
                    Some(other) if other.is_ascii_punctuation() || other == ' ' => {
                        out.push_str(&regex::escape(&other.to_string()));
                        if regex::escape(&other.to_string()).len() == 1
                            && is_class
                            && "[]^-&~".contains(other)
                        {
                            out.pop();
                            out.push('\\');
                            out.push(other);
                        }
                    }
                    // In a class, `\b` is a backspace.
                    Some('b') if is_class => out.push_str("\\x08"),
                    Some(other) => {
                        out.push('\\');
                        out.push(other);
                    }
                    None => out.push_str("\\\\"),
                }
            }
            '[' if is_class => {
                // A named class such as `[:alpha:]` stays.
                out.push_str(if next == Some(':') { "[" } else { "\\[" });
            }
            '[' => {
                is_class = true;
                out.push('[');
                if next == Some('^') {
                    out.push('^');
                    at += 1;
                }
                // A bracket directly after the opening one is a sign of the class.
                if signs.get(at + 1) == Some(&']') {
                    out.push_str("\\]");
                    at += 1;
                }
            }
            ']' if is_class && signs.get(at.wrapping_sub(1)) == Some(&':') && named_class(&signs, at) => {
                out.push(']')
            }
            ']' if is_class => {
                is_class = false;
                out.push(']');
            }
            '&' | '~' if is_class && next == Some(sign) => {
                out.push('\\');
                out.push(sign);
            }
            '{' if !is_class && !is_repetition(&signs[at..]) => out.push_str("\\{"),
            '}' if !is_class && !ends_repetition(&signs, at) => out.push_str("\\}"),
            other => out.push(other),
        }
        at += 1;
    }
    out
}

fn named_class(signs: &[char], end: usize) -> bool {
    let begin = signs[..end].iter().rposition(|sign| *sign == '[');
    begin.is_some_and(|begin| signs.get(begin + 1) == Some(&':') && end > begin + 2)
}

/// Returns whether `{` begins `{2}`, `{2,}`, or `{2,3}`, or a name such as `\p{L}`.
fn is_repetition(signs: &[char]) -> bool {
    let Some(end) = signs.iter().position(|sign| *sign == '}') else { return false };
    let inside = &signs[1..end];
    inside.first().is_some_and(char::is_ascii_digit)
        && inside.iter().all(|sign| sign.is_ascii_digit() || *sign == ',')
        && inside.iter().filter(|sign| **sign == ',').count() <= 1
}

fn ends_repetition(signs: &[char], end: usize) -> bool {
    let begin = signs[..end].iter().rposition(|sign| *sign == '{');
    begin.is_some_and(|begin| {
        let is_escaped = begin > 0 && signs[begin - 1] == '\\';
        !is_escaped && is_repetition(&signs[begin..=end])
    })
}
