//! Values for messages: short, on one line, and never with part of a secret, which redaction could not recognize.

use plimsoll_plan::request::{REDACTED, redacted_header};
use std::fmt::Write as _;

/// Maximum number of characters of a value in a message.
pub(super) const SHOWN_CHARS: usize = 80;
/// Number of bytes to redact before a value is shortened, because redaction needs whole secrets.
const WINDOW_BYTES: usize = 8_192;

/// What messages must not show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Redactor<'a> {
    /// Texts to remove.
    pub forms: &'a [String],
    /// Whether the name of the value marks it as a secret.
    pub secret: bool,
}

/// Returns whether a name marks its value as a secret, by the list of the plan.
pub(super) fn is_secret(name: &str) -> bool {
    redacted_header(name, "") == REDACTED
}

/// Returns the visible part of `value`, in backticks.
pub(super) fn quoted(value: &[u8], redactor: Redactor<'_>) -> String {
    if redactor.secret {
        return format!("`{REDACTED}`");
    }
    let whole = value.len() <= WINDOW_BYTES;
    let mut text = String::from_utf8_lossy(&value[..value.len().min(WINDOW_BYTES)]).into_owned();
    for form in redactor.forms.iter().filter(|form| !form.is_empty()) {
        text = text.replace(form.as_str(), REDACTED);
    }
    let cut = text.char_indices().nth(SHOWN_CHARS).map(|(at, _)| at);
    let shown = match cut {
        None if whole => &text[..],
        // Part of a word may be part of a secret that the caller would have recognized.
        _ => whole_words(&text[..cut.unwrap_or(text.len())]),
    };
    let mut sentence = String::from("`");
    for sign in shown.chars() {
        if sign.is_control() {
            sentence.extend(sign.escape_default());
        } else {
            sentence.push(sign);
        }
    }
    if shown.len() < text.len() || !whole {
        sentence.push('…');
    }
    sentence.push('`');
    if shown.len() < text.len() || !whole {
        // Writing to a string cannot fail.
        let _ = write!(sentence, " ({} bytes)", value.len());
    }
    sentence
}

/// Removes the last run of characters that tokens consist of.
fn whole_words(text: &str) -> &str {
    text.trim_end_matches(|sign: char| sign.is_alphanumeric() || "_-.~+/=%*".contains(sign))
}
