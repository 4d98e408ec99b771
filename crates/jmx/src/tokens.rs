//! Tokens of raw templates: words such as `THREADS_COUNT` that a script would have replaced with `sed`.

/// How often a name was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    pub name: String,
    pub count: usize,
}

/// Replaces a name everywhere in the text of a plan; returns the number of places. Only whole words count, unless there
/// is none: then, as for `sed`, every occurrence does. The value of a variable that nothing defines replaces the whole
/// reference to it.
pub(crate) fn replace(text: &mut String, name: &str, value: &str) -> usize {
    let value = escaped(value);
    let whole: Vec<usize> =
        text.match_indices(name).map(|(at, _)| at).filter(|at| is_word(text, *at, name)).collect();
    let places = if whole.is_empty() { text.match_indices(name).map(|(at, _)| at).collect() } else { whole };
    let mut changed = String::with_capacity(text.len());
    let mut last = 0;
    for at in &places {
        let (before, end) = (&text[last..*at], at + name.len());
        let is_reference = before.ends_with("${") && text[end..].starts_with('}');
        changed.push_str(if is_reference { &before[..before.len() - 2] } else { before });
        changed.push_str(&value);
        last = end + usize::from(is_reference);
    }
    changed.push_str(&text[last..]);
    *text = changed;
    places.len()
}

/// Returns the value as a text of XML.
fn escaped(value: &str) -> String {
    value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn is_word(text: &str, at: usize, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].chars().next_back().is_some_and(is_part)
        && !text[at + name.len()..].chars().next().is_some_and(is_part)
}

/// Returns the tokens of a text: words in upper case with an underscore, or a whole text in upper case.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let is_upper = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.len() > 2
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| is_upper(word) && word.contains('_') && !word.ends_with('_'))
        .collect()
}
