//! Values in sentences: short, on one line, and never with half of a secret, which nobody could recognise any more.

use plimsoll_plan::request::{REDACTED, redacted_header};
use std::fmt::Write as _;

/// Most characters of a value that a sentence shows.
pub(super) const SHOWN_CHARS: usize = 80;
/// Bytes that are looked at before a value is cut: secrets are cut out first, and they must be whole for that.
const WINDOW_BYTES: usize = 8_192;

/// What sentences must not show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Redactor<'a> {
    /// Texts to be cut out.
    pub forms: &'a [String],
    /// The value stands under a name that says it is a secret.
    pub secret: bool,
}

/// Whether a name says that its value is a secret, by the plan's own list.
pub(super) fn is_secret(name: &str) -> bool {
    redacted_header(name, "") == REDACTED
}

/// `value` in backticks, as far as it may be shown.
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
        // A word that is cut in two might be half of a value that the caller would have recognised.
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

/// Without the last run of characters that tokens are made of.
fn whole_words(text: &str) -> &str {
    text.trim_end_matches(|sign: char| sign.is_alphanumeric() || "_-.~+/=%*".contains(sign))
}
