//! Units as filters (`{{ p99 | ns }}`) and as functions (`{{ ns(p99) }}`), with the rules of all other reports, so that
//! numbers in a user-defined report agree with them.

use crate::names::hinted;
use minijinja::{Environment, Error, ErrorKind, Value};
use plimsoll_analysis::summary::Quantile;
use plimsoll_output::{format, markdown};

/// The name of each unit.
pub const NAMES: [&str; 9] =
    ["percentile", "ns", "seconds", "rate", "bytes", "ratio", "count", "quantile", "md"];

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

/// Registers them.
pub fn add(env: &mut Environment) {
    for (name, word) in WORDS {
        let told = move |value: &Value| describe(name, word, value);
        env.add_filter(name, told);
        env.add_function(name, told);
    }
    env.add_filter("percentile", percentile);
    env.add_function("percentile", percentile);
    env.add_filter("md", md);
    env.add_function("md", md);
}

/// Returns a percentile by the rule of all reports: a dash if it has too few samples, `>=` if it is a lower bound. Of a
/// distribution such as `response_time` with the quantile, or of one value such as a combination's `p99_ns` without it.
fn percentile(value: &Value, q: Option<f64>) -> Result<String, Error> {
    if value.is_none() {
        return Ok(format::NONE.into());
    }
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let one = match q {
        Some(q) => {
            let all = value.get_attr("percentiles")?;
            let is_it = |one: &Value| {
                let own = one.get_attr("q").ok().and_then(|own| f64::try_from(own).ok());
                own.is_some_and(|own| (own - q).abs() < 1e-9)
            };
            match all.try_iter()?.find(is_it) {
                Some(one) => one,
                None if all.len() == Some(0) => return Ok(format::NONE.into()),
                None => {
                    let hint = "use one of those in `percentiles`";
                    return Err(hinted("unknown percentile", hint));
                }
            }
        }
        None => value.clone(),
    };
    let field = |name: &str| one.get_attr(name).ok().filter(|field| !field.is_undefined());
    let number = |name: &str| field(name).and_then(|value| f64::try_from(value).ok());
    let is = |name: &str| field(name).is_some_and(|value| value.is_true());
    if one.kind() != minijinja::value::ValueKind::Map {
        let sentence = "`percentile` requires a distribution or an estimate";
        return Err(hinted(sentence, "use `ns` for a plain number"));
    }
    let value_ns = number("value_ns").or_else(|| number("value")).map(|ns| ns.round().max(0.0) as u64);
    let is_enough =
        !is("has_too_few_samples") && field("has_enough_samples").is_none_or(|value| value.is_true());
    Ok(format::quantile(Quantile::of(value_ns, is("is_lower_bound"), is_enough)))
}

/// Escapes text so that it is only text in a Markdown table.
fn md(text: &str) -> String {
    markdown::escaped(text)
}

fn describe(name: &str, word: Word, value: &Value) -> Result<String, Error> {
    // A missing value has no unit.
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
        None => Err(hinted(
            format!("`{name}` requires a number, found {}", value.kind()),
            "use a field that `--json` shows as a number",
        )),
    }
}
