//! The words for our units, as filters (`{{ p99 | ns }}`) and as functions (`{{ ns(p99) }}`): the rules of every other
//! report, so that a number in a person's own text is that of ours.

use crate::format;
use crate::markdown;
use minijinja::{Environment, Error, ErrorKind, Value};

/// What each is called.
pub const NAMES: [&str; 8] = ["ns", "seconds", "rate", "bytes", "ratio", "count", "quantile", "md"];

type Word = fn(f64, Option<u64>) -> String;

/// The number, and the same as a whole number if it is one.
const WORDS: [(&str, Word); 7] = [
    ("ns", |x, whole| whole.map_or_else(|| format::duration_f64_ns(x), format::duration_ns)),
    ("seconds", |x, _| format::duration_s(x)),
    ("rate", |x, _| format::rate_per_s(x)),
    ("bytes", |x, whole| whole.map_or_else(|| format::bytes_f64(x), format::bytes)),
    ("ratio", |x, _| format::ratio(x)),
    ("count", |x, whole| whole.map_or_else(|| format::quantity(x), format::count)),
    ("quantile", |x, _| format::quantile_name(x)),
];

/// Makes them known.
pub fn add(env: &mut Environment) {
    for (name, word) in WORDS {
        let told = move |value: &Value| told(name, word, value);
        env.add_filter(name, told);
        env.add_function(name, told);
    }
    env.add_filter("md", md);
    env.add_function("md", md);
}

/// Text that is to be nothing but text in a Markdown table.
fn md(text: &str) -> String {
    markdown::escaped(text)
}

fn told(name: &str, word: Word, value: &Value) -> Result<String, Error> {
    // What was not measured has no unit.
    if value.is_none() {
        return Ok(format::NONE.into());
    }
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    match f64::try_from(value.clone()).ok().filter(|_| value.is_number()) {
        Some(x) if x.is_finite() => {
            Ok(word(x, u64::try_from(value.clone()).ok().filter(|_| value.is_integer())))
        }
        Some(_) => Ok(format::NONE.into()),
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!(
                "`{name}` is for numbers, and this is {}; take a field that `--json` shows as a number",
                value.kind()
            ),
        )),
    }
}
