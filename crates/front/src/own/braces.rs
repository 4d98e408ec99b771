//! Braces that were meant as text: `${t}`, `{{token}}` and scoped thresholds without quotes.
//!
//! In YAML, a `{` opens a mapping even in the middle of what was meant as one text, and the parser's message about
//! commas does not lead to the missing quotes.

use plimsoll_build::sentence::short;
use plimsoll_build::source::{Pos, Source};
use plimsoll_plan::threshold::Subject;

/// Returns the place of the text, the message, and the help line, if the parser gave up at or after such a brace.
pub fn meant_as_text(pos: Pos, source: &Source<'_>) -> Option<(Pos, String, String)> {
    let line: Vec<char> = source.line(pos.line).chars().collect();
    let end = (pos.column as usize).min(line.len());
    // The last brace that follows a letter, a `$`, a `/`, or another brace. YAML's own follow a blank or a bracket.
    let brace = (0..end).rev().find(|i| {
        let before = i.checked_sub(1).map(|i| line[i]);
        line[*i] == '{' && before.is_some_and(|c| c.is_alphanumeric() || "$/_{=-".contains(c))
    })?;
    let (begin, text) = around(&line, brace);
    // If the text ended before the place where the parser gave up, or is cut out of quotes or a mapping, then the
    // mistake is a different one.
    let is_torn = ['"', '\''].into_iter().any(|q| text.starts_with(q) || text.matches(q).count() % 2 == 1)
        || text.starts_with('{') && !text.starts_with("{{");
    if is_torn || begin + text.chars().count() < end {
        return None;
    }
    let quote = if text.contains('"') { '\'' } else { '"' };
    let at = Pos { line: pos.line, column: begin as u32 + 1 };
    let shown = short(&text);
    if line[brace - 1] == '{' || line.get(brace + 1) == Some(&'{') {
        let ours = text.replace("{{", "${").replace("}}", "}");
        let message = format!("`{shown}` is a placeholder of Artillery, Postman, or a template");
        return Some((at, message, format!("write `{quote}{}{quote}`, in quotes", short(&ours))));
    }
    let message = format!("the braces in unquoted `{shown}` open a mapping");
    let what = match line[brace - 1] == '$' {
        true => format!("`{shown}`"),
        false if is_threshold(&text) => "the threshold".to_owned(),
        false => "the text".to_owned(),
    };
    Some((at, message, format!("put {what} in quotes: `{quote}{shown}{quote}`")))
}

/// Returns the value that contains the brace: from the blank after its key, after its item's `-`, or after the last
/// separator, to the next separator outside of braces.
fn around(line: &[char], brace: usize) -> (usize, String) {
    let begins = |i: &usize| match line[*i] {
        ',' | '[' => true,
        ' ' => *i > 0 && matches!(line[*i - 1], ':' | '-' | '{'),
        _ => false,
    };
    let mut begin = (0..brace).rev().find(begins).map_or(0, |i| i + 1);
    while line.get(begin) == Some(&' ') {
        begin += 1;
    }
    let mut depth = 0_u32;
    let mut end = line.len();
    for (i, c) in line.iter().enumerate().skip(begin) {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' | ']' if depth == 0 => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    (begin, line[begin.min(end)..end].iter().collect::<String>().trim_end().to_owned())
}

/// Returns whether an unquoted text was meant as a threshold.
fn is_threshold(text: &str) -> bool {
    let name = text.split(['{', ' ']).next().unwrap_or_default();
    Subject::ALL.iter().any(|subject| subject.name() == name)
}
